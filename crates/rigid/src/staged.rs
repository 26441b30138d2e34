//! A step in parts, for solvers in which something else than contacts and joints pushes bodies at the same time: a liquid.
//!
//! [`Bodies::begin_step`] finds contacts; [`StagedStep::assemble`] makes the contact problems; then
//! [`StagedStep::respond`] says, as often as it is asked, which velocities given impulses lead to, and
//! [`Bodies::finish_step`] moves the bodies with the last ones. No body sleeps through such a step.

use std::borrow::Cow;

use meniscus_lcp::Status;
use rayon::prelude::*;

use crate::bodies::{Bodies, State};
use crate::body::{Twist, Wrench};
use crate::compiled::Compiled;
use crate::inertia::{Inertia, Matrix6, apply, freedoms, join, split};
use crate::linear::{add, apply3, scale};
use crate::report::{StepError, StepReport};
use crate::settings::Settings;
use crate::solve::{self, Island, Newton, SolveReport};
use crate::step::Prepared;

/// Solves of a step with contacts that were missed before.
const MOST_ATTEMPTS: usize = 4;
/// Bound on the residual of the contact problems, relative to the largest velocity in their right-hand sides: they are
/// solved inside of another iteration.
const TOLERANCE: f64 = 1e-11;

/// A step that has begun.
#[derive(Clone, Debug)]
pub struct StagedStep<const D: usize> {
    dt: f64,
    settings: Settings<D>,
    prepared: Prepared<D>,
    /// Velocities after external forces.
    start: Vec<Twist<D>>,
    /// The same with the impulses of the last response.
    pushed: Vec<Twist<D>>,
    islands: Vec<Island<D>>,
    solves: Vec<SolveReport>,
    /// Island and slot of each body.
    places: Vec<Option<(usize, u32)>>,
    /// Bodies that impulses act on, and the islands with one of them.
    listed: Vec<usize>,
    responding: Vec<usize>,
    before: State<D>,
    attempts: usize,
    solved: usize,
    /// Whether tangential impulses stay as they are.
    frozen: bool,
    /// Share of an overlap that velocities correct in a step, and the depth that is allowed; none if positions are corrected.
    stabilisation: Option<(f64, f64)>,
}

/// A row of joints or contacts as plain data: `y = J v + bias` for the velocities of free bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct StagedRow {
    /// Free bodies, with their parts of `J`, translations first.
    pub bodies: Vec<(usize, [f64; 6])>,
    /// Added to `J v`; the motion of bodies that are not free is in it.
    pub bias: f64,
    /// Lower bound of the impulse; tangents with friction are free.
    pub lower: f64,
    /// Upper bound of the impulse; tangents with friction are free.
    pub upper: f64,
    /// For tangents with friction: the row of the normal, and the Coulomb coefficient.
    pub friction: Option<(usize, f64)>,
}

/// Velocities of some bodies that depend on one another's impulses.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseBlock {
    /// Places of the bodies in the list given to [`StagedStep::assemble`].
    pub members: Vec<usize>,
    /// Derivatives of the velocities of one member by the impulses on another, row by row.
    pub matrices: Vec<Matrix6>,
}

impl<const D: usize> Bodies<D> {
    /// Begins a step of `dt` seconds, in which gravity acts for `kick` seconds on the velocities. Nothing is changed.
    pub fn begin_step(
        &self,
        dt: f64,
        kick: f64,
        forces: &[Wrench<D>],
    ) -> Result<StagedStep<D>, StepError> {
        (Compiled::get().begin_step)(self, dt, kick, forces)
    }

    pub(crate) fn begin_step_impl(
        &self,
        dt: f64,
        kick: f64,
        forces: &[Wrench<D>],
    ) -> Result<StagedStep<D>, StepError> {
        self.check_step(dt, forces)?;
        let mut prepared = self.prepare(dt, kick, forces);
        prepared.asleep.fill(false);
        let start: Vec<Twist<D>> = prepared.kinetics.iter().map(|k| k.twist).collect();
        Ok(StagedStep {
            dt,
            // Islands of any size are solved to the tolerance: responses are differentiated.
            settings: self
                .settings
                .tolerance(self.settings.tolerance.min(TOLERANCE))
                .coarse_tolerance(0.0),
            prepared,
            pushed: start.clone(),
            start,
            islands: Vec::new(),
            solves: Vec::new(),
            places: Vec::new(),
            listed: Vec::new(),
            responding: Vec::new(),
            before: self.state.clone(),
            attempts: 0,
            solved: 0,
            frozen: false,
            stabilisation: None,
        })
    }

    /// Moves the bodies with the velocities of the last response. `None` if bodies overlap then through contacts that were
    /// missed: nothing is changed, the contacts are added, and the step has to be assembled and solved again. After an
    /// error every byte of the state is as it was.
    pub fn finish_step(
        &mut self,
        step: &mut StagedStep<D>,
    ) -> Result<Option<StepReport<D>>, StepError> {
        (Compiled::get().finish_step)(self, step)
    }

    pub(crate) fn finish_step_impl(
        &mut self,
        step: &mut StagedStep<D>,
    ) -> Result<Option<StepReport<D>>, StepError> {
        let finished = self.try_finish(step);
        if !matches!(finished, Ok(Some(_))) {
            self.state.clone_from(&step.before);
        }
        finished
    }

    fn try_finish(&mut self, step: &mut StagedStep<D>) -> Result<Option<StepReport<D>>, StepError> {
        let dt = step.dt;
        self.check_feasible(&step.prepared, &step.islands, &step.solves)?;
        self.wake(&step.prepared);
        step.set_twists(|step, body| step.pushed[body]);
        let approach = self.approach_speeds(&step.prepared, dt);
        step.set_twists(|step, body| step.twist(body));
        self.advance(&step.prepared, dt);
        let ends = self.end_contacts(&step.prepared, &[], &vec![true; self.len()], dt);
        let missed = self.missed(&step.prepared, (&step.islands, &step.solves), &ends, dt);
        step.attempts += 1;
        if !missed.is_empty() && step.attempts < MOST_ATTEMPTS {
            self.state.clone_from(&step.before);
            step.set_twists(|step, body| step.start[body]);
            self.add_contacts(&mut step.prepared, missed);
            step.prepared.asleep.fill(false);
            return Ok(None);
        }
        let mut report = self.loads(&step.prepared, &step.islands, step.solves.clone(), dt);
        self.keep_impulses(&step.prepared, &step.islands, dt);
        self.bounce(&step.prepared, &step.islands, &approach, dt, &mut report);
        if step.stabilisation.is_none() {
            self.correct_positions(&step.prepared, &ends, &step.islands, dt, &mut report);
        }
        self.check_finite()?;
        self.state.time += dt;
        self.state.last_dt = dt;
        report.energy = self.energy();
        Ok(Some(report))
    }
}

impl<const D: usize> StagedStep<D> {
    fn set_twists(&mut self, twist: impl Fn(&Self, usize) -> Twist<D>) {
        for body in 0..self.start.len() {
            if self.prepared.kinetics[body].is_free() {
                self.prepared.kinetics[body].twist = twist(self, body);
            }
        }
    }

    /// Whether forces move a body in this step.
    pub fn is_free(&self, body: usize) -> bool {
        self.prepared.kinetics[body].is_free()
    }

    /// Centre of mass of a body in the world; without mass, the origin of its frame.
    pub fn center(&self, body: usize) -> [f64; D] {
        self.prepared.kinetics[body].center
    }

    /// Velocity of a body after external forces: that of its script if it has one.
    pub fn start(&self, body: usize) -> Twist<D> {
        self.start[body]
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.prepared.contacts.len()
    }

    /// Small problems that were solved by all responses.
    pub fn solved(&self) -> usize {
        self.solved
    }

    /// Mass and moments of a free body as a matrix.
    pub fn inertia(&self, body: usize) -> Matrix6 {
        let kinetic = &self.prepared.kinetics[body];
        let mut matrix = [[0.0; 6]; 6];
        for a in 0..D {
            matrix[a][a] = kinetic.mass;
        }
        if D == 2 {
            matrix[2][2] = kinetic.inertia[2][2];
        } else {
            for i in 0..3 {
                matrix[3 + i][3..].copy_from_slice(&kinetic.inertia[i]);
            }
        }
        matrix
    }

    /// Inertia of a free body in the solve of this step.
    pub fn solve_inertia(&self, body: usize) -> Matrix6 {
        match self.prepared.kinetics[body].general {
            Some(at) => self.prepared.inertias[at as usize].matrix,
            None => self.inertia(body),
        }
    }

    /// Sets inertia and momentum of a free body for the solve of this step, that of contacts included. False, and nothing
    /// done, if the matrix is not positive definite. Before [`assemble`](Self::assemble).
    pub fn set_inertia(&mut self, body: usize, matrix: Matrix6, momentum: [f64; 6]) -> bool {
        let Some(inertia) = Inertia::new(matrix, freedoms::<D>()) else {
            return false;
        };
        let start = split(&inertia.respond(&momentum, freedoms::<D>()));
        let inertias = std::sync::Arc::make_mut(&mut self.prepared.inertias);
        let kinetic = &mut self.prepared.kinetics[body];
        match kinetic.general {
            Some(at) => inertias[at as usize] = inertia,
            None => {
                kinetic.general = Some(inertias.len() as u32);
                inertias.push(inertia);
            }
        }
        kinetic.twist = start;
        self.start[body] = start;
        self.pushed[body] = start;
        true
    }

    /// Velocities of a free body that an impulse alone leads to.
    fn pushed_by(&self, body: usize, impulse: &[f64; 6]) -> Twist<D> {
        let kinetic = &self.prepared.kinetics[body];
        match kinetic.general {
            Some(at) => {
                split(&self.prepared.inertias[at as usize].respond(impulse, freedoms::<D>()))
            }
            None => {
                let Twist { linear, angular } = split::<D>(impulse);
                Twist {
                    linear: scale(linear, kinetic.inverse_mass),
                    angular: apply3(&kinetic.inverse_inertia, angular),
                }
            }
        }
    }

    /// Inverse of the inertia of a free body.
    pub fn inverse_inertia(&self, body: usize) -> Matrix6 {
        let mut inverse = [[0.0; 6]; 6];
        let f = freedoms::<D>();
        for j in 0..f {
            let mut unit = [0.0; 6];
            unit[j] = 1.0;
            let Twist { linear, angular } = self.pushed_by(body, &unit);
            let column = join(linear, angular);
            (0..f).for_each(|i| inverse[i][j] = column[i]);
        }
        inverse
    }

    /// Makes the contact problems, and solves those that the listed bodies have no part in.
    pub fn assemble(&mut self, bodies: &Bodies<D>, listed: &[usize]) {
        (Compiled::get().assemble_step)(self, bodies, listed);
    }

    pub(crate) fn assemble_impl(&mut self, bodies: &Bodies<D>, listed: &[usize]) {
        let before = std::mem::take(&mut self.islands);
        self.islands = bodies.islands(&self.prepared, self.dt);
        for island in &mut self.islands {
            self.prepared.stabilise(island, self.stabilisation, self.dt);
            take_impulses(island, &before);
        }
        self.listed = listed.to_vec();
        self.places = vec![None; bodies.len()];
        for (k, island) in self.islands.iter().enumerate() {
            for (slot, own) in island.slots.iter().enumerate() {
                if let Some(body) = own.body.filter(|_| own.inverse_mass > 0.0) {
                    self.places[body] = Some((k, slot as u32));
                }
            }
        }
        self.responding = (listed.iter())
            .filter_map(|&body| self.places[body])
            .map(|place| place.0)
            .collect();
        self.responding.sort_unstable();
        self.responding.dedup();
        let (settings, responding, dt) = (&self.settings, &self.responding, self.dt);
        let islands = self.islands.par_iter_mut().enumerate();
        self.solves = islands
            .map(|(k, island)| match responding.binary_search(&k) {
                Ok(_) => SolveReport::pending(island),
                Err(_) => solve::solve(island, settings, dt),
            })
            .collect();
    }

    /// Finds the velocities that impulses on the listed bodies lead to, [`freedoms`] numbers each, translations first.
    pub fn respond(&mut self, impulses: &[f64], velocities: &mut [f64]) {
        (Compiled::get().respond)(self, impulses, velocities);
    }

    /// Velocities after impulses on the listed bodies.
    fn push(&mut self, impulses: &[f64]) {
        let f = freedoms::<D>();
        for k in 0..self.listed.len() {
            let body = self.listed[k];
            let mut impulse = [0.0; 6];
            impulse[..f].copy_from_slice(&impulses[k * f..][..f]);
            let change = self.pushed_by(body, &impulse);
            self.pushed[body] = Twist {
                linear: add(self.start[body].linear, change.linear),
                angular: add(self.start[body].angular, change.angular),
            };
        }
    }

    pub(crate) fn respond_impl(&mut self, impulses: &[f64], velocities: &mut [f64]) {
        let f = freedoms::<D>();
        self.push(impulses);
        let (pushed, settings, dt) = (&self.pushed, &self.settings, self.dt);
        let frozen = self.frozen;
        let solve = |island: &mut Island<D>| {
            place(island, pushed);
            if frozen {
                return island.with_frozen_tangents(|island| solve::solve(island, settings, dt));
            }
            island.begin();
            solve::solve(island, settings, dt)
        };
        let responding = &self.responding;
        let islands = self
            .islands
            .par_iter_mut()
            .zip(&mut self.solves)
            .enumerate();
        islands
            .filter(|(k, _)| responding.binary_search(k).is_ok())
            .for_each(|(_, (island, report))| *report = solve(island));
        self.solved += responding.len();
        for k in 0..self.listed.len() {
            let twist = self.twist(self.listed[k]);
            let numbers = join(twist.linear, twist.angular);
            velocities[k * f..][..f].copy_from_slice(&numbers[..f]);
        }
    }

    /// Lets velocities push overlapping bodies apart in place of a correction of positions: rows get `rate` times the overlap
    /// beyond `margin`, over the length of the step. [TB20 (16)] It adds energy, and pumps liquid. Before
    /// [`assemble`](Self::assemble).
    pub fn stabilise(&mut self, rate: f64, margin: f64) {
        self.stabilisation = Some((rate, margin));
    }

    /// Keeps tangential impulses as they are in the responses that follow, or lets them follow the normal ones again.
    pub fn freeze_friction(&mut self, frozen: bool) {
        self.frozen = frozen;
    }

    /// Takes velocities of the listed bodies, in place of those of a response.
    pub fn set_velocities(&mut self, velocities: &[f64]) {
        let f = freedoms::<D>();
        for (k, &body) in self.listed.iter().enumerate() {
            let mut numbers = [0.0; 6];
            numbers[..f].copy_from_slice(&velocities[k * f..][..f]);
            let twist = split(&numbers);
            match self.places[body] {
                Some((island, slot)) => self.islands[island].slots[slot as usize].twist = twist,
                None => self.pushed[body] = twist,
            }
        }
    }

    /// Takes impulses on the listed bodies and those of [`rows`](Self::rows), in place of a response.
    pub fn set_impulses(&mut self, impulses: &[f64], rows: &[f64]) {
        self.push(impulses);
        let mut from = 0;
        for &k in &self.responding {
            let island = &mut self.islands[k];
            let count = island.rows.len();
            place(island, &self.pushed);
            island.begin();
            island.restart(&rows[from..from + count]);
            let residual = island.residual();
            let report = &mut self.solves[k];
            (report.residual, report.tolerance) = (residual, self.settings.tolerance);
            report.status = Status::Converged;
            from += count;
        }
    }

    /// Free bodies that take part in responses, rising: the listed ones, and those that touch them.
    pub fn members(&self) -> Vec<usize> {
        let islands = self.responding.iter().map(|&k| &self.islands[k]);
        let in_islands = islands
            .flat_map(|island| &island.slots)
            .filter(|slot| slot.inverse_mass > 0.0)
            .filter_map(|slot| slot.body);
        let mut members: Vec<usize> = self.listed.iter().copied().chain(in_islands).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Rows of the joints and contacts that take part in responses, with their impulses.
    pub fn rows(&self) -> (Vec<StagedRow>, Vec<f64>) {
        let (mut rows, mut impulses) = (Vec::new(), Vec::new());
        for &k in &self.responding {
            let island = &self.islands[k];
            let first = rows.len();
            for (i, row) in island.rows.iter().enumerate() {
                let away = row.linear.map(|c| -c);
                let mut bodies = Vec::new();
                let mut bias = row.bias;
                for (slot, linear, angular) in [
                    (row.a, row.linear, row.angular_a),
                    (row.b, away, row.angular_b),
                ] {
                    let slot = &island.slots[slot as usize];
                    let value = join(linear, angular);
                    match slot.body.filter(|_| slot.inverse_mass > 0.0) {
                        Some(body) => bodies.push((body, value)),
                        None => {
                            let v = join(slot.twist.linear, slot.twist.angular);
                            bias += (0..6).map(|k| value[k] * v[k]).sum::<f64>();
                        }
                    }
                }
                let contact = i.checked_sub(island.joint_rows).map(|at| (at / D, at % D));
                let tangent = contact.filter(|contact| contact.1 > 0);
                let friction =
                    tangent.map(|(at, _)| (first + island.normal_row(at), island.friction[at]));
                let (lower, upper) = match friction {
                    None => (row.lower, row.upper),
                    Some((_, friction)) if friction > 0.0 => (f64::NEG_INFINITY, f64::INFINITY),
                    Some(_) => (0.0, 0.0),
                };
                rows.push(StagedRow {
                    bodies,
                    bias,
                    lower,
                    upper,
                    friction: friction.filter(|friction| friction.1 > 0.0),
                });
                impulses.push(island.x[i]);
            }
        }
        (rows, impulses)
    }

    /// Velocity of a body after the last response.
    pub fn twist(&self, body: usize) -> Twist<D> {
        match self.places[body] {
            Some((island, slot)) => self.islands[island].slots[slot as usize].twist,
            None => self.pushed[body],
        }
    }

    /// Whether velocities are an affine function of the impulses: nothing touches the listed bodies.
    pub fn is_affine(&self) -> bool {
        self.responding.is_empty()
    }

    /// Whether contacts of the listed bodies have friction.
    pub fn has_friction(&self) -> bool {
        let islands = self.responding.iter().map(|&k| &self.islands[k]);
        islands
            .flat_map(|island| &island.friction)
            .any(|&friction| friction > 0.0)
    }

    /// Whether tangential impulses stay as they are.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether every problem of the last response was solved to its tolerance.
    pub fn converged(&self) -> bool {
        self.solves
            .iter()
            .all(|solve| solve.status == Status::Converged)
    }

    /// Largest residual of the contact problems of the last response, in m/s.
    pub fn residual(&self) -> f64 {
        let residuals = self.solves.iter().map(|solve| solve.residual);
        residuals.fold(0.0, f64::max)
    }

    /// The convex function of the impulses whose gradient the velocities are, up to a constant. Without friction, or with
    /// tangential impulses that stay as they are, only.
    pub fn potential(&self) -> f64 {
        let f = freedoms::<D>();
        let mut sum = 0.0;
        let mut of_body = |body: usize| {
            let Twist { linear, angular } = self.pushed[body];
            let v = join(linear, angular);
            let momentum = apply(&self.solve_inertia(body), &v, f);
            sum += 0.5 * (0..f).map(|i| momentum[i] * v[i]).sum::<f64>();
        };
        for &body in &self.listed {
            of_body(body);
        }
        for &k in &self.responding {
            sum += self.islands[k].dual_energy();
        }
        sum
    }

    /// Derivatives of the velocities by the impulses, with contacts and joints as the last response left them; bodies in
    /// none of the blocks have their inverse inertia. Without contacts, all of them count as open.
    pub fn derivative(&self, with_contacts: bool) -> Vec<ResponseBlock> {
        (Compiled::get().derivative)(self, with_contacts)
    }

    pub(crate) fn derivative_impl(&self, with_contacts: bool) -> Vec<ResponseBlock> {
        let of_island = |&k: &usize| {
            let members: Vec<usize> = (0..self.listed.len())
                .filter(|&i| self.places[self.listed[i]].is_some_and(|place| place.0 == k))
                .collect();
            let slots: Vec<u32> = (members.iter())
                .filter_map(|&i| self.places[self.listed[i]])
                .map(|place| place.1)
                .collect();
            let island = self.differentiated(k);
            let island = &*island;
            let matrices = match D {
                2 => blocks::<D, 3>(island, &slots, with_contacts),
                _ => blocks::<D, 6>(island, &slots, with_contacts),
            };
            ResponseBlock { members, matrices }
        };
        self.responding.par_iter().map(of_island).collect()
    }

    /// Which rows carry an impulse inside their bounds: the derivative changes with it.
    pub fn active_rows(&self) -> Vec<bool> {
        let islands = self.responding.iter().map(|&k| self.differentiated(k));
        islands.flat_map(|island| island.active_rows()).collect()
    }

    /// The island whose derivative is that of responses: tangential impulses that stay as they are hold nothing.
    fn differentiated(&self, island: usize) -> Cow<'_, Island<D>> {
        match self.frozen {
            true => Cow::Owned(self.islands[island].with_open_tangents()),
            false => Cow::Borrowed(&self.islands[island]),
        }
    }
}

/// Gives the bodies of an island their velocities without impulses of its rows.
fn place<const D: usize>(island: &mut Island<D>, pushed: &[Twist<D>]) {
    for slot in &mut island.slots {
        if let Some(body) = slot.body {
            slot.twist = pushed[body];
        }
    }
}

impl<const D: usize> Prepared<D> {
    /// Gives the normal rows of an island the bias of Baumgarte's stabilisation.
    fn stabilise(&self, island: &mut Island<D>, stabilisation: Option<(f64, f64)>, dt: f64) {
        let Some((rate, margin)) = stabilisation else {
            return;
        };
        for k in 0..island.contacts() {
            let gap = self.contacts[island.contact_ids[k]].gap;
            let n = island.normal_row(k);
            island.rows[n].bias = match gap + margin < 0.0 {
                true => rate * (gap + margin) / dt,
                false => (gap + margin).max(0.0) / dt,
            };
        }
    }
}

fn blocks<const D: usize, const B: usize>(
    island: &Island<D>,
    slots: &[u32],
    with_contacts: bool,
) -> Vec<Matrix6> {
    let mut newton = Newton::<B>::new(island);
    let Some(found) = newton.derivative(island, slots, with_contacts) else {
        return vec![[[0.0; 6]; 6]; slots.len() * slots.len()];
    };
    let count = slots.len();
    let mut matrices = vec![[[0.0; 6]; 6]; count * count];
    for i in 0..count {
        for j in 0..count {
            for r in 0..B {
                for c in 0..B {
                    // Symmetric but for rounding.
                    matrices[i * count + j][r][c] =
                        0.5 * (found[i * count + j][r][c] + found[j * count + i][c][r]);
                }
            }
        }
    }
    matrices
}

/// Starts from the impulses of the last attempt, which is closer than the last step.
fn take_impulses<const D: usize>(island: &mut Island<D>, before: &[Island<D>]) {
    let same = before.iter().find(|other| {
        other.contact_ids.len() == island.contact_ids.len()
            && other.x.len() == island.x.len()
            && other.slots.len() == island.slots.len()
            && (other.slots.iter().zip(&island.slots)).all(|(a, b)| a.body == b.body)
    });
    if let Some(same) = same {
        island.restart(&same.x);
    }
}
