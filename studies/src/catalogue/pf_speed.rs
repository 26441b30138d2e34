//! Cost and accuracy of a step of the particle method, beside the methods that it replaces, from the same states.

use crate::prelude::*;
use crate::walls::pool_of;
use meniscus_app::worlds;
use meniscus_projective::{Fluid, Method, Settings};
use meniscus_scene::AnyScene;
use meniscus_scene::text::{Override, load};
use meniscus_shapes::{Bounds, ScriptedSolid};
use meniscus_sim::ProjectiveWorld;

/// CPU seconds of a step of 100,000 particles.
const MOST_SECONDS: f64 = 0.15;
/// Largest excess of density of a step, as a share.
const MOST_ERROR: f64 = 1e-3;
/// Times that two threads are as fast as one.
const LEAST_SPEED_UP: f64 = 1.6;
/// Size for which the targets are.
const TARGET_SIZE: usize = 100_000;

/// The study.
pub struct PfSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Numbers of particles
    #[arg(long, value_name = "N", default_values_t = [25_000, 100_000], value_delimiter = ',', value_parser = value_parser!(u32).range(1000..=10_000_000))]
    particles: Vec<u32>,
    /// Simulated time up to which the default method runs, in seconds
    #[arg(long, value_name = "S", default_value_t = 0.4)]
    until: f64,
    /// Steps of every method from the state at the end
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..=1000))]
    steps: u32,
}

/// Phases of a step.
const PHASES: [&str; 4] = ["predict", "neighbours", "solve", "finish"];

/// What some steps took.
#[derive(Default)]
struct Cost {
    cpu: Vec<f64>,
    dt: Vec<f64>,
    rounds: usize,
    products: usize,
    mean: Vec<f64>,
    worst: Vec<f64>,
    phases: [f64; PHASES.len()],
}

impl Cost {
    fn seconds(&self) -> f64 {
        self.cpu.iter().sum::<f64>() / self.cpu.len().max(1) as f64
    }

    fn per_second(&self) -> f64 {
        self.cpu.iter().sum::<f64>() / self.dt.iter().sum::<f64>()
    }

    /// One step of a liquid.
    fn step(
        &mut self,
        fluid: &mut Fluid<3>,
        solids: &[ScriptedSolid<3>],
        dt: f64,
    ) -> Result<(), Error> {
        let began = Moment::now();
        let mut last: Option<(usize, Moment)> = None;
        let phases = &mut self.phases;
        let stepped = fluid.step(solids, dt, &mut |phase| {
            let now = Moment::now();
            if let Some((phase, began)) = last.take() {
                phases[phase] += now.since(&began).cpu;
            }
            last = (PHASES.iter().position(|own| *own == phase)).map(|phase| (phase, now));
        });
        let end = Moment::now();
        if let Some((phase, began)) = last {
            self.phases[phase] += end.since(&began).cpu;
        }
        let report = stepped.map_err(|e| Error::new(Kind::Numerical, e.to_string()))?;
        self.cpu.push(end.since(&began).cpu);
        self.dt.push(dt);
        self.rounds += report.solve.rounds;
        self.products += report.solve.inner_iterations;
        self.mean.push(report.solve.mean_error);
        self.worst.push(report.solve.max_error);
        Ok(())
    }
}

/// The value below which a share of sorted values is.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (share * sorted.len() as f64) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

impl Study for PfSpeed {
    const NAME: &'static str = "pf-speed";
    const SUMMARY: &'static str =
        "cost and density of the particle method beside the methods it replaces";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load_before = machine::load();
        let mut table = Table::columns(
            "particles | method | steps | CPU s a step | CPU s a second | median dt ms | rounds | inner iterations | mean error %, median \
             | worst error %, median | 95 % of steps | largest",
        );
        let mut shares =
            Table::columns("particles | predict % | neighbours % | solve % | finish %");
        let mut scaling = Table::columns("particles | two threads: times as fast as one");
        let mut targets = Vec::new();
        for &count in &options.particles {
            let (mut fluid, solids, bounds) = dam(count)?;
            let present = fluid.particles().len();
            let mut run = Cost::default();
            while fluid.time() < options.until {
                let (dt, _) = fluid.step_limit(&solids, &bounds);
                run.step(&mut fluid, &solids, dt)?;
            }
            push(&mut table, present, "dual, the whole run", &run);
            let all: f64 = run.phases.iter().sum();
            let mut row = vec![Cell::maybe(Some(present as f64), 0)];
            row.extend(
                run.phases
                    .map(|phase| Cell::maybe(Some(100.0 * phase / all), 1)),
            );
            shares.push(row);
            let is_target = (0.8..1.25).contains(&(present as f64 / TARGET_SIZE as f64));
            if is_target {
                let kept = quantile(&run.worst, 0.95);
                targets.extend([
                    Target::new(
                        format!("CPU time of a step of {present} particles"),
                        Bound::AtMost(MOST_SECONDS),
                        "s",
                        Some(run.seconds()),
                        3,
                    ),
                    Target::new(
                        "worst excess of density in 95 % of the steps".to_owned(),
                        Bound::AtMost(100.0 * MOST_ERROR),
                        "%",
                        Some(100.0 * kept),
                        4,
                    ),
                ]);
            }
            let state = fluid.state();
            let (dt, _) = fluid.step_limit(&solids, &bounds);
            for (method, name) in [
                (Method::Dual, "dual"),
                (Method::Jacobi, "jacobi, 30 rounds"),
                (Method::Paper, "paper, 30 rounds"),
            ] {
                let mut settings: Settings<3> = fluid.settings().clone();
                settings.method = method;
                if method != Method::Dual {
                    settings.rounds = 30;
                }
                let mut fluid = Fluid::<3>::restore(settings, &state)
                    .map_err(|e| Error::new(Kind::Numerical, e.to_string()))?;
                let mut cost = Cost::default();
                for _ in 0..options.steps {
                    cost.step(&mut fluid, &solids, dt)?;
                }
                push(&mut table, present, name, &cost);
            }
            let speed_up = speed_up(fluid.settings(), &state, &solids, dt, options.steps)?;
            scaling.push([
                Cell::maybe(Some(present as f64), 0),
                Cell::maybe(Some(speed_up), 2),
            ]);
            if is_target {
                targets.push(Target::new(
                    format!("two threads against one, {present} particles"),
                    Bound::AtLeast(LEAST_SPEED_UP),
                    "times as fast",
                    Some(speed_up),
                    2,
                ));
            }
        }
        Ok(Findings {
            study: Self::NAME,
            variant: None,
            setting: vec![
                format!(
                    "The scene `pf-dam`. The default method runs for {} s; from its last state, every method takes {} steps \
                     of the same length. Errors are excesses of density over that of the pressure's own compression. CPU \
                     seconds are summed over threads.",
                    options.until, options.steps
                ),
                machine::sentence(load_before),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("Steps", table.clone()),
                Section::table("Phases of the default method", shares),
                Section::table("Threads", scaling),
            ],
            data: table,
        })
    }
}

/// How many times as fast two threads are as one, in the same steps; time in which other programs had the core is left out.
fn speed_up(
    settings: &Settings<3>,
    state: &[u8],
    solids: &[ScriptedSolid<3>],
    dt: f64,
    steps: u32,
) -> Result<f64, Error> {
    let seconds = |threads: usize| -> Result<f64, Error> {
        let pool = pool_of(threads).map_err(|cause| Error::new(Kind::Resources, cause))?;
        pool.install(|| {
            let mut fluid = Fluid::<3>::restore(settings.clone(), state)
                .map_err(|e| Error::new(Kind::Numerical, e.to_string()))?;
            let (mut cost, began) = (Cost::default(), Moment::now());
            for _ in 0..steps {
                cost.step(&mut fluid, solids, dt)?;
            }
            Ok(Moment::now().since(&began).own)
        })
    };
    Ok(seconds(1)? / seconds(2)?)
}

fn push(table: &mut Table, present: usize, name: &str, cost: &Cost) {
    let steps = cost.cpu.len();
    let per_step = |count: usize| Some(count as f64 / steps.max(1) as f64);
    table.push([
        Cell::maybe(Some(present as f64), 0),
        name.into(),
        Cell::maybe(Some(steps as f64), 0),
        Cell::maybe(Some(cost.seconds()), 4),
        Cell::maybe(Some(cost.per_second()), 1),
        Cell::maybe(Some(1e3 * quantile(&cost.dt, 0.5)), 2),
        Cell::maybe(per_step(cost.rounds), 1),
        Cell::maybe(per_step(cost.products), 1),
        Cell::maybe(Some(100.0 * quantile(&cost.mean, 0.5)), 5),
        Cell::maybe(Some(100.0 * quantile(&cost.worst, 0.5)), 4),
        Cell::maybe(Some(100.0 * quantile(&cost.worst, 0.95)), 4),
        Cell::maybe(Some(100.0 * quantile(&cost.worst, 1.0)), 4),
    ]);
}

/// The dam with about so many particles, what is solid, and its domain.
fn dam(count: u32) -> Result<(Fluid<3>, Vec<ScriptedSolid<3>>, Bounds<3>), Error> {
    let changes = [Override::short("--particles", "particles.count", count)];
    let (scene, _) = load("pf-dam", &changes, false)?.ready()?;
    let AnyScene::Three(scene) = scene else {
        return Err(Error::usage("the dam is in space"));
    };
    let world = worlds::initial(&scene)?;
    let Some(world) = ProjectiveWorld::<3>::of(&*world) else {
        return Err(Error::usage("the dam is simulated with particles"));
    };
    let fluid = Fluid::restore(scene.projective_settings(), &world.fluid().state())
        .map_err(|e| Error::new(Kind::Numerical, e.to_string()))?;
    let bounds = Bounds {
        low: [0.0; 3],
        high: scene.domain,
    };
    Ok((fluid, scene.solids_and_walls().list, bounds))
}
