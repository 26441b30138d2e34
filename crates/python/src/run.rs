//! Runs: simulations that write a folder, and folders that exist.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use meniscus_app::runner::{self, Event, Options, Progress, Start, StepLine};
use meniscus_scene::{AnyScene, text};
use meniscus_store::cache;
use meniscus_store::error::Error;
use meniscus_store::opened_run::{FrameChoice, OpenedRun};
use meniscus_store::run_folder::{self, RunFolder};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::failed;
use crate::frame::{AnyFrame, Frame};
use crate::scene::Scene;
use crate::worker::{Link, supervise};

/// Runs of this process and their folders. A run that was interrupted ends a little later than the call.
static ACTIVE: Mutex<Vec<(PathBuf, Arc<()>)>> = Mutex::new(Vec::new());

/// Waits until an interrupted run of this process has left a folder.
fn wait_for_interrupted(py: Python<'_>, folder: &Path) -> PyResult<()> {
    loop {
        let is_active = {
            let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
            active.retain(|(_, token)| Arc::strong_count(token) > 1);
            active
                .iter()
                .any(|(other, _)| run_folder::is_same(other, folder))
        };
        if !is_active {
            return Ok(());
        }
        py.detach(|| std::thread::sleep(Duration::from_millis(20)));
        py.check_signals()?;
    }
}

/// Sends the events of a run to the thread of the caller, as JSON.
struct Forward<'a>(&'a Link<String, ()>);

impl Progress for Forward<'_> {
    fn event(&mut self, event: Event<'_>) {
        let line = |line: &StepLine| json!({"time": line.time, "dt": line.dt, "particles": line.particles});
        let message = match event {
            Event::Begin {
                frames,
                done,
                particles,
                threads,
            } => {
                json!({"event": "begin", "frames": frames, "done": done, "particles": particles, "threads": threads})
            }
            Event::Notice(text) => json!({"event": "notice", "text": text}),
            // One message per frame is enough.
            Event::Step(_) => return,
            Event::Frame {
                number,
                steps,
                last,
                drifted,
            } => {
                json!({"event": "frame", "number": number, "steps": steps, "last": line(last), "drifted": drifted})
            }
        };
        self.0.tell(message.to_string());
    }
}

/// Folder with a number after the usual name of a scene, the first that is free.
#[pyfunction]
pub fn next_free(scene: &str) -> PathBuf {
    run_folder::next_free(&run_folder::usual(scene))
}

/// Runs a scene into a folder. `from_frame` continues after that frame, in place or from the run in `branch_from`.
#[pyfunction]
#[pyo3(signature = (scene, out, resume, overwrite, from_frame, branch_from, threads, callback))]
pub fn run(
    py: Python<'_>,
    scene: &Scene,
    out: PathBuf,
    resume: bool,
    overwrite: bool,
    from_frame: Option<u32>,
    branch_from: Option<PathBuf>,
    threads: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<()> {
    let start = match (resume, from_frame, branch_from) {
        (true, None, None) => Start::Resume,
        (false, None, None) => Start::Beginning,
        (false, Some(frame), None) => Start::FromFrame(frame),
        (false, Some(frame), Some(run)) => Start::Branch { run, frame },
        _ => {
            return Err(PyValueError::new_err(
                "resume excludes from_frame, and branch_from needs from_frame",
            ));
        }
    };
    wait_for_interrupted(py, &out)?;
    let token = Arc::new(());
    let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
    active.push((out.clone(), Arc::clone(&token)));
    drop(active);
    let any = Arc::clone(&scene.scene);
    let (scene_text, meshes) = (scene.text.clone(), scene.meshes.clone());
    let work = move |link: &Link<String, ()>| -> Result<(), Error> {
        let _running = token;
        let stop = link.stop_flag();
        let options = Options {
            out,
            threads,
            memory_limit: None,
            scene_text,
            meshes,
            start,
            overwrite,
            stop: &stop,
        };
        runner::run(&any, &options, &mut Forward(link)).map(|_| ())
    };
    let execute = |py: Python<'_>, message: String| {
        if let Some(callback) = &callback {
            callback.call1(py, (message,))?;
        }
        Ok(None)
    };
    supervise(py, None, work, execute)?.map_err(|e| failed(py, &e))
}

/// The folder of a run: finished, running or interrupted.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Run {
    root: PathBuf,
    scene: Mutex<Option<Arc<AnyScene>>>,
}

impl Run {
    fn opened(&self, py: Python<'_>) -> PyResult<OpenedRun> {
        OpenedRun::open(&self.root).map_err(|e| failed(py, &e))
    }

    fn scene(&self, py: Python<'_>, run: &OpenedRun) -> PyResult<Arc<AnyScene>> {
        let mut scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scene) = &*scene {
            return Ok(Arc::clone(scene));
        }
        let loaded = Arc::new(text::load_run(run, None).map_err(|e| failed(py, &e))?);
        *scene = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}

#[pymethods]
impl Run {
    #[new]
    fn new(py: Python<'_>, root: PathBuf) -> PyResult<Self> {
        let run = Run {
            root,
            scene: Mutex::new(None),
        };
        run.opened(py)?;
        Ok(run)
    }

    #[getter]
    fn path(&self) -> &Path {
        &self.root
    }

    /// Manifest as JSON, as it is now.
    #[getter]
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        Ok(json!(self.opened(py)?.manifest).to_string())
    }

    /// Text of the scene with all defaults.
    #[getter]
    fn scene_text(&self, py: Python<'_>) -> PyResult<String> {
        let (_, text) = self.opened(py)?.scene_text().map_err(|e| failed(py, &e))?;
        Ok(text)
    }

    /// Numbers of the frames that exist now.
    #[getter]
    fn frames(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let run = self.opened(py)?;
        if run.manifest.particles.is_empty() {
            return Ok(Vec::new());
        }
        run.frames(&FrameChoice::default())
            .map_err(|e| failed(py, &e))
    }

    /// A frame by its number.
    fn frame(&self, py: Python<'_>, number: u32) -> PyResult<Frame> {
        let run = self.opened(py)?;
        if number > run.manifest.frames_done || !run.manifest.keeps(number) {
            return Err(PyIndexError::new_err(format!("there is no frame {number}")));
        }
        let scene = self.scene(py, &run)?;
        let path = cache::frame_path(&self.root, number);
        let dimension = scene.dimension();
        let work = move |_: &Link<(), ()>| match dimension {
            2 => cache::read(&path).map(AnyFrame::Two),
            _ => cache::read(&path).map(AnyFrame::Three),
        };
        let frame = supervise(py, None, work, |_, ()| Ok(None))?;
        Ok(Frame::new(frame.map_err(|e| failed(py, &e))?, scene))
    }

    /// Paths of the files of the run by their names.
    fn file(&self, name: &str) -> PyResult<PathBuf> {
        let folder = RunFolder::of_run(&self.root);
        match name {
            "scene" => Ok(folder.scene()),
            "statistics" => Ok(folder.statistics()),
            "timings" => Ok(folder.timings()),
            "bodies" => Ok(folder.bodies()),
            "preview" => Ok(folder.preview()),
            _ => Err(PyValueError::new_err(format!(
                "{name:?} is not a file of a run"
            ))),
        }
    }
}
