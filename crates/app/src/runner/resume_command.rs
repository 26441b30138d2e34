//! The command that resumes a run.

use crate::shell;
use meniscus_scene::builtin;
use meniscus_store::manifest::Manifest;
use meniscus_store::regular_file;
use meniscus_store::run_folder::RunFolder;
use std::path::Path;

/// Command that resumes the run in a folder. The run's own scene file includes all overrides from the command line.
/// Runs of earlier versions have no copies of their meshes, which are beside the original file.
pub fn resume_command(manifest: &Manifest, run: &Path) -> String {
    let own = RunFolder::of_run(run).scene();
    let has_meshes = |text: String| text.contains("file = ") && manifest.meshes.is_empty();
    let scene = match regular_file::read_text(&own).map(has_meshes) {
        Ok(false) => shell::quoted_path(&own),
        _ if builtin::text(&manifest.scene).is_some() => manifest.scene.clone(),
        _ => "SCENE.toml".into(),
    };
    let run = shell::quoted_path(run);
    format!("meniscus run {scene} --out {run} --resume")
}
