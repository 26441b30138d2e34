//! Part four of the pressure step: the pressure gradient acts on the velocity.

use rayon::prelude::*;

use super::rows::NO_ROW;
use super::system::System;
use super::weights::{Beyond, Weights};
use crate::extrapolate::{FLYING, UNKNOWN};
use crate::tiles::Tiles;
use crate::transfer::FaceField;

/// Faces of the free surface that are less open than this take their velocity from their neighbours: the pressure of such
/// a cell is that of the cells beside it, and where its own surface seems a little higher or lower than theirs, the
/// difference would throw up the little liquid in it.
const SLIVER: f64 = 0.5;

/// A number that a pressure difference acts on.
pub trait Change: Send {
    /// Subtracts.
    fn reduce(&mut self, by: f64);
}

impl Change for f64 {
    fn reduce(&mut self, by: f64) {
        *self -= by;
    }
}

impl Change for f32 {
    fn reduce(&mut self, by: f64) {
        *self -= by as f32;
    }
}

/// Subtracts `dt/(rho dx)` times the pressure difference on open faces of liquid cells, divided by theta where
/// the other side is air. `known` becomes 0 on those faces, but for slivers of the free surface. Of the others, open ones
/// that were 0, those that carry particles, become [`FLYING`], and the rest [`UNKNOWN`].
pub fn apply<const D: usize, T: Change>(
    weights: &Weights<D>,
    system: &System,
    pressure: &[f64],
    scale: f64,
    velocity: &mut FaceField<D, T>,
    known: &mut [Vec<u8>; D],
) {
    let tiles = weights.tiles;
    let cells = Tiles::<D>::CELLS;
    for axis in 0..D {
        let faces = velocity[axis]
            .par_chunks_mut(cells)
            .zip(known[axis].par_chunks_mut(cells));
        faces
            .take(tiles.len())
            .enumerate()
            .for_each(|(slot, (velocity, known))| {
                for (offset, (velocity, known)) in velocity.iter_mut().zip(known).enumerate() {
                    let high = slot * cells + offset;
                    if weights.open(axis, high) == 0.0 {
                        *known = UNKNOWN;
                        continue;
                    }
                    *known = if *known == 0 || *known == FLYING {
                        FLYING
                    } else {
                        UNKNOWN
                    };
                    let low = tiles.below(high, axis);
                    let to_air = |row: u32, liquid: usize, air: usize, is_high: bool| {
                        let theta = weights.theta(liquid, air);
                        let open = weights.open_to(Beyond::Air { theta }, liquid, axis, is_high);
                        (pressure[row as usize] / theta, open < SLIVER)
                    };
                    let (difference, is_sliver) = match (system.rows.of(low), system.rows.of(high))
                    {
                        (NO_ROW, NO_ROW) => continue,
                        (NO_ROW, row) => to_air(row, high, low, false),
                        (row, NO_ROW) => {
                            let (difference, is_sliver) = to_air(row, low, high, true);
                            (-difference, is_sliver)
                        }
                        (below, above) => {
                            (pressure[above as usize] - pressure[below as usize], false)
                        }
                    };
                    velocity.reduce(scale * difference);
                    *known = if is_sliver { UNKNOWN } else { 0 };
                }
            });
    }
}
