//! Rigid bodies in the solve: their velocities are unknowns, on every level.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `v` | velocities of the bodies, translation first, about their centres of mass |
//! | `S` | `S v` is the bodies' part of the flux velocity of faces: their share of the cube around a face times their motion there |
//! | `L` | `v = v_0 + L y`: how bodies respond to impulses, contacts included; the response to an impulse `j` is `v_0 + L L'j/c` |
//! | `c` | mass of a cell of liquid, `rho dx^D` |
//! | `g` | gradient of the liquid's energy by `v`, so that `-c g` is the impulse of the liquid on the bodies |
//!
//! ```text
//! g = S_s' (V t - G q)_s - S_f' m (t - S v - W_F u*)_f        s solid faces, f liquid ones
//! rows of the bodies:   y + L'g = 0
//! ```
//!
//! Contacts and joints are inside `L`: bodies that are held in a direction have no `y` for it. DEVIATION [TB20 (22)-(24)]: so the
//! large problem is a linear system, and the complementarity of contacts is in small problems of bodies alone.

use super::fractions::Geometry;
use super::kernels::Pair;
use super::level::{FaceKind, Level, Shares};
use super::rows::Real;
use super::transfer::Transfer;
use super::{edge_axes, edge_kind, edge_kinds};
use crate::grid::tiles::Tiles;
use crate::multigrid::freedoms;
use crate::particles::transfer::face_offset;
use crate::projection::Faces;
use crate::solids::SolidId;

/// Shares below this are rounding.
const TINY: f64 = 1e-6;
/// A direction in which bodies respond less than this part of what they would without contacts is held.
const HELD: f64 = 1e-9;

/// A rigid body in the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyModes<const D: usize> {
    /// The solid that it is.
    pub solid: SolidId,
    /// Its centre of mass.
    pub center: [f64; D],
}

/// Motion along `axis` at `x` of the freedoms of a body.
fn modes<const D: usize>(axis: usize, x: [f64; D], center: [f64; D]) -> [f64; 6] {
    let mut modes = [0.0; 6];
    modes[axis] = 1.0;
    let r: [f64; D] = std::array::from_fn(|a| x[a] - center[a]);
    if D == 2 {
        modes[2] = if axis == 0 { -r[1] } else { r[0] };
    } else {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        modes[3 + b] = r[c];
        modes[3 + c] = -r[b];
    }
    modes
}

/// Parts of octants inside bodies, by octant.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyOctants(Vec<(u32, u16, f32)>);

impl BodyOctants {
    /// Finds the bodies in solid octants near the liquid.
    pub fn of<const D: usize>(
        faces: &Faces<'_, D>,
        geometry: &Geometry<D>,
        bodies: &[BodyModes<D>],
    ) -> Self {
        let (tiles, solids, dx) = (faces.tiles, faces.solids, faces.settings.dx);
        let mut found = Vec::new();
        if bodies.is_empty() {
            return Self(found);
        }
        let wet = |cell: usize| {
            geometry.liquid[cell << D..][..1 << D]
                .iter()
                .any(|&l| l > 0.0)
        };
        for cell in 0..tiles.cells() {
            let octants = &geometry.solid[cell << D..][..1 << D];
            if octants.iter().all(|&s| s == 0.0) {
                continue;
            }
            let body_at = |x: [f64; D]| {
                let owner = solids.closest(x);
                bodies.iter().position(|body| Some(body.solid) == owner)
            };
            let around = tiles.around(cell);
            let near = around[..Tiles::<D>::DIRECTIONS]
                .iter()
                .any(|&near| wet(near));
            let coord = tiles.coord(cell);
            // Deep inside solids, where coarse grids alone look, one answer is enough for a cell.
            let of_cell = match near {
                true => None,
                false => Some(body_at(coord.map(|c| (c as f64 + 0.5) * dx))),
            };
            for (o, &share) in octants.iter().enumerate().filter(|(_, s)| **s > 0.0) {
                let own = || body_at(super::fractions::octant_middle(coord, o).map(|x| x * dx));
                if let Some(body) = of_cell.unwrap_or_else(own) {
                    found.push((((cell << D) | o) as u32, body as u16, share));
                }
            }
        }
        Self(found)
    }

    /// For every body whether it is there.
    pub fn bodies(&self, count: usize) -> Vec<bool> {
        let mut found = vec![false; count];
        self.0.iter().for_each(|part| found[part.1 as usize] = true);
        found
    }

    /// The same on a coarser grid, whose octants are cells of this one.
    pub fn coarsen<const D: usize>(&self, fine: &Tiles<D>, coarse: &Tiles<D>) -> Self {
        let mut parts: Vec<(u32, u16, f32)> = Vec::with_capacity(self.0.len());
        let whole = 1.0 / (1 << D) as f32;
        for &(octant, body, share) in &self.0 {
            let coord = fine.coord(octant as usize >> D);
            let cell = coarse.index(coord.map(|c| c >> 1));
            if !coarse.exists(cell) {
                continue;
            }
            let corner = (0..D).fold(0, |bits, a| bits | ((coord[a] & 1) as usize) << a);
            parts.push((((cell << D) | corner) as u32, body, whole * share));
        }
        Self(merged(parts))
    }
}

/// Sums of the shares of equal keys, in the order of keys.
fn merged<K: Ord + Copy>(mut parts: Vec<(K, u16, f32)>) -> Vec<(K, u16, f32)> {
    parts.sort_by_key(|part| (part.0, part.1));
    let mut sums: Vec<(K, u16, f32)> = Vec::with_capacity(parts.len());
    for (key, body, share) in parts {
        match sums.last_mut() {
            Some(last) if (last.0, last.1) == (key, body) => last.2 += share,
            _ => sums.push((key, body, share)),
        }
    }
    sums
}

/// Bodies of a system on its finest level.
pub(crate) struct BodiesInLiquid<'a, const D: usize> {
    pub modes: &'a [BodyModes<D>],
    pub octants: &'a BodyOctants,
    pub faces: &'a BodyFaces,
}

/// A face in whose cube bodies are.
#[derive(Clone, Copy, Debug)]
struct BodyFace {
    axis: usize,
    index: usize,
    /// `m` of a liquid face, zero of a solid one.
    mass: f64,
    /// Its parts of bodies.
    parts: (usize, usize),
}

/// `S` on one level.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyFaces {
    faces: Vec<BodyFace>,
    parts: Vec<(u16, [f64; 6])>,
    bodies: usize,
    freedoms: usize,
}

impl BodyFaces {
    /// Faces of a level that bodies move. `dx` is the width of its cells.
    pub fn build<const D: usize>(
        octants: &BodyOctants,
        level: &Level<D, f64>,
        shares: &Shares<D>,
        bodies: &[BodyModes<D>],
        dx: f64,
    ) -> Self {
        let tiles = &level.tiles;
        let whole = 1.0 / (1 << D) as f32;
        let mut parts: Vec<((usize, usize), u16, f32)> = Vec::new();
        for &(octant, body, share) in &octants.0 {
            let (cell, corner) = (octant as usize >> D, octant as usize & ((1 << D) - 1));
            for axis in 0..D {
                let face = match corner >> axis & 1 {
                    0 => cell,
                    _ => tiles.above(cell, axis),
                };
                if tiles.exists(face) {
                    parts.push(((axis, face), body, whole * share));
                }
            }
        }
        let mut found = Self {
            bodies: bodies.len(),
            freedoms: freedoms::<D>(),
            ..Self::default()
        };
        for ((axis, index), body, share) in merged(parts) {
            let kind = shares.kind[axis][index];
            let counts = match kind {
                FaceKind::Liquid => f64::from(share) > TINY,
                FaceKind::Solid => touches(level, axis, index),
                FaceKind::Air => false,
            };
            if !counts {
                continue;
            }
            let (coord, offset) = (tiles.coord(index), face_offset::<D>(axis));
            let x = std::array::from_fn(|a| (coord[a] as f64 + offset[a]) * dx);
            let own = modes(axis, x, bodies[body as usize].center).map(|m| f64::from(share) * m);
            let at = found.parts.len();
            match found.faces.last_mut() {
                Some(last) if (last.axis, last.index) == (axis, index) => last.parts.1 = at + 1,
                _ => found.faces.push(BodyFace {
                    axis,
                    index,
                    mass: level.mass[axis][index],
                    parts: (at, at + 1),
                }),
            }
            found.parts.push((body, own));
        }
        found
    }

    /// Number of velocities.
    pub fn len(&self) -> usize {
        self.bodies * self.freedoms
    }

    /// Places of all faces that bodies move.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.faces.iter().map(|face| (face.axis, face.index))
    }

    fn parts_of(&self, face: &BodyFace) -> impl Iterator<Item = (usize, &[f64])> {
        let parts = self.parts[face.parts.0..face.parts.1].iter();
        parts.map(|(body, modes)| (*body as usize * self.freedoms, &modes[..self.freedoms]))
    }

    /// `S v` on a face.
    fn flux(&self, face: &BodyFace, v: &[f64]) -> f64 {
        let parts = self.parts_of(face);
        let dot = |(at, modes): (usize, &[f64])| -> f64 {
            modes.iter().zip(&v[at..]).map(|(m, v)| m * v).sum()
        };
        parts.map(dot).sum()
    }

    /// Calls `visit` with every face, whether it is a liquid one, and `S v` there.
    pub fn fluxes(&self, v: &[f64], mut visit: impl FnMut(usize, usize, f64, f64)) {
        for face in &self.faces {
            visit(face.axis, face.index, face.mass, self.flux(face, v));
        }
    }

    /// `g` without what does not depend on the unknowns, for fluxes of which the solid faces have `S v`.
    pub fn gradient<const D: usize, T: Real + Into<f64>>(
        &self,
        level: &Level<D, T>,
        x: &Pair<D, T>,
        v: &[f64],
    ) -> Vec<f64> {
        let mut sum = vec![0.0; self.len()];
        for face in &self.faces {
            let push = match face.mass > 0.0 {
                true => {
                    let t: f64 = x.t[face.axis][face.index].into();
                    -face.mass * (t - self.flux(face, v))
                }
                false => stress(level, x, face.axis, face.index).into(),
            };
            self.add(face, push, &mut sum);
        }
        sum
    }

    /// `S'` of one face.
    fn add(&self, face: &BodyFace, push: f64, sum: &mut [f64]) {
        for (at, modes) in self.parts_of(face) {
            modes
                .iter()
                .zip(&mut sum[at..])
                .for_each(|(m, sum)| *sum += m * push);
        }
    }

    /// `S' w` for a value on every face.
    pub fn transposed(&self, value: impl Fn(usize, usize, f64) -> f64) -> Vec<f64> {
        let mut sum = vec![0.0; self.len()];
        for face in &self.faces {
            self.add(face, value(face.axis, face.index, face.mass), &mut sum);
        }
        sum
    }

    /// `S'` on solid faces of what a restriction brings to them.
    pub fn restricted<const D: usize>(
        &self,
        transfer: &Transfer<D>,
        fine: &Tiles<D>,
        coarse: &Tiles<D>,
        r: &Pair<D, f32>,
    ) -> Vec<f64> {
        self.transposed(|axis, index, mass| match mass > 0.0 {
            true => 0.0,
            false => f64::from(transfer.restricted_at(fine, coarse, axis, index, &r.t[axis])),
        })
    }

    /// Blocks of `S_f' m S_f + S_s' V_ss S_s` of every body alone, row by row.
    pub fn blocks<const D: usize>(&self, level: &Level<D, f64>) -> Vec<Vec<f64>> {
        let f = self.freedoms;
        let mut of_body: Vec<Vec<usize>> = vec![Vec::new(); self.bodies];
        for (k, face) in self.faces.iter().enumerate() {
            for part in face.parts.0..face.parts.1 {
                of_body[self.parts[part].0 as usize].push(k);
            }
        }
        let mut field = Pair::<D, f64>::zeros(&level.tiles);
        let blocks = of_body.iter().enumerate().map(|(body, faces)| {
            let mut block = vec![0.0; f * f];
            for j in 0..f {
                let mut unit = vec![0.0; self.len()];
                unit[body * f + j] = 1.0;
                for &k in faces {
                    let face = &self.faces[k];
                    if face.mass == 0.0 {
                        field.t[face.axis][face.index] = self.flux(face, &unit);
                    }
                }
                for &k in faces {
                    let face = &self.faces[k];
                    let push = match face.mass > 0.0 {
                        true => face.mass * self.flux(face, &unit),
                        false => stress(level, &field, face.axis, face.index),
                    };
                    let own = self.parts_of(face).filter(|part| part.0 == body * f);
                    for (_, modes) in own {
                        (0..f).for_each(|i| block[i * f + j] += modes[i] * push);
                    }
                }
                for &k in faces {
                    field.t[self.faces[k].axis][self.faces[k].index] = 0.0;
                }
            }
            block
        });
        blocks.collect()
    }
}

/// Whether a sample that acts touches a face.
fn touches<const D: usize>(level: &Level<D, f64>, axis: usize, index: usize) -> bool {
    let tiles = &level.tiles;
    let below = tiles.below(index, axis);
    let cell = |cell: usize| level.cell[cell] > 0.0 || level.has_pressure(cell);
    let mut edges = (0..edge_kinds(D)).filter(|&kind| {
        let (a, b) = edge_axes(kind);
        a == axis || b == axis
    });
    cell(index)
        || cell(below)
        || edges.any(|kind| {
            let (a, b) = edge_axes(kind);
            let across = a + b - axis;
            level.edge[kind][index] > 0.0 || level.edge[kind][tiles.above(index, across)] > 0.0
        })
}

/// `(V t - G q)` on one face.
pub(crate) fn stress<const D: usize, T: Real>(
    level: &Level<D, T>,
    x: &Pair<D, T>,
    axis: usize,
    i: usize,
) -> T {
    let tiles = &level.tiles;
    let t = &x.t;
    let below = tiles.below(i, axis);
    let own = t[axis][i];
    let mut sum = level.cell[below] * (own - t[axis][below])
        - level.cell[i] * (t[axis][tiles.above(i, axis)] - own);
    for b in (0..D).filter(|&b| b != axis) {
        let edge = &level.edge[edge_kind(axis, b)];
        let up = tiles.above(i, b);
        let low = own - t[axis][tiles.below(i, b)] + (t[b][i] - t[b][below]);
        let high = t[axis][up] - own + (t[b][up] - t[b][tiles.below(up, axis)]);
        sum = sum + edge[i] * low - edge[up] * high;
    }
    sum - level.slope * (x.q[below] - x.q[i])
}

/// How bodies respond to impulses: `v = start + L y`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    /// `v_0`
    pub start: Vec<f64>,
    /// `L`, row by row.
    factor: Vec<f64>,
    /// Columns of `L`.
    pub rank: usize,
}

impl Motion {
    /// From the response to zero impulses and its symmetric derivative, row by row, by Cholesky with pivoting; `cell` is the mass
    /// `c`, and `free` are the diagonal entries without contacts.
    pub fn new(start: Vec<f64>, derivative: &[f64], free: &[f64], cell: f64) -> Self {
        let n = start.len();
        let mut rest: Vec<f64> = (0..n * n)
            .map(|k| 0.5 * cell * (derivative[k] + derivative[k % n * n + k / n]))
            .collect();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut done = vec![false; n];
        for _ in 0..n {
            let left = |i: usize| rest[i * n + i] / (cell * free[i]);
            let pivot = (0..n)
                .filter(|&i| !done[i])
                .max_by(|&a, &b| left(a).total_cmp(&left(b)));
            let Some(pivot) = pivot.filter(|&i| left(i) > HELD) else {
                break;
            };
            done[pivot] = true;
            let root = rest[pivot * n + pivot].sqrt();
            let column: Vec<f64> = (0..n).map(|i| rest[i * n + pivot] / root).collect();
            for i in 0..n {
                for j in 0..n {
                    rest[i * n + j] -= column[i] * column[j];
                }
            }
            columns.push(column);
        }
        let rank = columns.len();
        Self {
            factor: (0..n * rank).map(|k| columns[k % rank][k / rank]).collect(),
            start,
            rank,
        }
    }

    /// `L y`
    pub fn apply(&self, y: &[f64]) -> Vec<f64> {
        let rows = self.factor.chunks(self.rank.max(1));
        let moved = rows.map(|row| row.iter().zip(y).map(|(l, y)| l * y).sum());
        let mut v: Vec<f64> = moved.collect();
        v.resize(self.start.len(), 0.0);
        v
    }

    /// `L'g`
    pub fn transposed(&self, g: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.rank];
        for (row, g) in self.factor.chunks(self.rank.max(1)).zip(g) {
            row.iter().zip(&mut sum).for_each(|(l, sum)| *sum += l * g);
        }
        sum
    }

    /// `L'B L` for blocks of bodies.
    pub fn condensed(&self, blocks: &[Vec<f64>]) -> Vec<f64> {
        let (n, r) = (self.start.len(), self.rank);
        let f = n / blocks.len().max(1);
        let mut matrix = vec![0.0; r * r];
        for j in 0..r {
            let mut product = vec![0.0; n];
            for (k, block) in blocks.iter().enumerate() {
                for i in 0..f {
                    let row = (0..f).map(|l| block[i * f + l] * self.factor[(k * f + l) * r + j]);
                    product[k * f + i] = row.sum();
                }
            }
            for (i, sum) in self.transposed(&product).into_iter().enumerate() {
                matrix[i * r + j] = sum;
            }
        }
        matrix
    }
}

/// Inverse of a small matrix by Gauss-Jordan elimination with pivoting; rows without a pivot become zero.
pub(crate) fn inverse(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    let scale = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut of_row = vec![None; n];
    let mut used = vec![false; n];
    for column in 0..n {
        let pivot = (0..n)
            .filter(|&i| !used[i])
            .max_by(|&x, &y| a[x * n + column].abs().total_cmp(&a[y * n + column].abs()));
        let Some(pivot) = pivot.filter(|&p| a[p * n + column].abs() > 1e-14 * scale) else {
            continue;
        };
        used[pivot] = true;
        of_row[column] = Some(pivot);
        let by = 1.0 / a[pivot * n + column];
        for k in 0..n {
            a[pivot * n + k] *= by;
            inverse[pivot * n + k] *= by;
        }
        for i in (0..n).filter(|&i| i != pivot) {
            let factor = a[i * n + column];
            if factor != 0.0 {
                for k in 0..n {
                    a[i * n + k] -= factor * a[pivot * n + k];
                    inverse[i * n + k] -= factor * inverse[pivot * n + k];
                }
            }
        }
    }
    let rows = of_row.iter().flat_map(|row| match row {
        Some(row) => inverse[row * n..][..n].to_vec(),
        None => vec![0.0; n],
    });
    rows.collect()
}

/// `A x` for a small square matrix.
pub(crate) fn product(a: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = a.chunks(x.len().max(1));
    rows.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}
