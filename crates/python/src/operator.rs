//! Solves with a Python operator: methods that need only products.

use meniscus_lcp::methods::{mprgp, newton};
use meniscus_lcp::precondition::{Identity, Jacobi, Preconditioner};
use meniscus_lcp::registry::Solution;
use meniscus_lcp::{BoxMlcp, InputError, Operator};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::invalid;
use crate::lcp::{Answer, Recorder, Request, Rows, Solved, call_back, problem};
use crate::worker::{Link, supervise};

/// Matrix-free methods by name.
const METHODS: [&str; 2] = ["mprgp", "newton"];
/// Iterations of GMRES between restarts.
const RESTART: usize = 50;

/// A linear operator of Python. Its products are computed on the thread of the caller.
struct PythonOperator<'a> {
    link: &'a Link<Request, Answer>,
    diagonal: &'a [f64],
    symmetric: bool,
}

impl PythonOperator<'_> {
    fn product(&self, x: &[f64], y: &mut [f64], transposed: bool) {
        let request = Request::Product {
            x: x.to_vec(),
            transposed,
        };
        match self.link.ask(request) {
            Some(Answer::Product(product)) => y.copy_from_slice(&product),
            // The caller has left; the observer stops the solve.
            _ => y.fill(0.0),
        }
    }
}

impl Operator for PythonOperator<'_> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.product(x, y, false);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.product(x, y, !self.symmetric);
    }

    fn diagonal(&self, d: &mut [f64]) {
        d.copy_from_slice(self.diagonal);
    }
}

/// Request for a product to the operator, and the check of its answer.
fn multiplied(
    py: Python<'_>,
    (product, transposed_product): (&Py<PyAny>, &Py<PyAny>),
    x: Vec<f64>,
    transposed: bool,
) -> PyResult<Vec<f64>> {
    let n = x.len();
    let function = if transposed {
        transposed_product
    } else {
        product
    };
    let y = function.call1(py, (PyArray1::from_vec(py, x),))?;
    let y: PyReadonlyArray1<'_, f64> = y.extract(py)?;
    let y = y.as_slice()?.to_vec();
    if y.len() != n {
        let message = format!("A: a product has {} entries, expected {n}", y.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(y)
}

/// Solves a problem with a Python operator: `products` are the functions for `A x` and `A' x`, which return contiguous
/// vectors. Without a diagonal nothing is preconditioned.
#[pyfunction]
#[pyo3(signature = (products, diagonal, symmetric, rows, solver, threads, callback))]
pub fn solve_operator<'py>(
    py: Python<'py>,
    products: (Py<PyAny>, Py<PyAny>),
    diagonal: Option<PyReadonlyArray1<'py, f64>>,
    symmetric: bool,
    rows: Rows<'py>,
    solver: String,
    threads: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let given = problem(rows)?;
    let Some(method) = METHODS.into_iter().find(|name| *name == solver) else {
        return Err(PyValueError::new_err(format!(
            "{solver:?} needs the entries of the matrix; matrix-free are \"auto\", \"{}\"",
            METHODS.join("\" and \"")
        )));
    };
    let preconditioned = diagonal.is_some();
    let diagonal = match diagonal {
        Some(diagonal) => diagonal.as_slice()?.to_vec(),
        None => vec![1.0; given.rhs.len()],
    };
    let calls_back = callback.is_some();
    let work = move |link: &Link<Request, Answer>| -> Result<Solved, InputError> {
        let operator = PythonOperator {
            link,
            diagonal: &diagonal,
            symmetric,
        };
        let rows = BoxMlcp::new(&operator, &given.rhs, &given.lower, &given.upper)?;
        let mut preconditioner: Box<dyn Preconditioner> = match preconditioned {
            true => Box::new(Jacobi::new(&operator)?),
            false => Box::new(Identity),
        };
        let mut x = given.start;
        let mut recorder = Recorder::new(link, calls_back, f64::INFINITY);
        let (tolerance, limit) = (given.options.tolerance, given.options.max_iterations);
        let report = if method == METHODS[0] {
            let mut settings = mprgp::Settings::default().tolerance(tolerance);
            if let Some(limit) = limit {
                settings = settings.max_iterations(limit);
            }
            let workspace = &mut mprgp::Workspace::default();
            mprgp::solve(
                &rows,
                &settings,
                &mut *preconditioner,
                &mut x,
                workspace,
                &mut recorder,
            )?
        } else {
            let mut settings = newton::Settings::default()
                .tolerance(tolerance)
                .scaled(preconditioned);
            if !symmetric {
                settings = settings
                    .inner(newton::Inner::Gmres { restart: RESTART })
                    .globalisation(newton::Globalisation::Fischer);
            }
            if let Some(limit) = limit {
                settings = settings.max_iterations(limit);
            }
            let workspace = &mut newton::Workspace::default();
            newton::solve(
                &rows,
                &settings,
                &mut *preconditioner,
                &mut x,
                workspace,
                &mut recorder,
            )?
        };
        let solution = Solution::of(method, "it needs only products with the matrix", report);
        Ok(Solved::new(&rows, x, method, solution, recorder))
    };
    let solved = supervise(py, threads, work, |py, request| match request {
        Request::Progress(progress) => {
            call_back(py, callback.as_ref(), &progress).map(|go_on| Some(Answer::Continue(go_on)))
        }
        Request::Product { x, transposed } => {
            let products = (&products.0, &products.1);
            multiplied(py, products, x, transposed).map(|y| Some(Answer::Product(y)))
        }
    })?;
    solved.map_err(|e| invalid(&e))?.into_dict(py)
}
