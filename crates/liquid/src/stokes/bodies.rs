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

use rayon::prelude::*;

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

/// A rigid body in the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyModes<const D: usize> {
    /// The solid that it is.
    pub solid: SolidId,
    /// Its centre of mass.
    pub center: [f64; D],
}

/// Motion along `axis` at `x` of the freedoms of a body.
pub(super) fn modes<const D: usize>(axis: usize, x: [f64; D], center: [f64; D]) -> [f64; 6] {
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

/// In place of a body: solids that are none.
const OTHER: u16 = u16::MAX;

/// Parts of octants inside bodies and other solids, by octant.
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
        if bodies.is_empty() {
            return Self::default();
        }
        let wet = |cell: usize| {
            geometry.liquid[cell << D..][..1 << D]
                .iter()
                .any(|&l| l > 0.0)
        };
        let covered = |cell: &usize| {
            geometry.solid[cell << D..][..1 << D]
                .iter()
                .any(|&s| s > 0.0)
        };
        let cells = (0..tiles.cells()).into_par_iter().with_min_len(256);
        let parts = cells.filter(covered).map(|cell| {
            let octants = &geometry.solid[cell << D..][..1 << D];
            let mut found = Vec::new();
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
                let body = of_cell.unwrap_or_else(own);
                let body = body.map_or(OTHER, |body| body as u16);
                found.push((((cell << D) | o) as u32, body, share));
            }
            found
        });
        let parts: Vec<Vec<_>> = parts.collect();
        Self(parts.concat())
    }

    /// For every body whether it is there.
    pub fn bodies(&self, count: usize) -> Vec<bool> {
        let mut found = vec![false; count];
        let bodies = self.0.iter().filter(|part| part.1 != OTHER);
        bodies.for_each(|part| found[part.1 as usize] = true);
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
        for own in merged(parts).chunk_by(|a, b| a.0 == b.0) {
            let (axis, index) = own[0].0;
            let counts = match shares.kind[axis][index] {
                FaceKind::Liquid => true,
                FaceKind::Solid => touches(level, axis, index),
                FaceKind::Air => false,
            };
            let sum: f64 = own.iter().map(|part| f64::from(part.2)).sum();
            if !counts || sum <= TINY {
                continue;
            }
            // All of the flux of a solid face is that of solids, and bodies have what no other solid is known to have: momentum
            // is conserved only if shares sum to one, and coarse grids do not see the middle of bodies.
            let closed = match shares.kind[axis][index] {
                FaceKind::Solid => 1.0,
                _ => 1.0 - f64::from(shares.open[axis][index]),
            };
            let (coord, offset) = (tiles.coord(index), face_offset::<D>(axis));
            let x = std::array::from_fn(|a| (coord[a] as f64 + offset[a]) * dx);
            let first = found.parts.len();
            for &(_, body, share) in own.iter().filter(|part| part.1 != OTHER) {
                let share = f64::from(share) * closed / sum;
                let center = bodies[body as usize].center;
                let modes = modes(axis, x, center).map(|m| share * m);
                found.parts.push((body, modes));
            }
            if found.parts.len() > first {
                found.faces.push(BodyFace {
                    axis,
                    index,
                    mass: level.mass[axis][index],
                    parts: (first, found.parts.len()),
                });
            }
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

    /// `S_f' m S_f + S_s' V_ss S_s`, row by row.
    pub fn own_rows<const D: usize>(&self, level: &Level<D, f64>) -> Vec<f64> {
        let (f, n) = (self.freedoms, self.len());
        let mut of_body: Vec<Vec<usize>> = vec![Vec::new(); self.bodies];
        let mut number: [Vec<u32>; D] =
            std::array::from_fn(|_| vec![u32::MAX; level.tiles.field_len()]);
        for (k, face) in self.faces.iter().enumerate() {
            number[face.axis][face.index] = k as u32;
            for part in face.parts.0..face.parts.1 {
                of_body[self.parts[part].0 as usize].push(k);
            }
        }
        let mut field = Pair::<D, f64>::zeros(&level.tiles);
        let mut matrix = vec![0.0; n * n];
        for (body, faces) in of_body.iter().enumerate() {
            // Its faces, and those of other bodies that stresses join them with.
            let mut near: Vec<usize> = faces.clone();
            for &k in faces.iter().filter(|&&k| self.faces[k].mass == 0.0) {
                let BodyFace { axis, index, .. } = self.faces[k];
                stencil(level, axis, index, |axis, index| {
                    near.extend(
                        Some(number[axis][index] as usize).filter(|&k| k < self.faces.len()),
                    );
                });
            }
            near.sort_unstable();
            near.dedup();
            for j in body * f..(body + 1) * f {
                let mut unit = vec![0.0; n];
                unit[j] = 1.0;
                for face in faces
                    .iter()
                    .map(|&k| &self.faces[k])
                    .filter(|face| face.mass == 0.0)
                {
                    field.t[face.axis][face.index] = self.flux(face, &unit);
                }
                let mut column = vec![0.0; n];
                for face in near.iter().map(|&k| &self.faces[k]) {
                    let push = match face.mass > 0.0 {
                        true => face.mass * self.flux(face, &unit),
                        false => stress(level, &field, face.axis, face.index),
                    };
                    self.add(face, push, &mut column);
                }
                for (i, entry) in column.into_iter().enumerate() {
                    matrix[i * n + j] = entry;
                }
                for face in faces.iter().map(|&k| &self.faces[k]) {
                    field.t[face.axis][face.index] = 0.0;
                }
            }
        }
        matrix
    }
}

/// Calls `visit` with the faces around a face that share a stress sample with it.
fn stencil<const D: usize>(
    level: &Level<D, f64>,
    axis: usize,
    index: usize,
    mut visit: impl FnMut(usize, usize),
) {
    let tiles = &level.tiles;
    let below = tiles.below(index, axis);
    visit(axis, below);
    visit(axis, tiles.above(index, axis));
    for b in (0..D).filter(|&b| b != axis) {
        let up = tiles.above(index, b);
        visit(axis, up);
        visit(axis, tiles.below(index, b));
        for face in [index, below, up, tiles.below(up, axis)] {
            visit(b, face);
        }
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
