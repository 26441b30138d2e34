//! Rigid bodies, joints and the settings of their contacts.

use crate::{Color, Material, Wall};
use meniscus_rigid::{JointKind, Mass, MassError, Motor, Settings};
use meniscus_shapes::{Ease, Keyframe, Moments, MomentsError, Motion, Pose, ScriptedSolid, Shape};
use std::sync::{Arc, OnceLock};

/// Friction and restitution of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coulomb coefficient. Default: 0.5. A pair has the geometric mean.
    pub friction: f64,
    /// Restitution, from 0 to 1. Default: 0. A pair has the larger one.
    pub restitution: f64,
}

impl Default for Surface {
    fn default() -> Self {
        Surface {
            friction: 0.5,
            restitution: 0.0,
        }
    }
}

/// Amount of matter in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Density in kg/m³; kg/m² in 2D.
    Density(f64),
    /// Mass in kg; per metre of depth in 2D.
    Mass(f64),
}

/// Moments of a shape, computed once: those of combined shapes take a fraction of a second. Bodies of the same shape share
/// them.
#[derive(Clone, Debug, Default)]
pub struct KnownMoments<const D: usize>(Arc<OnceLock<Known<D>>>);

#[derive(Clone, Debug)]
struct Known<const D: usize> {
    shape: Shape<D>,
    moments: Result<Moments<D>, MomentsError>,
}

impl<const D: usize> KnownMoments<D> {
    fn of(&self, shape: &Shape<D>) -> Result<Moments<D>, MomentsError> {
        let known = self.0.get_or_init(|| Known {
            shape: shape.clone(),
            moments: shape.moments(),
        });
        match known.shape == *shape {
            true => known.moments,
            false => shape.moments(),
        }
    }
}

impl<const D: usize> PartialEq for KnownMoments<D> {
    /// They follow from the shape, which is compared itself.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body<const D: usize> {
    /// Name, unique among solids and bodies.
    pub name: String,
    /// Solid in the body's own frame.
    pub shape: Shape<D>,
    /// Pose of that frame at the start, `world_from_body`; of scripted bodies, that of their script.
    pub pose: Pose<D>,
    /// Keyframes that move the body until its release.
    pub script: Option<Motion<D>>,
    /// Frame from which on forces move a scripted body.
    pub release_frame: Option<u32>,
    /// Frame from which on the body is gone.
    pub remove_frame: Option<u32>,
    /// Density or mass.
    pub amount: Amount,
    /// Centre of mass in the frame of the shape. Default: that of the shape.
    pub center_of_mass: Option<[f64; D]>,
    /// Moments of inertia about axes through the centre of mass parallel to those of the shape, in kg m²; in 2D only the
    /// last. Default: those of the shape.
    pub inertia: Option<[f64; 3]>,
    /// Velocity of the centre of mass at the start, in m/s.
    pub velocity: [f64; D],
    /// Angular velocity at the start in degrees per second; in 2D only the last component.
    pub angular_velocity: [f64; 3],
    /// Friction and restitution.
    pub surface: Surface,
    /// How liquid leaves it.
    pub wall: Wall,
    /// Whether gravity acts on it.
    pub gravity: bool,
    /// Material in pictures.
    pub material: Option<Material>,
    /// Colour in pictures.
    pub color: Option<Color>,
    /// Moments of the shape.
    pub known_moments: KnownMoments<D>,
}

impl<const D: usize> Body<D> {
    /// A body at rest, with the defaults of scene files.
    pub fn new(name: impl Into<String>, shape: Shape<D>, amount: Amount) -> Self {
        Body {
            name: name.into(),
            shape,
            pose: Pose::IDENTITY,
            script: None,
            release_frame: None,
            remove_frame: None,
            amount,
            center_of_mass: None,
            inertia: None,
            velocity: [0.0; D],
            angular_velocity: [0.0; 3],
            surface: Surface::default(),
            wall: Wall::default(),
            gravity: true,
            material: None,
            color: None,
            known_moments: KnownMoments::default(),
        }
    }

    /// Volume, centroid and second moments of the shape.
    ///
    /// # Errors
    /// Why the shape has none.
    pub fn moments(&self) -> Result<Moments<D>, MomentsError> {
        self.known_moments.of(&self.shape)
    }

    /// Mass properties in the frame of the shape.
    ///
    /// # Errors
    /// Why the shape has none, or which value is out of range.
    pub fn mass(&self) -> Result<Mass<D>, MassError> {
        let mut mass = match self.amount {
            Amount::Density(density) => Mass::of_density_and_moments(density, self.moments())?,
            Amount::Mass(mass) => Mass::of_mass_and_moments(mass, self.moments())?,
        };
        if let Some(center) = self.center_of_mass {
            mass = mass.with_center(center);
        }
        if let Some(moments) = self.inertia {
            let mut inertia = [[0.0; 3]; 3];
            for (axis, moment) in moments.into_iter().enumerate() {
                inertia[axis][axis] = moment;
            }
            mass = mass.with_inertia(inertia);
        }
        mass.validated()
    }

    /// The body as a solid that moves by script, or rests where it is at the start.
    pub fn solid(&self) -> ScriptedSolid<D> {
        let motion = match &self.script {
            Some(script) => script.clone(),
            None if self.pose == Pose::IDENTITY => Motion::Still,
            None => Motion::Keyframes {
                keys: vec![Keyframe {
                    time: 0.0,
                    position: self.pose.translation,
                    rotation: self.pose.rotation,
                }],
                ease: Ease::default(),
            },
        };
        ScriptedSolid {
            name: self.name.clone(),
            shape: self.shape.clone(),
            motion,
        }
    }
}

/// A joint between bodies, or a body and the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint<const D: usize> {
    /// Name in messages and statistics.
    pub name: String,
    /// Names of one or two bodies; with one, the other side is the world.
    pub bodies: Vec<String>,
    /// Kind, with points and axes in the world at the start.
    pub kind: JointKind<D>,
    /// Lowest and highest angle in rad, or position in m, from the start.
    pub limits: Option<[f64; 2]>,
    /// Motor, with angles in rad.
    pub motor: Option<Motor>,
    /// Reaction in N at which the joint breaks.
    pub break_force: Option<f64>,
    /// Whether the two bodies collide.
    pub collide: bool,
}

/// Friction and restitution of one pair of bodies or solids, in place of the combination of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Names of the two.
    pub bodies: Vec<String>,
    /// Friction. Default: the geometric mean of both.
    pub friction: Option<f64>,
    /// Restitution. Default: the larger of both.
    pub restitution: Option<f64>,
}

/// Settings of contacts between bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Contacts<const D: usize> {
    /// Settings of the solver; gravity is that of the scene.
    pub settings: Settings<D>,
    /// Longest time step in seconds. Default: 0.005.
    pub max_step: f64,
    /// Friction and restitution of the closed sides of the domain.
    pub sides: Surface,
    /// Pairs with values of their own.
    pub pairs: Vec<Pair>,
}

impl<const D: usize> Default for Contacts<D> {
    fn default() -> Self {
        Contacts {
            settings: Settings::default(),
            max_step: 0.005,
            sides: Surface::default(),
            pairs: Vec::new(),
        }
    }
}
