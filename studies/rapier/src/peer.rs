//! Scenes in rapier.

use rapier3d_f64::prelude::*;

use crate::Engine;
use crate::scene::{Placed, Scene, Solid};

/// Segments around the mesh of a bowl.
const AROUND: u32 = 128;
/// Segments from its bottom to its rim.
const UPWARD: u32 = 32;

/// A scene in rapier.
pub struct Peer {
    pub world: PhysicsWorld,
    pub bodies: Vec<RigidBodyHandle>,
}

impl Peer {
    /// The scene at its start, with rapier's default settings but for the number of iterations. Bodies do not fall
    /// asleep.
    pub fn new(scene: &Scene, dt: f64, iterations: usize) -> Self {
        let mut world = PhysicsWorld {
            gravity: Vector::new(0.0, 0.0, -9.81),
            ..PhysicsWorld::default()
        };
        world.integration_parameters.dt = dt;
        world.integration_parameters.num_solver_iterations = iterations;
        let mut bodies = Vec::new();
        for own in &scene.bodies {
            let pose = Pose::new(Vector::from(own.at), Vector::from(own.turned));
            let body = match own.density {
                Some(_) => RigidBodyBuilder::dynamic().linvel(Vector::from(own.velocity)),
                None => RigidBodyBuilder::fixed(),
            };
            let collider = ColliderBuilder::new(shape(own.solid))
                .density(own.density.unwrap_or(1.0))
                // Both engines take the geometric mean of two equal values.
                .friction(own.friction)
                .restitution(own.restitution)
                .restitution_combine_rule(CoefficientCombineRule::Max);
            let (body, _) = world.insert(body.pose(pose).can_sleep(false), collider);
            bodies.push(body);
        }
        Self { world, bodies }
    }
}

/// The solid as a shape of rapier; a bowl is a mesh.
pub fn shape(solid: Solid) -> SharedShape {
    match solid {
        Solid::Cuboid([x, y, z]) => SharedShape::cuboid(x, y, z),
        Solid::Ball(radius) => SharedShape::ball(radius),
        Solid::Bowl(radius) => {
            let (vertices, triangles) = bowl(radius);
            SharedShape::trimesh(vertices, triangles).expect("the mesh is valid")
        }
    }
}

/// The inner surface of a bowl.
fn bowl(radius: f64) -> (Vec<Vector>, Vec<[u32; 3]>) {
    use std::f64::consts::{FRAC_PI_2, TAU};
    let mut vertices = vec![Vector::new(0.0, 0.0, -radius)];
    for i in 1..=UPWARD {
        let up = FRAC_PI_2 * f64::from(i) / f64::from(UPWARD);
        for j in 0..AROUND {
            let around = TAU * f64::from(j) / f64::from(AROUND);
            vertices.push(Vector::new(
                radius * up.sin() * around.cos(),
                radius * up.sin() * around.sin(),
                -radius * up.cos(),
            ));
        }
    }
    let at = |i: u32, j: u32| {
        if i == 0 {
            0
        } else {
            1 + (i - 1) * AROUND + j % AROUND
        }
    };
    let mut triangles = Vec::new();
    for i in 0..UPWARD {
        for j in 0..AROUND {
            if i > 0 {
                triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            }
            triangles.push([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
        }
    }
    (vertices, triangles)
}

impl Engine for Peer {
    fn step(&mut self) {
        self.world.step();
    }

    fn placed(&self) -> Vec<Placed> {
        let of = |&handle: &RigidBodyHandle| {
            let body = &self.world.bodies[handle];
            let pose = body.position();
            let column = |axis: Vector| pose.transform_vector(axis).to_array();
            let columns = [column(Vector::X), column(Vector::Y), column(Vector::Z)];
            Placed {
                at: pose.translation.to_array(),
                rotation: std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i])),
                velocity: body.linvel().to_array(),
                angular_velocity: body.angvel().to_array(),
            }
        };
        self.bodies.iter().map(of).collect()
    }

    fn rest_distance(&self, _: usize, _: usize) -> f64 {
        0.0
    }
}
