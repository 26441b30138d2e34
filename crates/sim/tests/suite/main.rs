//! Properties of worlds.

mod liquid_world;
mod projective_world;
mod rigid_world;
mod time_stepping;
