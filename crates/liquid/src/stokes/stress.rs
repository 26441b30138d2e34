//! The stress-pressure form of the paper [TB20 (8)]: velocities eliminated, a symmetric positive (semi)definite system for
//! traceless stresses and pressures, solved by conjugate gradients with symmetric SOR. It is the reference method: same
//! problem, same velocities, many more iterations.
//!
//! ```text
//! [ C + D m^-1 D'    -D m^-1 G  ] [s]   [ D t*         ]        t = t* - m^-1 (D's - G q)
//! [ -G' m^-1 D'       G' m^-1 G ] [q] = [ -G't* - b_q  ]
//! ```
//!
//! `D` takes the traceless strains, 2D: `d_x t_x - d_y t_y` and the shear; 3D: `d_x t_x - d_z t_z`, `d_y t_y - d_z t_z` and the shears. `C` is
//! the compliance, `1/eta` and, for the pair of normal rows in 3D, `[[1, 1/2], [1/2, 1]]/eta`.

use meniscus_lcp::krylov::pcg;
use meniscus_lcp::precondition::{Ssor, SsorSettings};
use meniscus_lcp::{Csr, InputError};

use super::system::System;
use super::{edge_axes, edge_kinds};

/// The matrix of the stress-pressure form and the rows it is made of.
#[derive(Clone, Debug)]
pub struct StressForm {
    matrix: Csr,
    /// For every velocity: the rows of `D` and `-G'` that touch it, with their entries.
    touching: Vec<Vec<(u32, f64)>>,
    masses: Vec<f64>,
    stresses: usize,
}

/// Result of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct StressSolution {
    /// Flux velocities and pressures, in the order of the [`System`].
    pub x: Vec<f64>,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Whether the tolerance was met.
    pub converged: bool,
}

impl StressForm {
    /// Assembles the matrix of a system.
    ///
    /// # Errors
    /// If an entry is not finite.
    pub fn new<const D: usize>(system: &System<D>) -> Result<Self, InputError> {
        let level = &system.level;
        let tiles = &level.tiles;
        let mut numbers: [Vec<u32>; D] = std::array::from_fn(|_| vec![u32::MAX; tiles.field_len()]);
        for (row, (axis, index)) in system.faces().enumerate() {
            numbers[axis][index] = row as u32;
        }
        let mut touching = vec![Vec::new(); system.velocities()];
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        let mut rows = 0u32;
        let mut add_row = |terms: &[(usize, usize, f64)]| {
            for &(axis, index, value) in terms {
                if numbers[axis][index] != u32::MAX {
                    touching[numbers[axis][index] as usize].push((rows, value));
                }
            }
            rows += 1;
            rows - 1
        };
        let stretch =
            |a: usize, cell: usize, sign: f64| [(a, cell, -sign), (a, tiles.above(cell, a), sign)];
        for cell in (0..tiles.cells()).filter(|&cell| level.cell[cell] > 0.0) {
            let compliance = 2.0 / level.cell[cell];
            let last = D - 1;
            let first = (0..last).map(|a| {
                let terms = [stretch(a, cell, 1.0), stretch(last, cell, -1.0)];
                add_row(terms.as_flattened())
            });
            let normal: Vec<u32> = first.collect();
            for &row in &normal {
                for &column in &normal {
                    let share = if row == column { 1.0 } else { 0.5 };
                    entries.push((row, column, share * compliance));
                }
            }
        }
        for kind in 0..edge_kinds(D) {
            let (a, b) = edge_axes(kind);
            for i in (0..tiles.cells()).filter(|&i| level.edge[kind][i] > 0.0) {
                let row = add_row(&[
                    (a, i, 1.0),
                    (a, tiles.below(i, b), -1.0),
                    (b, i, 1.0),
                    (b, tiles.below(i, a), -1.0),
                ]);
                entries.push((row, row, 1.0 / level.edge[kind][i]));
            }
        }
        let mut stresses = 0;
        for (number, cell) in system.cells().enumerate() {
            let terms: [_; D] = std::array::from_fn(|a| stretch(a, cell, -1.0));
            let row = add_row(terms.as_flattened());
            if number == 0 {
                stresses = row as usize;
            }
        }
        let masses = system.masses();
        for (touching, mass) in touching.iter().zip(&masses) {
            for &(row, x) in touching {
                for &(column, y) in touching {
                    entries.push((row, column, x * y / mass));
                }
            }
        }
        Ok(Self {
            matrix: Csr::from_entries(rows as usize, entries)?,
            touching,
            masses,
            stresses,
        })
    }

    /// Number of stresses and pressures.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Solves for a right-hand side of the [`System`] by conjugate gradients with symmetric SOR; `relaxation` between 0 and 2.
    ///
    /// # Errors
    /// If the relaxation is out of range.
    pub fn solve(
        &self,
        b: &[f64],
        relaxation: f64,
        settings: &pcg::Settings,
    ) -> Result<StressSolution, InputError> {
        let (momentum, flux) = b.split_at(self.masses.len());
        let free: Vec<f64> = momentum
            .iter()
            .zip(&self.masses)
            .map(|(b, m)| b / m)
            .collect();
        let mut rhs = vec![0.0; self.len()];
        for (touching, t) in self.touching.iter().zip(&free) {
            for &(row, value) in touching {
                rhs[row as usize] += value * t;
            }
        }
        for (rhs, b) in rhs[self.stresses..].iter_mut().zip(flux) {
            *rhs -= b;
        }
        let mut constants = SsorSettings::default();
        constants.relaxation = relaxation;
        let mut ssor = Ssor::new(constants)?;
        ssor.rebuild(&self.matrix)?;
        let mut y = vec![0.0; self.len()];
        let report = pcg::solve(
            &self.matrix,
            &rhs,
            settings,
            &ssor,
            &mut y,
            &mut pcg::Workspace::default(),
        )?;
        let velocity =
            self.touching
                .iter()
                .zip(&self.masses)
                .zip(&free)
                .map(|((touching, mass), t)| {
                    let force: f64 = touching
                        .iter()
                        .map(|&(row, value)| value * y[row as usize])
                        .sum();
                    t - force / mass
                });
        Ok(StressSolution {
            x: velocity.chain(y[self.stresses..].iter().copied()).collect(),
            iterations: report.iterations,
            converged: report.status == pcg::Status::Converged,
        })
    }
}
