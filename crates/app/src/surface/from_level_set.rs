//! The surface from the level set of the simulation, with what is too thin for its grid taken from the particles.

use super::contour::{self, BLOCK, COARSE, Contour, Lattice};
use super::field::Field;
use super::volume::remove_crumbs;
use super::{Settings, too_large};
use crate::cache::Frame;
use crate::error::Error;
use crate::scene::Scene;
use meniscus_liquid::Distance;
use meniscus_shapes::{PosedScenery, Scenery};

/// Volume of the smallest drop that is shown, in particles.
const SMALLEST: f64 = 0.25;

/// The contour of a frame, and the share of the particles that are in features too thin for the grid.
pub fn contour<const D: usize>(
    scene: &Scene<D>,
    scenery: &Scenery<D>,
    posed: &PosedScenery<'_, D>,
    frame: &Frame<D>,
    settings: &Settings,
) -> Result<(Contour<D>, f64), Error> {
    let distance = Distance::of_particles(scene.settings(), &frame.positions, scenery, frame.time)
        .map_err(|fault| Error::usage(fault.to_string()))?;
    let dx = distance.dx();
    let lattice = Lattice {
        // The centre of cell 0.
        origin: [0.5 * dx; D],
        width: dx,
        parts: settings.resolution as i32 * COARSE as i32,
    };
    let mut blocks = blocks(&distance);
    let volume = 1.0 / scene.particles_per_cell as f64;
    let field = Field::new(distance, posed, lattice, &frame.positions, volume);
    blocks.extend(field.blocks());
    blocks.sort_unstable();
    blocks.dedup();
    let mut contour = contour::contour(&lattice, &blocks, &field).map_err(|_| too_large())?;
    if D == 3 {
        remove_crumbs(&mut contour, SMALLEST * volume * dx.powi(3));
    }
    Ok((contour, field.thin_share()))
}

/// The blocks of the lattice that have cells around the liquid.
fn blocks<const D: usize>(distance: &Distance<D>) -> Vec<[i32; D]> {
    let last = Distance::<D>::SIDE as i32 - 1;
    let of_tile = |tile: usize| {
        let low = distance.lowest_cell(tile);
        (0..1usize << D).map(move |c| -> [i32; D] {
            std::array::from_fn(|a| {
                let cell = low[a] + if c >> a & 1 == 1 { last } else { 0 };
                cell.div_euclid(BLOCK) * BLOCK
            })
        })
    };
    const { assert!(Distance::<D>::SIDE <= BLOCK as usize) };
    (0..distance.blocks()).flat_map(of_tile).collect()
}
