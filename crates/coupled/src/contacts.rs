//! Contacts condensed out of the pressure problem: bodies respond to the impulses of the pressure by an exact small problem.
//!
//! DEVIATION [TB20 (9)]: contact impulses are no unknowns of the large problem. For given pressures the velocities of the
//! bodies follow from the contact problem of `meniscus-rigid`, whose matrix has masses only; its derivative enters
//! the multigrid cycle.

use meniscus_liquid::multigrid::{FREEDOMS, Response, freedoms};
use meniscus_rigid::{Matrix6, StagedStep};

/// Free bodies that touch the liquid, as groups of degrees of freedom.
pub struct BodyResponse<'a, const D: usize> {
    step: &'a mut StagedStep<D>,
    listed: &'a [usize],
    inverse: Vec<Matrix6>,
    friction: bool,
    /// Rows that were held when the derivative was made.
    held: Option<Vec<bool>>,
}

impl<'a, const D: usize> BodyResponse<'a, D> {
    /// The bodies that `step` was assembled for.
    pub fn new(step: &'a mut StagedStep<D>, listed: &'a [usize]) -> Self {
        Self {
            inverse: listed
                .iter()
                .map(|&body| step.inverse_inertia(body))
                .collect(),
            friction: step.has_friction(),
            step,
            listed,
            held: None,
        }
    }
}

/// Derivative of all velocities by all impulses, row by row.
pub fn derivative_of<const D: usize>(
    step: &StagedStep<D>,
    inverse: &[Matrix6],
    with_contacts: bool,
    matrix: &mut Vec<f64>,
) {
    let f = freedoms::<D>();
    let size = inverse.len() * f;
    matrix.clear();
    matrix.resize(size * size, 0.0);
    let mut put = |i: usize, j: usize, block: &Matrix6| {
        for r in 0..f {
            matrix[(i * f + r) * size + j * f..][..f].copy_from_slice(&block[r][..f]);
        }
    };
    for (i, inverse) in inverse.iter().enumerate() {
        put(i, i, inverse);
    }
    for block in step.derivative(with_contacts) {
        let count = block.members.len();
        for (i, &row) in block.members.iter().enumerate() {
            for (j, &column) in block.members.iter().enumerate() {
                put(row, column, &block.matrices[i * count + j]);
            }
        }
    }
}

impl<const D: usize> Response for BodyResponse<'_, D> {
    fn groups(&self) -> usize {
        self.listed.len()
    }

    fn respond(&mut self, impulse: &[f64], velocity: &mut [f64]) {
        self.step.respond(impulse, velocity);
    }

    fn derivative(&mut self, matrix: &mut Vec<f64>) -> bool {
        let held = self.step.active_rows();
        if !matrix.is_empty() && self.held.as_ref() == Some(&held) {
            return false;
        }
        derivative_of(self.step, &self.inverse, true, matrix);
        self.held = Some(held);
        true
    }

    fn inverse_mass(&self, group: usize) -> [[f64; FREEDOMS]; FREEDOMS] {
        self.inverse[group]
    }

    fn is_affine(&self) -> bool {
        self.step.is_affine()
    }

    fn freeze_friction(&mut self, frozen: bool) {
        self.step.freeze_friction(frozen);
    }

    fn potential(&self) -> Option<f64> {
        (!self.friction || self.step.is_frozen()).then(|| self.step.potential())
    }
}
