//! Validation of scenes.

use super::Scene;
use super::text::keys::{MOST_CELLS, MOST_FRAMES};
use meniscus_liquid::{Liquid, Settings};
use meniscus_store::error::Error;

impl<const D: usize> Scene<D> {
    /// Validates the scene.
    ///
    /// # Errors
    /// The first error found, with the name of the field.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::usage(format!("scene {}: {what}", self.name)));
        let positive = |x: f64| x.is_finite() && x > 0.0;

        let (cells, frames) = (self.resolution as u64, u64::from(self.frames));
        let rules = [
            (
                name_is_usable(&self.name),
                "name must be letters, digits, '-' or '_'".into(),
            ),
            (
                self.domain.iter().all(|&side| positive(side)),
                format!("domain {:?} must have positive sides", self.domain),
            ),
            (
                (1..=MOST_CELLS).contains(&cells),
                format!("resolution is {cells}, it must be from 1 to {MOST_CELLS} cells"),
            ),
            (
                (1..=MOST_FRAMES).contains(&frames),
                format!("frames is {frames}, it must be from 1 to {MOST_FRAMES}"),
            ),
            (
                positive(self.frame_rate),
                format!("frame_rate is {}, it must be positive", self.frame_rate),
            ),
            (
                !self.liquids.is_empty()
                    || !self.emitters.is_empty()
                    || !self.bodies.is_empty()
                    || !self.cloth.is_empty()
                    || !self.soft.is_empty(),
                "there is no liquid, no emitter that brings some, and no rigid body".into(),
            ),
        ];
        if let Some((_, message)) = rules.into_iter().find(|(holds, _)| !holds) {
            return wrong(message);
        }
        if !self.bodies.is_empty() {
            if !positive(self.contacts.max_step) {
                return wrong("contact.max_step must be positive".into());
            }
            if let Err(fault) = self.rigid_bodies() {
                return wrong(fault.to_string());
            }
        }
        for (i, volume) in self.liquids.iter().enumerate() {
            if let Err(fault) = volume.shape.validate() {
                return wrong(format!("liquid {}: {fault}", i + 1));
            }
            if !volume.velocity.iter().all(|v| v.is_finite()) {
                return wrong(format!("liquid {}: velocity must be finite", i + 1));
            }
        }
        if let Err(fault) = self.check_ports() {
            return wrong(fault);
        }
        if let Err(fault) = self.solids_and_walls().validate() {
            return wrong(fault.to_string());
        }
        if self.is_projective()
            && let Err(fault) = self.projective_settings().validate()
        {
            return wrong(format!("projective: {fault}"));
        }
        // The liquid checks the rest; on a single cell, it does so without allocating a grid.
        let mut settings = Settings {
            cells: [1; D],
            ..self.settings()
        };
        settings.physics.walls = self.liquid_walls();
        match Liquid::new(settings) {
            Err(fault) => wrong(fault.to_string()),
            Ok(_) => Ok(()),
        }
    }
}

/// Whether a name can be that of a folder.
fn name_is_usable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= 100 && name.chars().all(plain)
}
