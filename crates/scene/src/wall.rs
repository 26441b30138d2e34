//! Contact of liquid with single solids and bodies.

use meniscus_liquid::Walls;

/// How liquid leaves one solid or body, where that differs from the walls of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wall {
    /// Kind of wall. Default: that of the scene.
    pub kind: Option<Walls>,
    /// Suction in Pa that separating walls bear before the liquid leaves. Default: 0.
    pub adhesion: Option<f64>,
}

impl Wall {
    /// Whether it differs from the walls of the scene.
    pub fn is_own(&self, scene: Walls) -> bool {
        self.adhesion(scene) != Wall::default().adhesion(scene)
    }

    /// Largest suction in Pa before the liquid leaves; infinite if it never does.
    pub fn adhesion(&self, scene: Walls) -> f64 {
        match self.kind.unwrap_or(scene) {
            Walls::Slip | Walls::Stick => f64::INFINITY,
            Walls::Separating => self.adhesion.unwrap_or(0.0),
        }
    }
}
