//! Statistics of iterations. [Erl13 table 2]

use super::rules::{Ending, ROBUSTNESS};
use super::solver_case::SolverCase;
use super::{AS_PRINTED, as_printed, contact, fluid};
use crate::options::Problems;
use crate::prelude::*;
use meniscus_lcp::gallery::Instance;

/// The study.
pub struct Table2;

/// Mean, least, most, deviation.
type Figures = [f64; 4];

type Entry = (
    &'static str,
    fn(u64) -> Instance,
    SolverCase,
    Option<Figures>,
);

/// Values of the notes for fluid problems, in the order of [`SolverCase::NOTES`].
const FLUID: [Figures; 4] = [
    [5.0, 5.0, 5.0, 0.0],
    [4.07, 3.0, 5.0, 0.29],
    [49.38, 9.0, 83.0, 17.48],
    [25.29, 16.0, 35.0, 3.77],
];

/// And for contact problems.
const CONTACT: Figures = [14.54, 9.0, 26.0, 2.79];

/// All that is counted.
fn entries() -> Vec<Entry> {
    let contact_problem: fn(u64) -> Instance = |seed| contact(180, seed);
    let mut entries: Vec<Entry> = vec![
        (
            "contact",
            contact_problem,
            SolverCase::NOTES[0],
            Some(CONTACT),
        ),
        ("contact", contact_problem, SolverCase::OurFischer, None),
        ("contact", contact_problem, SolverCase::OurNewton, None),
    ];
    for (case, notes) in SolverCase::NOTES.into_iter().zip(FLUID) {
        entries.push(("fluid", |seed| fluid(1000, seed), case, Some(notes)));
    }
    for (case, notes) in SolverCase::NOTES.into_iter().zip(FLUID) {
        let make: fn(u64) -> Instance = |seed| as_printed(fluid(1000, seed));
        entries.push(("fluid, b as printed", make, case, Some(notes)));
    }
    entries
}

impl Study for Table2 {
    const NAME: &'static str = "erl13-table2";
    const SUMMARY: &'static str =
        "iterations to absolute convergence: mean, least, most, deviation";
    type Options = Problems;

    fn run(options: &Problems) -> Result<Findings, Error> {
        let mut data = Table::columns(
            "problems | method | converged | mean | min | max | std | notes: mean | notes: min | \
            notes: max | notes: std",
        );
        let (mut groups, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, make, case, notes) in entries() {
            let mut counts = Vec::new();
            for seed in 1..=options.problems {
                let outcome = case.solve_from_zero(&make(seed), ROBUSTNESS)?;
                if outcome.ending == Ending::Absolute {
                    counts.push(outcome.iterations as f64);
                }
            }
            let figures = figures(&counts);
            let mut row = vec![
                Cell::from(kind),
                case.name().into(),
                Cell::Whole(counts.len() as u64),
            ];
            row.extend(figures.map(|figure| Cell::Number(figure, 2)));
            row.extend((0..4).map(|k| Cell::maybe(notes.map(|n| n[k]), 2)));
            data.push(row);
            groups.push(format!("{kind}: {}", case.name()));
            ours.push(figures[0]);
            theirs.push(notes.map_or(f64::NAN, |n| n[0]));
        }
        let bars = Bars {
            title: "mean iterations to a merit of 1e-3".into(),
            x_label: String::new(),
            y_label: "iterations".into(),
            groups,
            series: vec![("here".into(), ours), ("notes".into(), theirs)],
        };
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![format!(
                "{} problems of each kind, 1000 variables a fluid problem and 180 a contact problem, to a merit below 1e-3, at \
                 most 100 iterations, from zero.",
                options.problems
            )],
            pictures: vec![Picture::chart("mean", &bars)],
            sections: vec![Section::new(
                "Iterations",
                [
                    AS_PRINTED,
                    "The program behind the notes begins to count at one, so its figures are one more than the steps it made; \
                     ours are steps. Its contact matrices are random where ours have the structure of equation (27).",
                ],
                data.clone(),
            )],
            data,
        })
    }
}

fn figures(counts: &[f64]) -> Figures {
    if counts.is_empty() {
        return [f64::NAN; 4];
    }
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0).max(1.0)).sqrt();
    let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = counts.iter().copied().fold(0.0, f64::max);
    [mean, least, most, deviation]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_known_numbers() {
        assert_eq!(figures(&[1.0, 2.0, 3.0]), [2.0, 1.0, 3.0, 1.0]);
        assert!(figures(&[])[0].is_nan());
    }
}
