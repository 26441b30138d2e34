//! Small scenes.

use meniscus_coupled::{Coupled, Settings};
use meniscus_liquid::stokes::Rheology;
use meniscus_liquid::{Liquid, Settings as LiquidSettings, Walls};
use meniscus_rigid::{Bodies, Body, Mass, Settings as BodySettings};
use meniscus_shapes::{Pose, Shape};

/// A box around a point.
pub fn block<const D: usize>(half: [f64; D]) -> Shape<D> {
    Shape::Box {
        low: half.map(|h| -h),
        high: half,
    }
}

/// A free body of a density at a place.
pub fn free<const D: usize>(name: &str, shape: Shape<D>, density: f64, at: [f64; D]) -> Body<D> {
    let mass = Mass::of_density(&shape, density).unwrap();
    Body::free(name, shape, mass).at(Pose::translated(at))
}

/// The walls of the unit box with a margin of cells around them.
pub fn tank<const D: usize>(low: [f64; D], high: [f64; D]) -> Body<D> {
    Body::fixed("tank", Shape::Box { low, high }.inverted()).friction(0.0)
}

/// What a scene is made of.
pub struct Setup<const D: usize> {
    pub cells: [usize; D],
    pub dx: f64,
    pub walls: Walls,
    pub bodies: Vec<Body<D>>,
    pub settings: Settings,
    pub rest_gap: Option<f64>,
    pub viscosity: f64,
}

impl<const D: usize> Setup<D> {
    pub fn new(n: usize, bodies: Vec<Body<D>>) -> Self {
        Self {
            cells: [n; D],
            dx: 1.0 / n as f64,
            walls: Walls::Separating,
            bodies,
            settings: Settings::default(),
            rest_gap: None,
            viscosity: 0.0,
        }
    }

    /// The scene, filled where `volume` is negative.
    pub fn fill(self, volume: impl Fn([f64; D]) -> f64 + Sync) -> Coupled<D> {
        let mut settings = LiquidSettings::new(self.cells, self.dx);
        settings.physics.walls = self.walls;
        if self.viscosity > 0.0 {
            settings.physics.walls = Walls::Stick;
            settings.physics.materials = vec![Rheology::newtonian(self.viscosity)];
        }
        let body_settings = BodySettings::default()
            .gravity(settings.physics.gravity)
            .resting_gap(self.rest_gap.or(Some(0.02 * self.dx)));
        let mut bodies = Bodies::new(body_settings).unwrap();
        for body in self.bodies {
            bodies.add(body).unwrap();
        }
        let liquid = Liquid::new(settings).unwrap();
        let mut coupled = Coupled::new(liquid, bodies, self.settings).unwrap();
        coupled.fill(&volume, &|_| [0.0; D]);
        coupled
    }
}
