//! What must hold for pictures and animations.

mod animations;
mod looks;
mod pictures;
