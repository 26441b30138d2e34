//! The tables and figures of Erleben's notes, on problems generated as there, with known solutions.

mod contacts;
mod endings;
mod fill;
mod growth;
mod iterations;
mod merits;
mod orders;
mod psd;
mod relaxation;
mod rules;
mod solver_case;
mod strategies;
mod warm_start;

pub use contacts::Contacts;
pub use endings::Table1;
pub use fill::Fig1;
pub use growth::Fig5;
pub use iterations::Table2;
pub use merits::Fig2;
pub use orders::Table3;
pub use psd::Psd;
pub use relaxation::Fig4;
pub use strategies::Fig3;
pub use warm_start::Fig6;

use crate::prelude::*;
use meniscus_lcp::gallery::{self, Instance, Random};
use solver_case::{Outcome, SolverCase};

/// Off-diagonal bands of a fluid problem, and the share of its solution that is zero.
const BANDS: usize = 3;
const ZEROS: f64 = 0.5;

/// A fluid problem of the notes.
fn fluid(rows: usize, seed: u64) -> Instance {
    gallery::banded(rows, BANDS, ZEROS, &mut Random::new(seed))
}

/// A problem with a right-hand side as the program behind the notes makes it: zero wherever the chosen `x` is. Its
/// solution is another one. Where couplings are negative, most of its rows are inside their bounds.
fn as_printed(mut instance: Instance) -> Instance {
    for (b, x) in instance.rhs.iter_mut().zip(&instance.solution) {
        if *x == 0.0 {
            *b = 0.0;
        }
    }
    instance
}

/// Why problems made as printed are there.
const AS_PRINTED: &str = "The program behind the notes sets b to zero wherever the chosen solution is zero. On fluid problems \
    that makes the chosen solution no solution: the true one has hardly a row at its bound, the problem is nearly a linear \
    system, and sweeps take longer. \"b as printed\" are problems made like that, to compare with the notes; the others are \
    solved by the solution that was chosen.";

/// A contact problem of the notes, of so many variables.
fn contact(rows: usize, seed: u64) -> Instance {
    gallery::contact_cone(rows / gallery::ROWS_PER_CONE, &mut Random::new(seed))
}

/// How merits fall.
fn convergence(name: &'static str, title: &str, outcomes: &[(SolverCase, Outcome)]) -> Picture {
    let series = outcomes.iter().map(|(case, outcome)| Series {
        name: case.name(),
        points: outcome
            .merits
            .iter()
            .enumerate()
            .map(|(iteration, &merit)| (iteration as f64, merit))
            .collect(),
    });
    let chart = Chart {
        title: title.into(),
        x: Axis::linear("iteration"),
        y: Axis::logarithmic("merit"),
        series: series.collect(),
    };
    Picture::chart(name, &chart)
}
