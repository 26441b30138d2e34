//! Liquid and bodies of a scene together.

use crate::Scene;
use meniscus_coupled::Settings;
use meniscus_liquid::Walls;

impl<const D: usize> Scene<D> {
    /// Kind of walls that the liquid has to know: separating ones if one solid or body separates.
    pub fn liquid_walls(&self) -> Walls {
        let usual = self.physics.walls;
        if self.is_viscous() {
            return usual;
        }
        let separates = self
            .all_walls()
            .iter()
            .any(|wall| wall.adhesion(usual) < f64::INFINITY);
        match separates && self.is_coupled() {
            true => Walls::Separating,
            false => usual,
        }
    }

    /// Settings of the coupling of `bodies` solids, bodies and sides of the domain.
    pub fn coupling_settings(&self, bodies: usize) -> Settings {
        let usual = self.physics.walls;
        let own = self.all_walls().into_iter();
        let mut adhesion: Vec<f64> = own.map(|wall| wall.adhesion(usual)).collect();
        // The sides of the domain are as the scene says.
        adhesion.resize(bodies, crate::Wall::default().adhesion(usual));
        let mut settings = self.coupling.clone();
        settings.adhesion = adhesion;
        settings
    }
}
