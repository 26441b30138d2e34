//! The surface where the distance of the simulation is zero, cut off at solids.

use super::contour::{self, Contour, Inside, Lattice};
use super::{Settings, too_large};
use crate::cache::Frame;
use crate::error::Error;
use crate::scene::Scene;
use meniscus_liquid::Distance;
use meniscus_shapes::{PosedScenery, Scenery};

/// The liquid ends this far before a solid, in cells: drawn together they don't flicker, and the flat triangles along a
/// round solid stay out of it.
pub const GAP: f64 = 0.02;

/// The contour of a frame.
pub fn contour<const D: usize>(
    scene: &Scene<D>,
    scenery: &Scenery<D>,
    posed: &PosedScenery<'_, D>,
    frame: &Frame<D>,
    settings: &Settings,
) -> Result<Contour<D>, Error> {
    let distance = Distance::of_particles(scene.settings(), &frame.positions, scenery, frame.time)
        .map_err(|fault| Error::usage(fault.to_string()))?;
    let dx = distance.dx();
    let lattice = Lattice {
        // The centre of cell 0.
        origin: [0.5 * dx; D],
        width: dx,
        parts: settings.resolution as i32,
    };
    let blocks: Vec<[i32; D]> = (0..distance.blocks())
        .map(|block| distance.lowest_cell(block))
        .collect();
    const { assert!(Distance::<D>::SIDE == contour::BLOCK as usize) };
    let liquid = Liquid {
        distance,
        posed,
        lattice,
    };
    contour::contour(&lattice, &blocks, &liquid).map_err(|_| too_large())
}

struct Liquid<'a, const D: usize> {
    distance: Distance<D>,
    posed: &'a PosedScenery<'a, D>,
    lattice: Lattice<D>,
}

impl<const D: usize> Liquid<'_, D> {
    /// How far outside of what is left to the liquid by solids.
    fn in_solid(&self, x: [f64; D]) -> f64 {
        let dx = self.distance.dx();
        GAP * dx - self.posed.distance_within(x, 2.0 * dx)
    }
}

impl<const D: usize> Inside<D> for Liquid<'_, D> {
    fn value(&self, point: [i32; D]) -> f64 {
        let parts = self.lattice.parts;
        let cell = point.map(|p| p.div_euclid(parts));
        let share = point.map(|p| f64::from(p.rem_euclid(parts)) / f64::from(parts));
        // Between the centres of cells the distance is multilinear, as it is where its volume is measured.
        let phi: f64 = (0..1usize << D)
            .map(|c| {
                let weight: f64 = (0..D)
                    .map(|a| {
                        if c >> a & 1 == 1 {
                            share[a]
                        } else {
                            1.0 - share[a]
                        }
                    })
                    .product();
                if weight == 0.0 {
                    return 0.0;
                }
                weight
                    * self
                        .distance
                        .at(std::array::from_fn(|a| cell[a] + (c >> a & 1) as i32))
            })
            .sum();
        phi.max(self.in_solid(self.lattice.place(point)))
    }

    fn matters(&self, cell: [i32; D]) -> bool {
        let corner = |c: usize| std::array::from_fn(|a| cell[a] + (c >> a & 1) as i32);
        let wet = (0..1usize << D)
            .filter(|&c| self.distance.at(corner(c)) < 0.0)
            .count();
        if wet == 0 || wet < 1 << D || D == 2 {
            return wet > 0;
        }
        // Inside the liquid only a solid can end it.
        let dx = self.distance.dx();
        let low = self.lattice.place(cell.map(|c| c * self.lattice.parts));
        let half_diagonal = 0.5 * dx * (D as f64).sqrt();
        self.in_solid(low.map(|x| x + 0.5 * dx)) + half_diagonal > 0.0
    }
}
