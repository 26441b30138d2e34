//! Collision detection: pairs of bodies that are near, and the points at which they touch or may touch in a step.

mod broad_phase;
mod continuous;
mod narrow;
mod part;
mod polytopes;
mod reduce;
mod round;
mod sampled;

pub(crate) use broad_phase::{Extent, pairs};
pub(crate) use continuous::{Motion, impact};
pub(crate) use narrow::{beyond_planes, touches};
pub(crate) use part::{Collider, PosedCollider};
