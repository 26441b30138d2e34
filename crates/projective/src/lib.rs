//! Projective Fluids: liquids of particles with density constraints, in two and three dimensions.
//!
//! A step minimises the objective of projective dynamics with one constraint per particle: its density, a sum of kernels
//! over its neighbours and the solids around it, is at most that at rest. [`Method`] selects how; by default the problem is
//! solved in the multipliers of the constraints, which are pressures times volumes.
//!
//! ```
//! use meniscus_projective::{Fluid, Settings};
//! use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
//!
//! let tank = Shape::Box { low: [0.0; 2], high: [1.0; 2] }.inverted();
//! let solids = [ScriptedSolid::still("tank", tank)];
//! let mut fluid = Fluid::<2>::new(Settings::new(0.05))?;
//! let block = Bounds { low: [0.0; 2], high: [0.3, 0.6] };
//! fluid.fill(&block, &solids, &|_| Some(0), &|_| [0.0; 2]);
//! let report = fluid.step(&solids, 0.002, &mut |_| ())?;
//! assert!(report.solve.has_converged);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
// Allowed in `simd` alone.
#![deny(unsafe_code)]

mod bodies;
mod boundary;
mod cells;
mod cloth;
mod constraints;
mod fluid;
mod kernel;
mod particles;
mod real;
mod reduce;
mod report;
mod save;
mod settings;
mod simd;
mod solve;
mod sources;
mod velocities;
mod walls;

pub use bodies::{Freedoms, Movers};
pub use boundary::Boundary;
pub use cloth::{
    Cloth, Crossing, MeshFault, Pin, Sheet, TetrahedralMesh, check as check_mesh, crossing,
};
pub use fluid::Fluid;
pub use kernel::{HalfSpace, support};
pub use particles::Particles;
pub use real::{Real, Vec4};
pub use report::{StepError, StepReport};
pub use save::StateError;
pub use settings::{Coordinates, Method, Settings, SettingsError};
pub use solve::{SolveReport, bulk_modulus_of_weight};
pub use sources::{Drain, Emitter, Exchanged, Sources};
