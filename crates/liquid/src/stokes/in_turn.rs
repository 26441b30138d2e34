//! Pressure and stresses at once, or one after the other.

use meniscus_lcp::InputError;

use super::level::Forces;
use super::solve::{Report, Settings, Solver, Status};
use super::system::{System, Viscosity};
use super::with_bodies::InStep;
use crate::particles::transfer::FaceField;

/// A solve for given viscosities.
pub(super) struct Round<'a, const D: usize> {
    pub system: &'a System<D>,
    pub viscosity: &'a Viscosity,
    /// Velocity of the liquid before the step, forces included.
    pub before: &'a FaceField<D>,
    /// Velocity of solids that are no bodies.
    pub scripted: Option<&'a FaceField<D>>,
    pub settings: &'a Settings,
}

impl<const D: usize> Round<'_, D> {
    /// Solves for pressure and stresses at once, from `x`.
    pub fn at_once(
        &self,
        bodies: &mut InStep<'_, D>,
        x: &mut Vec<f64>,
    ) -> Result<Report, InputError> {
        bodies.begin_round();
        self.one(self.system, self.before, bodies, x)
    }

    /// Solves for the pressure, for the stresses, and for the pressure again, each with the velocity that the last one left.
    // [TB20 sec. 6.2]
    pub fn in_turn(&self, bodies: &mut InStep<'_, D>, x: &mut [f64]) -> Result<Report, InputError> {
        let (system, first) = (self.system, self.system.velocities());
        let mut before = self.before.clone();
        let mut solid = bodies.with(system, self.scripted, true);
        let mut pressures = vec![0.0; system.len() - first];
        let mut iterations = 0;
        bodies.begin_round();
        bodies.forget_impulses();
        let mut last = None;
        for forces in [Forces::Pressure, Forces::Stresses, Forces::Pressure] {
            let geometry = system.geometry.clone();
            let part = System::of_forces(geometry, system.medium, self.viscosity, forces);
            let mut own = part.flux(&before, solid.as_ref());
            let mut report = self.one(&part, &before, bodies, &mut own)?;
            iterations += report.iterations;
            report.iterations = iterations;
            last = Some(report);
            if report.status != Status::Converged {
                break;
            }
            solid = bodies.with(&part, self.scripted, false);
            let velocity = part.liquid_velocity(&own, solid.as_ref());
            for ((axis, index), velocity) in part.faces().zip(velocity) {
                before[axis][index] = velocity;
            }
            let (flux, own) = own.split_at(first);
            x[..first].copy_from_slice(flux);
            pressures.iter_mut().zip(own).for_each(|(p, own)| *p += own);
            bodies.keep_impulses();
        }
        x[first..].copy_from_slice(&pressures);
        Ok(last.unwrap_or(Report::NONE))
    }

    fn one(
        &self,
        system: &System<D>,
        before: &FaceField<D>,
        bodies: &mut InStep<'_, D>,
        x: &mut Vec<f64>,
    ) -> Result<Report, InputError> {
        if !bodies.modes.is_empty() {
            return bodies.solve(system, before, self.scripted, self.settings, x);
        }
        let mut b = system.rhs_impl(before, self.scripted);
        system.make_solvable(&mut b);
        Ok(Solver::new_impl(system)?.solve_impl(&b, self.settings, x))
    }
}
