//! What must hold of the liquid and of the pressure solvers. One program: each further one would have the whole simulation
//! compiled into it again, in both dimensions.

mod ceiling;
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
