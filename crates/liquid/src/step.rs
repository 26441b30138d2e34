//! The liquid and its step.

use meniscus_lcp::Status;
use rayon::prelude::*;

use crate::advect::{Flow, advect};
use crate::cut_cells::CutCells;
use crate::density::{DRIFT_TIME, crowding, relative};
use crate::extrapolate::{UNKNOWN, extrapolate};
use crate::level_set::LevelSet;
use crate::particles::{Bins, Particles, cell_of};
use crate::pressure::{Solution, Solvers, System, Weights, apply, pockets};
use crate::report::{Face, Phases, PressureProblem, StepFailure, StepReport, Trouble};
use crate::seed;
use crate::settings::{Settings, SettingsError, Transfer};
use crate::solids::Solids;
use crate::tiles::{Coord, Tiles};
use crate::transfer::{FaceField, to_grid};
use crate::walls::{Held, constrain};

/// Tries with half the step after a failed one.
const RETRIES: usize = 3;
/// Layers beyond the particles' own faces in which a velocity is made up before the pressure acts.
const GAP_LAYERS: u8 = 3;
/// A step below this share of the longest one means that something has run away.
const SHORTEST: f64 = 1e-7;

/// A liquid: particles, and the grid around them that every step builds anew.
pub struct Liquid<const D: usize> {
    settings: Settings<D>,
    particles: Particles<D>,
    time: f64,
    /// Length of the last step; gravity acts from the middle of that step to the middle of the next.
    last_dt: f64,
    /// Volume inside the surface at the first step, as a share of the volume the particles stand for: what the
    /// volume is to return to, however many particles there are.
    volume_at_start: Option<f64>,
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
    /// Weights of the particles on faces; later the displacement that evens them out.
    scratch: FaceField<D>,
    known: [Vec<u8>; D],
    /// Particles around the centres of cells, as a share of what belongs there.
    crowd: Vec<f64>,
}

fn face_field<const D: usize, T>() -> [Vec<T>; D] {
    std::array::from_fn(|_| Vec::new())
}

impl<const D: usize> Liquid<D> {
    /// An empty liquid.
    pub fn new(settings: Settings<D>) -> Result<Self, SettingsError> {
        settings.check()?;
        let refused = |_| SettingsError {
            field: "solver",
            must: "one with its own defaults",
        };
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
            time: 0.0,
            last_dt: 0.0,
            volume_at_start: None,
            drift: 0.0,
            system: System::empty().map_err(refused)?,
            solvers: Solvers::new().map_err(refused)?,
            settings,
        })
    }

    /// Fills the region where `volume` (a signed distance) is negative, outside solids, with jittered particles of
    /// the given velocity.
    pub fn fill(
        &mut self,
        volume: &(impl Fn([f64; D]) -> f64 + Sync),
        velocity: &(impl Fn([f64; D]) -> [f64; D] + Sync),
        solids: &impl Solids<D>,
    ) {
        seed::fill(
            &mut self.particles,
            &self.settings,
            volume,
            velocity,
            &solids.during(self.time, 0.0),
        );
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
    pub fn volume(&mut self, solids: &impl Solids<D>) -> f64 {
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
        solids: &impl Solids<D>,
        time_left: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, Box<StepFailure<D>>> {
        let (mut dt, speed) = self.step_length(solids, time_left);
        if self.particles.is_empty() {
            return Ok(self.step_of_nothing(dt));
        }
        if dt < SHORTEST * self.settings.max_step.min(time_left) || !speed.is_finite() {
            return Err(self.failure(Trouble::TooFast { speed }, Solution::none(), dt, 0));
        }
        phases.begin("sort");
        self.sort();
        let mut retries = 0;
        let done = loop {
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
        };
        phases.begin("");
        done
    }

    /// The pressure problem of the next step. Changes nothing but the order of the particles.
    pub fn pressure_problem(
        &mut self,
        solids: &impl Solids<D>,
        time_left: f64,
    ) -> Result<PressureProblem<D>, String> {
        let (dt, _) = self.step_length(solids, time_left);
        self.sort();
        self.build_system(solids, dt, &mut ())
            .map_err(|e| e.to_string())?;
        Ok(self.problem(dt))
    }

    /// The longest step that the CFL number allows, in equal shares of the time left, and the speed behind it.
    fn step_length(&self, solids: &impl Solids<D>, time_left: f64) -> (f64, f64) {
        let settings = &self.settings;
        let longest = settings.max_step.min(time_left);
        let (low, high) = ([0.0; D], settings.domain());
        let gravity = settings.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        // What falls from rest through `cfl` cells may not be called slow at the start.
        let fall = (gravity * settings.cfl * settings.dx)
            .sqrt()
            .min(gravity * longest);
        let speed = self.max_speed() + fall;
        let speed = speed.max(solids.max_speed(self.time, longest, low, high));
        let allowed = (settings.cfl * settings.dx / speed).min(longest);
        let steps = (time_left / allowed - 1e-9).ceil().max(1.0);
        (time_left / steps, speed)
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
        let band = self.settings.cfl.ceil() as i32 + 2;
        let cells = self
            .particles
            .position
            .par_iter()
            .map(|&x| cell_of(x, inverse_dx));
        self.grid.tiles.cover(cells, band);
        self.grid
            .bins
            .sort(&mut self.particles, &self.grid.tiles, self.settings.dx);
    }

    /// Samples the solids, brings the particles to the grid and finds the surface of the liquid.
    fn look(&mut self, solids: &impl Solids<D>, dt: f64, phases: &mut dyn Phases) {
        let Grid {
            tiles,
            bins,
            cut,
            level,
            velocity,
            scratch,
            crowd,
            ..
        } = &mut self.grid;
        let Settings {
            dx,
            particles_per_cell,
            ..
        } = self.settings;
        phases.begin("solids");
        cut.sample(tiles, dx, &solids.during(self.time, dt));
        phases.begin("to-grid");
        to_grid(tiles, &self.particles, bins, dx, velocity, scratch, crowd);
        relative(tiles, cut, particles_per_cell as f64, crowd);
        phases.begin("surface");
        level.build(tiles, &self.particles, bins, cut, crowd, dx);
    }

    /// Everything up to the pressure problem.
    fn build_system(
        &mut self,
        solids: &impl Solids<D>,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<(), meniscus_lcp::InputError> {
        self.look(solids, dt, phases);
        phases.begin("forces");
        let Grid {
            tiles,
            cut,
            level,
            velocity,
            before,
            scratch,
            known,
            ..
        } = &mut self.grid;
        let settings = &self.settings;
        for a in 0..D {
            known[a].clear();
            known[a].par_extend(
                scratch[a]
                    .par_iter()
                    .map(|&w| if w > 0.0 { 0 } else { UNKNOWN }),
            );
            extrapolate(tiles, &mut velocity[a], &mut known[a], GAP_LAYERS);
            if matches!(settings.transfer, Transfer::Flip { .. }) {
                before[a].clone_from(&velocity[a]);
            }
            // Velocities belong to the middle of the last step and gravity takes them to the middle of this one:
            // free fall is then exact for steps of any length.
            let kick = settings.gravity[a] * 0.5 * (self.last_dt + dt);
            velocity[a]
                .par_iter_mut()
                .with_min_len(4096)
                .for_each(|v| *v += kick);
        }
        phases.begin("assemble");
        let weights = Weights {
            tiles,
            cut,
            phi: &level.phi,
        };
        self.system.assemble(
            &weights,
            velocity,
            &solids.during(self.time, dt),
            settings,
            dt,
        )
    }

    /// A step of length `dt`; nothing but scratch changes before it is certain to succeed.
    fn attempt(
        &mut self,
        solids: &impl Solids<D>,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, (Trouble, Solution)> {
        let refused =
            |why: meniscus_lcp::InputError| (Trouble::Refused(why.to_string()), Solution::none());
        self.build_system(solids, dt, phases).map_err(refused)?;
        let settings = &self.settings;
        let Grid {
            tiles,
            cut,
            level,
            velocity,
            before,
            scratch,
            known,
            crowd,
            ..
        } = &mut self.grid;
        let weights = Weights {
            tiles,
            cut,
            phi: &level.phi,
        };
        let posed = solids.during(self.time, dt);

        phases.begin("solve");
        let found = pockets::prepare(&mut self.system, settings.walls, settings.tolerance);
        let solution = self
            .solvers
            .solve(&weights, &self.system, settings, dt)
            .map_err(refused)?;
        if solution.report.status != Status::Converged {
            return Err((Trouble::Unsolved, solution));
        }
        pockets::settle(
            &found,
            &self.system,
            settings.walls,
            self.solvers.pressure_mut(),
        );

        phases.begin("measure");
        let volume = level.volume(tiles, cut, settings.dx);
        let by_number = self.particles.len() as f64 * settings.particle_volume();
        let per_number = *self.volume_at_start.get_or_insert(volume / by_number);
        let drift_now = volume / (per_number * by_number) - 1.0;
        let drift = self.drift + (drift_now - self.drift) * (dt / DRIFT_TIME).min(1.0);

        phases.begin("even-out");
        let excess = |rhs: &mut Vec<f64>| crowding(&weights, &self.system, crowd, drift, dt, rhs);
        let displacement = self
            .solvers
            .displacement(&self.system, excess)
            .map_err(refused)?;
        let scale = dt / (settings.density * settings.dx);
        for a in 0..D {
            tiles.reset(&mut scratch[a], 0.0);
        }
        apply(
            &weights,
            &self.system,
            displacement,
            scale * dt,
            scratch,
            known,
        );

        phases.begin("apply");
        apply(
            &weights,
            &self.system,
            self.solvers.pressure_now(),
            scale,
            velocity,
            known,
        );
        if !(0..D).all(|a| {
            velocity[a]
                .par_iter()
                .with_min_len(4096)
                .all(|v| v.is_finite())
        }) {
            return Err((Trouble::NotFinite, solution));
        }
        phases.begin("extrapolate");
        let layers = settings.cfl.ceil() as u8 + 2;
        for a in 0..D {
            forget_unknown(&mut velocity[a], &known[a]);
            extrapolate(tiles, &mut velocity[a], &mut known[a], layers);
        }
        let separated = self.solvers.separated();
        let held = Held {
            walls: settings.walls,
            rows: &self.system.rows,
            separated,
        };
        constrain(tiles, cut, &posed, &held, settings.dx, known, velocity);
        let separated_rows = separated.iter().filter(|&&s| s).count();

        phases.begin("advect");
        let solid_speed = solids.max_speed(self.time, dt, [0.0; D], settings.domain());
        let flow = Flow {
            tiles,
            velocity,
            before,
            displacement: scratch,
            cut,
        };
        advect(
            &mut self.particles,
            &flow,
            solids,
            settings,
            self.time,
            dt,
            solid_speed,
        );
        self.time += dt;
        self.last_dt = dt;
        self.drift = drift;
        self.solvers.remember(tiles, &self.system, dt);

        let squeezed = found
            .iter()
            .filter(|p| p.removed < 0.0)
            .min_by(|a, b| a.removed.total_cmp(&b.removed));
        let cell_volume = settings.dx.powi(D as i32);
        let worth_telling = settings.tolerance * dt * cell_volume;
        Ok(StepReport {
            separated_rows,
            volume,
            pockets: found.len(),
            lost_volume: found
                .iter()
                .map(|p| (-p.removed * cell_volume * dt).max(0.0))
                .sum(),
            squeezed: squeezed
                .filter(|p| -p.removed * cell_volume * dt > worth_telling * p.len() as f64)
                .map(|p| {
                    let cell = self.grid.tiles.coord(p.some_cell(&self.system));
                    cell.map(|c| (c as f64 + 0.5) * self.settings.dx).to_vec()
                }),
            ..self.report(solution, dt)
        })
    }

    /// Sum over fixed runs of particles, so that it does not depend on the number of threads.
    fn kinetic_energy(&self) -> f64 {
        let mass = self.settings.density * self.settings.particle_volume();
        let runs: Vec<f64> = self
            .particles
            .velocity
            .par_chunks(4096)
            .map(|run| {
                run.iter()
                    .map(|v| v.iter().map(|&c| c as f64 * c as f64).sum::<f64>())
                    .sum()
            })
            .collect();
        0.5 * mass * runs.iter().sum::<f64>()
    }

    /// Time passes, and that is all.
    fn step_of_nothing(&mut self, dt: f64) -> StepReport {
        self.time += dt;
        self.last_dt = dt;
        StepReport {
            status: Status::Converged,
            volume: 0.0,
            ..self.report(Solution::none(), dt)
        }
    }

    /// The report of a solve, with nothing yet of what comes after.
    fn report(&self, solution: Solution, dt: f64) -> StepReport {
        StepReport {
            time: self.time,
            dt,
            particles: self.particles.len(),
            unknowns: self.system.len(),
            wall_rows: self.system.wall.iter().filter(|&&w| w).count(),
            separated_rows: 0,
            solver: solution.solver,
            status: solution.report.status,
            outer_iterations: solution.report.iterations,
            inner_iterations: solution.report.inner_iterations,
            residual: solution.report.residual,
            volume: f64::NAN,
            kinetic_energy: self.kinetic_energy(),
            max_speed: self.max_speed(),
            pockets: 0,
            lost_volume: 0.0,
            squeezed: None,
            retries: 0,
        }
    }

    fn failure(
        &mut self,
        trouble: Trouble,
        solution: Solution,
        dt: f64,
        retries: usize,
    ) -> Box<StepFailure<D>> {
        Box::new(StepFailure {
            trouble,
            report: StepReport {
                retries,
                ..self.report(solution, dt)
            },
            problem: self.problem(dt),
        })
    }

    fn problem(&self, dt: f64) -> PressureProblem<D> {
        let weights = Weights {
            tiles: &self.grid.tiles,
            cut: &self.grid.cut,
            phi: &self.grid.level.phi,
        };
        let face = |index: usize, axis: usize, high: bool| Face {
            open: weights.open(axis, weights.face(index, axis, high)),
            beyond: weights.beyond(index, axis, high),
        };
        let cells = self.system.cells.iter().map(|&index| index as usize);
        PressureProblem {
            matrix: self.system.matrix.clone(),
            rhs: self.system.rhs.clone(),
            lower: self.system.lower.clone(),
            upper: self.system.upper.clone(),
            cells: cells
                .clone()
                .map(|index| self.grid.tiles.coord(index))
                .collect(),
            faces: cells
                .map(|index| std::array::from_fn(|a| [face(index, a, false), face(index, a, true)]))
                .collect(),
            size: self.settings.cells,
            dx: self.settings.dx,
            dt,
            density: self.settings.density,
        }
    }
}

/// Faces that the pressure did not reach hold what particles left there; it must not be read.
fn forget_unknown(velocity: &mut [f64], known: &[u8]) {
    velocity
        .par_iter_mut()
        .with_min_len(4096)
        .zip(known)
        .for_each(|(v, &k)| {
            if k == UNKNOWN {
                *v = 0.0;
            }
        });
}
