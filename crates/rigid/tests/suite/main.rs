//! What holds for rigid bodies.

mod collisions;
mod flight;
mod friction;
mod hostile;
mod joints;
mod methods;
mod scenes;
mod stacks;
mod state;
