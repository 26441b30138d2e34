//! The largest density of the inlet over the whole run, which the paper gives as 0.01 % above that at rest.

use super::runs::{Limits, Steps, advance, per_step, percent, scene};
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_app::runner::Simulation;
use meniscus_projective::Method;

/// The paper's weight of constraints, in N/m, and the error that it reports for it.
const WEIGHT: f64 = 1e6;
const PAPER_ERROR: f64 = 1e-4;

/// The study.
pub struct Density;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Particles at the end
    #[arg(long, value_name = "N", default_value_t = 90_000)]
    particles: u32,
    /// Simulated seconds of the default method
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    time: f64,
    /// Simulated seconds of the printed method
    #[arg(long, value_name = "S", default_value_t = 0.25)]
    printed_time: f64,
    /// CPU seconds of each run at most
    #[arg(long, value_name = "S", default_value_t = 3600.0)]
    limit: f64,
}

impl Study for Density {
    const NAME: &'static str = "wkb16-density";
    const SUMMARY: &'static str = "largest density of the inlet over the whole run";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
        let mut table = Table::columns(
            "method | bulk modulus, Pa | steps | simulated s | particles | largest error, % (worst) | largest error, % (95 % of \
             steps) | mean error, % (worst) | rounds a step | CPU s a step | end",
        );
        let mut dual_error = None;
        for method in [Method::Dual, Method::Paper] {
            let weight = format!("projective.weight={WEIGHT:e}");
            let changes: &[&str] = match method {
                Method::Paper => &[&weight, "projective.solver=paper", "projective.rounds=30"],
                _ => &[
                    &weight,
                    "projective.max_error=1e-4",
                    "projective.mean_error=1e-5",
                ],
            };
            let scene = scene("pf-inlet", options.particles.into(), changes)?;
            let modulus = scene.projective.bulk_modulus;
            let limits = Limits {
                steps: usize::MAX,
                time: match method {
                    Method::Paper => options.printed_time,
                    _ => options.time,
                },
                cpu: options.limit,
            };
            let steps = pool.install(|| -> Result<Steps, Error> {
                let mut run = Simulation::new(&scene)?;
                Ok(advance(&mut run, scene.frames, limits))
            })?;
            let worst = Steps::quantile(&steps.largest_error, 1.0);
            if method == Method::Dual {
                dual_error = worst;
            }
            table.push([
                method.word().into(),
                format!("{modulus:.1e}").into(),
                Cell::Whole(steps.lengths.len() as u64),
                Cell::Number(steps.lengths.iter().sum(), 3),
                Cell::Whole(steps.particles as u64),
                percent(worst),
                percent(Steps::quantile(&steps.largest_error, 0.95)),
                percent(Steps::quantile(&steps.mean_error, 1.0)),
                per_step(steps.rounds, &steps),
                Cell::maybe(Steps::mean(&steps.cpu), 3),
                steps
                    .failure
                    .as_deref()
                    .unwrap_or("whole or at its limit")
                    .into(),
            ]);
        }
        let claims = [Target::new(
            "largest excess of density over the run, default method",
            Bound::AtMost(PAPER_ERROR),
            "(share)",
            dual_error,
            6,
        )];
        let usual = (options.particles, options.time) == (90_000, 5.0);
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{}-{}", options.particles, options.time)),
            setting: vec![
                format!(
                    "The inlet until it has {} particles. The paper reports an error of at most 0.01 % with the weight {WEIGHT:e}, which is \
                     the bulk modulus in the table; its 30 rounds are those of `paper`. The tolerances of `dual` are 0.01 % at most and \
                     0.001 % on average. One thread.",
                    options.particles
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: paper_sections(NO_WORDS, table.clone(), &claims, &DIFFERENCES),
            data: table,
        })
    }
}

const DIFFERENCES: [&str; 2] = [
    "With the paper's projections, 30 rounds of the printed method do not converge; `docs/papers.md` has the derivation.",
    "A weight is a bulk modulus in units that depend on the spacing of particles; scenes have the modulus.",
];
