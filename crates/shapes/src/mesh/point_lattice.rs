//! Points at equal steps along the axes, and the distances of a mesh there.

use super::TriangleMesh;
use super::blocks::{SIDE, Walk};
use super::facets::Facet;
use std::array::from_fn;

/// Points at equal steps along the axes. They are in the order of their indices, the first of which changes fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointLattice {
    /// Where the point with indices zero is.
    pub first: [f64; 3],
    /// From a point to the next along each axis.
    pub spacing: [f64; 3],
    /// How many points there are along each axis.
    pub size: [usize; 3],
}

impl PointLattice {
    /// The point with these indices.
    pub fn point(&self, index: [usize; 3]) -> [f64; 3] {
        from_fn(|i| self.first[i] + index[i] as f64 * self.spacing[i])
    }
}

/// The signed distances from the points of a lattice to a mesh, slab after slab along its last axis; see
/// [`TriangleMesh::distances`].
pub struct LatticeDistances<'a> {
    mesh: &'a TriangleMesh,
    facets: Vec<Facet>,
    lattice: PointLattice,
}

impl<'a> LatticeDistances<'a> {
    pub(super) fn new(mesh: &'a TriangleMesh, lattice: &PointLattice) -> Self {
        LatticeDistances {
            mesh,
            facets: Facet::all(&mesh.tree),
            lattice: *lattice,
        }
    }

    /// How many slabs there are.
    pub fn slabs(&self) -> usize {
        self.lattice.size[2].div_ceil(SIDE)
    }

    /// The distances of a slab, nothing if there is none of this number. One after the other they are those of the lattice; threads may
    /// work on different slabs.
    pub fn slab(&self, number: usize) -> Vec<f64> {
        let layers = self.lattice.size[2];
        let start = number.saturating_mul(SIDE).min(layers);
        let end = start.saturating_add(SIDE).min(layers);
        Walk::new(self.mesh, &self.facets, &self.lattice, start..end).distances()
    }

    /// The distances of all points.
    pub fn all(&self) -> Vec<f64> {
        (0..self.slabs())
            .flat_map(|number| self.slab(number))
            .collect()
    }
}
