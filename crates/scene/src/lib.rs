//! Scenes as plain data, in two or three dimensions; scene files are in [`text`].
//!
//! The built-in scenes are in [`builtin`]; [`check`](Scene::check) validates one.

#![forbid(unsafe_code)]

mod appearance;
mod body;
pub mod builtin;
pub mod buoyancy;
mod check;
mod cloth;
mod cloth_mesh;
mod color;
mod coupling;
mod dimension;
mod limits;
pub mod measure;
pub mod mesh_files;
pub mod meshes;
mod output;
mod ports;
mod poses;
mod projective;
mod rigid;
pub mod scene_hash;
pub mod settle;
mod shell;
mod soft;
pub mod speeds;
mod suggest;
pub mod surface_settings;
pub mod text;
pub mod viscosity;
mod wall;
mod words;

pub use appearance::{Camera, CameraTrack, Material, Style};
pub use body::{Amount, Body, Contacts, Joint, KnownMoments, Pair, Surface};
pub use cloth::{Cloth, ClothPin, ClothShape, MovingMesh};
pub use cloth_mesh::{ClothMesh, Texture};
pub use color::{Color, NAMED as NAMED_COLORS};
pub use dimension::AnyScene;
pub use limits::{Limits, OnDrift};
pub use output::Output;
pub use ports::{Drain, Emitter, FrameRange};
pub use projective::SimulationMethod;
pub use rigid::RigidFault;
pub use shell::Shell;
pub use soft::SoftBody;
pub use surface_settings::{SurfaceSettings, SurfaceSource};
pub use wall::Wall;

use meniscus_liquid::stokes::Rheology;
use meniscus_liquid::{Physics, Settings};
use meniscus_shapes::{ScriptedSolid, Shape, Solids};

/// A volume of liquid at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume<const D: usize> {
    /// Shape; where it overlaps a solid there is no liquid.
    pub shape: Shape<D>,
    /// Initial velocity.
    pub velocity: [f64; D],
    /// Viscosity. Default: none.
    pub rheology: Rheology,
}

impl<const D: usize> Volume<D> {
    /// Liquid at rest.
    pub fn at_rest(shape: Shape<D>) -> Self {
        Volume {
            shape,
            velocity: [0.0; D],
            rheology: Rheology::default(),
        }
    }
}

/// Everything that defines a run. SI units; the lower corner of the domain is the origin, up is the
/// last axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene<const D: usize> {
    /// Short name, also that of the output folder.
    pub name: String,
    /// Description in one line.
    pub summary: String,
    /// Size of the domain, whose sides are walls unless they are open.
    pub domain: [f64; D],
    /// Sides through which liquid leaves the domain: the low and the high one of every axis.
    pub open: [[bool; 2]; D],
    /// Cells along the longest side of the domain.
    pub resolution: usize,
    /// Method that simulates the liquid.
    pub method: SimulationMethod,
    /// Settings of the particle method; spacing, density and gravity are those of the scene.
    pub projective: meniscus_projective::Settings<D>,
    /// Distance between the particles of the particle method. Default: as many per cell as the grid method has.
    pub spacing: Option<f64>,
    /// Number of these particles, instead of their distance.
    pub particle_count: Option<f64>,
    /// The paper's weight of density constraints, in N/m, instead of their bulk modulus.
    pub constraint_weight: Option<f64>,
    /// Gravity, walls, solver, particles and time steps.
    pub physics: Physics<D>,
    /// Liquid at the start. Where two volumes overlap, the first sets the velocity.
    pub liquids: Vec<Volume<D>>,
    /// Sources of liquid. Where two overlap, the first sets the velocity.
    pub emitters: Vec<Emitter<D>>,
    /// Sinks of liquid.
    pub drains: Vec<Drain<D>>,
    /// Solids, moving or not.
    pub solids: Vec<ScriptedSolid<D>>,
    /// Friction and restitution of the solids, in their order. Default: those of [`Surface`].
    pub surfaces: Vec<Surface>,
    /// How liquid leaves the solids, in their order. Default: as the walls of the scene.
    pub walls: Vec<Wall>,
    /// Suction in Pa that separating walls bear before viscous liquid leaves them. Default: the weight of one cell.
    pub adhesion: Option<f64>,
    /// Rigid bodies.
    pub bodies: Vec<Body<D>>,
    /// Cloth; in 3D, with the particle method.
    pub cloth: Vec<Cloth>,
    /// Soft bodies; in 3D, with the particle method.
    pub soft: Vec<SoftBody>,
    /// Thin walls; in 3D, with the particle method.
    pub shells: Vec<Shell>,
    /// Joints of the bodies.
    pub joints: Vec<Joint<D>>,
    /// Settings of contacts between bodies.
    pub contacts: Contacts<D>,
    /// Settings of the coupling of liquid and bodies, adhesion excepted.
    pub coupling: meniscus_coupled::Settings,
    /// Materials of the solids in pictures, in their order. Default: chosen by their shape.
    pub materials: Vec<Option<Material>>,
    /// Colours of the solids in pictures, in their order.
    pub colors: Vec<Option<Color>>,
    /// Colour of the liquid in pictures. Default: that of water.
    pub liquid_color: Option<Color>,
    /// Number of frames to simulate.
    pub frames: u32,
    /// Frames per second.
    pub frame_rate: f64,
    /// Drift at which a run warns and ends.
    pub limits: Limits,
    /// Output files.
    pub output: Output,
    /// Camera of pictures.
    pub camera: Camera<D>,
    /// Motion of the camera.
    pub camera_track: CameraTrack<D>,
}

impl<const D: usize> Scene<D> {
    /// An empty domain with default settings.
    pub fn new(name: &str, summary: &str, domain: [f64; D], resolution: usize) -> Self {
        Scene {
            name: name.into(),
            summary: summary.into(),
            domain,
            open: [[false; 2]; D],
            resolution,
            method: SimulationMethod::default(),
            projective: meniscus_projective::Settings::new(1.0),
            spacing: None,
            particle_count: None,
            constraint_weight: None,
            physics: Physics::default(),
            liquids: Vec::new(),
            emitters: Vec::new(),
            drains: Vec::new(),
            solids: Vec::new(),
            surfaces: Vec::new(),
            walls: Vec::new(),
            adhesion: None,
            bodies: Vec::new(),
            cloth: Vec::new(),
            soft: Vec::new(),
            shells: Vec::new(),
            joints: Vec::new(),
            contacts: Contacts::default(),
            coupling: meniscus_coupled::Settings::default(),
            materials: Vec::new(),
            colors: Vec::new(),
            liquid_color: None,
            frames: 100,
            frame_rate: 24.0,
            limits: Limits::default(),
            output: Output::default(),
            camera: Camera::default(),
            camera_track: CameraTrack::default(),
        }
    }

    /// Width of a cell.
    pub fn dx(&self) -> f64 {
        self.domain.iter().copied().fold(0.0, f64::max) / self.resolution as f64
    }

    /// Cells along each side; the last one may reach beyond the domain.
    pub fn cells(&self) -> [usize; D] {
        let dx = self.dx();
        // Slightly less, so that rounding adds no cell to a side of exactly n cells.
        self.domain
            .map(|side| ((side / dx - 1e-9).ceil() as usize).max(1))
    }

    /// Time of a frame. Frame k is the state after k frame intervals.
    pub fn time_of_frame(&self, frame: u32) -> f64 {
        f64::from(frame) / self.frame_rate
    }

    /// Settings of the liquid.
    pub fn settings(&self) -> Settings<D> {
        Settings {
            cells: self.cells(),
            dx: self.dx(),
            attributes: self.output.attributes,
            physics: self.liquid_physics(),
        }
    }

    /// The solids, the bodies as they are before forces move them, and the sides of the domain, which are walls unless they
    /// are open.
    pub fn solids_and_walls(&self) -> Solids<D> {
        let mut bodies = self.all_solids();
        bodies.push(self.sides());
        Solids::new(bodies)
    }

    /// The sides of the domain, which are walls unless they are open.
    pub fn sides(&self) -> ScriptedSolid<D> {
        ScriptedSolid::still("domain", self.room().inverted())
    }

    /// Everything solid in the scene: the solids, then the bodies, in the order of frames.
    pub fn all_solids(&self) -> Vec<ScriptedSolid<D>> {
        let bodies = self.bodies.iter().map(Body::solid);
        self.solids.iter().cloned().chain(bodies).collect()
    }

    /// Material in pictures of each of [`all_solids`](Self::all_solids), if the scene has one.
    pub fn all_materials(&self) -> Vec<Option<Material>> {
        let solids = (0..self.solids.len()).map(|k| self.materials.get(k).copied().flatten());
        solids
            .chain(self.bodies.iter().map(|body| body.material))
            .collect()
    }

    /// Colour in pictures of each of [`all_solids`](Self::all_solids). Bodies without one take turns with a few that are
    /// easy to tell apart.
    pub fn all_colors(&self) -> Vec<Option<Color>> {
        let solids = (0..self.solids.len()).map(|k| self.colors.get(k).copied().flatten());
        let bodies = self.bodies.iter().enumerate();
        let bodies = bodies.map(|(k, body)| Some(body.color.unwrap_or_else(|| color::distinct(k))));
        solids.chain(bodies).collect()
    }

    /// Whether the scene has rigid bodies and no liquid, now or later.
    pub fn is_rigid(&self) -> bool {
        !self.bodies.is_empty() && !self.has_liquid()
    }

    /// Whether the scene has liquid, now or later.
    pub fn has_liquid(&self) -> bool {
        !self.liquids.is_empty() || !self.emitters.is_empty()
    }

    /// Whether the scene has liquid, and rigid bodies or solids with walls of their own.
    pub fn is_coupled(&self) -> bool {
        let own = |wall: &Wall| wall.is_own(self.physics.walls);
        self.has_liquid()
            && !self.is_projective()
            && (!self.bodies.is_empty() || !self.is_viscous() && self.walls.iter().any(own))
    }

    /// How liquid leaves each of [`all_solids`](Self::all_solids).
    pub fn all_walls(&self) -> Vec<Wall> {
        let solids = (0..self.solids.len()).map(|k| self.walls.get(k).copied().unwrap_or_default());
        solids
            .chain(self.bodies.iter().map(|body| body.wall))
            .collect()
    }

    /// Shapes of all objects, each with its table in scene files and its index in that table.
    pub fn shapes(&self) -> impl Iterator<Item = (&'static str, usize, &Shape<D>)> {
        let liquids = self.liquids.iter().map(|liquid| &liquid.shape).enumerate();
        let solids = self.solids.iter().map(|solid| &solid.shape).enumerate();
        let emitters = self.emitters.iter().map(|emitter| &emitter.shape);
        let drains = self.drains.iter().map(|drain| &drain.shape).enumerate();
        let liquids = liquids.map(|(i, shape)| ("liquid", i, shape));
        let solids = solids.map(|(i, shape)| ("solid", i, shape));
        let emitters = emitters.enumerate().map(|(i, s)| ("emitter", i, s));
        let drains = drains.map(|(i, shape)| ("drain", i, shape));
        let bodies = self.bodies.iter().map(|body| &body.shape).enumerate();
        let bodies = bodies.map(|(i, shape)| ("body", i, shape));
        liquids
            .chain(solids)
            .chain(emitters)
            .chain(drains)
            .chain(bodies)
    }

    /// Signed distance to the liquid at the start, negative inside.
    pub fn liquid_distance(&self, x: [f64; D]) -> f64 {
        self.liquids
            .iter()
            .map(|v| v.shape.distance(x))
            .fold(f64::INFINITY, f64::min)
            .max(self.beyond_open_sides(x))
    }

    /// Velocity of the liquid at the start: that of the first volume around the point.
    pub fn liquid_velocity(&self, x: [f64; D]) -> [f64; D] {
        let around = self.liquids.iter().find(|v| v.shape.distance(x) <= 0.0);
        around.map_or([0.0; D], |v| v.velocity)
    }
}
