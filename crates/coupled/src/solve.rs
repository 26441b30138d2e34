//! The solve of a step, by the scheme and the method of the settings.

use std::ops::ControlFlow;

use meniscus_lcp::{Observer, Progress, Status};
use meniscus_liquid::multigrid::{Coupling, CouplingEntry, Response, freedoms};
use meniscus_liquid::solvers::Solution;
use meniscus_liquid::{Faces, StepError};
use meniscus_rigid::{Matrix6, StagedStep, Twist};

use crate::added_mass::numbers;
use crate::contacts::BodyResponse;
use crate::pockets::Pockets;
use crate::problem::CoupledProblem;
use crate::projection::{Base, CoupledProjection, Outcome};
use crate::schemes::{FrozenContacts, Method, Scheme, sor_mprgp};

/// Solves of a step at most: for contacts that were missed, and liquid that separates from bodies.
const MOST_SOLVES: usize = 8;
/// Cycles in which the residual has to halve while friction follows the pressure.
const PATIENCE: usize = 4;
/// Rounds of friction with frozen bounds at most.
const FRICTION_ROUNDS: usize = 10;
/// Change of velocities, relative to the largest one, at which rounds end.
const SETTLED: f64 = 1e-10;

/// What the solves of a step have in common.
struct Problem<'a, 'b, const D: usize> {
    faces: &'a Faces<'b, D>,
    base: &'a Base<D>,
    pockets: Pockets<'a>,
    dt: f64,
}

impl<'a, 'b, const D: usize> Problem<'a, 'b, D> {
    fn new(faces: &'a Faces<'b, D>, base: &'a Base<D>, step: &StagedStep<D>, dt: f64) -> Self {
        Self {
            faces,
            base,
            pockets: Pockets::new(step, base),
            dt,
        }
    }
}

/// What one solve has done.
pub(crate) struct Solve {
    solution: Solution,
    cycles: usize,
    rounds: usize,
}

impl<const D: usize> CoupledProjection<'_, D> {
    /// Solves for pressures and velocities, and moves the bodies.
    pub(crate) fn solve(
        &mut self,
        faces: &mut Faces<'_, D>,
        base: &Base<D>,
        mut step: StagedStep<D>,
        dt: f64,
    ) -> Result<(Solution, Outcome<D>), StepError> {
        let impulse_scale = dt * faces.settings.dx.powi(D as i32);
        let mut wet = self.set_inertia(faces, base, &[], &mut step);
        let (mut cycles, mut solves, mut rounds) = (0, 0, 0);
        let mut layers_settled = !self.settings.mass_correction;
        loop {
            step.assemble(self.bodies, &base.listed);
            let solve = self.solve_once(faces, base, &mut step, solves > 0, dt)?;
            solves += 1;
            cycles += solve.cycles;
            rounds += solve.rounds;
            let solution = solve.solution;
            if solution.report.status != Status::Converged {
                return Err(StepError::Unsolved(solution));
            }
            if !layers_settled {
                // Liquid that has separated from a body is no layer on it.
                layers_settled = true;
                let separated = self.pressure.is_separated();
                let mut of_bodies = base.rows.iter().filter(|row| !row.bodies.is_empty());
                if of_bodies.any(|row| separated[row.row as usize]) {
                    let skip = separated.to_vec();
                    wet = self.set_inertia(faces, base, &skip, &mut step);
                    continue;
                }
            }
            let twists: Vec<Twist<D>> = (0..self.bodies.len()).map(|b| step.twist(b)).collect();
            match self.bodies.finish_step(&mut step) {
                Ok(None) if solves < MOST_SOLVES => continue,
                Ok(None) => return Err(StepError::Unsolved(solution)),
                Ok(Some(report)) => {
                    let impulses = self.impulses(base, impulse_scale);
                    for (k, wet) in wet.iter_mut().enumerate() {
                        wet.impulse = impulses[k];
                        wet.twist = twists[wet.body];
                    }
                    self.set_paths(&twists);
                    let outcome = Outcome {
                        loads: self.loads(faces, base, &wet, &report, dt),
                        bodies: report,
                        wet,
                        cycles,
                        solves,
                        small_solves: step.solved(),
                        contacts: step.contacts(),
                        rounds,
                    };
                    return Ok((solution, outcome));
                }
                Err(error) => return Err(self.fail(error)),
            }
        }
    }

    /// One solve for pressures and velocities.
    fn solve_once(
        &mut self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        step: &mut StagedStep<D>,
        again: bool,
        dt: f64,
    ) -> Result<Solve, StepError> {
        match (self.settings.scheme, self.settings.method) {
            (Scheme::Unified, Method::Multigrid) => {
                self.solve_unified(faces, base, step, again, dt)
            }
            (Scheme::Unified, Method::SorMprgp) => self.solve_joint(faces, base, step, again, dt),
            (scheme, _) => self.solve_in_parts(faces, base, step, scheme, again, dt),
        }
    }

    /// Right-hand side and bounds before anything responds.
    fn reset(&mut self, base: &Base<D>) {
        let problem = self.pressure.stencil_problem();
        problem.rhs.copy_from_slice(&base.rhs);
        problem.lower.copy_from_slice(&base.lower);
        problem.upper.fill(f64::INFINITY);
    }

    /// Pressures with bodies that respond to them, from where the last solve has ended if `again`.
    fn solve_with(
        &mut self,
        step: &Problem<'_, '_, D>,
        response: &mut dyn Response,
        again: bool,
        observer: &mut dyn Observer,
    ) -> Result<Solution, StepError> {
        let Problem { faces, base, .. } = *step;
        self.reset(base);
        let mut coupling = Coupling {
            entries: &base.entries,
            impulse_scale: step.dt * faces.settings.dx.powi(D as i32),
            response,
        };
        self.pressure.solve_coupled(
            faces.settings,
            &mut coupling,
            &|rows| step.pockets.give_way(rows),
            again,
            observer,
            step.dt,
        )
    }

    /// Pressures, contacts and friction at once. Where friction keeps the iteration from converging, its bounds are frozen and
    /// updated in rounds: then each solve is of a convex problem, in which contacts that stick do so exactly.
    fn solve_unified(
        &mut self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        step: &mut StagedStep<D>,
        again: bool,
        dt: f64,
    ) -> Result<Solve, StepError> {
        let problem = Problem::new(faces, base, step, dt);
        let has_friction = step.has_friction();
        let mut guard = Guard::new(has_friction);
        let mut response = BodyResponse::new(step, &base.listed);
        let solution = self.solve_with(&problem, &mut response, again, &mut guard)?;
        let mut solve = Solve {
            cycles: solution.report.iterations,
            solution,
            rounds: 0,
        };
        if !has_friction {
            return Ok(solve);
        }
        let size = base.listed.len() * freedoms::<D>();
        let (mut frozen, mut follows) = (vec![0.0; size], vec![0.0; size]);
        while solve.solution.report.status != Status::Converged || solve.rounds > 0 {
            step.freeze_friction(true);
            let mut response = BodyResponse::new(step, &base.listed);
            let solved = self.solve_with(&problem, &mut response, true, &mut ());
            // If it is the last round, impulses stay those that the pressure belongs to.
            let before = step.clone();
            step.freeze_friction(false);
            solve.solution = solved?;
            solve.cycles += solve.solution.report.iterations;
            solve.rounds += 1;
            self.velocities(base, &before, &mut frozen);
            step.respond(&self.flat_impulses(faces, base, dt), &mut follows);
            let settled =
                divergence(base, &frozen, &follows) <= faces.settings.physics.pressure.tolerance;
            let solved = solve.solution.report.status == Status::Converged;
            if settled || !solved || solve.rounds == FRICTION_ROUNDS {
                *step = before;
                step.freeze_friction(false);
                break;
            }
        }
        Ok(solve)
    }

    /// Velocities of the listed bodies after the last response.
    fn velocities(&self, base: &Base<D>, step: &StagedStep<D>, velocities: &mut [f64]) {
        let f = freedoms::<D>();
        for (k, &body) in base.listed.iter().enumerate() {
            velocities[k * f..][..f].copy_from_slice(&numbers(&step.twist(body))[..f]);
        }
    }

    /// Impulses of the pressures, one body after the other.
    fn flat_impulses(&self, faces: &Faces<'_, D>, base: &Base<D>, dt: f64) -> Vec<f64> {
        let scale = dt * faces.settings.dx.powi(D as i32);
        let impulses = self.impulses(base, scale);
        let all = impulses.iter();
        all.flat_map(|j| j[..freedoms::<D>()].iter().copied())
            .collect()
    }

    /// Pressures and contacts one after the other, or in turn. [TB20 sec. 6.1]
    fn solve_in_parts(
        &mut self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        step: &mut StagedStep<D>,
        scheme: Scheme,
        again: bool,
        dt: f64,
    ) -> Result<Solve, StepError> {
        let f = freedoms::<D>();
        let of_listed = |of: &dyn Fn(usize) -> Matrix6| -> Vec<Matrix6> {
            base.listed.iter().map(|&body| of(body)).collect()
        };
        let inertia = of_listed(&|body| step.solve_inertia(body));
        let inverse = of_listed(&|body| step.inverse_inertia(body));
        let start: Vec<f64> = (base.listed.iter())
            .flat_map(|&body| numbers(&step.start(body)).into_iter().take(f))
            .collect();
        let size = start.len();
        let problem = Problem::new(faces, base, step, dt);
        let mut frozen = FrozenContacts::new::<D>(inertia, inverse, start.clone());
        let mut velocities = vec![0.0; size];
        if scheme == Scheme::ContactPressure {
            step.respond(&vec![0.0; size], &mut frozen.start);
        }
        let most = match scheme {
            Scheme::Iterative => self.settings.rounds,
            _ => 1,
        };
        let (mut cycles, mut rounds) = (0, 0);
        loop {
            let solution = self.solve_with(&problem, &mut frozen, again || rounds > 0, &mut ())?;
            cycles += solution.report.iterations;
            rounds += 1;
            let impulses = self.flat_impulses(faces, base, dt);
            frozen.moved(&impulses, &mut velocities);
            let done = Solve {
                solution,
                cycles,
                rounds,
            };
            if scheme == Scheme::ContactPressure {
                step.set_velocities(&velocities);
                return Ok(done);
            }
            let before = velocities.clone();
            step.respond(&impulses, &mut velocities);
            let settled = change(&before, &velocities) <= SETTLED;
            if rounds >= most || settled || done.solution.report.status != Status::Converged {
                return Ok(done);
            }
            // What contacts add to the velocities stays in the next solve for the pressure.
            for k in 0..size {
                frozen.start[k] += velocities[k] - before[k];
            }
        }
    }

    /// Pressures and impulses as unknowns of one system, by the method of the paper.
    fn solve_joint(
        &mut self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        step: &mut StagedStep<D>,
        again: bool,
        dt: f64,
    ) -> Result<Solve, StepError> {
        let (n, f) = (base.rhs.len(), freedoms::<D>());
        self.reset(base);
        let impulse_scale = dt * faces.settings.dx.powi(D as i32);
        let pressure = self.pressure.problem(&faces.weights(), faces.settings, dt);
        let mut problem = CoupledProblem::new(pressure, base, step, impulse_scale);
        let pockets = Pockets::new(step, base);
        let settings = self.settings;
        let (_, mut impulses) = step.rows();
        let mut velocities = Vec::new();
        let solution = self.pressure.solve_by(
            faces.settings,
            Method::SorMprgp.word(),
            &|rows| pockets.give_way(rows),
            again,
            &mut |prepared, tolerance, p| {
                problem.pressure.rhs.clone_from(&prepared.rhs);
                problem.pressure.lower.clone_from(&prepared.lower);
                problem.pressure.upper.clone_from(&prepared.upper);
                let mut x = p.to_vec();
                x.extend(impulses.iter().map(|l| l / impulse_scale));
                let report = sor_mprgp(&problem, settings, tolerance, &mut x)?;
                p.copy_from_slice(&x[..n]);
                for (impulse, l) in impulses.iter_mut().zip(&x[n..]) {
                    *impulse = impulse_scale * l;
                }
                velocities = problem.velocities(&x);
                let moved = problem.entries.iter().map(|entry| {
                    let v = &velocities[entry.group as usize];
                    let divergence = (0..f).map(|k| entry.value[k] * v[k]).sum::<f64>();
                    (entry.row, divergence)
                });
                Ok((moved.collect(), report))
            },
            dt,
        )?;
        step.set_impulses(&self.flat_impulses(faces, base, dt), &impulses);
        let cycles = solution.report.iterations;
        Ok(Solve {
            solution,
            cycles,
            rounds: 0,
        })
    }
}

/// The largest divergence between two motions of the listed bodies.
fn divergence<const D: usize>(base: &Base<D>, before: &[f64], after: &[f64]) -> f64 {
    let f = freedoms::<D>();
    let of_row = |row: &[CouplingEntry]| {
        let terms = row.iter().flat_map(|entry| {
            let at = entry.group as usize * f;
            (0..f).map(move |k| entry.value[k] * (after[at + k] - before[at + k]))
        });
        terms.sum::<f64>().abs()
    };
    let rows = base.entries.chunk_by(|a, b| a.row == b.row);
    rows.map(of_row).fold(0.0, f64::max)
}

/// The largest change between velocities, relative to the largest of them.
fn change(before: &[f64], after: &[f64]) -> f64 {
    let pairs = before.iter().zip(after);
    let (moved, size) = pairs.fold((0.0f64, 0.0f64), |(moved, size), (a, b)| {
        (moved.max((a - b).abs()), size.max(a.abs()).max(b.abs()))
    });
    if size > 0.0 { moved / size } else { 0.0 }
}

/// Stops an iteration with friction whose residual does not halve in a few cycles.
struct Guard {
    watches: bool,
    best: f64,
    since: usize,
}

impl Guard {
    fn new(watches: bool) -> Self {
        Self {
            watches,
            best: f64::INFINITY,
            since: 0,
        }
    }
}

impl Observer for Guard {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if !self.watches {
            return ControlFlow::Continue(());
        }
        if progress.residual <= 0.5 * self.best {
            self.best = progress.residual;
            self.since = 0;
        } else {
            self.since += 1;
        }
        match self.since > PATIENCE {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
