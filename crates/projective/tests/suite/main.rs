//! Properties of the particle method: what must hold, in both dimensions and both precisions.

mod bodies;
mod cloth;
mod conservation;
mod flows;
mod kernels;
mod sources;
mod stage;
mod steps;
