//! How many problems need how many outer iterations. [Lai20 fig. 5.5]

use super::{OTHER_METHODS, OTHER_PROBLEMS};
use crate::prelude::*;
use crate::walls::{self, Averages, Choice, Rules, SolverCase, mean};
use meniscus_liquid::Walls;
use meniscus_scene::AnyScene;

/// The study.
pub struct Fig5x5;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = USUAL, value_parser = value_parser!(u32).range(8..=512))]
    size: u32,
    /// Frames to simulate
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = value_parser!(u32).range(1..=1000))]
    frames: u32,
    /// Every how many steps a problem is taken
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u16).range(1..=1000))]
    every: u16,
}

const USUAL: u32 = 48;
/// As this program solves them, and with exact systems as in the paper.
const SHOWN: [&str; 8] = [
    "PI-PCG",
    "PI-MG",
    "PE-PCG",
    "PE-MG",
    "PI-PCG, exact",
    "PI-MG, exact",
    "PE-PCG, exact",
    "PE-MG, exact",
];

impl Study for Fig5x5 {
    const NAME: &'static str = "lai20-fig5.5";
    const SUMMARY: &'static str =
        "histogram of outer iterations of policy and penalty iteration in the sphere";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let choice = Choice {
            frames: options.frames,
            every: options.every.into(),
        };
        let cases = SolverCase::all_of(&SHOWN);
        let rules = Rules::default();
        let size = options.size as usize;
        let (found, seen) = match walls::scene("sphere", size, Walls::Separating)? {
            AnyScene::Three(scene) => walls::averages(&scene, choice, &cases, &rules)?,
            AnyScene::Two(scene) => walls::averages(&scene, choice, &cases, &rules)?,
        };
        let most = found
            .iter()
            .flat_map(|one| &one.outer)
            .fold(0.0, |most: f64, &count| most.max(count)) as usize;
        let count = |one: &Averages, outer: usize| {
            let same = |&&value: &&f64| value == outer as f64;
            one.outer.iter().filter(same).count()
        };
        let headings = ["outer iterations"].into_iter().chain(SHOWN);
        let mut data = Table::new(headings);
        for outer in 0..=most {
            let row = found
                .iter()
                .map(|one| Cell::Whole(count(one, outer) as u64));
            data.push([Cell::Whole(outer as u64)].into_iter().chain(row));
        }
        let bars = Bars {
            title: format!("problems by outer iterations, sphere, {size} cells"),
            x_label: "outer iterations".into(),
            y_label: "problems".into(),
            groups: (0..=most).map(|outer| outer.to_string()).collect(),
            series: found
                .iter()
                .map(|one| {
                    let heights = (0..=most).map(|outer| count(one, outer) as f64);
                    (one.case.label.into(), heights.collect())
                })
                .collect(),
        };
        Ok(Findings {
            study: Self::NAME,
            variant: (options.size != USUAL || options.frames != 24)
                .then(|| format!("{}-{}-frames", options.size, options.frames)),
            setting: vec![
                format!(
                    "The paper: all steps of 100 frames at 128 cells. Here: {} of {} steps of {} frames of 1/24 s at {size} \
                     cells, separating walls, from the pressure of the step before, to a natural residual of 1e-6.",
                    seen.looked_at, seen.steps, options.frames
                ),
                machine::sentence(load),
            ],
            pictures: vec![Picture::chart("outer", &bars)],
            sections: paper_sections(
                [
                    "The paper's bars are not printed as numbers; its text says that policy iteration does slightly better \
                         than the penalty method on average, and that 93 per cent of the problems are true complementarity \
                         problems.",
                ],
                data.clone(),
                &claims(&found),
                &[OTHER_PROBLEMS, OTHER_METHODS],
            ),
            data,
        })
    }
}

fn claims(found: &[Averages]) -> Vec<Target> {
    let of = |label: &str| {
        let one = found.iter().find(|one| one.case.label == label)?;
        mean(&one.outer)
    };
    let target = |what: &str, bound, unit, measured| Target::new(what, bound, unit, measured, 2);
    let ratio = |above: &str, below: &str| Some(of(above)? / of(below)?);
    vec![
        target(
            "PE-PCG, exact: mean outer iterations, as a multiple of PI-PCG's",
            Bound::AtLeast(1.0),
            "times",
            ratio("PE-PCG, exact", "PI-PCG, exact"),
        ),
        target(
            "PE-MG, exact: mean outer iterations, as a multiple of PI-MG's",
            Bound::AtLeast(1.0),
            "times",
            ratio("PE-MG, exact", "PI-MG, exact"),
        ),
        target(
            "PI-PCG, exact: mean outer iterations",
            Bound::AtMost(3.0),
            "outer iterations",
            of("PI-PCG, exact"),
        ),
    ]
}
