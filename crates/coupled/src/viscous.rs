//! The projection of a viscous liquid among bodies: velocity, pressure, bodies and contacts in one problem.

use meniscus_lcp::Report;
use meniscus_liquid::multigrid::{Response, freedoms};
use meniscus_liquid::solvers::Solution;
use meniscus_liquid::stokes::{BodyModes, StokesProjection};
use meniscus_liquid::{Faces, Projected, Projection, SolidId, StepError, Tiles};
use meniscus_rigid::{self as rigid, Bodies, StagedStep, Twist, Wrench};

use crate::added_mass::twist_of;
use crate::body_field::{BodyMotion, BodyPath};
use crate::contacts::BodyResponse;
use crate::projection::{Outcome, WetBody};
use crate::report::Load;
use crate::schemes::{FrozenContacts, Scheme};
use crate::settings::Settings;

/// Solves of a step at most, for contacts that were missed.
const MOST_SOLVES: usize = 8;
/// Change of velocities, relative to the largest one, at which the rounds of the iterative scheme end.
const SETTLED: f64 = 1e-6;

/// Velocity, pressure, bodies and contacts in one problem. [TB20 alg. 1]
pub struct ViscousProjection<'a, const D: usize> {
    /// Velocity and pressure of the liquid.
    pub stokes: &'a mut StokesProjection<D>,
    /// The bodies. A successful projection moves them.
    pub bodies: &'a mut Bodies<D>,
    /// The bodies as solids of the liquid. A successful projection says how they move.
    pub motion: &'a BodyMotion<D>,
    /// Settings.
    pub settings: &'a Settings,
    /// Seconds for which gravity acts on the bodies.
    pub kick: f64,
    /// External forces on the bodies.
    pub forces: &'a [Wrench<D>],
    /// Result of a successful projection.
    pub outcome: Option<Outcome<D>>,
    /// Error of the bodies, if that is why the projection failed.
    pub failure: Option<rigid::StepError>,
}

impl<const D: usize> ViscousProjection<'_, D> {
    fn fail(&mut self, error: rigid::StepError) -> StepError {
        let why = error.to_string();
        self.failure = Some(error);
        StepError::Refused(why)
    }

    /// One solve by the scheme of the settings. Returns its report and the number of rounds.
    fn solve(
        &mut self,
        faces: &mut Faces<'_, D>,
        modes: &[BodyModes<D>],
        listed: &[usize],
        step: &mut StagedStep<D>,
        dt: f64,
    ) -> Result<(Solution, usize), StepError> {
        let at_once = matches!(
            self.settings.scheme,
            Scheme::Unified | Scheme::PressureViscosityPressure
        );
        self.stokes.decoupled = self.settings.scheme == Scheme::PressureViscosityPressure;
        if at_once || modes.is_empty() {
            let mut response = BodyResponse::new(step, listed);
            let solution = self.stokes.solve_with(faces, dt, modes, &mut response)?;
            // The liquid moves with these; those of the contacts are the same to its tolerance.
            if let Some((moved, _)) = self.stokes.bodies() {
                step.set_velocities(moved);
            }
            return Ok((solution, 1));
        }
        let size = listed.len() * freedoms::<D>();
        let inverse: Vec<_> = listed
            .iter()
            .map(|&body| step.inverse_inertia(body))
            .collect();
        let free: Vec<f64> = velocities(listed.iter().map(|&body| step.start(body)));
        let mut impulses = vec![0.0; size];
        let mut contact = vec![0.0; size];
        let mut rounds = 0;
        loop {
            rounds += 1;
            // What contacts add to the velocities, for the impulses of the liquid so far.
            let first = rounds == 1 && self.settings.scheme != Scheme::ContactViscous;
            let mut start = free.clone();
            if !first {
                step.respond(&impulses, &mut contact);
                let without = FrozenContacts::new::<D>(inverse.clone(), free.clone());
                let mut alone = vec![0.0; size];
                without.moved(&impulses, &mut alone);
                for k in 0..size {
                    start[k] += contact[k] - alone[k];
                }
            }
            let mut frozen = FrozenContacts::new::<D>(inverse.clone(), start);
            let solution =
                self.stokes
                    .solve_with(faces, dt, modes, &mut frozen as &mut dyn Response)?;
            let Some((moved, found)) = self.stokes.bodies() else {
                return Err(StepError::Refused("nothing is solved yet".into()));
            };
            let (moved, found) = (moved.to_vec(), found.to_vec());
            impulses = found;
            // Contacts come last but for the scheme in which they come first.
            if self.settings.scheme == Scheme::ContactViscous {
                step.respond(&impulses, &mut contact);
                step.set_velocities(&moved);
                return Ok((solution, rounds));
            }
            step.respond(&impulses, &mut contact);
            let largest = contact.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let pairs = contact.iter().zip(&moved);
            let apart = pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            let done = match self.settings.scheme {
                Scheme::Iterative => apart <= SETTLED * largest || rounds >= self.settings.rounds,
                _ => true,
            };
            if done {
                return Ok((solution, rounds));
            }
        }
    }
}

/// Numbers of velocities, one after the other.
fn velocities<const D: usize>(twists: impl Iterator<Item = Twist<D>>) -> Vec<f64> {
    let numbers = |twist: Twist<D>| -> Vec<f64> {
        let own = crate::added_mass::numbers(&twist);
        own[..freedoms::<D>()].to_vec()
    };
    twists.flat_map(numbers).collect()
}

impl<const D: usize> Projection<D> for ViscousProjection<'_, D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        let mut step = match self.bodies.begin_step(dt, self.kick, self.forces) {
            Ok(step) => step,
            Err(error) => return Err(self.fail(error)),
        };
        if self.settings.baumgarte > 0.0 {
            let margin = self.settings.margin * faces.settings.dx;
            step.stabilise(self.settings.baumgarte, margin);
        }
        let free = (0..self.bodies.len()).filter(|&body| step.is_free(body));
        let free: Vec<usize> = free.collect();
        let modes_of = |bodies: &[usize]| -> Vec<BodyModes<D>> {
            let mode = |&body: &usize| BodyModes {
                solid: SolidId(body as u32),
                center: step.center(body),
            };
            bodies.iter().map(mode).collect()
        };
        faces.phases.begin("assemble");
        let wet = self.stokes.wet_bodies(faces, &modes_of(&free));
        let listed: Vec<usize> = wet.into_iter().map(|k| free[k]).collect();
        let modes = modes_of(&listed);
        faces.phases.begin("pressure-contact");
        let (mut cycles, mut solves, mut rounds) = (0, 0, 0);
        let (solution, report, twists) = loop {
            step.assemble(self.bodies, &listed);
            let (solution, turns) = self.solve(faces, &modes, &listed, &mut step, dt)?;
            solves += 1;
            rounds += turns;
            cycles += solution.report.iterations;
            let twists: Vec<Twist<D>> = (0..self.bodies.len()).map(|b| step.twist(b)).collect();
            match self.bodies.finish_step(&mut step) {
                Ok(None) if solves < MOST_SOLVES => continue,
                Ok(None) => return Err(StepError::Unsolved(solution)),
                Ok(Some(report)) => break (solution, report, twists),
                Err(error) => return Err(self.fail(error)),
            }
        };
        let path = |body: usize| BodyPath {
            end: self.bodies.pose(body),
            twist: twists[body],
        };
        self.motion
            .set_paths((0..self.bodies.len()).map(path).collect());
        let mut loads: Vec<Load<D>> = (report.contact_forces.iter().zip(&report.joint_forces))
            .map(|(&contact, &joint)| Load {
                contact,
                joint,
                ..Load::NONE
            })
            .collect();
        let mut wet = Vec::new();
        if let Some((_, impulses)) = self.stokes.bodies() {
            for (&body, own) in listed.iter().zip(impulses.chunks(freedoms::<D>())) {
                let mut force = [0.0; 6];
                own.iter().zip(&mut force).for_each(|(j, f)| *f = j / dt);
                let inertia = step.inertia(body);
                let mut impulse = [0.0; 6];
                impulse[..own.len()].copy_from_slice(own);
                wet.push(WetBody {
                    body,
                    own_inertia: inertia,
                    inertia,
                    momentum: [0.0; 6],
                    impulse,
                    twist: twists[body],
                    limited: false,
                });
                let Twist { linear, angular } = twist_of::<D>(&force);
                loads[body].liquid = Wrench {
                    force: linear,
                    torque: angular,
                };
            }
        }
        let projected = self.stokes.apply(faces, solution)?;
        self.outcome = Some(Outcome {
            bodies: report,
            loads,
            wet,
            cycles,
            solves,
            small_solves: step.solved(),
            contacts: step.contacts(),
            rounds,
            unsettled: self.stokes.report().map_or(0.0, |report| report.unsettled),
        });
        Ok(projected)
    }

    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError> {
        self.stokes.correct_positions(faces, drift, dt)
    }

    fn accept(&mut self, tiles: &Tiles<D>, dt: f64) {
        self.stokes.accept(tiles, dt);
    }
}
