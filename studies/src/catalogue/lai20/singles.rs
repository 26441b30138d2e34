//! Iterations of single solves, and of variants of the FAS multigrid. [Lai20 table 9, table 10, table 11, table 12]

use super::claims;
use super::printed::{ABLATION, Printed, SINGLES};
use super::scenario::{SCENARIOS, Scenario, solve_all};
use super::side_by_side::{Here, pictures, side_by_side};
use super::{COUNTED, OTHER_METHODS, OTHER_PROBLEMS, OTHER_START, OURS, variant_of};
use crate::options::Sizes;
use crate::prelude::*;
use crate::walls::{Outcome, PATIENCE, Rules, SolverCase};

/// The study of table 9, 10 or 11.
pub struct Single<const TABLE: usize>;

/// The study of table 12.
pub struct Ablation;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    sizes: Sizes,
    /// Start from the pressure of the step before, instead of from zero
    #[arg(long)]
    warm: bool,
}

const USUAL: &[u32] = &[32, 64];

/// The variants, in the order of the table, and one of ours.
pub const VARIANTS: [SolverCase; 6] = [
    SolverCase::variant(ABLATION.columns[0], "fas-mg"),
    SolverCase::variant(ABLATION.columns[1], "fas-mg:trilinear"),
    SolverCase::variant(ABLATION.columns[2], "fas-mg:constant"),
    SolverCase::variant(ABLATION.columns[3], "fas-mg:plain"),
    SolverCase::variant(ABLATION.columns[4], "fas-mg:direct"),
    // Ours to add: sweeps over the rows at walls before each cycle, which the paper does not have.
    SolverCase::variant("no extra sweeps", "fas-mg:no-extra-sweeps"),
];

/// The solves at one size.
struct AtSize {
    size: u32,
    rows: usize,
    outcomes: Vec<(SolverCase, Outcome)>,
}

impl<const TABLE: usize> Study for Single<TABLE> {
    const NAME: &'static str = SINGLES[TABLE - 9].study;
    const SUMMARY: &'static str = SINGLES[TABLE - 9].summary;
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let printed = &SINGLES[TABLE - 9];
        let labels: Vec<&str> = printed.columns.iter().chain(OURS).copied().collect();
        let cases = SolverCase::all_of(&labels);
        findings(
            printed,
            SCENARIOS[TABLE - 9],
            &cases,
            options,
            claims::of_means,
        )
    }
}

impl Study for Ablation {
    const NAME: &'static str = ABLATION.study;
    const SUMMARY: &'static str = ABLATION.summary;
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        findings(
            &ABLATION,
            SCENARIOS[0],
            &VARIANTS,
            options,
            claims::of_variants,
        )
    }
}

type Claims = fn(&Printed, &[u32], &dyn Fn(&str, u32) -> Option<f64>) -> Vec<Target>;

fn findings(
    printed: &Printed,
    scenario: Scenario,
    cases: &[SolverCase],
    options: &Options,
    claims: Claims,
) -> Result<Findings, Error> {
    let load = machine::load();
    let sizes = options.sizes.or(USUAL);
    let rules = Rules {
        from_zero: !options.warm,
        ..Default::default()
    };
    let mut found = Vec::new();
    for &size in &sizes {
        let sample = scenario.sample(size)?;
        let outcomes = solve_all(&sample, cases, &rules)?;
        found.push(AtSize {
            size,
            rows: sample.rows(),
            outcomes: cases.iter().copied().zip(outcomes).collect(),
        });
    }
    let labels: Vec<&str> = cases.iter().map(|one| one.label).collect();
    let here = |label: &str, size: u32| {
        let at_size = found.iter().find(|at| at.size == size);
        let mut solves = at_size.into_iter().flat_map(|at| &at.outcomes);
        solves
            .find(|(case, _)| case.label == label)
            .map_or(Here::Nothing, |(case, outcome)| {
                if outcome.solved() {
                    Here::Value(case.iterations(outcome) as f64)
                } else if outcome.too_long {
                    Here::TooLong
                } else {
                    Here::Unsolved
                }
            })
    };
    let value = |label: &str, size: u32| here(label, size).value();
    let rows: Vec<String> = found
        .iter()
        .map(|at| {
            format!(
                "{} at {}",
                crate::table::in_thousands(at.rows as u64),
                at.size
            )
        })
        .collect();
    let mut words = vec![COUNTED.to_string()];
    words.push(format!(
        "A number where a solve reached the tolerance within {PATIENCE} s."
    ));
    Ok(Findings {
        study: printed.study,
        variant: variant_of(&sizes, USUAL, &[options.warm.then(|| "warm".into())]),
        setting: vec![
            format!(
                "The pressure problem of the first step towards frame {} of `{}` with separating walls, from {}, to a natural \
                 residual of 1e-6. Unknowns: {}. CPU seconds of one thread, set-up included.",
                scenario.frame,
                scenario.scene,
                if options.warm {
                    "the pressure of the step before"
                } else {
                    "zero"
                },
                rows.join(", ")
            ),
            machine::sentence(load),
        ],
        pictures: pictures(printed, &labels, &sizes, &value),
        sections: paper_sections(
            words,
            side_by_side(printed, &labels, &sizes, &here),
            &claims(printed, &sizes, &value),
            &[OTHER_PROBLEMS, OTHER_START, OTHER_METHODS],
        ),
        data: data(&found),
    })
}

fn data(found: &[AtSize]) -> Table {
    let mut table = Table::columns(
        "size | unknowns | solver | status | iterations | outer | inner | residual | cpu_s",
    );
    for at in found {
        for (case, outcome) in &at.outcomes {
            table.push([
                Cell::Whole(at.size.into()),
                Cell::Whole(at.rows as u64),
                case.label.into(),
                outcome.status.word().into(),
                Cell::Whole(case.iterations(outcome) as u64),
                Cell::Whole(outcome.outer as u64),
                Cell::Whole(outcome.inner as u64),
                Cell::Number(outcome.residual, 12),
                Cell::Number(outcome.cpu, 6),
            ]);
        }
    }
    table
}
