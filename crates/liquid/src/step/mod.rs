//! The liquid and its step.

mod attempt;
mod budget;
mod distance;
mod health;
mod outcome;
mod state;

pub use distance::Distance;
pub use state::{State, StateError};

use rayon::prelude::*;

use self::budget::Budget;
use crate::awake::awake_if;
use crate::compiled::Compiled;
use crate::cut_cells::CutCells;
use crate::level_set::LevelSet;
use crate::particles::{Bins, Particles, cell_of};
use crate::ports::{Exchanged, Ports};
use crate::pressure::{Solvers, System};
use crate::report::{Phases, PressureProblem, StepFailure, StepReport, Trouble};
use crate::seed;
use crate::settings::{Settings, SettingsError};
use crate::solids::SolidMotion;
use crate::solvers::Solution;
use crate::thick_walls::ThickWalls;
use crate::tiles::{Coord, Tiles};
use crate::transfer::FaceField;

/// Tries with half the step after a failed one.
const RETRIES: usize = 3;
/// A step below this share of the longest one means that something has run away.
const SHORTEST: f64 = 1e-7;

/// From so many particles on most parts of a step are long enough to be shared, and short enough that a thread would fall
/// asleep between two of them.
const SHARED: usize = 50_000;

/// A liquid: particles, and the grid around them that every step builds anew.
pub struct Liquid<const D: usize> {
    settings: Settings<D>,
    particles: Particles<D>,
    ports: Ports<D>,
    time: f64,
    /// Length of the last step; gravity acts from the middle of that step to the middle of the next.
    last_dt: f64,
    /// What the volume is to return to, however many particles there are; set by the first step with some.
    budget: Option<Budget>,
    /// Recent mean of the volume's drift from there.
    drift: f64,
    grid: Grid<D>,
    system: System,
    solvers: Solvers<D>,
}

/// Fields of one step. Allocations are kept from step to step.
struct Grid<const D: usize> {
    tiles: Tiles<D>,
    bins: Bins,
    cut: CutCells<D>,
    level: LevelSet,
    velocity: FaceField<D>,
    /// Velocity before forces, kept for FLIP only.
    before: FaceField<D>,
    /// Of use while particles are sorted; then their weights on faces, later the displacement that evens them out.
    scratch: FaceField<D, f32>,
    known: [Vec<u8>; D],
    /// Particles around the centres of cells, as a share of what belongs there.
    crowd: Vec<f32>,
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
                scratch: face_field(),
                known: face_field(),
                crowd: Vec::new(),
            },
            particles: Particles::default(),
            ports: Ports::default(),
            time: 0.0,
            last_dt: 0.0,
            budget: None,
            drift: 0.0,
            system: System::empty(),
            solvers: Solvers::new(),
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
    }

    /// Says where liquid comes in and leaves from now on.
    pub fn set_ports(&mut self, ports: Ports<D>) {
        self.ports = ports;
    }

    /// Seconds since the start.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// What it was made with.
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
        let solids = &ThickWalls::new(solids, self.settings.dx);
        self.sort();
        self.look(solids, 0.0, &mut ());
        self.grid
            .level
            .volume(&self.grid.tiles, &self.grid.cut, self.settings.dx)
    }

    /// Pressure of the last step at the centre of a cell, in pascal; none where there was no liquid.
    pub fn pressure(&self, cell: Coord<D>) -> Option<f64> {
        self.solvers.pressure(cell)
    }

    /// One step of at most `time_left` seconds. The liquid changes only if it succeeds; a failed solve is tried
    /// again with shorter steps first.
    pub fn advance(
        &mut self,
        solids: &dyn SolidMotion<D>,
        time_left: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure<D>>> {
        (Compiled::get().advance)(self, solids, time_left, phases)
    }

    pub(crate) fn advance_impl(
        &mut self,
        solids: &dyn SolidMotion<D>,
        time_left: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure<D>>> {
        let solids = &ThickWalls::new(solids, self.settings.dx);
        let (mut dt, speed) = self.step_length(solids, time_left);
        if dt < SHORTEST * self.settings.max_step.min(time_left) || !speed.is_finite() {
            return Err(self.failure(Trouble::TooFast { speed }, Solution::none(), dt, 0));
        }
        if self.particles.is_empty() {
            return Ok(self.step_of_nothing(solids, dt));
        }
        let is_shared = self.particles.len() >= SHARED;
        let done = awake_if(is_shared, || {
            phases.begin("sort");
            self.sort();
            let mut retries = 0;
            loop {
                match self.attempt(solids, dt, phases) {
                    Ok(mut report) => {
                        report.retries = retries;
                        break Ok(report);
                    }
                    Err((trouble, solution)) if retries == RETRIES => {
                        break Err(self.failure(trouble, solution, dt, retries));
                    }
                    Err(_) => {
                        retries += 1;
                        dt *= 0.5;
                    }
                }
            }
        });
        phases.begin("");
        done
    }

    /// The pressure problem of the next step. Changes nothing but the order of the particles.
    pub fn pressure_problem(
        &mut self,
        solids: &dyn SolidMotion<D>,
        time_left: f64,
    ) -> Result<PressureProblem<D>, String> {
        (Compiled::get().pressure_problem)(self, solids, time_left)
    }

    pub(crate) fn pressure_problem_impl(
        &mut self,
        solids: &dyn SolidMotion<D>,
        time_left: f64,
    ) -> Result<PressureProblem<D>, String> {
        let solids = &ThickWalls::new(solids, self.settings.dx);
        let (dt, _) = self.step_length(solids, time_left);
        self.sort();
        self.build_system(solids, dt, &mut ())
            .map_err(|e| e.to_string())?;
        Ok(self.problem(dt))
    }

    /// The longest step that the CFL number allows, in equal shares of the time left, and the speed behind it.
    fn step_length(&self, solids: &ThickWalls<D>, time_left: f64) -> (f64, f64) {
        let settings = &self.settings;
        let longest = settings.max_step.min(time_left);
        let (low, high) = ([0.0; D], settings.domain());
        let gravity = settings.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        // What falls from rest through `cfl` cells may not be called slow at the start.
        let fall = (gravity * settings.cfl * settings.dx)
            .sqrt()
            .min(gravity * longest);
        let own = self.max_speed();
        if own.is_nan() {
            return (longest, own);
        }
        let speed = own.max(self.ports.max_speed(self.time, longest)) + fall;
        let speed = speed.max(solids.max_speed(self.time, longest, low, high));
        let allowed = (settings.cfl * settings.dx / speed).min(longest);
        let steps = (time_left / allowed - 1e-9).ceil().max(1.0);
        (time_left / steps, speed)
    }

    /// Lets `dt` seconds pass, and liquid come and go.
    fn pass(&mut self, solids: &ThickWalls<D>, dt: f64) -> Exchanged {
        let start = self.time;
        self.time += dt;
        self.last_dt = dt;
        let at_end = solids.over_step(self.time, 0.0);
        let when = (start, self.time);
        self.ports
            .exchange(&mut self.particles, &self.settings, &at_end, when)
    }

    fn max_speed(&self) -> f64 {
        let squares = self.particles.velocity.par_iter().with_min_len(4096);
        let fastest = squares
            .map(|v| v.iter().map(|&c| c as f64 * c as f64).sum::<f64>())
            .reduce(
                || 0.0,
                |a, b| {
                    if a.is_nan() || b.is_nan() {
                        f64::NAN
                    } else {
                        a.max(b)
                    }
                },
            );
        fastest.sqrt()
    }

    /// Puts tiles around the particles and sorts the particles by cell.
    fn sort(&mut self) {
        let inverse_dx = 1.0 / self.settings.dx;
        let band = self.settings.cfl.ceil() as i32 + 1;
        let cells = self
            .particles
            .position
            .par_iter()
            .map(|&x| cell_of(x, inverse_dx));
        self.grid.tiles.cover(cells, band);
        self.grid.bins.sort(
            &mut self.particles,
            &self.grid.tiles,
            self.settings.dx,
            &mut self.grid.scratch,
        );
    }
}
