//! Disk space that an export needs.

use super::{Format, Layer};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity;
use std::path::Path;

/// Approximate bytes of one frame's file. A surface has `vertices` and twice as many triangles.
pub fn bytes(format: Format, layer: Layer, particles: u64, vertices: u64, per_cell: u64) -> u64 {
    let head = 1000;
    let triangles = 2 * vertices;
    head + match (layer, format) {
        (Layer::Particles, Format::Vtk) => 32 * particles,
        (Layer::Particles, Format::Bgeo) => 28 * particles,
        (Layer::Particles, _) => 24 * particles,
        (Layer::Surface | Layer::Bodies, Format::Obj) => 75 * vertices + 42 * triangles,
        (Layer::Surface | Layer::Bodies, Format::Vtk | Format::Usd) => {
            36 * vertices + 16 * triangles
        }
        (Layer::Surface | Layer::Bodies, Format::Bgeo) => 40 * vertices + 21 * triangles,
        (Layer::Surface | Layer::Bodies, _) => 36 * vertices + 13 * triangles,
        // Distance and velocity of the liquid's cells and of those around it, and nodes of the trees.
        (Layer::Volume, _) => 16 * 2 * particles / per_cell.max(1) + 40_000,
    }
}

/// Approximate bytes of one frame's file of solids and bodies, with meshes of a few hundred vertices each.
pub fn bytes_of_bodies(format: Format, bodies: u64) -> u64 {
    match format {
        Format::Npz => 5_000 + 300 * bodies,
        Format::Usd => 200 * bodies,
        _ => 1000 + bytes(format, Layer::Surface, 0, 300, 1) * bodies,
    }
}

/// Checks that `needed` bytes fit on the disk of a folder, which may not exist yet.
///
/// # Errors
/// If they do not. Where the free space is unknown, nothing is refused.
pub fn check(folder: &Path, bytes: u64) -> Result<(), Error> {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
    let there = absolute.ancestors().find(|folder| folder.is_dir());
    let Some(free) = there.and_then(|folder| fs4::available_space(folder).ok()) else {
        return Ok(());
    };
    if bytes <= free {
        return Ok(());
    }
    Err(Error::new(
        Kind::Storage,
        format!(
            "the export needs about {}, but {} has only {} free",
            quantity::bytes(bytes),
            folder.display(),
            quantity::bytes(free)
        ),
    )
    .with_remedy(
        "make room on the disk, choose fewer frames with --frames, or another disk with --out DIR",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_larger_than_the_disk_is_refused_before_it_starts() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("not/there/yet");
        check(&inner, 1000).unwrap();
        let error = check(&inner, 1 << 60).unwrap_err();
        assert_eq!(error.kind(), Kind::Storage);
        assert!(error.to_string().contains("--frames"), "{error}");
        assert!(!inner.exists());
    }
}
