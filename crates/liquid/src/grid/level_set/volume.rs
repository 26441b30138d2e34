//! Volume inside the level set.

use rayon::prelude::*;

use super::LevelSet;
use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::{CutCells, SUBCELLS};
use crate::grid::tile_halo;
use crate::grid::tiles::Tiles;

impl LevelSet {
    /// Volume of the liquid outside solids (area in 2D), by quadrature over cut cells.
    pub fn volume<const D: usize>(&self, tiles: &Tiles<D>, cut: &CutCells<D>, dx: f64) -> f64 {
        let cells = Tiles::<D>::CELLS;
        let h = (dx / SUBCELLS as f64) as f32;
        let around = |marks: CellSet| (0..D).fold(marks, |marks, axis| marks.spread(tiles, axis));
        let inside = |marks: CellSet| (0..D).fold(marks, |marks, axis| marks.shrink(tiles, axis));
        let full = inside(CellSet::in_field(tiles, &self.phi, |phi| phi <= -0.5 * h));
        let mut wet = around(CellSet::in_field(tiles, &self.phi, |phi| phi < 0.5 * h));
        wet.keep(&self.near);
        let of_tile = |phi: &mut Vec<f32>, slot: usize| -> f64 {
            phi.clear();
            let first = slot * cells;
            wet.within(first..first + cells)
                .filter(|&index| cut.open_cell(index) > 0.0)
                .map(|index| {
                    if full.has(index) {
                        return cut.open_cell(index) as f64;
                    }
                    if phi.is_empty() {
                        tile_halo::rows(tiles, slot, BESIDE, |_, runs| {
                            for run in runs {
                                phi.extend_from_slice(&self.phi[run]);
                            }
                        });
                    }
                    let liquid =
                        at_subcells::<D, 3>(&tile_halo::near_cell::<D, f32>(phi, index - first));
                    if cut.far[slot] {
                        filled::<D>(&liquid, h)
                    } else {
                        filled_outside(tiles, cut, &liquid, index, h)
                    }
                })
                .sum()
        };
        let slots = (0..tiles.len()).into_par_iter();
        let tiles_in_order: Vec<f64> = slots.map_init(Vec::new, of_tile).collect();
        tiles_in_order.iter().sum::<f64>() * dx.powi(D as i32)
    }
}

/// Cells beyond a tile whose distances its own cells need.
const BESIDE: usize = 1;

/// Values at the midpoints of a cell's subcells; the first axis runs fastest.
type Subcells = [f32; SUBCELLS.pow(3)];

/// Share of a cell that is liquid, by quadrature.
#[inline]
fn filled<const D: usize>(liquid: &Subcells, h: f32) -> f64 {
    // Sums side by side, in an order that does not depend on the processor.
    let mut sums = [0.0; SUBCELLS];
    for row in liquid[..SUBCELLS.pow(D as u32)].as_chunks().0 {
        for (sum, &phi) in sums.iter_mut().zip::<&[f32; SUBCELLS]>(row) {
            *sum += share(-phi, h);
        }
    }
    sums.iter().sum::<f32>() as f64 / SUBCELLS.pow(D as u32) as f64
}

/// Share of a cell that is liquid and outside solids, by quadrature.
fn filled_outside<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    liquid: &Subcells,
    index: usize,
    h: f32,
) -> f64 {
    // Between the centres of cells phi is multilinear, and between nodes the solids' distance is.
    let corners = tiles.corners_of(index);
    let mut solid = [0.0; 8];
    for c in 0..1 << D {
        solid[c] = cut.node[corners[c]];
    }
    let nearest = solid[..1 << D]
        .iter()
        .copied()
        .fold(f32::INFINITY, f32::min);
    if nearest >= SUBCELLS as f32 * h {
        return filled::<D>(liquid, h);
    }
    let outside = at_subcells::<D, 2>(&solid);
    let mut both = *liquid;
    for (phi, &solid) in both.iter_mut().zip(&outside) {
        *phi = if -*phi < solid { *phi } else { -solid };
    }
    filled::<D>(&both, h)
}

/// Share of a small cell of width `h` with positive distance, from the distance at its centre.
#[inline]
fn share(distance: f32, h: f32) -> f32 {
    let share = 0.5 + distance / h;
    let share = if share > 0.0 { share } else { 0.0 };
    if share < 1.0 { share } else { 1.0 }
}

/// Values at the midpoints of a cell's subcells, from `N` values along every axis, evenly spaced around the cell's
/// centre: its nodes if two, the centres of it and its neighbours if three. The first axis runs fastest.
#[inline]
fn at_subcells<const D: usize, const N: usize>(values: &[f32]) -> Subcells {
    let mut now = [0.0; SUBCELLS.pow(3)];
    now[..N.pow(D as u32)].copy_from_slice(&values[..N.pow(D as u32)]);
    // One axis after the other gets its subcells.
    for axis in 0..D {
        let mut next = [0.0; SUBCELLS.pow(3)];
        let stride = SUBCELLS.pow(axis as u32);
        for block in 0..N.pow((D - 1 - axis) as u32) {
            for subcell in 0..SUBCELLS {
                let along = (subcell as f32 + 0.5) / SUBCELLS as f32 + 0.5 * (N - 2) as f32;
                let (low, share) = (along as usize, along % 1.0);
                let from = &now[(block * N + low) * stride..][..2 * stride];
                let to = &mut next[(block * SUBCELLS + subcell) * stride..][..stride];
                for i in 0..stride {
                    to[i] = from[i] + share * (from[i + stride] - from[i]);
                }
            }
        }
        now = next;
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcells_of_a_linear_field_have_its_values() {
        let field = |x: [f32; 3]| 0.3 + 2.0 * x[0] - 0.7 * x[1] + 1.1 * x[2];
        let unpack = |k: usize, n: usize| [k % n, k / n % n, k / (n * n)].map(|i| i as f32);
        let nodes: Vec<f32> = (0..8).map(|k| field(unpack(k, 2))).collect();
        let centres: Vec<f32> = (0..27)
            .map(|k| field(unpack(k, 3).map(|i| i - 0.5)))
            .collect();
        let found = [at_subcells::<3, 2>(&nodes), at_subcells::<3, 3>(&centres)];
        for k in 0..SUBCELLS.pow(3) {
            let expected = field(unpack(k, SUBCELLS).map(|i| (i + 0.5) / SUBCELLS as f32));
            for found in &found {
                assert!((found[k] - expected).abs() < 1e-5, "{k}");
            }
        }
    }
}
