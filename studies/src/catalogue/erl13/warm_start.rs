//! Warm starts by PGS. [Erl13 fig. 6]

use super::rules::{Ending, Rules};
use super::solver_case::SolverCase;
use super::{AS_PRINTED, ZEROS, as_printed};
use crate::options::Problems;
use crate::prelude::*;
use meniscus_lcp::gallery::{self, Instance, Random};

/// The study.
pub struct Fig6;

const ROWS: usize = 100;
/// Iterations of PGS before a warm start.
const SWEEPS: usize = 10;

const RULES: Rules = Rules {
    absolute: 1e-2,
    relative: 1e-6,
    iterations: 30,
};

const WARM_UP: Rules = Rules {
    absolute: 0.0,
    relative: 0.0,
    iterations: SWEEPS,
};

/// Problems, and what is changed about them.
type Kind = (&'static str, fn(Instance) -> Instance);

impl Study for Fig6 {
    const NAME: &'static str = "erl13-fig6";
    const SUMMARY: &'static str =
        "iterations of the Newton methods with and without a warm start by PGS";
    type Options = Problems;

    fn run(options: &Problems) -> Result<Findings, Error> {
        let mut data =
            Table::columns("problems | seed | method | cold | cold ending | warm | warm ending");
        let mut summary = Table::columns(
            "problems | method | cold, mean | warm, mean | warm : cold | ended absolute",
        );
        let mut series = Vec::new();
        let kinds: [Kind; 2] = [("dense", |instance| instance), ("b as printed", as_printed)];
        for (kind, make) in kinds {
            for case in [SolverCase::NOTES[0], SolverCase::NOTES[1]] {
                let mut points = [Vec::new(), Vec::new()];
                let (mut sums, mut absolute) = ([0.0; 2], 0);
                for seed in 1..=options.problems {
                    let instance = make(gallery::dense(ROWS, 0.0, ZEROS, &mut Random::new(seed)));
                    let cold = case.solve_from_zero(&instance, RULES)?;
                    let mut x = vec![0.0; ROWS];
                    SolverCase::Pgs.solve(&instance, WARM_UP, &mut x)?;
                    let warm = case.solve(&instance, RULES, &mut x)?;
                    let mut row = vec![Cell::from(kind), Cell::Whole(seed), case.name().into()];
                    for (k, outcome) in [&cold, &warm].into_iter().enumerate() {
                        sums[k] += outcome.iterations as f64;
                        absolute += u64::from(outcome.ending == Ending::Absolute);
                        points[k].push((seed as f64, outcome.iterations as f64));
                        row.push(Cell::Whole(outcome.iterations as u64));
                        row.push(outcome.ending.word().into());
                    }
                    data.push(row);
                }
                let means = sums.map(|sum| sum / options.problems as f64);
                summary.push([
                    kind.into(),
                    case.name().into(),
                    Cell::Number(means[0], 2),
                    Cell::Number(means[1], 2),
                    Cell::Number(means[1] / means[0], 2),
                    format!("{absolute} of {}", 2 * options.problems).into(),
                ]);
                if kind != "dense" {
                    for (word, points) in ["without", "with"].into_iter().zip(points) {
                        series.push(Series {
                            name: format!("{}, {word}", case.name()),
                            points,
                        });
                    }
                }
            }
        }
        let chart = Chart {
            title: "iterations with and without ten iterations of PGS first".into(),
            x: Axis::linear("problem"),
            y: Axis::linear("iterations"),
            series,
        };
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![format!(
                "{} dense positive definite problems of {ROWS} variables, from zero and from what {SWEEPS} iterations of PGS \
                 leave; an absolute tolerance of 1e-2, a relative one of 1e-6, at most 30 iterations. The notes: a warm start \
                 brings the iterations to at most half.",
                options.problems
            )],
            pictures: vec![Picture::chart("iterations", &chart)],
            sections: vec![Section::new(
                "Iterations",
                [AS_PRINTED, "The plot shows the latter."],
                summary,
            )],
            data,
        })
    }
}
