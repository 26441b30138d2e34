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

use meniscus_lcp::{Blocks, Csr, InputError};
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

/// Rows that are assembled together.
const CHUNK: usize = 4096;

/// The pressure problem of one step.
#[derive(Clone, Debug)]
pub struct System {
    /// Symmetric, an M-matrix.
    pub matrix: Csr,
    /// Divergence before the pressure acts.
    pub rhs: Vec<f64>,
    /// Least pressure of wall rows of separating walls, else minus infinity.
    pub lower: Vec<f64>,
    /// Infinity.
    pub upper: Vec<f64>,
    /// Grid index of every row's cell.
    pub cells: Vec<u32>,
    /// Rows that touch a solid.
    pub wall: Vec<bool>,
    /// Rows with an open face to air.
    pub surface: Vec<bool>,
    /// Row of every grid cell that has one.
    pub rows: Rows,
    /// The rows of every tile, tiles by checkerboard colour, so that tiles of one colour are not coupled.
    pub blocks: Blocks,
}

impl System {
    /// A problem without rows.
    pub fn empty() -> Self {
        Self {
            matrix: Csr::default(),
            rhs: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            cells: Vec::new(),
            wall: Vec::new(),
            surface: Vec::new(),
            rows: Rows::default(),
            blocks: Blocks::single(0),
        }
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    /// Numbers the unknowns: tile after tile, tiles of one checkerboard colour together.
    fn number<const D: usize>(&mut self, weights: &Weights<D>) -> Result<(), InputError> {
        let tiles = weights.tiles;
        let unknowns = CellSet::of(tiles, |index| weights.is_unknown(index));
        let (starts, colours) = self.rows.by_colour(tiles, unknowns);
        self.cells.clear();
        self.cells.resize_closely(starts[starts.len() - 1], 0);
        self.blocks = Blocks::new(starts, colours)?;
        let (cells, rows) = (Tiles::<D>::CELLS, &self.rows);
        let cell_of = DisjointSlice::new(&mut self.cells);
        (0..tiles.len()).into_par_iter().for_each(|slot| {
            for cell in rows.cells().within(slot * cells..(slot + 1) * cells) {
                // SAFETY: no two cells have the same row.
                unsafe { cell_of.set(rows.of(cell) as usize, cell as u32) };
            }
        });
        Ok(())
    }

    /// Builds the problem for velocities that gravity has already acted on.
    pub fn assemble<const D: usize>(
        &mut self,
        weights: &Weights<D>,
        velocity: &FaceField<D>,
        solids: &dyn SolidField<D>,
        settings: &Settings<D>,
        dt: f64,
    ) -> Result<(), InputError> {
        self.number(weights)?;
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
        let (mut starts, mut columns, mut values) = std::mem::take(&mut self.matrix).into_parts();
        let counts = self.cells.par_iter().with_min_len(CHUNK);
        starts.clear();
        starts.make_room(n + 1);
        starts.par_extend(
            rayon::iter::once(0).chain(counts.map(|&cell| step.entries(cell as usize))),
        );
        for row in 0..n {
            starts[row + 1] += starts[row];
        }
        columns.resize_closely(starts[n], 0);
        values.resize_closely(starts[n], 0.0);
        self.rhs.resize_closely(n, 0.0);
        self.wall.resize_closely(n, false);
        self.surface.resize_closely(n, false);
        // Every chunk of rows has its own part of the arrays.
        let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
        let parts: Vec<(&mut [u32], &mut [f64])> = (0..n.div_ceil(CHUNK))
            .map(|chunk| {
                let (first, last) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(n));
                let length = starts[last] - starts[first];
                (
                    columns_left.split_off_mut(..length).unwrap_or_default(),
                    values_left.split_off_mut(..length).unwrap_or_default(),
                )
            })
            .collect();
        parts
            .into_par_iter()
            .zip(self.cells.par_chunks(CHUNK))
            .zip(self.rhs.par_chunks_mut(CHUNK))
            .zip(self.wall.par_chunks_mut(CHUNK))
            .zip(self.surface.par_chunks_mut(CHUNK))
            .for_each(|(((((columns, values), cells), rhs), wall), surface)| {
                let mut end = 0;
                for (i, &cell) in cells.iter().enumerate() {
                    let row = step.row(cell as usize);
                    for &(column, value) in row.entries() {
                        (columns[end], values[end]) = (column, value);
                        end += 1;
                    }
                    (rhs[i], wall[i], surface[i]) = (row.rhs, row.wall, row.surface);
                }
            });
        self.matrix = Csr::new(n, starts, columns, values)?;
        self.lower.clear();
        self.lower.make_room(n);
        let bounded = settings.physics.walls == Walls::Separating;
        let rows = self.wall.par_iter().zip(&self.cells).with_min_len(CHUNK);
        let least = |(&wall, &cell): (&bool, &u32)| match wall && bounded {
            true => weights.least_pressure(cell as usize, settings),
            false => f64::NEG_INFINITY,
        };
        self.lower.par_extend(rows.map(least));
        self.upper.clear();
        self.upper.resize_closely(n, f64::INFINITY);
        Ok(())
    }
}

/// A row of the problem.
struct Row {
    entries: [(u32, f64); 7],
    count: usize,
    rhs: f64,
    wall: bool,
    surface: bool,
}

impl Row {
    fn entries(&self) -> &[(u32, f64)] {
        &self.entries[..self.count]
    }
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
    /// Number of entries in the row of a cell.
    fn entries(&self, index: usize) -> usize {
        let liquid = |&(axis, high): &(usize, bool)| {
            self.weights.beyond(index, axis, high) == FaceNeighbour::Liquid
        };
        let faces = (0..D).flat_map(|axis| [(axis, false), (axis, true)]);
        1 + faces.filter(liquid).count()
    }

    fn row(&self, index: usize) -> Row {
        let tiles = self.weights.tiles;
        let mut entries = [(u32::MAX, 0.0); 7];
        let (mut diagonal, mut count) = (0.0, 1);
        let (mut divergence, mut closed, mut surface) = (0.0, 0.0, false);
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
                        diagonal += self.scale * w;
                        entries[count] = (self.rows.of(other), -self.scale * w);
                        count += 1;
                    }
                    FaceNeighbour::Air { theta } => {
                        diagonal += self.scale * w / theta;
                        surface = true;
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
        entries[0] = (self.rows.of(index), diagonal);
        entries[..count].sort_unstable_by_key(|e| e.0);
        Row {
            entries,
            count,
            // [ANE17 (48)] asks for a speed of separation where the wall is.
            rhs: (divergence - self.kappa * closed) / self.dx,
            wall: closed > 0.0,
            surface,
        }
    }
}
