//! One step of a liquid: begin, project, correct positions, finish.

use rayon::prelude::*;

use crate::grid::extrapolate::{FaceState, extrapolate};
use crate::grid::level_set::GridGeometry;
use crate::grid::solenoidal::remove_divergence;
use crate::grid::thick_walls::{PosedThickWalls, ThickWalls};
use crate::grid::wall_velocity::{WallRule, constrain};
use crate::liquid::{Grid, Liquid, VolumeMeasure};
use crate::particles::advection::{Flow, advect};
use crate::particles::position_correction::relative;
use crate::particles::sources::Exchanged;
use crate::particles::transfer::to_grid;
use crate::projection::{Faces, Projected, Projection};
use crate::report::{Phases, StepError, StepReport};
use crate::settings::Transfer;
use crate::solids::{SolidField, SolidMotion};

/// Layers beyond the particles' own faces in which a velocity is extrapolated before the pressure acts.
const GAP_LAYERS: u8 = 3;

impl<const D: usize> Liquid<D> {
    /// One step of `dt` seconds with the given projection. If it fails, every byte of the state is as it was.
    pub(crate) fn step_with_impl(
        &mut self,
        projection: &mut dyn Projection<D>,
        solids: &dyn SolidMotion<D>,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, StepError> {
        if self.particles.is_empty() {
            return Ok(self.step_without_liquid(solids, dt));
        }
        let posed = self.pose(solids, dt);
        let stepped = self.try_step(projection, solids, &posed, dt, phases);
        if stepped.is_err() {
            self.grid.bins.restore_order(&mut self.particles);
        }
        phases.begin("");
        stepped
    }

    fn try_step(
        &mut self,
        projection: &mut dyn Projection<D>,
        solids: &dyn SolidMotion<D>,
        posed: &PosedThickWalls<D>,
        dt: f64,
        phases: &mut dyn Phases,
    ) -> Result<StepReport, StepError> {
        // Particles to the grid; solids and free surface cut its cells; gravity accelerates the velocity on faces.
        let mut faces = self.begin(posed, dt, phases);
        // Pressure, and whatever else acts on the velocity at once, makes it free of divergence.
        let projected = projection.project(&mut faces, dt)?;
        let volume = self.measure_volume(dt, phases);
        // A displacement spreads the particles evenly and returns the volume to its target.
        let mut faces = self.faces(posed, phases);
        let correction = projection.correct_positions(&mut faces, volume.drift, dt)?;
        // From here on nothing can fail. Particles take the velocity from the grid and move.
        let exchanged = self.finish(solids, posed, dt, &projected, &volume, phases);
        projection.accept(&self.grid.tiles, dt);
        Ok(self.report(projected, correction, volume, exchanged, dt))
    }

    /// The solids over a step from now on, their walls as thick as the grid needs.
    pub(crate) fn pose<'a>(
        &self,
        solids: &'a dyn SolidMotion<D>,
        dt: f64,
    ) -> PosedThickWalls<'a, D> {
        ThickWalls::new(solids, self.settings.dx).over_step(self.time, dt)
    }

    /// First part of a step: everything up to the velocity on faces that a projection works on. `posed` are the solids
    /// from [`Liquid::pose`].
    pub(crate) fn begin<'a>(
        &'a mut self,
        posed: &'a dyn SolidField<D>,
        dt: f64,
        phases: &'a mut dyn Phases,
    ) -> Faces<'a, D> {
        phases.begin("sort");
        self.sort();
        self.sample(posed, phases);
        phases.begin("forces");
        self.accelerate(dt);
        self.faces(posed, phases)
    }

    /// The fields of the step that has begun.
    pub(crate) fn faces<'a>(
        &'a mut self,
        solids: &'a dyn SolidField<D>,
        phases: &'a mut dyn Phases,
    ) -> Faces<'a, D> {
        Faces {
            settings: &self.settings,
            tiles: &self.grid.tiles,
            cut: &self.grid.cut,
            phi: &self.grid.level.phi,
            number_density: &self.grid.number_density,
            solids,
            velocity: &mut self.grid.velocity,
            state: &mut self.grid.state,
            displacement: &mut self.grid.displacement,
            kick: self.grid.kick,
            particles: &self.particles,
            bins: &self.grid.bins,
            sources: &self.ports,
            time: self.time,
            phases,
        }
    }

    /// Samples the solids, brings the particles to the grid and finds the surface of the liquid.
    pub(crate) fn sample(&mut self, posed: &dyn SolidField<D>, phases: &mut dyn Phases) {
        let Grid {
            tiles,
            bins,
            cut,
            level,
            velocity,
            weight,
            number_density,
            sorting,
            state,
            ..
        } = &mut self.grid;
        let dx = self.settings.dx;
        let particles_per_cell = self.settings.physics.particles_per_cell;
        let up = self.settings.up();
        phases.begin("solids");
        cut.sample(tiles, dx, posed);
        phases.begin("to-grid");
        // The sort is over, and its memory is free for the weights.
        std::mem::swap(weight, sorting);
        to_grid(
            tiles,
            &self.particles,
            bins,
            dx,
            velocity,
            weight,
            number_density,
        );
        for (state, weight) in state.iter_mut().zip(&*weight) {
            state.clear();
            state.reserve_exact(weight.capacity());
            let weights = weight.par_iter().with_min_len(4096);
            state.par_extend(weights.map(|&w| match w > 0.0 {
                true => FaceState::Known,
                false => FaceState::Unknown,
            }));
        }
        relative(tiles, cut, particles_per_cell as f64, dx, number_density);
        phases.begin("surface");
        let geometry = GridGeometry { tiles, cut, dx, up };
        // The weights have served, and their memory is free for mirror particles.
        level.build(&geometry, &self.particles, bins, number_density, weight);
    }

    /// Extrapolates the velocity across gaps between particles, and lets gravity act on it.
    fn accelerate(&mut self, dt: f64) {
        let Grid {
            tiles,
            velocity,
            before,
            weight,
            state,
            displacement,
            kick,
            ..
        } = &mut self.grid;
        *kick = 0.5 * (self.last_dt + dt);
        let settings = &self.settings;
        let fields = velocity.par_iter_mut().zip(state.par_iter_mut());
        let fields = fields.zip(before.par_iter_mut());
        fields
            .enumerate()
            .for_each(|(a, ((velocity, state), before))| {
                extrapolate(tiles, velocity, state, GAP_LAYERS);
                if matches!(settings.physics.transfer, Transfer::Flip { .. }) {
                    before.clone_from(velocity);
                }
                // Velocities belong to the middle of the last step and gravity takes them to the middle of this
                // one: free fall is then exact for steps of any length.
                let kick = settings.physics.gravity[a] * 0.5 * (self.last_dt + dt);
                let velocity = velocity.par_iter_mut().with_min_len(4096);
                velocity.for_each(|v| *v += kick);
            });
        // And now for the displacement.
        std::mem::swap(displacement, weight);
    }

    /// Last part of a step, after a projection: the velocity is extrapolated beyond the liquid and constrained at
    /// walls, the particles take it and move, and sources and drains act.
    pub(crate) fn finish(
        &mut self,
        solids: &dyn SolidMotion<D>,
        posed: &dyn SolidField<D>,
        dt: f64,
        projected: &Projected,
        volume: &VolumeMeasure,
        phases: &mut dyn Phases,
    ) -> Exchanged {
        let settings = &self.settings;
        let solids = ThickWalls::new(solids, settings.dx);
        let Grid {
            tiles,
            bins,
            cut,
            velocity,
            before,
            displacement,
            state,
            ..
        } = &mut self.grid;
        phases.begin("extrapolate");
        let layers = settings.physics.cfl.ceil() as u8 + 1;
        let fields = velocity.par_iter_mut().zip(state.par_iter_mut());
        fields.for_each(|(velocity, state)| {
            forget_unknown(velocity, state);
            extrapolate(tiles, velocity, state, layers);
        });
        let solid_speed = solids.max_speed(self.time, dt, [0.0; D], settings.domain());
        let rule = WallRule {
            moving: solid_speed > 0.0,
            walls: settings.physics.walls,
            separation: settings.desired_separation(),
            liquid: &projected.liquid,
            separated: &projected.separated,
        };
        constrain(tiles, cut, posed, &rule, settings.dx, state, velocity);
        remove_divergence(tiles, cut, &projected.liquid, state, velocity);
        phases.begin("advect");
        let flow = Flow {
            tiles,
            bins,
            velocity,
            before,
            displacement,
            cut,
        };
        advect(
            &mut self.particles,
            &flow,
            &solids,
            settings,
            self.time,
            dt,
            solid_speed,
        );
        self.volume_target = volume.target;
        self.drift = volume.drift;
        self.pass(&solids, dt)
    }
}

/// Faces that the pressure did not reach hold what particles left there; it must not be read.
fn forget_unknown(velocity: &mut [f64], state: &[FaceState]) {
    velocity
        .par_iter_mut()
        .with_min_len(4096)
        .zip(state)
        .for_each(|(v, &state)| {
            if state == FaceState::Unknown {
                *v = 0.0;
            }
        });
}
