//! Convergence of every method. [Erl13 fig. 2]

use super::rules::Rules;
use super::solver_case::SolverCase;
use super::{AS_PRINTED, as_printed, contact, convergence, fluid};
use crate::options::Seed;
use crate::prelude::*;

/// The study.
pub struct Fig2;

/// Far beyond the tolerances of the notes, to show the rates.
const RULES: Rules = Rules {
    absolute: 1e-24,
    relative: 0.0,
    iterations: 100,
};

impl Study for Fig2 {
    const NAME: &'static str = "erl13-fig2";
    const SUMMARY: &'static str =
        "convergence of PGS, PSOR and the Newton methods on a fluid and a contact problem";
    type Options = Seed;

    fn run(options: &Seed) -> Result<Findings, Error> {
        let problems = [
            ("fluid", fluid(1000, options.seed), &SolverCase::NOTES[..]),
            (
                "printed",
                as_printed(fluid(1000, options.seed)),
                &SolverCase::NOTES[..],
            ),
            (
                "contact",
                contact(300, options.seed),
                &[
                    SolverCase::Fischer(SolverCase::PERTURBATION),
                    SolverCase::MinimumMap,
                    SolverCase::OurFischer,
                    SolverCase::OurNewton,
                ],
            ),
        ];
        let mut data = Table::columns("problem | method | iteration | merit");
        let mut summary = Table::columns("problem | method | iterations | ending | last merit");
        let mut pictures = Vec::new();
        for (name, instance, cases) in &problems {
            let mut outcomes = Vec::new();
            for &case in *cases {
                let outcome = case.solve_from_zero(instance, RULES)?;
                for (iteration, &merit) in outcome.merits.iter().enumerate() {
                    data.push([
                        (*name).into(),
                        case.name().into(),
                        Cell::Whole(iteration as u64),
                        Cell::Number(merit, 6),
                    ]);
                }
                let last = outcome.merits.last().copied().unwrap_or(f64::NAN);
                summary.push([
                    (*name).into(),
                    case.name().into(),
                    Cell::Whole(outcome.iterations as u64),
                    outcome.ending.word().into(),
                    format!("{last:.1e}").into(),
                ]);
                outcomes.push((case, outcome));
            }
            let rows = instance.rhs.len();
            let title = match *name {
                "printed" => format!("a fluid problem of {rows} variables, b as printed"),
                name => format!("a {name} problem of {rows} variables"),
            };
            pictures.push(convergence(name, &title, &outcomes));
        }
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![
                "The notes: a fluid problem of 1000 and a contact problem of 300 variables. PGS and PSOR converge linearly, \
                 PSOR with 1.4 the faster, the Newton methods quadratically; on the contact problem minimum map Newton gives \
                 up after a few iterations, and only Fischer-Newton works. The merit of PGS and PSOR is x'|Ax + b|, \
                 which is zero at the start and has no place on the axis there; the Newton methods have their own."
                    .into(),
                "\"Ours\" are the same two with the safeguards of this library; the others are as in the notes."
                    .into(),
            ],
            pictures,
            sections: vec![Section::new("How they end", [AS_PRINTED], summary)],
            data,
        })
    }
}
