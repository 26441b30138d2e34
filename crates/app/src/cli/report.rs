//! The last lines of a run: what was written, and what to type next.

use super::say::say;
use crate::quantity::{bytes, count, duration};
use crate::run::Summary;
use crate::scene::AnyScene;
use crate::scene::text::Change;
use meniscus_liquid::Walls;
use std::path::Path;

/// Says what a run of the scene with these changes has written and what can be done with it.
pub fn run_written(scene: &AnyScene, typed: &Path, changes: &[Change], summary: &Summary) {
    let root = summary.folder.root();
    say(format_args!(
        "{} of {} in {}, written to {}:",
        count(summary.frames, "frame"),
        scene.name(),
        duration(summary.wall_seconds),
        root.display()
    ));
    for (name, what) in [
        ("preview.gif", "the run as a moving picture: open it now"),
        (
            "particles/",
            "positions and velocities, one file per frame from 0",
        ),
        (
            "stats.jsonl",
            "solver, volume and energy, one line per step",
        ),
        ("timings.jsonl", "seconds per phase, one line per step"),
        ("scene.toml", "the scene with every default filled in"),
        ("run.json", "state and settings of the run"),
        ("state/", "what --resume and --from-frame go on from"),
    ] {
        let path = root.join(name.trim_end_matches('/'));
        if path.exists() {
            let size = bytes(size_of(&path));
            say(format_args!("  {name:14} {size:>10}  {what}"));
        }
    }
    let program = program();
    let other = match scene {
        AnyScene::Two(s) => other_walls(s.walls),
        AnyScene::Three(s) => other_walls(s.walls),
    };
    say(format_args!("Next:"));
    say(format_args!("  {program} view {}", root.display()));
    say(format_args!(
        "  {program} run {name}{changes} --walls {other} --out {root}-{other}",
        name = typed.display(),
        changes = but_for_walls(changes),
        root = root.display()
    ));
    say(format_args!(
        "  {program} preview {} --style particles",
        root.display()
    ));
    say(format_args!(
        "  {program} export {} --to ply",
        root.display()
    ));
    say(format_args!("  {program} scenes"));
}

/// The walls to compare with.
fn other_walls(walls: Walls) -> Walls {
    match walls {
        Walls::Slip => Walls::Separating,
        Walls::Separating => Walls::Slip,
    }
}

/// The changes as they were typed, each after a space; without those that go with one kind of walls only.
fn but_for_walls(changes: &[Change]) -> String {
    let both = |change: &&Change| !["walls.kind", "solver.method"].contains(&change.path.as_str());
    let typed = changes.iter().filter(both).map(|change| {
        let plain = |c: char| c.is_ascii_alphanumeric() || " -_.,=/".contains(c);
        match change.typed.strip_prefix("--set ") {
            Some(text) if !text.chars().all(|c| c != ' ' && plain(c)) => {
                format!(" --set '{}'", text.replace('\'', r"'\''"))
            }
            _ => format!(" {}", change.typed),
        }
    });
    typed.collect()
}

/// How the program was started, so that what is printed can be typed.
fn program() -> &'static str {
    // Cargo tells the programs that it runs where their package is.
    let by_cargo = std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    if by_cargo {
        "cargo run --release --"
    } else {
        "meniscus"
    }
}

/// Size of a file, or of all files in a folder.
fn size_of(path: &Path) -> u64 {
    let Ok(data) = std::fs::metadata(path) else {
        return 0;
    };
    if data.is_file() {
        return data.len();
    }
    let Ok(entries) = std::fs::read_dir(path) else {
        return 0;
    };
    entries
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|data| data.len())
        .sum()
}
