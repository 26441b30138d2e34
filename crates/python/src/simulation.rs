//! Simulations that write no files.

use std::sync::{Arc, Mutex, PoisonError};

use meniscus_app::runner::film::frame_of;
use meniscus_app::runner::{StepLine, estimate};
use meniscus_app::worlds;
use meniscus_scene::AnyScene;
use meniscus_sim::{World, advance};
use meniscus_store::error::{Error, Kind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::failed;
use crate::frame::{AnyFrame, Frame};
use crate::scene::Scene;
use crate::worker::{Link, supervise};

/// The last of a frame's time that is not worth a step, as a share of the frame.
const ROUNDING: f64 = 1e-9;

/// State of a simulation.
struct State {
    scene: Arc<AnyScene>,
    world: Box<dyn World>,
    /// Frame that the next step leads to.
    frame: u32,
    /// Number of steps so far.
    steps: u64,
}

/// A simulation, frame by frame.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Simulation {
    threads: Option<usize>,
    /// Locked by a computation, which may go on for a step after the caller has left.
    state: Arc<Mutex<State>>,
}

fn initial(scene: &AnyScene) -> Result<Box<dyn World>, Error> {
    estimate::check_any(scene, None)?;
    match scene {
        AnyScene::Two(scene) => worlds::initial(scene),
        AnyScene::Three(scene) => worlds::initial(scene),
    }
}

fn frame(scene: &AnyScene, world: &dyn World, number: u32) -> AnyFrame {
    match scene {
        AnyScene::Two(scene) => AnyFrame::Two(frame_of(scene, world, number)),
        AnyScene::Three(scene) => AnyFrame::Three(frame_of(scene, world, number)),
    }
}

fn time_of_frame(scene: &AnyScene, frame: u32) -> (f64, f64) {
    match scene {
        AnyScene::Two(scene) => (scene.time_of_frame(frame), scene.frame_rate),
        AnyScene::Three(scene) => (scene.time_of_frame(frame), scene.frame_rate),
    }
}

impl State {
    /// One step towards the next frame, and whether it completes that frame.
    fn step(&mut self) -> Result<(StepLine, bool), Error> {
        let (until, rate) = time_of_frame(&self.scene, self.frame);
        let report = advance(&mut *self.world, until, &mut ()).map_err(|failure| {
            let message = format!("frame {} failed: {failure}", self.frame);
            Error::new(Kind::Numerical, message)
        })?;
        let line = StepLine::new(self.frame, &report);
        self.steps += 1;
        let completes = until - self.world.time() <= ROUNDING / rate;
        if completes {
            self.frame += 1;
        }
        Ok((line, completes))
    }
}

/// How far a computation came.
enum Reached {
    Frame(AnyFrame, Arc<AnyScene>, Vec<StepLine>),
    Stopped,
}

impl State {
    /// The state at this instant, numbered as the last complete frame.
    fn frame(&self) -> (AnyFrame, Arc<AnyScene>) {
        let frame = frame(&self.scene, &*self.world, self.frame - 1);
        (frame, Arc::clone(&self.scene))
    }

    /// Bytes of the world.
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let state = self.world.state();
        let mut bytes = Vec::with_capacity(state.len());
        let failed = |e| Error::new(Kind::Resources, format!("could not copy the state: {e}"));
        state.write(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// World of a scene in a state that was saved.
fn restored(scene: &AnyScene, bytes: &[u8]) -> Result<Box<dyn World>, Error> {
    let world = match scene {
        AnyScene::Two(scene) => worlds::restored(scene, bytes),
        AnyScene::Three(scene) => worlds::restored(scene, bytes),
    };
    world.map_err(|why| Error::usage(format!("the state does not fit the scene: {why}")))
}

impl Simulation {
    /// Executes work on the state on a thread of its own.
    fn with_state<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State, &Link<(), ()>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let state = Arc::clone(&self.state);
        let work = move |link: &Link<(), ()>| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut state, link)
        };
        supervise(py, self.threads, work, |_, ()| Ok(None))?.map_err(|e| failed(py, &e))
    }

    fn start(
        py: Python<'_>,
        scene: &Scene,
        threads: Option<usize>,
        (frame, steps): (u32, u64),
        world: impl FnOnce(&AnyScene) -> Result<Box<dyn World>, Error> + Send + 'static,
    ) -> PyResult<Self> {
        let scene = Arc::clone(&scene.scene);
        let own = Arc::clone(&scene);
        let work = move |_: &Link<(), ()>| world(&own);
        let world = supervise(py, threads, work, |_, ()| Ok(None))?;
        let world = world.map_err(|e| failed(py, &e))?;
        let state = State {
            scene,
            world,
            frame,
            steps,
        };
        Ok(Simulation {
            threads,
            state: Arc::new(Mutex::new(state)),
        })
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, scene: &Scene, threads: Option<usize>) -> PyResult<Self> {
        Self::start(py, scene, threads, (1, 0), initial)
    }

    /// A simulation in a state that [`Simulation::save`] returned.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        scene: &Scene,
        threads: Option<usize>,
        saved: (Vec<u8>, u32, u64),
    ) -> PyResult<Self> {
        let (bytes, frame, steps) = saved;
        if frame == 0 {
            return Err(PyValueError::new_err("the saved simulation is damaged"));
        }
        Self::start(py, scene, threads, (frame, steps), move |scene| {
            restored(scene, &bytes)
        })
    }

    /// State as bytes, the frame that the next step leads to, and the number of steps.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, u32, u64)> {
        let (bytes, frame, steps) = self.with_state(py, |state, _| {
            Ok((state.bytes()?, state.frame, state.steps))
        })?;
        Ok((PyBytes::new(py, &bytes), frame, steps))
    }

    /// Continues with another scene, which differs in settings only.
    fn change(&self, py: Python<'_>, scene: &Scene) -> PyResult<()> {
        let scene = Arc::clone(&scene.scene);
        self.with_state(py, move |state, _| {
            state.world = restored(&scene, &state.bytes()?)?;
            state.scene = scene;
            Ok(())
        })
    }

    /// Sets the external force and torque on a body in all further steps.
    fn set_force(
        &self,
        py: Python<'_>,
        body: String,
        force: Vec<f64>,
        torque: [f64; 3],
    ) -> PyResult<()> {
        let set = self.with_state(py, move |state, _| {
            Ok(state.world.set_force(&body, &force, torque))
        })?;
        set.map_err(PyValueError::new_err)
    }

    /// The state at this instant, numbered as the last complete frame.
    fn current(&self, py: Python<'_>) -> PyResult<Frame> {
        let (frame, scene) = self.with_state(py, |state, _| Ok(state.frame()))?;
        Ok(Frame::new(frame, scene))
    }

    /// Simulates to the next frame, and returns it with the statistics of its steps as JSON.
    fn next_frame(&self, py: Python<'_>) -> PyResult<(Frame, String)> {
        let reached = self.with_state(py, |state, link| {
            let mut lines = Vec::new();
            loop {
                if link.is_stopped() {
                    return Ok(Reached::Stopped);
                }
                let (line, completes) = state.step()?;
                lines.push(line);
                if completes {
                    let (frame, scene) = state.frame();
                    return Ok(Reached::Frame(frame, scene, lines));
                }
            }
        })?;
        match reached {
            Reached::Frame(frame, scene, lines) => {
                let lines = serde_json::json!(lines).to_string();
                Ok((Frame::new(frame, scene), lines))
            }
            Reached::Stopped => Err(PyKeyboardInterrupt::new_err("stopped")),
        }
    }

    /// One step; its statistics as JSON, and whether it completes a frame.
    fn step(&self, py: Python<'_>) -> PyResult<(String, bool)> {
        let (line, completes) = self.with_state(py, |state, _| state.step())?;
        Ok((serde_json::json!(line).to_string(), completes))
    }

    /// Time in seconds.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with_state(py, |state, _| Ok(state.world.time()))
    }

    /// Number of the frame that the next step leads to.
    #[getter]
    fn next_number(&self, py: Python<'_>) -> PyResult<u32> {
        self.with_state(py, |state, _| Ok(state.frame))
    }

    /// Number of steps so far.
    #[getter]
    fn step_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.with_state(py, |state, _| Ok(state.steps))
    }
}
