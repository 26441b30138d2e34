//! Convergence against resolution. [ANE17 fig. 14]

use super::krylov_case::KrylovCase;
use super::{Curves, flat_scene};
use crate::options::hyphenated;
use crate::prelude::*;
use crate::walls::{Outcome, first_of_frame, thinned};
use meniscus_liquid::Walls;

/// The study.
pub struct Fig14;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side, separated by commas
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = USUAL, value_parser = value_parser!(u32).range(8..=2048))]
    sizes: Vec<u32>,
    /// The frame, of 0.01 s, whose first step is solved
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=1000))]
    frame: u32,
}

const USUAL: [u32; 4] = [50, 100, 200, 400];
/// Beyond what a run asks for, to see whether accuracy is lost.
const TO_THE_END: f64 = 1e-9;

struct AtSize {
    size: u32,
    rows: usize,
    pcg: Outcome,
    newton: Outcome,
}

impl Study for Fig14 {
    const NAME: &'static str = "ane17-fig14";
    const SUMMARY: &'static str = "convergence of PCG and of Newton against resolution";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut found = Vec::new();
        for &size in &options.sizes {
            let scene = flat_scene(1, size as usize, Walls::Separating)?;
            let sample = first_of_frame(&scene, options.frame)?;
            let to_the_end = |case: KrylovCase| KrylovCase {
                tolerance: TO_THE_END,
                ..case
            };
            found.push(AtSize {
                size,
                rows: sample.rows(),
                pcg: to_the_end(KrylovCase::PCG).run(&sample)?,
                newton: to_the_end(KrylovCase::NEWTON).run(&sample)?,
            });
        }
        let data = data(&found);
        Ok(Findings {
            study: Self::NAME,
            variant: (options.sizes != USUAL || options.frame != 10)
                .then(|| format!("{}-frame-{}", hyphenated(&options.sizes), options.frame)),
            setting: vec![
                format!(
                    "Scene 1, the first step towards frame {} (of 0.01 s) of a run with separating walls, from zero, to a natural \
                     residual of {TO_THE_END:e}. PCG: the problem without bounds, MIC(0). Newton: xi = 0.01, conjugate gradients \
                     without a preconditioner. CPU seconds of one thread, set-up included.",
                    options.frame
                ),
                machine::sentence(load),
            ],
            pictures: vec![
                picture(
                    "pcg",
                    "PCG against resolution",
                    "iteration",
                    &found,
                    &|at| Curves::of_norms(std::slice::from_ref(&at.pcg)),
                ),
                picture(
                    "newton",
                    "Newton against resolution",
                    "Newton iteration",
                    &found,
                    &|at| Curves::of_merits(std::slice::from_ref(&at.newton)),
                ),
            ],
            sections: paper_sections(
                [
                    "The paper's curves are not printed as numbers; its text says that PCG takes about twice as many iterations \
                         for twice the resolution, that Newton takes 3 to 6, and that what Newton reaches goes from the order of \
                         1e-6 to 1e-3.",
                ],
                data.clone(),
                &claims(&found),
                &[
                    "Newton's accuracy does not depend on the resolution here, where the table says that it converged: the \
                         paper limits its conjugate gradients to 1000 iterations for a system and 10 Newton steps, ours are solved \
                         to the part of the residual that was asked for.",
                ],
            ),
            data,
        })
    }
}

fn picture(
    name: &'static str,
    title: &str,
    x: &str,
    found: &[AtSize],
    curves: &dyn Fn(&AtSize) -> Curves,
) -> Picture {
    let series = found.iter().map(|at| {
        let curve = curves(at).curves.pop().unwrap_or_default();
        let points = curve.into_iter().enumerate();
        Series {
            name: format!("{} cells", at.size),
            points: thinned(points.map(|(at, value)| (at as f64, value)).collect()),
        }
    });
    let y = if name == "pcg" {
        "residual, as a part of the first"
    } else {
        "merit"
    };
    let chart = Chart {
        title: title.into(),
        x: Axis::linear(x),
        y: Axis::logarithmic(y),
        series: series.collect(),
    };
    Picture::chart(name, &chart)
}

fn claims(found: &[AtSize]) -> Vec<Target> {
    let growth = |(one, next): (&AtSize, &AtSize)| {
        let doublings = (f64::from(next.size) / f64::from(one.size)).log2();
        (next.pcg.inner as f64 / one.pcg.inner as f64).powf(1.0 / doublings)
    };
    let ends = found.first().zip(found.last());
    let most = found
        .iter()
        .map(|at| at.newton.outer as f64)
        .reduce(f64::max);
    let unsolved = found.iter().filter(|at| !at.newton.solved()).count();
    vec![
        Target::new(
            "factor of PCG's iterations for twice the resolution (paper: about 2)",
            Bound::AtMost(2.0),
            "times",
            ends.map(growth).filter(|factor| factor.is_finite()),
            2,
        ),
        Target::new(
            "Newton iterations, at most (paper: 6)",
            Bound::AtMost(6.0),
            "iterations",
            most,
            0,
        ),
        Target::new(
            "resolutions at which Newton misses the tolerance",
            Bound::AtMost(0.0),
            "resolutions",
            Some(unsolved as f64),
            0,
        ),
    ]
}

fn data(found: &[AtSize]) -> Table {
    let mut table =
        Table::columns("size | unknowns | method | status | outer | inner | residual | CPU s");
    for at in found {
        for (name, outcome) in [("PCG", &at.pcg), ("Newton", &at.newton)] {
            table.push([
                Cell::Whole(at.size.into()),
                Cell::Whole(at.rows as u64),
                name.into(),
                outcome.status.word().into(),
                Cell::Whole(outcome.outer as u64),
                Cell::Whole(outcome.inner as u64),
                format!("{:.1e}", outcome.residual).into(),
                Cell::Number(outcome.cpu, 4),
            ]);
        }
    }
    table
}
