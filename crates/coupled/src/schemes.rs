//! Schemes of the paper, for comparison: pressure and contact one after the other, in turn, or at once. [TB20 sec. 6.1]

use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::{Ssor, SsorSettings};
use meniscus_lcp::{BoxMlcp, InputError, Report, Status};
use meniscus_liquid::multigrid::{FREEDOMS, Response, Stiffness, freedoms};
use meniscus_rigid::Matrix6;

use crate::problem::{CoupledProblem, JointProblem};
use crate::settings::Settings;

/// Order in which pressure and contact are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// The pressure as if nothing touched the bodies, then contacts.
    PressureContact,
    /// Contacts as if there were no liquid, then the pressure.
    ContactPressure,
    /// Pressure and contacts in turn, each with the impulses of the other, ending with contacts.
    Iterative,
    /// Pressure and contacts at once.
    #[default]
    Unified,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 4] = [
        Self::PressureContact,
        Self::ContactPressure,
        Self::Iterative,
        Self::Unified,
    ];

    /// Name in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::PressureContact => "p-c",
            Self::ContactPressure => "c-p",
            Self::Iterative => "iterative",
            Self::Unified => "unified",
        }
    }
}

/// Method for the unified problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Multigrid that carries the bodies, with contacts condensed.
    #[default]
    Multigrid,
    /// MPRGP on pressures and impulses together, preconditioned by SOR on the sparse part; friction by staggering. The method
    /// of the paper.
    SorMprgp,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Multigrid, Self::SorMprgp];

    /// Name in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Multigrid => "multigrid",
            Self::SorMprgp => "sor-mprgp",
        }
    }
}

/// Bodies with given impulses of contacts: velocities are an affine function of the pressures.
pub struct FrozenContacts {
    /// Inertias.
    pub inertia: Vec<Matrix6>,
    /// Inverse inertias.
    pub inverse: Vec<Matrix6>,
    /// Velocities without the pressure.
    pub start: Vec<f64>,
    /// Freedoms of a body.
    pub freedoms: usize,
    velocity: Vec<f64>,
    impulse: Vec<f64>,
}

impl FrozenContacts {
    /// Bodies with these inertias, their inverses, and velocities.
    pub fn new<const D: usize>(
        inertia: Vec<Matrix6>,
        inverse: Vec<Matrix6>,
        start: Vec<f64>,
    ) -> Self {
        Self {
            inertia,
            inverse,
            velocity: start.clone(),
            impulse: vec![0.0; start.len()],
            start,
            freedoms: freedoms::<D>(),
        }
    }

    /// Velocities that impulses lead to.
    pub fn moved(&self, impulse: &[f64], velocity: &mut [f64]) {
        let f = self.freedoms;
        for (k, inverse) in self.inverse.iter().enumerate() {
            for i in 0..f {
                let change = (0..f).map(|j| inverse[i][j] * impulse[k * f + j]);
                velocity[k * f + i] = self.start[k * f + i] + change.sum::<f64>();
            }
        }
    }
}

impl Response for FrozenContacts {
    fn groups(&self) -> usize {
        self.inverse.len()
    }

    fn respond(&mut self, impulse: &[f64], velocity: &mut [f64]) {
        self.moved(impulse, velocity);
        self.velocity.copy_from_slice(velocity);
        self.impulse.copy_from_slice(impulse);
    }

    fn stiffness(&mut self, stiffness: &mut Stiffness) -> bool {
        if stiffness.rows == self.inertia.len() {
            return false;
        }
        let blocks = self.inertia.iter().enumerate();
        stiffness.rows = self.inertia.len();
        stiffness.blocks = blocks
            .map(|(k, &block)| (k as u32, k as u32, block))
            .collect();
        true
    }

    fn inverse_mass(&self, group: usize) -> [[f64; FREEDOMS]; FREEDOMS] {
        self.inverse[group]
    }

    fn is_affine(&self) -> bool {
        true
    }

    fn potential(&self) -> Option<f64> {
        // `v0'j + 1/2 j' inv(M) j`, whose gradient is the velocity.
        let parts = self
            .impulse
            .iter()
            .zip(self.start.iter().zip(&self.velocity));
        Some(parts.map(|(j, (v0, v))| 0.5 * j * (v0 + v)).sum())
    }
}

/// Solves the joint problem by SOR-MPRGP from `x`, friction by staggering in rounds that end with pressures and normal impulses.
pub fn sor_mprgp<const D: usize>(
    problem: &CoupledProblem<D>,
    settings: &Settings,
    tolerance: f64,
    x: &mut [f64],
) -> Result<Report, InputError> {
    let joint = problem.joint(settings.diagonal_scale);
    let mut ssor = Ssor::new(SsorSettings::default().relaxation(settings.relaxation))?;
    ssor.rebuild(&joint.operator.sparse_part()?)?;
    let mut workspace = mprgp::Workspace::default();
    let steps = mprgp::Settings::default()
        .tolerance(tolerance)
        .max_iterations(settings.max_iterations);
    let mut solve = |lower: &[f64], upper: &[f64], x: &mut [f64]| {
        let part = BoxMlcp::new(&joint.operator, &joint.rhs, lower, upper)?;
        mprgp::solve(&part, &steps, &mut ssor, x, &mut workspace, &mut ())
    };
    let mut iterations = 0;
    let mut report = None;
    let rounds = if joint.friction.is_empty() {
        1
    } else {
        settings.rounds
    };
    for _ in 0..rounds {
        for part in [Part::Tangents, Part::Normals] {
            let (lower, upper) = part.bounds(&joint, x);
            if part == Part::Tangents && joint.friction.is_empty() {
                continue;
            }
            let solved = solve(&lower, &upper, x)?;
            iterations += solved.iterations;
            report = Some(solved);
        }
    }
    let last = report.map_or(Report::new(Status::Converged, 0, 0, 0.0, 0.0), |last| last);
    Ok(Report::new(
        last.status,
        iterations,
        iterations,
        last.residual,
        last.merit,
    ))
}

/// Part of the unknowns that is solved for, the others as they are.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Tangents,
    Normals,
}

impl Part {
    fn bounds<const D: usize>(
        self,
        joint: &JointProblem<'_, D>,
        x: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let (mut lower, mut upper) = match self {
            Self::Normals => (joint.lower.clone(), joint.upper.clone()),
            Self::Tangents => (x.to_vec(), x.to_vec()),
        };
        for bound in &joint.friction {
            (lower[bound.row], upper[bound.row]) = match self {
                Self::Normals => (x[bound.row], x[bound.row]),
                Self::Tangents => (-bound.reach(x), bound.reach(x)),
            };
        }
        (lower, upper)
    }
}
