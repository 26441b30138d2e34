//! How exactly Newton's linear systems have to be solved. [ANE17 fig. 16, fig. 17]

use super::krylov_case::KrylovCase;
use super::{Curves, flat_scene};
use crate::options::hyphenated;
use crate::prelude::*;
use crate::walls::{Choice, Outcome, Quartiles, mean, thinned, visit};
use meniscus_liquid::Walls;

/// Six values, several resolutions.
pub struct Fig16;

/// More values at 400 cells.
pub struct Fig17;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options16 {
    /// Cells along a side, separated by commas
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = USUAL, value_parser = value_parser!(u32).range(8..=2048))]
    sizes: Vec<u32>,
    /// Frames of 0.01 s
    #[arg(long, value_name = "N", default_value_t = FRAMES, value_parser = value_parser!(u32).range(1..=500))]
    frames: u32,
}

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options17 {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = value_parser!(u32).range(8..=2048))]
    size: u32,
    /// Frames of 0.01 s
    #[arg(long, value_name = "N", default_value_t = FRAMES, value_parser = value_parser!(u32).range(1..=500))]
    frames: u32,
}

const USUAL: [u32; 4] = [50, 100, 200, 400];
const FRAMES: u32 = 5;
const PRINTED: [f64; 6] = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5];
const CLOSER: [f64; 11] = [
    1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 0.5,
];
/// Names of the pictures, by the place of the size.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The solves with one value at one size.
struct With {
    size: u32,
    xi: f64,
    solves: Vec<Outcome>,
}

impl With {
    fn mean(&self, of: impl Fn(&Outcome) -> f64) -> Option<f64> {
        mean(&self.solves.iter().map(of).collect::<Vec<_>>())
    }
}

impl Study for Fig16 {
    const NAME: &'static str = "ane17-fig16";
    const SUMMARY: &'static str = "convergence of Newton against xi, several resolutions";
    type Options = Options16;

    fn run(options: &Options16) -> Result<Findings, Error> {
        let usual = options.sizes == USUAL && options.frames == FRAMES;
        let variant =
            (!usual).then(|| format!("{}-{}-frames", hyphenated(&options.sizes), options.frames));
        findings(
            Self::NAME,
            variant,
            &options.sizes,
            &PRINTED,
            options.frames,
        )
    }
}

impl Study for Fig17 {
    const NAME: &'static str = "ane17-fig17";
    const SUMMARY: &'static str = "convergence of Newton against xi at 400 cells, more values";
    type Options = Options17;

    fn run(options: &Options17) -> Result<Findings, Error> {
        let usual = options.size == 400 && options.frames == FRAMES;
        let variant = (!usual).then(|| format!("{}-{}-frames", options.size, options.frames));
        findings(
            Self::NAME,
            variant,
            &[options.size],
            &CLOSER,
            options.frames,
        )
    }
}

fn findings(
    study: &'static str,
    variant: Option<String>,
    sizes: &[u32],
    values: &[f64],
    frames: u32,
) -> Result<Findings, Error> {
    let load = machine::load();
    let mut found = Vec::new();
    for &size in sizes {
        let scene = flat_scene(2, size as usize, Walls::Separating)?;
        let mut at_size: Vec<With> = values
            .iter()
            .map(|&xi| With {
                size,
                xi,
                solves: Vec::new(),
            })
            .collect();
        visit(&scene, Choice { frames, every: 1 }, &mut |sample| {
            for with in &mut at_size {
                let case = KrylovCase {
                    forcing: with.xi,
                    ..KrylovCase::NEWTON
                };
                with.solves.push(case.run(sample)?);
            }
            Ok(())
        })?;
        found.extend(at_size);
    }
    let pictures = sizes.iter().zip(NAMES).map(|(&size, name)| {
        let of_size = found.iter().filter(|with| with.size == size);
        picture(name, size, &of_size.collect::<Vec<_>>())
    });
    let mut targets = Vec::new();
    for &size in sizes {
        let newton = found
            .iter()
            .filter(|with| with.size == size)
            .filter_map(|with| with.mean(|outcome| outcome.outer as f64));
        let quartiles = Quartiles::of(newton);
        targets.push(Target::new(
            format!("{size} cells: most Newton iterations of any xi against fewest"),
            Bound::AtMost(1.5),
            "times",
            quartiles.map(|q| q.most / q.least),
            2,
        ));
    }
    let data = data(&found);
    Ok(Findings {
        study,
        variant,
        setting: vec![
            format!(
                "Scene 2, separating walls, all steps of the first {frames} frames of 0.01 s, from zero, to a natural residual of \
                 1e-6; conjugate gradients without a preconditioner. The paper looks at the first 0.01 s. CPU seconds of one \
                 thread, set-up included."
            ),
            machine::sentence(load),
        ],
        pictures: pictures.collect(),
        sections: paper_sections(
            [
                "The paper's curves are not printed as numbers; its text says that xi hardly matters, and that smaller ones are \
                     slightly better at 400 cells. Means over the problems.",
            ],
            data.clone(),
            &targets,
            &[
                "Newton iterations are cheap or dear with xi: the column of inner iterations is what a solve costs. Ours \
                     tightens xi where an inexact direction does not lower the merit, so that a large one does not end a solve.",
            ],
        ),
        data,
    })
}

/// The median merit after each iteration, for every value.
fn picture(name: &'static str, size: u32, with: &[&With]) -> Picture {
    let series = with.iter().map(|with| {
        let quartiles = Curves::of_merits(&with.solves).quartiles();
        let medians = quartiles
            .into_iter()
            .map(|(at, _, q)| (at as f64, q.median));
        Series {
            name: format!("xi = {}", with.xi),
            points: thinned(medians.collect()),
        }
    });
    let chart = Chart {
        title: format!("median merit, {size} cells"),
        x: Axis::linear("Newton iteration"),
        y: Axis::logarithmic("merit"),
        series: series.collect(),
    };
    Picture::chart(name, &chart)
}

fn data(found: &[With]) -> Table {
    let mut table = Table::columns(
        "size | xi | problems | solved | Newton iterations | inner iterations | CPU s",
    );
    for with in found {
        let solved = with
            .solves
            .iter()
            .filter(|outcome| outcome.solved())
            .count();
        table.push([
            Cell::Whole(with.size.into()),
            Cell::Number(with.xi, 5),
            Cell::Whole(with.solves.len() as u64),
            Cell::Whole(solved as u64),
            Cell::maybe(with.mean(|outcome| outcome.outer as f64), 2),
            Cell::maybe(with.mean(|outcome| outcome.inner as f64), 1),
            Cell::maybe(with.mean(|outcome| outcome.cpu), 4),
        ]);
    }
    table
}
