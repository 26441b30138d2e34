//! How residuals fall on one problem of each scenario. [Lai20 fig. 5.10]

use super::scenario::{SCENARIOS, solve_all};
use super::{COUNTED, OTHER_METHODS, OTHER_PROBLEMS, OTHER_START, OURS};
use crate::prelude::*;
use crate::walls::{Outcome, Rules, SolverCase, thinned};

/// The study.
pub struct Fig5x10;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = USUAL, value_parser = value_parser!(u32).range(8..=512))]
    size: u32,
}

const USUAL: u32 = 64;
/// Solvers that the figure shows.
const SHOWN: [&str; 4] = ["FAS-MG", "PI-MG", "PE-MG", "FMG"];
/// The others.
const OTHERS: [&str; 3] = ["PI-PCG", "PE-PCG", "Newton"];
/// Names of the pictures: the multigrid methods, then all.
const NAMES: [[&str; 2]; 3] = [
    ["scenario-1", "scenario-1-all"],
    ["scenario-2", "scenario-2-all"],
    ["scenario-3", "scenario-3-all"],
];
/// Last cycle in the plots of the multigrid methods: FMG takes many more.
const LAST_CYCLE: f64 = 60.0;

impl Study for Fig5x10 {
    const NAME: &'static str = "lai20-fig5.10";
    const SUMMARY: &'static str =
        "how the residual falls in one solve, every method, three scenarios";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let labels: Vec<&str> = SHOWN.iter().chain(OURS).chain(&OTHERS).copied().collect();
        let cases = SolverCase::all_of(&labels);
        let rules = Rules::FROM_ZERO;
        let mut data = Table::columns("scenario | solver | iteration | residual");
        let mut summary =
            Table::columns("scenario | solver | status | iterations | last residual | CPU s");
        let (mut pictures, mut targets) = (Vec::new(), Vec::new());
        for (index, scenario) in SCENARIOS.into_iter().enumerate() {
            let sample = scenario.sample(options.size)?;
            let outcomes = solve_all(&sample, &cases, &rules)?;
            let mut lines = Vec::new();
            for (case, outcome) in cases.iter().zip(&outcomes) {
                let curve = thinned(curve(*case, outcome));
                for &(iteration, residual) in &curve {
                    data.push([
                        Cell::Whole(index as u64 + 1),
                        case.label.into(),
                        Cell::Number(iteration, 0),
                        Cell::Number(residual, 12),
                    ]);
                }
                summary.push([
                    Cell::Whole(index as u64 + 1),
                    case.label.into(),
                    outcome.status.word().into(),
                    Cell::Whole(case.iterations(outcome) as u64),
                    format!("{:.1e}", outcome.residual).into(),
                    Cell::Number(outcome.cpu, 3),
                ]);
                lines.push((*case, curve));
            }
            let title = format!("`{}`, frame {}", scenario.scene, scenario.frame).replace('`', "");
            pictures.push(multigrid_picture(NAMES[index][0], &title, &lines));
            pictures.push(picture_of_all(NAMES[index][1], &title, &lines));
            targets.extend(claims(index + 1, &cases, &outcomes));
        }
        Ok(Findings {
            study: Self::NAME,
            variant: (options.size != USUAL).then(|| options.size.to_string()),
            setting: vec![
                format!(
                    "The paper shows the multigrid methods at 256 cells. Here: {} cells, from zero, to a natural residual of \
                     1e-6, at the first step towards frames 10, 70 and 10 of scenarios 1, 2 and 3. Inside an outer iteration \
                     the residual is that of its linear system. CPU seconds of one thread, set-up included.",
                    options.size
                ),
                machine::sentence(load),
            ],
            pictures,
            sections: paper_sections(
                [COUNTED],
                summary,
                &targets,
                &[OTHER_PROBLEMS, OTHER_START, OTHER_METHODS],
            ),
            data,
        })
    }
}

/// Residuals over iterations as the tables count them.
fn curve(case: SolverCase, outcome: &Outcome) -> Vec<(f64, f64)> {
    let outer = outcome.outer_points.iter().map(|at| {
        let count = case.count(at.iteration, at.inner_iterations);
        (count as f64, at.residual)
    });
    if case.counts_cycles() {
        return outer.collect();
    }
    // Newton's searches are counted with the step they belong to, which is not known inside.
    let inner = outcome.inner_points.iter();
    let mut points: Vec<(f64, f64)> = inner
        .map(|at| (at.iteration as f64, at.largest))
        .chain(outer)
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

type Lines = [(SolverCase, Vec<(f64, f64)>)];

fn series((case, points): &(SolverCase, Vec<(f64, f64)>)) -> Series {
    Series {
        name: case.label.into(),
        points: points.clone(),
    }
}

fn multigrid_picture(name: &'static str, title: &str, lines: &Lines) -> Picture {
    let shown = lines
        .iter()
        .filter(|(one, _)| SHOWN.contains(&one.label) || one.label == "TN-MG");
    let mut series: Vec<Series> = shown.map(series).collect();
    for one in &mut series {
        one.points.retain(|point| point.0 <= LAST_CYCLE);
    }
    let chart = Chart {
        title: format!("{title}: multigrid methods"),
        x: Axis::linear("iteration"),
        y: Axis::logarithmic("largest residual, 1/s"),
        series,
    };
    Picture::chart(name, &chart)
}

fn picture_of_all(name: &'static str, title: &str, lines: &Lines) -> Picture {
    let chart = Chart {
        title: format!("{title}: every method"),
        x: Axis::logarithmic("iteration"),
        y: Axis::logarithmic("largest residual, 1/s"),
        series: lines.iter().map(series).collect(),
    };
    Picture::chart(name, &chart)
}

/// FMG takes more cycles than the others, FAS-MG about ten.
fn claims(scenario: usize, cases: &[SolverCase], outcomes: &[Outcome]) -> Vec<Target> {
    let cycles = |label: &str| {
        let at = cases.iter().position(|one| one.label == label)?;
        let outcome = &outcomes[at];
        outcome
            .solved()
            .then(|| cases[at].iterations(outcome) as f64)
    };
    let target = |what: String, bound, measured| Target::new(what, bound, "cycles", measured, 0);
    vec![
        target(
            format!("scenario {scenario}: cycles of FAS-MG"),
            Bound::AtMost(15.0),
            cycles("FAS-MG"),
        ),
        target(
            format!("scenario {scenario}: cycles of FMG"),
            Bound::AtLeast(cycles("FAS-MG").unwrap_or(15.0)),
            cycles("FMG"),
        ),
        target(
            format!("scenario {scenario}: cycles of TN-MG"),
            Bound::AtMost(15.0),
            cycles("TN-MG"),
        ),
    ]
}
