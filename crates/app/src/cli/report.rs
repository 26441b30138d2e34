//! Closing summary of a run: files written and suggested next commands.

use super::arguments::RunFlags;
use super::output::print_line;
use crate::runner::Summary;
use crate::shell::{quoted, quoted_path};
use meniscus_liquid::Walls;
use meniscus_scene::AnyScene;
use meniscus_scene::text::Override;
use meniscus_store::quantity::{bytes, count, duration};
use meniscus_store::run_folder::next_free;
use std::path::Path;

/// Prints what a run of the scene with these flags wrote, and what to do with it.
pub fn run_written(scene: &AnyScene, typed: &Path, flags: &RunFlags, summary: &Summary) {
    let root = summary.folder.root();
    print_line(format_args!(
        "{} of {} in {}, written to {}:",
        count(summary.frames, "frame"),
        scene.name(),
        duration(summary.wall_seconds),
        root.display()
    ));
    let (frames, statistics) = match scene.is_rigid() {
        true => (
            "poses and velocities of the bodies, one file per frame from 0",
            "solver, contacts and energy, one line per step",
        ),
        false => (
            "positions and velocities, one file per frame from 0",
            "solver, volume and energy, one line per step",
        ),
    };
    for (name, what) in [
        ("preview.gif", "animation of the run: open it now"),
        ("particles/", frames),
        (
            "bodies.csv",
            "poses, velocities and forces, one line per body and frame",
        ),
        ("stats.jsonl", statistics),
        ("timings.jsonl", "seconds per phase, one line per step"),
        ("scene.toml", "the scene with every default filled in"),
        ("meshes/", "copies of the scene's meshes"),
        ("run.json", "state and settings of the run"),
        ("state/", "checkpoints, for --resume and --from-frame"),
    ] {
        let path = root.join(name.trim_end_matches('/'));
        if path.exists() {
            let size = bytes(size_of(&path));
            print_line(format_args!("  {name:14} {size:>10}  {what}"));
        }
    }
    for warning in &summary.warnings {
        print_line(format_args!("Warning: {}", warning.message));
        print_line(format_args!("  {}", warning.remedy));
    }
    for note in &summary.notes {
        print_line(format_args!("Note: {note}"));
    }
    print_line(format_args!("Next:"));
    let (program, run) = (program(), quoted_path(root));
    print_line(format_args!("  {program} view {run}"));
    if scene.is_rigid() {
        print_line(format_args!("  {program} export {run} --to usd"));
    } else {
        if !scene.is_projective() {
            print_line(format_args!(
                "  {program} {}",
                with_other_walls(scene, typed, flags, root)
            ));
        }
        print_line(format_args!("  {program} preview {run} --style particles"));
        print_line(format_args!("  {program} export {run} --to ply"));
    }
    print_line(format_args!("  {program} scenes"));
}

/// Command for the same run with the other wall boundary condition, in a free folder.
fn with_other_walls(scene: &AnyScene, typed: &Path, flags: &RunFlags, root: &Path) -> String {
    let (walls, solver) = match scene {
        AnyScene::Two(s) => (s.physics.walls, s.physics.pressure.solver),
        AnyScene::Three(s) => (s.physics.walls, s.physics.pressure.solver),
    };
    let other = other_walls(walls);
    // A linear solver applies to slip walls only, wherever it was chosen.
    let auto = if solver.is_linear() {
        " --solver auto"
    } else {
        ""
    };
    let outside = match flags.changes.allow_outside_files {
        true => " --allow-outside-files",
        false => "",
    };
    let mut name = root.file_name().unwrap_or_default().to_os_string();
    name.push(format!("-{other}"));
    let out = next_free(&root.with_file_name(name));
    format!(
        "run {}{}{outside} --walls {other}{auto} --out {}",
        quoted_path(typed),
        overrides_except_walls(&flags.changes.changes()),
        quoted_path(&out)
    )
}

/// Wall boundary condition to compare with.
fn other_walls(walls: Walls) -> Walls {
    match walls {
        Walls::Slip => Walls::Separating,
        Walls::Separating | Walls::Stick => Walls::Slip,
    }
}

/// Overrides as typed, each after a space, without those specific to one wall boundary condition.
fn overrides_except_walls(changes: &[Override]) -> String {
    let both =
        |change: &&Override| !["walls.kind", "solver.method"].contains(&change.path.as_str());
    let typed =
        changes
            .iter()
            .filter(both)
            .map(|change| match change.typed.strip_prefix("--set ") {
                Some(text) => format!(" --set {}", quoted(text)),
                None => format!(" {}", change.typed),
            });
    typed.collect()
}

/// Command by which the program was started, so that printed commands can be pasted.
fn program() -> &'static str {
    // Cargo sets this variable for programs that it runs.
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
