//! The four ways through the kink. [Erl13 fig. 3]

use super::rules::Rules;
use super::solver_case::SolverCase;
use super::{contact, fluid};
use crate::options::Seed;
use crate::prelude::*;
use meniscus_lcp::methods::fischer::Kink;

/// The study.
pub struct Fig3;

const RULES: Rules = Rules {
    absolute: 1e-24,
    relative: 0.0,
    iterations: 60,
};

const KINKS: [(&str, Kink); 4] = [
    ("random", Kink::Random { seed: 1 }),
    ("zero", Kink::Zero),
    ("perturbation", SolverCase::PERTURBATION),
    ("approximation", Kink::Approximation),
];

impl Study for Fig3 {
    const NAME: &'static str = "erl13-fig3";
    const SUMMARY: &'static str = "the four strategies of Fischer-Newton where x = y = 0";
    type Options = Seed;

    fn run(options: &Seed) -> Result<Findings, Error> {
        let mut data = Table::columns("problem | strategy | iteration | merit");
        let mut summary = Table::columns("problem | strategy | iterations | ending | least merit");
        let mut pictures = Vec::new();
        for (name, instance) in [
            ("fluid", fluid(1000, options.seed)),
            ("contact", contact(180, options.seed)),
        ] {
            let mut series = Vec::new();
            for (word, kink) in KINKS {
                let outcome = SolverCase::Fischer(kink).solve_from_zero(&instance, RULES)?;
                let least = outcome.merits.iter().copied().fold(f64::INFINITY, f64::min);
                summary.push([
                    name.into(),
                    word.into(),
                    Cell::Whole(outcome.iterations as u64),
                    outcome.ending.word().into(),
                    format!("{least:.1e}").into(),
                ]);
                for (iteration, &merit) in outcome.merits.iter().enumerate() {
                    data.push([
                        name.into(),
                        word.into(),
                        Cell::Whole(iteration as u64),
                        Cell::Number(merit, 6),
                    ]);
                }
                let points = outcome.merits.iter().enumerate();
                series.push(Series {
                    name: word.into(),
                    points: points.map(|(k, &merit)| (k as f64, merit)).collect(),
                });
            }
            let title = format!("a {name} problem of {} variables", instance.rhs.len());
            let chart = Chart {
                title: title.clone(),
                x: Axis::linear("iteration"),
                y: Axis::logarithmic("merit"),
                series,
            };
            pictures.push(Picture::chart(name, &chart));
        }
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![
                "The notes: on fluid problems all strategies are alike, on contact problems perturbation at times needs fewer \
                 iterations, and approximation, which takes finite differences for the products with the Jacobian, always \
                 ends less accurate. The start is x = 0, so that rows with b = 0 begin at the kink."
                    .into(),
            ],
            pictures,
            sections: vec![Section::table("How they end", summary)],
            data,
        })
    }
}
