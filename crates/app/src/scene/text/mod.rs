//! Scene files: TOML that knows where everything is written.
//!
//! A file becomes a tree (`tree.rs`), [changes] from the command line are put into it, it is compared with the
//! [grammar] (`structure.rs`), filled with defaults (`fill.rs`), and read as a [`Scene`](super::Scene). All problems are
//! collected on the way, each with its place.

mod assets;
mod camera;
pub mod changes;
pub mod differences;
mod fill;
pub mod grammar;
pub mod keys;
mod load;
mod look_keys;
pub mod problem;
mod read;
mod read_camera;
mod read_shape;
mod reference;
mod run_keys;
mod scale_warnings;
mod schema;
pub mod shape_keys;
mod starter;
mod structure;
#[cfg(test)]
mod tests;
mod thing_keys;
mod tree;
mod values;
mod warnings;
mod write;

pub use camera::{flat_camera, spatial_camera};
pub use changes::Change;
pub use differences::{KeyDifference, differences};
#[cfg(test)]
use load::load_text;
pub use load::{Loaded, load, load_alone, load_kept, plain_name};
pub use reference::markdown;
pub use schema::schema;
pub use starter::starter;
