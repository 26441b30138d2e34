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
//! wall. Wall rows, those with a face that is not fully open, are bounded below by zero if walls separate.

use meniscus_lcp::{Blocks, Csr, InputError};
use rayon::prelude::*;

use super::weights::{Beyond, Weights};
use crate::settings::{Settings, Walls};
use crate::solids::PosedSolids;
use crate::tiles::Tiles;
use crate::transfer::FaceField;

/// Marks cells that are no unknowns.
pub const NO_ROW: u32 = u32::MAX;

/// The pressure problem of one step.
#[derive(Clone, Debug)]
pub struct System {
    /// Symmetric, an M-matrix.
    pub matrix: Csr,
    /// Divergence before the pressure acts.
    pub rhs: Vec<f64>,
    /// 0 on wall rows of separating walls, else minus infinity.
    pub lower: Vec<f64>,
    /// Infinity.
    pub upper: Vec<f64>,
    /// Grid index of every row's cell.
    pub cells: Vec<u32>,
    /// Rows that touch a solid.
    pub wall: Vec<bool>,
    /// Rows with an open face to air.
    pub surface: Vec<bool>,
    /// Row of every grid cell, or [`NO_ROW`].
    pub rows: Vec<u32>,
    /// The rows of every tile, tiles by checkerboard colour, so that tiles of one colour are not coupled.
    pub blocks: Blocks,
}

impl System {
    /// A problem without rows.
    pub fn empty() -> Result<Self, InputError> {
        Ok(Self {
            matrix: Csr::new(0, vec![0], Vec::new(), Vec::new())?,
            rhs: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            cells: Vec::new(),
            wall: Vec::new(),
            surface: Vec::new(),
            rows: Vec::new(),
            blocks: Blocks::single(0),
        })
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    /// Numbers the unknowns: tile after tile, tiles of one checkerboard colour together.
    fn number<const D: usize>(&mut self, weights: &Weights<D>) -> Result<(), InputError> {
        let tiles = weights.tiles;
        let cells = Tiles::<D>::CELLS;
        tiles.reset(&mut self.rows, NO_ROW);
        let counts: Vec<u32> = self
            .rows
            .par_chunks_mut(cells)
            .take(tiles.len())
            .enumerate()
            .map(|(slot, rows)| {
                let mut count = 0;
                for (offset, row) in rows.iter_mut().enumerate() {
                    if weights.is_unknown(slot * cells + offset) {
                        *row = count;
                        count += 1;
                    }
                }
                count
            })
            .collect();
        let mut first = vec![0; tiles.len()];
        let (mut starts, mut colours) = (vec![0], vec![0]);
        for colour in 0..2 {
            for slot in
                (0..tiles.len()).filter(|&slot| tiles.colour(slot) == colour && counts[slot] > 0)
            {
                let start = starts[starts.len() - 1];
                first[slot] = start as u32;
                starts.push(start + counts[slot] as usize);
            }
            colours.push(starts.len() - 1);
        }
        let total = starts[starts.len() - 1];
        self.blocks = Blocks::new(starts, colours)?;
        self.cells.clear();
        self.cells.resize(total, 0);
        for slot in 0..tiles.len() {
            for index in slot * cells..(slot + 1) * cells {
                if self.rows[index] != NO_ROW {
                    self.rows[index] += first[slot];
                    self.cells[self.rows[index] as usize] = index as u32;
                }
            }
        }
        Ok(())
    }

    /// Builds the problem for velocities that gravity has already acted on.
    pub fn assemble<const D: usize>(
        &mut self,
        weights: &Weights<D>,
        velocity: &FaceField<D>,
        solids: &impl PosedSolids<D>,
        settings: &Settings<D>,
        dt: f64,
    ) -> Result<(), InputError> {
        self.number(weights)?;
        let n = self.cells.len();
        let step = Assembly {
            weights,
            velocity,
            solids,
            scale: dt / (settings.density * settings.dx * settings.dx),
            dx: settings.dx,
            kappa: if settings.walls == Walls::Separating {
                settings.separation
            } else {
                0.0
            },
            rows: &self.rows,
        };
        // Fixed chunks, each with its own part of the arrays, joined in order.
        let parts: Vec<Part> = self
            .cells
            .par_chunks(4096)
            .map(|cells| step.rows_of(cells))
            .collect();
        let (mut starts, mut columns, mut values) =
            std::mem::replace(&mut self.matrix, Self::empty()?.matrix).into_parts();
        starts.clear();
        starts.push(0);
        columns.clear();
        values.clear();
        self.rhs.clear();
        self.wall.clear();
        self.surface.clear();
        for part in parts {
            let offset = columns.len();
            starts.extend(part.ends.iter().map(|end| end + offset));
            columns.extend(part.columns);
            values.extend(part.values);
            self.rhs.extend(part.rhs);
            self.wall.extend(part.wall);
            self.surface.extend(part.surface);
        }
        self.matrix = Csr::new(n, starts, columns, values)?;
        self.lower.clear();
        let bounded = settings.walls == Walls::Separating;
        self.lower.extend(
            self.wall
                .iter()
                .map(|&w| if w && bounded { 0.0 } else { f64::NEG_INFINITY }),
        );
        self.upper.clear();
        self.upper.resize(n, f64::INFINITY);
        Ok(())
    }
}

#[derive(Default)]
struct Part {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    rhs: Vec<f64>,
    wall: Vec<bool>,
    surface: Vec<bool>,
}

struct Assembly<'a, const D: usize, S> {
    weights: &'a Weights<'a, D>,
    velocity: &'a FaceField<D>,
    solids: &'a S,
    scale: f64,
    dx: f64,
    kappa: f64,
    rows: &'a [u32],
}

impl<const D: usize, S: PosedSolids<D>> Assembly<'_, D, S> {
    fn rows_of(&self, cells: &[u32]) -> Part {
        let mut part = Part::default();
        for &cell in cells {
            self.row(cell as usize, &mut part);
        }
        part
    }

    fn row(&self, index: usize, part: &mut Part) {
        let tiles = self.weights.tiles;
        let mut entries = [(u32::MAX, 0.0); 7];
        let (mut diagonal, mut count) = (0.0, 1);
        let (mut divergence, mut closed, mut surface) = (0.0, 0.0, false);
        for axis in 0..D {
            for high in [false, true] {
                let face = self.weights.face(index, axis, high);
                let w = self.weights.open(axis, face);
                match self.weights.beyond(index, axis, high) {
                    Beyond::Solid => {}
                    Beyond::Liquid => {
                        let other = if high {
                            tiles.above(index, axis)
                        } else {
                            tiles.below(index, axis)
                        };
                        diagonal += self.scale * w;
                        entries[count] = (self.rows[other], -self.scale * w);
                        count += 1;
                    }
                    Beyond::Air { theta } => {
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
                    flux += (1.0 - w) * self.solids.velocity(x)[axis];
                    closed += 1.0 - w;
                }
                divergence += if high { flux } else { -flux };
            }
        }
        entries[0] = (self.rows[index], diagonal);
        let entries = &mut entries[..count];
        entries.sort_unstable_by_key(|e| e.0);
        part.columns.extend(entries.iter().map(|e| e.0));
        part.values.extend(entries.iter().map(|e| e.1));
        part.ends.push(part.columns.len());
        // [ANE17 (48)] asks for a speed of separation where the wall is.
        part.rhs.push((divergence - self.kappa * closed) / self.dx);
        part.wall.push(closed > 0.0);
        part.surface.push(surface);
    }
}
