//! One simulation of many materials.
//!
//! A [`World`] is everything that moves in a scene. It is object-safe and has no dimension: the runner, the files, the
//! viewer and bindings to other languages see nothing else. [`advance`] chooses the length of a step and tries again with a
//! shorter one if a step fails. A [`Snapshot`] is the state of a world that a
//! frame keeps.
//!
//! Worlds are generic over the dimension; trait objects of two and three dimensions are made where a scene becomes a world,
//! `worlds.rs` of the app. The code behind them is compiled once for each dimension by the tables of functions in
//! `compiled.rs` of the liquid.
//!
//! ```
//! use meniscus_liquid::{Liquid, Settings};
//! use meniscus_shapes::{ScriptedSolid, Solids, Shape};
//! use meniscus_sim::{Layers, LiquidWorld, World, advance};
//!
//! let tank = Shape::Box { low: [0.0; 2], high: [1.0; 2] }.inverted();
//! let tank = ScriptedSolid::still("tank", tank);
//! let solids = Solids::new(vec![tank.clone()]);
//! let mut liquid = Liquid::new(Settings::<2>::new([16, 16], 1.0 / 16.0))?;
//! liquid.fill(&|x| x[1] - 0.42, &|_| [0.0; 2], &solids);
//! let mut world: Box<dyn World> = Box::new(LiquidWorld::new(liquid, Vec::new(), tank));
//! while world.time() < 0.1 - 1e-9 {
//!     let report = advance(&mut *world, 0.1, &mut ())?;
//!     assert_eq!(report.solves[0].name, "pressure");
//! }
//! let snapshot = world.snapshot(Layers::default());
//! assert_eq!(snapshot.points[0].positions::<2>().len(), world.cost().points);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod body_reports;
mod contact_problem;
mod coupled_problem;
mod coupled_world;
mod liquid_world;
mod problem;
mod projective_world;
mod pushed_bodies;
mod report;
mod rigid_world;
mod snapshot;
mod time_stepping;
mod world;

pub use body_reports::RigidSetup;
pub use contact_problem::IslandProblems;
pub use coupled_world::CoupledWorld;
pub use liquid_world::LiquidWorld;
pub use problem::ProblemDump;
pub use projective_world::ProjectiveWorld;
pub use report::{SolveReport, StepError, StepFailure, StepReport};
pub use rigid_world::RigidWorld;
pub use snapshot::{BodyLoad, BodyState, DeformedMesh, Layers, LiquidLoad, PointLayer, Snapshot};
pub use time_stepping::advance;
pub use world::{Cost, Phases, SavedState, StepLimit, World};
