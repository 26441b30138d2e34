//! Properties of images and animations.

mod animations;
mod looks;
mod pictures;
