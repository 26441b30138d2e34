#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod added_mass;
mod body_field;
mod compiled;
mod contacts;
mod coupled;
mod films;
mod loads;
mod patches;
mod pockets;
mod problem;
mod projection;
mod report;
mod schemes;
mod settings;
mod shares;
mod solve;
mod viscous;

pub use body_field::{BodyMotion, BodyPath, BodyShapes};
pub use coupled::Coupled;
pub use problem::{CoupledProblem, JointOperator, JointProblem, ProblemBody};
pub use projection::{CoupledProjection, Outcome, WetBody};
pub use report::{Load, StepError, StepReport};
pub use schemes::{Method, Scheme, sor_mprgp};
pub use settings::{Settings, SettingsError};
pub use shares::{FaceShares, ShareFinder};
pub use viscous::ViscousProjection;
