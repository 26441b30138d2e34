//! The surface around a cloud of points, where a density that every point adds to falls off.
//!
//! The work is done by splashsurf, whose functions are generic throughout: alone in this crate they are compiled once, and
//! not again with everything that uses them.
//!
//! ```
//! use meniscus_skin::{Skin, around};
//!
//! let skin = Skin { radius: 0.1, reach: 0.2, spacing: 0.05, threshold: 0.5 };
//! let mesh = around(&[[0.0; 3], [0.1, 0.0, 0.0]], &skin)?;
//! assert!(!mesh.triangles.is_empty());
//! # Ok::<(), String>(())
//! ```

#![forbid(unsafe_code)]

use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::{
    GridDecompositionParameters, Parameters, SpatialDecomposition, reconstruct_surface,
};

/// How tightly the surface lies around the points. Lengths have the unit of the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skin {
    /// Radius of a ball with the volume that a point stands for.
    pub radius: f32,
    /// How far a point is felt.
    pub reach: f32,
    /// Space between the points of the lattice on which the surface is found.
    pub spacing: f32,
    /// The surface is where the density, one inside, falls below this.
    pub threshold: f32,
}

/// Triangles, counter-clockwise as seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Where the corners are.
    pub vertices: Vec<[f32; 3]>,
    /// Three corners each.
    pub triangles: Vec<[usize; 3]>,
}

/// The surface around some points, the same bits for any number of threads.
///
/// # Errors
/// In the words of splashsurf, if the lengths make no sense or the points are too far apart.
pub fn around(points: &[[f32; 3]], skin: &Skin) -> Result<Mesh, String> {
    let mut parameters = Parameters::new(skin.radius, skin.reach, skin.spacing);
    parameters.iso_surface_threshold = skin.threshold;
    // Always in parts, so that the same sums are made whatever the size.
    parameters.spatial_decomposition =
        SpatialDecomposition::UniformGrid(GridDecompositionParameters {
            auto_disable: false,
            ..Default::default()
        });
    let points: Vec<Vector3<f32>> = points.iter().map(|&x| x.into()).collect();
    let made =
        reconstruct_surface::<i64, f32>(&points, &parameters).map_err(|cause| cause.to_string())?;
    Ok(Mesh {
        vertices: made.mesh.vertices.iter().map(|&x| x.into()).collect(),
        triangles: made.mesh.triangles,
    })
}
