//! Data of the field prepared for one block of the lattice.

use super::super::cells::{Window, digits, number};
use super::super::contour::{BLOCK, Lattice};
use super::super::local_shape::{Body, LIMIT, SEEN};
use super::{FADING, Field};
use std::cell::Cell;

/// Distance from solids, in cells, sufficient for points near the surface.
const FARTHEST: f64 = 0.6;

/// Prepared data of a block.
pub struct Local<const D: usize> {
    pub(super) block: [i32; D],
    window: Window<D>,
    /// Interpolation weights of a cell's corners at all its points, and the corners as offsets in the lists of centres.
    weights: Vec<[f32; 8]>,
    corners: [usize; 8],
    /// Distance in cells at the centres of the block's cells and the adjacent ones.
    pub(super) phi: Vec<f32>,
    /// Cells of the block where these distances allow no liquid.
    dry: Vec<bool>,
    /// Offset of the contour in cells, zero if it lies inside the zero set.
    level: f32,
    /// Weighted thinness of the particles around these centres, and the weights.
    pub(super) thinness: Vec<[f32; 2]>,
    /// At the lattice points: sums of the bodies' weights, and of weights times distances.
    pub(super) sums: Vec<[f32; 2]>,
    /// Cells of the block and around it that show thin liquid, if any does.
    pub(super) fine: Vec<bool>,
    pub(super) any_fine: bool,
    pub(super) any_bodies: bool,
    pub(super) near_solids: bool,
    /// Lower bounds on the distance from solids, in metres, per cell of the block; NaN where not computed yet.
    room: Vec<Cell<f64>>,
}

impl<const D: usize> Default for Local<D> {
    fn default() -> Self {
        Local {
            block: [0; D],
            window: Window::default(),
            weights: Vec::new(),
            corners: [0; 8],
            phi: Vec::new(),
            dry: Vec::new(),
            level: 0.0,
            thinness: Vec::new(),
            sums: Vec::new(),
            fine: Vec::new(),
            any_fine: false,
            any_bodies: false,
            near_solids: false,
            room: Vec::new(),
        }
    }
}

impl<const D: usize> Local<D> {
    /// Multilinear interpolation between cell centres.
    pub(super) fn between<const N: usize>(
        &self,
        lattice: &Lattice<D>,
        point: [i32; D],
        at: impl Fn(usize) -> [f32; N],
    ) -> [f32; N] {
        let parts = lattice.parts;
        let (mut low, mut fraction) = (0, 0);
        for a in 0..D {
            let local = point[a] - self.block[a] * parts;
            // The last centre belongs to the block as well.
            let cell = (local / parts).min(BLOCK - 1);
            low = low * (BLOCK as usize + 1) + cell as usize;
            fraction = fraction * (parts as usize + 1) + (local - cell * parts) as usize;
        }
        let weights = &self.weights[fraction];
        let mut sum = [0.0; N];
        for c in 0..1usize << D {
            let values = at(low + self.corners[c]);
            for n in 0..N {
                sum[n] += weights[c] * values[n];
            }
        }
        sum
    }

    /// Computes the interpolation weights, which are the same in all blocks.
    pub(super) fn prepare(&mut self, parts: i32) {
        if !self.weights.is_empty() {
            return;
        }
        let high = |c: usize, a: usize| (c >> a & 1) as i32;
        for c in 0..1usize << D {
            self.corners[c] = number::<D>(std::array::from_fn(|a| high(c, a)), BLOCK + 1);
        }
        let fractions = (0..(parts + 1).pow(D as u32)).map(|k| digits::<D>(k, parts + 1));
        self.weights.extend(fractions.map(|fraction| {
            std::array::from_fn(|c| {
                let share = |a: usize| fraction[a] as f32 / parts as f32;
                let along = (0..D).map(|a| {
                    if high(c, a) == 1 {
                        share(a)
                    } else {
                        1.0 - share(a)
                    }
                });
                along.product()
            })
        }));
    }

    /// Moves to a block.
    pub(super) fn move_to(&mut self, block: [i32; D], near_solids: bool) {
        self.block = block;
        self.near_solids = near_solids;
        self.room.clear();
        if near_solids {
            let cells = (BLOCK as usize).pow(D as u32);
            self.room.resize(cells, Cell::new(f64::NAN));
        }
    }

    /// Cell of a point, in the block; the last centre belongs to the block as well.
    fn cell(&self, lattice: &Lattice<D>, point: [i32; D]) -> [i32; D] {
        std::array::from_fn(|a| {
            let local = point[a] - self.block[a] * lattice.parts;
            (local / lattice.parts).min(BLOCK - 1)
        })
    }

    /// Marks the cells whose neighbourhood has no distance below that of the contour.
    pub(super) fn find_dry(&mut self, level: f32) {
        self.level = level.max(0.0);
        let level = self.level;
        let phi = &self.phi;
        let corners = &self.corners[..1 << D];
        let is_dry = |k: i32| {
            let low = number(digits::<D>(k, BLOCK), BLOCK + 1);
            corners.iter().all(|corner| phi[low + corner] > level)
        };
        self.dry.clear();
        self.dry.extend((0..BLOCK.pow(D as u32)).map(is_dry));
    }

    /// Whether neither the level set nor bodies have liquid at a point, so that the mean of distances need not
    /// be computed.
    pub(super) fn is_outside(&self, lattice: &Lattice<D>, point: [i32; D]) -> bool {
        self.dry[number(self.cell(lattice, point), BLOCK)]
            && self.is_beyond(self.bodies_at(lattice, point))
    }

    /// Whether the mean distance of bodies is beyond the contour, or there are none.
    fn is_beyond(&self, [weight, sum]: [f32; 2]) -> bool {
        sum >= self.level * weight
    }

    /// Whether all points of a cell of the block are outside.
    pub(super) fn is_dry(&self, lattice: &Lattice<D>, cell: [i32; D]) -> bool {
        let offset: [i32; D] = std::array::from_fn(|a| cell[a] - self.block[a]);
        if !self.dry[number(offset, BLOCK)] {
            return false;
        }
        let parts = lattice.parts;
        !self.any_bodies
            || (0..(parts + 1).pow(D as u32 - 1)).all(|k| {
                // Rows run along the first axis.
                let mut low = digits::<D>(k, parts + 1);
                for a in 0..D {
                    low[a] += cell[a] * parts;
                }
                let start = self.point(lattice, low);
                let row = &self.sums[start..=start + parts as usize];
                row.iter().all(|&sums| self.is_beyond(sums))
            })
    }

    /// Lower bound on the distance of a point from solids, from that of the centre of its cell.
    pub(super) fn room(&self, field: &Field<'_, D>, point: [i32; D]) -> f64 {
        let (parts, dx) = (field.lattice.parts, field.dx);
        let cell = self.cell(&field.lattice, point);
        let known = &self.room[number(cell, BLOCK)];
        if known.get().is_nan() {
            let low = std::array::from_fn(|a| (self.block[a] + cell[a]) * parts);
            let middle = field.lattice.place(low).map(|x| x + 0.5 * dx);
            // With a margin for rounding.
            let half_diagonal = 0.501 * dx * (D as f64).sqrt();
            let distance = field
                .posed
                .distance_within(middle, half_diagonal + FARTHEST * dx);
            known.set(distance - half_diagonal);
        }
        known.get()
    }

    fn point(&self, lattice: &Lattice<D>, point: [i32; D]) -> usize {
        let side = BLOCK * lattice.parts + 1;
        let local = (0..D).map(|a| (point[a] - self.block[a] * lattice.parts) as usize);
        local.rev().fold(0, |at, p| at * side as usize + p)
    }

    /// Sums of the bodies' weights at a point, and of weights times distances.
    pub(super) fn bodies_at(&self, lattice: &Lattice<D>, point: [i32; D]) -> [f32; 2] {
        if self.any_bodies {
            self.sums[self.point(lattice, point)]
        } else {
            [0.0; 2]
        }
    }

    /// Whether a cell of the block, or adjacent to it, shows thin liquid.
    pub(super) fn is_fine(&self, cell: [i32; D]) -> bool {
        let offset: [i32; D] = std::array::from_fn(|a| cell[a] - self.block[a] + 1);
        self.any_fine && self.fine[number(offset, BLOCK + 2)]
    }

    /// Whether one of the cells at this point does. Blocks that share the point agree.
    pub(super) fn touches_fine(&self, lattice: &Lattice<D>, point: [i32; D]) -> bool {
        let cell = point.map(|p| p.div_euclid(lattice.parts));
        let shared = point.map(|p| p.rem_euclid(lattice.parts) == 0);
        (0..1usize << D).any(|c| {
            let below = |a: usize| c >> a & 1 == 1;
            (0..D).all(|a| shared[a] || !below(a))
                && self.is_fine(std::array::from_fn(|a| cell[a] - i32::from(below(a))))
        })
    }

    /// Mean thinness of the particles around a point.
    pub(super) fn thinness_at(&self, lattice: &Lattice<D>, point: [i32; D]) -> f32 {
        let [thin, all] = self.between(lattice, point, |k| self.thinness[k]);
        if all > 0.0 { thin / all } else { 0.0 }
    }

    /// Adds the weights of the particles around the block to the cell centres.
    pub(super) fn gather_thinness(&mut self, field: &Field<'_, D>) {
        self.thinness.clear();
        self.thinness
            .resize((BLOCK as usize + 1).pow(D as u32), [0.0; 2]);
        let (cells, positions) = (&field.cells, &field.positions);
        cells.window(positions, self.block, 2, &mut self.window);
        for (x, &i) in self.window.places.iter().zip(&self.window.particles) {
            let low = x.map(|c| (c - 0.5).floor());
            let share: [f32; D] = std::array::from_fn(|a| x[a] - 0.5 - low[a]);
            for c in 0..1usize << D {
                let high = |a: usize| (c >> a & 1) as i32;
                let cell: [i32; D] =
                    std::array::from_fn(|a| low[a] as i32 + high(a) - self.block[a]);
                if cell.iter().any(|c| !(0..=BLOCK).contains(c)) {
                    continue;
                }
                let weight: f32 = (0..D)
                    .map(|a| {
                        if high(a) == 1 {
                            share[a]
                        } else {
                            1.0 - share[a]
                        }
                    })
                    .product();
                let sums = &mut self.thinness[number(cell, BLOCK + 1)];
                sums[0] += weight * field.thinness[i as usize];
                sums[1] += weight;
            }
        }
    }

    /// Adds a body to the points of the block. Coordinates are those of the whole lattice, so that blocks agree on shared
    /// points.
    pub(super) fn add(&mut self, lattice: &Lattice<D>, body: &Body<D>) {
        let parts = f64::from(lattice.parts);
        let side = (BLOCK * lattice.parts + 1) as usize;
        let first = self.block.map(|c| c * lattice.parts);
        let (mut low, mut high) = ([0usize; D], [0usize; D]);
        for a in 0..D {
            let (centre, reach) = (f64::from(body.centre[a]) - 0.5, f64::from(body.reach[a]));
            let from = ((centre - reach) * parts).ceil() as i32 - first[a];
            let to = ((centre + reach) * parts).floor() as i32 - first[a];
            if to < 0 || from >= side as i32 || from > to {
                return;
            }
            low[a] = from.max(0) as usize;
            high[a] = (to as usize).min(side - 1);
        }
        let away = |a: usize, p: usize| {
            (f64::from(first[a] + p as i32) / parts + 0.5 - f64::from(body.centre[a])) as f32
        };
        let along: Vec<f32> = (low[0]..=high[0]).map(|p| away(0, p)).collect();
        let fade = (1.0 - body.thinness / FADING).max(0.0) * LIMIT;
        let q = &body.metric;
        let mut at = low;
        loop {
            // The distance is the square root of a quadratic function of the first coordinate.
            let mut d = [0.0; D];
            let mut start = 0;
            for a in (1..D).rev() {
                d[a] = away(a, at[a]);
                start = start * side + at[a];
            }
            let (mut linear, mut constant, mut aside) = (0.0, 0.0, 0.0);
            for a in 1..D {
                linear += 2.0 * q[0][a] * d[a];
                aside += d[a] * d[a];
                for b in 1..D {
                    constant += q[a][b] * d[a] * d[b];
                }
            }
            if aside < SEEN * SEEN {
                let start = start * side + low[0];
                let row = &mut self.sums[start..start + along.len()];
                for (sums, &x) in row.iter_mut().zip(&along) {
                    let square = (q[0][0] * x + linear) * x + constant;
                    let phi = (square.max(0.0).sqrt() - 1.0) * body.half + fade;
                    let near = (1.0 - phi * (1.0 / LIMIT)).max(0.0);
                    let seen = (1.0 - (x * x + aside) * (1.0 / (SEEN * SEEN))).max(0.0);
                    let weight = near * near * near * near * seen * seen;
                    sums[0] += weight;
                    sums[1] += weight * phi;
                }
            }
            let Some(a) = (1..D).find(|&a| at[a] < high[a]) else {
                return;
            };
            at[a] += 1;
            at[1..a].copy_from_slice(&low[1..a]);
        }
    }
}
