//! The liquid: its particles, and the fields of a step.

mod distance;
mod health;
mod reporting;
mod speeds;
mod state;
mod volume_target;

pub use distance::Distance;
pub use state::{State, StateError};
pub(crate) use volume_target::VolumeMeasure;

use rayon::prelude::*;

use self::speeds::Speeds;
use self::volume_target::VolumeTarget;
use crate::compiled::Compiled;
use crate::grid::cut_cells::CutCells;
use crate::grid::extrapolate::FaceState;
use crate::grid::level_set::LevelSet;
use crate::grid::thick_walls::ThickWalls;
use crate::grid::tiles::{Coord, Tiles};
use crate::particles::seed;
use crate::particles::sources::{Exchanged, Sources};
use crate::particles::transfer::FaceField;
use crate::particles::{Bins, Particles, cell_of};
use crate::pressure::PressureProjection;
use crate::projection::{Faces, Projection};
use crate::report::{Phases, PressureProblem, StepError, StepReport};
use crate::settings::{Settings, SettingsError};
use crate::solids::SolidMotion;
use crate::stokes::StokesProjection;

/// Longest step, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLimit {
    /// Length in seconds.
    pub dt: f64,
    /// The longest one that is allowed at any speed.
    pub longest: f64,
    /// Largest speed to be expected, that of a few particles of spray included; not finite if a particle's is not.
    pub speed: f64,
}

/// A liquid: particles, and the grid around them that every step builds anew.
pub struct Liquid<const D: usize> {
    pub(crate) settings: Settings<D>,
    pub(crate) particles: Particles<D>,
    pub(crate) ports: Sources<D>,
    pub(crate) time: f64,
    /// Length of the last step; gravity acts from the middle of that step to the middle of the next.
    pub(crate) last_dt: f64,
    /// The volume that the position correction returns to; set by the first step with some.
    pub(crate) volume_target: Option<VolumeTarget>,
    /// Recent mean of the volume's relative deviation from it.
    pub(crate) drift: f64,
    pub(crate) grid: Grid<D>,
    /// The projection of [`Liquid::step`].
    pressure: PressureProjection<D>,
}

/// Fields of one step. Allocations are kept from step to step; `sorting`, `weight` and `displacement` are needed one
/// after the other and pass on one allocation.
pub(crate) struct Grid<const D: usize> {
    pub tiles: Tiles<D>,
    pub bins: Bins,
    pub cut: CutCells<D>,
    pub level: LevelSet,
    pub velocity: FaceField<D>,
    /// Velocity before forces, kept for FLIP only.
    pub before: FaceField<D>,
    /// Copies of particles while they are sorted.
    pub sorting: FaceField<D, f32>,
    /// Weights of particles on faces.
    pub weight: FaceField<D, f32>,
    /// Displacement of the position correction on faces, in metres.
    pub displacement: FaceField<D, f32>,
    pub state: [Vec<FaceState>; D],
    /// Particles around the centres of cells, solids counted as full, as a share of a full cell.
    pub number_density: Vec<f32>,
    /// Seconds for which gravity has acted on the velocity.
    pub kick: f64,
}

fn face_field<const D: usize, T>() -> [Vec<T>; D] {
    std::array::from_fn(|_| Vec::new())
}

impl<const D: usize> Liquid<D> {
    /// An empty liquid.
    pub fn new(settings: Settings<D>) -> Result<Self, SettingsError> {
        (Compiled::get().new)(settings)
    }

    pub(crate) fn new_impl(settings: Settings<D>) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            grid: Grid {
                tiles: Tiles::new(settings.cells),
                bins: Bins::default(),
                cut: CutCells::new(),
                level: LevelSet::default(),
                velocity: face_field(),
                before: face_field(),
                sorting: face_field(),
                weight: face_field(),
                displacement: face_field(),
                state: face_field(),
                number_density: Vec::new(),
                kick: 0.0,
            },
            particles: Particles {
                attributes: settings.attributes.then(Default::default),
                material: (settings.physics.materials.len() > 1).then(Vec::new),
                ..Default::default()
            },
            ports: Sources::default(),
            time: 0.0,
            last_dt: 0.0,
            volume_target: None,
            drift: 0.0,
            pressure: PressureProjection::default(),
            settings,
        })
    }

    /// Fills the region where `volume` (a signed distance) is negative, outside solids, with jittered particles of
    /// the given velocity.
    pub fn fill(
        &mut self,
        volume: &(dyn Fn([f64; D]) -> f64 + Sync),
        velocity: &(dyn Fn([f64; D]) -> [f64; D] + Sync),
        solids: &dyn SolidMotion<D>,
    ) {
        (Compiled::get().fill)(self, volume, velocity, solids)
    }

    pub(crate) fn fill_impl(
        &mut self,
        volume: &(dyn Fn([f64; D]) -> f64 + Sync),
        velocity: &(dyn Fn([f64; D]) -> [f64; D] + Sync),
        solids: &dyn SolidMotion<D>,
    ) {
        seed::fill(
            &mut self.particles,
            &self.settings,
            volume,
            velocity,
            &ThickWalls::new(solids, self.settings.dx).over_step(self.time, 0.0),
        );
        self.particles.attribute_new(self.time, 0, 0);
    }

    /// Sets the material of every particle by its position, if there is more than one material.
    pub fn set_materials(&mut self, of: &(dyn Fn([f64; D]) -> u8 + Sync)) {
        let Particles {
            position, material, ..
        } = &mut self.particles;
        if let Some(material) = material {
            for (material, x) in material.iter_mut().zip(position) {
                *material = of(x.map(f64::from));
            }
        }
    }

    /// Adds particles of given positions and velocities, for liquid that no shape describes. They have to be outside solids.
    pub fn add(&mut self, particles: impl IntoIterator<Item = ([f64; D], [f64; D])>) {
        for (position, velocity) in particles {
            self.particles.push(position, velocity);
        }
        self.particles.attribute_new(self.time, 0, 0);
    }

    /// Sets the emitters and drains.
    pub fn set_sources(&mut self, ports: Sources<D>) {
        self.ports = ports;
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Settings of the simulation.
    pub fn settings(&self) -> &Settings<D> {
        &self.settings
    }

    /// The liquid itself.
    pub fn particles(&self) -> &Particles<D> {
        &self.particles
    }

    /// Volume of the liquid now, outside solids (area in 2D).
    pub fn volume(&mut self, solids: &dyn SolidMotion<D>) -> f64 {
        (Compiled::get().volume)(self, solids)
    }

    pub(crate) fn volume_impl(&mut self, solids: &dyn SolidMotion<D>) -> f64 {
        let posed = self.pose(solids, 0.0);
        self.sort();
        self.sample(&posed, &mut ());
        self.grid
            .level
            .volume(&self.grid.tiles, &self.grid.cut, self.settings.dx)
    }

    /// The projection of [`Liquid::step`], with the pressure that the next solve starts from. It is part of the
    /// [state](Liquid::state): a projection that takes its place for a step has to bring it back.
    pub fn projection(&mut self) -> &mut PressureProjection<D> {
        &mut self.pressure
    }

    /// Seconds for which gravity acts on velocities in a step of `dt` seconds: they belong to the middle of a step.
    pub fn kick(&self, dt: f64) -> f64 {
        0.5 * (self.last_dt + dt)
    }

    /// Pressure of the last step at the centre of a cell, in pascal; none where there was no liquid.
    pub fn pressure(&self, cell: Coord<D>) -> Option<f64> {
        self.pressure.pressure(cell)
    }

    /// One step of `dt` seconds. If it fails, every byte of the state is as it was.
    ///
    /// # Errors
    /// Why it failed; [`Liquid::failure`] describes it in full. A shorter step may succeed.
    pub fn step(
        &mut self,
        solids: &dyn SolidMotion<D>,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, StepError> {
        if self.settings.physics.is_viscous() {
            let mut projection = StokesProjection::default();
            std::mem::swap(&mut self.pressure, &mut projection.pressure);
            let stepped = self.step_with(&mut projection, solids, dt, phases);
            self.pressure = projection.pressure;
            return stepped;
        }
        let mut projection = std::mem::take(&mut self.pressure);
        let stepped = self.step_with(&mut projection, solids, dt, phases);
        self.pressure = projection;
        stepped
    }

    /// [`Liquid::step`] with another projection than pressure alone.
    ///
    /// # Errors
    /// As [`Liquid::step`].
    pub fn step_with(
        &mut self,
        projection: &mut dyn Projection<D>,
        solids: &dyn SolidMotion<D>,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, StepError> {
        (Compiled::get().step_with)(self, projection, solids, dt, phases)
    }

    /// The pressure problem of a step of `dt` seconds. Changes nothing but fields of the step.
    ///
    /// # Errors
    /// If the problem is not well formed.
    pub fn pressure_problem(
        &mut self,
        solids: &dyn SolidMotion<D>,
        dt: f64,
    ) -> Result<PressureProblem<D>, StepError> {
        (Compiled::get().pressure_problem)(self, solids, dt)
    }

    pub(crate) fn pressure_problem_impl(
        &mut self,
        solids: &dyn SolidMotion<D>,
        dt: f64,
    ) -> Result<PressureProblem<D>, StepError> {
        let mut pressure = std::mem::take(&mut self.pressure);
        let posed = self.pose(solids, dt);
        let assembled = pressure.assemble(&mut self.begin(&posed, dt, &mut ()), dt);
        self.grid.bins.restore_order(&mut self.particles);
        self.pressure = pressure;
        assembled.map(|()| self.problem(dt))
    }

    /// Shows the grid of a step of `dt` seconds that has begun, and ends it there. Changes nothing but fields of the step.
    pub fn inspect(
        &mut self,
        solids: &dyn SolidMotion<D>,
        dt: f64,
        look: &mut dyn FnMut(&mut Faces<'_, D>),
    ) {
        (Compiled::get().inspect)(self, solids, dt, look)
    }

    pub(crate) fn inspect_impl(
        &mut self,
        solids: &dyn SolidMotion<D>,
        dt: f64,
        look: &mut dyn FnMut(&mut Faces<'_, D>),
    ) {
        let posed = self.pose(solids, dt);
        look(&mut self.begin(&posed, dt, &mut ()));
        self.grid.bins.restore_order(&mut self.particles);
    }

    /// The longest step that the CFL number allows, in equal shares of the time left. All but the fastest particles of spray
    /// cross no more cells than that.
    pub fn step_limit(&self, solids: &dyn SolidMotion<D>, time_left: f64) -> StepLimit {
        let settings = &self.settings;
        let longest = settings.physics.max_step.min(time_left);
        let (low, high) = ([0.0; D], settings.domain());
        let gravity = settings.physics.gravity_magnitude();
        // What falls from rest through `cfl` cells may not be called slow at the start.
        let fall = (gravity * settings.physics.cfl * settings.dx)
            .sqrt()
            .min(gravity * longest);
        let own = Speeds::of(&self.particles.velocity);
        if own.fastest.is_nan() {
            return StepLimit {
                dt: longest,
                longest,
                speed: own.fastest,
            };
        }
        let with_others = |own: f64| {
            let speed = own.max(self.ports.max_speed(self.time, longest)) + fall;
            speed.max(solids.max_speed(self.time, longest, low, high))
        };
        let allowed = settings.physics.cfl * settings.dx / with_others(own.limiting);
        let steps = (time_left / allowed.min(longest) - 1e-9).ceil().max(1.0);
        StepLimit {
            dt: time_left / steps,
            longest,
            speed: with_others(own.fastest),
        }
    }

    /// Lets `dt` seconds pass, and liquid come and go.
    pub(crate) fn pass(&mut self, solids: &ThickWalls<D>, dt: f64) -> Exchanged {
        let start = self.time;
        self.time += dt;
        self.last_dt = dt;
        let at_end = solids.over_step(self.time, 0.0);
        let when = (start, self.time);
        self.ports
            .exchange(&mut self.particles, &self.settings, &at_end, when)
    }

    /// Puts tiles around the particles and sorts the particles by cell.
    pub(crate) fn sort(&mut self) {
        let inverse_dx = 1.0 / self.settings.dx;
        let band = self.settings.physics.cfl.ceil() as i32 + 1;
        let cells = self
            .particles
            .position
            .par_iter()
            .map(|&x| cell_of(x, inverse_dx));
        self.grid.tiles.cover(cells, band);
        // The displacement of the last step has served.
        let free = [&mut self.grid.weight, &mut self.grid.displacement];
        if let Some(free) = free.into_iter().find(|field| field[0].capacity() > 0) {
            std::mem::swap(&mut self.grid.sorting, free);
        }
        self.grid.bins.sort(
            &mut self.particles,
            &self.grid.tiles,
            self.settings.dx,
            &mut self.grid.sorting,
        );
    }
}
