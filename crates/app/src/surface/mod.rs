//! Surface reconstruction: triangle meshes of the liquid, one file per frame, from the particles of a run.
//!
//! [`make()`] processes a whole run, [`of_frame`] one frame, [`read`] reads an existing surface. A surface is closed: every
//! edge has two triangles. It encloses the volume of the particles, in features of any thickness. It ends slightly before
//! solids and never inside of them. 2D runs get the filled region of the liquid instead, upright: their second axis becomes
//! z, and y is zero.
//!
//! The surface is the zero set of one scalar field (`field.rs`) on a lattice: the level set of the simulation where the
//! liquid is thick (`thickness.rs`), anisotropic bodies (`local_shape.rs`) where it is too thin for the grid. The lattice is
//! twice as fine there (`transition.rs`). A small offset removes the remaining difference in volume
//! (`volume.rs`).

mod cells;
pub mod contour;
pub(crate) mod dual_contouring;
pub(crate) mod field;
pub mod file;
mod finish;
mod from_level_set;
mod from_particles;
mod local_shape;
mod make;
mod marching_cubes_table;
mod measures;
pub(crate) mod particle_lookup;
pub mod solids;
#[cfg(test)]
mod tests;
mod thickness;
mod transition;
mod volume;

pub use file::count_vertices;
pub use make::{Made, Options, Progress, SurfaceEncoder, make};
pub use measures::Measures;

use meniscus_scene::Scene;
use meniscus_scene::SurfaceSettings;
use meniscus_scene::surface_settings::SurfaceSource;
use meniscus_store::cache::{self, Frame};
use meniscus_store::error::{Error, Kind};
use meniscus_store::layout::surfaces;
use std::path::Path;

/// Surface of the liquid at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertices in metres.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals out of the liquid, one per vertex; in 2D all of them are -y.
    pub normals: Vec<[f32; 3]>,
    /// Velocities of the liquid in metres per second, one per vertex.
    pub velocities: Vec<[f32; 3]>,
    /// Vertex indices, counter-clockwise as seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Enclosed volume.
    pub fn volume(&self) -> f64 {
        let corner = |v: u32| self.positions[v as usize].map(f64::from);
        let of = |&[a, b, c]: &[u32; 3]| dot(corner(a), cross(corner(b), corner(c))) / 6.0;
        self.triangles.iter().map(of).sum()
    }

    /// Number of connected pieces.
    pub fn pieces(&self) -> usize {
        volume::pieces(self.positions.len(), &self.triangles)
    }

    /// Area.
    pub fn area(&self) -> f64 {
        let corner = |v: u32| self.positions[v as usize].map(f64::from);
        let of = |&[a, b, c]: &[u32; 3]| {
            let n = cross(sub(corner(b), corner(a)), sub(corner(c), corner(a)));
            0.5 * dot(n, n).sqrt()
        };
        self.triangles.iter().map(of).sum()
    }

    /// Number of edges that do not have exactly two triangles with opposite orientations.
    pub fn open_edges(&self) -> usize {
        let mut edges: Vec<(u32, u32, bool)> = self
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
            .map(|(a, b)| (a.min(b), a.max(b), a < b))
            .collect();
        edges.sort_unstable();
        edges
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .filter(|same| !(same.len() == 2 && same[0].2 != same[1].2))
            .count()
    }
}

/// Surface of the liquid in one frame of a scene.
///
/// # Errors
/// If the frame does not match the scene, or has too many vertices.
pub fn of_frame<const D: usize>(
    scene: &Scene<D>,
    frame: &Frame<D>,
    settings: &SurfaceSettings,
) -> Result<Surface, Error> {
    measured(scene, frame, settings).map(|(surface, _)| surface)
}

/// Surface of the liquid in one frame of a scene, with its measures.
///
/// # Errors
/// As [`of_frame`].
pub fn measured<const D: usize>(
    scene: &Scene<D>,
    frame: &Frame<D>,
    settings: &SurfaceSettings,
) -> Result<(Surface, Measures), Error> {
    if frame.positions().is_empty() {
        return Ok(Default::default());
    }
    if (frame.spacing() - scene.dx()).abs() > 1e-9 * scene.dx() {
        return Err(Error::new(
            Kind::Storage,
            format!(
                "frame {} has cells of {} m, its scene of {} m",
                frame.number,
                frame.spacing(),
                scene.dx()
            ),
        ));
    }
    let solids = &scene.posed_solids(&frame.bodies)?;
    let posed = solids.over_step(frame.time, 0.0);
    let particle = scene.dx().powi(D as i32) / scene.physics.particles_per_cell as f64;
    let particle_volume = frame.positions().len() as f64 * particle;
    // splashsurf supports three dimensions only.
    let (contour, thin, level) = match settings.source {
        SurfaceSource::Particles if D == 3 => {
            let contour = from_particles::contour(scene, &posed, frame, settings)?;
            (contour, None, 0.0)
        }
        _ => {
            let target = particle_volume;
            let made = from_level_set::contour(scene, solids, &posed, frame, settings, target)?;
            (made.contour, Some(made.thin), made.level)
        }
    };
    let (surface, offset) =
        finish::finish(contour, scene, &posed, frame, settings, particle_volume);
    let measures = Measures {
        particle_volume,
        volume: if D == 3 {
            surface.volume()
        } else {
            surface.area()
        },
        thin_volume: thin.map(|share| share * particle_volume),
        offset: level + offset,
        pieces: surface.pieces() as u64,
    };
    Ok((surface, measures))
}

/// Error for too many vertices.
fn too_large() -> Error {
    Error::new(Kind::Resources, "the surface has too many vertices")
        .with_remedy("choose a coarser --resolution")
}

/// Reads the surface of a frame from a run's folder.
///
/// # Errors
/// If there is none, or it is damaged.
pub fn read(run: &Path, number: u32) -> Result<Surface, Error> {
    let path = surfaces::path(run, number);
    let bytes = cache::read_bytes(&path)?;
    let sealed = file::decode(&bytes).map_err(|cause| damaged(&path, &cause))?;
    Ok(sealed.surface)
}

/// Error for a damaged surface.
pub fn damaged(path: &Path, cause: &cache::CacheError) -> Error {
    Error::new(
        Kind::Storage,
        format!("{} is damaged: {cause}", path.display()),
    )
    .with_remedy("`meniscus mesh` reconstructs it from the particles")
}

/// Embeds a vector of a scene in 3D; up stays up.
pub fn upright<const D: usize>(vector: [f64; D]) -> [f64; 3] {
    let mut spatial = [0.0; 3];
    spatial[..D - 1].copy_from_slice(&vector[..D - 1]);
    spatial[2] = vector[D - 1];
    spatial
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}
