//! `meniscus lcp export`.

use super::super::output::print_line;
use super::arguments::ExportArguments;
use crate::problem_files;
use crate::runner;
use meniscus_scene::AnyScene;
use meniscus_scene::text::load;
use meniscus_store::error::Error;
use meniscus_store::quantity::count;
use std::path::{Path, PathBuf};

/// Writes a problem of a scene.
pub fn export(arguments: &ExportArguments) -> Result<(), Error> {
    let changes = arguments.changes.changes();
    let loaded = load(
        &arguments.scene,
        &changes,
        arguments.changes.allow_outside_files,
    )?;
    let (scene, _) = loaded.ready()?;
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| default_folder(&scene, arguments.frame));
    problem_files::check_folder(&folder)?;
    let problem = runner::problem_of_frame(&scene, arguments.frame, arguments.changes.threads)?;
    problem_files::write(&folder, &*problem)?;
    print_line(format_args!(
        "wrote the {} of the first step towards frame {} of {}, {}, to {}: {}",
        problem.name(),
        arguments.frame,
        scene.name(),
        count(problem.unknowns(), "unknown"),
        folder.display(),
        problem.files().join(", ")
    ));
    Ok(())
}

fn default_folder(scene: &AnyScene, frame: u32) -> PathBuf {
    let name = format!("{}_{frame:06}", scene.name());
    Path::new("out").join("lcp").join(name)
}
