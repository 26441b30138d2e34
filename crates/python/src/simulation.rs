//! Simulations under the control of the caller.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use meniscus_app::runner::film::frame_of;
use meniscus_app::runner::{self, Controlled, Options, Start, StepLine};
use meniscus_scene::AnyScene;
use meniscus_store::action_log::Action;
use meniscus_store::error::{Error, Kind};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::failed;
use crate::frame::{AnyFrame, Frame};
use crate::scene::Scene;
use crate::worker::{Link, supervise};

/// The simulation; none once it is closed.
type State = Option<Box<dyn Controlled>>;

/// A simulation, frame by frame.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Simulation {
    threads: Option<usize>,
    /// Locked by a computation, which may go on for a step after the caller has left.
    state: Arc<Mutex<State>>,
}

/// The state at this instant, numbered as the last complete frame.
fn current(simulation: &dyn Controlled) -> (AnyFrame, Arc<AnyScene>) {
    let (scene, number) = (simulation.scene(), simulation.next_frame() - 1);
    let world = simulation.world();
    let frame = match &scene {
        AnyScene::Two(scene) => AnyFrame::Two(frame_of(scene, world, number)),
        AnyScene::Three(scene) => AnyFrame::Three(frame_of(scene, world, number)),
    };
    (frame, Arc::new(scene))
}

/// How far a computation came.
enum Reached {
    Frame(AnyFrame, Arc<AnyScene>, Vec<StepLine>),
    Stopped,
}

impl Simulation {
    /// Executes work on the simulation on a thread of its own.
    fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Controlled, &Link<(), ()>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let state = Arc::clone(&self.state);
        let work = move |link: &Link<(), ()>| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state
                .as_mut()
                .map(|simulation| work(&mut **simulation, link))
        };
        match supervise(py, self.threads, work, |_, ()| Ok(None))? {
            Some(result) => result.map_err(|e| failed(py, &e)),
            None => Err(PyValueError::new_err("the simulation is closed")),
        }
    }
}

/// Actions to be repeated, from their JSON.
fn parsed(actions: &str) -> PyResult<Vec<Action>> {
    serde_json::from_str(actions).map_err(|why| {
        PyValueError::new_err(format!(
            "the actions to be repeated are not those of a log: {why}"
        ))
    })
}

#[pymethods]
impl Simulation {
    /// A simulation that writes nothing, or, with `out`, a run. `repeated` are actions as JSON.
    #[new]
    #[pyo3(signature = (scene, threads, repeated, out=None, resume=false, overwrite=false))]
    fn new(
        py: Python<'_>,
        scene: &Scene,
        threads: Option<usize>,
        repeated: &str,
        out: Option<PathBuf>,
        resume: bool,
        overwrite: bool,
    ) -> PyResult<Self> {
        let repeated = parsed(repeated)?;
        let any = Arc::clone(&scene.scene);
        let reload = scene.reload();
        let (scene_text, meshes) = (scene.text.clone(), scene.meshes.clone());
        let work = move |link: &Link<(), ()>| {
            let Some(out) = out else {
                return runner::control(&any, repeated, reload);
            };
            let stop = link.stop_flag();
            let options = Options {
                out,
                threads,
                memory_limit: None,
                scene_text,
                meshes,
                start: match resume {
                    true => Start::Resume,
                    false => Start::Beginning,
                },
                overwrite,
                stop: &stop,
            };
            runner::record(&any, &options, repeated, &mut ())
        };
        let simulation = supervise(py, threads, work, |_, ()| Ok(None))?;
        let simulation = simulation.map_err(|e| failed(py, &e))?;
        Ok(Simulation {
            threads,
            state: Arc::new(Mutex::new(Some(simulation))),
        })
    }

    /// Ends it. A run that has frames left can be resumed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let state = Arc::clone(&self.state);
        let work = move |_: &Link<(), ()>| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.take().map_or(Ok(()), Controlled::close)
        };
        let closed = supervise(py, self.threads, work, |_, ()| Ok(None))?;
        closed.map_err(|e| failed(py, &e))
    }

    /// Continues with another scene, which differs from this one in a key.
    fn change(&self, py: Python<'_>, scene: &Scene, key: String, value: String) -> PyResult<()> {
        let scene = Arc::clone(&scene.scene);
        self.with(py, move |simulation, _| {
            simulation.change((*scene).clone(), key, value)
        })
    }

    /// Sets the external force and torque on a body in all further steps.
    fn push(
        &self,
        py: Python<'_>,
        body: String,
        force: Vec<f64>,
        torque: [f64; 3],
    ) -> PyResult<()> {
        let pushed = self.with(py, move |simulation, _| {
            match simulation.push(body, force, torque) {
                Err(e) if e.kind() == Kind::Usage => Ok(Some(e.message().to_string())),
                other => other.map(|()| None),
            }
        })?;
        pushed.map_or(Ok(()), |why| Err(PyValueError::new_err(why)))
    }

    /// The state at this instant, numbered as the last complete frame.
    fn current(&self, py: Python<'_>) -> PyResult<Frame> {
        let (frame, scene) = self.with(py, |simulation, _| Ok(current(simulation)))?;
        Ok(Frame::new(frame, scene))
    }

    /// Simulates to the next frame, and returns it with the statistics of its steps as JSON.
    fn next_frame(&self, py: Python<'_>) -> PyResult<(Frame, String)> {
        let reached = self.with(py, |simulation, link| {
            let mut lines = Vec::new();
            loop {
                if link.is_stopped() {
                    return Ok(Reached::Stopped);
                }
                let (line, completes) = simulation.step()?;
                lines.push(line);
                if completes {
                    let (frame, scene) = current(simulation);
                    return Ok(Reached::Frame(frame, scene, lines));
                }
            }
        })?;
        match reached {
            Reached::Frame(frame, scene, lines) => {
                Ok((Frame::new(frame, scene), json!(lines).to_string()))
            }
            Reached::Stopped => Err(PyKeyboardInterrupt::new_err("stopped")),
        }
    }

    /// Repeats the steps up to the last action that is left to be repeated.
    fn catch_up(&self, py: Python<'_>) -> PyResult<()> {
        let caught_up = self.with(py, |simulation, link| {
            let last = simulation.log().last_left().unwrap_or(0);
            while simulation.steps() < last {
                if link.is_stopped() {
                    return Ok(false);
                }
                simulation.step()?;
            }
            Ok(true)
        })?;
        match caught_up {
            true => Ok(()),
            false => Err(PyKeyboardInterrupt::new_err("stopped")),
        }
    }

    /// One step; its statistics as JSON.
    fn step(&self, py: Python<'_>) -> PyResult<String> {
        let (line, _) = self.with(py, |simulation, _| simulation.step())?;
        Ok(json!(line).to_string())
    }

    /// Actions so far as JSON.
    #[getter]
    fn log(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |simulation, _| {
            Ok(json!(simulation.log().done()).to_string())
        })
    }

    /// Time in seconds.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation, _| Ok(simulation.world().time()))
    }

    /// Whether no frame is left.
    #[getter]
    fn is_complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |simulation, _| {
            Ok(simulation.next_frame() > simulation.scene().frames())
        })
    }

    /// Whether the state is on the way from one frame to the next.
    #[getter]
    fn is_between_frames(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |simulation, _| Ok(simulation.steps_of_frame() > 0))
    }
}
