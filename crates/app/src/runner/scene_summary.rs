//! Summary of a scene in the manifest and the checkpoints of its run.

use super::Options;
use meniscus_scene::{Scene, scene_hash};
use meniscus_store::checkpoint::Fixed;
use meniscus_store::jsonl::Prefix;
use meniscus_store::manifest::{Manifest, PROGRAM, SettingsSummary, State, keep};

/// Manifest of a new run.
pub fn manifest<const D: usize>(
    scene: &Scene<D>,
    options: &Options<'_>,
    threads: usize,
) -> Manifest {
    let scene_text = &options.scene_text;
    Manifest {
        program: PROGRAM.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        state: State::Running,
        scene: scene.name.clone(),
        frames_done: 0,
        frames: scene.frames,
        steps: 0,
        wall_seconds: 0.0,
        threads,
        scene_hash: scene_hash::hash(scene_text),
        physics_hash: scene_hash::physics_hash(scene_text),
        meshes: options.meshes.iter().map(|m| m.copy_name()).collect(),
        branched_from: None,
        particles: keep(&[], 0, scene.output.particles_every),
        statistics: Prefix::nothing(),
        timings: Prefix::nothing(),
        actions: None,
        preview: None,
        drift: None,
        contacts: None,
        left_domain: Vec::new(),
        settings: settings(scene, scene_text),
        error: None,
    }
}

/// Settings of a scene, as shown in `run.json`.
fn settings<const D: usize>(scene: &Scene<D>, scene_text: &str) -> SettingsSummary {
    SettingsSummary {
        dimension: D,
        domain: scene.domain.to_vec(),
        resolution: scene.resolution,
        cells: scene.cells().to_vec(),
        dx: scene.dx(),
        particles_per_cell: scene.physics.particles_per_cell,
        frame_rate: scene.frame_rate,
        physics: scene_hash::physics_settings(scene_text),
    }
}

/// Settings that the particles of a checkpoint depend on.
pub fn fixed<const D: usize>(scene: &Scene<D>) -> Fixed {
    Fixed {
        domain: scene.domain.to_vec(),
        resolution: scene.resolution as u64,
        frame_rate: scene.frame_rate,
        particles_per_cell: scene.physics.particles_per_cell as u64,
    }
}
