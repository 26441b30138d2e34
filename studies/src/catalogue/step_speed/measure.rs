//! Measurements, each in its own process.

use super::stage::{Impact, Stage, with_twice_the_air};
use crate::machine::{Span, peak_memory, waited_by_all_threads};
use crate::prelude::*;
use meniscus_app::runner::Simulation;
use meniscus_liquid::Walls;
use meniscus_scene::Scene;
use meniscus_sim::{LiquidWorld, Phases, StepReport};
use serde::{Deserialize, Serialize};

/// How often each number of threads is timed where numbers are compared.
pub const COPIES: usize = 3;

/// A scene, for so long, with so many threads.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Setup {
    pub stage: Stage,
    /// The word for the kind of walls.
    pub walls: String,
    pub resolution: usize,
    pub frames: u32,
    pub threads: usize,
}

impl Setup {
    /// The scene that is simulated.
    pub fn scene(&self) -> Result<Scene<3>, Error> {
        let walls: Walls = self.walls.parse().map_err(Error::usage)?;
        self.stage.scene(self.resolution, walls)
    }
}

/// A piece of work for one process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Part {
    /// Simulate, and time every frame: a [`Run`].
    Run(Setup),
    /// Simulate with one thread and with those of the setup in turn: a [`Pace`].
    Pace(Setup),
    /// Simulate with and without more air: [`Air`].
    Air(Setup),
}

/// A phase of a frame's steps.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Phase {
    pub name: String,
    pub span: Span,
}

/// A frame of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Frame {
    /// All of it.
    pub span: Span,
    /// Seconds that the other threads were ready and had no core.
    pub others_waited: f64,
    /// Its parts, in the order in which they first came.
    pub phases: Vec<Phase>,
    pub steps: u64,
    /// Most that a step of it had.
    pub unknowns: u64,
    pub outer_iterations: u64,
    pub inner_iterations: u64,
}

/// A run, frame by frame.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    pub particles: u64,
    pub frames: Vec<Frame>,
    /// The first frame, from 1, at the end of which the liquid is at the far side.
    pub impact: Option<usize>,
    /// Most memory of the process, where the system tells.
    pub peak: Option<Peak>,
}

/// The largest size of a process.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Peak {
    /// Bytes at the peak.
    pub bytes: u64,
    /// Bytes before the simulation was made.
    pub before: u64,
    /// Liquid cells in the frame in which the peak was reached.
    pub cells: u64,
}

/// Speed-up by more threads.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Pace {
    /// Own seconds of each frame with one thread and with more, the quickest of several.
    pub frames: Vec<[f64; 2]>,
}

/// Cost of more empty space.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Air {
    /// CPU seconds of each frame with the scene's own air and with twice as much.
    pub frames: Vec<[f64; 2]>,
    /// Whether all steps of both were bitwise identical.
    pub same_steps: bool,
}

/// Simulates and times.
pub fn run(setup: &Setup) -> Result<Run, Error> {
    let scene = setup.scene()?;
    let before = peak_memory().unwrap_or(0);
    with_threads(setup.threads, || {
        let mut simulation = Simulation::new(&scene)?;
        let particles = simulation.world().cost().points as u64;
        let impact = Impact::new(&scene, positions(&simulation));
        let mut run = Run {
            particles,
            frames: Vec::new(),
            impact: None,
            peak: None,
        };
        for number in 1..=setup.frames as usize {
            let (frame, _) = simulate_frame(&mut simulation)?;
            if run.impact.is_none() && impact.happened(positions(&simulation)) {
                run.impact = Some(number);
            }
            if let Some(bytes) = peak_memory()
                && run.peak.is_none_or(|peak| bytes > peak.bytes)
            {
                let cells = frame.unknowns;
                run.peak = Some(Peak {
                    bytes,
                    before,
                    cells,
                });
            }
            run.frames.push(frame);
        }
        Ok(run)
    })
}

/// Simulates the same several times with one thread and several times with more, frame by frame in turn. What else the
/// machine does slows all of them, and the quickest of each least.
pub fn pace(setup: &Setup) -> Result<Pace, Error> {
    let scene = setup.scene()?;
    let new = || Ok([Simulation::new(&scene)?, Simulation::new(&scene)?]);
    let mut pairs = (0..COPIES)
        .map(|_| new())
        .collect::<Result<Vec<_>, Error>>()?;
    let pools = [pool(1)?, pool(setup.threads)?];
    let mut pace = Pace { frames: Vec::new() };
    for _ in 0..setup.frames {
        let mut quickest = [f64::INFINITY; 2];
        for pair in &mut pairs {
            for which in [0, 1] {
                let (frame, _) = pools[which].install(|| simulate_frame(&mut pair[which]))?;
                quickest[which] = quickest[which].min(frame.span.own);
            }
        }
        pace.frames.push(quickest);
    }
    Ok(pace)
}

/// Simulates the same liquid under two ceilings, frame by frame in turn: what else the machine does then slows
/// both alike.
pub fn air(setup: &Setup) -> Result<Air, Error> {
    let scene = setup.scene()?;
    let taller = with_twice_the_air(&scene);
    with_threads(setup.threads, || {
        let mut pair = [Simulation::new(&scene)?, Simulation::new(&taller)?];
        let mut air = Air {
            frames: Vec::new(),
            same_steps: true,
        };
        for number in 0..setup.frames as usize {
            let mut seconds = [0.0; 2];
            let mut reports = [Vec::new(), Vec::new()];
            // Who goes first finds the caches as the other left them.
            for which in [number % 2, 1 - number % 2] {
                let (frame, steps) = simulate_frame(&mut pair[which])?;
                seconds[which] = frame.span.cpu;
                reports[which] = steps;
            }
            air.same_steps &= reports[0] == reports[1];
            air.frames.push(seconds);
        }
        Ok(air)
    })
}

/// Simulates to the next frame.
fn simulate_frame(simulation: &mut Simulation<'_, 3>) -> Result<(Frame, Vec<StepReport>), Error> {
    let mut frame = Frame::default();
    let mut reports = Vec::new();
    let waited_before = waited_by_all_threads();
    let start = Moment::now();
    loop {
        let mut clock = PhaseClock {
            phases: &mut frame.phases,
            current: "",
            began: Moment::now(),
        };
        let step = simulation.step(&mut clock).map_err(|failure| {
            Error::new(Kind::Numerical, format!("the simulation failed: {failure}"))
        })?;
        let report = step.report;
        frame.steps += 1;
        if let Some(pressure) = report.solve("pressure") {
            frame.unknowns = frame.unknowns.max(pressure.unknowns as u64);
            frame.outer_iterations += pressure.iterations as u64;
            frame.inner_iterations += pressure.inner_iterations as u64;
        }
        reports.push(report);
        if step.completes_frame {
            break;
        }
    }
    frame.span = Moment::now().since(&start);
    let waited = waited_by_all_threads()
        .zip(waited_before)
        .map_or(0.0, |(now, then)| now - then);
    frame.others_waited = (waited - (frame.span.wall - frame.span.own)).max(0.0);
    Ok((frame, reports))
}

/// Positions of the particles of a liquid.
fn positions<'a>(simulation: &'a Simulation<'_, 3>) -> &'a [[f32; 3]] {
    let world = LiquidWorld::of(simulation.world()).expect("a world of liquid");
    &world.liquid().particles().position
}

/// Adds up the phases of the steps of a frame.
struct PhaseClock<'a> {
    phases: &'a mut Vec<Phase>,
    current: &'static str,
    began: Moment,
}

impl Phases for PhaseClock<'_> {
    fn begin(&mut self, phase: &'static str) {
        let now = Moment::now();
        if !self.current.is_empty() {
            let span = now.since(&self.began);
            match self
                .phases
                .iter_mut()
                .find(|known| known.name == self.current)
            {
                Some(known) => known.span += span,
                None => self.phases.push(Phase {
                    name: self.current.into(),
                    span,
                }),
            }
        }
        self.current = phase;
        self.began = now;
    }
}

/// Calls a function on a thread of a pool of so many. The function runs on one thread from start to end, which is
/// what [`Moment`] wants.
fn with_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    pool(threads)?.install(work)
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|cause| {
        Error::new(
            Kind::Resources,
            format!("could not start {threads} threads: {cause}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(stage: Stage) -> Setup {
        Setup {
            stage,
            walls: "separating".into(),
            resolution: 16,
            frames: 2,
            threads: 1,
        }
    }

    #[test]
    fn a_run_has_its_frames_and_phases_that_add_up() {
        let run = run(&setup(Stage::DamBreak)).unwrap();
        assert_eq!(run.frames.len(), 2);
        assert!(run.particles > 100 && run.impact.is_none());
        for frame in &run.frames {
            assert!(frame.steps > 0 && frame.unknowns > 10);
            let phases: f64 = frame.phases.iter().map(|phase| phase.span.wall).sum();
            // Some of a step belongs to no phase; nothing belongs to two.
            assert!(
                phases > 0.0 && phases <= frame.span.wall,
                "{phases} of {:?}",
                frame.span
            );
            assert!(frame.phases.iter().any(|phase| phase.name == "solve"));
        }
    }

    #[test]
    fn more_air_leaves_the_liquid_as_it_is() {
        let air = air(&setup(Stage::OpenCube)).unwrap();
        assert!(air.same_steps);
        assert!(air.frames.iter().flatten().all(|&seconds| seconds > 0.0));
    }

    #[test]
    fn a_kind_of_walls_that_is_none_is_refused() {
        let mut setup = setup(Stage::DamBreak);
        setup.walls = "sticky".into();
        assert_eq!(run(&setup).unwrap_err().kind(), Kind::Usage);
    }
}
