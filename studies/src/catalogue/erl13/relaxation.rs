//! The relaxation of PSOR. [Erl13 fig. 4]

use super::rules::{ROBUSTNESS, Rules};
use super::solver_case::SolverCase;
use super::{AS_PRINTED, as_printed, convergence, fluid};
use crate::prelude::*;
use meniscus_lcp::gallery::Instance;

/// The study.
pub struct Fig4;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Problems to take the mean over
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..=1000))]
    problems: u64,
}

const RULES: Rules = Rules {
    absolute: 1e-12,
    relative: 0.0,
    iterations: 100,
};

/// Problems, and how they are made from a seed.
type Kind = (&'static str, fn(u64) -> Instance);

impl Study for Fig4 {
    const NAME: &'static str = "erl13-fig4";
    const SUMMARY: &'static str = "PSOR with different relaxation on fluid problems";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let relaxations = || (4..20).map(|k| f64::from(k) / 10.0);
        let mut data =
            Table::columns("problems | relaxation | mean iterations to 1e-3 | within the limit");
        let (mut series, mut best) = (Vec::new(), Vec::new());
        let kinds: [Kind; 2] = [
            ("fluid", |seed| fluid(1000, seed)),
            ("b as printed", |seed| as_printed(fluid(1000, seed))),
        ];
        for (kind, make) in kinds {
            let mut means = Vec::new();
            for relaxation in relaxations() {
                let (mut sum, mut within) = (0, 0);
                for seed in 1..=options.problems {
                    let outcome =
                        SolverCase::Psor(relaxation).solve_from_zero(&make(seed), ROBUSTNESS)?;
                    sum += outcome.iterations;
                    within += u64::from(outcome.iterations < ROBUSTNESS.iterations);
                }
                let mean = sum as f64 / options.problems as f64;
                means.push((relaxation, mean));
                data.push([
                    kind.into(),
                    Cell::Number(relaxation, 1),
                    Cell::Number(mean, 1),
                    Cell::Whole(within),
                ]);
            }
            best.extend(means.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)));
            series.push(Series {
                name: kind.into(),
                points: means,
            });
        }
        let instance = as_printed(fluid(1000, 1));
        let mut outcomes = Vec::new();
        for relaxation in [0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8] {
            let case = SolverCase::Psor(relaxation);
            outcomes.push((case, case.solve_from_zero(&instance, RULES)?));
        }
        let found: Vec<String> = best
            .iter()
            .map(|(relaxation, mean)| format!("{relaxation:.1} with {mean:.1} iterations"))
            .collect();
        let mean_chart = Chart {
            title: "iterations to a merit of 1e-3, mean".into(),
            x: Axis::linear("relaxation"),
            y: Axis::linear("iterations"),
            series,
        };
        Ok(Findings {
            study: Self::NAME,
            variant: (options.problems != 20).then(|| options.problems.to_string()),
            setting: vec![
                "The notes: one fluid problem of 1000 variables, where a value of about 1.4 seems to work best.".into(),
                format!(
                    "Ours, mean over {} problems to a merit of 1e-3 (100 where the limit ended it): best is {} on problems with a \
                     known solution, and {} with b as printed.",
                    options.problems, found[0], found[1]
                ),
                AS_PRINTED.into(),
            ],
            pictures: vec![
                convergence("merit", "PSOR on a fluid problem of 1000 variables, b as printed", &outcomes),
                Picture::chart("mean", &mean_chart),
            ],
            sections: vec![Section::table("Iterations", data.clone())],
            data,
        })
    }
}
