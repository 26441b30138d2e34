//! Scenes that the particle method simulates.

use crate::{Scene, measure};
use meniscus_projective::{Drain, Emitter, Settings, Sources, bulk_modulus_of_weight};
use meniscus_shapes::Bounds;

/// Method that simulates the liquid of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SimulationMethod {
    /// Particles on a grid: FLIP or APIC, with a pressure solve on the grid.
    #[default]
    Grid,
    /// Particles with density constraints: Projective Fluids.
    Projective,
}

impl SimulationMethod {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Grid, Self::Projective];

    /// Name in scene files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Projective => "projective",
        }
    }
}

impl<const D: usize> Scene<D> {
    /// Whether the particle method simulates the scene.
    pub fn is_projective(&self) -> bool {
        self.method == SimulationMethod::Projective
    }

    /// Distance between particles: that of the scene, or that of as many particles per cell as the grid method has.
    pub fn particle_spacing(&self) -> f64 {
        let regular = self.settings().particle_volume().powf(1.0 / D as f64);
        self.spacing.unwrap_or(regular)
    }

    /// Volume of the liquid at the start and of all that emitters may add.
    fn most_volume(&self) -> f64 {
        let end = self.time_of_frame(self.frames);
        let emitted = self.emitters.iter().map(|emitter| {
            let active = emitter.frames.seconds(self.frame_rate);
            let seconds = (active.end.min(end) - active.start).max(0.0);
            measure::emission_rate(self, emitter) * seconds
        });
        measure::liquid_volume(self) + emitted.sum::<f64>()
    }

    /// Sets the spacing of particles to the one of their number, the number of cells that pictures, surfaces and
    /// estimates assume to the one that fits the spacing, and the bulk modulus to that of the paper's weight.
    pub(crate) fn fit_cells_to_spacing(&mut self) {
        if let Some(count) = self.particle_count.filter(|_| self.is_projective()) {
            let spacing = (self.most_volume() / count).powf(1.0 / D as f64);
            // Without any liquid, a later check has the message.
            if spacing > 0.0 && spacing.is_finite() {
                self.spacing = Some(spacing);
            }
        }
        if let Some(spacing) = self.spacing.filter(|_| self.is_projective()) {
            let per_cell = (self.physics.particles_per_cell as f64).powf(1.0 / D as f64);
            let longest = self.domain.iter().copied().fold(0.0, f64::max);
            self.resolution = ((longest / (spacing * per_cell)).round() as usize).max(1);
        }
        if let Some(weight) = self.constraint_weight.filter(|_| self.is_projective()) {
            let modulus = bulk_modulus_of_weight::<D>(weight, self.particle_spacing());
            self.projective.bulk_modulus = modulus;
        }
    }

    /// Settings of the particle method.
    pub fn projective_settings(&self) -> Settings<D> {
        Settings {
            spacing: self.particle_spacing(),
            density: self.physics.density,
            gravity: self.physics.gravity,
            max_step: self.projective.max_step.min(self.physics.max_step),
            ..self.projective.clone()
        }
    }

    /// Emitters and drains of the particle method.
    pub fn projective_sources(&self) -> Sources<D> {
        let emitters = self.emitters.iter().map(|emitter| Emitter {
            shape: emitter.shape.clone(),
            velocity: emitter.velocity,
            active: emitter.frames.seconds(self.frame_rate),
        });
        let drains = self.drains.iter().map(|drain| Drain {
            shape: drain.shape.clone(),
            active: drain.frames.seconds(self.frame_rate),
        });
        Sources {
            emitters: emitters.collect(),
            drains: drains.collect(),
            domain: Some(Bounds {
                low: [0.0; D],
                high: self.domain,
            }),
        }
    }
}
