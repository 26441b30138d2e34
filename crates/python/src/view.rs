//! The viewer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use meniscus_app::sweep;
use meniscus_app::viewer::server::{Server, Stopper};
use meniscus_app::viewer::{Watched, report};
use pyo3::prelude::*;

use crate::errors::failed;
use crate::worker::{Link, supervise};

/// A server of the viewer's page for one run, on this machine only.
#[pyclass(frozen, module = "meniscus._native")]
pub struct View {
    #[pyo3(get)]
    address: String,
    stopper: Stopper,
}

#[pymethods]
impl View {
    #[new]
    fn new(py: Python<'_>, run: PathBuf, port: u16) -> PyResult<Self> {
        let opened = Watched::open(&run, None).and_then(|run| Server::bind(vec![run], port));
        let server = Arc::new(opened.map_err(|e| failed(py, &e))?);
        let view = View {
            address: format!("http://{}/", server.address()),
            stopper: server.stopper(),
        };
        std::thread::spawn(move || server.serve());
        Ok(view)
    }

    /// Stops the server.
    fn stop(&self) {
        self.stopper.stop();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.stopper.stop();
    }
}

/// Writes the viewer's page and the data of a run into one file.
#[pyfunction]
pub fn write_report(py: Python<'_>, run: PathBuf, to: PathBuf) -> PyResult<()> {
    let work = move |_: &Link<(), ()>| report::write(&run, None, &to).map(|_| ());
    supervise(py, None, work, |_, ()| Ok(None))?.map_err(|e| failed(py, &e))
}

/// Writes the last frames of runs as one image, each with a label.
#[pyfunction]
pub fn contact_sheet(
    py: Python<'_>,
    runs: Vec<PathBuf>,
    labels: Vec<String>,
    to: PathBuf,
) -> PyResult<()> {
    let work = move |link: &Link<(), ()>| {
        let runs: Vec<&Path> = runs.iter().map(PathBuf::as_path).collect();
        sweep::sheet(&runs, &labels, &link.stop_flag(), &to)
    };
    supervise(py, None, work, |_, ()| Ok(None))?.map_err(|e| failed(py, &e))
}
