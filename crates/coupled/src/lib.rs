#![doc = include_str!("../README.md")]

mod added_mass;
mod body_field;
mod compiled;
mod contacts;
mod coupled;
mod projection;
mod report;
mod settings;
mod shares;

pub use body_field::{BodyMotion, BodyPath, BodyShapes};
pub use coupled::Coupled;
pub use projection::{CoupledProjection, Outcome, WetBody};
pub use report::{Load, StepError, StepReport};
pub use settings::{Settings, SettingsError};
pub use shares::{FaceShares, ShareFinder};
