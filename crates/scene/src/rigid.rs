//! The rigid bodies of a scene as a simulation.

use crate::{Body, Scene, Surface};
use meniscus_rigid::{self as rigid, Bodies, PairMaterial};
use meniscus_shapes::Shape;
use std::collections::HashMap;
use std::fmt;

/// Object of a scene that the simulation of rigid bodies refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidFault {
    /// Table in scene files: `contact`, `solid`, `body` or `joint`.
    pub table: &'static str,
    /// Index in that table.
    pub index: usize,
    /// Message that follows the name of the object.
    pub message: String,
}

impl fmt::Display for RigidFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table {
            "contact" => write!(f, "contact: {}", self.message),
            table => write!(f, "{table}[{}]: {}", self.index + 1, self.message),
        }
    }
}

impl std::error::Error for RigidFault {}

impl<const D: usize> Scene<D> {
    /// The solids, bodies and joints at the start, then the closed sides of the domain.
    ///
    /// # Errors
    /// The first object that is out of range.
    pub fn rigid_bodies(&self) -> Result<Bodies<D>, RigidFault> {
        let fault = |table, index, message: String| RigidFault {
            table,
            index,
            message,
        };
        let settings = self.contacts.settings.gravity(self.physics.gravity);
        let mut bodies = Bodies::new(settings).map_err(|e| fault("contact", 0, e.to_string()))?;
        for (k, solid) in self.solids.iter().enumerate() {
            let surface = self.surfaces.get(k).copied().unwrap_or_default();
            bodies
                .add(with_surface(solid.into(), surface))
                .map_err(|e| fault("solid", k, e.to_string()))?;
        }
        for (k, body) in self.bodies.iter().enumerate() {
            let wrong = |message| fault("body", k, message);
            let body = self.rigid_body(body).map_err(wrong)?;
            bodies.add(body).map_err(|e| wrong(e.to_string()))?;
        }
        let places = self.places();
        self.add_joints(&mut bodies, &places)?;
        for pair in &self.contacts.pairs {
            let found: Vec<usize> = (pair.bodies.iter())
                .filter_map(|name| places.get(name.as_str()).copied())
                .collect();
            let [a, b] = found[..] else {
                let message = format!(
                    "a pair names {}, of which not both exist",
                    pair.bodies.join(" and ")
                );
                return Err(fault("contact", 0, message));
            };
            let usual = bodies.material(a, b);
            let material = PairMaterial {
                friction: pair.friction.unwrap_or(usual.friction),
                restitution: pair.restitution.unwrap_or(usual.restitution),
            };
            bodies
                .set_material(a, b, material)
                .map_err(|e| fault("contact", 0, e.to_string()))?;
        }
        for (name, shape) in self.closed_sides() {
            let side = with_surface(rigid::Body::fixed(name, shape), self.contacts.sides);
            bodies
                .add(side)
                .map_err(|e| fault("contact", 0, e.to_string()))?;
        }
        Ok(bodies)
    }

    /// Longest time step of the bodies, in seconds.
    pub fn rigid_step(&self) -> f64 {
        self.contacts.max_step.min(self.physics.max_step)
    }

    /// Residual of the contact problem in m/s above which errors become visible: a thousandth of the speed of the smallest
    /// body after a fall from its own height; without gravity, a hundredth of its size per second.
    pub fn visible_residual(&self) -> f64 {
        let sizes = self.bodies.iter().filter_map(|body| {
            let bounds = body.shape.bounds()?;
            let sides = (0..D).map(|axis| bounds.high[axis] - bounds.low[axis]);
            Some(sides.fold(0.0, f64::max))
        });
        let smallest = sizes.fold(f64::INFINITY, f64::min);
        match self.physics.gravity_magnitude() {
            0.0 => 1e-2 * smallest,
            gravity => 1e-3 * (gravity * smallest).sqrt(),
        }
    }

    /// Index in the simulation of every solid and body, by name.
    pub fn places(&self) -> HashMap<&str, usize> {
        let solids = self.solids.iter().map(|solid| solid.name.as_str());
        let names = solids.chain(self.bodies.iter().map(|body| body.name.as_str()));
        names.enumerate().map(|(k, name)| (name, k)).collect()
    }

    fn rigid_body(&self, body: &Body<D>) -> Result<rigid::Body<D>, String> {
        let mass = body.mass().map_err(|e| e.to_string())?;
        let made = match (&body.script, body.release_frame) {
            (Some(script), release) => {
                let scripted =
                    rigid::Body::scripted(&body.name, body.shape.clone(), script.clone());
                match release {
                    Some(frame) => scripted.released(self.time_of_frame(frame), mass),
                    None => scripted,
                }
            }
            (None, _) => rigid::Body::free(&body.name, body.shape.clone(), mass)
                .at(body.pose)
                .moving(body.velocity, body.angular_velocity.map(f64::to_radians)),
        };
        Ok(with_surface(made, body.surface).gravity(body.gravity))
    }

    fn add_joints(
        &self,
        bodies: &mut Bodies<D>,
        places: &HashMap<&str, usize>,
    ) -> Result<(), RigidFault> {
        for (index, joint) in self.joints.iter().enumerate() {
            let fault = |message: String| RigidFault {
                table: "joint",
                index,
                message,
            };
            let place = |k: usize| match joint.bodies.get(k) {
                None => Ok(None),
                Some(name) => match places.get(name.as_str()) {
                    Some(&place) => Ok(Some(place)),
                    None => Err(fault(format!("there is no body {name}"))),
                },
            };
            let first = place(0)?.ok_or_else(|| fault("it joins no body".into()))?;
            let made = rigid::Joint {
                limits: joint.limits,
                motor: joint.motor,
                break_force: joint.break_force,
                ..rigid::Joint::new(joint.kind, first, place(1)?).collide(joint.collide)
            };
            bodies.add_joint(made).map_err(|e| fault(e.to_string()))?;
        }
        Ok(())
    }

    /// The closed sides of the domain as half-spaces, with their names.
    fn closed_sides(&self) -> Vec<(String, Shape<D>)> {
        let names = crate::text::keys::SIDES;
        let name = |axis: usize, high: usize| match (D, axis) {
            (2, 1) => names[4 + high],
            _ => names[2 * axis + high],
        };
        let sides = (0..D).flat_map(|axis| [(axis, 0), (axis, 1)]);
        sides
            .filter(|&(axis, high)| !self.open[axis][high])
            .map(|(axis, high)| {
                let mut point = [0.0; D];
                let mut normal = [0.0; D];
                point[axis] = if high == 1 { self.domain[axis] } else { 0.0 };
                normal[axis] = if high == 1 { -1.0 } else { 1.0 };
                let side = Shape::HalfSpace { point, normal };
                (format!("the {} of the domain", name(axis, high)), side)
            })
            .collect()
    }
}

fn with_surface<const D: usize>(body: rigid::Body<D>, surface: Surface) -> rigid::Body<D> {
    body.friction(surface.friction)
        .restitution(surface.restitution)
}
