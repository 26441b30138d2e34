//! Bodies and joints with their state.

use std::fmt;

use meniscus_shapes::Pose;

use crate::body::{Body, BodyError, Twist, Wrench};
use crate::collide::Collider;
use crate::compiled::Compiled;
use crate::joint::{Joint, JointError, JointFrame, JointState, MOST_ROWS};
use crate::linear::{Angular, dot};
use crate::mass::Mass;
use crate::problem::ContactProblem;
use crate::report::{StepError, StepReport};
use crate::settings::{Settings, SettingsError};
use crate::state::{BodyState, Kinetic};

/// Friction and restitution of one pair of bodies, in place of those that follow from the two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMaterial {
    /// Coulomb coefficient.
    pub friction: f64,
    /// Restitution, from 0 to 1.
    pub restitution: f64,
}

/// Impulse of a contact in the last step, from which the next one starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WarmContact<const D: usize> {
    pub a: usize,
    pub b: usize,
    pub id: u64,
    /// Point in the frame of the first body.
    pub point: [f64; D],
    pub impulse: [f64; D],
}

/// Everything that a step changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State<const D: usize> {
    pub time: f64,
    /// Length of the last step.
    pub last_dt: f64,
    pub bodies: Vec<BodyState<D>>,
    pub joints: Vec<JointState>,
    /// In order of bodies and features.
    pub warm: Vec<WarmContact<D>>,
}

/// A simulation of rigid bodies.
///
/// ```
/// use meniscus_rigid::{Bodies, Body, Mass, Settings};
/// use meniscus_shapes::{Pose, Shape};
///
/// let mut bodies = Bodies::<3>::new(Settings::default())?;
/// bodies.add(Body::fixed("floor", Shape::HalfSpace { point: [0.0; 3], normal: [0.0, 0.0, 1.0] }))?;
/// let cube = Shape::Box { low: [-0.1; 3], high: [0.1; 3] };
/// let mass = Mass::of_density(&cube, 500.0)?;
/// let cube = bodies.add(Body::free("box", cube, mass).at(Pose::translated([0.0, 0.0, 0.5])))?;
/// for _ in 0..100 {
///     bodies.step(0.01)?;
/// }
/// let height = bodies.pose(cube).translation[2];
/// assert!((height - 0.1 - 0.002 * 0.2).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bodies<const D: usize> {
    pub(crate) settings: Settings<D>,
    pub(crate) bodies: Vec<Body<D>>,
    pub(crate) colliders: Vec<Collider<D>>,
    pub(crate) joints: Vec<Joint<D>>,
    pub(crate) frames: Vec<JointFrame<D>>,
    /// In order of pairs.
    pub(crate) materials: Vec<((usize, usize), PairMaterial)>,
    pub(crate) state: State<D>,
}

impl<const D: usize> Bodies<D> {
    /// A simulation without bodies.
    pub fn new(settings: Settings<D>) -> Result<Self, SettingsError> {
        settings.validate()?;
        Ok(Self {
            settings,
            bodies: Vec::new(),
            colliders: Vec::new(),
            joints: Vec::new(),
            frames: Vec::new(),
            materials: Vec::new(),
            state: State {
                time: 0.0,
                last_dt: 0.0,
                bodies: Vec::new(),
                joints: Vec::new(),
                warm: Vec::new(),
            },
        })
    }

    /// Adds a body; returns its index.
    pub fn add(&mut self, body: Body<D>) -> Result<usize, BodyError> {
        body.validate()?;
        let pose = body.scripted_pose(self.state.time).unwrap_or(body.pose);
        self.state.bodies.push(BodyState {
            pose,
            twist: body.twist,
            rest_time: 0.0,
            asleep: false,
            removed: false,
        });
        self.colliders.push((Compiled::get().collider)(&body.shape));
        self.bodies.push(body);
        Ok(self.bodies.len() - 1)
    }

    /// Adds a joint between bodies as they are now; returns its index.
    pub fn add_joint(&mut self, joint: Joint<D>) -> Result<usize, JointError> {
        joint.validate(self.bodies.len())?;
        let pose = |body: usize| self.state.bodies[body].pose;
        self.frames.push(JointFrame::new(
            &joint,
            &pose(joint.a),
            &joint.b.map_or(Pose::IDENTITY, pose),
        ));
        self.joints.push(joint);
        self.state.joints.push(JointState {
            coordinate: 0.0,
            broken: false,
            impulses: [0.0; MOST_ROWS],
        });
        Ok(self.joints.len() - 1)
    }

    /// Sets friction and restitution of a pair of bodies.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn set_material(
        &mut self,
        a: usize,
        b: usize,
        material: PairMaterial,
    ) -> Result<(), BodyError> {
        let pair = (a.min(b), a.max(b));
        let probe = Body {
            friction: material.friction,
            restitution: material.restitution,
            ..Body::fixed(self.bodies[a].name.clone(), self.bodies[a].shape.clone())
        };
        probe.validate()?;
        match self.materials.binary_search_by_key(&pair, |entry| entry.0) {
            Ok(at) => self.materials[at].1 = material,
            Err(at) => self.materials.insert(at, (pair, material)),
        }
        Ok(())
    }

    /// Friction (geometric mean) and restitution (the larger one) of a pair of bodies, unless set for the pair.
    pub fn material(&self, a: usize, b: usize) -> PairMaterial {
        let pair = (a.min(b), a.max(b));
        if let Ok(at) = self.materials.binary_search_by_key(&pair, |entry| entry.0) {
            return self.materials[at].1;
        }
        let (a, b) = (&self.bodies[a], &self.bodies[b]);
        PairMaterial {
            friction: (a.friction * b.friction).sqrt(),
            restitution: a.restitution.max(b.restitution),
        }
    }

    /// Takes a body out of the simulation. It keeps its index and pose, and wakes all others.
    pub fn remove(&mut self, body: usize) {
        self.state.bodies[body].removed = true;
        for state in &mut self.state.bodies {
            state.asleep = false;
            state.rest_time = 0.0;
        }
    }

    /// Advances by `dt` seconds. After an error every byte of the state is as it was.
    pub fn step(&mut self, dt: f64) -> Result<StepReport<D>, StepError> {
        self.step_with(dt, &[])
    }

    /// Advances with external forces, one per body; bodies beyond the end of the list have none.
    pub fn step_with(&mut self, dt: f64, forces: &[Wrench<D>]) -> Result<StepReport<D>, StepError> {
        (Compiled::get().step)(self, dt, forces)
    }

    /// The contact problems of a step that begins now, one for each island; nothing is changed.
    pub fn contact_problems(&self, dt: f64) -> Result<Vec<ContactProblem>, StepError> {
        (Compiled::get().problems)(self, dt)
    }

    /// Number of bodies, those removed included.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Time in seconds.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Settings.
    pub fn settings(&self) -> &Settings<D> {
        &self.settings
    }

    /// A body as it was added.
    pub fn body(&self, body: usize) -> &Body<D> {
        &self.bodies[body]
    }

    /// Pose of a body, `world_from_body`.
    pub fn pose(&self, body: usize) -> Pose<D> {
        self.state.bodies[body].pose
    }

    /// Centre of mass of a body in the world.
    pub fn center(&self, body: usize) -> [f64; D] {
        self.state.bodies[body]
            .pose
            .apply(self.bodies[body].local_center())
    }

    /// Velocity of a body.
    pub fn twist(&self, body: usize) -> Twist<D> {
        self.state.bodies[body].twist
    }

    /// Sets the velocity of a free body, and wakes it.
    pub fn set_twist(&mut self, body: usize, twist: Twist<D>) {
        let state = &mut self.state.bodies[body];
        state.twist = twist;
        state.asleep = false;
        state.rest_time = 0.0;
    }

    /// Whether forces move the body now.
    pub fn is_free(&self, body: usize) -> bool {
        self.bodies[body].is_free(self.state.time) && !self.state.bodies[body].removed
    }

    /// Whether a body has been removed.
    pub fn is_removed(&self, body: usize) -> bool {
        self.state.bodies[body].removed
    }

    /// Whether a body is asleep.
    pub fn is_asleep(&self, body: usize) -> bool {
        self.state.bodies[body].asleep
    }

    /// Joints as they were added.
    pub fn joints(&self) -> &[Joint<D>] {
        &self.joints
    }

    /// Whether a joint has broken.
    pub fn is_broken(&self, joint: usize) -> bool {
        self.state.joints[joint].broken
    }

    /// Sets or removes the motor of a joint.
    pub fn set_motor(
        &mut self,
        joint: usize,
        motor: Option<crate::Motor>,
    ) -> Result<(), JointError> {
        let changed = Joint {
            motor,
            ..self.joints[joint]
        };
        changed.validate(self.bodies.len())?;
        self.joints[joint] = changed;
        Ok(())
    }

    /// Kinetic and potential energy of the free bodies, in J.
    pub fn energy(&self) -> f64 {
        self.energy_of(&self.state)
    }

    pub(crate) fn energy_of(&self, state: &State<D>) -> f64 {
        let of = |(body, own): (&Body<D>, &BodyState<D>)| {
            let kinetic = body.kinetic(own, state.time, 1.0);
            if !kinetic.is_free() {
                return 0.0;
            }
            let weight = if body.gravity {
                kinetic.mass * dot(self.settings.gravity, kinetic.center)
            } else {
                0.0
            };
            kinetic.kinetic_energy() - weight
        };
        self.bodies.iter().zip(&state.bodies).map(of).sum()
    }

    /// Linear momentum, and angular momentum about the origin, of the free bodies.
    pub fn momentum(&self) -> ([f64; D], Angular) {
        let (mut linear, mut angular) = ([0.0; D], [0.0; 3]);
        for (body, state) in self.bodies.iter().zip(&self.state.bodies) {
            let kinetic: Kinetic<D> = body.kinetic(state, self.state.time, 1.0);
            if kinetic.is_free() {
                linear = crate::linear::add_scaled(linear, kinetic.mass, kinetic.twist.linear);
                let Twist {
                    linear: v,
                    angular: w,
                } = kinetic.twist;
                let own = Mass::<D>::angular_momentum(
                    kinetic.mass,
                    &kinetic.inertia,
                    kinetic.center,
                    v,
                    w,
                );
                angular = crate::linear::add(angular, own);
            }
        }
        (linear, angular)
    }

    /// Pairs of bodies that overlap now, with the depth of their deepest point.
    pub fn overlaps(&self) -> Vec<(usize, usize, f64)> {
        (Compiled::get().overlaps)(self)
    }

    /// Every byte that [`restore`](Self::restore) needs to continue in the same way.
    pub fn save(&self) -> Vec<u8> {
        crate::save::save(&self.state)
    }

    /// Takes over a state that was saved by a simulation with the same bodies and joints.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.state = crate::save::restore(bytes, self.bodies.len(), self.joints.len())?;
        Ok(())
    }
}

/// Bytes that are no state of the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateError {
    /// Cause.
    pub why: &'static str,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the saved state cannot be used: {}", self.why)
    }
}

impl std::error::Error for StateError {}
