//! The volume that the liquid's surface encloses.

use rayon::prelude::*;

use super::LevelSet;
use crate::cut_cells::{CutCells, SUBCELLS, heaviside, range};
use crate::marks::Marks;
use crate::tiles::Tiles;

impl LevelSet {
    /// Volume of the liquid outside solids (area in 2D), by quadrature over cut cells.
    pub fn volume<const D: usize>(&self, tiles: &Tiles<D>, cut: &CutCells<D>, dx: f64) -> f64 {
        let cells = Tiles::<D>::CELLS;
        let h = dx / SUBCELLS as f64;
        let around = |marks: Marks| (0..D).fold(marks, |marks, axis| marks.spread(tiles, axis));
        let inside = |marks: Marks| (0..D).fold(marks, |marks, axis| marks.shrink(tiles, axis));
        let full = inside(Marks::of(tiles, |index| self.phi[index] <= -0.5 * h));
        let mut wet = around(Marks::of(tiles, |index| self.phi[index] < 0.5 * h));
        wet.keep(&self.near);
        let of_tile = |slot: usize| -> f64 {
            wet.within(slot * cells..(slot + 1) * cells)
                .filter(|&index| cut.cell[index] > 0.0)
                .map(|index| {
                    if full.has(index) {
                        cut.cell[index] as f64
                    } else {
                        self.filled(tiles, cut, index, h)
                    }
                })
                .sum()
        };
        let tiles_in_order: Vec<f64> = (0..tiles.len()).into_par_iter().map(of_tile).collect();
        tiles_in_order.iter().sum::<f64>() * dx.powi(D as i32)
    }

    /// Share of a cell that is liquid and outside solids, by quadrature.
    fn filled<const D: usize>(
        &self,
        tiles: &Tiles<D>,
        cut: &CutCells<D>,
        index: usize,
        h: f64,
    ) -> f64 {
        let near = tiles.around(index).map(|near| self.phi[near]);
        // Between the centres of cells phi is multilinear, and between nodes the solids' distance is.
        let liquid = at_subcells::<D, 3>(&near);
        let corners = tiles.corners(tiles.coord(index));
        let mut solid = [0.0; 8];
        for c in 0..1 << D {
            solid[c] = cut.node[corners[c]] as f64;
        }
        let all = ..SUBCELLS.pow(D as u32);
        let dry = range(&solid[..1 << D]).0 >= SUBCELLS as f64 * h;
        let sum: f64 = if dry {
            liquid[all].iter().map(|&phi| heaviside(-phi, h)).sum()
        } else {
            let outside = at_subcells::<D, 2>(&solid);
            let both = liquid[all].iter().zip(&outside);
            both.map(|(&phi, &solid)| heaviside((-phi).min(solid), h))
                .sum()
        };
        sum / SUBCELLS.pow(D as u32) as f64
    }
}

/// Values at the midpoints of a cell's subcells, from `N` values along every axis, evenly spaced around the cell's
/// centre: its nodes if two, the centres of it and its neighbours if three. The first axis runs fastest.
fn at_subcells<const D: usize, const N: usize>(values: &[f64]) -> [f64; SUBCELLS.pow(3)] {
    let mut now = [0.0; SUBCELLS.pow(3)];
    now[..N.pow(D as u32)].copy_from_slice(&values[..N.pow(D as u32)]);
    // One axis after the other gets its subcells.
    for axis in 0..D {
        let mut next = [0.0; SUBCELLS.pow(3)];
        let stride = SUBCELLS.pow(axis as u32);
        for block in 0..N.pow((D - 1 - axis) as u32) {
            for subcell in 0..SUBCELLS {
                let along = (subcell as f64 + 0.5) / SUBCELLS as f64 + 0.5 * (N - 2) as f64;
                let (low, share) = (along as usize, along % 1.0);
                let from = &now[(block * N + low) * stride..];
                let to = &mut next[(block * SUBCELLS + subcell) * stride..];
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
        let field = |x: [f64; 3]| 0.3 + 2.0 * x[0] - 0.7 * x[1] + 1.1 * x[2];
        let unpack = |k: usize, n: usize| [k % n, k / n % n, k / (n * n)].map(|i| i as f64);
        let nodes: Vec<f64> = (0..8).map(|k| field(unpack(k, 2))).collect();
        let centres: Vec<f64> = (0..27)
            .map(|k| field(unpack(k, 3).map(|i| i - 0.5)))
            .collect();
        let found = [at_subcells::<3, 2>(&nodes), at_subcells::<3, 3>(&centres)];
        for k in 0..SUBCELLS.pow(3) {
            let expected = field(unpack(k, SUBCELLS).map(|i| (i + 0.5) / SUBCELLS as f64));
            for found in &found {
                assert!((found[k] - expected).abs() < 1e-12, "{k}");
            }
        }
    }
}
