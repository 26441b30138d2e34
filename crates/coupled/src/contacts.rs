//! Contacts condensed out of the pressure problem: bodies respond to the impulses of the pressure by an exact small problem.
//!
//! DEVIATION [TB20 (9)]: contact impulses are no unknowns of the large problem. For given pressures the velocities of the
//! bodies follow from the contact problem of `meniscus-rigid`, whose matrix has masses only; its derivative enters
//! the multigrid cycle.

use meniscus_liquid::multigrid::{FREEDOMS, Response, Stiffness};
use meniscus_rigid::{Matrix6, StagedStep};

/// Free bodies that touch the liquid, as groups of degrees of freedom.
pub struct BodyResponse<'a, const D: usize> {
    step: &'a mut StagedStep<D>,
    listed: &'a [usize],
    inverse: Vec<Matrix6>,
    has_potential: bool,
}

impl<'a, const D: usize> BodyResponse<'a, D> {
    /// The bodies that `step` was assembled for.
    pub fn new(step: &'a mut StagedStep<D>, listed: &'a [usize]) -> Self {
        Self {
            inverse: listed
                .iter()
                .map(|&body| step.inverse_inertia(body))
                .collect(),
            has_potential: !step.friction_follows(),
            step,
            listed,
        }
    }
}

/// Inverse of the derivative of velocities by impulses, the listed bodies first.
pub fn stiffness_of<const D: usize>(
    step: &StagedStep<D>,
    listed: &[usize],
    with_contacts: bool,
) -> Stiffness {
    let mut others = step.members();
    others.retain(|body| listed.binary_search(body).is_err());
    let row = |body: usize| match listed.binary_search(&body) {
        Ok(at) => at as u32,
        Err(_) => (listed.len() + others.partition_point(|&other| other < body)) as u32,
    };
    let blocks = step.stiffness(with_contacts).into_iter();
    Stiffness {
        rows: listed.len() + others.len(),
        blocks: blocks
            .map(|(a, b, block)| (row(a), row(b), block))
            .collect(),
    }
}

impl<const D: usize> Response for BodyResponse<'_, D> {
    fn groups(&self) -> usize {
        self.listed.len()
    }

    fn respond(&mut self, impulse: &[f64], velocity: &mut [f64]) {
        self.step.respond(impulse, velocity);
    }

    fn stiffness(&mut self, stiffness: &mut Stiffness) -> bool {
        let now = stiffness_of(self.step, self.listed, true);
        let is_new = now != *stiffness;
        *stiffness = now;
        is_new
    }

    fn inverse_mass(&self, group: usize) -> [[f64; FREEDOMS]; FREEDOMS] {
        self.inverse[group]
    }

    fn is_affine(&self) -> bool {
        self.step.is_affine()
    }

    fn potential(&self) -> Option<f64> {
        self.has_potential.then(|| self.step.potential())
    }
}
