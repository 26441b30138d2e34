//! Scenes.

use std::path::PathBuf;
use std::sync::Arc;

use meniscus_app::runner::{self, Reload, estimate};
use meniscus_scene::text::{self, Loaded, Override};
use meniscus_scene::{AnyScene, builtin};
use meniscus_store::error::Error;
use meniscus_store::mesh_copies::MeshSource;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::bad_scene;
use crate::worker::{Link, supervise};

/// Loads a scene with some of its keys changed.
type Load = dyn Fn(&[Override]) -> Result<Loaded, Error> + Send + Sync;

/// A valid scene.
#[pyclass(frozen, module = "meniscus._native")]
pub struct Scene {
    /// The scene.
    pub scene: Arc<AnyScene>,
    /// Its text with all defaults.
    #[pyo3(get)]
    pub text: String,
    /// Its mesh files.
    pub meshes: Vec<MeshSource>,
    /// Warnings as JSON.
    #[pyo3(get)]
    pub diagnostics: String,
    /// Loads it again with some keys changed.
    load: Arc<Load>,
}

impl Scene {
    /// The scene with some of its keys changed.
    pub fn reload(&self) -> Reload {
        let load = Arc::clone(&self.load);
        Arc::new(move |changes| load(changes)?.ready().map(|(scene, _)| scene))
    }
}

/// Loads a scene and turns its errors into an exception.
fn loaded(
    py: Python<'_>,
    changes: Vec<(String, String)>,
    load: impl Fn(&[Override]) -> Result<Loaded, Error> + Send + Sync + 'static,
) -> PyResult<Scene> {
    let own = overrides(changes);
    let load = Arc::new(move |more: &[Override]| load(&[&own[..], more].concat()));
    let first = Arc::clone(&load);
    let work = move |_: &Link<(), ()>| first(&[]);
    let loaded = supervise(py, None, work, |_, ()| Ok(None))?;
    let loaded = loaded.map_err(|e| bad_scene(py, &e, pyo3::types::PyList::empty(py).into()))?;
    let lines = loaded
        .problems
        .iter()
        .map(|problem| loaded.source.line(problem));
    let diagnostics = json!(lines.collect::<Vec<_>>()).to_string();
    let meshes = loaded.meshes.clone();
    match loaded.ready() {
        Ok((scene, text)) => Ok(Scene {
            scene: Arc::new(scene),
            text,
            meshes,
            diagnostics,
            load,
        }),
        Err(error) => {
            let lines = py.import("json")?.call_method1("loads", (diagnostics,))?;
            Err(bad_scene(py, &error, lines.unbind()))
        }
    }
}

/// Overrides as the command line has them, by key and TOML value.
fn overrides(changes: Vec<(String, String)>) -> Vec<Override> {
    changes
        .into_iter()
        .map(|(path, value)| Override {
            typed: format!("set {path}={value}"),
            path,
            value,
        })
        .collect()
}

#[pymethods]
impl Scene {
    /// A scene from a file or the name of a built-in one.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        name: PathBuf,
        changes: Vec<(String, String)>,
        outside: bool,
    ) -> PyResult<Self> {
        loaded(py, changes, move |changes| {
            text::load(&name, changes, outside)
        })
    }

    /// A scene from text.
    #[staticmethod]
    fn from_text(
        py: Python<'_>,
        content: String,
        name: String,
        changes: Vec<(String, String)>,
        folder: Option<PathBuf>,
        outside: bool,
    ) -> PyResult<Self> {
        loaded(py, changes, move |changes| {
            let folder = folder.as_deref();
            Ok(text::load_from(
                "<scene>", &content, &name, changes, folder, outside,
            ))
        })
    }

    #[getter]
    fn name(&self) -> &str {
        self.scene.name()
    }

    #[getter]
    fn summary(&self) -> &str {
        self.scene.summary()
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.scene.dimension()
    }

    #[getter]
    fn resolution(&self) -> usize {
        self.scene.resolution()
    }

    #[getter]
    fn frames(&self) -> u32 {
        self.scene.frames()
    }

    #[getter]
    fn frame_rate(&self) -> f64 {
        match &*self.scene {
            AnyScene::Two(scene) => scene.frame_rate,
            AnyScene::Three(scene) => scene.frame_rate,
        }
    }

    #[getter]
    fn domain(&self) -> Vec<f64> {
        match &*self.scene {
            AnyScene::Two(scene) => scene.domain.to_vec(),
            AnyScene::Three(scene) => scene.domain.to_vec(),
        }
    }

    /// Facts about liquids and bodies; an exception if a run would be refused.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let scene = Arc::clone(&self.scene);
        let work = move |_: &Link<(), ()>| runner::refused(&scene).map(|()| text::notes(&scene));
        let notes = supervise(py, None, work, |_, ()| Ok(None))?;
        notes.map_err(|e| bad_scene(py, &e, pyo3::types::PyList::empty(py).into()))
    }

    /// Estimate of memory, disk and time as JSON.
    fn estimate(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<String> {
        let scene = Arc::clone(&self.scene);
        let work = move |_: &Link<(), ()>| json!(estimate::of(&scene, threads)).to_string();
        supervise(py, None, work, |_, ()| Ok(None))
    }
}

/// Built-in scenes: names and summaries.
#[pyfunction]
pub fn builtin_scenes() -> Vec<(&'static str, String)> {
    builtin::summaries().collect()
}

/// JSON schema of scene files.
#[pyfunction]
pub fn schema() -> String {
    let schema: Value = text::schema();
    schema.to_string()
}
