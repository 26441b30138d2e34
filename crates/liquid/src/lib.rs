//! Liquids on a sparse staggered grid, with walls they can let go of.
//!
//! Particles carry the liquid; every step puts tiles of cells around them, moves their velocity to the faces of
//! cells, makes it free of divergence with a pressure that walls may bound from below, and moves the particles. One
//! implementation serves 2D and 3D. Up is the last axis, units are SI, distances are negative inside.
//!
//! ```
//! use meniscus_liquid::{Liquid, Settings};
//! use meniscus_shapes::{Body, Motion, Scenery, Shape};
//!
//! let settings = Settings::<2>::new([16, 16], 1.0 / 16.0);
//! let tank = Body {
//!     name: "tank".into(),
//!     shape: Shape::Box { low: [0.0; 2], high: [1.0; 2] }.inverted(),
//!     motion: Motion::Still,
//! };
//! let solids = Scenery::new(vec![tank]);
//! let mut liquid = Liquid::new(settings)?;
//! liquid.fill(&|x| x[1] - 0.42, &|_| [0.0; 2], &solids);
//! let limit = liquid.step_limit(&solids, 0.04);
//! let report = liquid.step(&solids, limit.dt, &mut ())?;
//! assert_eq!(report.particles, liquid.particles().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod analytic;

mod advect;
mod attributes;
mod awake;
mod compiled;
mod cut_cells;
mod density;
mod extrapolate;
pub mod fas;
mod gradient;
mod level_set;
mod liquid;
mod marks;
pub mod multigrid;
mod particles;
mod ports;
mod pressure;
mod projection;
mod report;
mod rest;
mod room;
mod scatter;
mod seed;
mod settings;
mod solids;
pub mod solvers;
mod step;
mod thick_walls;
mod tiles;
mod transfer;
mod walls;
mod window;

pub use attributes::Attributes;
pub use extrapolate::FaceState;
pub use gradient::Gradient;
pub use liquid::{Distance, Liquid, State, StateError, StepLimit};
pub use particles::Particles;
pub use ports::{Drain, Emitter, Ports};
pub use pressure::{Beyond, PressureProjection};
pub use projection::{Faces, Projected, Projection};
pub use report::{Crowded, Face, Phases, PressureProblem, StepError, StepFailure, StepReport};
pub use settings::{Preconditioner, Settings, SettingsError, Solver, Transfer, Walls};
pub use solids::{SolidField, SolidId, SolidMotion};
pub use thick_walls::least_thickness;
pub use tiles::{Coord, Tiles};
