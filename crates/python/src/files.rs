//! Problems that are generated, read and written.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::PathBuf;

use meniscus_lcp::Csr;
use meniscus_lcp::gallery::{self, Instance, Random};
use meniscus_lcp::matrix_market::{self, Limits};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::invalid;
use crate::lcp::{ScipyArrays, copied, matrix};
use crate::worker::{Link, supervise};

/// Generates a problem with a known solution: `fluid`, `contact` or `dense`.
#[pyfunction]
pub fn generate<'py>(
    py: Python<'py>,
    family: &str,
    size: usize,
    seed: u64,
    shape: (usize, f64, f64),
) -> PyResult<Bound<'py, PyDict>> {
    let (bands, null, zeros) = shape;
    let family = family.to_owned();
    let work = move |_: &Link<(), ()>| -> Option<Instance> {
        let mut random = Random::new(seed);
        match family.as_str() {
            "fluid" => Some(gallery::banded(size, bands, zeros, &mut random)),
            "contact" => Some(gallery::contact_cone(size, &mut random)),
            "dense" => Some(gallery::dense(size, null, zeros, &mut random)),
            _ => None,
        }
    };
    let instance = supervise(py, None, work, |_, ()| Ok(None))?;
    let instance = instance.ok_or_else(|| {
        PyValueError::new_err("family must be \"fluid\", \"contact\" or \"dense\"")
    })?;
    let dict = PyDict::new(py);
    dict.set_item("b", PyArray1::from_vec(py, instance.rhs))?;
    dict.set_item("lower", PyArray1::from_vec(py, instance.lower))?;
    dict.set_item("upper", PyArray1::from_vec(py, instance.upper))?;
    dict.set_item("solution", PyArray1::from_vec(py, instance.solution))?;
    dict.set_item("A", arrays(py, instance.matrix)?)?;
    Ok(dict)
}

/// The arrays of a sparse matrix: starts of rows, columns, values.
fn arrays(py: Python<'_>, matrix: Csr) -> PyResult<Bound<'_, PyList>> {
    let (starts, columns, values) = matrix.into_parts();
    let list = PyList::empty(py);
    list.append(PyArray1::from_iter(
        py,
        starts.iter().map(|&start| start as i64),
    ))?;
    list.append(PyArray1::from_iter(
        py,
        columns.iter().map(|&column| i64::from(column)),
    ))?;
    list.append(PyArray1::from_vec(py, values))?;
    Ok(list)
}

fn opened(path: &PathBuf) -> PyResult<BufReader<File>> {
    File::open(path)
        .map(BufReader::new)
        .map_err(|e| PyOSError::new_err(format!("could not read {}: {e}", path.display())))
}

fn unreadable(path: &std::path::Path, why: &matrix_market::ReadError) -> PyErr {
    PyValueError::new_err(format!("{}: {why}", path.display()))
}

/// Reads a matrix in Matrix Market format.
#[pyfunction]
pub fn read_matrix(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyList>> {
    let reader = opened(&path)?;
    let work = move |_: &Link<(), ()>| matrix_market::read_matrix(reader, &Limits::default());
    let read = supervise(py, None, work, |_, ()| Ok(None))?;
    arrays(py, read.map_err(|why| unreadable(&path, &why))?)
}

/// Reads a vector in Matrix Market format.
#[pyfunction]
pub fn read_vector(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let reader = opened(&path)?;
    let work = move |_: &Link<(), ()>| matrix_market::read_vector(reader, &Limits::default());
    let read = supervise(py, None, work, |_, ()| Ok(None))?;
    Ok(PyArray1::from_vec(
        py,
        read.map_err(|why| unreadable(&path, &why))?,
    ))
}

fn written(
    path: &PathBuf,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> PyResult<()> {
    let file = File::create(path).map(BufWriter::new);
    file.and_then(|mut file| {
        write(&mut file)?;
        file.flush()
    })
    .map_err(|e| PyOSError::new_err(format!("could not write {}: {e}", path.display())))
}

/// Writes a matrix in Matrix Market format.
#[pyfunction]
pub fn write_matrix(py: Python<'_>, path: PathBuf, matrix_arrays: ScipyArrays<'_>) -> PyResult<()> {
    let arrays = copied(&matrix_arrays)?;
    let work = move |_: &Link<(), ()>| matrix(arrays);
    let csr = supervise(py, None, work, |_, ()| Ok(None))?.map_err(|e| invalid(&e))?;
    written(&path, |file| matrix_market::write_matrix(file, &csr))
}

/// Writes a vector in Matrix Market format.
#[pyfunction]
pub fn write_vector(path: PathBuf, vector: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
    let vector = vector.as_slice()?;
    written(&path, |file| matrix_market::write_vector(file, vector))
}
