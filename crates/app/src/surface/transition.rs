//! Contouring of coarse cells adjacent to fine ones.
//!
//! As in `marching_cubes_table.rs`, lines are drawn into the faces of a cell and join to loops. A face shared with a fine
//! cell has the lines of that cell's four faces; a face between coarse cells may have an edge shared with a fine cell, which
//! then has a point at its midpoint. The lines in a face depend on the points on its border and inside it only, so the
//! cells on both sides draw the same: no gaps.

use super::contour::{Block, COARSE, Implicit, MIDDLES};
use super::marching_cubes_table;

/// Whether one of the neighbours of a cell is fine.
pub fn beside_fine<const D: usize, I: Implicit<D>>(
    inside: &I,
    local: &I::Local,
    cell: [i32; D],
) -> bool {
    (0..3i32.pow(D as u32)).any(|mut k| {
        let near = cell.map(|c| {
            let digit = k % 3;
            k /= 3;
            c + digit - 1
        });
        inside.is_fine(local, near)
    })
}

/// Contours a part of a coarse cell. `low` is its lowest point in the block, `part` its index along every axis, from 0 to `last`.
pub fn cell<const D: usize, I: Implicit<D>>(
    block: &mut Block<'_, D, I>,
    cell: [i32; D],
    low: [usize; D],
    part: [i32; D],
    last: i32,
) {
    let corner =
        |c: usize| -> [usize; D] { std::array::from_fn(|a| low[a] + (c >> a & 1) * COARSE) };
    // Step to the next cell across a side of the part, if that is a side of the cell.
    let step = |axis: usize, side: usize| -> i32 {
        match side {
            0 if part[axis] == 0 => -1,
            1 if part[axis] == last => 1,
            _ => 0,
        }
    };
    let (inside, local) = (block.inside, block.local);
    let is_fine = |steps: [i32; D]| {
        steps != [0; D] && inside.is_fine(local, std::array::from_fn(|a| cell[a] + steps[a]))
    };
    let mut lines: Vec<(u32, u32)> = Vec::new();
    for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
        let corners = marching_cubes_table::face(axis, side);
        let mut across = [0; D];
        across[axis] = step(axis, side);
        if is_fine(across) {
            let [a, b, _, d] = corners.map(corner);
            let at = |u: usize, v: usize| -> [usize; D] {
                // Corners are `COARSE` points apart.
                std::array::from_fn(|i| {
                    if b[i] != a[i] {
                        a[i].min(b[i]) + if b[i] > a[i] { u } else { COARSE - u }
                    } else if d[i] != a[i] {
                        a[i].min(d[i]) + if d[i] > a[i] { v } else { COARSE - v }
                    } else {
                        a[i]
                    }
                })
            };
            for (u, v) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let square = [at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)];
                draw(block, &square, &mut lines);
            }
        } else {
            let mut border = Vec::with_capacity(8);
            for k in 0..4 {
                let (from, to) = (corners[k], corners[(k + 1) % 4]);
                border.push(corner(from));
                let along = (from ^ to).trailing_zeros() as usize;
                if edge_is_fine(from & to, along, step, is_fine) {
                    let (from, to) = (corner(from), corner(to));
                    border.push(std::array::from_fn(|i| (from[i] + to[i]) / 2));
                }
            }
            draw(block, &border, &mut lines);
        }
    }
    fill(block, low, lines);
}

/// Whether an edge, from a corner along an axis, belongs to a fine cell.
fn edge_is_fine<const D: usize>(
    corner: usize,
    along: usize,
    step: impl Fn(usize, usize) -> i32,
    is_fine: impl Fn([i32; D]) -> bool,
) -> bool {
    let mut steps = [0; D];
    for axis in (0..D).filter(|&axis| axis != along) {
        steps[axis] = step(axis, corner >> axis & 1);
    }
    // Cells around the edge: with or without each of the two steps.
    (1..1usize << D).any(|c| {
        let some = std::array::from_fn(|a| if c >> a & 1 == 1 { steps[a] } else { 0 });
        is_fine(some)
    })
}

/// Draws lines into a polygon, given by the points on its border, counter-clockwise as seen from outside: from each
/// crossing into the inside to the next crossing out of it.
fn draw<const D: usize, I: Implicit<D>>(
    block: &mut Block<'_, D, I>,
    border: &[[usize; D]],
    lines: &mut Vec<(u32, u32)>,
) {
    let n = border.len();
    let inside: Vec<bool> = border.iter().map(|&p| block.is_inside(p)).collect();
    let mut crossing = |k: usize| {
        let (from, to) = (border[k % n], border[(k + 1) % n]);
        let axis = (0..D).find(|&a| from[a] != to[a]).unwrap_or(0);
        let low = if from[axis] < to[axis] { from } else { to };
        block.crossing(low, axis, from[axis].abs_diff(to[axis]))
    };
    for k in (0..n).filter(|&k| !inside[k] && inside[(k + 1) % n]) {
        let leave = (k + 1..k + n).find(|&l| inside[l % n] && !inside[(l + 1) % n]);
        if let Some(leave) = leave {
            lines.push((crossing(k), crossing(leave)));
        }
    }
}

/// Joins lines to loops, and triangulates them.
fn fill<const D: usize, I: Implicit<D>>(
    block: &mut Block<'_, D, I>,
    low: [usize; D],
    mut lines: Vec<(u32, u32)>,
) {
    let mut polygons = Vec::new();
    while let Some((start, mut at)) = lines.pop() {
        let mut polygon = vec![start];
        while at != start {
            polygon.push(at);
            let Some(next) = lines.iter().position(|line| line.0 == at) else {
                break;
            };
            at = lines.swap_remove(next).1;
        }
        // Two lines back and forth along an edge enclose nothing: the cells beyond both faces meet there.
        if polygon.len() > 2 {
            polygons.push(polygon);
        }
    }
    // Every polygon has a centroid of its own, with a key that no other cell uses.
    let own = (0..1usize << D)
        .map(|c| -> [usize; D] { std::array::from_fn(|a| low[a] + (c >> a & 1)) })
        .flat_map(|point| MIDDLES.map(move |kind| (point, kind)));
    for (polygon, (point, kind)) in polygons.iter().zip(own) {
        if let &[a, b, c] = polygon.as_slice() {
            block.triangle([a, b, c]);
        } else {
            block.fan(point, kind, polygon);
        }
    }
}
