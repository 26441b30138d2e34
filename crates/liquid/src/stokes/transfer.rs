//! Transfers between two levels: linear interpolation of the flux velocity, piecewise constant pressure, and their transposes
//! divided by `2^D`.
//!
//! Along its axis a face lies on a coarse plane or half way between two; across it, the nearer coarse face weighs 3/4. Coarse
//! faces in the air have no value: they are left out and the others take over their weight. Solid ones are zero.

use rayon::prelude::*;

use super::kernels::Pair;
use super::level::{FaceKind, Level, Shares};
use crate::grid::tiles::{Coord, Tiles};

/// Weights below this are rounding.
const TINY: f32 = 1e-6;

/// Interpolation from a coarse level to a finer one.
#[derive(Clone, Debug)]
pub(crate) struct Transfer<const D: usize> {
    /// What the weights of every fine face are multiplied by to make up for coarse faces in the air; zero for
    /// those that are no unknowns.
    rescale: [Vec<f32>; D],
}

/// Calls `visit` with the coarse faces around a fine one, and their weights.
#[inline]
fn parents<const D: usize>(
    coarse: &Tiles<D>,
    face: Coord<D>,
    axis: usize,
    mut visit: impl FnMut(usize, f32),
) {
    let mut near = [(coarse.index(face.map(|c| c >> 1)), 1.0f32); 8];
    let mut count = 1;
    for a in 0..D {
        let odd = face[a] & 1 == 1;
        if a == axis && !odd {
            continue;
        }
        let (keep, give) = if a == axis { (0.5, 0.5) } else { (0.75, 0.25) };
        for k in 0..count {
            let (index, weight) = near[k];
            let other = match odd {
                true => coarse.above(index, a),
                false => coarse.below(index, a),
            };
            near[k].1 = keep * weight;
            near[count + k] = (other, give * weight);
        }
        count *= 2;
    }
    for &(index, weight) in &near[..count] {
        visit(index, weight);
    }
}

/// Calls `visit` with the fine faces around a coarse one, and their weights.
#[inline]
fn children<const D: usize>(
    fine: &Tiles<D>,
    face: Coord<D>,
    axis: usize,
    mut visit: impl FnMut(usize, f32),
) {
    let mut near = [(fine.index(face.map(|c| 2 * c)), 1.0f32); 48];
    let mut count = 1;
    for a in 0..D {
        let mut next = [(0, 0.0f32); 48];
        let mut found = 0;
        for &(index, weight) in &near[..count] {
            let mut add = |index: usize, share: f32| {
                next[found] = (index, share * weight);
                found += 1;
            };
            let above = fine.above(index, a);
            if a == axis {
                add(fine.below(index, a), 0.5);
                add(index, 1.0);
                add(above, 0.5);
            } else {
                add(fine.below(index, a), 0.25);
                add(index, 0.75);
                add(above, 0.75);
                add(fine.above(above, a), 0.25);
            }
        }
        (near, count) = (next, found);
    }
    for &(index, weight) in &near[..count] {
        visit(index, weight);
    }
}

impl<const D: usize> Transfer<D> {
    /// Between a fine level and the next coarser one, whose faces have these kinds.
    pub fn new(fine: &Level<D, f64>, coarse: &Level<D, f64>, shares: &Shares<D>) -> Self {
        let tiles = &fine.tiles;
        let rescale = std::array::from_fn(|axis| {
            let faces = (0..tiles.field_len()).into_par_iter().with_min_len(512);
            let rescale = faces.map(|index| {
                if !tiles.exists(index) || !fine.is_unknown(axis, index) {
                    return 0.0;
                }
                let (mut air, mut liquid) = (0.0, 0.0);
                parents(&coarse.tiles, tiles.coord(index), axis, |parent, weight| {
                    if coarse.is_unknown(axis, parent) {
                        liquid += weight;
                    } else if shares.kind[axis][parent] != FaceKind::Solid {
                        air += weight;
                    }
                });
                match liquid > TINY {
                    true => 1.0 / (1.0 - air),
                    false => 0.0,
                }
            });
            rescale.collect()
        });
        Self { rescale }
    }

    /// `x += P x_coarse`
    pub fn prolong(
        &self,
        fine: &Level<D, f32>,
        coarse: &Level<D, f32>,
        from: &Pair<D, f32>,
        x: &mut Pair<D, f32>,
    ) {
        let tiles = &fine.tiles;
        for axis in 0..D {
            let (rescale, from) = (&self.rescale[axis], &from.t[axis]);
            let faces = x.t[axis][..tiles.cells()].par_iter_mut().enumerate();
            faces.with_min_len(512).for_each(|(index, t)| {
                if rescale[index] != 0.0 {
                    let mut sum = 0.0;
                    let face = tiles.coord(index);
                    parents(&coarse.tiles, face, axis, |parent, w| {
                        sum += w * from[parent]
                    });
                    *t += rescale[index] * sum;
                }
            });
        }
        let cells = x.q[..tiles.cells()].par_iter_mut().enumerate();
        cells.with_min_len(512).for_each(|(index, q)| {
            if fine.schur[index] != 0.0 {
                *q += from.q[coarse.tiles.index(tiles.coord(index).map(|c| c >> 1))];
            }
        });
    }

    /// `P'r` at a coarse face, whatever it is.
    pub fn restricted_at(
        &self,
        fine: &Tiles<D>,
        coarse: &Tiles<D>,
        axis: usize,
        index: usize,
        r: &[f32],
    ) -> f32 {
        let rescale = &self.rescale[axis];
        let mut sum = 0.0;
        children(fine, coarse.coord(index), axis, |child, w| {
            // What is no unknown holds meaningless numbers.
            if rescale[child] != 0.0 {
                sum += w * rescale[child] * r[child];
            }
        });
        sum
    }

    /// `b = 2^-D P'r`
    pub fn restrict(
        &self,
        fine: &Level<D, f32>,
        coarse: &Level<D, f32>,
        r: &Pair<D, f32>,
        b: &mut Pair<D, f32>,
    ) {
        let tiles = &coarse.tiles;
        let share = 1.0 / (1 << D) as f32;
        for axis in 0..D {
            let (rescale, r) = (&self.rescale[axis], &r.t[axis]);
            let faces = b.t[axis][..tiles.cells()].par_iter_mut().enumerate();
            faces.with_min_len(64).for_each(|(index, b)| {
                *b = 0.0;
                if coarse.inverse[axis][index] != 0.0 {
                    let mut sum = 0.0;
                    let face = tiles.coord(index);
                    children(&fine.tiles, face, axis, |child, w| {
                        sum += w * rescale[child] * r[child]
                    });
                    *b = share * sum;
                }
            });
        }
        let cells = b.q[..tiles.cells()].par_iter_mut().enumerate();
        cells.with_min_len(64).for_each(|(index, b)| {
            *b = 0.0;
            if coarse.schur[index] != 0.0 {
                let children = fine.tiles.corners(tiles.coord(index).map(|c| 2 * c));
                let known = children[..1 << D]
                    .iter()
                    .filter(|&&child| fine.schur[child] != 0.0);
                *b = share * known.map(|&child| r.q[child]).sum::<f32>();
            }
        });
    }
}
