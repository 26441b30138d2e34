//! Krylov methods and preconditioners, alone and inside Newton's method.

use crate::prelude::*;
use crate::walls::{Outcome, PATIENCE, Sample, Watch, one_thread};
use meniscus_lcp::methods::newton::{self, Inner};
use meniscus_lcp::precondition::{
    Ainv, AinvPattern, AinvSettings, Ic0, Identity, Jacobi, Mic0, Preconditioner, Ssor,
};
use meniscus_lcp::{Blocks, BoxMlcp, Csr, InputError};

/// A Krylov method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Krylov {
    Cg,
    Cr,
    Gmres,
    Bicgstab,
}

/// A preconditioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pre {
    Identity,
    Diagonal,
    /// Approximate inverse of Bridson and Tang, of the matrix as it is.
    Bridson,
    /// The same of the matrix with a diagonal of 1.
    ScaledBridson,
    /// The same with the pattern of the matrix.
    StaticScaledBridson,
    /// Symmetric sweeps.
    Ssor,
    /// Incomplete Cholesky.
    Ic0,
    /// Modified incomplete Cholesky, what this program takes.
    Mic0,
}

impl Krylov {
    pub const ALL: [Self; 4] = [Self::Cg, Self::Cr, Self::Gmres, Self::Bicgstab];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cg => "CG",
            Self::Cr => "CR",
            Self::Gmres => "GMRES",
            Self::Bicgstab => "BiCGStab",
        }
    }

    fn inner(self) -> Inner {
        match self {
            Self::Cg => Inner::Pcg,
            Self::Cr => Inner::Cr,
            Self::Gmres => Inner::Gmres { restart: RESTART },
            Self::Bicgstab => Inner::Bicgstab,
        }
    }
}

/// Directions that GMRES keeps.
const RESTART: usize = 50;

impl Pre {
    pub const ALL: [Self; 8] = [
        Self::Identity,
        Self::Diagonal,
        Self::Bridson,
        Self::ScaledBridson,
        Self::StaticScaledBridson,
        Self::Ssor,
        Self::Ic0,
        Self::Mic0,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Diagonal => "diagonal",
            Self::Bridson => "Bridson",
            Self::ScaledBridson => "scaled Bridson",
            Self::StaticScaledBridson => "static scaled Bridson",
            Self::Ssor => "SSOR",
            Self::Ic0 => "IC(0)",
            Self::Mic0 => "MIC(0)",
        }
    }

    fn of(self, matrix: &Csr) -> Result<Box<dyn Preconditioner>, InputError> {
        let bridson = |scaled, tolerance, pattern| {
            let mut ainv = Ainv::new(
                AinvSettings::default()
                    .scaled(scaled)
                    .tolerance(tolerance)
                    .pattern(pattern),
            )?;
            ainv.rebuild(matrix)?;
            Ok::<_, InputError>(Box::new(ainv) as Box<dyn Preconditioner>)
        };
        Ok(match self {
            Self::Identity => Box::new(Identity),
            Self::Diagonal => Box::new(Jacobi::new(matrix)?),
            Self::Bridson => bridson(false, 0.1, AinvPattern::Any)?,
            Self::ScaledBridson => bridson(true, 0.1, AinvPattern::Any)?,
            Self::StaticScaledBridson => bridson(true, 0.0, AinvPattern::Power(1))?,
            Self::Ssor => {
                let mut ssor = Ssor::default();
                ssor.rebuild(matrix)?;
                Box::new(ssor)
            }
            Self::Ic0 => {
                let mut ic0 = Ic0::default();
                ic0.rebuild(matrix)?;
                Box::new(ic0)
            }
            Self::Mic0 => {
                let mut mic0 = Mic0::default();
                mic0.rebuild(matrix, &Blocks::single(matrix.rows()))?;
                Box::new(mic0)
            }
        })
    }
}

/// Krylov method and preconditioner, alone or inside Newton's method, with its stopping rule.
#[derive(Clone, Copy, Debug)]
pub struct KrylovCase {
    pub krylov: Krylov,
    pub pre: Pre,
    /// `xi`, the part of the residual to which a linear system is solved. [ANE17 (22)]
    pub forcing: f64,
    /// Bound on the largest natural residual.
    pub tolerance: f64,
    /// Whether the problem keeps its bounds. Without, Newton's method is one run of the Krylov method.
    pub bounded: bool,
}

impl KrylovCase {
    /// Newton's method as the paper sets it.
    pub const NEWTON: Self = KrylovCase {
        krylov: Krylov::Cg,
        pre: Pre::Identity,
        forcing: 0.01,
        tolerance: crate::walls::TOLERANCE,
        bounded: true,
    };

    /// Conjugate gradients with the preconditioner that this program takes, for slip walls.
    pub const PCG: Self = KrylovCase {
        krylov: Krylov::Cg,
        pre: Pre::Mic0,
        forcing: 1e-13,
        tolerance: crate::walls::TOLERANCE,
        bounded: false,
    };

    /// Solves a problem from zero, on one thread.
    pub fn run<const D: usize>(&self, sample: &Sample<D>) -> Result<Outcome, Error> {
        let trouble = |fault: String| {
            let names = format!("{}, {}", self.krylov.name(), self.pre.name());
            Error::new(Kind::Numerical, format!("{names}: {fault}"))
        };
        let pool = one_thread().map_err(trouble)?;
        pool.install(|| self.solve(sample))
            .map_err(|fault| trouble(fault.to_string()))
    }

    fn solve<const D: usize>(&self, sample: &Sample<D>) -> Result<Outcome, InputError> {
        let given = &sample.problem;
        let free = (
            vec![f64::NEG_INFINITY; sample.rows()],
            vec![f64::INFINITY; sample.rows()],
        );
        let problem = if self.bounded {
            sample.bounded()?
        } else {
            BoxMlcp::new(&given.matrix, &given.rhs, &free.0, &free.1)?
        };
        let mut watch = Watch::new(PATIENCE);
        let mut preconditioner = self.pre.of(&given.matrix)?;
        let settings = newton::Settings::default()
            .tolerance(self.tolerance)
            .forcing(self.forcing)
            .inner(self.krylov.inner());
        let mut x = vec![0.0; sample.rows()];
        let memory = &mut newton::Workspace::default();
        let report = newton::solve(
            &problem,
            &settings,
            &mut *preconditioner,
            &mut x,
            memory,
            &mut watch,
        )?;
        Ok(watch.outcome(&report))
    }
}
