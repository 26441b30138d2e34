//! UsdPhysics of a scene with rigid bodies: gravity, mass properties, collision shapes and materials.

use crate::export::Up;
use crate::runner::body_table::quaternion;
use crate::surface::upright;
use meniscus_scene::{Body, Scene, Surface};
use meniscus_shapes::Shape;

/// Physical properties of the solids and bodies of a scene.
#[derive(Clone, Debug)]
pub struct Physics {
    /// Gravity in m/s², with the up axis of the file.
    pub gravity: [f64; 3],
    /// Properties of each of [`Scene::all_solids`].
    pub bodies: Vec<BodyProperties>,
}

/// Physical properties of a solid or body.
#[derive(Clone, Debug)]
pub struct BodyProperties {
    /// Mass properties; none of solids.
    pub mass: Option<MassProperties>,
    /// Whether keyframes move it at the start.
    pub scripted: bool,
    /// Friction and restitution.
    pub surface: Surface,
    /// How UsdPhysics approximates the mesh in collisions.
    pub approximation: &'static str,
}

/// Mass properties in the frame of the mesh, with the up axis of the file.
#[derive(Clone, Debug)]
pub struct MassProperties {
    /// Mass in kg.
    pub mass: f64,
    /// Centre of mass.
    pub center: [f64; 3],
    /// Principal moments in kg m², and the rotation from their axes to those of the body as a quaternion, its real part
    /// first. None in 2D, where only one moment is known.
    pub inertia: Option<([f64; 3], [f64; 4])>,
}

impl Physics {
    /// Those of a scene; none if it has no rigid bodies.
    pub fn of<const D: usize>(scene: &Scene<D>, up: Up) -> Option<Self> {
        if scene.bodies.is_empty() {
            return None;
        }
        let solids = scene.solids.iter().enumerate();
        let solids = solids.map(|(k, solid)| BodyProperties {
            mass: None,
            scripted: solid.moves(),
            surface: scene.surfaces.get(k).copied().unwrap_or_default(),
            approximation: if is_convex(&solid.shape) {
                "convexHull"
            } else {
                "none"
            },
        });
        let bodies = scene.bodies.iter().map(|body| BodyProperties {
            mass: MassProperties::of(body, up),
            scripted: body.script.is_some(),
            surface: body.surface,
            approximation: match is_convex(&body.shape) {
                true => "convexHull",
                // Simulators refuse a concave mesh that moves.
                false => "convexDecomposition",
            },
        });
        Some(Physics {
            gravity: up.exact(upright(scene.physics.gravity)),
            bodies: solids.chain(bodies).collect(),
        })
    }
}

impl MassProperties {
    fn of<const D: usize>(body: &Body<D>, up: Up) -> Option<Self> {
        let mass = body.mass().ok()?;
        let inertia = (D == 3).then(|| {
            let (moments, rows) = mass.principal_axes();
            let [a, b, c] = rows.map(|axis| up.exact(axis));
            // Axes are columns. The last one may be reversed, so that they are right-handed.
            let right = a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0]);
            let c = c.map(|x| x * right.signum());
            let rotation = std::array::from_fn(|i| [a[i], b[i], c[i]]);
            (moments, quaternion::<3>(&rotation))
        });
        Some(MassProperties {
            mass: mass.mass,
            center: up.exact(upright(mass.center)),
            inertia,
        })
    }
}

fn is_convex<const D: usize>(shape: &Shape<D>) -> bool {
    match shape {
        Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Cylinder { .. } => true,
        Shape::Rounded { shape, .. } | Shape::Placed { shape, .. } => is_convex(shape),
        other => other.polytope().is_some(),
    }
}
