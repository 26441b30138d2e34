//! Pressure problems from formulas instead of a simulation: the same numbers everywhere, at any size.
//!
//! The unit cube (square in the plane) of `n` cells a side, solid outside a sphere of radius 0.45 around its middle,
//! liquid where a cell's centre has `x < 0.5`, or below a wave there; a steady flow that pulls the liquid off a good
//! third of its walls. Interior pressures are negative in about one cell in twenty, so that it is a mixed problem.
//!
//! ```
//! use meniscus_liquid::analytic::{Sphere, Surface};
//!
//! let problem = Sphere { cells: 32, surface: Surface::Flat, thin: false }.problem::<3>()?;
//! assert_eq!(problem.rhs.len(), 7320);
//! assert_eq!(problem.lower.iter().filter(|l| **l == 0.0).count(), 1996);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

mod shape;

use std::f64::consts::PI;

use meniscus_lcp::InputError;
use rayon::prelude::*;

use self::shape::Open;
use crate::compiled::Compiled;
use crate::grid::tiles::Coord;
use crate::pressure::FaceNeighbour;
use crate::report::{Face, PressureProblem};
use crate::stencil::{StencilProblem, StencilRow};

/// Length of the step.
const DT: f64 = 0.01;
const DENSITY: f64 = 1.0;
/// The free surface is kept this far from a liquid cell's centre, as a share of a cell.
const LEAST_THETA: f64 = 0.01;

/// Where the liquid ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// At `x = 0.5`.
    Flat,
    /// At `x = 0.5 + 0.03 sin(6 pi y + 1) cos(4 pi z)`.
    Wave,
}

/// A problem of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sphere {
    /// Cells along a side.
    pub cells: usize,
    /// Where the liquid ends.
    pub surface: Surface,
    /// Whether a plate and a shell with a hole, both one cell thick, stand in the liquid.
    pub thin: bool,
}

impl Sphere {
    /// The problem, faces included, rows in the order of cells, the last axis fastest.
    pub fn problem<const D: usize>(&self) -> Result<PressureProblem<D>, InputError> {
        (Compiled::get().analytic)(self)
    }

    pub(crate) fn problem_impl<const D: usize>(&self) -> Result<PressureProblem<D>, InputError> {
        let grid = Grid::<D>::new(*self);
        let StencilProblem {
            stencil,
            rhs,
            lower,
            upper,
        } = self.stencil_problem()?;
        let cells = stencil.cells().to_vec();
        Ok(PressureProblem {
            matrix: stencil.matrix().clone(),
            upper,
            rhs,
            lower,
            faces: cells.iter().map(|&cell| grid.faces(cell)).collect(),
            cells,
            size: [self.cells; D],
            dx: grid.dx,
            dt: DT,
            density: DENSITY,
        })
    }

    /// The problem without its faces, which take more memory than all the rest. There are no upper bounds.
    pub fn stencil_problem<const D: usize>(&self) -> Result<StencilProblem<D>, InputError> {
        (Compiled::get().analytic_stencil)(self)
    }

    pub(crate) fn stencil_problem_impl<const D: usize>(
        &self,
    ) -> Result<StencilProblem<D>, InputError> {
        let (cells, rows) = self.unknowns::<D>();
        let grid = Grid::<D>::new(*self);
        let n = cells.len();
        let scale = DT / (DENSITY * grid.dx * grid.dx);
        let mut problem = StencilProblem::default();
        let row_of = |row: usize, cell: Coord<D>| {
            let mut own = StencilRow::EMPTY;
            let sides = grid.faces(cell);
            for (side, face) in sides.as_flattened().iter().enumerate() {
                let (axis, high) = (side / 2, side % 2);
                match face.beyond {
                    FaceNeighbour::Solid => {}
                    FaceNeighbour::Air { theta } => {
                        own.diagonal += scale * face.open / theta;
                        own.air |= 1 << side;
                    }
                    FaceNeighbour::Liquid => {
                        let mut other = cell;
                        other[axis] += 2 * high as i32 - 1;
                        own.diagonal += scale * face.open;
                        own.neighbours[axis][high] = rows[grid.index(other)];
                        own.weight[axis][high] = scale * face.open;
                    }
                }
            }
            debug_assert_eq!(rows[grid.index(cell)] as usize, row);
            Ok(own)
        };
        problem
            .stencil
            .assemble(cells.par_iter().copied(), scale, row_of)?;
        problem.rhs.reserve_exact(n);
        problem.lower.reserve_exact(n);
        for &cell in &cells {
            let (mut flow, mut wall) = (0.0, false);
            for (axis, faces) in grid.faces(cell).iter().enumerate() {
                for (high, face) in faces.iter().enumerate() {
                    let (high, sign) = (high == 1, 2.0 * high as f64 - 1.0);
                    flow += sign * face.open * grid.velocity(cell, axis, high) / grid.dx;
                    wall |= face.open < 1.0;
                }
            }
            problem.rhs.push(flow);
            problem
                .lower
                .push(if wall { 0.0 } else { f64::NEG_INFINITY });
        }
        problem.upper = vec![f64::INFINITY; n];
        Ok(problem)
    }

    /// The cells that are unknowns, and the row of every cell of the grid.
    fn unknowns<const D: usize>(&self) -> (Vec<Coord<D>>, Vec<u32>) {
        let grid = Grid::<D>::new(*self);
        let total = self.cells.pow(D as u32);
        const NONE: u32 = u32::MAX;
        // Candidates: liquid with an open face. Those that no path leads to the air are dropped.
        let mut reached = vec![false; total];
        let mut waiting = Vec::new();
        for index in 0..total {
            let cell = grid.cell(index);
            let to_air = grid.is_liquid(cell)
                && grid
                    .faces(cell)
                    .iter()
                    .flatten()
                    .any(|face| matches!(face.beyond, FaceNeighbour::Air { .. }));
            if to_air {
                reached[index] = true;
                waiting.push(cell);
            }
        }
        while let Some(cell) = waiting.pop() {
            let faces = grid.faces(cell);
            for axis in 0..D {
                for (high, face) in faces[axis].iter().enumerate() {
                    if face.beyond != FaceNeighbour::Liquid {
                        continue;
                    }
                    let mut other = cell;
                    other[axis] += 2 * high as i32 - 1;
                    let index = grid.index(other);
                    if !reached[index] {
                        reached[index] = true;
                        waiting.push(other);
                    }
                }
            }
        }
        let mut rows = vec![NONE; total];
        let mut cells = Vec::new();
        for index in 0..total {
            if reached[index] {
                rows[index] = cells.len() as u32;
                cells.push(grid.cell(index));
            }
        }
        (cells, rows)
    }
}

/// The cells and what is at their places.
struct Grid<const D: usize> {
    problem: Sphere,
    dx: f64,
    open: Open<D>,
}

impl<const D: usize> Grid<D> {
    fn new(problem: Sphere) -> Self {
        let dx = 1.0 / problem.cells as f64;
        Self {
            problem,
            dx,
            open: Open::new(dx, problem.thin),
        }
    }

    /// The last axis fastest.
    fn cell(&self, mut index: usize) -> Coord<D> {
        let mut cell = [0; D];
        for axis in (0..D).rev() {
            cell[axis] = (index % self.problem.cells) as i32;
            index /= self.problem.cells;
        }
        cell
    }

    fn index(&self, cell: Coord<D>) -> usize {
        cell.iter()
            .fold(0, |index, &c| index * self.problem.cells + c as usize)
    }

    fn centre(&self, cell: Coord<D>) -> [f64; D] {
        cell.map(|c| (f64::from(c) + 0.5) * self.dx)
    }

    fn face_centre(&self, cell: Coord<D>, axis: usize, high: bool) -> [f64; D] {
        let mut x = self.centre(cell);
        x[axis] += if high { 0.5 } else { -0.5 } * self.dx;
        x
    }

    /// How far a cell's centre lies beyond the surface of the liquid, along x.
    fn phi(&self, cell: Coord<D>) -> f64 {
        let x = self.centre(cell);
        let surface = match self.problem.surface {
            Surface::Flat => 0.5,
            Surface::Wave => {
                let across = if D > 2 { (4.0 * PI * x[2]).cos() } else { 1.0 };
                0.5 + 0.03 * (6.0 * PI * x[1] + 1.0).sin() * across
            }
        };
        x[0] - surface
    }

    fn is_liquid(&self, cell: Coord<D>) -> bool {
        self.phi(cell) < 0.0
    }

    fn faces(&self, cell: Coord<D>) -> [[Face; 2]; D] {
        std::array::from_fn(|axis| [false, true].map(|high| self.face(cell, axis, high)))
    }

    fn face(&self, cell: Coord<D>, axis: usize, high: bool) -> Face {
        let open = self.open.share(self.face_centre(cell, axis, high), axis);
        let mut other = cell;
        other[axis] += if high { 1 } else { -1 };
        // Faces at the sides of the cube are closed: no other cell is ever outside.
        let beyond = if open == 0.0 {
            FaceNeighbour::Solid
        } else if self.is_liquid(other) {
            FaceNeighbour::Liquid
        } else {
            let (inside, outside) = (self.phi(cell), self.phi(other));
            FaceNeighbour::Air {
                theta: (inside / (inside - outside)).clamp(LEAST_THETA, 1.0),
            }
        };
        Face { open, beyond }
    }

    /// Velocity along `axis` at the centre of a face.
    fn velocity(&self, cell: Coord<D>, axis: usize, high: bool) -> f64 {
        let x = self.face_centre(cell, axis, high);
        let (from_x, from_y) = (x[0] - 0.5, x[1] - 0.5);
        let stream = [0.3, -1.0, 0.2][axis];
        let turn = [-1.5 * from_y, 1.5 * from_x, 0.0][axis];
        let strain = [0.2 * from_x, -0.2 * from_y, 0.0][axis];
        stream + turn + strain + 0.1 * (4.0 * PI * x[axis] + axis as f64).sin()
    }
}
