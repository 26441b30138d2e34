//! Properties of the liquid and of the pressure solvers.

mod attributes;
mod cavities;
mod ceiling;
mod checkpoints;
mod coupled_multigrid;
mod failed_steps;
mod flight_and_solids;
mod levels;
mod meshes;
mod multigrid;
mod multigrid_guards;
mod oracle;
mod projections;
mod rest;
mod sloshing;
mod solvers;
mod sources;
mod stencils;
mod still_water;
mod stokes;
mod thin_liquid;
mod thin_walls;

mod common;
#[path = "../grids/mod.rs"]
mod grids;
