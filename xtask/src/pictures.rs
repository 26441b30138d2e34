//! `cargo xtask pictures`: every picture of the documents again, by the commands that users have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::steps::{StepResult, Steps, cargo, succeed, target_folder};
use crate::usage_error;

/// Where the documents keep them.
const PICTURES: &str = "docs/pictures";
/// Folder of the runs, which are resumed when the command is called again.
const RUNS: &str = "out/pictures";
/// Width and height of a still.
const SIZE: &str = "480x360";
/// A reader waits for no more than this.
const MAX_STILL_BYTES: u64 = 150_000;
const MAX_FILM_BYTES: u64 = 2_000_000;
/// The two walls side by side.
const FILM: &str = "slip-beside-separating";

/// A built-in scene, the cells along its longest side, and the frame that tells what it is about.
type Still = (&'static str, u32, u32);

/// Fewer cells than the scenes' own where that shows as much: all of it takes minutes.
const STILLS: &[Still] = &[
    ("thrown-sphere", 48, 96),
    ("faucet", 48, 60),
    ("paddle", 48, 40),
    ("cup", 48, 44),
    ("knot", 48, 5),
    ("dam-break", 48, 11),
    ("dam-break-2d", 100, 18),
    ("box-kick", 40, 10),
    ("ceiling-ball", 40, 8),
    ("ane17-1", 100, 45),
    ("ane17-2", 100, 30),
    ("ane17-3", 100, 70),
    ("ane17-4", 100, 40),
    ("ane17-5", 100, 40),
    ("circle", 100, 12),
    ("square", 100, 14),
    ("maze", 100, 24),
    ("sphere", 48, 12),
    ("sphere-cuboid", 48, 12),
    ("double-sphere", 48, 16),
    ("stack", 48, 60),
    ("wall", 48, 24),
    ("arch", 48, 20),
    ("cradle", 48, 40),
    ("spinning-top", 48, 40),
    ("wheel", 48, 40),
    ("bowl-of-balls", 48, 60),
    ("dominoes", 48, 14),
    ("raft", 32, 96),
    ("boat", 84, 40),
    ("water-wheel", 48, 30),
    ("ducks", 75, 24),
    ("cup-on-table", 56, 30),
    ("bowl-drop", 56, 20),
    ("floating-bowl", 40, 30),
    ("pool-45", 48, 24),
    ("glass-spheres", 64, 14),
    ("pf-dam", 42, 18),
    ("pf-double-dam", 30, 15),
    ("pf-inlet", 20, 60),
    ("pf-cloth", 15, 9),
    ("pf-flag", 33, 22),
    ("pf-sack", 15, 30),
    ("pf-jelly", 15, 12),
    ("pf-float", 20, 24),
    ("pf-obstacles", 42, 20),
    ("rheology-drop", 72, 24),
    ("wall-splat", 36, 50),
    ("honey-coil", 72, 45),
    ("buckling", 100, 150),
    ("ketchup", 60, 42),
    ("honey-spoon", 40, 48),
    ("hemisphere", 40, 60),
    ("goo-bowl", 40, 45),
    ("goo-pool", 40, 30),
    ("rheology-sink", 60, 30),
    ("glass-spheres-honey", 100, 12),
];

/// Makes all of them, or the named ones.
pub fn run(root: &Path, names: &[&str]) -> ExitCode {
    let known = |name: &&str| *name == FILM || STILLS.iter().any(|still| still.0 == *name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return usage_error(&format!("no picture is called {unknown}"));
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut steps = Steps::new("pictures");
    steps.run("the program", || {
        succeed(cargo(root).args(["build", "--release", "-p", "meniscus-app"]))
    });
    for still in STILLS.iter().filter(|still| wanted(still.0)) {
        steps.run(still.0, || make_still(root, still));
    }
    if wanted(FILM) {
        steps.run(FILM, || make_film(root));
    }
    steps.finish()
}

/// `meniscus`, with the words of a line.
fn meniscus(root: &Path, line: &str) -> Command {
    let mut command = Command::new(target_folder(root).join("release").join("meniscus"));
    command.current_dir(root).args(line.split(' '));
    command
}

/// Runs a scene, or resumes its run if there is one.
fn simulate(root: &Path, scene: &str, folder: &str, flags: &str) -> StepResult {
    let has_run = root.join(RUNS).join(folder).join("run.json").exists();
    let resume = if has_run { " --resume" } else { "" };
    let line = format!(
        "run {scene} --quiet{resume} --set output.preview=false --out {RUNS}/{folder} {flags}"
    );
    succeed(&mut meniscus(root, &line))
}

fn make_still(root: &Path, &(scene, cells, frame): &Still) -> StepResult {
    simulate(
        root,
        scene,
        scene,
        &format!("--resolution {cells} --frames {frame}"),
    )?;
    let drawn = format!("{RUNS}/stills/{scene}");
    succeed(&mut meniscus(
        root,
        &format!(
            "preview {RUNS}/{scene} --png --frames {frame} --size {SIZE} --quiet --out {drawn}"
        ),
    ))?;
    let from = root.join(drawn).join(format!("preview_{frame:06}.png"));
    put(root, &from, &format!("{scene}.png"), MAX_STILL_BYTES)
}

fn make_film(root: &Path) -> StepResult {
    for walls in ["slip", "separating"] {
        let flags = format!("--resolution 48 --walls {walls}");
        simulate(root, "thrown-sphere", walls, &flags)?;
    }
    let drawn = format!("{RUNS}/{FILM}");
    succeed(&mut meniscus(
        root,
        &format!(
            "preview {RUNS}/slip {RUNS}/separating --gif --frames 17-100 --size 280x280 --quiet --out {drawn}"
        ),
    ))?;
    let from = root.join(drawn).join("preview.gif");
    put(root, &from, &format!("{FILM}.gif"), MAX_FILM_BYTES)
}

/// Copies a picture into the documentation, unless it is too large.
fn put(root: &Path, from: &Path, name: &str, most: u64) -> StepResult {
    let folder: PathBuf = root.join(PICTURES);
    let trouble = |e: std::io::Error| format!("{name}: {e}");
    let bytes = fs::metadata(from).map_err(trouble)?.len();
    if bytes > most {
        return Err(format!(
            "{name} has {bytes} bytes, at most {most} are allowed"
        ));
    }
    fs::create_dir_all(&folder).map_err(trouble)?;
    fs::copy(from, folder.join(name)).map_err(trouble)?;
    println!("   {PICTURES}/{name}: {bytes} bytes");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace_root;

    #[test]
    fn every_built_in_scene_has_a_picture_in_the_gallery() {
        let root = workspace_root();
        let read = |path| fs::read_to_string(root.join(path)).expect(path);
        let gallery = read("docs/gallery.md");
        let scenes = fs::read_dir(root.join("crates/scene/scenes")).expect("the scenes");
        for entry in scenes {
            let name = entry.expect("an entry").file_name();
            let name = name.to_str().expect("a plain name");
            let Some(scene) = name.strip_suffix(".toml") else {
                continue;
            };
            assert!(STILLS.iter().any(|still| still.0 == scene), "{scene}");
            let picture = format!("{PICTURES}/{scene}.png");
            assert!(
                gallery.contains(&format!("pictures/{scene}.png")),
                "{picture}"
            );
            let bytes = fs::metadata(root.join(&picture)).expect(&picture).len();
            assert!(bytes <= MAX_STILL_BYTES, "{picture} has {bytes} bytes");
        }
        assert!(read("README.md").contains(&format!("{PICTURES}/{FILM}.gif")));
    }
}
