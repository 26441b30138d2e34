//! Viscosity and pressure in one solve: what must hold exactly, flows with known solutions, and the solver.

mod exact;
mod flows;
mod materials;
mod rheology;
mod solver;
mod stepping;

use meniscus_lcp::factor::MonotoneLu;
use meniscus_liquid::Tiles;
use meniscus_liquid::stokes::{
    Geometry, Medium, Settings, Solver, Status, StressWalls, System, Viscosity,
};
use rayon::prelude::*;

/// A component on the low faces of cells, for every axis.
pub type FaceField<const D: usize> = [Vec<f64>; D];

/// A problem on `n` cells per metre.
pub struct Case<const D: usize> {
    pub system: System<D>,
    pub medium: Medium,
}

/// Tiles over a whole domain and two cells around it.
pub fn tiles<const D: usize>(cells: [usize; D]) -> Tiles<D> {
    let mut tiles = Tiles::new(cells);
    let count: usize = cells.iter().product();
    let all: Vec<[i32; D]> = (0..count)
        .map(|mut k| {
            std::array::from_fn(|a| {
                let c = k % cells[a];
                k /= cells[a];
                c as i32
            })
        })
        .collect();
    tiles.cover(all.par_iter().copied(), 2);
    tiles
}

impl<const D: usize> Case<D> {
    /// Liquid and solids by their distances, with a viscosity that may vary, on `cells`.
    pub fn with_viscosity(
        cells: [usize; D],
        medium: Medium,
        viscosity: &dyn Fn([f64; D]) -> f64,
        liquid: &(dyn Fn([f64; D]) -> f64 + Sync),
        solid: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Self {
        let geometry = Geometry::of_distances(tiles(cells), medium.dx, liquid, solid);
        let tiles = &geometry.tiles;
        let mut cell = vec![0.0; tiles.field_len()];
        for (index, cell) in cell[..tiles.cells()].iter_mut().enumerate() {
            *cell = viscosity(tiles.coord(index).map(|c| (c as f64 + 0.5) * medium.dx));
        }
        let viscosity = Viscosity { cell, edge: None };
        Self {
            system: System::new(geometry, medium, &viscosity),
            medium,
        }
    }

    /// The same with one viscosity.
    pub fn new(
        cells: [usize; D],
        medium: Medium,
        viscosity: f64,
        liquid: &(dyn Fn([f64; D]) -> f64 + Sync),
        solid: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Self {
        Self::with_viscosity(cells, medium, &|_| viscosity, liquid, solid)
    }

    /// Middle of a face.
    pub fn place(&self, axis: usize, index: usize) -> [f64; D] {
        let coord = self.system.geometry().tiles.coord(index);
        std::array::from_fn(|a| {
            let offset = if a == axis { 0.0 } else { 0.5 };
            (coord[a] as f64 + offset) * self.medium.dx
        })
    }

    /// A velocity on faces by a formula of component and place.
    pub fn field(&self, mut velocity: impl FnMut(usize, [f64; D]) -> f64) -> FaceField<D> {
        let tiles = &self.system.geometry().tiles;
        std::array::from_fn(|axis| {
            let mut field = vec![0.0; tiles.field_len()];
            for (index, value) in field[..tiles.cells()].iter_mut().enumerate() {
                *value = velocity(axis, self.place(axis, index));
            }
            field
        })
    }

    /// Solution by the solver, to a relative residual; panics if it does not converge.
    pub fn solve(&self, b: &[f64], tolerance: f64) -> Vec<f64> {
        let mut x = vec![0.0; b.len()];
        let settings = Settings {
            tolerance,
            ..Default::default()
        };
        let mut solver = Solver::new(&self.system).unwrap();
        let report = solver.solve(b, &settings, &mut x);
        assert_eq!(report.status, Status::Converged, "{report:?}");
        x
    }

    /// Solution by sparse factors of the matrix.
    pub fn solve_directly(&self, b: &[f64]) -> Vec<f64> {
        let matrix = self.system.matrix().unwrap();
        let n = self.system.velocities();
        // Rows of the pressure change their sign, so that the matrix is monotone. The unit of the pressure balances the
        // blocks.
        let unit = (0..n).map(|row| matrix.get(row, row)).sum::<f64>() / n as f64;
        let unit = unit.sqrt();
        let scale = |row: usize| if row < n { 1.0 } else { unit };
        let mut entries = Vec::new();
        for row in 0..matrix.rows() {
            let sign = if row < n { 1.0 } else { -1.0 };
            let (columns, values) = matrix.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                let value = sign * scale(row) * value * scale(column as usize);
                entries.push((row as u32, column, value));
            }
        }
        let monotone = meniscus_lcp::Csr::from_entries(matrix.rows(), entries).unwrap();
        let sign = |row: usize| if row < n { 1.0 } else { -1.0 };
        let c: Vec<f64> = b
            .iter()
            .enumerate()
            .map(|(row, b)| sign(row) * scale(row) * b)
            .collect();
        let mut x = vec![0.0; b.len()];
        MonotoneLu::new(&monotone).unwrap().solve(&c, &mut x);
        x.iter()
            .enumerate()
            .map(|(row, x)| scale(row) * x)
            .collect()
    }

    /// Values of a field at the unknown velocities.
    pub fn at_unknowns(&self, field: &FaceField<D>) -> Vec<f64> {
        self.system
            .faces()
            .map(|(axis, index)| field[axis][index])
            .collect()
    }
}

pub fn medium(dx: f64, dt: f64, density: f64) -> Medium {
    Medium {
        density,
        dt,
        dx,
        walls: StressWalls::Stick,
    }
}

/// Repeatable numbers between -1 and 1.
pub fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Distance to a sphere, negative inside.
pub fn sphere<const D: usize>(x: [f64; D], centre: [f64; D], radius: f64) -> f64 {
    let square: f64 = (0..D).map(|a| (x[a] - centre[a]).powi(2)).sum();
    square.sqrt() - radius
}

/// Distance to a box, negative inside.
pub fn cuboid<const D: usize>(x: [f64; D], low: f64, high: f64) -> f64 {
    x.iter()
        .fold(f64::NEG_INFINITY, |d, &x| d.max(low - x).max(x - high))
}

pub const NO_SOLID: f64 = 1e3;
