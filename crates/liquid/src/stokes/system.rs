//! The problem on the finest grid: matrix-free operator, right-hand side, unknowns.

use meniscus_lcp::{Csr, InputError};
use rayon::prelude::*;

use super::components::closed_regions;
use super::direct::{Places, entries};
use super::fractions::{Geometry, edge_low};
use super::kernels::{Pair, residual};
use super::level::{FaceKind, Forces, Level, Medium, Shares, ViscosityAt};
use super::{EDGE_KINDS, edge_axes};
use crate::compiled::Compiled;
use crate::particles::transfer::FaceField;

/// Dynamic viscosity on the grid, in Pa s.
#[derive(Clone, Debug)]
pub struct Viscosity {
    /// In cells.
    pub cell: Vec<f64>,
    /// On the edges of every kind; without it, means of the cells around.
    pub edge: Option<[Vec<f64>; EDGE_KINDS]>,
}

/// Viscosity of the finest level.
struct OnSamples<'a, const D: usize> {
    geometry: &'a Geometry<D>,
    viscosity: &'a Viscosity,
}

impl<const D: usize> ViscosityAt for OnSamples<'_, D> {
    fn cell(&self, index: usize) -> f64 {
        self.viscosity.cell[index]
    }

    fn edge(&self, kind: usize, index: usize) -> f64 {
        match &self.viscosity.edge {
            Some(edge) => edge[kind][index],
            None => {
                let (a, b) = edge_axes(kind);
                let cell = &self.viscosity.cell;
                let of_octant = |octant: usize| cell[octant >> D];
                self.geometry
                    .weighted_mean(index, edge_low(a, b), of_octant)
            }
        }
    }
}

/// A problem: see the module's documentation for its equations.
pub struct System<const D: usize> {
    pub(crate) geometry: Geometry<D>,
    pub(crate) medium: Medium,
    pub(crate) forces: Forces,
    /// Viscosity of cells.
    pub(crate) viscosity: Vec<f64>,
    pub(crate) level: Level<D, f64>,
    pub(crate) shares: Shares<D>,
    pub(crate) places: Places,
    /// Regions whose pressure is free up to a constant, by the numbers of their pressures.
    pub(crate) closed: Vec<Vec<u32>>,
}

impl<const D: usize> System<D> {
    /// Chooses the unknowns and computes all coefficients.
    pub fn new(geometry: Geometry<D>, medium: Medium, viscosity: &Viscosity) -> Self {
        (Compiled::get().stokes_system)(geometry, medium, viscosity)
    }

    pub(crate) fn new_impl(geometry: Geometry<D>, medium: Medium, viscosity: &Viscosity) -> Self {
        Self::of_forces(geometry, medium, viscosity, Forces::Both)
    }

    /// With some forces alone.
    pub(crate) fn of_forces(
        geometry: Geometry<D>,
        medium: Medium,
        viscosity: &Viscosity,
        forces: Forces,
    ) -> Self {
        let samples = OnSamples {
            geometry: &geometry,
            viscosity,
        };
        let (level, shares) = Level::build(&geometry, &medium, &samples, 1.0, forces);
        let places = Places::all(&level);
        let closed = closed_regions(&level, &places.cells);
        Self {
            medium,
            forces,
            viscosity: viscosity.cell.clone(),
            level,
            shares,
            places,
            closed,
            geometry,
        }
    }

    /// The grid.
    pub fn geometry(&self) -> &Geometry<D> {
        &self.geometry
    }

    /// Number of unknowns: velocities of all axes, then pressures.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of unknown velocities.
    pub fn velocities(&self) -> usize {
        self.places.faces.len()
    }

    /// Number of regions without a free surface.
    pub fn closed_regions(&self) -> usize {
        self.closed.len()
    }

    /// Axis and index of the face of every unknown velocity.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        let faces = self.places.faces.iter();
        faces.map(|&(axis, index)| (axis as usize, index as usize))
    }

    /// Cell of every pressure.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = usize> {
        self.places.cells.iter().map(|&index| index as usize)
    }

    /// Liquid and open share of a face.
    pub fn face_shares(&self, axis: usize, index: usize) -> (f64, f64) {
        let (liquid, open) = (&self.shares.liquid[axis], &self.shares.open[axis]);
        (liquid[index] as f64, open[index] as f64)
    }

    /// Mass of the liquid at every unknown velocity, as a share of a full cell's; what momentum is computed with.
    pub fn masses(&self) -> Vec<f64> {
        self.faces()
            .map(|(axis, index)| self.level.mass[axis][index])
            .collect()
    }

    /// Pascal of a pressure of 1 in the unknowns, where the cell is full of liquid.
    pub fn pressure_unit(&self) -> f64 {
        self.medium.density * self.medium.dx / self.medium.dt
    }

    /// Flux velocity that solids impose: all of it on solid faces, their share of it on cut ones.
    pub(crate) fn solid_flux(&self, solid: &FaceField<D>, axis: usize, index: usize) -> f64 {
        match self.shares.kind[axis][index] {
            FaceKind::Solid => solid[axis][index],
            _ => (1.0 - self.shares.open[axis][index] as f64) * solid[axis][index],
        }
    }

    /// Flux velocities of a velocity on faces, and zero pressures: the start of a solve.
    pub(crate) fn flux(&self, velocity: &FaceField<D>, solid: Option<&FaceField<D>>) -> Vec<f64> {
        let flux = self.faces().map(|(axis, index)| {
            let own = self.shares.open[axis][index] as f64 * velocity[axis][index];
            own + solid.map_or(0.0, |solid| self.solid_flux(solid, axis, index))
        });
        let mut x: Vec<f64> = flux.collect();
        x.resize(self.len(), 0.0);
        x
    }

    /// The solution of a system on the same grid with other unknowns, as the start of a solve.
    pub(crate) fn carried(&self, other: &Self, x: &[f64]) -> Vec<f64> {
        let mut fields = Pair::<D, f64>::zeros(&self.level.tiles);
        other.scatter(x, &mut fields);
        let faces = self.faces().map(|(axis, index)| fields.t[axis][index]);
        let cells = self.cells().map(|index| fields.q[index]);
        faces.chain(cells).collect()
    }

    /// Right-hand side for the velocity `before` the step (forces included) and the velocity of solids on faces, if any
    /// moves.
    pub fn rhs(&self, before: &FaceField<D>, solid: Option<&FaceField<D>>) -> Vec<f64> {
        (Compiled::get().stokes_rhs)(self, before, solid)
    }

    pub(crate) fn rhs_impl(&self, before: &FaceField<D>, solid: Option<&FaceField<D>>) -> Vec<f64> {
        let tiles = &self.level.tiles;
        let mut b = vec![0.0; self.len()];
        let Some(solid) = solid else {
            for (b, (axis, index)) in b.iter_mut().zip(self.faces()) {
                let open = self.shares.open[axis][index] as f64;
                *b = self.level.mass[axis][index] * open * before[axis][index];
            }
            return b;
        };
        // What the known fluxes on solid faces contribute to all rows.
        let known = self.known_flux(solid);
        let mut left = Pair::zeros(tiles);
        residual(&self.level, &Pair::zeros(tiles), &known, &mut left);
        for (b, (axis, index)) in b.iter_mut().zip(self.faces()) {
            let open = self.shares.open[axis][index] as f64;
            let flux = open * before[axis][index] + self.solid_flux(solid, axis, index);
            *b = self.level.mass[axis][index] * flux + left.t[axis][index];
        }
        let first = self.velocities();
        for (b, index) in b[first..].iter_mut().zip(self.cells()) {
            *b = left.q[index];
        }
        b
    }

    /// Fluxes on solid faces, and zero elsewhere.
    pub(crate) fn known_flux(&self, solid: &FaceField<D>) -> Pair<D, f64> {
        let mut known = Pair::<D, f64>::zeros(&self.level.tiles);
        for (axis, known) in known.t.iter_mut().enumerate() {
            let kinds = self.shares.kind[axis].par_iter();
            let faces = known.par_iter_mut().zip(kinds).enumerate();
            faces
                .with_min_len(4096)
                .for_each(|(index, (known, &kind))| {
                    if kind == FaceKind::Solid {
                        *known = solid[axis][index];
                    }
                });
        }
        known
    }

    /// Removes from a right-hand side what no flow can satisfy, the mean over every closed region; returns the sums.
    pub fn make_solvable(&self, b: &mut [f64]) -> Vec<f64> {
        let first = self.velocities();
        let sums = self.closed.iter().map(|region| {
            let sum: f64 = region.iter().map(|&row| b[first + row as usize]).sum();
            for &row in region {
                b[first + row as usize] -= sum / region.len() as f64;
            }
            sum
        });
        sums.collect()
    }

    /// The symmetric matrix, for tests and other methods.
    ///
    /// # Errors
    /// If an entry is not finite.
    pub fn matrix(&self) -> Result<Csr, InputError> {
        (Compiled::get().stokes_matrix)(self)
    }

    pub(crate) fn matrix_impl(&self) -> Result<Csr, InputError> {
        Csr::from_entries(
            self.len(),
            entries(&self.level, &self.places, -1.0, |_| 1.0),
        )
    }

    /// Spreads a vector of unknowns over the grid.
    pub(crate) fn scatter(&self, x: &[f64], to: &mut Pair<D, f64>) {
        let (t, q) = x.split_at(self.velocities());
        for ((axis, index), &t) in self.faces().zip(t) {
            to.t[axis][index] = t;
        }
        for (index, &q) in self.cells().zip(q) {
            to.q[index] = q;
        }
    }

    /// Power of the liquid's stresses on solids that move with the velocity `mode` on faces: for a mode of 1 m/s along an axis
    /// on the faces of a body, the force on it (per metre of depth in 2D).
    pub fn work(&self, x: &[f64], solid: Option<&FaceField<D>>, mode: &FaceField<D>) -> f64 {
        let tiles = &self.level.tiles;
        // Stresses of the full flux, inertia left out.
        let mut full = Pair::<D, f64>::zeros(tiles);
        self.scatter(x, &mut full);
        let level = Level {
            mass: std::array::from_fn(|_| vec![0.0; tiles.field_len()]),
            ..self.level.clone()
        };
        let is_known = |axis: usize, index: usize| self.shares.kind[axis][index] == FaceKind::Solid;
        if let Some(solid) = solid {
            for axis in 0..D {
                for index in (0..tiles.cells()).filter(|&index| is_known(axis, index)) {
                    full.t[axis][index] = solid[axis][index];
                }
            }
        }
        let mut left = Pair::zeros(tiles);
        residual(&level, &Pair::zeros(tiles), &full, &mut left);
        let power = (0..D).map(|axis| {
            let faces = (0..tiles.cells())
                .map(|index| self.solid_flux(mode, axis, index) * left.t[axis][index]);
            faces.sum::<f64>()
        });
        let cell = self.medium.dx.powi(D as i32);
        power.sum::<f64>() * self.medium.density / self.medium.dt * cell
    }

    /// Liquid velocity of every unknown face: the flux less the solid's share, per open share.
    pub fn liquid_velocity(&self, x: &[f64], solid: Option<&FaceField<D>>) -> Vec<f64> {
        let faces = self.faces().zip(x);
        let velocity = faces.map(|((axis, index), &t)| {
            let own = solid.map_or(0.0, |solid| self.solid_flux(solid, axis, index));
            (t - own) / self.shares.open[axis][index] as f64
        });
        velocity.collect()
    }
}
