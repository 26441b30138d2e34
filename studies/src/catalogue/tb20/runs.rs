//! Scenes of the paper with its schemes, and what their steps cost.

use crate::phase_timer::PhaseTimer;
use crate::prelude::*;
use meniscus_app::runner::Simulation;
use meniscus_coupled::Scheme;
use meniscus_scene::{AnyScene, Scene, builtin};

/// A figure of the paper.
pub struct Figure {
    /// As the paper calls it.
    pub label: &'static str,
    /// Built-in scene.
    pub scene: &'static str,
    /// Cells of the paper along the longest side.
    pub cells: u32,
}

/// The two figures of Table 1.
pub const COMPARED: [Figure; 2] = [
    Figure {
        label: "Figure 2",
        scene: "bowl-drop",
        cells: 256,
    },
    Figure {
        label: "Figure 3",
        scene: "floating-bowl",
        cells: 128,
    },
];

impl Figure {
    /// Cells along the longest side at a share of the paper's.
    pub fn cells_at(&self, share: f64) -> u32 {
        ((self.cells as f64 * share).round() as u32).max(8)
    }

    /// The scene with a scheme.
    pub fn scene(&self, share: f64, scheme: Scheme) -> Result<Scene<3>, Error> {
        match builtin::named(self.scene)? {
            AnyScene::Three(mut scene) => {
                scene.resolution = self.cells_at(share) as usize;
                scene.coupling.scheme = scheme;
                Ok(scene)
            }
            AnyScene::Two(_) => Err(Error::usage(format!("{} is flat", self.scene))),
        }
    }
}

/// Schemes for inviscid liquid, in the order of the paper.
pub const INVISCID: [Scheme; 4] = [
    Scheme::PressureContact,
    Scheme::ContactPressure,
    Scheme::Iterative,
    Scheme::Unified,
];

/// Name of a scheme in the paper.
pub fn paper_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::PressureContact => "P-C",
        Scheme::ContactPressure => "C-P",
        Scheme::Iterative => "iterative",
        Scheme::ViscousContact => "PV-C",
        Scheme::ContactViscous => "C-PV",
        Scheme::PressureViscosityPressure => "PC-VC-PC",
        _ => "unified",
    }
}

/// Sums over the steps of a run.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub frames: u32,
    pub steps: usize,
    /// CPU seconds of pressure and contact, and of all.
    pub cpu: f64,
    pub total_cpu: f64,
    pub cycles: f64,
    pub solves: f64,
    pub rounds: f64,
    pub contacts: f64,
    pub unknowns: f64,
    pub particles: usize,
    /// How it ended, if not with its last frame.
    pub end: Option<String>,
    /// CPU seconds of pressure and contact, frame by frame.
    pub profile: Vec<(u32, f64)>,
}

impl Sums {
    /// Mean over steps.
    pub fn a_step(&self, sum: f64) -> Option<f64> {
        (self.steps > 0).then(|| sum / self.steps as f64)
    }

    /// Mean over frames.
    pub fn a_frame(&self, sum: f64) -> Option<f64> {
        (self.frames > 0).then(|| sum / f64::from(self.frames))
    }
}

/// Goes on with a run for some frames, until it fails or has used its CPU time.
pub fn advance(run: &mut Simulation<'_, 3>, frames: u32, limit: f64, sums: &mut Sums) {
    let last = run.frame() + frames;
    sums.particles = run.world().cost().points;
    while run.frame() < last && sums.end.is_none() {
        let frame = run.frame();
        let mut timer = PhaseTimer::of_pressure_contact();
        let start = Moment::now();
        while run.frame() == frame {
            let step = match run.step(&mut timer) {
                Ok(step) => step,
                Err(failure) => {
                    sums.end = Some(format!("failed in frame {frame}: {failure}"));
                    break;
                }
            };
            let of = |name: &str| step.report.measure(name).unwrap_or(0.0);
            sums.steps += 1;
            sums.cycles += of("cycles");
            sums.solves += of("coupled_solves").max(1.0);
            sums.rounds += of("rounds").max(1.0);
            sums.contacts += of("contacts");
            sums.unknowns += of("unknowns");
            if sums.total_cpu + Moment::now().since(&start).cpu > limit {
                sums.end = Some(format!("stopped at the limit in frame {frame}"));
                break;
            }
        }
        sums.cpu += timer.cpu;
        sums.total_cpu += Moment::now().since(&start).cpu;
        if run.frame() > frame {
            sums.frames += 1;
            sums.profile.push((frame, timer.cpu));
        }
    }
}

/// A run from its start.
pub fn from_start(scene: &Scene<3>, frames: u32, limit: f64) -> Result<Sums, Error> {
    let mut run = Simulation::new(scene)?;
    let mut sums = Sums::default();
    advance(&mut run, frames, limit, &mut sums);
    Ok(sums)
}
