//! Part three of the pressure step: the solve, warm-started from the step before.

mod by_multigrid;
mod warm_start;

pub use warm_start::WarmStart;

use meniscus_lcp::methods::{linear, newton, policy};
use meniscus_lcp::precondition::{Jacobi, Mic0, Preconditioner};
use meniscus_lcp::{BoxMlcp, Csr, InputError, Report, Status};
use rayon::prelude::*;

use by_multigrid::ByMultigrid;

use super::system::{NO_ROW, System};
use super::weights::Weights;
use crate::settings::{Preconditioner as PreconditionerChoice, Settings, Solver, Walls};
use crate::tiles::{Coord, Tiles};

/// The displacement that evens out the particles is found to this share of its right-hand side.
const DISPLACEMENT_TOLERANCE: f64 = 0.05;
/// And with no more iterations than this.
const DISPLACEMENT_ITERATIONS: usize = 100;
/// Rows from which on multigrid takes less time than methods whose iterations grow with the grid.
const MANY: usize = 30_000;
/// Rounding keeps the residual above this share of the largest entry of `b`; asking for less is asking for luck.
const ROUNDING: f64 = 1e-11;

/// How a solve went.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The method.
    pub solver: &'static str,
    /// Its report.
    pub report: Report,
}

impl Solution {
    /// No solve took place.
    pub fn none() -> Self {
        let report = Report {
            status: Status::Stopped,
            iterations: 0,
            inner_iterations: 0,
            residual: 0.0,
            merit: 0.0,
        };
        Self {
            solver: "none",
            report,
        }
    }
}

/// The methods with their memory, and the pressure.
pub struct Solvers<const D: usize> {
    mic0: Mic0,
    jacobi: Jacobi,
    chosen: PreconditionerChoice,
    method: Solver,
    multigrid: ByMultigrid<D>,
    memory: Memory,
    pressure: Vec<f64>,
    separated: Vec<bool>,
    displacement: Displacement,
    last: Last<D>,
}

/// Scratch of the methods.
#[derive(Default)]
struct Memory {
    linear: linear::Workspace,
    newton: newton::Workspace,
    policy: policy::Workspace,
}

#[derive(Default)]
struct Displacement {
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    potential: Vec<f64>,
}

/// The last pressure and where it was.
struct Last<const D: usize> {
    tiles: Tiles<D>,
    rows: Vec<u32>,
    pressure: Vec<f64>,
    dt: f64,
}

impl<const D: usize> Solvers<D> {
    /// Nothing solved yet.
    pub fn new() -> Self {
        Self {
            mic0: Mic0::default(),
            jacobi: Jacobi::default(),
            chosen: PreconditionerChoice::Mic0,
            method: Solver::Auto,
            multigrid: ByMultigrid::default(),
            memory: Memory::default(),
            pressure: Vec::new(),
            separated: Vec::new(),
            displacement: Displacement::default(),
            last: Last {
                tiles: Tiles::new([1; D]),
                rows: Vec::new(),
                pressure: Vec::new(),
                dt: 0.0,
            },
        }
    }

    /// The pressure of the last solve, a value a row.
    pub fn pressure_now(&self) -> &[f64] {
        &self.pressure
    }

    /// The same, to be changed.
    pub fn pressure_mut(&mut self) -> &mut [f64] {
        &mut self.pressure
    }

    /// Rows that left their wall in the last solve.
    pub fn separated(&self) -> &[bool] {
        &self.separated
    }

    /// Pressure of the last finished step in a cell.
    pub fn pressure(&self, cell: Coord<D>) -> Option<f64> {
        match self.last.rows.get(self.last.tiles.index(cell)) {
            None | Some(&NO_ROW) => None,
            Some(&row) => Some(self.last.pressure[row as usize]),
        }
    }

    /// Keeps the pressure as the start of the next solve.
    pub fn remember(&mut self, tiles: &Tiles<D>, system: &System, dt: f64) {
        self.last.tiles.clone_from(tiles);
        self.last.rows.clone_from(&system.rows);
        self.last.pressure.clone_from(&self.pressure);
        self.last.dt = dt;
    }

    /// Solves the problem; the pressure is kept here.
    pub fn solve(
        &mut self,
        weights: &Weights<D>,
        system: &System,
        settings: &Settings<D>,
        dt: f64,
    ) -> Result<Solution, InputError> {
        self.start(weights, system, dt);
        self.chosen = settings.preconditioner;
        self.method = match (settings.solver, settings.walls) {
            (Solver::Auto, Walls::Slip) if system.len() < MANY => Solver::Cg,
            (Solver::Auto, Walls::Slip) => Solver::Mg,
            (Solver::Auto, Walls::Separating) if system.len() < MANY => Solver::Policy,
            (Solver::Auto, Walls::Separating) => Solver::TnMg,
            (chosen, _) => chosen,
        };
        let problem = BoxMlcp::new(&system.matrix, &system.rhs, &system.lower, &system.upper)?;
        let largest = system.rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let tolerance = settings.tolerance.max(ROUNDING * largest);
        let max_iterations = settings.max_iterations;
        if matches!(self.method, Solver::TnMg | Solver::Mg | Solver::MgPcg) {
            self.multigrid.place(weights.tiles, system);
        }
        let solution = match self.method {
            Solver::TnMg | Solver::Mg => {
                let x = &mut self.pressure;
                let report = self
                    .multigrid
                    .solve(&problem, tolerance, max_iterations, x)?;
                let (solver, after) = match self.method {
                    Solver::Mg => ("mg", "policy after mg"),
                    _ => ("tn-mg", "policy after tn-mg"),
                };
                if report.status == Status::Converged {
                    Solution { solver, report }
                } else {
                    // What multigrid reached is a good start for a method that cannot fail on these matrices.
                    self.method = Solver::Policy;
                    self.precondition(system, &problem)?;
                    let report = self.iterate(&problem, tolerance, max_iterations)?;
                    Solution {
                        solver: after,
                        report,
                    }
                }
            }
            method => {
                self.precondition(system, &problem)?;
                let report = self.iterate(&problem, tolerance, max_iterations)?;
                let solver = match method {
                    Solver::Newton => "newton",
                    Solver::Policy => "policy",
                    Solver::MgPcg => "mg-pcg",
                    _ => "cg",
                };
                Solution { solver, report }
            }
        };
        self.mark_separated(system, tolerance);
        Ok(solution)
    }

    /// Makes the preconditioner of the method.
    fn precondition(&mut self, system: &System, problem: &BoxMlcp<Csr>) -> Result<(), InputError> {
        match (self.method, self.chosen) {
            (Solver::MgPcg, _) => self.multigrid.rebuild_cycle(problem),
            (_, PreconditionerChoice::Mic0) => self.mic0.rebuild(&system.matrix, &system.blocks),
            (_, PreconditionerChoice::Jacobi) => self.jacobi.rebuild(&system.matrix),
        }
    }

    /// Runs a method that takes a preconditioner.
    fn iterate(
        &mut self,
        problem: &BoxMlcp<Csr>,
        tolerance: f64,
        max_iterations: usize,
    ) -> Result<Report, InputError> {
        let (x, memory) = (&mut self.pressure, &mut self.memory);
        let precondition: &mut dyn Preconditioner = match (self.method, self.chosen) {
            (Solver::MgPcg, _) => &mut self.multigrid.cycle,
            (_, PreconditionerChoice::Mic0) => &mut self.mic0,
            (_, PreconditionerChoice::Jacobi) => &mut self.jacobi,
        };
        match self.method {
            Solver::Newton => {
                let settings = newton::Settings {
                    tolerance,
                    max_iterations,
                    ..Default::default()
                };
                let memory = &mut memory.newton;
                newton::solve(problem, &settings, precondition, x, memory, &mut ())
            }
            Solver::Policy => {
                let settings = policy::Settings {
                    tolerance,
                    max_iterations,
                    ..Default::default()
                };
                let memory = &mut memory.policy;
                policy::solve(problem, &settings, precondition, x, memory, &mut ())
            }
            _ => {
                let limit = max_iterations.saturating_mul(1000);
                memory.solve_linear(problem, false, tolerance, limit, precondition, x)
            }
        }
    }

    /// Rows without pressure whose divergence is above the tolerance.
    fn mark_separated(&mut self, system: &System, tolerance: f64) {
        let x = &self.pressure;
        self.separated.clear();
        self.separated
            .par_extend(
                (0..system.len())
                    .into_par_iter()
                    .with_min_len(4096)
                    .map(|row| {
                        if system.lower[row] != 0.0 || system.upper[row] == 0.0 || x[row] > 0.0 {
                            return false;
                        }
                        let (columns, values) = system.matrix.row(row);
                        let flow: f64 = columns
                            .iter()
                            .zip(values)
                            .map(|(&c, a)| a * x[c as usize])
                            .sum();
                        flow + system.rhs[row] > tolerance
                    }),
            );
    }

    /// The last step's pressure in every cell that had one, else zero. What carries over is the impulse, pressure
    /// times the length of the step.
    fn start(&mut self, weights: &Weights<D>, system: &System, dt: f64) {
        let last = &self.last;
        let scale = if last.dt > 0.0 { last.dt / dt } else { 0.0 };
        self.pressure.clear();
        self.pressure
            .par_extend(system.cells.par_iter().with_min_len(4096).map(|&cell| {
                let index = last.tiles.index(weights.tiles.coord(cell as usize));
                match last.rows.get(index) {
                    None | Some(&NO_ROW) => 0.0,
                    Some(&row) => scale * last.pressure[row as usize],
                }
            }));
    }

    /// Solves for the potential of the displacement that evens out the particles, with the matrix and
    /// preconditioner of the pressure. It need not be exact, and failing is no harm.
    pub fn displacement(
        &mut self,
        system: &System,
        crowd: impl FnOnce(&mut Vec<f64>),
    ) -> Result<&[f64], InputError> {
        let Displacement {
            rhs,
            lower,
            upper,
            potential,
        } = &mut self.displacement;
        crowd(rhs);
        // Of the pressure's bounds only the rows that are held stay; rows that left their wall are open to it, as to
        // air, or evening out would pull the liquid back to a wall that it is leaving.
        for bound in [&mut *lower, upper] {
            bound.clear();
            bound.reserve_exact(system.len());
        }
        let rows = system.lower.iter().zip(&system.upper).zip(&self.separated);
        for ((&l, &u), &left) in rows {
            let held = left || l == u;
            lower.push(if held { 0.0 } else { f64::NEG_INFINITY });
            upper.push(if held { 0.0 } else { f64::INFINITY });
        }
        potential.clear();
        potential.resize(system.len(), 0.0);
        let problem = BoxMlcp::new(&system.matrix, rhs, lower, upper)?;
        let largest = rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
        let tolerance = DISPLACEMENT_TOLERANCE * largest;
        if largest > 0.0 && matches!(self.method, Solver::TnMg | Solver::Mg) {
            let limit = DISPLACEMENT_ITERATIONS;
            self.multigrid
                .solve_again(&problem, tolerance, limit, potential)?;
        } else if largest > 0.0 {
            let precondition: &mut dyn Preconditioner = match (self.method, self.chosen) {
                (Solver::MgPcg, _) => &mut self.multigrid.cycle,
                (_, PreconditionerChoice::Mic0) => &mut self.mic0,
                (_, PreconditionerChoice::Jacobi) => &mut self.jacobi,
            };
            // One method's scratch serves both solves of a step.
            let bounded = system.lower.iter().any(|l| l.is_finite());
            self.memory.solve_linear(
                &problem,
                bounded,
                tolerance,
                DISPLACEMENT_ITERATIONS,
                precondition,
                potential,
            )?;
        }
        Ok(potential)
    }
}

impl Memory {
    /// A linear system. Rows that are held at a value take the form of policy iteration that has one policy only, and
    /// so does the whole system if policy iteration is wanted anyway.
    fn solve_linear(
        &mut self,
        problem: &BoxMlcp<Csr>,
        policy_wanted: bool,
        tolerance: f64,
        limit: usize,
        precondition: &mut dyn Preconditioner,
        x: &mut [f64],
    ) -> Result<Report, InputError> {
        if !policy_wanted && problem.lower().iter().all(|l| l.is_infinite()) {
            let settings = linear::Settings {
                tolerance,
                max_iterations: limit,
            };
            linear::solve(
                problem,
                &settings,
                precondition,
                x,
                &mut self.linear,
                &mut (),
            )
        } else {
            let settings = policy::Settings {
                tolerance,
                max_inner_iterations: limit,
                ..Default::default()
            };
            policy::solve(
                problem,
                &settings,
                precondition,
                x,
                &mut self.policy,
                &mut (),
            )
        }
    }
}
