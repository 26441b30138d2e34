#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bodies;
mod body;
mod bounce;
mod collide;
mod compiled;
mod contact;
mod detect;
mod feasible;
mod free_flight;
mod inertia;
mod islands;
mod joint;
mod linear;
mod loads;
mod mass;
mod missed;
mod position;
mod problem;
mod report;
mod rows;
mod save;
mod settings;
mod sleep;
mod solve;
mod staged;
mod state;
mod step;
mod warm;

pub use bodies::{Bodies, PairMaterial, StateError};
pub use body::{Body, BodyError, BodyFault, Drive, Twist, Wrench};
pub use contact::{Contact, LoadedContact};
pub use inertia::{Matrix6, freedoms};
pub use joint::{Joint, JointError, JointKind, Motor, MotorTarget};
pub use linear::{Angular, Matrix3};
pub use mass::{Mass, MassError};
pub use problem::{ContactProblem, PolyhedralProblem, ScaledProblem};
pub use report::{JointReport, StepError, StepReport};
pub use rows::Row;
pub use settings::{Cone, Method, Settings, SettingsError};
pub use solve::SolveReport;
pub use staged::{ResponseBlock, StagedRow, StagedStep};
