//! Scene files: TOML with the place of every value.
//!
//! A file is parsed to a tree (`tree.rs`), [overrides] from the command line are applied, the tree is validated against the
//! [grammar] (`validate.rs`), completed with defaults (`defaults.rs`), and read as a [`Scene`](super::Scene). All problems
//! are collected on the way, each with its place.

mod access;
mod appearance;
mod assets;
mod bodies;
mod body_problems;
mod camera;
mod cloth;
mod coupling;
mod defaults;
pub mod differences;
pub mod grammar;
pub mod keys;
mod load;
mod objects;
pub mod overrides;
pub mod problem;
mod projective;
mod reference;
mod renamed_keys;
mod scale_warnings;
pub(crate) mod schema;
mod shapes;
mod shell;
mod soft;
mod starter;
#[cfg(test)]
mod tests;
pub(crate) mod tree;
mod validate;
mod values;
mod viscosity;
mod warnings;
mod wet_bodies;
mod write;

pub use camera::{flat_camera, spatial_camera};
pub use differences::{KeyDifference, differences};
#[cfg(test)]
use load::load_text;
pub use load::{
    Loaded, load, load_alone, load_from, load_kept, load_kept_with, load_run, plain_name,
};
pub use overrides::Override;
pub use reference::markdown;
pub use schema::schema;
pub use starter::starter;

use crate::AnyScene;

/// Facts about the liquids and the rigid bodies of a scene.
pub fn notes(scene: &AnyScene) -> Vec<String> {
    let (liquids, bodies) = match scene {
        AnyScene::Two(scene) => (viscosity::notes(scene), body_problems::notes(scene)),
        AnyScene::Three(scene) => (viscosity::notes(scene), body_problems::notes(scene)),
    };
    liquids.into_iter().chain(bodies).collect()
}
