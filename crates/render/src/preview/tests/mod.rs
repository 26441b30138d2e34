//! Properties of images and animations.

mod animations;
mod pictures;
mod styles;
