//! Step reports and failures.

use std::fmt;

use meniscus_rigid::Wrench;

/// Forces on a body over a step, and its place in the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Load<const D: usize> {
    /// Force of the liquid, and its torque about the centre of mass.
    pub liquid: Wrench<D>,
    /// Force of contacts.
    pub contact: Wrench<D>,
    /// Force of joints.
    pub joint: Wrench<D>,
    /// Volume of the body below the surface of the liquid around it (area in 2D).
    pub submerged_volume: f64,
    /// Area that the body cuts out of the surface of the liquid (length in 2D).
    pub waterline_area: f64,
}

impl<const D: usize> Load<D> {
    /// A body that nothing touches.
    pub const NONE: Self = Self {
        liquid: Wrench::ZERO,
        contact: Wrench::ZERO,
        joint: Wrench::ZERO,
        submerged_volume: 0.0,
        waterline_area: 0.0,
    };
}

/// Report of a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepReport<const D: usize> {
    /// Report of the liquid. Its solve is that of pressure and contact together.
    pub liquid: meniscus_liquid::StepReport,
    /// Report of the bodies.
    pub bodies: meniscus_rigid::StepReport<D>,
    /// Forces on every body.
    pub loads: Vec<Load<D>>,
    /// Multigrid cycles of all solves.
    pub cycles: usize,
    /// Solves of pressure and contact: more than one where contacts were missed, or liquid separated from a body.
    pub solves: usize,
    /// Contact problems that were solved inside of them.
    pub small_solves: usize,
    /// Contacts.
    pub contacts: usize,
    /// Rounds of pressure and contact, or of friction where it did not follow the normal impulses by itself.
    pub rounds: usize,
    /// Difference of the velocities of bodies between liquid and contacts, where rounds of friction did not settle; else zero.
    pub unsettled: f64,
    /// Free bodies that touch the liquid.
    pub wet_bodies: usize,
    /// Bodies whose inertia is corrected by less than it should be: they are small for the grid.
    pub limited_bodies: usize,
    /// Bodies whose walls the grid thickens for the liquid. Their mass and the volume that they displace are their own.
    pub thickened_bodies: usize,
}

/// Failure of a step. Liquid and bodies are as they were before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StepError {
    /// Of the liquid, or of pressure and contact together.
    Liquid(meniscus_liquid::StepError),
    /// Of the bodies.
    Bodies(meniscus_rigid::StepError),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Liquid(error) => error.fmt(f),
            Self::Bodies(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StepError {}
