//! Reuse of the hierarchy for a problem with the same matrix.
//!
//! Finding out takes one pass over the matrix and no memory: what the levels are made of is what they hold.

use meniscus_lcp::{BoxMlcp, Csr};
use rayon::prelude::*;

use super::finest::Finest;
use super::hierarchy::Hierarchy;
use super::level::{Level, NONE, Span};
use super::stencil::is_same;
use crate::grid::tiles::Coord;

/// What may differ from the last problem besides the right-hand side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// Bounds, of the rows that had one: new levels would be the same bits.
    Same,
    /// Rows may also have lost theirs. Levels are then as good as new ones, and differ from them by rounding.
    Fewer,
}

/// Spans that are compared together, and how many times that one task does at least.
const SPANS: usize = 256;
const FEWEST: usize = 8;

impl<const D: usize> Hierarchy<D> {
    /// Keeps the levels if this problem has the same, and says so. Rows may still be active from the last.
    pub fn keep(&mut self, problem: &BoxMlcp<Csr>, cells: &[Coord<D>], bounds: Bounds) -> bool {
        let next = Next {
            problem,
            cells,
            bounds,
            low: self.low,
            finest: &self.finest,
            level: &self.levels[0],
        };
        if !self.complete || !next.has_same_levels() {
            return false;
        }
        self.finest.take_rhs(problem);
        self.take_bounds(problem);
        true
    }

    /// Rows that are held are out of the cycle, and rows without bounds in it, from now on.
    fn take_bounds(&mut self, problem: &BoxMlcp<Csr>) {
        self.weights.changed.clear();
        let level = &mut self.levels[0];
        for row in 0..level.rows.len() {
            let unknown = level.rows.row[row].unknown as usize;
            let matrix_row = self.finest.matrix_row[unknown] as usize;
            let (lower, upper) = (problem.lower()[matrix_row], problem.upper()[matrix_row]);
            let held = lower == upper;
            self.finest.lower[row] = if held { f64::NEG_INFINITY } else { lower };
            let free = match self.finest.lower[row] {
                f64::NEG_INFINITY => !held as u8,
                _ => level.free[unknown],
            };
            if level.free[unknown] != free {
                level.free[unknown] = free;
                level.invert_diagonal(row);
                self.weights.changed.push(unknown as u32);
            }
        }
        self.follow_changes();
    }
}

/// The next problem beside what is known of the last.
struct Next<'a, const D: usize> {
    problem: &'a BoxMlcp<'a, Csr>,
    cells: &'a [Coord<D>],
    bounds: Bounds,
    low: Coord<D>,
    finest: &'a Finest,
    level: &'a Level<D>,
}

impl<const D: usize> Next<'_, D> {
    fn has_same_levels(&self) -> bool {
        let n = self.level.unknowns;
        if self.problem.len() != n || self.cells.len() != n {
            return false;
        }
        let parts = self.level.spans.par_chunks(SPANS).with_min_len(FEWEST);
        let parts = parts.map(|spans| {
            let mut spans = spans.iter();
            spans.try_fold(0.0f64, |m, span| Some(m.max(self.largest_if_same(span)?)))
        });
        // The unit of all weights is the largest.
        let largest = parts.try_reduce(|| 0.0, |a, b| Some(a.max(b)));
        largest.is_some_and(|largest| largest == self.finest.full_weight)
    }

    /// The largest coupling of the rows of a span, if all are what they were.
    fn largest_if_same(&self, span: &Span<D>) -> Option<f64> {
        let mut largest = 0.0f64;
        for unknown in span.first as usize..span.end as usize {
            let row = self.finest.matrix_row[unknown] as usize;
            let mut cell: Coord<D> = std::array::from_fn(|a| span.line[a] + self.low[a]);
            cell[D - 1] += self.level.along[unknown];
            if self.cells[row] != cell {
                return None;
            }
            let of_row = match self.level.row_of[unknown] {
                NONE => self.if_regular(unknown, row)?,
                at => self.if_same_row(at as usize, unknown, row)?,
            };
            largest = largest.max(of_row);
        }
        Some(largest)
    }

    fn if_regular(&self, unknown: usize, row: usize) -> Option<f64> {
        let (columns, values) = self.problem.matrix().row(row);
        let (near, full) = (&self.level.near[unknown], self.finest.full_weight);
        let unbounded = self.problem.lower()[row] == f64::NEG_INFINITY
            && self.problem.upper()[row] == f64::INFINITY;
        let mut same = unbounded && columns.len() == 2 * D + 1;
        let mut largest = 0.0f64;
        for (&column, &value) in columns.iter().zip(values) {
            same &= if column as usize == row {
                is_same(value, (2 * D) as f64 * full)
            } else {
                let target = self.finest.unknown[column as usize];
                largest = largest.max(-value);
                near.as_flattened().contains(&target) && is_same(-value, full)
            };
        }
        same.then_some(largest)
    }

    fn if_same_row(&self, at: usize, unknown: usize, row: usize) -> Option<f64> {
        let (columns, values) = self.problem.matrix().row(row);
        let links = self.level.rows.row[at].links();
        let weights = &self.finest.weight[links.clone()];
        let links = &self.level.rows.link[links];
        let (mut largest, mut diagonal, mut couplings) = (0.0f64, 0.0, 0);
        for (&column, &value) in columns.iter().zip(values) {
            if column as usize == row {
                diagonal = value;
            } else if value != 0.0 {
                let target = self.finest.unknown[column as usize];
                let place = links.iter().position(|link| link.target == target)?;
                if weights[place] != -value {
                    return None;
                }
                largest = largest.max(-value);
                couplings += 1;
            }
        }
        let (lower, upper) = (self.problem.lower()[row], self.problem.upper()[row]);
        let possible = lower == upper || upper == f64::INFINITY;
        let (whole, unbounded) = (self.level.whole[unknown], lower == f64::NEG_INFINITY);
        let same_bounds = match self.bounds {
            Bounds::Same => whole == unbounded,
            Bounds::Fewer => !whole || unbounded,
        };
        let same = diagonal == self.finest.diagonal[at] && couplings == links.len();
        (same && possible && same_bounds).then_some(largest)
    }
}
