//! Liquid simulation on a sparse staggered grid, with separating walls.
//!
//! Particles carry the liquid; every step puts tiles of cells around them, moves their velocity to the faces of
//! cells, makes it free of divergence with a pressure that walls may bound from below, and moves the particles. One
//! implementation serves 2D and 3D. Up is the last axis, units are SI, distances are negative inside.
//!
//! ```
//! use meniscus_liquid::{Liquid, Settings};
//! use meniscus_shapes::{ScriptedSolid, Motion, Solids, Shape};
//!
//! let settings = Settings::<2>::new([16, 16], 1.0 / 16.0);
//! let tank = ScriptedSolid {
//!     name: "tank".into(),
//!     shape: Shape::Box { low: [0.0; 2], high: [1.0; 2] }.inverted(),
//!     motion: Motion::Still,
//! };
//! let solids = Solids::new(vec![tank]);
//! let mut liquid = Liquid::new(settings)?;
//! liquid.fill(&|x| x[1] - 0.42, &|_| [0.0; 2], &solids);
//! let limit = liquid.step_limit(&solids, 0.04);
//! let report = liquid.step(&solids, limit.dt, &mut ())?;
//! assert_eq!(report.particles, liquid.particles().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analytic;

mod compiled;
mod disjoint_slice;
pub mod fas;
pub mod grid;
mod growth;
mod liquid;
pub mod multigrid;
pub mod particles;
mod pressure;
mod projection;
mod report;
mod settings;
mod solids;
pub mod solvers;
pub mod spin_pool;
pub mod stencil;
mod step;
pub mod stokes;

pub use grid::extrapolate::FaceState;
pub use grid::thick_walls::least_thickness;
pub use grid::tiles::{Coord, Tiles};
pub use liquid::{Distance, Liquid, State, StateError, StepLimit};
pub use particles::Particles;
pub use particles::attributes::Attributes;
pub use particles::gradient::Gradient;
pub use particles::sources::{Drain, Emitter, Sources};
pub use pressure::{FaceNeighbour, PressureProjection, SolveBy, Weights};
pub use projection::{Faces, Projected, Projection};
pub use report::{Crowded, Face, Phases, PressureProblem, StepError, StepFailure, StepReport};
pub use settings::{Physics, Preconditioner, Settings, SettingsError, Solver, Transfer, Walls};
pub use solids::{SolidField, SolidId, SolidMotion};
