//! Reuse of the hierarchy for another problem with the same stencil.

use meniscus_lcp::{BoxMlcp, InputError};
use rayon::prelude::*;

use super::hierarchy::Hierarchy;
use super::level::{ENTRIES, Row};
use crate::stencil::Stencil;

/// Whether a row has a bound or is held.
fn is_bounded((lower, upper): (&f64, &f64)) -> bool {
    *lower != f64::NEG_INFINITY || *upper != f64::INFINITY
}

impl<const D: usize> Hierarchy<D> {
    /// Whether new levels of this problem would have the same bits: it has the same stencil, and the same rows have bounds or are
    /// held.
    pub fn is_for(&self, problem: &BoxMlcp<Stencil<D>>) -> bool {
        self.serves(problem, |whole, bounded| whole != bounded)
    }

    /// Whether the levels are those of this stencil and `fits(whole, bounded)` is true of all rows, where `whole` rows had no
    /// bound when the levels were made.
    fn serves(
        &self,
        problem: &BoxMlcp<Stencil<D>>,
        fits: impl Fn(bool, bool) -> bool + Sync,
    ) -> bool {
        if self.prepared != Some(problem.matrix().identity()) {
            return false;
        }
        let (lower, upper) = (problem.lower(), problem.upper());
        let (top, matrix_row) = (&self.levels[0], &self.finest.matrix_row);
        // Bounded rows of the problem, and those among them that the levels know as possibly bounded.
        let all = lower.par_iter().zip(upper).with_min_len(ENTRIES);
        let all = all.filter(|&row| is_bounded(row)).count();
        let known = |row: &Row| {
            let unknown = row.unknown as usize;
            let at = matrix_row[unknown] as usize;
            let bounded = is_bounded((&lower[at], &upper[at]));
            let possible = lower[at] == upper[at] || upper[at] == f64::INFINITY;
            (possible && fits(top.whole[unknown], bounded)).then_some(usize::from(bounded))
        };
        let rows = top.rows.row.par_iter().with_min_len(ENTRIES);
        let known = rows.map(known).try_reduce(|| 0, |a, b| Some(a + b));
        known == Some(all)
    }

    /// Takes right-hand side and bounds of a problem with the stencil that the levels were made for. Only rows that had a bound or
    /// were held then may have one, or be held.
    pub fn take(&mut self, problem: &BoxMlcp<Stencil<D>>) -> Result<(), InputError> {
        if !self.serves(problem, |whole, bounded| !(whole && bounded)) {
            return Err(InputError::Structure {
                row: 0,
                why: "the levels were prepared for another matrix or without its bounds",
            });
        }
        self.finest.take_rhs(problem);
        self.take_bounds(problem);
        Ok(())
    }

    /// Rows that are held are out of the cycle, and rows without bounds in it, from now on.
    fn take_bounds(&mut self, problem: &BoxMlcp<Stencil<D>>) {
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
