//! Bilateral filter of the level set along the horizontal.
//!
//! The distance of a cell is as noisy as the places of the few dozen particles around it, and noise in it moves liquid
//! at rest: a neighbouring column that seems higher by `d` is accelerated by `g d / dx`. A bilateral filter over the
//! neighbours at the same height takes the noise out of level surfaces. Neighbours whose distance differs much, across
//! steep surfaces and at the rims of drops, don't take part, and the surface there stays where it was.
//!
//! Cells count by their open share, and by their certainty below. The distance of a cell that is mostly solid comes from few particles and their
//! images; below a sloping ceiling it even falls when particles leave, because the mean of those that are left is closer
//! to the cell's centre. Such cells take the distance of the open cells beside them, as a level surface has it, and the
//! less open they are, the more their own distance may differ from it: below a third of a cell the range grows with the
//! inverse of the open share, for neighbours through open faces. Others may be on the far side of a thin wall.

use rayon::prelude::*;

use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::CutCells;
use crate::grid::tiles::Tiles;

/// Difference beyond which a neighbour does not take part, in cells.
const RANGE: f32 = 0.3;
/// Horizontal part of an axis below which neighbours along it are not at the same height.
const LEVEL: f64 = 0.9;
/// Least weight of a cell, for cells among solids only.
const LEAST_OPEN: f32 = 0.01;
/// Open share above which a cell's own distance is as certain as that of a full cell, as its inverse.
const INVERSE_CERTAIN: f32 = 3.0;
/// Least certainty: the range grows to five times itself.
const LEAST_CERTAINTY: f32 = 0.2;

/// How certain the distance of a cell is, by its open share.
fn certainty_of(open: f32) -> f32 {
    (INVERSE_CERTAIN * open).clamp(LEAST_CERTAINTY, 1.0)
}

/// Filters `phi` in the cells on both sides of the surface. `up` is the direction against gravity; without gravity nothing
/// happens.
pub fn smooth<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    phi: &mut [f32],
    dx: f64,
    up: [f64; D],
) {
    let level: [bool; D] = up.map(|u: f64| (1.0 - u * u).max(0.0).sqrt() >= LEVEL);
    if up.iter().all(|&u| u == 0.0) || !level.contains(&true) {
        return;
    }
    let around = |marks: CellSet| (0..D).fold(marks, |marks, axis| marks.spread(tiles, axis));
    let liquid = CellSet::in_field(tiles, phi, |phi| phi < 0.0);
    let near_air = CellSet::in_field(tiles, phi, |phi| phi >= 0.0);
    let mut surface = around(liquid);
    surface.keep(&around(near_air));
    let mut cells = Vec::new();
    surface.list(&mut cells);
    // Neighbours at the same height, by their place among the 3^D around a cell, with binomial weights.
    let step = |k: usize, a: usize| k / 3usize.pow(a as u32) % 3;
    let neighbours: Vec<(usize, f32)> = (0..Tiles::<D>::DIRECTIONS)
        .filter(|&k| (0..D).all(|a| level[a] || step(k, a) == 1))
        .map(|k| {
            let weight = |a: usize| if step(k, a) == 1 { 2.0 } else { 1.0 };
            (k, (0..D).filter(|&a| level[a]).map(weight).product())
        })
        .collect();
    let scale = 1.0 / (RANGE * dx as f32);
    let filtered: Vec<f32> = cells
        .par_iter()
        .with_min_len(1024)
        .map(|&index| {
            let near = tiles.around(index as usize);
            let own = phi[index as usize];
            let (mut sum, mut total) = (0.0, 0.0);
            let open = cut.open_cell(index as usize);
            let certainty = certainty_of(open);
            // Through open faces, along one axis after the other.
            let is_joined = |k: usize| {
                let mut at = Tiles::<D>::DIRECTIONS / 2;
                (0..D).filter(|&a| step(k, a) != 1).all(|a| {
                    let before = at;
                    at = at + step(k, a) * 3usize.pow(a as u32) - 3usize.pow(a as u32);
                    let high = if step(k, a) == 2 { at } else { before };
                    cut.open_face(a, near[high]) > 0.0
                })
            };
            for &(k, weight) in &neighbours {
                let difference = phi[near[k]] - own;
                let widens = certainty < 1.0 && is_joined(k);
                let far = difference * if widens { scale * certainty } else { scale };
                let part = (1.0 - far * far).max(0.0);
                let open = cut.open_cell(near[k]).max(LEAST_OPEN);
                let weight = weight * open * certainty_of(open) * part * part;
                sum += weight * difference;
                total += weight;
            }
            own + sum / total
        })
        .collect();
    for (&index, value) in cells.iter().zip(filtered) {
        phi[index as usize] = value;
    }
}
