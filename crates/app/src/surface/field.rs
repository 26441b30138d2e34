//! The scalar field whose zero set is the surface: the level set in thick liquid, local bodies in thin liquid, cut off at solids.

mod local;

pub use local::Local;

use super::cells::{Cells, digits, number};
use super::contour::{BLOCK, Implicit, Lattice};
use super::local_shape::{self, Body, LIMIT};
use super::thickness;
use meniscus_liquid::Distance;
use meniscus_shapes::PosedSolids;
use std::collections::HashMap;

/// Gap between liquid and solids, in cells: rendered together they don't flicker, and the flat triangles along a
/// round solid stay outside of it.
pub const GAP: f64 = 0.02;
/// Weight of the level set, in bodies.
const LEVEL_SET_WEIGHT: f32 = 3.0;
/// Mean thinness at which the level set starts to fade, until 1. Bodies fade below.
const FADING: f32 = 0.5;

/// Scalar field.
pub struct Field<'a, const D: usize> {
    distance: Distance<D>,
    posed: &'a PosedSolids<'a, D>,
    lattice: Lattice<D>,
    dx: f64,
    /// Offset of the contour from the zero set, in cells, positive outwards.
    pub level: f32,
    /// Positions in cells, and their cell lists.
    positions: Vec<[f32; D]>,
    cells: Cells<D>,
    thinness: Vec<f32>,
    bodies: Vec<Body<D>>,
    /// Bodies with weight in a block of the lattice, and the cells of that block where some body has weight.
    blocks: HashMap<[i32; D], Thin>,
}

/// Thin features in a block.
#[derive(Default)]
struct Thin {
    bodies: Vec<u32>,
    cells: [u64; 8],
}

impl<'a, const D: usize> Field<'a, D> {
    /// Field of particles, given by their positions in metres and their volume in cells.
    pub fn new(
        distance: Distance<D>,
        posed: &'a PosedSolids<'a, D>,
        lattice: Lattice<D>,
        positions: &[[f32; D]],
        volume: f64,
    ) -> Self {
        let dx = distance.dx();
        let in_cells = |x: &[f32; D]| x.map(|c| (f64::from(c) / dx) as f32);
        let positions: Vec<[f32; D]> = positions.iter().map(in_cells).collect();
        let cells = Cells::new(&positions);
        let in_metres = |x: [f32; D]| x.map(|c| f64::from(c) * dx);
        let wall = |x: [f32; D]| posed.distance_within(in_metres(x), 2.0 * dx) / dx;
        let thinness = thickness::thinness(&cells, &positions, volume, wall);
        let beside = |x: [f32; D]| {
            let distance = wall(x);
            (distance < 1.0).then_some((distance, posed.normal(in_metres(x))?))
        };
        let spacing = 1.0 / f64::from(lattice.parts);
        let bodies = local_shape::bodies(&cells, &positions, &thinness, volume, spacing, beside);
        let mut field = Field {
            distance,
            posed,
            lattice,
            dx,
            level: 0.0,
            positions,
            cells,
            thinness,
            bodies,
            blocks: HashMap::new(),
        };
        for k in 0..field.bodies.len() {
            field.add_body(k);
        }
        field
    }

    /// Blocks of the lattice, by their lowest cells, where bodies have weight.
    pub fn blocks(&self) -> impl Iterator<Item = [i32; D]> {
        self.blocks.keys().copied()
    }

    /// Fraction of the particles' volume in thin liquid.
    pub fn thin_share(&self) -> f64 {
        let sum: f64 = self.thinness.iter().map(|&t| f64::from(t)).sum();
        sum / self.thinness.len().max(1) as f64
    }

    /// Adds a body to the blocks and cells where it has weight.
    fn add_body(&mut self, k: usize) {
        let body = &self.bodies[k];
        let end = |sign: f32| -> [i32; D] {
            // A small margin: blocks that share points must agree on them.
            std::array::from_fn(|a| {
                (body.centre[a] + sign * (body.reach[a] + 1e-3) - 0.5).floor() as i32
            })
        };
        let (low, high) = (end(-1.0), end(1.0));
        let span = (0..D).map(|a| high[a] - low[a] + 1).max().unwrap_or(1);
        for offset in (0..span.pow(D as u32)).map(|k| digits::<D>(k, span)) {
            let cell: [i32; D] = std::array::from_fn(|a| low[a] + offset[a]);
            if (0..D).any(|a| cell[a] > high[a]) {
                continue;
            }
            let thin = self.blocks.entry(block_of(cell)).or_default();
            if thin.bodies.last() != Some(&(k as u32)) {
                thin.bodies.push(k as u32);
            }
            let bit = bit_of(cell);
            thin.cells[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Distance outside of the region that solids leave to the liquid.
    fn in_solid(&self, x: [f64; D]) -> f64 {
        GAP * self.dx - self.posed.distance_within(x, 2.0 * self.dx)
    }
}

fn block_of<const D: usize>(cell: [i32; D]) -> [i32; D] {
    cell.map(|c| c.div_euclid(BLOCK) * BLOCK)
}

fn bit_of<const D: usize>(cell: [i32; D]) -> usize {
    number(cell.map(|c| c.rem_euclid(BLOCK)), BLOCK)
}

impl<const D: usize> Implicit<D> for Field<'_, D> {
    type Local = Local<D>;

    fn enter(&self, block: [i32; D], local: &mut Local<D>) {
        local.prepare(self.lattice.parts);
        let width = self.lattice.width;
        let middle = self
            .lattice
            .place(block.map(|c| c * self.lattice.parts))
            .map(|x| x + 0.5 * f64::from(BLOCK) * width);
        let half_diagonal = 0.5 * f64::from(BLOCK) * width * (D as f64).sqrt();
        let far = half_diagonal + 2.0 * GAP * self.dx;
        let near_solids = self.posed.distance_within(middle, 2.0 * far) < far;
        local.move_to(block, near_solids);
        local.phi.clear();
        let centres = (BLOCK + 1).pow(D as u32);
        local.phi.extend((0..centres).map(|k| {
            let offset = digits::<D>(k, BLOCK + 1);
            let phi = self
                .distance
                .at(std::array::from_fn(|a| block[a] + offset[a]));
            (phi / self.dx) as f32
        }));
        local.find_dry(self.level);
        // Cells around the block count as well: they share its faces.
        let side = BLOCK + 2;
        let thin: Vec<Option<&Thin>> = (0..3i32.pow(D as u32))
            .map(|k| {
                let offset = digits::<D>(k, 3);
                self.blocks
                    .get(&std::array::from_fn(|a| block[a] + (offset[a] - 1) * BLOCK))
            })
            .collect();
        local.fine.clear();
        // In 2D all cells are fine: there are few triangles.
        local.any_fine = D == 2 || thin.iter().any(Option::is_some);
        if local.any_fine {
            local.fine.extend((0..side.pow(D as u32)).map(|k| {
                let cell = digits::<D>(k, side).map(|c| c - 1);
                let near = cell.map(|c| c.div_euclid(BLOCK) + 1);
                let bit = bit_of(cell);
                D == 2
                    || thin[number(near, 3)]
                        .is_some_and(|t| t.cells[bit / 64] >> (bit % 64) & 1 == 1)
            }));
            local.any_fine = local.fine.contains(&true);
        }
        let here = thin[3usize.pow(D as u32) / 2];
        local.any_bodies = here.is_some();
        if local.any_fine {
            local.gather_thinness(self);
        }
        if let Some(thin) = here {
            let side = (BLOCK * self.lattice.parts + 1) as usize;
            local.sums.clear();
            local.sums.resize(side.pow(D as u32), [0.0; 2]);
            for &k in &thin.bodies {
                local.add(&self.lattice, &self.bodies[k as usize]);
            }
        }
    }

    fn value(&self, local: &Local<D>, point: [i32; D]) -> f64 {
        let [mut phi] = local.between(&self.lattice, point, |k| [local.phi[k]]);
        if local.any_fine && local.touches_fine(&self.lattice, point) {
            // Mean of all distances, weighted towards small ones: a smooth union without the swelling of sums.
            let thinness = local.thinness_at(&self.lattice, point);
            phi += ((thinness - FADING) / (1.0 - FADING)).max(0.0) * 2.0 * LIMIT;
            let near = (1.0 - phi * (1.0 / LIMIT)).max(0.0);
            let own = LEVEL_SET_WEIGHT * near * near * near * near;
            let [weight, sum] = local.bodies_at(&self.lattice, point);
            if weight + own > 0.0 {
                phi = (sum + own * phi) / (weight + own);
            }
        }
        f64::from(phi - self.level) * self.dx
    }

    fn cut(&self, local: &Local<D>, point: [i32; D], value: f64) -> f64 {
        // Distance within which a solid affects the result.
        let near = GAP * self.dx - value;
        if !local.near_solids || local.room(self, point) > near.max(0.0) {
            return value;
        }
        // Inside solids, distances matter up to the end of an edge that leads out of them.
        let band = near.clamp(1.1 * self.dx, 2.0 * self.dx);
        let x = self.lattice.place(point);
        value.max(GAP * self.dx - self.posed.distance_within(x, band))
    }

    fn matters(&self, local: &Local<D>, cell: [i32; D]) -> bool {
        let offset: [i32; D] = std::array::from_fn(|a| cell[a] - local.block[a]);
        let wet = (0..1usize << D)
            .filter(|c| {
                let corner: [i32; D] = std::array::from_fn(|a| offset[a] + (c >> a & 1) as i32);
                local.phi[number(corner, BLOCK + 1)] < 0.0
            })
            .count();
        if wet == 0 || wet < 1 << D || D == 2 {
            return wet > 0;
        }
        // Inside the liquid only a solid can end it.
        let low = self.lattice.place(cell.map(|c| c * self.lattice.parts));
        let half_diagonal = 0.5 * self.dx * (D as f64).sqrt();
        local.near_solids && self.in_solid(low.map(|x| x + 0.5 * self.dx)) + half_diagonal > 0.0
    }

    fn is_dry(&self, local: &Local<D>, cell: [i32; D]) -> bool {
        local.is_dry(&self.lattice, cell)
    }

    fn is_outside(&self, local: &Local<D>, point: [i32; D]) -> bool {
        local.is_outside(&self.lattice, point)
    }

    fn is_fine(&self, local: &Local<D>, cell: [i32; D]) -> bool {
        local.is_fine(cell)
    }

    fn any_fine(&self, local: &Local<D>) -> bool {
        local.any_fine
    }

    fn smoothing_weight(&self, local: &Local<D>, point: [i32; D]) -> f32 {
        if local.any_fine {
            1.0 - local.thinness_at(&self.lattice, point)
        } else {
            1.0
        }
    }
}
