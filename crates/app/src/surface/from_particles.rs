//! Surface from the particles alone, by splashsurf: an isosurface of the SPH density.

use super::contour::Contour;
use super::field::GAP;
use super::too_large;
use meniscus_scene::Scene;
use meniscus_scene::SurfaceSettings;
use meniscus_shapes::PosedSolids;
use meniscus_skin::{Skin, around};
use meniscus_store::cache::Frame;
use meniscus_store::error::{Error, Kind};
use rayon::prelude::*;

/// Kernel radius in cells: slightly more than two particle spacings, since particles of a FLIP liquid
/// are not evenly spaced.
const REACH: f64 = 1.25;
/// Isovalue of the density, which is one inside.
const THRESHOLD: f64 = 0.5;
/// Vertices this close to a solid, in cells, are projected onto it: the density falls off before a wall as well.
const SNAP: f64 = 0.5;

/// Contour of a frame. Solids affect it only by the projection of vertices close to them.
pub fn contour<const D: usize>(
    scene: &Scene<D>,
    posed: &PosedSolids<'_, D>,
    frame: &Frame<D>,
    settings: &SurfaceSettings,
) -> Result<Contour<D>, Error> {
    let dx = scene.dx();
    // Sphere with the volume of a particle.
    let volume = dx.powi(3) / scene.physics.particles_per_cell as f64;
    let radius = (volume * 0.75 / std::f64::consts::PI).cbrt();
    let skin = Skin {
        radius: radius as f32,
        reach: (REACH * dx) as f32,
        spacing: (dx / f64::from(settings.resolution)) as f32,
        threshold: THRESHOLD as f32,
    };
    let positions: Vec<[f32; 3]> = frame
        .positions()
        .iter()
        .map(|x| std::array::from_fn(|a| x[a]))
        .collect();
    let mesh = around(&positions, &skin).map_err(|cause| {
        Error::new(
            Kind::Numerical,
            format!("frame {} has no surface: {cause}", frame.number),
        )
    })?;
    u32::try_from(mesh.vertices.len()).map_err(|_| too_large())?;
    let vertices: Vec<[f64; D]> = mesh
        .vertices
        .par_iter()
        .map(|x| snapped(std::array::from_fn(|a| f64::from(x[a])), posed, dx))
        .collect();
    let triangles = mesh.triangles.iter().map(|t| t.map(|v| v as u32)).collect();
    Ok(Contour {
        smoothing_weight: vec![1.0; vertices.len()],
        vertices,
        triangles,
    })
}

/// Projects a point close to a solid, or inside of it, onto the solid.
fn snapped<const D: usize>(x: [f64; D], posed: &PosedSolids<'_, D>, dx: f64) -> [f64; D] {
    let mut at = x;
    // In a corner, onto two or three solids in turn.
    for _ in 0..3 {
        let distance = posed.distance_within(at, dx);
        if distance >= SNAP * dx {
            break;
        }
        let Some(normal) = posed.normal(at) else {
            break;
        };
        at = std::array::from_fn(|a| at[a] + (GAP * dx - distance) * normal[a]);
    }
    at
}
