//! Convergence of many solves, as quartiles. [ANE17 fig. 8, fig. 11]

use super::krylov_case::KrylovCase;
use super::space::Deep;
use super::{Curves, flat_scene};
use crate::prelude::*;
use crate::walls::{Choice, Outcome, Quartiles, Seen, visit};
use meniscus_liquid::Walls;
use meniscus_scene::Scene;

/// Newton in 3D.
pub struct Fig8;

/// PCG and Newton in 2D.
pub struct Fig11;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options8 {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = value_parser!(u32).range(8..=256))]
    size: u32,
    /// Frames of 0.01 s
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u32).range(1..=1000))]
    frames: u32,
}

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options11 {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u32).range(8..=2048))]
    size: u32,
    /// Frames of 0.01 s
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = value_parser!(u32).range(1..=1000))]
    frames: u32,
}

/// Far beyond what a run asks for, to see the rates.
const TO_THE_END: f64 = 1e-9;
/// Problems whose curves are drawn one by one.
const SUBSET: usize = 20;

/// Newton's method as far as it goes.
const NEWTON: KrylovCase = KrylovCase {
    tolerance: TO_THE_END,
    ..KrylovCase::NEWTON
};

impl Study for Fig8 {
    const NAME: &'static str = "ane17-fig8";
    const SUMMARY: &'static str = "convergence of Newton solves in 3D, one by one and as quartiles";
    type Options = Options8;

    fn run(options: &Options8) -> Result<Findings, Error> {
        let load = machine::load();
        let scene = Deep::Sphere.scene(options.size as usize, Walls::Separating);
        let choice = Choice {
            frames: options.frames,
            every: 3,
        };
        let (solves, seen) = collect(&scene, choice, &[NEWTON])?;
        let newton = Curves::of_merits(&solves[0]);
        let mut subset = newton.clone();
        subset.curves.truncate(SUBSET);
        Ok(Findings {
            study: Self::NAME,
            variant: (options.size != 60 || options.frames != 30)
                .then(|| format!("{}-{}-frames", options.size, options.frames)),
            setting: vec![
                format!(
                    "{} The paper: 100 cells along a side. Here {}, {} of {} steps of {} frames of 0.01 s, from zero, xi = 0.01, \
                     conjugate gradients without a preconditioner, to a natural residual of {TO_THE_END:e}.",
                    Deep::Sphere.words(),
                    options.size,
                    seen.looked_at,
                    seen.steps,
                    options.frames
                ),
                machine::sentence(load),
            ],
            pictures: vec![
                subset.chart("solves", "merit of some Newton solves", "Newton iteration"),
                newton.quartile_picture(
                    "quartiles",
                    "merit of Newton, quartiles",
                    "Newton iteration",
                ),
            ],
            sections: sections(&[("Newton", &newton)], orders_target(&newton)),
            data: data(&[("Newton", &newton)]),
        })
    }
}

impl Study for Fig11 {
    const NAME: &'static str = "ane17-fig11";
    const SUMMARY: &'static str =
        "distribution of convergence of PCG and of Newton at 200 cells, as quartiles";
    type Options = Options11;

    fn run(options: &Options11) -> Result<Findings, Error> {
        let load = machine::load();
        let choice = Choice {
            frames: options.frames,
            every: 5,
        };
        let scene = flat_scene(1, options.size as usize, Walls::Separating)?;
        let pcg = KrylovCase {
            tolerance: TO_THE_END,
            ..KrylovCase::PCG
        };
        let (solves, seen) = collect(&scene, choice, &[NEWTON, pcg])?;
        let newton = Curves::of_merits(&solves[0]);
        let pcg = Curves::of_norms(&solves[1]);
        let within = |tolerance: f64| {
            let needed = solves[0].iter().filter_map(|outcome| {
                let points = &outcome.outer_points;
                points.iter().position(|point| point.residual <= tolerance)
            });
            Quartiles::of(needed.map(|count| count as f64))
        };
        let needed = within(crate::walls::TOLERANCE);
        let mut targets = orders_target(&newton);
        for (what, most, measured) in [
            ("half", 4.0, needed.map(|q| q.median)),
            ("all", 6.0, needed.map(|q| q.most)),
        ] {
            targets.push(Target::new(
                format!(
                    "Newton iterations to a residual of 1e-6, {what} of the solves (paper: {most})"
                ),
                Bound::AtMost(most),
                "iterations",
                measured,
                1,
            ));
        }
        Ok(Findings {
            study: Self::NAME,
            variant: (options.size != 200 || options.frames != 60)
                .then(|| format!("{}-{}-frames", options.size, options.frames)),
            setting: vec![
                format!(
                    "Scene 1 at {} cells along a side, {} of {} steps of {} frames of 0.01 s, separating walls, from zero, to a \
                     natural residual of {TO_THE_END:e}. Newton: xi = 0.01, conjugate gradients without a preconditioner. PCG: \
                     the same problems without bounds, MIC(0).",
                    options.size, seen.looked_at, seen.steps, options.frames
                ),
                machine::sentence(load),
            ],
            pictures: vec![
                pcg.quartile_picture("pcg", "residual of PCG, quartiles", "iteration"),
                newton.quartile_picture("newton", "merit of Newton, quartiles", "Newton iteration"),
            ],
            sections: sections(&[("Newton", &newton), ("PCG", &pcg)], targets),
            data: data(&[("Newton", &newton), ("PCG", &pcg)]),
        })
    }
}

/// Solves all problems of a run with all cases.
fn collect<const D: usize>(
    scene: &Scene<D>,
    choice: Choice,
    cases: &[KrylovCase],
) -> Result<(Vec<Vec<Outcome>>, Seen), Error> {
    let mut solves: Vec<Vec<Outcome>> = cases.iter().map(|_| Vec::new()).collect();
    let seen = visit(scene, choice, &mut |sample| {
        for (case, solves) in cases.iter().zip(&mut solves) {
            solves.push(case.run(sample)?);
        }
        Ok(())
    })?;
    Ok((solves, seen))
}

/// The paper sees quadratic convergence.
fn orders_target(newton: &Curves) -> Vec<Target> {
    vec![Target::new(
        "order of Newton's convergence at its end, median (2 is quadratic)",
        Bound::AtLeast(1.5),
        "",
        Quartiles::of(newton.orders()).map(|q| q.median),
        2,
    )]
}

fn sections(methods: &[(&str, &Curves)], targets: Vec<Target>) -> Vec<Section> {
    let mut table =
        Table::columns("method | solves | least | lower quartile | median | upper quartile | most");
    for (name, curves) in methods {
        let quartiles = curves.lengths();
        let cells = quartiles.map_or(vec![Cell::Missing; 5], |quartiles| {
            let named = quartiles.named();
            named.map(|(_, value)| Cell::Number(value, 1)).to_vec()
        });
        let start = [Cell::from(*name), Cell::Whole(curves.curves.len() as u64)];
        table.push(start.into_iter().chain(cells));
    }
    paper_sections(
        [format!(
            "Iterations until a natural residual of {TO_THE_END:e}, or until a solve could go no further."
        )],
        table,
        &targets,
        &[
            "The problem is piecewise linear, so Newton's method ends as soon as it has found the right rows, and before that \
                 each iteration is as good as its linear system is solved: to a hundredth, with xi = 0.01. The order above is \
                 computed from the last three residuals of a solve. Merits are in our units: rows at walls are brought to those of \
                 the divergence by the diagonal.",
        ],
    )
}

fn data(methods: &[(&str, &Curves)]) -> Table {
    let mut table = Table::columns(
        "method | iteration | solves | least | lower quartile | median | upper quartile | \
            most",
    );
    for (name, curves) in methods {
        for (iteration, count, quartiles) in curves.quartiles() {
            let start = [
                Cell::from(*name),
                Cell::Whole(iteration as u64),
                Cell::Whole(count as u64),
            ];
            let values = quartiles.named().map(|(_, value)| Cell::Number(value, 12));
            table.push(start.into_iter().chain(values));
        }
    }
    table
}
