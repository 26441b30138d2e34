//! Transfer of velocity from particles to the grid, and interpolation on the grid.

use std::ops::Range;

use rayon::prelude::*;

use crate::disjoint_slice::DisjointSlice;
use crate::grid::cut_cells::interpolate;
use crate::grid::tile_halo;
use crate::grid::tiles::{Corners, TILE, Tiles, floor};
use crate::particles::{Bins, Particles};

/// A component on the low faces of cells, for every axis: of velocities in double precision, or of something that
/// may be rougher.
pub type FaceField<const D: usize, T = f64> = [Vec<T>; D];

/// Where the samples of a field lie in a cell, and the weights around a point.
pub struct Stencil<const D: usize> {
    /// The samples around the point.
    pub corners: Corners,
    /// Position between them, 0 to 1 along every axis.
    pub at: [f64; D],
}

impl<const D: usize> Stencil<D> {
    /// Around `x` (in cells), for samples that lie at `offset` from the lower corner of their cell.
    #[inline(always)]
    pub fn new(tiles: &Tiles<D>, x: [f64; D], offset: [f64; D]) -> Self {
        let x: [f64; D] = std::array::from_fn(|a| x[a] - offset[a]);
        let base = x.map(floor);
        Self {
            corners: tiles.corners(base),
            at: std::array::from_fn(|a| x[a] - base[a] as f64),
        }
    }

    /// Around `x` (in cells), for the low faces along every axis: what these have in common is found once.
    #[inline(always)]
    pub fn of_faces(tiles: &Tiles<D>, x: [f64; D]) -> [Self; D] {
        let whole = x.map(floor);
        let beyond: [f64; D] = std::array::from_fn(|a| x[a] - whole[a] as f64);
        // Along the other axes the samples lie in the middle of cells.
        let lower: [bool; D] = std::array::from_fn(|a| beyond[a] < 0.5);
        let base = std::array::from_fn(|a| whole[a] - i32::from(lower[a]));
        let between: [f64; D] =
            std::array::from_fn(|a| beyond[a] + if lower[a] { 0.5 } else { -0.5 });
        let block = tiles.block(base);
        std::array::from_fn(|axis| {
            let corners = match block {
                Some(index) => {
                    let mut corners = [0; 8];
                    corners[0] = index + usize::from(lower[axis]) * Tiles::<D>::stride(axis);
                    for a in 0..D {
                        for c in 0..1 << a {
                            corners[c + (1 << a)] = corners[c] + Tiles::<D>::stride(a);
                        }
                    }
                    corners
                }
                None => {
                    let mut base = base;
                    base[axis] = whole[axis];
                    tiles.corners(base)
                }
            };
            let mut at = between;
            at[axis] = beyond[axis];
            Self { corners, at }
        })
    }

    #[inline]
    fn values<T: Copy + Into<f64>>(&self, field: &[T]) -> [f64; 8] {
        let mut values = [0.0; 8];
        for c in 0..1 << D {
            values[c] = field[self.corners[c]].into();
        }
        values
    }

    /// Value of a field at the point.
    #[inline]
    pub fn value<T: Copy + Into<f64>>(&self, field: &[T]) -> f64 {
        interpolate(&self.values(field), self.at)
    }

    /// Value and gradient of a field at the point, the gradient per cell.
    #[inline]
    pub fn value_and_gradient<T: Copy + Into<f64>>(&self, field: &[T]) -> (f64, [f64; D]) {
        interpolate_with_gradient(self.values(field), self.at)
    }
}

/// Multilinear interpolation between the `2^D` corner values, and its gradient.
#[inline]
pub fn interpolate_with_gradient<const D: usize>(
    mut values: [f64; 8],
    at: [f64; D],
) -> (f64, [f64; D]) {
    let mut slopes = [[0.0; 4]; D];
    for a in (0..D).rev() {
        for c in 0..1 << a {
            let difference = values[c + (1 << a)] - values[c];
            values[c] += at[a] * difference;
            for slope in &mut slopes[a + 1..] {
                slope[c] += at[a] * (slope[c + (1 << a)] - slope[c]);
            }
            slopes[a][c] = difference;
        }
    }
    (values[0], slopes.map(|slope| slope[0]))
}

/// Weights of the corners around a point, from its position between them; only the first `2^D` are used.
#[inline(always)]
fn corner_weights<const D: usize>(at: [f64; D]) -> [f64; 8] {
    let mut weights = [1.0; 8];
    for a in 0..D {
        for c in 0..1 << a {
            weights[c + (1 << a)] = weights[c] * at[a];
            weights[c] *= 1.0 - at[a];
        }
    }
    weights
}

/// Offset of the low faces along `axis` in their cells.
#[inline]
pub fn face_offset<const D: usize>(axis: usize) -> [f64; D] {
    std::array::from_fn(|a| if a == axis { 0.0 } else { 0.5 })
}

/// Velocity at a point given in cells.
#[inline]
pub fn sample<const D: usize>(tiles: &Tiles<D>, velocity: &FaceField<D>, x: [f64; D]) -> [f64; D] {
    let stencils = Stencil::of_faces(tiles, x);
    std::array::from_fn(|a| stencils[a].value(&velocity[a]))
}

/// Cells beyond its tile that a particle writes to.
const BEYOND: usize = 1;

/// What the particles of a tile add to the faces and cells in and around it.
struct Sums<const D: usize> {
    /// Momentum and weight on the faces along every axis.
    faces: [Vec<[f64; 2]>; D],
    /// Particles around the centres of cells.
    number: Vec<f32>,
    /// Rows of the window that are not zero.
    touched: Vec<bool>,
}

impl<const D: usize> Sums<D> {
    fn new() -> Self {
        let cells = tile_halo::cells::<D>(BEYOND);
        Self {
            faces: std::array::from_fn(|_| vec![[0.0; 2]; cells]),
            number: vec![0.0; cells],
            touched: vec![false; cells / tile_halo::side(BEYOND)],
        }
    }

    /// Marks the rows that particles in a row of the tile write to.
    fn touch(&mut self, row: usize) {
        let tile = TILE as usize;
        for near in 0..3usize.pow(D as u32 - 1) {
            let (mut row, mut near, mut at, mut scale) = (row, near, 0, 1);
            for _ in 0..D - 1 {
                at += scale * (row % tile + near % 3);
                scale *= tile_halo::side(BEYOND);
                row /= tile;
                near /= 3;
            }
            self.touched[at] = true;
        }
    }

    /// Adds particles, by the widest instructions that there are. These do the same operations in the same order.
    fn add_all(
        &mut self,
        particles: &Particles<D>,
        which: Range<usize>,
        lowest: [f64; D],
        dx: f64,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.add_by_avx2(particles, which, lowest, dx) };
        }
        self.add_one_by_one(particles, which, lowest, dx);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_by_avx2(
        &mut self,
        particles: &Particles<D>,
        which: Range<usize>,
        lowest: [f64; D],
        dx: f64,
    ) {
        self.add_one_by_one(particles, which, lowest, dx);
    }

    #[inline(always)]
    fn add_one_by_one(
        &mut self,
        particles: &Particles<D>,
        which: Range<usize>,
        lowest: [f64; D],
        dx: f64,
    ) {
        let inverse_dx = 1.0 / dx;
        for p in which {
            let x = particles.position[p];
            let x = std::array::from_fn(|a| x[a] as f64 * inverse_dx - lowest[a]);
            let gradient = particles.affine[p].entries();
            let gradient = gradient.map(|g| g.map(|g| g as f64 * dx));
            self.add(x, particles.velocity[p], gradient);
        }
    }

    /// Adds a particle at `x`, in cells from the lower corner of the window, with its velocity and the change of the
    /// velocity from cell to cell.
    #[inline(always)]
    fn add(&mut self, x: [f64; D], velocity: [f32; D], gradient: [[f64; D]; D]) {
        let mut first = 0;
        let mut up = [0; D];
        let (mut at_faces, mut at_middles) = ([0.0; D], [0.0; D]);
        for a in 0..D {
            // Rounding may put what is just below the next tile on its border.
            let whole = (x[a] as usize).clamp(BEYOND, TILE as usize);
            at_faces[a] = x[a] - whole as f64;
            let lower = at_faces[a] < 0.5;
            at_middles[a] = at_faces[a] + if lower { 0.5 } else { -0.5 };
            first += (whole - usize::from(lower)) * tile_halo::stride::<D>(BEYOND, a);
            up[a] = usize::from(lower) * tile_halo::stride::<D>(BEYOND, a);
        }
        let last = tile_halo::to_corner::<D>(BEYOND, (1 << D) - 1);
        for a in 0..D {
            let mut at = at_middles;
            at[a] = at_faces[a];
            // Velocity at the lowest corner, then along the axes.
            let mut v = [velocity[a] as f64; 8];
            for b in 0..D {
                v[0] -= gradient[a][b] * at[b];
            }
            for b in 0..D {
                for c in 0..1 << b {
                    v[c + (1 << b)] = v[c] + gradient[a][b];
                }
            }
            let weights = corner_weights(at);
            let sums = &mut self.faces[a][first + up[a]..][..last + 1];
            // Two corners along the last axis lie side by side.
            for c in 0..1 << (D - 1) {
                let next = c + (1 << (D - 1));
                let pair = &mut sums[tile_halo::to_corner::<D>(BEYOND, c)..][..2];
                let terms = [
                    weights[c] * v[c],
                    weights[c],
                    weights[next] * v[next],
                    weights[next],
                ];
                for (sum, term) in pair.as_flattened_mut().iter_mut().zip(terms) {
                    *sum += term;
                }
            }
        }
        let weights = corner_weights(at_middles);
        let sums = &mut self.number[first..][..last + 1];
        for c in 0..1 << D {
            sums[tile_halo::to_corner::<D>(BEYOND, c)] += weights[c] as f32;
        }
    }
}

/// Sums the particles' momentum and weight on faces (APIC: each with its own gradient), and their number at the
/// centres of cells. Faces that no particle reaches keep weight 0.
pub fn to_grid<const D: usize>(
    tiles: &Tiles<D>,
    particles: &Particles<D>,
    bins: &Bins,
    dx: f64,
    velocity: &mut FaceField<D>,
    weight: &mut FaceField<D, f32>,
    number: &mut Vec<f32>,
) {
    for a in 0..D {
        tiles.reset(&mut velocity[a], 0.0);
        tiles.reset(&mut weight[a], 0.0);
    }
    tiles.reset(number, 0.0);
    {
        let velocity = velocity.each_mut().map(|v| DisjointSlice::new(v));
        let weight = weight.each_mut().map(|w| DisjointSlice::new(w));
        let number = DisjointSlice::new(number);
        let (cells, row) = (Tiles::<D>::CELLS, TILE as usize);
        let sum_tile = |sums: &mut Sums<D>, slot: usize| {
            let lowest = tile_halo::lowest(tiles, slot, BEYOND).map(|c| c as f64);
            for (k, first) in (slot * cells..(slot + 1) * cells).step_by(row).enumerate() {
                let of_row = bins.of_cells(first..first + row);
                if of_row.is_empty() {
                    continue;
                }
                sums.touch(k);
                sums.add_all(particles, of_row, lowest, dx);
            }
            tile_halo::rows(tiles, slot, BEYOND, |k, runs| {
                if !std::mem::take(&mut sums.touched[k]) {
                    return;
                }
                let from = k * tile_halo::side(BEYOND);
                for (at, index) in runs.into_iter().flatten().enumerate() {
                    let number_here = std::mem::take(&mut sums.number[from + at]);
                    let faces_here: [[f64; 2]; D] =
                        std::array::from_fn(|a| std::mem::take(&mut sums.faces[a][from + at]));
                    // Around spray most of a row is zero. Every particle has tiles around it: what has none got nothing.
                    let is_zero = number_here == 0.0 && faces_here.iter().all(|f| f[1] == 0.0);
                    if is_zero || !tiles.exists(index) {
                        continue;
                    }
                    // SAFETY: a particle writes at most one cell beyond its tile, and the tiles that are worked on
                    // at the same time are a whole tile apart.
                    unsafe {
                        for a in 0..D {
                            let [momentum, share] = faces_here[a];
                            velocity[a].add(index, momentum);
                            weight[a].add(index, share as f32);
                        }
                        number.add(index, number_here);
                    }
                }
            });
        };
        for parity in 0..1 << D {
            let wanted = |&slot: &usize| {
                let all = slot * cells..(slot + 1) * cells;
                tiles.parity(slot) == parity && !bins.of_cells(all).is_empty()
            };
            let slots: Vec<usize> = (0..tiles.len()).filter(wanted).collect();
            // One by one: a parity has so few tiles that two threads could hardly share them otherwise.
            slots
                .par_iter()
                .with_max_len(1)
                .for_each_init(Sums::new, |sums, &slot| sum_tile(sums, slot));
        }
    }
    for a in 0..D {
        velocity[a]
            .par_iter_mut()
            .with_min_len(4096)
            .zip(&weight[a])
            .for_each(|(v, &w)| {
                if w > 0.0 {
                    *v /= w as f64;
                }
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stencils_of_all_faces_are_those_of_each() {
        let mut tiles = Tiles::<3>::new([24; 3]);
        tiles.cover([[9, 12, 15]].par_iter().copied(), 4);
        for k in 0..2000 {
            let x = [0.137, 0.291, 0.511].map(|step| 6.0 + (step * k as f64) % 7.0);
            for (a, found) in Stencil::of_faces(&tiles, x).into_iter().enumerate() {
                let alone = Stencil::new(&tiles, x, face_offset(a));
                assert_eq!(found.corners, alone.corners);
                for b in 0..3 {
                    assert!((found.at[b] - alone.at[b]).abs() < 1e-14);
                }
            }
        }
    }
}
