//! More and more zero eigenvalues. [Erl13 sec. 7]

use super::ZEROS;
use super::rules::{Ending, Rules};
use super::solver_case::SolverCase;
use crate::options::Problems;
use crate::prelude::*;
use meniscus_lcp::gallery::{self, Random};
use meniscus_lcp::methods::fischer::Kink;

/// The study.
pub struct Psd;

const ROWS: usize = 100;

const RULES: Rules = Rules {
    absolute: 1e-2,
    relative: 1e-4,
    iterations: 100,
};

const CASES: [SolverCase; 6] = [
    SolverCase::Fischer(Kink::Approximation),
    SolverCase::MinimumMap,
    SolverCase::Pgs,
    SolverCase::PSOR,
    SolverCase::OurFischer,
    SolverCase::OurNewton,
];

impl Study for Psd {
    const NAME: &'static str = "erl13-psd";
    const SUMMARY: &'static str = "how dense problems end when more and more eigenvalues are zero";
    type Options = Problems;

    fn run(options: &Problems) -> Result<Findings, Error> {
        let mut headings = vec!["zero eigenvalues in %", "method"];
        headings.extend(Ending::ALL.map(Ending::word));
        headings.push("mean iterations");
        let mut data = Table::new(headings);
        let mut series: Vec<Series> = CASES
            .iter()
            .map(|case| Series {
                name: case.name(),
                points: Vec::new(),
            })
            .collect();
        for percent in (0..100).step_by(10) {
            for (case, series) in CASES.iter().zip(&mut series) {
                let mut ended = [0_u64; Ending::ALL.len()];
                let mut iterations = 0;
                for seed in 1..=options.problems {
                    let share = f64::from(percent) / 100.0;
                    let instance = gallery::dense(ROWS, share, ZEROS, &mut Random::new(seed));
                    let outcome = case.solve_from_zero(&instance, RULES)?;
                    let at = Ending::ALL.iter().position(|&e| e == outcome.ending);
                    ended[at.unwrap_or(Ending::ALL.len() - 1)] += 1;
                    iterations += outcome.iterations;
                }
                let of = |ending| {
                    let at = Ending::ALL.iter().position(|&e| e == ending);
                    at.map_or(0, |at| ended[at]) as f64
                };
                let good = of(Ending::Absolute);
                series
                    .points
                    .push((f64::from(percent), 100.0 * good / options.problems as f64));
                let mut row = vec![Cell::Whole(percent as u64), case.name().into()];
                row.extend(ended.map(Cell::Whole));
                row.push(Cell::Number(iterations as f64 / options.problems as f64, 1));
                data.push(row);
            }
        }
        let chart = Chart {
            title: "problems that end with a merit below 1e-2".into(),
            x: Axis::linear("zero eigenvalues in %"),
            y: Axis::linear("share in %"),
            series,
        };
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![format!(
                "{} dense problems of {ROWS} variables for each share of zero eigenvalues, a relative tolerance of 1e-4, an \
                 absolute one of 1e-2, at most 100 iterations. The notes print no figures: Fischer-Newton (by approximation) \
                 reaches relative convergence more often than minimum map Newton, both get into trouble when many eigenvalues \
                 are zero, and PGS and PSOR end at their limit without a bad iterate. Here minimum map Newton as in the notes gets \
                 into trouble from about 40 % on, as there; Fischer-Newton does not, and PGS and PSOR reach the tolerance, since \
                 these problems have a solution with half of its rows well inside their bounds.",
                options.problems
            )],
            pictures: vec![Picture::chart("share", &chart)],
            sections: vec![Section::table("Endings", data.clone())],
            data,
        })
    }
}
