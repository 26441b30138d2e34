//! Liquid of a frame on voxels.

use super::Up;
use super::vdb::{Tree, Volume};
use crate::surface::field::GAP;
use crate::surface::particle_lookup::{ParticleLookup, Rows};
use crate::surface::upright;
use meniscus_liquid::Distance;
use meniscus_scene::Scene;
use meniscus_store::cache::Frame;
use meniscus_store::error::Error;
use rayon::prelude::*;

/// Width of the narrow band in cells: distances are clamped to it, and voxels beyond it omitted.
const FARTHEST: f64 = 1.5;

/// Signed distance to the liquid, cut off at solids, and its velocity, at cell centres. Intended for 3D; a 2D liquid has
/// one layer of voxels.
///
/// # Errors
/// If the scene is invalid.
pub fn of_frame<const D: usize>(
    scene: &Scene<D>,
    frame: &Frame<D>,
    up: Up,
) -> Result<Volume, Error> {
    let solids = &scene.posed_solids(&frame.bodies)?;
    let settings = scene.settings();
    let distance = Distance::of_particles(settings, frame.positions(), solids, frame.time)
        .map_err(|fault| Error::usage(fault.to_string()))?;
    let dx = distance.dx();
    let posed = solids.over_step(frame.time, 0.0);
    let around = ParticleLookup::new(frame);
    let side = Distance::<D>::SIDE as i32;
    let of_cell = |rows: &mut Rows<D>, cell: [i32; D]| {
        let x = cell.map(|c| (f64::from(c) + 0.5) * dx);
        let phi = distance.at(cell);
        if phi >= FARTHEST * dx {
            return None;
        }
        let phi = phi.max(GAP * dx - posed.distance_within(x, 2.0 * dx));
        (phi < FARTHEST * dx).then(|| {
            let velocity = upright(around.velocity(x, rows)).map(|v| v as f32);
            (cell, phi as f32, up.vector(velocity))
        })
    };
    let voxels: Vec<Vec<_>> = (0..distance.blocks())
        .into_par_iter()
        .map_init(Rows::default, |rows, block| {
            let low = distance.lowest_cell(block);
            (0..side.pow(D as u32))
                .filter_map(|mut k| {
                    let cell = low.map(|c| {
                        let digit = k % side;
                        k /= side;
                        c + digit
                    });
                    of_cell(rows, cell)
                })
                .collect()
        })
        .collect();
    let mut volume = Volume {
        distance: Tree::new((FARTHEST * dx) as f32),
        velocity: Tree::new([0.0; 3]),
        origin: up.vector([0.5; 3]).map(|x| f64::from(x) * dx),
        width: dx,
        time: frame.time,
    };
    for (cell, phi, velocity) in voxels.into_iter().flatten() {
        let [x, y, z] = std::array::from_fn(|a| cell.get(a).copied().unwrap_or(0));
        let voxel = match up {
            Up::Z => [x, y, z],
            Up::Y => [x, z, -y],
        };
        volume.distance.set(voxel, phi);
        volume.velocity.set(voxel, velocity);
    }
    Ok(volume)
}
