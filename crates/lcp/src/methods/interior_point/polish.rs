//! Crossover: once the active set is clear, the remaining rows are solved as a linear system.

use super::path::Path;
use super::scaled::Scaled;
use super::systems::Systems;
use crate::operator::Operator;
use crate::problem::BoxMlcp;
use crate::sparse_factor::System;

/// Place of a row: at a bound, or between the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Inside,
    Lower,
    Upper,
}

/// A guess and the point that it leads to.
#[derive(Clone, Debug, Default)]
pub(super) struct Polish {
    pub x: Vec<f64>,
    places: Vec<Place>,
    /// Whether the guess was solved for.
    tried: bool,
    inside: Vec<bool>,
    zero: Vec<f64>,
    c: Vec<f64>,
    dx: Vec<f64>,
}

impl Polish {
    pub fn start(&mut self, n: usize) {
        for array in [&mut self.x, &mut self.zero, &mut self.c, &mut self.dx] {
            array.resize(n, 0.0);
        }
        self.zero.fill(0.0);
        self.places.resize(n, Place::Inside);
        self.places.fill(Place::Inside);
        self.inside.resize(n, true);
        self.tried = false;
    }

    /// Guesses where the rows will end. Says whether the guess is worth a solve: one that has not been tried and is the
    /// same twice in a row, or the last chance.
    pub fn guess(&mut self, scaled: &Scaled, path: &Path, last: bool) -> bool {
        let mut changed = false;
        let [below, above] = &path.bounds;
        for i in 0..self.places.len() {
            // Of slack and dual one goes to zero; entries of matrix and right-hand side are about 1, so they compare.
            let place = if below.finite[i] && below.dual[i] > below.slack[i] {
                Place::Lower
            } else if above.finite[i] && above.dual[i] > above.slack[i] {
                Place::Upper
            } else {
                Place::Inside
            };
            changed |= place != self.places[i];
            self.places[i] = place;
            self.inside[i] = scaled.keep[i] && place == Place::Inside;
        }
        if changed {
            self.tried = false;
        }
        let worth = !self.tried && (!changed || last);
        self.tried |= worth;
        worth
    }

    /// Puts rows at a bound exactly there, in the units of the problem.
    pub fn pin(&self, problem: &BoxMlcp<'_, impl Operator + ?Sized>, x: &mut [f64]) {
        for (i, place) in self.places.iter().enumerate() {
            match place {
                Place::Inside => {}
                Place::Lower => x[i] = problem.lower()[i],
                Place::Upper => x[i] = problem.upper()[i],
            }
        }
    }

    /// Solves for the rows inside, starting from the path's point: of many solutions the nearest.
    pub fn solve(&mut self, scaled: &Scaled, factor: &mut dyn Systems, path: &Path) {
        for i in 0..self.x.len() {
            self.x[i] = match self.places[i] {
                Place::Inside => path.x[i],
                Place::Lower => scaled.lower[i],
                Place::Upper => scaled.upper[i],
            };
        }
        let system = System {
            matrix: &scaled.matrix,
            shift: &self.zero,
            keep: &self.inside,
        };
        if factor.factorise(&system).is_err() {
            return;
        }
        scaled.affine(&self.x, &mut self.c);
        for c in &mut self.c {
            *c = -*c;
        }
        factor.solve_exactly(&system, &self.c, &mut self.dx);
        for (x, dx) in self.x.iter_mut().zip(&self.dx) {
            *x += dx;
        }
    }
}
