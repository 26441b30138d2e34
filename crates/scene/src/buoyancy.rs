//! Whether a body floats, and how deep, before the simulation: hydrostatics on a lattice.
//!
//! The body is lowered into deep liquid in its orientation at the start, until it displaces its own mass. Hollows count as
//! displaced until the liquid outside reaches their rim; closed hollows always do. The level at which each point of a hollow
//! is flooded is found by a priority flood from outside.

mod lattice;

use super::{Body, Scene};
use lattice::{Lattice, Points};
use meniscus_shapes::Shape;
use std::rc::Rc;

/// Levels in a cell.
const LEVELS: usize = 4;
/// Share of a body's volume below which a hollow is an error of the lattice.
const NOTABLE: f64 = 0.03;
/// Relative difference of densities within which a body is neutral.
const NEUTRAL: f64 = 2e-3;

/// Behaviour of a body in deep liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buoyancy {
    /// Whether it floats, and how.
    pub outcome: Outcome,
    /// Mean density of the body's solid part, over that of the liquid.
    pub density_ratio: f64,
    /// Volume of its hollows below their rims; zero without hollows.
    pub hollow: f64,
    /// Mass of the liquid in its hollows at the start, in kg.
    pub cargo: f64,
}

/// Whether a body floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// At the surface.
    Floats {
        /// Depth of its lowest point below the surface, in metres.
        draft: f64,
        /// Height of the body, in metres.
        height: f64,
        /// Displaced volume over that of the body, hollows excluded.
        share: f64,
    },
    /// It stays where it is.
    Neutral,
    /// It goes down.
    Sinks,
}

/// Hydrostatics of the bodies of a scene, with what equal shapes share.
#[derive(Default)]
pub struct Hydrostatics<'a, const D: usize> {
    known: Vec<(&'a Shape<D>, Option<Rc<Points<D>>>)>,
}

impl<'a, const D: usize> Hydrostatics<'a, D> {
    fn points(&mut self, shape: &'a Shape<D>) -> Option<Rc<Points<D>>> {
        let same = self.known.iter().find(|(known, _)| *known == shape);
        if let Some((_, points)) = same {
            return points.clone();
        }
        let points = Points::around(shape).map(Rc::new);
        self.known.push((shape, points.clone()));
        points
    }

    /// Behaviour of a body of a scene; none without gravity, or if it has no mass.
    pub fn of_body(&mut self, scene: &Scene<D>, body: &'a Body<D>) -> Option<Buoyancy> {
        let gravity = scene.physics.gravity_magnitude();
        if gravity == 0.0 || !body.gravity {
            return None;
        }
        let up = scene.physics.gravity.map(|g| -g / gravity);
        let (mass, volume) = (body.mass().ok()?.mass, body.moments().ok()?.volume);
        let points = self.points(&body.shape)?;
        let lattice = Lattice::new(points, body.pose.rotation.apply_inverse(up));
        let mut profile = Profile::new(&lattice, volume);
        let density = scene.physics.density;
        let (mut hollow, mut cargo) = (0.0, 0.0);
        let cell_volume = lattice.points.cell_volume();
        for (cell, &share) in lattice.hollow.iter().enumerate() {
            let own = share * cell_volume;
            hollow += own;
            let center = || body.pose.apply(lattice.points.center(cell));
            if own > 0.0 && scene.liquid_distance(center()) < 0.0 {
                cargo += own * density;
            }
        }
        // A lattice makes small hollows of concave surfaces.
        if hollow > NOTABLE * volume {
            profile.add_hollows(&lattice);
        } else {
            (hollow, cargo) = (0.0, 0.0);
        }
        let density_ratio = mass / (density * volume);
        let wanted = (mass + cargo) / density;
        let outcome = match profile.level_of(wanted) {
            _ if hollow == 0.0 && (density_ratio - 1.0).abs() < NEUTRAL => Outcome::Neutral,
            Some(level) if level < profile.height => Outcome::Floats {
                draft: level,
                height: profile.height,
                share: wanted / volume,
            },
            _ => Outcome::Sinks,
        };
        Some(Buoyancy {
            outcome,
            density_ratio,
            hollow,
            cargo,
        })
    }

    /// Volume of the liquid at the start that is left out because a body is there.
    pub fn carved(&mut self, scene: &Scene<D>, body: &'a Body<D>) -> f64 {
        let (Some(points), Ok(moments)) = (self.points(&body.shape), body.moments()) else {
            return 0.0;
        };
        let (mut all, mut wet) = (0.0, 0.0);
        for (cell, &share) in points.share.iter().enumerate() {
            all += share;
            let center = || body.pose.apply(points.center(cell));
            if share > 0.0 && scene.liquid_distance(center()) < 0.0 {
                wet += share;
            }
        }
        moments.volume * wet / f64::max(all, f64::MIN_POSITIVE)
    }
}

/// Displaced volume by level.
struct Profile {
    /// Level of the first entry, and the distance between two.
    low: f64,
    step: f64,
    /// Increase of the displaced volume at each level.
    increase: Vec<f64>,
    /// Lowest level of the body, and its height.
    lowest: f64,
    height: f64,
    /// Factor that makes the volume of the lattice that of the body.
    scale: f64,
}

impl Profile {
    fn new<const D: usize>(lattice: &Lattice<D>, volume: f64) -> Self {
        let fold =
            |f: fn(f64, f64) -> f64, start: f64| lattice.height.iter().copied().fold(start, f);
        let (low, high) = (
            fold(f64::min, f64::INFINITY),
            fold(f64::max, f64::NEG_INFINITY),
        );
        let points = &*lattice.points;
        let step = points.spacing / LEVELS as f64;
        let levels = ((high - low) / step).ceil() as usize + 2 * LEVELS;
        let found: f64 = points.share.iter().sum::<f64>() * points.cell_volume();
        let (mut bottom, mut top) = (f64::INFINITY, f64::NEG_INFINITY);
        for (share, height) in points.share.iter().zip(&lattice.height) {
            // The part of a cell that is solid, if it is the last one.
            let reach = (share - 0.5) * points.spacing;
            if *share > 0.0 {
                bottom = bottom.min(height - reach);
                top = top.max(height + reach);
            }
        }
        let mut profile = Profile {
            low: low - 0.5 * points.spacing,
            step,
            increase: vec![0.0; levels],
            lowest: bottom,
            height: top - bottom,
            scale: volume / found.max(f64::MIN_POSITIVE),
        };
        for (share, height) in points.share.iter().zip(&lattice.height) {
            let own = profile.scale * share * points.cell_volume();
            profile.spread(*height - 0.5 * points.spacing, own);
        }
        profile
    }

    fn index(&self, level: f64) -> usize {
        (((level - self.low) / self.step).max(0.0) as usize).min(self.increase.len() - 1)
    }

    /// Adds a volume evenly over the levels of a cell whose lower end is `from`.
    fn spread(&mut self, from: f64, volume: f64) {
        for k in 0..LEVELS {
            let at = self.index(from + (k as f64 + 0.5) * self.step);
            self.increase[at] += volume / LEVELS as f64;
        }
    }

    /// Adds the hollows, each until it is flooded.
    fn add_hollows<const D: usize>(&mut self, lattice: &Lattice<D>) {
        let points = &*lattice.points;
        for (cell, share) in lattice.hollow.iter().enumerate() {
            let (height, flooded) = (lattice.height[cell], lattice.flooded[cell]);
            let own = share * points.cell_volume();
            if own > 0.0 {
                self.spread(height - 0.5 * points.spacing, own);
                if flooded.is_finite() {
                    let at = self.index(flooded);
                    self.increase[at] -= own;
                }
            }
        }
    }

    /// Lowest level above the body's lowest point at which it displaces a volume.
    fn level_of(&self, volume: f64) -> Option<f64> {
        let mut displaced = 0.0;
        for (k, increase) in self.increase.iter().enumerate() {
            if increase + displaced >= volume && *increase > 0.0 {
                let part = (volume - displaced) / increase;
                let level = self.low + (k as f64 + part) * self.step;
                return Some((level - self.lowest).max(0.0));
            }
            displaced += increase;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Amount;
    use meniscus_shapes::Rotation;

    fn floats(shape: Shape<3>, density: f64) -> Buoyancy {
        let scene = Scene::new("test", "", [1.0; 3], 32);
        let mut body = Body::new("body", shape, Amount::Density(density));
        body.pose.translation = [0.5, 0.5, 0.7];
        Hydrostatics::default().of_body(&scene, &body).unwrap()
    }

    fn draft(buoyancy: &Buoyancy) -> f64 {
        match buoyancy.outcome {
            Outcome::Floats { draft, .. } => draft,
            other => panic!("{other:?}"),
        }
    }

    fn ball(radius: f64) -> Shape<3> {
        Shape::Sphere {
            center: [0.0; 3],
            radius,
        }
    }

    fn open_box() -> Shape<3> {
        let outer = Shape::Box {
            low: [-0.2, -0.1, 0.0],
            high: [0.2, 0.1, 0.12],
        };
        let inner = Shape::Box {
            low: [-0.19, -0.09, 0.01],
            high: [0.19, 0.09, 0.2],
        };
        outer.without(vec![inner])
    }

    #[test]
    fn solids_float_at_the_draft_of_archimedes() {
        let cube = Shape::Box {
            low: [-0.1; 3],
            high: [0.1; 3],
        };
        for density in [10.0, 380.0, 900.0] {
            let found = floats(cube.clone(), density);
            assert!((draft(&found) - 0.2 * density / 1000.0).abs() < 1e-3);
            assert_eq!(found.hollow, 0.0);
        }
        assert!((draft(&floats(ball(0.1), 500.0)) - 0.1).abs() < 1e-3);
        // A quarter of a ball's volume is below 0.3264 of its diameter.
        assert!((draft(&floats(ball(0.1), 250.0)) - 0.06527).abs() < 1e-3);
        assert_eq!(floats(ball(0.1), 1000.0).outcome, Outcome::Neutral);
        assert_eq!(floats(ball(0.1), 1500.0).outcome, Outcome::Sinks);
    }

    #[test]
    fn an_open_hull_floats_until_its_rim_is_under_water() {
        // Steel of 0.4 x 0.2 x 0.12 less 0.38 x 0.18 x 0.11 m³.
        let solid = 0.0096 - 0.007524;
        for (density, floats_at) in [(1500.0, true), (4000.0, true), (4700.0, false)] {
            let found = floats(open_box(), density);
            assert!((found.hollow - 0.007524).abs() < 4e-4, "{}", found.hollow);
            match floats_at {
                true => {
                    let expected = solid * density / 1000.0 / 0.08;
                    assert!((draft(&found) - expected).abs() < 3e-3, "{found:?}");
                }
                false => assert_eq!(found.outcome, Outcome::Sinks),
            }
        }
    }

    #[test]
    fn a_closed_hollow_always_counts_and_a_pierced_one_fills() {
        let shell = ball(0.1).without(vec![ball(0.09)]);
        let ratio = 1.0 - 0.9f64.powi(3);
        let found = floats(shell.clone(), 2500.0);
        assert!(2.5 * ratio < 1.0);
        assert!(matches!(found.outcome, Outcome::Floats { .. }), "{found:?}");
        let hole = Shape::Cylinder {
            from: [0.0, 0.0, -0.2],
            to: [0.0; 3],
            radius: 0.02,
        };
        let pierced = shell.without(vec![hole]);
        assert_eq!(floats(pierced, 2500.0).outcome, Outcome::Sinks);
    }

    #[test]
    fn liquid_at_the_start_is_carved_and_cargo_weighs() {
        let mut scene = Scene::new("test", "", [1.0; 3], 32);
        scene.liquids.push(crate::Volume::at_rest(Shape::HalfSpace {
            point: [0.0, 0.0, 0.5],
            normal: [0.0, 0.0, 1.0],
        }));
        let mut body = Body::new("hull", open_box(), Amount::Density(2000.0));
        body.pose.translation = [0.5, 0.5, 0.45];
        let wet = 0.4 * 0.2 * 0.05 - 0.38 * 0.18 * 0.04;
        let carved = Hydrostatics::default().carved(&scene, &body);
        assert!((carved / wet - 1.0).abs() < 0.05);
        let found = Hydrostatics::default().of_body(&scene, &body).unwrap();
        assert!((found.cargo / (1000.0 * 0.38 * 0.18 * 0.04) - 1.0).abs() < 0.15);
        body.gravity = false;
        let none = Hydrostatics::default().of_body(&scene, &body);
        assert!(none.is_none());
    }

    #[test]
    fn equal_shapes_are_measured_once_and_each_body_in_its_own_orientation() {
        let scene = Scene::new("test", "", [1.0; 3], 32);
        // Cosine and sine of the angle about the long axis.
        let bodies = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)].map(|(c, s)| {
            let mut body = Body::new("hull", open_box(), Amount::Density(1500.0));
            let matrix = [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]];
            body.pose.rotation = Rotation::from_matrix(matrix).unwrap();
            body
        });
        let mut shared = Hydrostatics::default();
        for body in &bodies {
            let alone = Hydrostatics::default().of_body(&scene, body);
            assert_eq!(shared.of_body(&scene, body), alone);
        }
        assert_eq!(shared.known.len(), 1);
        let [upright, tipped, upside_down] =
            [0, 1, 2].map(|k| shared.of_body(&scene, &bodies[k]).unwrap().hollow);
        assert!(upright > 0.007 && tipped == 0.0 && upside_down == 0.0);
    }
}
