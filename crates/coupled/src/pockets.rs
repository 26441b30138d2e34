//! Liquid that bodies close off from the air.
//!
//! The pressure of a pocket without air is known up to a constant, unless it moves a body: then the body determines it.

use meniscus_liquid::multigrid::{CouplingEntry, Stiffness, freedoms};
use meniscus_rigid::{Matrix6, StagedStep};

use crate::contacts::stiffness_of;
use crate::projection::Base;

/// Share of the response of free bodies below which they do not give way to the pressure of a pocket.
const HARDLY: f64 = 1e-6;

/// Which pockets of liquid move bodies.
pub(crate) struct Pockets<'a> {
    entries: &'a [CouplingEntry],
    /// Stiffness of the bodies with contacts open: a contact gives way to a pressure that is large enough.
    stiffness: Stiffness,
    /// Inverse inertias.
    inverse: Vec<Matrix6>,
    solve: fn(&Stiffness, &mut [f64]),
    freedoms: usize,
}

impl<'a> Pockets<'a> {
    pub fn new<const D: usize>(step: &StagedStep<D>, base: &'a Base<D>) -> Self {
        let listed = base.listed.iter();
        Self {
            entries: &base.entries,
            stiffness: stiffness_of(step, &base.listed, false),
            inverse: listed.map(|&body| step.inverse_inertia(body)).collect(),
            solve: Stiffness::solve::<D>,
            freedoms: freedoms::<D>(),
        }
    }

    /// Whether the same pressure in all these rows, which rise, moves bodies.
    pub fn give_way(&self, rows: &[u32]) -> bool {
        let f = self.freedoms;
        let size = self.inverse.len() * f;
        let mut impulse = vec![0.0; size];
        let mut parts = vec![0.0; size];
        for entry in self.entries {
            if rows.binary_search(&entry.row).is_ok() {
                for k in 0..f {
                    impulse[entry.group as usize * f + k] += entry.value[k];
                    parts[entry.group as usize * f + k] += entry.value[k].abs();
                }
            }
        }
        // Of a body inside the pocket only rounding is left.
        for (impulse, part) in impulse.iter_mut().zip(&parts) {
            if impulse.abs() <= 1e-9 * part {
                *impulse = 0.0;
            }
        }
        let mut velocity = impulse.clone();
        velocity.resize(self.stiffness.rows * f, 0.0);
        (self.solve)(&self.stiffness, &mut velocity);
        let moved: f64 = impulse.iter().zip(&velocity).map(|(j, v)| j * v).sum();
        let alone = |i: usize| impulse[i] * impulse[i] * self.inverse[i / f][i % f][i % f];
        let most: f64 = (0..size).map(alone).sum();
        moved > HARDLY * most && most > 0.0
    }
}
