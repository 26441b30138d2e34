//! Scenes of the paper, and what their steps cost.

use crate::prelude::*;
use meniscus_app::runner::Simulation;
use meniscus_scene::text::{Override, load};
use meniscus_scene::{AnyScene, Scene};

/// A scene of the paper's table.
pub struct PaperScene {
    /// As the paper calls it.
    pub label: &'static str,
    /// Built-in scene.
    pub scene: &'static str,
    /// Particles of the paper.
    pub particles: f64,
    /// Seconds per step of the paper, on 24 cores.
    pub seconds: f64,
    /// Mean length of its steps in milliseconds.
    pub step_ms: f64,
}

/// [WKB16 table 1]
pub const SCENES: [PaperScene; 5] = [
    PaperScene {
        label: "breaking dam",
        scene: "pf-dam",
        particles: 200_000.0,
        seconds: 11.30,
        step_ms: 2.07,
    },
    PaperScene {
        label: "double breaking dam",
        scene: "pf-double-dam",
        particles: 240_000.0,
        seconds: 12.73,
        step_ms: 1.74,
    },
    PaperScene {
        label: "three dragons (three tori here)",
        scene: "pf-obstacles",
        particles: 1_945_600.0,
        seconds: 106.29,
        step_ms: 2.10,
    },
    PaperScene {
        label: "inlet",
        scene: "pf-inlet",
        particles: 90_000.0,
        seconds: 4.47,
        step_ms: 6.22,
    },
    PaperScene {
        label: "cloth",
        scene: "pf-cloth",
        particles: 64_000.0,
        seconds: 2.92,
        step_ms: 1.22,
    },
];

/// A built-in scene with about so many particles, and with other values of some keys.
pub fn scene(name: &str, particles: f64, changes: &[&str]) -> Result<Scene<3>, Error> {
    let count = format!("particles.count={}", particles.round());
    let changes = changes.iter().copied().chain([count.as_str()]);
    let overrides: Result<Vec<Override>, String> = changes.map(Override::parse).collect();
    let overrides = overrides.map_err(Error::usage)?;
    match load(name, &overrides, false)?.ready()? {
        (AnyScene::Three(scene), _) => Ok(scene),
        (AnyScene::Two(_), _) => Err(Error::usage(format!("{name} is flat"))),
    }
}

/// Where a run ends before its last frame.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of steps.
    pub steps: usize,
    /// Simulated time in seconds.
    pub time: f64,
    /// CPU seconds.
    pub cpu: f64,
}

/// What the steps of a run cost and reach.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Particles in the last step.
    pub particles: usize,
    /// Length of every step, in seconds.
    pub lengths: Vec<f64>,
    /// CPU seconds of every step.
    pub cpu: Vec<f64>,
    /// Largest and mean excess of density in every step, as shares.
    pub largest_error: Vec<f64>,
    pub mean_error: Vec<f64>,
    /// Sums over the steps.
    pub rounds: usize,
    pub inner_iterations: usize,
    /// Largest speed of all steps, in m/s.
    pub max_speed: f64,
    /// How it ended, if not at its limits or with its last frame.
    pub failure: Option<String>,
}

impl Steps {
    /// Mean of a quantity over the steps; none without steps.
    pub fn mean(values: &[f64]) -> Option<f64> {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The value that a share of the steps does not exceed; none without steps.
    pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        Some(sorted[(share * last as f64).round() as usize])
    }

    /// CPU seconds per simulated second.
    pub fn cpu_per_second(&self) -> Option<f64> {
        let time: f64 = self.lengths.iter().sum();
        (time > 0.0).then(|| self.cpu.iter().sum::<f64>() / time)
    }
}

/// Continues a run until one of the limits, its last frame, or a step that fails.
pub fn advance(run: &mut Simulation<'_, 3>, frames: u32, limits: Limits) -> Steps {
    let mut steps = Steps::default();
    let mut spent = 0.0;
    while run.frame() <= frames
        && steps.lengths.len() < limits.steps
        && run.world().time() < limits.time
        && spent < limits.cpu
    {
        let start = Moment::now();
        let step = match run.step(&mut ()) {
            Ok(step) => step,
            Err(failure) => {
                steps.failure = Some(format!("frame {} failed: {failure}", run.frame()));
                break;
            }
        };
        let cpu = Moment::now().since(&start).cpu;
        spent += cpu;
        let of = |name: &str| step.report.measure(name).unwrap_or(0.0);
        steps.particles = of("particles") as usize;
        steps.cpu.push(cpu);
        steps.lengths.push(step.report.dt);
        steps.largest_error.push(of("density_error"));
        steps.mean_error.push(of("mean_density_error"));
        steps.max_speed = steps.max_speed.max(of("max_speed"));
        for solve in &step.report.solves {
            steps.rounds += solve.iterations;
            steps.inner_iterations += solve.inner_iterations;
        }
    }
    steps
}

/// A share as a cell in percent.
pub fn percent(share: Option<f64>) -> Cell {
    Cell::maybe(share.map(|share| 100.0 * share), 4)
}

/// A sum over the steps of a run, per step.
pub fn per_step(sum: usize, steps: &Steps) -> Cell {
    let count = steps.lengths.len();
    Cell::maybe((count > 0).then(|| sum as f64 / count as f64), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_steps() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(Steps::quantile(&values, 0.0), Some(1.0));
        assert_eq!(Steps::quantile(&values, 0.5), Some(3.0));
        assert_eq!(Steps::quantile(&values, 1.0), Some(5.0));
        assert_eq!(Steps::quantile(&[], 0.5), None);
        assert_eq!(Steps::mean(&values), Some(3.0));
    }

    #[test]
    fn scenes_have_about_the_particles_that_are_asked_for() {
        for paper in &SCENES {
            let scene = scene(paper.scene, 500.0, &[]).unwrap();
            let mut run = Simulation::new(&scene).unwrap();
            let limits = Limits {
                steps: 2,
                time: f64::INFINITY,
                cpu: f64::INFINITY,
            };
            let steps = advance(&mut run, scene.frames, limits);
            assert_eq!(steps.failure, None, "{}", paper.scene);
            assert_eq!(steps.lengths.len(), 2);
            // The inlet is empty at the start.
            assert!(paper.scene == "pf-inlet" || (250..1000).contains(&steps.particles));
        }
    }
}
