//! Step reports and failures.

use std::fmt;

use crate::body::Wrench;
use crate::contact::LoadedContact;
use crate::linear::Angular;
use crate::solve::SolveReport;

/// Reaction of a joint over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct JointReport<const D: usize> {
    /// Force on the first body, in N.
    pub force: [f64; D],
    /// Torque on the first body about the joint's point, in N m.
    pub torque: Angular,
    /// Angle in rad of a hinge, position in m of a slider, from where the joint was added.
    pub coordinate: f64,
    /// Speed at which the motor turns or slides, in rad/s or m/s; zero without a motor.
    pub speed: f64,
    /// Torque in N m, or force in N, of the motor.
    pub motor_effort: f64,
    /// Power of the motor in W.
    pub motor_power: f64,
    /// Whether the joint is broken, now or before.
    pub broken: bool,
}

/// Report of a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepReport<const D: usize> {
    /// Length of the step in seconds.
    pub dt: f64,
    /// Contacts with their impulses, in order of bodies and features.
    pub contacts: Vec<LoadedContact<D>>,
    /// Contact force and torque on each body, means over the step.
    pub contact_forces: Vec<Wrench<D>>,
    /// Forces and torques of joints on each body, means over the step.
    pub joint_forces: Vec<Wrench<D>>,
    /// Reactions of the joints.
    pub joints: Vec<JointReport<D>>,
    /// Solves, one for each island that is awake.
    pub solves: Vec<SolveReport>,
    /// Solves of islands in which bodies bounce.
    pub restitution_solves: Vec<SolveReport>,
    /// Bodies asleep.
    pub asleep: usize,
    /// Largest amount by which a gap is below the one at rest after the step, before positions are corrected, in m.
    pub position_error: f64,
    /// Deepest overlap after the step, before positions are corrected, in m; zero if there is none.
    pub penetration: f64,
    /// Change of energy by the correction of positions, in J.
    pub position_work: f64,
    /// Kinetic and potential energy after the step, in J.
    pub energy: f64,
}

impl<const D: usize> StepReport<D> {
    /// Whether every solve reached its tolerance.
    pub fn converged(&self) -> bool {
        let solves = self.solves.iter().chain(&self.restitution_solves);
        solves
            .into_iter()
            .all(|solve| solve.status == meniscus_lcp::Status::Converged)
    }

    /// Largest residual of the solves, in m/s.
    pub fn residual(&self) -> f64 {
        let solves = self.solves.iter().chain(&self.restitution_solves);
        solves.map(|solve| solve.residual).fold(0.0, f64::max)
    }
}

/// Failure of a step. The state is as it was before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A length of the step that is not positive and finite.
    TimeStep(f64),
    /// A force that is not finite.
    Force {
        /// Name of the body.
        body: String,
    },
    /// Position or velocity of a body overflowed.
    NonFinite {
        /// Name of the body.
        body: String,
    },
    /// A body is crushed between others that forces do not move.
    Infeasible {
        /// Name of the body.
        body: String,
        /// Names of those that crush it.
        between: [String; 2],
    },
    /// Contacts with friction did not settle with the forces that depend on them.
    Unsettled {
        /// Largest difference of velocities between the last two rounds.
        velocity: f64,
    },
    /// The contact problem could not be assembled.
    Problem(meniscus_lcp::InputError),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeStep(dt) => {
                write!(f, "the step is {dt} s long, it must be positive and finite")
            }
            Self::Force { body } => write!(f, "the force on body {body} is not finite"),
            Self::NonFinite { body } => {
                write!(f, "position or velocity of body {body} is not finite")
            }
            Self::Infeasible {
                body,
                between: [a, b],
            } => {
                write!(
                    f,
                    "body {body} is crushed between {a} and {b}, which do not give way"
                )
            }
            Self::Unsettled { velocity } => write!(
                f,
                "friction at contacts did not settle: velocities of bodies are uncertain by {velocity:.1e} m/s"
            ),
            Self::Problem(error) => write!(f, "the contact problem is invalid: {error}"),
        }
    }
}

impl std::error::Error for StepError {}
