//! Native part of the Python package `meniscus`: what crosses the language boundary, and nothing else. Conversions of
//! arguments, tables and plots are in Python, in `python/meniscus/`.
//!
//! Everything that computes runs on a thread of its own (`worker.rs`) while the thread of the caller waits without the
//! interpreter's lock, executes callbacks and checks for signals.

#![allow(clippy::too_many_arguments)] // functions are called from Python, with its arguments

mod errors;
mod files;
mod frame;
mod lcp;
mod operator;
mod pool;
mod run;
mod scene;
mod simulation;
mod view;
mod worker;

use pyo3::prelude::*;

/// Functions and classes of the native module; see the Python package for their documentation.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::errors::{MeniscusError, SceneError};
    #[pymodule_export]
    use crate::files::{generate, read_matrix, read_vector, write_matrix, write_vector};
    #[pymodule_export]
    use crate::frame::{Frame, Mesh, PointLayer, Surface};
    #[pymodule_export]
    use crate::lcp::{analyse, coupled_solvers, solve, solvers};
    #[pymodule_export]
    use crate::operator::solve_operator;
    #[pymodule_export]
    use crate::run::{Run, next_free, run};
    #[pymodule_export]
    use crate::scene::{Scene, builtin_scenes, schema};
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::view::{View, contact_sheet, write_report};

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // the usual name in Python
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
