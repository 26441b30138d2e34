//! What a run of rigid bodies reports besides its frames: contacts that were not solved to their tolerance, and bodies that
//! left the domain. Both are in `stats.jsonl`, so that a run that is resumed has the same record as one that was not
//! interrupted.

use super::statistics::StepLine;
use meniscus_scene::Scene;
use meniscus_store::body_record::{LeftBody, UnsolvedContacts};
use meniscus_store::error::Error;
use meniscus_store::manifest::Manifest;
use meniscus_store::regular_file;
use std::path::Path;

/// Adds a step to the record of the manifest, and returns the notices for the user.
pub fn add<const D: usize>(
    scene: &Scene<D>,
    manifest: &mut Manifest,
    line: &StepLine,
) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(bodies) = line.bodies.filter(|bodies| bodies.unsolved_islands > 0) {
        let record = (manifest.contacts).get_or_insert_with(|| UnsolvedContacts {
            steps: 0,
            visible_steps: 0,
            first_frame: None,
            frame: line.frame,
            residual: 0.0,
            limit: scene.visible_residual(),
            remedy: remedy(scene),
        });
        if record.add(line.frame, bodies.unsolved_residual) {
            notices.push(format!("warning: {}; {}", record.message(), record.remedy));
        }
    }
    for name in &line.left_domain {
        let left = LeftBody {
            name: name.clone(),
            frame: line.frame,
            time: line.time,
        };
        notices.push(left.message());
        manifest.left_domain.push(left);
    }
    notices
}

/// Adds the first steps of a run, from so many bytes of its `stats.jsonl`.
///
/// # Errors
/// If the file can't be read.
pub fn add_first<const D: usize>(
    scene: &Scene<D>,
    manifest: &mut Manifest,
    statistics: &Path,
    bytes: u64,
) -> Result<(), Error> {
    let text = regular_file::read(statistics).map_err(|e| Error::io("read", statistics, &e))?;
    let first = &text[..text.len().min(bytes as usize)];
    for line in first.split(|&byte| byte == b'\n') {
        if let Ok(line) = serde_json::from_slice::<StepLine>(line) {
            add(scene, manifest, &line);
        }
    }
    Ok(())
}

/// Settings that make the residual smaller.
fn remedy<const D: usize>(scene: &Scene<D>) -> String {
    let shorter = format!("set contact.max_step below {}", scene.rigid_step());
    if scene.physics.is_viscous() {
        // Contacts themselves are solved; with the liquid they did not settle.
        return shorter;
    }
    let most = scene.contacts.settings.max_rounds;
    format!("raise contact.max_iterations above {most}, or {shorter}")
}
