//! Properties of the liquid and of the pressure solvers.

mod attributes;
mod ceiling;
mod failed_steps;
mod flight_and_solids;
mod going_on;
mod levels;
mod meshes;
mod multigrid;
mod multigrid_guards;
mod oracle;
mod ports;
mod rest;
mod solvers;
mod still_water;
mod thin_walls;

mod common;
#[path = "../grids/mod.rs"]
mod grids;
