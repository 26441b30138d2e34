//! Liquid and bodies together.

use meniscus_liquid::stokes::StokesProjection;
use meniscus_liquid::{self as liquid, Liquid, Phases, StepLimit};
use meniscus_rigid::{self as rigid, Bodies, Wrench};

use crate::body_field::{BodyMotion, BodyShapes};
use crate::compiled::Compiled;
use crate::problem::CoupledProblem;
use crate::projection::{CoupledProjection, Outcome};
use crate::report::{Load, StepError, StepReport};
use crate::settings::{Settings, SettingsError};
use crate::viscous::ViscousProjection;

/// Angle in rad that a body may turn in a step.
const MOST_TURN: f64 = 0.2;
/// Way of a body's points in a step at most, in cells.
const MOST_WAY: f64 = 1.0;
/// The same as a share of the thickness of its walls.
const OF_THICKNESS: f64 = 0.5;
/// Part of a step that is not worth another one.
const ROUNDING: f64 = 1e-9;

/// A liquid and rigid bodies that push each other. The solids of the liquid are the bodies, fixed and scripted ones included.
pub struct Coupled<const D: usize> {
    liquid: Liquid<D>,
    bodies: Bodies<D>,
    settings: Settings,
    shapes: BodyShapes<D>,
}

impl<const D: usize> Coupled<D> {
    /// Liquid and bodies, which must be of the same time.
    pub fn new(
        liquid: Liquid<D>,
        bodies: Bodies<D>,
        settings: Settings,
    ) -> Result<Self, SettingsError> {
        settings.validate()?;
        if !settings
            .scheme
            .suits(liquid.settings().physics.is_viscous())
        {
            return Err(SettingsError {
                name: "scheme",
                must: "p-c, c-p, iterative or unified without viscosity, and pv-c, c-pv, pc-vc-pc, iterative or unified with it",
            });
        }
        Ok(Self {
            shapes: BodyShapes::new(&bodies),
            liquid,
            bodies,
            settings,
        })
    }

    /// The liquid.
    pub fn liquid(&self) -> &Liquid<D> {
        &self.liquid
    }

    /// The liquid, to be changed.
    pub fn liquid_mut(&mut self) -> &mut Liquid<D> {
        &mut self.liquid
    }

    /// The bodies.
    pub fn bodies(&self) -> &Bodies<D> {
        &self.bodies
    }

    /// The bodies, to be changed; none may be added.
    pub fn bodies_mut(&mut self) -> &mut Bodies<D> {
        &mut self.bodies
    }

    /// Settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.liquid.time()
    }

    /// The bodies as the solids of the liquid, over a step of `dt` seconds from now on.
    pub fn motion(&self, dt: f64) -> BodyMotion<D> {
        BodyMotion::new(&self.shapes, &self.bodies, self.time(), dt)
    }

    /// Fills the region where `volume` (a signed distance) is negative, outside of bodies, with liquid.
    pub fn fill(
        &mut self,
        volume: &(dyn Fn([f64; D]) -> f64 + Sync),
        velocity: &(dyn Fn([f64; D]) -> [f64; D] + Sync),
    ) {
        let motion = self.motion(0.0);
        self.liquid.fill(volume, velocity, &motion);
    }

    /// Volume of the liquid now, outside of bodies.
    pub fn volume(&mut self) -> f64 {
        let motion = self.motion(0.0);
        self.liquid.volume(&motion)
    }

    /// The longest step allowed, in equal shares of the time left: by the CFL number of the liquid, and by the motion of
    /// bodies, of which no point moves more than a cell or half the thickness of its walls, and which turn by 0.2 rad at
    /// most.
    pub fn step_limit(&self, time_left: f64) -> StepLimit {
        let longest = self.liquid.settings().physics.max_step.min(time_left);
        let mut limit = self.liquid.step_limit(&self.motion(longest), time_left);
        let allowed = self.body_limit(longest);
        if limit.speed.is_finite() && allowed < limit.dt {
            let steps = (time_left / allowed - ROUNDING).ceil().max(1.0);
            limit.dt = time_left / steps;
        }
        limit
    }

    /// The longest step that the motion of bodies allows, at most `longest`.
    fn body_limit(&self, longest: f64) -> f64 {
        let dx = self.liquid.settings().dx;
        let gravity = self.bodies.settings().gravity;
        let norm = |v: &[f64]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
        let of_body = |body: usize| {
            if !self.bodies.is_free(body) {
                return longest;
            }
            let twist = self.bodies.twist(body);
            let local = self.bodies.body(body).mass.map_or([0.0; D], |m| m.center);
            let turning = norm(&twist.angular);
            let reach = self.shapes.reach(body, local);
            let speed = norm(&twist.linear) + if turning > 0.0 { turning * reach } else { 0.0 };
            // Walls that the grid thickens are as thick as that.
            let least = liquid::least_thickness::<D>() * dx;
            let thickness = self.shapes.thickness(body).max(least);
            let way = (MOST_WAY * dx).min(OF_THICKNESS * thickness);
            // speed t + g t^2 <= way
            let g = norm(&gravity);
            let by_way = 2.0 * way / (speed + (speed * speed + 4.0 * g * way).sqrt());
            by_way.min(MOST_TURN / turning).min(longest)
        };
        (0..self.bodies.len()).map(of_body).fold(longest, f64::min)
    }

    /// One step of `dt` seconds. If it fails, every byte of liquid and bodies is as it was.
    pub fn step(&mut self, dt: f64, phases: &mut dyn Phases) -> Result<StepReport<D>, StepError> {
        self.step_with(dt, &[], phases)
    }

    /// One step with external forces, one per body; bodies beyond the end of the list have none.
    pub fn step_with(
        &mut self,
        dt: f64,
        forces: &[Wrench<D>],
        phases: &mut dyn Phases,
    ) -> Result<StepReport<D>, StepError> {
        (Compiled::get().step)(self, dt, forces, phases)
    }

    pub(crate) fn step_impl(
        &mut self,
        dt: f64,
        forces: &[Wrench<D>],
        phases: &mut dyn Phases,
    ) -> Result<StepReport<D>, StepError> {
        let before = self.bodies.save();
        let result = match self.liquid.particles().is_empty() {
            true => self.step_without_liquid(dt, forces, phases),
            false => self.try_step(dt, forces, phases),
        };
        if result.is_err() {
            // The bytes are those of this very simulation.
            let _ = self.bodies.restore(&before);
        }
        result
    }

    fn try_step(
        &mut self,
        dt: f64,
        forces: &[Wrench<D>],
        phases: &mut dyn Phases,
    ) -> Result<StepReport<D>, StepError> {
        if self.liquid.settings().physics.is_viscous() {
            return self.try_viscous_step(dt, forces, phases);
        }
        let motion = self.motion(dt);
        let mut pressure = std::mem::take(self.liquid.projection());
        let mut projection = CoupledProjection {
            pressure: &mut pressure,
            bodies: &mut self.bodies,
            motion: &motion,
            settings: &self.settings,
            kick: self.liquid.kick(dt),
            forces,
            outcome: None,
            failure: None,
        };
        let stepped = self.liquid.step_with(&mut projection, &motion, dt, phases);
        let (outcome, failure) = (projection.outcome.take(), projection.failure.take());
        *self.liquid.projection() = pressure;
        self.ended(stepped, failure, outcome)
    }

    /// The report of a step, or why it failed: the bodies' reason, if there is one, came first.
    fn ended(
        &self,
        stepped: Result<liquid::StepReport, liquid::StepError>,
        failure: Option<rigid::StepError>,
        outcome: Option<Outcome<D>>,
    ) -> Result<StepReport<D>, StepError> {
        match (stepped, failure, outcome) {
            (_, Some(error), _) => Err(StepError::Bodies(error)),
            (Err(error), None, _) => Err(StepError::Liquid(error)),
            (Ok(liquid), None, Some(outcome)) => Ok(self.report(liquid, outcome)),
            (Ok(_), None, None) => unreachable!("a projection that succeeds has an outcome"),
        }
    }

    fn try_viscous_step(
        &mut self,
        dt: f64,
        forces: &[Wrench<D>],
        phases: &mut dyn Phases,
    ) -> Result<StepReport<D>, StepError> {
        let motion = self.motion(dt);
        let pressure = std::mem::take(self.liquid.projection());
        let mut stokes = StokesProjection::with_pressure(pressure);
        let mut projection = ViscousProjection {
            stokes: &mut stokes,
            bodies: &mut self.bodies,
            motion: &motion,
            settings: &self.settings,
            kick: self.liquid.kick(dt),
            forces,
            outcome: None,
            failure: None,
        };
        let stepped = self.liquid.step_with(&mut projection, &motion, dt, phases);
        let (outcome, failure) = (projection.outcome.take(), projection.failure.take());
        *self.liquid.projection() = stokes.into_pressure();
        self.ended(stepped, failure, outcome)
    }

    /// The problem of a step of `dt` seconds, for study elsewhere. Changes nothing but fields of the step.
    pub fn problem(&mut self, dt: f64) -> Result<CoupledProblem<D>, StepError> {
        (Compiled::get().problem)(self, dt)
    }

    pub(crate) fn problem_impl(&mut self, dt: f64) -> Result<CoupledProblem<D>, StepError> {
        if self.liquid.settings().physics.is_viscous() {
            let why = "velocity and pressure of viscous liquid are one linear system, no complementarity problem";
            return Err(StepError::Liquid(liquid::StepError::Refused(why.into())));
        }
        let motion = self.motion(dt);
        let kick = self.liquid.kick(dt);
        let mut pressure = std::mem::take(self.liquid.projection());
        let mut projection = CoupledProjection {
            pressure: &mut pressure,
            bodies: &mut self.bodies,
            motion: &motion,
            settings: &self.settings,
            kick,
            forces: &[],
            outcome: None,
            failure: None,
        };
        let mut found = None;
        self.liquid.inspect(&motion, dt, &mut |faces| {
            found = Some(projection.problem(faces, dt));
        });
        let failure = projection.failure.take();
        *self.liquid.projection() = pressure;
        match (failure, found) {
            (Some(error), _) => Err(StepError::Bodies(error)),
            (None, Some(Err(error))) => Err(StepError::Liquid(error)),
            (None, Some(Ok(problem))) => Ok(problem),
            (None, None) => unreachable!("the grid was shown"),
        }
    }

    /// Bodies alone, and a liquid that may come in later.
    fn step_without_liquid(
        &mut self,
        dt: f64,
        forces: &[Wrench<D>],
        phases: &mut dyn Phases,
    ) -> Result<StepReport<D>, StepError> {
        phases.begin("pressure-contact");
        let kick = self.liquid.kick(dt);
        let bodies = self
            .step_bodies(dt, kick, forces)
            .map_err(StepError::Bodies)?;
        let motion = self.motion(0.0);
        let liquid = self
            .liquid
            .step(&motion, dt, phases)
            .map_err(StepError::Liquid)?;
        phases.begin("");
        let loads = (bodies.contact_forces.iter().zip(&bodies.joint_forces))
            .map(|(&contact, &joint)| Load {
                contact,
                joint,
                ..Load::NONE
            })
            .collect();
        let contacts = bodies.contacts.len();
        Ok(self.report(
            liquid,
            Outcome {
                bodies,
                loads,
                wet: Vec::new(),
                cycles: 0,
                solves: 0,
                small_solves: 0,
                contacts,
                rounds: 0,
                unsettled: 0.0,
            },
        ))
    }

    fn step_bodies(
        &mut self,
        dt: f64,
        kick: f64,
        forces: &[Wrench<D>],
    ) -> Result<rigid::StepReport<D>, rigid::StepError> {
        let mut step = self.bodies.begin_step(dt, kick, forces)?;
        loop {
            step.assemble(&self.bodies, &[]);
            if let Some(report) = self.bodies.finish_step(&mut step)? {
                return Ok(report);
            }
        }
    }

    fn report(&self, liquid: liquid::StepReport, outcome: Outcome<D>) -> StepReport<D> {
        let least = liquid::least_thickness::<D>() * self.liquid.settings().dx;
        let thickened = (0..self.bodies.len())
            .filter(|&body| self.bodies.is_free(body) && self.shapes.thickness(body) < least);
        StepReport {
            liquid,
            cycles: outcome.cycles,
            solves: outcome.solves,
            small_solves: outcome.small_solves,
            contacts: outcome.contacts,
            rounds: outcome.rounds,
            unsettled: outcome.unsettled,
            wet_bodies: outcome.wet.len(),
            limited_bodies: outcome.wet.iter().filter(|wet| wet.limited).count(),
            thickened_bodies: thickened.count(),
            bodies: outcome.bodies,
            loads: outcome.loads,
        }
    }
}
