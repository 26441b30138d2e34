//! Surface from the level set of the simulation, with features too thin for its grid from the particles.

use super::contour::{self, BLOCK, COARSE, Contour, Lattice};
use super::field::Field;
use super::too_large;
use super::volume::{FARTHEST, MOST_STEPS, area, remove_fragments};
use meniscus_liquid::Distance;
use meniscus_scene::Scene;
use meniscus_scene::SurfaceSettings;
use meniscus_shapes::{PosedSolids, Solids};
use meniscus_store::cache::Frame;
use meniscus_store::error::Error;

/// Volume of the smallest visible drop, in particles.
const SMALLEST: f64 = 0.25;
/// Tolerance on the area, as a fraction of it.
const CLOSE: f64 = 1e-3;

/// Result for a frame.
pub struct Made<const D: usize> {
    /// Contour.
    pub contour: Contour<D>,
    /// Fraction of the particles in features too thin for the grid.
    pub thin: f64,
    /// Offset of the contour from the zero set, in cells, positive outwards.
    pub level: f64,
}

/// Contour of a frame. In 2D it encloses the area `target`; in 3D vertices are offset later.
pub fn contour<const D: usize>(
    scene: &Scene<D>,
    solids: &Solids<D>,
    posed: &PosedSolids<'_, D>,
    frame: &Frame<D>,
    settings: &SurfaceSettings,
    target: f64,
) -> Result<Made<D>, Error> {
    let distance = Distance::of_particles(scene.settings(), frame.positions(), solids, frame.time)
        .map_err(|fault| Error::usage(fault.to_string()))?;
    let dx = distance.dx();
    let lattice = Lattice {
        // Centre of cell 0.
        origin: [0.5 * dx; D],
        width: dx,
        parts: settings.resolution as i32 * COARSE as i32,
    };
    let mut blocks = blocks(&distance);
    let volume = 1.0 / scene.physics.particles_per_cell as f64;
    let mut field = Field::new(distance, posed, lattice, frame.positions(), volume);
    blocks.extend(field.blocks());
    blocks.sort_unstable();
    blocks.dedup();
    let contoured =
        |field: &Field<'_, D>| contour::contour(&lattice, &blocks, field).map_err(|_| too_large());
    let mut contour = contoured(&field)?;
    let mut level = 0.0;
    if D == 3 {
        remove_fragments(&mut contour, SMALLEST * volume * dx.powi(3));
    } else {
        // Moving vertices would flip the triangles inside; contours are cheap in 2D.
        let mut found = area(&contour);
        let mut next = 0.02f64.copysign(target - found);
        for _ in 0..MOST_STEPS {
            field.level = next as f32;
            let wider = contoured(&field)?;
            let slope = (area(&wider) - found) / (next - level);
            (contour, level) = (wider, next);
            found = area(&contour);
            if !(slope > 0.0 && slope.is_finite()) || (found / target - 1.0).abs() < CLOSE {
                break;
            }
            next = (level + (target - found) / slope).clamp(-FARTHEST, FARTHEST);
            if next == level {
                break;
            }
        }
    }
    Ok(Made {
        contour,
        thin: field.thin_share(),
        level,
    })
}

/// Blocks of the lattice with cells around the liquid.
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
