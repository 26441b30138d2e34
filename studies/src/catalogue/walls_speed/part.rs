//! One problem by one solver, in a process of its own.

use super::RELATIVE_TOLERANCE;
use super::solver_case::SolverCase;
use crate::machine::Span;
use crate::prelude::*;
use meniscus_lcp::registry::{self, Method, Options};
use meniscus_lcp::{InputError, Observer, Progress, Report, Status, matrix_market};
use meniscus_liquid::analytic::{Sphere, Surface};
use meniscus_liquid::spin_pool::spin_if;
use meniscus_liquid::stencil::StencilProblem;
use meniscus_liquid::{multigrid, solvers};
use meniscus_store::atomic_file;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Options.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Part {
    pub size: u32,
    pub solver: SolverCase,
    pub threads: u16,
    pub repeat: u32,
    pub wave: bool,
    pub thin: bool,
    pub pressure_out: Option<PathBuf>,
}

/// Result of a part.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answer {
    pub size: u32,
    pub unknowns: u64,
    pub wall_rows: u64,
    pub separated_rows: u64,
    pub solver: SolverCase,
    pub threads: u16,
    pub converged: bool,
    pub cycles: u64,
    pub setup_cpu_s: f64,
    pub solve_cpu_s: f64,
    pub solve_wall_s: f64,
    pub wall_clock_s: f64,
    /// As a part of the largest entry of b.
    pub residual: f64,
    pub peak_bytes: Option<u64>,
}

impl Answer {
    /// Time of the solve, in seconds.
    pub fn seconds(&self) -> f64 {
        let cpu = self.setup_cpu_s + self.solve_cpu_s;
        counted(self.threads, cpu, self.wall_clock_s)
    }
}

/// Time of a solve. Waiting threads use CPU time too, so several threads are measured by wall-clock time.
fn counted(threads: u16, cpu: f64, wall: f64) -> f64 {
    if threads == 1 { cpu } else { wall }
}

/// A problem of the family.
pub fn sphere(cells: u32, wave: bool, thin: bool) -> Sphere {
    Sphere {
        cells: cells as usize,
        surface: if wave { Surface::Wave } else { Surface::Flat },
        thin,
    }
}

/// Notes when set-up ends: at the first report of a solve.
#[derive(Default)]
struct Clock {
    ready: Option<Moment>,
}

impl Observer for Clock {
    fn observe(&mut self, _: &Progress) -> ControlFlow<()> {
        self.ready.get_or_insert_with(Moment::now);
        ControlFlow::Continue(())
    }
}

/// A timed solve.
struct Timed {
    report: Report,
    setup: Span,
    solve: Span,
}

impl Part {
    pub fn run(&self) -> Result<Answer, Error> {
        let trouble =
            |fault: &dyn std::fmt::Display| Error::new(Kind::Numerical, fault.to_string());
        let sphere = sphere(self.size, self.wave, self.thin);
        let mut problem = sphere
            .stencil_problem::<3>()
            .map_err(|fault| trouble(&fault))?;
        let wall: Vec<bool> = problem.lower.iter().map(|lower| *lower == 0.0).collect();
        if self.solver.is_linear() {
            problem.lower.fill(f64::NEG_INFINITY);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.into())
            .build()
            .map_err(|cause| Error::new(Kind::Resources, cause.to_string()))?;
        let largest = problem.rhs.iter().fold(0.0, |l: f64, b| l.max(b.abs()));
        let mut x = vec![0.0; problem.len()];
        let tolerance = RELATIVE_TOLERANCE * largest;
        let how = match self.solver.sparse() {
            Some(method) => How::Sparse(method, tolerance),
            None => How::Grid(solvers::Settings {
                tolerance,
                ..self.solver.settings().map_err(Error::usage)?
            }),
        };
        let mut best: Option<Timed> = None;
        for _ in 0..self.repeat {
            x.fill(0.0);
            let timed = pool
                .install(|| solve(&problem, &how, &mut x))
                .map_err(|fault| trouble(&fault))?;
            let seconds = |timed: &Timed| {
                let Timed { setup, solve, .. } = timed;
                counted(self.threads, setup.cpu + solve.cpu, setup.wall + solve.wall)
            };
            if best
                .as_ref()
                .is_none_or(|best| seconds(&timed) < seconds(best))
            {
                best = Some(timed);
            }
        }
        let best = best.ok_or_else(|| Error::usage("nothing to repeat"))?;
        if let Some(path) = &self.pressure_out {
            atomic_file::write_with(path, |out| matrix_market::write_vector(out, &x))?;
        }
        let separated = wall.iter().zip(&x).filter(|(wall, x)| **wall && **x == 0.0);
        Ok(Answer {
            size: self.size,
            unknowns: x.len() as u64,
            wall_rows: wall.iter().filter(|wall| **wall).count() as u64,
            separated_rows: if self.solver.is_linear() {
                0
            } else {
                separated.count() as u64
            },
            solver: self.solver.clone(),
            threads: self.threads,
            converged: best.report.status == Status::Converged,
            cycles: if self.solver.cycles() {
                best.report.iterations as u64
            } else {
                best.report.inner_iterations.max(best.report.iterations) as u64
            },
            setup_cpu_s: best.setup.cpu,
            solve_cpu_s: best.solve.cpu,
            solve_wall_s: best.solve.wall,
            wall_clock_s: best.setup.wall + best.solve.wall,
            residual: best.report.residual / largest,
            peak_bytes: machine::peak_memory(),
        })
    }
}

/// Solver of a part.
enum How {
    /// One that knows the grid.
    Grid(solvers::Settings),
    /// One that knows the matrix alone, with the absolute tolerance.
    Sparse(Method, f64),
}

fn solve(problem: &StencilProblem<3>, how: &How, x: &mut [f64]) -> Result<Timed, InputError> {
    let mut clock = Clock::default();
    let start = Moment::now();
    let report = match how {
        How::Grid(settings) => {
            let problem = problem.posed()?;
            let memory = &mut solvers::Workspace::default();
            let solution = spin_if(problem.len() >= multigrid::SHARED, || {
                solvers::solve(&problem, settings, x, memory, &mut clock)
            })?;
            solution.report
        }
        How::Sparse(method, tolerance) => {
            let options = Options::default().absolute(true).tolerance(*tolerance);
            let problem = problem.with_matrix()?;
            registry::solve(&problem, *method, &options, x, &mut clock)?.report
        }
    };
    let end = Moment::now();
    let ready = clock.ready.unwrap_or(end);
    Ok(Timed {
        report,
        setup: ready.since(&start),
        solve: end.since(&ready),
    })
}
