//! Exceptions.

use meniscus_lcp::InputError;
use meniscus_store::error::{Error, Kind};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    meniscus,
    MeniscusError,
    PyException,
    "An operation that failed. `exit_code` is that of the command line, `remedy` says what can be done, or is None."
);
pyo3::create_exception!(
    meniscus,
    SceneError,
    MeniscusError,
    "A scene that can't be run. `diagnostics` lists errors and warnings with file, line, column, key, message and help."
);

/// The exception for an error of the program.
pub fn failed(py: Python<'_>, error: &Error) -> PyErr {
    if error.kind() == Kind::Interrupted {
        return PyKeyboardInterrupt::new_err(error.to_string());
    }
    let exception = MeniscusError::new_err(error.to_string());
    with_details(py, exception, error)
}

/// The exception for a scene that can't be run.
pub fn bad_scene(py: Python<'_>, error: &Error, diagnostics: Py<PyAny>) -> PyErr {
    let exception = with_details(py, SceneError::new_err(error.to_string()), error);
    let _ = exception.value(py).setattr("diagnostics", diagnostics);
    exception
}

/// Adds exit code and remedy. An attribute that can't be set leaves the exception as it is.
fn with_details(py: Python<'_>, exception: PyErr, error: &Error) -> PyErr {
    let value = exception.value(py);
    let _ = value.setattr("exit_code", error.kind().exit_code());
    let _ = value.setattr("remedy", error.remedy());
    exception
}

/// `ValueError` for a problem or a setting that breaks its contract.
pub fn invalid(error: &InputError) -> PyErr {
    PyValueError::new_err(match error {
        InputError::NotFinite {
            what: "values",
            index,
        } => format!("A is not finite at stored entry {index}"),
        InputError::NotFinite { what: "rhs", index } => format!("b is not finite at entry {index}"),
        other => other.to_string(),
    })
}
