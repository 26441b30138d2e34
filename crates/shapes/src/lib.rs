//! Signed distances, their combinations, triangle meshes, and scripted motion, in two and three dimensions.
//!
//! Everything is generic over the dimension `D`, which is 2 or 3, and written once for both. Points and
//! vectors are plain `[f64; D]`; lengths are metres, times seconds, angles radians. Distances are
//! negative inside a solid, and normals point out of it.
//!
//! ```
//! use meniscus_shapes::{ScriptedSolid, Ease, Keyframe, Motion, Rotation, Shape};
//!
//! let glass = ScriptedSolid {
//!     name: "glass".into(),
//!     shape: Shape::Sphere { center: [0.0; 3], radius: 0.4 }.inverted(),
//!     motion: Motion::Keyframes {
//!         keys: vec![
//!             Keyframe { time: 0.0, position: [0.5, 0.5, 0.5], rotation: Rotation::IDENTITY },
//!             Keyframe { time: 1.0, position: [0.5, 0.5, 1.5], rotation: Rotation::IDENTITY },
//!         ],
//!         ease: Ease::Smooth,
//!     },
//! };
//! assert!(glass.validate().is_ok());
//! assert!((glass.distance([0.5, 0.5, 0.5], 0.0) - 0.4).abs() < 1e-12);
//! assert!(glass.velocity([0.5, 0.5, 1.0], 0.5, 0.001)[2] > 1.0);
//! ```

#![forbid(unsafe_code)]

mod bounds;
pub mod mesh;
mod moments;
mod motion;
mod path;
mod pose;
mod primitive;
mod rotation;
mod scripted_solid;
mod shape;
mod solids;
mod surface;
mod thickness;
mod validate;
mod vector;

pub use bounds::Bounds;
pub use mesh::{MeshError, MeshReport, TriangleMesh};
pub use moments::{Moments, MomentsError};
pub use motion::{Ease, Keyframe, Motion, MotionError};
pub use pose::Pose;
pub use rotation::{Generator, Rotation, angle_of};
pub use scripted_solid::{BodyLine, PosedSolid, ScriptedSolid, SolidError, SolidFault};
pub use shape::Shape;
pub use solids::{PosedSolids, Solids};
pub use surface::{Polytope, PolytopeFace, SurfaceSample};
pub use validate::{ShapeError, ShapeFault};
