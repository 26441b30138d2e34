//! Cost of a step and of a simulated second by number of particles and method.

use super::runs::{Limits, Steps, advance, per_step, percent, scene};
use crate::prelude::*;
use crate::walls::pool_of;
use meniscus_app::runner::Simulation;
use meniscus_projective::Method;

/// Particles of the targets, and the bounds.
const NAMED: u32 = 100_000;
const MOST_SECONDS: f64 = 0.15;
const MOST_ERROR: f64 = 1e-3;
const LEAST_SPEED_UP: f64 = 1.6;

/// The study.
pub struct Speed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Numbers of particles
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [25_000, 100_000, 200_000, 1_900_000])]
    particles: Vec<u32>,
    /// Simulated seconds of the default method: past the first impact
    #[arg(long, value_name = "S", default_value_t = 0.4)]
    time: f64,
    /// Steps of the other methods, from the state that the default method reaches
    #[arg(long, value_name = "N", default_value_t = 5)]
    steps: usize,
    /// CPU seconds of each run at most
    #[arg(long, value_name = "S", default_value_t = 900.0)]
    limit: f64,
}

/// One row of the table.
fn row(method: Method, threads: usize, steps: &Steps, first: &str) -> [Cell; 12] {
    [
        method.word().into(),
        Cell::Whole(steps.particles as u64),
        Cell::Whole(threads as u64),
        first.into(),
        Cell::Whole(steps.lengths.len() as u64),
        Cell::maybe(Steps::mean(&steps.lengths).map(|dt| 1e3 * dt), 2),
        Cell::maybe(Steps::mean(&steps.cpu), 3),
        Cell::maybe(steps.cpu_per_second(), 1),
        per_step(steps.rounds, steps),
        per_step(steps.inner_iterations, steps),
        percent(Steps::quantile(&steps.largest_error, 0.95)),
        percent(Steps::quantile(&steps.mean_error, 0.95)),
    ]
}

impl Study for Speed {
    const NAME: &'static str = "pf-speed";
    const SUMMARY: &'static str =
        "cost of a step of the particle method, by number of particles and method";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut table = Table::columns(
            "method | particles | threads | from | steps | step, ms | CPU s a step | CPU s a simulated second | rounds a step | inner \
             iterations a step | largest error, % (95 % of steps) | mean error, % (95 % of steps)",
        );
        let mut targets = Vec::new();
        for &particles in &options.particles {
            let of = |method: Method| {
                let word = format!("projective.solver={}", method.word());
                scene("pf-dam", particles.into(), &[&word])
            };
            let limits = |steps| Limits {
                steps,
                time: options.time,
                cpu: options.limit,
            };
            let usual = of(Method::Dual)?;
            let one = pool_of(1).map_err(|cause| Error::new(Kind::Resources, cause))?;
            let (steps, state, frame) = one.install(|| -> Result<_, Error> {
                let mut run = Simulation::new(&usual)?;
                let steps = advance(&mut run, usual.frames, limits(usize::MAX));
                let mut state = Vec::new();
                let written = run.world().state().write(&mut state);
                written.map_err(|cause| Error::new(Kind::Resources, cause.to_string()))?;
                Ok((steps, state, run.frame()))
            })?;
            table.push(row(Method::Dual, 1, &steps, "start"));
            if particles == NAMED {
                targets.push(Target::new(
                    format!("{NAMED} particles: CPU s of a step"),
                    Bound::AtMost(MOST_SECONDS),
                    "s",
                    Steps::mean(&steps.cpu),
                    3,
                ));
                targets.push(Target::new(
                    format!("{NAMED} particles: largest excess of density in 95 % of the steps"),
                    Bound::AtMost(MOST_ERROR),
                    "(share)",
                    Steps::quantile(&steps.largest_error, 0.95),
                    5,
                ));
            }
            let from = format!("{:.2} s", steps.lengths.iter().sum::<f64>());
            // A few steps of every method from the same state, and of the default one with two threads.
            let mut wall = [f64::NAN; 2];
            for (method, threads) in [
                (Method::Dual, 1),
                (Method::Dual, 2),
                (Method::Jacobi, 1),
                (Method::Paper, 1),
            ] {
                let scene = of(method)?;
                let pool = pool_of(threads).map_err(|cause| Error::new(Kind::Resources, cause))?;
                let (steps, span) = pool.install(|| -> Result<_, Error> {
                    let mut run =
                        Simulation::restored(&scene, &state, frame).map_err(Error::usage)?;
                    let start = Moment::now();
                    let limits = Limits {
                        time: f64::INFINITY,
                        ..limits(options.steps)
                    };
                    let steps = advance(&mut run, u32::MAX, limits);
                    Ok((steps, Moment::now().since(&start)))
                })?;
                if method == Method::Dual {
                    wall[threads - 1] = span.own;
                }
                table.push(row(method, threads, &steps, &from));
            }
            if particles == NAMED {
                targets.push(Target::new(
                    format!("{NAMED} particles: two threads against one"),
                    Bound::AtLeast(LEAST_SPEED_UP),
                    "times as fast",
                    Some(wall[0] / wall[1]),
                    2,
                ));
            }
        }
        let usual =
            options.particles == [25_000, 100_000, 200_000, 1_900_000] && options.time == 0.4;
        let variant = || {
            let sizes: Vec<String> = options.particles.iter().map(u32::to_string).collect();
            format!("{}-{}", sizes.join("-"), options.time)
        };
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(variant),
            setting: vec![
                format!(
                    "The breaking dam for {} simulated seconds, or {} CPU seconds, by the default method; then {} steps of every method \
                     from the state it reached, where the reference methods would take hours from the start. A step that ends \
                     short of its tolerances counts with the error it has.",
                    options.time, options.limit, options.steps
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("All runs", table.clone()),
            ],
            data: table,
        })
    }
}
