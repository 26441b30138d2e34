//! The solve of a step, by the scheme and the method of the settings.

use std::ops::ControlFlow;

use meniscus_lcp::{Observer, Progress, Status};
use meniscus_liquid::multigrid::{Coupling, Response, freedoms};
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
/// Rounds of frozen friction at most.
const FRICTION_ROUNDS: usize = 10;
/// Change of velocities, relative to the largest one, at which rounds end.
const SETTLED: f64 = 1e-10;
/// The same for which rounds of friction that end count as unsettled.
const UNSETTLED: f64 = 1e-6;
/// Way in cells by which unsettled velocities may displace a body in a step; with more the step has failed.
const MOST_UNSETTLED_WAY: f64 = 0.1;

/// What one solve has done.
pub(crate) struct Solve {
    solution: Solution,
    cycles: usize,
    rounds: usize,
    unsettled: f64,
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
            let way = solve.unsettled * dt;
            if way.is_nan() || way > MOST_UNSETTLED_WAY * faces.settings.dx {
                return Err(self.fail(meniscus_rigid::StepError::Unsettled {
                    velocity: solve.unsettled,
                }));
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
                        unsettled: solve.unsettled,
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

    fn solve_with(
        &mut self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        response: &mut dyn Response,
        (pockets, again): (&Pockets<'_>, bool),
        observer: &mut dyn Observer,
        dt: f64,
    ) -> Result<Solution, StepError> {
        self.reset(base);
        let mut coupling = Coupling {
            entries: &base.entries,
            impulse_scale: dt * faces.settings.dx.powi(D as i32),
            response,
        };
        self.pressure.solve_coupled(
            faces.settings,
            &mut coupling,
            &|rows| pockets.give_way(rows),
            again,
            observer,
            dt,
        )
    }

    /// Pressures, contacts and friction at once. Where friction keeps the iteration from converging, it is frozen and updated
    /// in rounds: then each solve is of a convex problem.
    fn solve_unified(
        &mut self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        step: &mut StagedStep<D>,
        again: bool,
        dt: f64,
    ) -> Result<Solve, StepError> {
        let pockets = Pockets::new(step, base);
        let has_friction = step.has_friction();
        let mut guard = Guard::new(has_friction);
        // Impulses of an iteration that does not converge may be of any size: rounds start from those of the step before.
        let start = has_friction.then(|| step.clone());
        let mut response = BodyResponse::new(step, &base.listed);
        let mut solution = self.solve_with(
            faces,
            base,
            &mut response,
            (&pockets, again),
            &mut guard,
            dt,
        )?;
        let mut cycles = solution.report.iterations;
        let mut rounds = 0;
        if !has_friction || solution.report.status == Status::Converged {
            return Ok(Solve {
                solution,
                cycles,
                rounds,
                unsettled: 0.0,
            });
        }
        if let Some(start) = start {
            *step = start;
        }
        let size = base.listed.len() * freedoms::<D>();
        let (mut frozen, mut follows) = (vec![0.0; size], vec![0.0; size]);
        let mut unsettled = 0.0;
        while rounds < FRICTION_ROUNDS {
            step.freeze_friction(true);
            let mut response = BodyResponse::new(step, &base.listed);
            let solved = self.solve_with(faces, base, &mut response, (&pockets, true), &mut (), dt);
            step.freeze_friction(false);
            solution = solved?;
            cycles += solution.report.iterations;
            rounds += 1;
            self.velocities(base, step, &mut frozen);
            let impulses = self.flat_impulses(faces, base, dt);
            // The tangential impulses of the next round; at the end they stay those that the pressure belongs to.
            let before = step.clone();
            step.respond(&impulses, &mut follows);
            let left = change(&frozen, &follows);
            // Friction that has no solution at these pressures says nothing of the next round.
            let lost = step.residual() > UNSETTLED * largest(&follows);
            if left <= SETTLED || rounds == FRICTION_ROUNDS || lost {
                *step = before;
                if left > UNSETTLED {
                    unsettled = difference(&frozen, &follows);
                }
                break;
            }
        }
        Ok(Solve {
            solution,
            cycles,
            rounds,
            unsettled,
        })
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
        let inverse: Vec<Matrix6> = (base.listed.iter())
            .map(|&body| step.inverse_inertia(body))
            .collect();
        let start: Vec<f64> = (base.listed.iter())
            .flat_map(|&body| numbers(&step.start(body)).into_iter().take(f))
            .collect();
        let size = start.len();
        let pockets = Pockets::new(step, base);
        let mut frozen = FrozenContacts::new::<D>(inverse, start.clone());
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
            let solution = self.solve_with(
                faces,
                base,
                &mut frozen,
                (&pockets, again || rounds > 0),
                &mut (),
                dt,
            )?;
            cycles += solution.report.iterations;
            rounds += 1;
            let impulses = self.flat_impulses(faces, base, dt);
            frozen.moved(&impulses, &mut velocities);
            let done = Solve {
                solution,
                cycles,
                rounds,
                unsettled: 0.0,
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
            unsettled: 0.0,
        })
    }
}

/// The largest change between velocities, relative to the largest of them.
fn change(before: &[f64], after: &[f64]) -> f64 {
    let size = largest(before).max(largest(after));
    match size > 0.0 {
        true => difference(before, after) / size,
        false => 0.0,
    }
}

/// The largest of some velocities.
fn largest(velocities: &[f64]) -> f64 {
    velocities.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// The largest difference of velocities.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
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
