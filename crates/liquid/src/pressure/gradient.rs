//! Part four of the pressure step: the pressure gradient acts on the velocity.

use rayon::prelude::*;

use super::rows::NO_ROW;
use super::system::System;
use super::weights::{FaceNeighbour, Weights};
use crate::grid::extrapolate::FaceState;
use crate::grid::tiles::Tiles;
use crate::particles::transfer::FaceField;

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

/// A face that a pressure gradient acts on.
enum Acting {
    /// Between two cells with a pressure, the lower one first.
    Liquid { low: u32, high: u32 },
    /// Between a cell with a pressure and air on its `high` or low side.
    Surface {
        row: u32,
        cell: usize,
        air: usize,
        high: bool,
    },
}

/// How the pressure acts on the low face of a cell along `axis`; not at all on closed faces and away from the liquid.
#[inline]
fn acting<const D: usize>(
    weights: &Weights<D>,
    system: &System<D>,
    axis: usize,
    face: usize,
) -> Option<Acting> {
    if weights.open(axis, face) == 0.0 {
        return None;
    }
    let below = weights.tiles.below(face, axis);
    match (system.rows.of(below), system.rows.of(face)) {
        (NO_ROW, NO_ROW) => None,
        (NO_ROW, row) => Some(Acting::Surface {
            row,
            cell: face,
            air: below,
            high: false,
        }),
        (row, NO_ROW) => Some(Acting::Surface {
            row,
            cell: below,
            air: face,
            high: true,
        }),
        (low, high) => Some(Acting::Liquid { low, high }),
    }
}

/// For the cells of a word: whether there is a pressure on one side of the low face along `axis` at least. Most faces are
/// away from the liquid.
#[inline]
fn beside_rows<const D: usize>(
    weights: &Weights<D>,
    system: &System<D>,
    axis: usize,
    word: usize,
) -> u64 {
    let cells = system.rows.cells();
    cells.words()[word] | cells.neighbours(weights.tiles, word, axis).0
}

/// Subtracts `scale` times the pressure difference on open faces of liquid cells, divided by theta where the other side
/// is air.
pub fn subtract_gradient<const D: usize, T: Change>(
    weights: &Weights<D>,
    system: &System<D>,
    pressure: &[f64],
    scale: f64,
    field: &mut FaceField<D, T>,
) {
    for (axis, field) in field.iter_mut().enumerate() {
        let words = field.par_chunks_mut(64).take(weights.tiles.cells() / 64);
        let words = words.enumerate().with_min_len(Tiles::<D>::CELLS / 64);
        words.for_each(|(word, field)| {
            let mut left = beside_rows(weights, system, axis, word);
            while left != 0 {
                let place = left.trailing_zeros() as usize;
                left &= left - 1;
                let (face, value) = (64 * word + place, &mut field[place]);
                let difference = match acting(weights, system, axis, face) {
                    None => continue,
                    Some(Acting::Liquid { low, high }) => {
                        pressure[high as usize] - pressure[low as usize]
                    }
                    Some(Acting::Surface {
                        row,
                        cell,
                        air,
                        high,
                    }) => {
                        let difference = pressure[row as usize] / weights.theta(cell, air);
                        if high { -difference } else { difference }
                    }
                };
                value.reduce(scale * difference);
            }
        });
    }
}

/// CellSet the faces that the pressure acted on as [`FaceState::Known`], but for slivers of the free surface. Of the other
/// open faces, those that carry particles become [`FaceState::Ballistic`]; all the rest is [`FaceState::Unknown`].
pub fn classify_faces<const D: usize>(
    weights: &Weights<D>,
    system: &System<D>,
    state: &mut [Vec<FaceState>; D],
) {
    for (axis, state) in state.iter_mut().enumerate() {
        let words = state.par_chunks_mut(64).take(weights.tiles.cells() / 64);
        let words = words.enumerate().with_min_len(Tiles::<D>::CELLS / 64);
        words.for_each(|(word, state)| {
            let beside_rows = beside_rows(weights, system, axis, word);
            for (place, state) in state.iter_mut().enumerate() {
                let face = 64 * word + place;
                let carries_particles = *state == FaceState::Known;
                let acting = match beside_rows >> place & 1 {
                    0 => None,
                    _ => acting(weights, system, axis, face),
                };
                *state = match acting {
                    Some(Acting::Liquid { .. }) => FaceState::Known,
                    Some(Acting::Surface {
                        cell, air, high, ..
                    }) => {
                        let theta = weights.theta(cell, air);
                        let open = weights.open_to(FaceNeighbour::Air { theta }, cell, axis, high);
                        match open < SLIVER {
                            true => FaceState::Unknown,
                            false => FaceState::Known,
                        }
                    }
                    None if carries_particles && weights.open(axis, face) > 0.0 => {
                        FaceState::Ballistic
                    }
                    None => FaceState::Unknown,
                };
            }
        });
    }
}
