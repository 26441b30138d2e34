//! The normal problem: rows of joints and contact normals, with the friction impulses as they are.

use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{BoxMlcp, Csr, InputError, Report};

use super::island::Island;

/// Limit on steps.
const MAX_ITERATIONS: usize = 200;

/// The matrix of the normal problem, scaled to a unit diagonal. It does not change from round to round.
pub(super) struct NormalProblem {
    /// Rows of the island.
    rows: Vec<usize>,
    /// `1 / sqrt(A_ii)`
    scale: Vec<f64>,
    matrix: Csr,
    workspace: mprgp::Workspace,
}

impl NormalProblem {
    pub fn new<const D: usize>(island: &Island<D>) -> Result<Self, InputError> {
        let normals = (0..island.contacts()).map(|contact| island.normal_row(contact));
        let rows: Vec<usize> = (0..island.joint_rows)
            .chain(normals)
            .filter(|&i| island.rows[i].diagonal > 0.0)
            .collect();
        let (matrix, scale) = super::by_lcp::scaled_matrix(island, &rows)?;
        Ok(Self {
            rows,
            scale,
            matrix,
            workspace: mprgp::Workspace::default(),
        })
    }

    /// Solves for the normal impulses from where they are, and updates the velocities.
    pub fn solve<const D: usize>(
        &mut self,
        island: &mut Island<D>,
        tolerance: f64,
    ) -> Result<Report, InputError> {
        let n = self.rows.len();
        let mut x: Vec<f64> = (0..n)
            .map(|k| island.x[self.rows[k]] / self.scale[k])
            .collect();
        let mut b = vec![0.0; n];
        meniscus_lcp::Operator::apply(&self.matrix, &x, &mut b);
        for k in 0..n {
            b[k] = self.scale[k] * island.y(self.rows[k]) - b[k];
        }
        let lower: Vec<f64> = (0..n)
            .map(|k| island.rows[self.rows[k]].lower / self.scale[k])
            .collect();
        let upper: Vec<f64> = (0..n)
            .map(|k| island.rows[self.rows[k]].upper / self.scale[k])
            .collect();
        let least = self
            .scale
            .iter()
            .fold(f64::INFINITY, |least: f64, s| least.min(*s));
        let settings = mprgp::Settings::default()
            .tolerance(tolerance * least)
            .max_iterations(MAX_ITERATIONS);
        let problem = BoxMlcp::new(&self.matrix, &b, &lower, &upper)?;
        let mut jacobi = Jacobi::new(&self.matrix)?;
        let report = mprgp::solve(
            &problem,
            &settings,
            &mut jacobi,
            &mut x,
            &mut self.workspace,
            &mut (),
        )?;
        for k in 0..n {
            island.set(self.rows[k], x[k] * self.scale[k]);
        }
        Ok(report)
    }
}
