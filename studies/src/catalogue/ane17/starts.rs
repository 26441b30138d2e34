//! Starting iterates: a few cheap steps before Newton's method. [ANE17 sec. 7]

use super::flat_scene;
use crate::prelude::*;
use crate::walls::{Averages, Choice, Rules, SolverCase, averages, mean};
use meniscus_liquid::Walls;

/// The study.
pub struct Starts;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u32).range(8..=2048))]
    size: u32,
    /// Frames of 0.01 s
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = value_parser!(u32).range(1..=1000))]
    frames: u32,
}

/// From zero, from ten sweeps or steps after zero, and from the pressure of the step before.
const STARTS: [SolverCase; 8] = [
    SolverCase::newton("zero", "newton:none:zero"),
    SolverCase::newton("PSOR", "newton:none:psor"),
    SolverCase::newton("gradient", "newton:none:gradient"),
    SolverCase::newton("step before", "newton:none:given"),
    SolverCase::newton("zero, MIC(0)", "newton:mic0:zero"),
    SolverCase::newton("PSOR, MIC(0)", "newton:mic0:psor"),
    SolverCase::newton("gradient, MIC(0)", "newton:mic0:gradient"),
    SolverCase::newton("step before, MIC(0)", "newton:mic0:given"),
];

impl Study for Starts {
    const NAME: &'static str = "ane17-start";
    const SUMMARY: &'static str =
        "starting iterates for Newton's method: PSOR, gradient steps, the step before";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let scene = flat_scene(1, options.size as usize, Walls::Separating)?;
        let choice = Choice {
            frames: options.frames,
            every: 5,
        };
        // Sweeps and steps begin at zero, as in the paper; the last step's pressure is the start of its own cases.
        let (cold, warm): (Vec<SolverCase>, Vec<SolverCase>) = STARTS
            .into_iter()
            .partition(|one| !one.label.starts_with("step"));
        let from_zero = Rules::FROM_ZERO;
        let (mut found, seen) = averages(&scene, choice, &cold, &from_zero)?;
        found.extend(averages(&scene, choice, &warm, &Rules::default())?.0);
        let data = data(&found);
        let groups = found.iter().map(|one| one.case.label.to_string());
        let bars = Bars {
            title: "CPU seconds of a solve, by start".into(),
            x_label: String::new(),
            y_label: "CPU s".into(),
            groups: groups.collect(),
            series: vec![(
                "mean".into(),
                found
                    .iter()
                    .map(|one| mean(&one.cpu).unwrap_or(f64::NAN))
                    .collect(),
            )],
        };
        Ok(Findings {
            study: Self::NAME,
            variant: (options.size != 200 || options.frames != 40)
                .then(|| format!("{}-{}-frames", options.size, options.frames)),
            setting: vec![
                format!(
                    "Scene 1 at {} cells along a side, {} of {} steps of {} frames of 0.01 s, separating walls, to a natural \
                     residual of 1e-6. PSOR and gradient: ten sweeps or projected gradient steps from zero. Newton with xi = 0.01, \
                     with and without a preconditioner. CPU seconds of one thread, set-up included.",
                    options.size, seen.looked_at, seen.steps, options.frames
                ),
                machine::sentence(load),
            ],
            pictures: vec![Picture::chart("seconds", &bars)],
            sections: paper_sections(
                [
                    "The paper has no numbers: it was not able to improve the performance or the robustness of Newton's method \
                         by either start, and its linear solver often failed.",
                ],
                data.clone(),
                &claims(&found),
                &[
                    "No solve fails for its start here where the table says that all were solved. What helps is the pressure of \
                         the step before, which the paper does not try.",
                ],
            ),
            data,
        })
    }
}

fn claims(found: &[Averages]) -> Vec<Target> {
    let of = |label: &str| {
        let one = found.iter().find(|one| one.case.label == label)?;
        mean(&one.iterations)
    };
    let target = |label: &str, bound| {
        Target::new(
            format!("start by {label}: iterations, as a multiple of those from zero"),
            bound,
            "times",
            of(label).zip(of("zero")).map(|(one, zero)| one / zero),
            2,
        )
    };
    let solved: usize = found.iter().map(|one| one.solved).sum();
    let problems: usize = found.iter().map(|one| one.problems).sum();
    vec![
        target("PSOR", Bound::AtLeast(0.9)),
        target("gradient", Bound::AtLeast(0.9)),
        target("step before", Bound::AtMost(0.9)),
        Target::new(
            "solves that fail, from any start",
            Bound::AtMost(0.0),
            "solves",
            Some((problems - solved) as f64),
            0,
        ),
    ]
}

fn data(found: &[Averages]) -> Table {
    let mut table =
        Table::columns("start | problems | solved | Newton iterations | inner and search | CPU s");
    for one in found {
        table.push([
            one.case.label.into(),
            Cell::Whole(one.problems as u64),
            Cell::Whole(one.solved as u64),
            Cell::maybe(mean(&one.outer), 2),
            Cell::maybe(mean(&one.iterations), 1),
            Cell::maybe(mean(&one.cpu), 4),
        ]);
    }
    table
}
