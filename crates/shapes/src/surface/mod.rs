//! Surfaces of solids for contact: convex polytopes, and samples with their normals.

mod convex_mesh;
mod polytope;
mod samples;

pub use polytope::{Polytope, PolytopeFace};
pub use samples::SurfaceSample;
