//! Scenes in Meniscus.

use meniscus_rigid::{Bodies, Body, Mass, Settings, StepReport};
use meniscus_shapes::{Pose, Rotation, Shape};

use crate::Engine;
use crate::scene::{Placed, Scene, Solid};

/// A scene in Meniscus.
pub struct Meniscus {
    pub bodies: Bodies<3>,
    pub dt: f64,
    pub report: Option<StepReport<3>>,
}

impl Meniscus {
    /// The scene at its start.
    pub fn new(scene: &Scene, dt: f64, settings: Settings<3>) -> Self {
        let mut bodies = Bodies::new(settings).expect("the settings are valid");
        for own in &scene.bodies {
            let shape = shape(own.solid);
            let [x, y, z] = own.turned;
            let rotation = Rotation::<3>::exp(&[[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]);
            let pose = Pose {
                rotation,
                translation: own.at,
            };
            let body = match own.density {
                Some(density) => {
                    let mass = Mass::of_density(&shape, density).expect("the solid has a volume");
                    Body::free("body", shape, mass).moving(own.velocity, [0.0; 3])
                }
                None => Body::fixed("solid", shape),
            };
            let body = body
                .at(pose)
                .friction(own.friction)
                .restitution(own.restitution);
            bodies.add(body).expect("the body is valid");
        }
        Self {
            bodies,
            dt,
            report: None,
        }
    }
}

fn shape(solid: Solid) -> Shape<3> {
    let sphere = |radius: f64| Shape::Sphere {
        center: [0.0; 3],
        radius,
    };
    match solid {
        Solid::Cuboid(half) => Shape::Box {
            low: half.map(|h| -h),
            high: half,
        },
        Solid::Ball(radius) => sphere(radius),
        Solid::Bowl(radius) => Shape::Intersection(vec![
            sphere(1.1 * radius).without(vec![sphere(radius)]),
            Shape::HalfSpace {
                point: [0.0; 3],
                normal: [0.0, 0.0, 1.0],
            },
        ]),
    }
}

impl Engine for Meniscus {
    fn step(&mut self) {
        self.report = Some(self.bodies.step(self.dt).expect("the scene is feasible"));
    }

    fn placed(&self) -> Vec<Placed> {
        let of = |body: usize| {
            let (pose, twist) = (self.bodies.pose(body), self.bodies.twist(body));
            Placed {
                at: pose.translation,
                rotation: *pose.rotation.matrix(),
                velocity: twist.linear,
                angular_velocity: twist.angular,
            }
        };
        (0..self.bodies.len()).map(of).collect()
    }

    fn rest_distance(&self, a: usize, b: usize) -> f64 {
        self.bodies.resting_gap(a, b)
    }

    fn residual(&self) -> Option<(bool, f64)> {
        let report = self.report.as_ref()?;
        Some((report.converged(), report.residual()))
    }
}
