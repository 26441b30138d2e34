//! One attempt at a step: the grid, the pressure problem, its solution, and the particles' way.

use meniscus_lcp::Status;
use rayon::prelude::*;

use super::budget::Budget;
use super::health;
use super::{Grid, Liquid};
use crate::advect::{Flow, advect};
use crate::density::{DRIFT_TIME, crowding, relative};
use crate::extrapolate::{UNKNOWN, extrapolate};
use crate::level_set::GridGeometry;
use crate::pressure::{Weights, apply, pockets};
use crate::report::{Phases, StepReport, Trouble};
use crate::settings::{Settings, Transfer};
use crate::solvers::Solution;
use crate::thick_walls::ThickWalls;
use crate::transfer::to_grid;
use crate::walls::{Held, constrain};

/// Layers beyond the particles' own faces in which a velocity is made up before the pressure acts.
const GAP_LAYERS: u8 = 3;

impl<const D: usize> Liquid<D> {
    /// Samples the solids, brings the particles to the grid and finds the surface of the liquid.
    pub(super) fn look(&mut self, solids: &ThickWalls<D>, dt: f64, phases: &mut dyn Phases) {
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
        let up = self.settings.up();
        phases.begin("solids");
        cut.sample(tiles, dx, &solids.over_step(self.time, dt));
        phases.begin("to-grid");
        to_grid(tiles, &self.particles, bins, dx, velocity, scratch, crowd);
        relative(tiles, cut, particles_per_cell as f64, dx, crowd);
        phases.begin("surface");
        let geometry = GridGeometry { tiles, cut, dx, up };
        level.build(&geometry, &self.particles, bins, crowd);
    }

    /// Everything up to the pressure problem.
    pub(super) fn build_system(
        &mut self,
        solids: &ThickWalls<D>,
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
        let fields = velocity.par_iter_mut().zip(known.par_iter_mut());
        let fields = fields.zip(before.par_iter_mut()).zip(scratch.par_iter());
        fields
            .enumerate()
            .for_each(|(a, (((velocity, known), before), weight))| {
                known.clear();
                known.reserve_exact(weight.capacity());
                let weights = weight.par_iter().with_min_len(4096);
                known.par_extend(weights.map(|&w| if w > 0.0 { 0 } else { UNKNOWN }));
                extrapolate(tiles, velocity, known, GAP_LAYERS);
                if matches!(settings.transfer, Transfer::Flip { .. }) {
                    before.clone_from(velocity);
                }
                // Velocities belong to the middle of the last step and gravity takes them to the middle of this
                // one: free fall is then exact for steps of any length.
                let kick = settings.gravity[a] * 0.5 * (self.last_dt + dt);
                let velocity = velocity.par_iter_mut().with_min_len(4096);
                velocity.for_each(|v| *v += kick);
            });
        phases.begin("assemble");
        let weights = Weights {
            tiles,
            cut,
            phi: &level.phi,
            dx: settings.dx,
        };
        self.system.assemble(
            &weights,
            velocity,
            &solids.over_step(self.time, dt),
            settings,
            dt,
        )
    }

    /// A step of length `dt`; nothing but scratch changes before it is certain to succeed.
    pub(super) fn attempt(
        &mut self,
        solids: &ThickWalls<D>,
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
            bins,
        } = &mut self.grid;
        let weights = Weights {
            tiles,
            cut,
            phi: &level.phi,
            dx: settings.dx,
        };
        let posed = solids.over_step(self.time, dt);

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
        let (particles, each) = (self.particles.len(), settings.particle_volume());
        // Spray alone has particles and no volume: there is nothing yet to drift from.
        if self.budget.is_none() && volume > 0.0 {
            self.budget = Some(Budget::new(volume, particles, each));
        }
        let expected_volume = self.budget.map_or(0.0, |b| b.expected(particles, each));
        let own_volume = particles as f64 * each;
        let health = health::measure(tiles, bins, cut, &level.phi, settings);
        // Liquid below the grid's resolution is not lost: if it counted as lost, splashes would swell the rest.
        let drift_now = match self.budget {
            Some(_) => (volume + health.thin_volume) / expected_volume - 1.0,
            None => 0.0,
        };
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
        let layers = settings.cfl.ceil() as u8 + 1;
        let fields = velocity.par_iter_mut().zip(known.par_iter_mut());
        fields.for_each(|(velocity, known)| {
            forget_unknown(velocity, known);
            extrapolate(tiles, velocity, known, layers);
        });
        let solid_speed = solids.max_speed(self.time, dt, [0.0; D], settings.domain());
        let separated = self.solvers.separated();
        let held = Held {
            moving: solid_speed > 0.0,
            walls: settings.walls,
            separation: settings.desired_separation(),
            rows: &self.system.rows,
            separated,
        };
        constrain(tiles, cut, &posed, &held, settings.dx, known, velocity);
        let separated_rows = separated.iter().filter(|&&s| s).count();

        phases.begin("advect");
        let flow = Flow {
            tiles,
            bins,
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
        self.drift = drift;
        self.solvers.remember(tiles, &self.system, dt);
        let exchanged = self.pass(solids, dt);
        let settings = &self.settings;

        let squeezed = found
            .iter()
            .filter(|p| p.removed < 0.0)
            .min_by(|a, b| a.removed.total_cmp(&b.removed));
        let cell_volume = settings.dx.powi(D as i32);
        let worth_telling = settings.tolerance * dt * cell_volume;
        Ok(StepReport {
            separated_rows,
            volume,
            thin_volume: health.thin_volume,
            expected_volume: health::expected_with_thin(expected_volume, own_volume),
            own_volume,
            crowded: health.crowded,
            emitted: exchanged.emitted,
            drained: exchanged.drained,
            pockets: found.len(),
            lost_volume: found
                .iter()
                .map(|p| (-p.removed * cell_volume * dt).max(0.0))
                .sum(),
            squeezed: squeezed
                .filter(|p| -p.removed * cell_volume * dt > worth_telling * p.len() as f64)
                .map(|p| {
                    let cell = p.middle(&self.system, &self.grid.tiles);
                    cell.map(|c| (c as f64 + 0.5) * self.settings.dx).to_vec()
                }),
            ..self.report(solution, dt)
        })
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
