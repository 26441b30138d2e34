//! The state of a world at one instant, as frames keep it.

/// Optional parts of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// Pressure at the particles of liquids, as the scalar `pressure`.
    pub pressure: bool,
}

/// A world at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Seconds since the start.
    pub time: f64,
    /// Number of dimensions.
    pub dimension: usize,
    /// Particles, one layer per material.
    pub points: Vec<PointLayer>,
    /// Solids, scripted ones included.
    pub bodies: Vec<BodyState>,
    /// Forces on the bodies that forces may move.
    pub loads: Vec<BodyLoad>,
    /// Meshes whose vertices move.
    pub meshes: Vec<DeformedMesh>,
}

/// Particles of one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointLayer {
    /// Name of the material.
    pub name: String,
    /// Mean distance between neighbours, in metres.
    pub spacing: f64,
    /// Coordinates of one particle after another, in metres.
    pub position: Vec<f32>,
    /// Components of the velocity of one particle after another, in m/s.
    pub velocity: Vec<f32>,
    /// Identifiers that are stable from birth to death, if particles have them.
    pub id: Option<Vec<u64>>,
    /// One value per particle each, by name.
    pub scalars: Vec<(&'static str, Vec<f32>)>,
}

impl PointLayer {
    /// Positions as vectors of a snapshot of `D` dimensions.
    pub fn positions<const D: usize>(&self) -> &[[f32; D]] {
        self.position.as_chunks().0
    }

    /// Velocities as vectors of a snapshot of `D` dimensions.
    pub fn velocities<const D: usize>(&self) -> &[[f32; D]] {
        self.velocity.as_chunks().0
    }

    /// Values of a scalar.
    pub fn scalar(&self, name: &str) -> Option<&[f32]> {
        let mut scalars = self.scalars.iter();
        scalars.find_map(|(own, values)| (*own == name).then_some(&values[..]))
    }
}

/// Pose and velocity of a solid.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyState {
    /// Name of the solid.
    pub name: String,
    /// Rotation matrix of `world_from_body`, row after row.
    pub rotation: Vec<f64>,
    /// Translation of `world_from_body`, in metres.
    pub translation: Vec<f64>,
    /// Velocity of the body's origin, in m/s.
    pub velocity: Vec<f64>,
    /// Angular velocity in rad/s; in 2D, only the last component.
    pub angular_velocity: [f64; 3],
}

/// Forces on a rigid body over the last step, in world axes, torques about its centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyLoad {
    /// Name of the body.
    pub name: String,
    /// Centre of mass, in metres.
    pub center: Vec<f64>,
    /// Velocity of the centre of mass, in m/s.
    pub velocity: Vec<f64>,
    /// Force of contacts, in N.
    pub contact_force: Vec<f64>,
    /// Torque of contacts, in N m; in 2D, only the last component.
    pub contact_torque: [f64; 3],
    /// Force of joints, in N.
    pub joint_force: Vec<f64>,
    /// Torque of joints, in N m; in 2D, only the last component.
    pub joint_torque: [f64; 3],
    /// Kinetic energy in J; zero while a script moves the body.
    pub kinetic_energy: f64,
    /// Contacts that carry a force.
    pub contacts: u64,
    /// Deepest overlap at these contacts, in metres.
    pub penetration: f64,
    /// Forces of the liquid; none in worlds without.
    pub liquid: Option<LiquidLoad>,
}

/// Forces of the liquid on a rigid body over the last step, and its place in the liquid.
#[derive(Clone, Debug, PartialEq)]
pub struct LiquidLoad {
    /// Force, in N.
    pub force: Vec<f64>,
    /// Torque about the centre of mass, in N m; in 2D, only the last component.
    pub torque: [f64; 3],
    /// Volume of the body below the surface of the liquid, in m³ (m² in 2D).
    pub submerged_volume: f64,
    /// Area that the body cuts out of that surface, in m² (m in 2D).
    pub waterline_area: f64,
}

/// Vertices of a mesh that moves and changes its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeformedMesh {
    /// Name of the mesh.
    pub name: String,
    /// Coordinates of one vertex after another, in metres.
    pub vertex: Vec<f32>,
    /// Components of the velocity of one vertex after another, in m/s.
    pub velocity: Vec<f32>,
}
