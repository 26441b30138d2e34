//! Part two of the pressure step: the box MLCP.
//!
//! Row of the liquid cell `i`, with open fractions `w` and the free surface at `theta`:
//!
//! ```text
//! (A p)_i = dt/(rho dx^2) sum_f w_f (p_i - p_j)                j liquid
//!                            or w_f p_i / theta_f               j air
//! b_i     = 1/dx sum_f s_f (w_f u_f + (1 - w_f) u_solid,f)      s_f = +1 on the high side, -1 on the low side
//! ```
//!
//! so that `y = A p + b` is the divergence that is left: zero inside, allowed to be positive where liquid leaves a
//! wall. Where `j` is air, `w` is the open share at the free surface if that is smaller ([`Weights::open_to`]). Wall
//! rows, those with a face that is not fully open, are bounded below if walls separate: by zero, or by less where the
//! free surface meets a ceiling ([`Weights::least_pressure`]).

use meniscus_lcp::{Blocks, InputError};
use rayon::prelude::*;

use super::rows::Rows;
use super::weights::{FaceNeighbour, Weights};
use crate::disjoint_slice::DisjointSlice;
use crate::grid::cell_set::CellSet;
use crate::grid::tiles::Tiles;
use crate::growth::Growth;
use crate::particles::transfer::FaceField;
use crate::settings::{Settings, Walls};
use crate::solids::SolidField;
use crate::stencil::{StencilProblem, StencilRow};

/// Rows that one task looks at, at least.
const CHUNK: usize = 4096;

/// The pressure problem of one step.
#[derive(Clone, Debug, Default)]
pub struct System<const D: usize> {
    /// A symmetric M-matrix; divergence before the pressure acts; least pressure of wall rows of separating walls, else minus
    /// infinity; no upper bounds.
    pub problem: StencilProblem<D>,
    /// Grid index of every row's cell.
    pub cells: Vec<u32>,
    /// Rows that touch a solid.
    pub wall: Vec<bool>,
    /// Rows with an open face to air.
    pub surface: Vec<bool>,
    /// Row of every grid cell that has one.
    pub rows: Rows,
    /// Where the rows of every tile start, and how many tiles there are before each checkerboard colour: see [`Self::blocks`].
    blocks: (Vec<usize>, Vec<usize>),
}

impl<const D: usize> System<D> {
    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The rows of every tile, tiles by checkerboard colour, so that tiles of one colour are not coupled.
    pub fn blocks(&self) -> Result<Blocks, InputError> {
        let (starts, colours) = self.blocks.clone();
        Blocks::new(starts, colours)
    }

    /// Numbers the unknowns: tile after tile, tiles of one checkerboard colour together.
    fn number(&mut self, weights: &Weights<D>) {
        let tiles = weights.tiles;
        let unknowns = CellSet::of(tiles, |index| weights.is_unknown(index));
        self.blocks = self.rows.by_colour(tiles, unknowns);
        let n = self.blocks.0.last().copied().unwrap_or_default();
        self.cells.clear();
        self.cells.resize_closely(n, 0);
        let (cells, rows) = (Tiles::<D>::CELLS, &self.rows);
        let cell_of = DisjointSlice::new(&mut self.cells);
        (0..tiles.len()).into_par_iter().for_each(|slot| {
            for cell in rows.cells().within(slot * cells..(slot + 1) * cells) {
                // SAFETY: no two cells have the same row.
                unsafe { cell_of.set(rows.of(cell) as usize, cell as u32) };
            }
        });
    }

    /// Builds the problem for velocities that gravity has already acted on.
    pub fn assemble(
        &mut self,
        weights: &Weights<D>,
        velocity: &FaceField<D>,
        solids: &dyn SolidField<D>,
        settings: &Settings<D>,
        dt: f64,
    ) -> Result<(), InputError> {
        self.number(weights);
        let n = self.cells.len();
        let step = Assembly {
            weights,
            velocity,
            solids,
            scale: dt / (settings.physics.density * settings.dx * settings.dx),
            dx: settings.dx,
            kappa: settings.desired_separation(),
            rows: &self.rows,
        };
        let StencilProblem {
            stencil,
            rhs,
            lower,
            upper,
        } = &mut self.problem;
        rhs.resize_closely(n, 0.0);
        self.wall.resize_closely(n, false);
        self.surface.resize_closely(n, false);
        let rhs_of = DisjointSlice::new(rhs);
        let is_wall = DisjointSlice::new(&mut self.wall);
        let is_surface = DisjointSlice::new(&mut self.surface);
        let cells = self.cells.par_iter();
        let coords = cells.map(|&cell| weights.tiles.coord(cell as usize));
        stencil.assemble(coords, step.scale, |row, _| {
            let found = step.row(self.cells[row] as usize);
            // SAFETY: every row is written by itself.
            unsafe {
                rhs_of.set(row, found.rhs);
                is_wall.set(row, found.wall);
                is_surface.set(row, found.stencil.air != 0);
            }
            Ok(found.stencil)
        })?;
        lower.clear();
        lower.make_room(n);
        let bounded = settings.physics.walls == Walls::Separating;
        let rows = self.wall.par_iter().zip(&self.cells).with_min_len(CHUNK);
        let least = |(&wall, &cell): (&bool, &u32)| match wall && bounded {
            true => weights.least_pressure(cell as usize, settings),
            false => f64::NEG_INFINITY,
        };
        lower.par_extend(rows.map(least));
        upper.clear();
        upper.resize_closely(n, f64::INFINITY);
        Ok(())
    }
}

/// A row of the problem.
struct Row<const D: usize> {
    stencil: StencilRow<D>,
    rhs: f64,
    wall: bool,
}

struct Assembly<'a, const D: usize> {
    weights: &'a Weights<'a, D>,
    velocity: &'a FaceField<D>,
    solids: &'a dyn SolidField<D>,
    scale: f64,
    dx: f64,
    kappa: f64,
    rows: &'a Rows,
}

impl<const D: usize> Assembly<'_, D> {
    fn row(&self, index: usize) -> Row<D> {
        let tiles = self.weights.tiles;
        let mut stencil = StencilRow::EMPTY;
        let (mut divergence, mut closed) = (0.0, 0.0);
        for axis in 0..D {
            for high in [false, true] {
                let face = self.weights.face(index, axis, high);
                let beyond = self.weights.beyond(index, axis, high);
                let w = self.weights.open_to(beyond, index, axis, high);
                match beyond {
                    FaceNeighbour::Solid => {}
                    FaceNeighbour::Liquid => {
                        let other = if high {
                            tiles.above(index, axis)
                        } else {
                            tiles.below(index, axis)
                        };
                        stencil.diagonal += self.scale * w;
                        stencil.neighbours[axis][high as usize] = self.rows.of(other);
                        stencil.weight[axis][high as usize] = self.scale * w;
                    }
                    FaceNeighbour::Air { theta } => {
                        stencil.diagonal += self.scale * w / theta;
                        stencil.air |= 1 << (2 * axis + high as usize);
                    }
                }
                let mut flux = if w > 0.0 {
                    w * self.velocity[axis][face]
                } else {
                    0.0
                };
                if w < 1.0 {
                    let mut x = tiles.coord(index).map(|c| (c as f64 + 0.5) * self.dx);
                    x[axis] += if high { 0.5 } else { -0.5 } * self.dx;
                    let cut = self.weights.cut;
                    let solid = cut.solid_velocity(self.solids, axis, face, x);
                    flux += (1.0 - w) * solid[axis];
                    closed += 1.0 - w;
                }
                divergence += if high { flux } else { -flux };
            }
        }
        Row {
            stencil,
            // [ANE17 (48)] asks for a speed of separation where the wall is.
            rhs: (divergence - self.kappa * closed) / self.dx,
            wall: closed > 0.0,
        }
    }
}
