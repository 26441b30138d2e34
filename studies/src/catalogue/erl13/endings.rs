//! How 100 problems of each kind end. [Erl13 table 1]

use super::rules::{Ending, ROBUSTNESS};
use super::solver_case::SolverCase;
use super::{AS_PRINTED, as_printed, contact, fluid};
use crate::options::Problems;
use crate::prelude::*;
use meniscus_lcp::gallery::Instance;

/// The study.
pub struct Table1;

/// Problems, solvers, and the counts of the notes: relative, absolute and non-descent endings.
type Kind = (
    &'static str,
    fn(u64) -> Instance,
    &'static [(SolverCase, [Option<u64>; 3])],
);

/// The notes' figures for fluid problems.
const FLUID: &[(SolverCase, [Option<u64>; 3])] = &[
    (SolverCase::NOTES[0], [Some(0), Some(100), None]),
    (SolverCase::NOTES[1], [Some(0), Some(100), None]),
    (SolverCase::NOTES[2], [Some(0), Some(100), None]),
    (SolverCase::NOTES[3], [Some(0), Some(100), None]),
];

const KINDS: [Kind; 3] = [
    ("fluid", |seed| fluid(1000, seed), FLUID),
    ("printed", |seed| as_printed(fluid(1000, seed)), FLUID),
    (
        "contact",
        |seed| contact(180, seed),
        &[
            (SolverCase::NOTES[0], [None, Some(100), Some(0)]),
            (SolverCase::NOTES[1], [None, Some(0), Some(100)]),
            (SolverCase::OurFischer, [None, None, None]),
            (SolverCase::OurNewton, [None, None, None]),
        ],
    ),
];

impl Study for Table1 {
    const NAME: &'static str = "erl13-table1";
    const SUMMARY: &'static str = "how 100 fluid and 100 contact problems end, by method";
    type Options = Problems;

    fn run(options: &Problems) -> Result<Findings, Error> {
        let mut headings = vec!["problems", "method"];
        headings.extend(Ending::ALL.map(Ending::word));
        headings.extend(["notes: relative", "notes: absolute", "notes: non-descent"]);
        headings.push("largest residual");
        let mut data = Table::new(headings);
        let mut pictures = Vec::new();
        for (kind, make, cases) in KINDS {
            let mut counts = Vec::new();
            for (case, notes) in cases {
                let mut ended = [0_u64; Ending::ALL.len()];
                let mut worst = 0.0_f64;
                for seed in 1..=options.problems {
                    let outcome = case.solve_from_zero(&make(seed), ROBUSTNESS)?;
                    let at = Ending::ALL.iter().position(|&e| e == outcome.ending);
                    ended[at.unwrap_or(Ending::ALL.len() - 1)] += 1;
                    worst = worst.max(outcome.residual);
                }
                let mut row = vec![Cell::from(kind), case.name().into()];
                row.extend(ended.map(Cell::Whole));
                row.extend(notes.map(|count| count.map_or(Cell::Missing, Cell::Whole)));
                row.push(format!("{worst:.1e}").into());
                data.push(row);
                counts.push(ended);
            }
            let bars = Bars {
                title: format!("how {} {kind} problems end", options.problems),
                x_label: "method".into(),
                y_label: "problems".into(),
                groups: cases.iter().map(|(c, _)| c.name()).collect(),
                series: (0..Ending::ALL.len())
                    .filter(|&e| counts.iter().any(|ended| ended[e] > 0))
                    .map(|e| {
                        let heights = counts.iter().map(|ended| ended[e] as f64).collect();
                        (Ending::ALL[e].word().into(), heights)
                    })
                    .collect(),
            };
            pictures.push(Picture::chart(kind, &bars));
        }
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![
                "Fluid problems (\"printed\": with b as printed) have 1000 variables, contact problems 180. A relative tolerance of 1e-6, an absolute \
                 tolerance of 1e-3 on the merit, at most 100 iterations; the merit of PGS and PSOR is x'|Ax + b|, the Newton \
                 methods have their own. \"Ours\" are the Newton methods with the safeguards of this library; the others are \
                 as in the notes."
                    .into(),
            ],
            pictures,
            sections: vec![Section::new("Endings", [AS_PRINTED, "The notes' figures stand at the right. A merit of 1e-3 is not much: the largest natural residual that \
                     any of the problems was left with is in the last column."], data.clone())],
            data,
        })
    }
}
