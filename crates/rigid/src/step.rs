//! A step of the simulation. [TB20 alg. 1], the part that concerns bodies.

use std::collections::BTreeMap;
use std::sync::Arc;

use meniscus_shapes::Pose;
use rayon::prelude::*;

use crate::bodies::{Bodies, State, WarmContact};
use crate::body::Wrench;
use crate::contact::{Contact, LoadedContact};
use crate::free_flight;
use crate::inertia::Inertia;
use crate::islands::Group;
use crate::joint::{JointRows, MOST_ROWS};
use crate::linear::{add_scaled, is_finite, scale, sub};
use crate::problem::ContactProblem;
use crate::report::{StepError, StepReport};
use crate::solve::{self, Island, SolveReport};
use crate::state::Kinetic;

/// What a step has found out before it changes anything.
#[derive(Clone, Debug)]
pub(crate) struct Prepared<const D: usize> {
    /// Poses at the start of the step.
    pub poses: Vec<Pose<D>>,
    pub kinetics: Vec<Kinetic<D>>,
    /// Pairs of bodies that are near each other, rising.
    pub pairs: Vec<(usize, usize)>,
    pub contacts: Vec<Contact<D>>,
    pub joints: Vec<Option<JointRows<D>>>,
    pub groups: Vec<Group>,
    /// Whether the solve of a group is skipped.
    pub asleep: Vec<bool>,
    /// Inertias of bodies that have a matrix of their own in this step.
    pub inertias: Arc<Vec<Inertia>>,
}

/// Bodies after the solves of a step.
struct Moved<const D: usize> {
    islands: Vec<Island<D>>,
    solves: Vec<SolveReport>,
    /// Speed of approach of each contact.
    approach: Vec<f64>,
    /// Contacts after the bodies have moved.
    ends: Vec<Contact<D>>,
}

/// Solves of a step with contacts that were missed before.
const MOST_ATTEMPTS: usize = 8;

impl<const D: usize> Bodies<D> {
    pub(crate) fn step_impl(
        &mut self,
        dt: f64,
        forces: &[Wrench<D>],
    ) -> Result<StepReport<D>, StepError> {
        self.check_step(dt, forces)?;
        let before = self.state.clone();
        // All of it in the pool: one change of threads instead of one for each parallel part.
        let result = rayon::scope(|_| self.try_step(dt, forces));
        if result.is_err() {
            self.state = before;
        }
        result
    }

    fn try_step(&mut self, dt: f64, forces: &[Wrench<D>]) -> Result<StepReport<D>, StepError> {
        let mut prepared = self.prepare(dt, dt, forces);
        self.wake(&prepared);
        let moved = self.solve_and_move(&mut prepared, dt)?;
        let mut report = self.loads(&prepared, &moved.islands, moved.solves, dt);
        self.keep_impulses(&prepared, &moved.islands, dt);
        self.bounce(&prepared, &moved.islands, &moved.approach, dt, &mut report);
        self.correct_positions(&prepared, &moved.ends, &moved.islands, dt, &mut report);
        self.settle(&prepared, dt);
        self.check_finite()?;
        self.state.time += dt;
        self.state.last_dt = dt;
        report.asleep = self.state.bodies.iter().filter(|body| body.asleep).count();
        report.energy = self.energy();
        Ok(report)
    }

    /// Velocities that let no body through another, one problem for each island, from the last step's impulses; then
    /// positions with them. Bodies that overlap afterwards are contacts that were missed: their islands are solved again.
    fn solve_and_move(
        &mut self,
        prepared: &mut Prepared<D>,
        dt: f64,
    ) -> Result<Moved<D>, StepError> {
        let pushed = prepared.kinetics.clone();
        let before = self.state.bodies.clone();
        let (mut islands, mut solves, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut continued = None;
        let mut attempts = 0;
        loop {
            let state = continued.as_ref().unwrap_or(&self.state);
            let solved = islands.into_iter().zip(solves).collect();
            let changed;
            (islands, solves, changed) = self.solve_islands(prepared, state, solved, dt);
            self.check_feasible(prepared, &islands, &solves)?;
            let approach = self.approach_speeds(prepared, dt);
            prepared.take_velocities(&islands);
            self.advance(prepared, dt);
            ends = self.end_contacts(prepared, &ends, &changed, dt);
            let missed = self.missed(prepared, (&islands, &solves), &ends, dt);
            attempts += 1;
            if missed.is_empty() || attempts == MOST_ATTEMPTS {
                return Ok(Moved {
                    islands,
                    solves,
                    approach,
                    ends,
                });
            }
            self.state.bodies.clone_from(&before);
            continued = Some(self.continued(prepared, &islands, dt));
            prepared.kinetics.clone_from(&pushed);
            self.add_contacts(prepared, missed);
            self.wake(prepared);
        }
    }

    /// Adds contacts that were missed, with velocities as before the solves.
    pub(crate) fn add_contacts(&self, prepared: &mut Prepared<D>, missed: Vec<Contact<D>>) {
        prepared.contacts.extend(missed);
        prepared
            .contacts
            .sort_by_key(|contact| (contact.a, contact.b, contact.id));
        prepared
            .contacts
            .dedup_by_key(|contact| (contact.a, contact.b, contact.id));
        prepared.groups = self.groups(&self.state, &prepared.kinetics, &prepared.contacts);
        prepared.asleep = prepared
            .groups
            .iter()
            .map(|group| self.sleeps(group, &prepared.contacts, &prepared.kinetics))
            .collect();
    }

    /// Solves the problems of all islands that are awake, except those that are `solved` and have got no contact since.
    /// Returns them with the bodies whose velocities are new.
    fn solve_islands(
        &self,
        prepared: &Prepared<D>,
        state: &State<D>,
        solved: Vec<(Island<D>, SolveReport)>,
        dt: f64,
    ) -> (Vec<Island<D>>, Vec<SolveReport>, Vec<bool>) {
        let again = !solved.is_empty();
        let mut changed = vec![!again; self.len()];
        let mut known: BTreeMap<Option<usize>, (Island<D>, SolveReport)> = (solved.into_iter())
            .map(|own| (own.0.first_body(), own))
            .collect();
        let awake = prepared.awake().map(|group| {
            let own = known.remove(&group.bodies.first().copied());
            let same = own.filter(|(island, report)| {
                report.bodies == group.bodies.len()
                    && island.contact_ids.len() == group.contacts.len()
            });
            if same.is_none() {
                group.bodies.iter().for_each(|&body| changed[body] = true);
            }
            (group, same)
        });
        let awake: Vec<_> = awake.collect();
        let solve = |(group, same): (&Group, Option<(Island<D>, SolveReport)>)| match same {
            Some((mut island, report)) => {
                island.contact_ids.clone_from(&group.contacts);
                (island, report)
            }
            None => {
                let mut island = self.island(group, state, prepared, dt);
                island.continued = again;
                let report = solve::solve(&mut island, &self.settings, dt);
                (island, report)
            }
        };
        let (islands, solves) = awake.into_par_iter().map(solve).unzip();
        (islands, solves, changed)
    }

    /// The state with the impulses of a solve in place of the last step's.
    fn continued(&self, prepared: &Prepared<D>, islands: &[Island<D>], dt: f64) -> State<D> {
        let mut state = self.state.clone();
        state.take_impulses(prepared, islands);
        state.last_dt = dt;
        state
    }

    /// Velocities after external forces and `kick` seconds of gravity, contacts, rows of joints, islands.
    pub(crate) fn prepare(&self, dt: f64, kick: f64, forces: &[Wrench<D>]) -> Prepared<D> {
        let state = &self.state;
        let kinetics: Vec<Kinetic<D>> = (0..self.len())
            .map(|index| {
                let body = &self.bodies[index];
                let mut kinetic = body.kinetic(&state.bodies[index], state.time, dt);
                if kinetic.is_free() {
                    let force = forces.get(index).copied().unwrap_or_default();
                    kinetic.push(scale(force.force, dt), scale(force.torque, dt));
                    if body.gravity {
                        kinetic.twist.linear =
                            add_scaled(kinetic.twist.linear, kick, self.settings.gravity);
                    }
                }
                kinetic
            })
            .collect();
        let (pairs, contacts) = self.contacts(state, &kinetics, dt);
        let groups = self.groups(state, &kinetics, &contacts);
        let joints = (0..self.joints.len())
            .map(|joint| {
                (!state.joints[joint].broken)
                    .then(|| self.rows_of_joint(joint, state, &kinetics, dt))
            })
            .collect();
        let asleep = groups
            .iter()
            .map(|group| self.sleeps(group, &contacts, &kinetics))
            .collect();
        let poses = state.bodies.iter().map(|body| body.pose).collect();
        Prepared {
            poses,
            pairs,
            kinetics,
            contacts,
            joints,
            groups,
            asleep,
            inertias: Arc::default(),
        }
    }

    pub(crate) fn islands(&self, prepared: &Prepared<D>, dt: f64) -> Vec<Island<D>> {
        let awake: Vec<&Group> = prepared.awake().collect();
        let island = |group: &&Group| self.island(group, &self.state, prepared, dt);
        awake.par_iter().map(island).collect()
    }

    pub(crate) fn contact_problems_impl(&self, dt: f64) -> Result<Vec<ContactProblem>, StepError> {
        self.check_step(dt, &[])?;
        let prepared = self.prepare(dt, dt, &[]);
        let islands = self.islands(&prepared, dt);
        islands
            .iter()
            .map(|island| solve::assemble(island).map_err(StepError::Problem))
            .collect()
    }

    /// Moves all bodies: scripted ones to their next pose, free ones with their velocity.
    pub(crate) fn advance(&mut self, prepared: &Prepared<D>, dt: f64) {
        let time = self.state.time;
        for index in 0..self.len() {
            let (body, kinetic) = (&self.bodies[index], &prepared.kinetics[index]);
            let state = &mut self.state.bodies[index];
            if state.removed {
                continue;
            }
            if let (Some(mass), true) = (&body.mass, kinetic.is_free()) {
                if state.asleep {
                    continue;
                }
                let center = add_scaled(kinetic.center, dt, kinetic.twist.linear);
                let (rotation, angular) = free_flight::advance(
                    &state.pose.rotation,
                    &mass.inertia,
                    kinetic.twist.angular,
                    dt,
                    self.settings.implicit_gyroscopic,
                );
                state.twist.linear = kinetic.twist.linear;
                state.twist.angular = angular;
                state.pose.rotation = rotation;
                state.pose.translation = sub(center, rotation.apply(mass.center));
            } else if body.scripted_pose(time).is_some() {
                state.twist = kinetic.twist;
                if let crate::Drive::Scripted(motion) = &body.drive {
                    state.pose = motion.world_from_body(time + dt);
                }
            }
        }
    }

    /// Keeps impulses for the next step; joints whose reaction is too large break.
    pub(crate) fn keep_impulses(&mut self, prepared: &Prepared<D>, islands: &[Island<D>], dt: f64) {
        self.state.take_impulses(prepared, islands);
        for (joint, made) in prepared.joints.iter().enumerate() {
            if let Some(made) = made {
                let own = &mut self.state.joints[joint];
                own.coordinate = made.coordinate;
                let force = crate::loads::joint_impulse(made, &own.impulses).0;
                let limit = self.joints[joint].break_force.unwrap_or(f64::INFINITY);
                own.broken = crate::linear::norm(force) > limit * dt;
            }
        }
    }

    pub(crate) fn check_step(&self, dt: f64, forces: &[Wrench<D>]) -> Result<(), StepError> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(StepError::TimeStep(dt));
        }
        let faulty = forces
            .iter()
            .position(|force| !(is_finite(force.force) && is_finite(force.torque)));
        match faulty {
            Some(body) => Err(StepError::Force {
                body: self
                    .bodies
                    .get(body)
                    .map_or(String::new(), |b| b.name.clone()),
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_finite(&self) -> Result<(), StepError> {
        let sound = |body: &crate::state::BodyState<D>| {
            body.pose.is_finite() && is_finite(body.twist.linear) && is_finite(body.twist.angular)
        };
        match self.state.bodies.iter().position(|body| !sound(body)) {
            Some(body) => Err(StepError::NonFinite {
                body: self.bodies[body].name.clone(),
            }),
            None => Ok(()),
        }
    }
}

impl<const D: usize> State<D> {
    /// Takes over the impulses of solves, for the next ones to start from. Bodies that are asleep keep theirs.
    fn take_impulses(&mut self, prepared: &Prepared<D>, islands: &[Island<D>]) {
        let mut asleep = vec![false; self.bodies.len()];
        let sleeping = prepared.groups.iter().zip(&prepared.asleep);
        for (group, _) in sleeping.filter(|(_, asleep)| **asleep) {
            group.bodies.iter().for_each(|&body| asleep[body] = true);
        }
        self.warm.retain(|warm| asleep[warm.a] || asleep[warm.b]);
        for island in islands {
            for (k, &contact) in island.contact_ids.iter().enumerate() {
                let own = &prepared.contacts[contact];
                let impulse = contact_impulse(island, k);
                if impulse != [0.0; D] {
                    let point = self.bodies[own.a].pose.apply_inverse(own.point);
                    self.warm.push(WarmContact {
                        a: own.a,
                        b: own.b,
                        id: own.id,
                        point,
                        impulse,
                    });
                }
            }
            let mut place = 0;
            let mut last = usize::MAX;
            for (k, &joint) in island.joint_row_ids.iter().enumerate() {
                place = if joint == last { place + 1 } else { 0 };
                last = joint;
                let impulses = &mut self.joints[joint].impulses;
                if place == 0 {
                    *impulses = [0.0; MOST_ROWS];
                }
                impulses[place] = island.x[k];
            }
        }
        self.warm.sort_by_key(|warm| (warm.a, warm.b, warm.id));
    }
}

impl<const D: usize> Prepared<D> {
    /// Groups that are not asleep.
    fn awake(&self) -> impl Iterator<Item = &Group> {
        let all = self.groups.iter().zip(&self.asleep);
        all.filter(|(_, asleep)| !**asleep).map(|(group, _)| group)
    }

    /// Takes over the velocities that the solves found.
    pub(crate) fn take_velocities(&mut self, islands: &[Island<D>]) {
        for slot in islands.iter().flat_map(|island| &island.slots) {
            if let Some(body) = slot.body.filter(|_| slot.inverse_mass > 0.0) {
                self.kinetics[body].twist = slot.twist;
            }
        }
    }
}

/// Impulse of an island's contact on the first body, in world axes.
pub(crate) fn contact_impulse<const D: usize>(island: &Island<D>, contact: usize) -> [f64; D] {
    let first = island.normal_row(contact);
    (first..first + D).fold([0.0; D], |sum, i| {
        add_scaled(sum, island.x[i], island.rows[i].linear)
    })
}

/// A contact with its impulse.
pub(crate) fn loaded<const D: usize>(contact: &Contact<D>, impulse: [f64; D]) -> LoadedContact<D> {
    LoadedContact {
        contact: *contact,
        impulse,
    }
}
