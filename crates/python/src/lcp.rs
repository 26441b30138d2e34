//! Solves of complementarity problems.

use std::ops::ControlFlow;
use std::time::Instant;

use meniscus_lcp::analysis::analyse as analyse_problem;
use meniscus_lcp::registry::{
    Attempt, COUPLED_SOLVERS, Method, Options, Registry, Solution, solve_coupled, solve_full,
};
use meniscus_lcp::{
    BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, InputError, Observer, Progress, Report,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::invalid;
use crate::worker::{Link, guarded, supervise};

/// Bounds, right-hand side, start and stopping rule of a solve.
#[derive(Clone, Debug)]
pub struct Problem {
    /// `b` of `y = A x + b`.
    pub rhs: Vec<f64>,
    /// Lower bounds of `x`.
    pub lower: Vec<f64>,
    /// Upper bounds of `x`.
    pub upper: Vec<f64>,
    /// Start.
    pub start: Vec<f64>,
    /// Tolerance and limit of iterations.
    pub options: Options,
}

/// Request of a solve to the thread of the caller.
pub enum Request {
    /// Calls the callback with the progress of a solve.
    Progress(Progress),
    /// Multiplies a vector by a Python operator, or by its transpose.
    Product {
        /// Vector.
        x: Vec<f64>,
        /// Whether the operator is transposed.
        transposed: bool,
    },
}

/// Answer to a request.
pub enum Answer {
    /// Whether to continue.
    Continue(bool),
    /// Product.
    Product(Vec<f64>),
}

/// One observed iteration.
#[derive(Clone, Copy)]
pub struct Observed {
    progress: Progress,
    seconds: f64,
}

/// Observer that records all iterations, calls the callback if there is one, and stops when the caller has left.
pub struct Recorder<'a> {
    /// None on the thread of the caller itself.
    link: Option<&'a Link<Request, Answer>>,
    calls_back: bool,
    time_limit: f64,
    started: Instant,
    seen: Vec<Observed>,
}

impl<'a> Recorder<'a> {
    /// An observer of a solve that starts now and may take so many seconds.
    pub fn new(link: &'a Link<Request, Answer>, calls_back: bool, time_limit: f64) -> Self {
        Recorder {
            link: Some(link),
            calls_back,
            time_limit,
            ..Recorder::alone()
        }
    }

    /// An observer of a solve on the thread of the caller that starts now.
    pub fn alone() -> Self {
        Recorder {
            link: None,
            calls_back: false,
            time_limit: f64::INFINITY,
            started: Instant::now(),
            seen: Vec::new(),
        }
    }

    fn flow(&self, keep_on: bool) -> ControlFlow<()> {
        let in_time = self.started.elapsed().as_secs_f64() <= self.time_limit;
        match keep_on && in_time && !self.link.is_some_and(Link::is_stopped) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.seen.push(Observed {
            progress: *progress,
            seconds: self.started.elapsed().as_secs_f64(),
        });
        match self.link {
            Some(link) if self.calls_back => {
                let answer = link.ask(Request::Progress(*progress));
                self.flow(matches!(answer, Some(Answer::Continue(true))))
            }
            _ => self.flow(true),
        }
    }

    fn observe_inner(&mut self, _: &meniscus_lcp::InnerProgress) -> ControlFlow<()> {
        self.flow(true)
    }
}

/// Result of a solve.
pub struct Solved {
    /// Solution.
    pub x: Vec<f64>,
    /// `y = A x + b`
    pub y: Vec<f64>,
    /// Name of the solver that was asked for.
    pub solver: String,
    /// Solver, report and attempts.
    pub solution: Solution,
    /// Iterations.
    pub trace: Vec<Observed>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl Solved {
    /// The result of a solve with its trace.
    pub fn new(
        problem: &BoxMlcp<'_, impl meniscus_lcp::Operator + ?Sized>,
        x: Vec<f64>,
        solver: &str,
        solution: Solution,
        recorder: Recorder<'_>,
    ) -> Self {
        let seconds = recorder.started.elapsed().as_secs_f64();
        let mut y = vec![0.0; x.len()];
        problem.affine(&x, &mut y);
        Solved {
            x,
            y,
            solver: solver.into(),
            solution,
            trace: recorder.seen,
            seconds,
        }
    }

    /// The result as a dictionary.
    pub fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let Report {
            status,
            iterations,
            inner_iterations,
            residual,
            merit,
            ..
        } = self.solution.report;
        let dict = PyDict::new(py);
        dict.set_item("x", PyArray1::from_vec(py, self.x))?;
        dict.set_item("y", PyArray1::from_vec(py, self.y))?;
        dict.set_item("status", status.word())?;
        dict.set_item("explanation", status.explanation())?;
        dict.set_item("residual", residual)?;
        dict.set_item("merit", merit)?;
        dict.set_item("iterations", iterations)?;
        dict.set_item("inner_iterations", inner_iterations)?;
        dict.set_item("solver", self.solution.solver)?;
        dict.set_item("asked", self.solver)?;
        dict.set_item("seconds", self.seconds)?;
        let attempts = PyList::empty(py);
        for attempt in &self.solution.attempts {
            attempts.append(attempt_dict(py, attempt)?)?;
        }
        dict.set_item("attempts", attempts)?;
        let column = |of: fn(&Observed) -> f64| PyArray1::from_iter(py, self.trace.iter().map(of));
        let trace = PyDict::new(py);
        trace.set_item("iteration", column(|seen| seen.progress.iteration as f64))?;
        trace.set_item(
            "inner_iterations",
            column(|seen| seen.progress.inner_iterations as f64),
        )?;
        trace.set_item("residual", column(|seen| seen.progress.residual))?;
        trace.set_item("merit", column(|seen| seen.progress.merit))?;
        trace.set_item("seconds", column(|seen| seen.seconds))?;
        dict.set_item("trace", trace)?;
        Ok(dict)
    }
}

fn attempt_dict<'py>(py: Python<'py>, attempt: &Attempt) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("solver", attempt.solver)?;
    dict.set_item("why", attempt.why)?;
    dict.set_item("status", attempt.report.status.word())?;
    dict.set_item("residual", attempt.report.residual)?;
    Ok(dict)
}

/// Calls the Python callback. `True` and `StopIteration` stop the solve.
pub fn call_back(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    progress: &Progress,
) -> PyResult<bool> {
    let Some(callback) = callback else {
        return Ok(true);
    };
    let dict = PyDict::new(py);
    dict.set_item("iteration", progress.iteration)?;
    dict.set_item("inner_iterations", progress.inner_iterations)?;
    dict.set_item("residual", progress.residual)?;
    dict.set_item("merit", progress.merit)?;
    match callback.call1(py, (dict,)) {
        Ok(answer) => Ok(!answer.is_truthy(py)?),
        Err(exception) if exception.is_instance_of::<PyStopIteration>(py) => Ok(false),
        Err(exception) => Err(exception),
    }
}

/// Right-hand side, bounds, start, tolerance, whether it is absolute, and iteration limit, as they come from Python.
pub type Rows<'py> = (
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    Option<PyReadonlyArray1<'py, f64>>,
    f64,
    bool,
    Option<usize>,
);

/// Copies the vectors of a problem, which outlive the call.
pub fn problem(rows: Rows<'_>) -> PyResult<Problem> {
    let (rhs, lower, upper, start, tolerance, absolute, max_iterations) = rows;
    let rhs = rhs.as_slice()?.to_vec();
    let start = match start {
        Some(start) => start.as_slice()?.to_vec(),
        None => vec![0.0; rhs.len()],
    };
    Ok(Problem {
        rhs,
        lower: lower.as_slice()?.to_vec(),
        upper: upper.as_slice()?.to_vec(),
        start,
        options: Options::default()
            .tolerance(tolerance)
            .absolute(absolute)
            .max_iterations(max_iterations),
    })
}

/// Rows of friction, each with the row that it follows and its coefficient, and pairs of them that are discs.
pub type Friction = (Vec<(usize, usize, f64)>, Vec<(usize, usize)>);

/// Arrays of a sparse matrix, not yet checked: starts of rows, columns, values.
pub type MatrixArrays = (Vec<usize>, Vec<u32>, Vec<f64>);

/// The sparse matrix of some arrays. It is made by the computation, whose threads check it.
pub fn matrix((starts, columns, values): MatrixArrays) -> Result<Csr, InputError> {
    Csr::new(starts.len().saturating_sub(1), starts, columns, values)
}

/// Arrays of scipy: starts of rows, columns, values.
pub type ScipyArrays<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyAny>,
    PyReadonlyArray1<'py, f64>,
);

/// Copies the arrays of scipy, once.
pub fn copied((starts, columns, values): &ScipyArrays<'_>) -> PyResult<MatrixArrays> {
    let starts = indices(starts, "A: indptr has a negative entry")?;
    let columns = indices(columns, "A: a column index is negative or above 2^32 - 1")?;
    Ok((starts, columns, values.as_slice()?.to_vec()))
}

/// Copies indices of 32 or 64 bits.
fn indices<T: TryFrom<i32> + TryFrom<i64>>(
    array: &Bound<'_, PyAny>,
    out_of_range: &'static str,
) -> PyResult<Vec<T>> {
    let copied: Option<Vec<T>> = if let Ok(narrow) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        let narrow = narrow.as_slice()?.iter();
        narrow.map(|&index| T::try_from(index).ok()).collect()
    } else {
        let wide = array.extract::<PyReadonlyArray1<'_, i64>>()?;
        let wide = wide.as_slice()?.iter();
        wide.map(|&index| T::try_from(index).ok()).collect()
    };
    copied.ok_or_else(|| PyValueError::new_err(out_of_range))
}

/// Rows up to which a solve in a bounded number of operations takes less than a tenth of a second, and is done where it is asked
/// for: handing it to another thread and back would take longer.
const FEW: usize = 200;

/// Solves a problem on the thread of the caller, if that is a matter of a few factorisations.
fn solved_here(csr: &Csr, given: &Problem) -> Result<Option<Solved>, InputError> {
    let rows = BoxMlcp::new(csr, &given.rhs, &given.lower, &given.upper)?;
    let mut x = given.start.clone();
    let mut recorder = Recorder::alone();
    let solution = solve_full(&rows, &given.options, &mut x, &mut recorder)?;
    Ok(solution.map(|solution| Solved::new(&rows, x, Method::Auto.name(), solution, recorder)))
}

/// Solves a problem with a sparse matrix.
#[pyfunction]
#[pyo3(signature = (matrix_arrays, rows, solver, friction, threads, callback, time_limit))]
pub fn solve<'py>(
    py: Python<'py>,
    matrix_arrays: ScipyArrays<'py>,
    rows: Rows<'py>,
    solver: String,
    friction: Option<Friction>,
    threads: Option<usize>,
    callback: Option<Py<PyAny>>,
    time_limit: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let mut arrays = copied(&matrix_arrays)?;
    let given = problem(rows)?;
    let friction = friction.map(|(rows, discs)| {
        let bound = |(row, of, factor)| CoupledBound { row, of, factor };
        let bounds: Vec<CoupledBound> = rows.into_iter().map(bound).collect();
        let pairs: Vec<[usize; 2]> = discs.into_iter().map(|(a, b)| [a, b]).collect();
        (bounds, pairs)
    });
    let asked = solver.clone();
    // An unknown name is an error before anything is computed.
    match &friction {
        None => drop(
            Registry::default()
                .find(&solver)
                .map_err(PyValueError::new_err)?,
        ),
        Some(_) if solver == Method::Auto.name() || COUPLED_SOLVERS.contains(&solver.as_str()) => {}
        Some(_) => {
            return Err(PyValueError::new_err(format!(
                "{solver:?} does not solve problems with friction; use \"auto\", \"{}\"",
                COUPLED_SOLVERS.join("\" or \"")
            )));
        }
    }
    let calls_back = callback.is_some();
    let is_few = given.rhs.len() <= FEW && asked == Method::Auto.name();
    let mut made = None;
    if is_few && !calls_back && friction.is_none() && arrays.1.len() <= FEW * FEW {
        made = Some(matrix(std::mem::take(&mut arrays)).map_err(|e| invalid(&e))?);
        let quick = guarded(|| py.detach(|| solved_here(made.as_ref()?, &given).transpose()))?;
        if let Some(solved) = quick {
            return solved.map_err(|e| invalid(&e))?.into_dict(py);
        }
    }
    let work = move |link: &Link<Request, Answer>| -> Result<Solved, InputError> {
        let csr = match made {
            Some(csr) => csr,
            None => matrix(arrays)?,
        };
        let rows = BoxMlcp::new(&csr, &given.rhs, &given.lower, &given.upper)?;
        let mut x = given.start;
        let mut recorder = Recorder::new(link, calls_back, time_limit);
        let solution = match &friction {
            None => {
                let registry = Registry::default();
                match registry.find(&asked) {
                    Ok(solver) => solver.solve(&rows, &given.options, &mut x, &mut recorder)?,
                    Err(_) => Solution::none(),
                }
            }
            Some((bounds, discs)) => {
                let coupled = CoupledBoundMlcp::new(rows, bounds)?.with_discs(discs)?;
                solve_coupled(&coupled, &asked, &given.options, &mut x, &mut recorder)?
            }
        };
        Ok(Solved::new(&rows, x, &asked, solution, recorder))
    };
    let solved = supervise(py, threads, work, |py, request| match request {
        Request::Progress(progress) => {
            call_back(py, callback.as_ref(), &progress).map(|go_on| Some(Answer::Continue(go_on)))
        }
        Request::Product { .. } => Ok(None),
    })?;
    solved.map_err(|e| invalid(&e))?.into_dict(py)
}

/// Properties of a problem, and the solvers that it fits.
#[pyfunction]
pub fn analyse<'py>(
    py: Python<'py>,
    matrix_arrays: ScipyArrays<'py>,
    rows: Rows<'py>,
) -> PyResult<Vec<(String, Option<&'static str>)>> {
    let arrays = copied(&matrix_arrays)?;
    let given = problem(rows)?;
    let work = move |_: &Link<(), ()>| -> Result<_, InputError> {
        let csr = matrix(arrays)?;
        let problem = BoxMlcp::new(&csr, &given.rhs, &given.lower, &given.upper)?;
        let analysis = analyse_problem(&problem);
        let registry = Registry::default();
        let fits = registry
            .solvers()
            .map(|solver| (solver.name().to_owned(), solver.fits(&analysis).err()));
        Ok(fits.collect())
    };
    supervise(py, None, work, |_, ()| Ok(None))?.map_err(|e| invalid(&e))
}

/// Names of the solvers for problems with friction.
#[pyfunction]
pub fn coupled_solvers() -> Vec<&'static str> {
    COUPLED_SOLVERS.to_vec()
}

/// Names of the solvers, each with its family and a description.
#[pyfunction]
pub fn solvers() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let of = |method: &Method| {
        (
            method.name(),
            method.family().words(),
            method.what(),
            method.when(),
        )
    };
    Method::ALL.iter().map(of).collect()
}
