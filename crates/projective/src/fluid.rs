//! Particles and their step.

use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
use rayon::prelude::*;

use crate::bodies::{BodyStep, Movers};
use crate::boundary::{Boundary, SampledShapes};
use crate::cells::{Cells, lists};
use crate::cloth::step::{ClothStep, Setting};
use crate::cloth::{Cloth, sides};
use crate::constraints::{Constraints, padding};
use crate::kernel::{HalfSpace, Kernel, support};
use crate::particles::Particles;
use crate::real::{Real, Vec4};
use crate::reduce::sum_and_max;
use crate::report::{StepError, StepReport};
use crate::settings::{Settings, SettingsError};
use crate::solve::{Others, Problem, Unknowns, push_out, solve};
use crate::velocities::finish;
use crate::walls::Walls;

/// Share of the particles whose speed limits the step: single drops of spray do not.
const LIMITING_SHARE: f64 = 0.999;
/// Excess of density, in tolerances, beyond which a step has failed.
const FAILED: f64 = 30.0;

/// A liquid of particles with density constraints.
pub struct Fluid<const D: usize, R: Real = f32> {
    pub(crate) settings: Settings<D>,
    kernel: Kernel<R>,
    half_space: HalfSpace,
    pub(crate) particles: Particles<R>,
    pub(crate) time: f64,
    /// Length of the last step; zero before the first.
    pub(crate) last_step: f64,
    /// Identifier of the next particle.
    pub(crate) next_id: u64,
    constraints: Constraints<R>,
    /// Cloth; in 3D only.
    pub(crate) cloth: Option<Cloth>,
    /// Particles on the surfaces of solids.
    sampled: SampledShapes<D>,
}

impl<const D: usize, R: Real> Fluid<D, R> {
    /// A liquid without particles at time zero.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings<D>) -> Result<Self, SettingsError> {
        settings.validate()?;
        Ok(Self {
            kernel: Kernel::new::<D>(settings.spacing),
            half_space: HalfSpace::new::<D>(settings.spacing),
            particles: Particles::default(),
            time: 0.0,
            last_step: 0.0,
            next_id: 0,
            constraints: Constraints::default(),
            cloth: None,
            sampled: SampledShapes::default(),
            settings,
        })
    }

    /// Settings.
    pub fn settings(&self) -> &Settings<D> {
        &self.settings
    }

    /// Particles, sorted by cell after the first step.
    pub fn particles(&self) -> &Particles<R> {
        &self.particles
    }

    /// Adds cloth and soft bodies, in place of those that are there; in 3D. It takes part with
    /// [`Method::Dual`](crate::Method::Dual) only.
    pub fn set_cloth(&mut self, cloth: Cloth) {
        self.cloth = Some(cloth);
    }

    /// Cloth and soft bodies.
    pub fn cloth(&self) -> Option<&Cloth> {
        self.cloth.as_ref()
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Length of the last step, in seconds; zero before the first.
    pub fn last_step(&self) -> f64 {
        self.last_step
    }

    /// Adds one particle.
    pub fn add(&mut self, position: [f64; D], velocity: [f64; D], source: u32) {
        let id = self.next_id;
        self.next_id += 1;
        let (x, v) = (Vec4::of(position), Vec4::of(velocity));
        self.particles.push(x, v, id, self.time, source);
    }

    /// Fills `bounds` with a lattice of particles where `source` names the source of liquid, at least half a spacing from
    /// solids. The lattice begins half a spacing from the lower corner of the bounds.
    pub fn fill(
        &mut self,
        bounds: &Bounds<D>,
        solids: &[ScriptedSolid<D>],
        source: &(dyn Fn([f64; D]) -> Option<u32> + Sync),
        velocity: &(dyn Fn([f64; D]) -> [f64; D] + Sync),
    ) {
        let spacing = self.settings.spacing;
        let count: [usize; D] = std::array::from_fn(|axis| {
            ((bounds.high[axis] - bounds.low[axis]) / spacing + 1e-6).max(0.0) as usize
        });
        let walls = Walls::new(solids, self.time, &self.half_space, spacing);
        // Half a spacing, less rounding.
        let room = (0.5 - 1e-4) * spacing;
        let layers = count[D - 1];
        let per_layer: usize = count[..D - 1].iter().product();
        let found: Vec<Vec<([f64; D], u32)>> = (0..layers)
            .into_par_iter()
            .map(|layer| {
                let mut found = Vec::new();
                for number in 0..per_layer {
                    let (mut rest, mut index) = (number, [layer; D]);
                    for axis in 0..D - 1 {
                        index[axis] = rest % count[axis];
                        rest /= count[axis];
                    }
                    let x: [f64; D] = std::array::from_fn(|axis| {
                        bounds.low[axis] + (index[axis] as f64 + 0.5) * spacing
                    });
                    if let Some(source) = source(x)
                        && walls.distance_within(x, spacing) >= room
                    {
                        found.push((x, source));
                    }
                }
                found
            })
            .collect();
        for (x, source) in found.into_iter().flatten() {
            self.add(x, velocity(x), source);
        }
    }

    /// Removes the particles for which `is_kept` is false. Returns their number.
    pub fn retain(&mut self, is_kept: &(dyn Fn([f64; D]) -> bool + Sync)) -> usize {
        let kept: Vec<bool> = self
            .particles
            .position
            .par_iter()
            .map(|x| is_kept(x.point()))
            .collect();
        let removed = kept.iter().filter(|kept| !**kept).count();
        if removed > 0 {
            self.particles.retain(&kept);
        }
        removed
    }

    /// Share of the kernel beyond planes.
    pub(crate) fn half_space(&self) -> &HalfSpace {
        &self.half_space
    }

    /// Velocities of the particles in a shape.
    pub(crate) fn velocities_within(
        &mut self,
        shape: &Shape<D>,
    ) -> impl Iterator<Item = &mut Vec4<R>> {
        let particles = &mut self.particles;
        let moving = particles.velocity.iter_mut().zip(&particles.position);
        moving.filter_map(|(v, x)| (shape.distance(x.point()) <= 0.0).then_some(v))
    }

    /// Longest step: nearly no particle moves farther than `cfl` spacings, by its velocity and gravity. Also the speed that
    /// limits it, infinite if a velocity is not finite.
    pub fn step_limit(&self, solids: &[ScriptedSolid<D>], bounds: &Bounds<D>) -> (f64, f64) {
        let settings = &self.settings;
        let mut squares: Vec<f64> = self
            .particles
            .velocity
            .iter()
            .map(|v| v.dot(*v).wide())
            .collect();
        let mut speed = 0.0;
        if !squares.is_empty() {
            if squares.iter().any(|square| !square.is_finite()) {
                return (settings.max_step, f64::INFINITY);
            }
            let rank = ((squares.len() - 1) as f64 * LIMITING_SHARE) as usize;
            let (_, square, _) = squares.select_nth_unstable_by(rank, f64::total_cmp);
            speed = square.sqrt();
        }
        if let Some(cloth) = &self.cloth {
            speed = cloth.max_speed().max(speed);
            if !speed.is_finite() {
                return (settings.max_step, speed);
            }
        }
        for solid in solids {
            speed = solid
                .max_speed(self.time, settings.max_step, bounds)
                .max(speed);
        }
        let gravity = settings.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        // The largest `dt` with `speed dt + gravity dt² <= reach`.
        let reach = settings.cfl * settings.spacing;
        let root = (speed * speed + 4.0 * gravity * reach).sqrt();
        let limit = 2.0 * reach / (speed + root).max(1e-300);
        (limit.min(settings.max_step), speed)
    }

    /// One step of `dt` seconds among scripted solids.
    ///
    /// # Errors
    /// If positions are not finite afterwards, or the density is far from its tolerance. The state is then as it was.
    pub fn step(
        &mut self,
        solids: &[ScriptedSolid<D>],
        dt: f64,
        begin: &mut dyn FnMut(&'static str),
    ) -> Result<StepReport, StepError> {
        self.step_with(solids, None, dt, begin)
    }

    /// One step of `dt` seconds among scripted solids and bodies that the liquid moves, which [`Method::Dual`](crate::Method::Dual)
    /// does.
    ///
    /// # Errors
    /// As [`step`](Self::step), or if the step of the bodies fails. The liquid is then as it was.
    pub fn step_with<'a>(
        &mut self,
        solids: &'a [ScriptedSolid<D>],
        movers: Option<&mut dyn Movers<'a, D>>,
        dt: f64,
        begin: &mut dyn FnMut(&'static str),
    ) -> Result<StepReport, StepError> {
        if self.settings.boundary == Boundary::Particles {
            let bodies = movers.as_ref().map_or(0, |movers| movers.count());
            let bodies = (0..bodies).filter_map(|k| Some(movers.as_ref()?.shape(k)));
            let shapes = solids.iter().map(|solid| &solid.shape).chain(bodies);
            self.sampled.prepare(shapes, self.settings.spacing);
        }
        let (settings, n) = (&self.settings, self.particles.len());
        let support = support::<D>() * settings.spacing;
        let times = self.time..self.time + dt;
        let mut walls = Walls::over_step(solids, times, &self.half_space, settings.spacing);
        let mut bodies =
            movers.map(|movers| BodyStep::new(movers, &mut walls, dt, settings.particle_mass()));
        walls.sample(&self.sampled);
        let fall_time = 0.5 * (self.last_step + dt);

        begin("predict");
        let predicted = self.predicted(&walls, dt);

        begin("neighbours");
        let (cells, order) = Cells::new(&predicted, &self.particles.id, support);
        let mut next = self.particles.permuted(&order);
        let mut predicted: Vec<Vec4<R>> =
            order.par_iter().map(|&i| predicted[i as usize]).collect();
        predicted.push(padding());
        let mut constraints = std::mem::take(&mut self.constraints);
        lists(&cells, &predicted, support, &mut constraints.lists);
        constraints.resize(n);
        if let Some(cloth) = &self.cloth {
            let reach = support + 1.1 * settings.spacing;
            sides::part(cloth, &next.position, reach, &mut constraints.lists);
        }
        // Within a step, particles move by less than a spacing.
        let band = support + settings.spacing;
        constraints.is_near_wall = predicted[..n]
            .par_iter()
            .map(|x| walls.distance_within(x.point(), band) < band)
            .collect();

        begin("solve");
        let mut problem = Problem {
            settings,
            kernel: &self.kernel,
            walls,
            start: &next.position,
            predicted: &predicted[..n],
            dt,
        };
        if let Some(cloth) = &mut self.cloth {
            cloth.prepare(dt);
        }
        let setting = Setting {
            gravity: settings.gravity,
            spacing: settings.spacing,
            particle_mass: settings.particle_mass(),
            end: self.time + dt,
            dt,
            fall_time,
        };
        let mut cloth = self
            .cloth
            .as_ref()
            .and_then(|cloth| ClothStep::new(cloth, &setting));
        let mut unknowns = Unknowns {
            position: predicted.clone(),
            multiplier: std::mem::take(&mut next.multiplier),
        };
        let others = Others {
            cloth: cloth.as_mut(),
            bodies: bodies.as_mut(),
        };
        let solved = solve(&mut problem, &mut constraints, &mut unknowns, others);

        begin("finish");
        let failed = FAILED * settings.max_error;
        let is_finite = |x: &Vec4<R>| x.0.iter().all(|value| value.wide().is_finite());
        let error = if !unknowns.position.par_iter().all(is_finite)
            || !solved.max_error.is_finite()
            || !cloth.as_ref().is_none_or(ClothStep::is_finite)
        {
            Some(StepError::NotFinite)
        } else if solved.max_error > failed && settings.method == crate::Method::Dual {
            Some(StepError::Unsolved {
                max_error: solved.max_error,
                rounds: solved.rounds,
            })
        } else if !bodies.as_mut().is_none_or(BodyStep::finish) {
            Some(StepError::Bodies)
        } else {
            None
        };
        if let Some(error) = error {
            self.constraints = constraints;
            return Err(error);
        }
        let outcome = cloth.map(|mut cloth| {
            let pin_force = cloth.pin_force();
            cloth.separate(&problem.walls, &next.position, &mut unknowns.position[..n]);
            cloth.outcome(pin_force)
        });
        drop(problem);
        let wall_force = finish(
            &mut next,
            &unknowns,
            &mut constraints,
            &self.kernel,
            settings,
            dt,
            fall_time,
        );
        if let (Some(outcome), Some(cloth)) = (outcome, &mut self.cloth) {
            outcome.apply(cloth, dt);
        }
        next.multiplier = unknowns.multiplier;
        self.particles = next;
        self.constraints = constraints;
        self.time += dt;
        self.last_step = dt;
        Ok(self.report(dt, solved, wall_force))
    }

    /// Positions without constraints. Velocities belong to the middle of a step, so gravity acts for half the last step and
    /// half this one: free fall is exact for any sequence of steps.
    fn predicted(&self, walls: &Walls<'_, D>, dt: f64) -> Vec<Vec4<R>> {
        let gravity = self
            .settings
            .gravity
            .map(|g| g * dt * 0.5 * (self.last_step + dt));
        let (fall, dt) = (Vec4::of(gravity), R::of(dt));
        let particles = self
            .particles
            .position
            .par_iter()
            .zip(&self.particles.velocity);
        particles
            .map(|(x, v)| {
                let mut s = x.plus(dt, *v) + fall;
                push_out(walls, &mut s);
                s
            })
            .collect()
    }

    fn report(&self, dt: f64, solve: crate::SolveReport, wall_force: [f64; 3]) -> StepReport {
        let mass = self.settings.particle_mass();
        let velocity = &self.particles.velocity;
        let (squares, max) = sum_and_max(velocity.len(), |i| velocity[i].dot(velocity[i]).wide());
        let gravity = self.settings.gravity;
        let position = &self.particles.position;
        let (height, _) = sum_and_max(position.len(), |i| {
            let x: [f64; D] = position[i].point();
            -(0..D).map(|axis| gravity[axis] * x[axis]).sum::<f64>()
        });
        StepReport {
            time: self.time,
            dt,
            particles: self.particles.len(),
            kinetic_energy: 0.5 * mass * squares,
            potential_energy: mass * height,
            max_speed: max.sqrt(),
            wall_force,
            solve,
        }
    }
}
