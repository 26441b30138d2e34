//! Krylov methods and preconditioners: alone with slip walls, and inside Newton. [ANE17 fig. 12, fig. 13]

use super::flat_scene;
use super::krylov_case::{Krylov, KrylovCase, Pre};
use crate::prelude::*;
use crate::walls::{Outcome, Sample, first_of_frame, thinned};
use meniscus_liquid::Walls;

/// With slip walls.
pub struct Fig12;

/// Inside Newton, with separating walls.
pub struct Fig13;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u32).range(8..=2048))]
    size: u32,
    /// The frame, of 0.01 s, whose first step is solved
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u32).range(1..=1000))]
    frame: u32,
}

impl Options {
    fn variant(&self) -> Option<String> {
        (self.size != 200 || self.frame != 30)
            .then(|| format!("{}-frame-{}", self.size, self.frame))
    }

    fn sample(&self, walls: Walls) -> Result<Sample<2>, Error> {
        first_of_frame(&flat_scene(1, self.size as usize, walls)?, self.frame)
    }
}

/// The combinations of the three plots: all methods alone, one with all preconditioners, all methods with one.
const PLOTS: [(&str, &str); 3] = [
    ("methods", "Krylov methods, no preconditioner"),
    ("preconditioners", "CG, every preconditioner"),
    ("both", "Krylov methods, static scaled Bridson"),
];

fn combinations(plot: usize) -> Vec<(Krylov, Pre)> {
    match plot {
        0 => Krylov::ALL.map(|method| (method, Pre::Identity)).to_vec(),
        1 => Pre::ALL.map(|pre| (Krylov::Cg, pre)).to_vec(),
        _ => Krylov::ALL
            .map(|method| (method, Pre::StaticScaledBridson))
            .to_vec(),
    }
}

/// A combination and how it went.
struct Solve {
    plot: usize,
    krylov: Krylov,
    pre: Pre,
    outcome: Outcome,
}

impl Solve {
    fn name(&self) -> String {
        match self.plot {
            0 | 2 => self.krylov.name().into(),
            _ => self.pre.name().into(),
        }
    }
}

fn all(sample: &Sample<2>, case: KrylovCase) -> Result<Vec<Solve>, Error> {
    let mut solves = Vec::new();
    for plot in 0..PLOTS.len() {
        for (krylov, pre) in combinations(plot) {
            let outcome = KrylovCase {
                krylov,
                pre,
                ..case
            }
            .run(sample)?;
            solves.push(Solve {
                plot,
                krylov,
                pre,
                outcome,
            });
        }
    }
    Ok(solves)
}

/// Iterations of conjugate gradients with a preconditioner, if they led to a solution.
fn inner(solves: &[Solve], pre: Pre) -> Option<f64> {
    let same = |solve: &&Solve| solve.krylov == Krylov::Cg && solve.pre == pre;
    let found = solves.iter().find(same)?;
    found.outcome.solved().then_some(found.outcome.inner as f64)
}

impl Study for Fig12 {
    const NAME: &'static str = "ane17-fig12";
    const SUMMARY: &'static str =
        "Krylov methods and preconditioners on the linear problem of slip walls";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let sample = options.sample(Walls::Slip)?;
        let solves = all(&sample, KrylovCase::PCG)?;
        let pictures = pictures(
            &solves,
            "iteration",
            "residual, as a part of the first",
            &|outcome| {
                let norms = outcome.inner_points.iter();
                let first = outcome.inner_points.first().map_or(1.0, |at| at.norm);
                norms
                    .map(|at| (at.iteration as f64, at.norm / first))
                    .collect()
            },
        );
        let share = |pre| Some(inner(&solves, pre)? / inner(&solves, Pre::Identity)?);
        let target = |what: String, most, measured| {
            Target::new(what, Bound::AtMost(most), "times", measured, 2)
        };
        let targets = [
            target(
                "iterations of CG with static scaled Bridson, as a part of those without (paper: about 0.3)".into(),
                0.6,
                share(Pre::StaticScaledBridson),
            ),
            target(
                "the same with MIC(0)".into(),
                0.3,
                share(Pre::Mic0),
            ),
        ];
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![setting(options, &sample, "slip"), machine::sentence(load)],
            pictures,
            sections: sections(
                &solves,
                &targets,
                "The paper finds that CG offers the best tradeoff, and that static scaled Bridson brings its iterations from about \
                 125 to 40.",
            ),
            data: data(&solves),
        })
    }
}

impl Study for Fig13 {
    const NAME: &'static str = "ane17-fig13";
    const SUMMARY: &'static str = "Krylov methods and preconditioners inside Newton's method";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let sample = options.sample(Walls::Separating)?;
        let solves = all(&sample, KrylovCase::NEWTON)?;
        let pictures = pictures(&solves, "Newton iteration", "merit", &|outcome| {
            let points = outcome.outer_points.iter();
            points.map(|at| (at.iteration as f64, at.merit)).collect()
        });
        let solved = solves.iter().filter(|solve| solve.outcome.solved()).count();
        let share = |pre| Some(inner(&solves, pre)? / inner(&solves, Pre::Identity)?);
        let targets = [
            Target::new(
                "combinations that solve the problem (the paper's preconditioned solves fail at times)",
                Bound::AtLeast(solves.len() as f64),
                "solves",
                Some(solved as f64),
                0,
            ),
            Target::new(
                "inner iterations of Newton with MIC(0), as a part of those without a preconditioner",
                Bound::AtMost(1.0),
                "times",
                share(Pre::Mic0),
                2,
            ),
        ];
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![
                setting(options, &sample, "separating"),
                machine::sentence(load),
            ],
            pictures,
            sections: sections(
                &solves,
                &targets,
                "The paper finds CG and GMRES without a preconditioner best: its preconditioners are made for all rows, and reused \
                 for those that are active.",
            ),
            data: data(&solves),
        })
    }
}

fn setting(options: &Options, sample: &Sample<2>, walls: &str) -> String {
    format!(
        "Scene 1 at {} cells along a side with {walls} walls, the first step towards frame {} ({} unknowns), from zero, to a \
         natural residual of 1e-6. GMRES starts anew after 50 directions. CPU seconds of one thread, set-up included.",
        options.size,
        options.frame,
        crate::table::in_thousands(sample.rows() as u64)
    )
}

type Points = dyn Fn(&Outcome) -> Vec<(f64, f64)>;

fn pictures(solves: &[Solve], x: &str, y: &str, points: &Points) -> Vec<Picture> {
    let picture = |(plot, (name, title)): (usize, &(&'static str, &str))| {
        let shown = solves.iter().filter(|solve| solve.plot == plot);
        let series = shown.map(|solve| Series {
            name: solve.name(),
            points: thinned(points(&solve.outcome)),
        });
        let chart = Chart {
            title: (*title).into(),
            x: Axis::linear(x),
            y: Axis::logarithmic(y),
            series: series.collect(),
        };
        Picture::chart(name, &chart)
    };
    PLOTS.iter().enumerate().map(picture).collect()
}

fn sections(solves: &[Solve], targets: &[Target], paper: &str) -> Vec<Section> {
    paper_sections(
        [paper],
        data(solves),
        targets,
        &[
            "The Bridson kinds are approximate inverses as in the paper's library, with our dropping rules; SSOR, IC(0) and \
                 MIC(0) are ours to add. Ours follow the active rows where they can: incomplete factors do, approximate inverses \
                 are masked as in the paper.",
        ],
    )
}

fn data(solves: &[Solve]) -> Table {
    let mut table = Table::columns(
        "plot | method | preconditioner | status | outer | inner | CPU s | residual",
    );
    for solve in solves {
        let outcome = &solve.outcome;
        table.push([
            PLOTS[solve.plot].0.into(),
            solve.krylov.name().into(),
            solve.pre.name().into(),
            outcome.status.word().into(),
            Cell::Whole(outcome.outer as u64),
            Cell::Whole(outcome.inner as u64),
            Cell::Number(outcome.cpu, 4),
            format!("{:.1e}", outcome.residual).into(),
        ]);
    }
    table
}
