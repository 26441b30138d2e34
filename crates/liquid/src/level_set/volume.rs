//! The volume that the liquid's surface encloses.

use rayon::prelude::*;

use super::LevelSet;
use crate::cut_cells::{CutCells, SUBCELLS, heaviside, interpolate, mean_over_cell, range};
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
        // Between the centres of cells phi is multilinear, so the cell meets 2^D boxes of centres, one per corner.
        let place =
            |bits: usize| -> usize { (0..D).map(|a| (bits >> a & 1) * 3usize.pow(a as u32)).sum() };
        let mut boxes = [[0.0; 8]; 8];
        for c in 0..1 << D {
            for k in 0..1 << D {
                boxes[c][k] = near[place(c) + place(k)];
            }
        }
        let corners = tiles.corners(tiles.coord(index));
        let mut solid = [0.0; 8];
        for c in 0..1 << D {
            solid[c] = cut.node[corners[c]] as f64;
        }
        let dry = range(&solid[..1 << D]).0 >= SUBCELLS as f64 * h;
        mean_over_cell::<D>(|at| {
            let side: usize = (0..D).map(|a| ((at[a] > 0.5) as usize) << a).sum();
            let within = at.map(|s| if s > 0.5 { s - 0.5 } else { s + 0.5 });
            let inside_liquid = -interpolate::<D>(&boxes[side], within);
            if dry {
                return heaviside(inside_liquid, h);
            }
            let outside_solid = interpolate::<D>(&solid, at);
            heaviside(inside_liquid.min(outside_solid), h)
        })
    }
}
