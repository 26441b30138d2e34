//! Methods by name, with the problems that they are for.

use std::fmt;
use std::str::FromStr;

use super::Scaling;
use crate::analysis::{Analysis, Definiteness};

/// Family of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Chooses another method.
    Choice,
    /// Exchanges rows one at a time; exact but for rounding.
    Pivoting,
    /// Projected relaxation sweeps over the rows.
    Splitting,
    /// Linearises a function whose root is the solution.
    Newton,
    /// Solves linear systems on the rows that it takes for active.
    ActiveSet,
    /// Follows a path through the inside of the box.
    InteriorPoint,
    /// Solves linear equations: rows without bounds only.
    Linear,
}

impl Family {
    /// Name in one or two words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Choice => "choice",
            Self::Pivoting => "pivoting",
            Self::Splitting => "splitting",
            Self::Newton => "Newton",
            Self::ActiveSet => "active set",
            Self::InteriorPoint => "interior point",
            Self::Linear => "linear",
        }
    }
}

macro_rules! methods {
    ($($variant:ident $name:literal $family:ident $what:literal $when:literal;)+) => {
        /// A method, by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $(#[doc = $what] $variant,)+
        }

        impl Method {
            /// All methods, in the order of listings.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];
            /// Names of all methods.
            pub const NAMES: &[&str] = &[$($name,)+];

            /// Name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Family.
            pub fn family(self) -> Family {
                match self { $(Self::$variant => Family::$family,)+ }
            }

            /// Description in one line.
            pub fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)+ }
            }

            /// Use in one line.
            pub fn when(self) -> &'static str {
                match self { $(Self::$variant => $when,)+ }
            }
        }
    };
}

methods! {
    Auto "auto" Choice "analyses the problem and chooses a method"
        "by default; it reports its choice and the reason";
    Lemke "lemke" Pivoting "Lemke's complementary pivoting, lexicographic"
        "up to a thousand rows or two, any matrix: the surest for matrices that are not symmetric";
    Dantzig "dantzig" Pivoting "incremental pivoting after Dantzig and Baraff, factorisation updated"
        "up to a thousand rows or two, positive definite matrices, few rows inside their bounds";
    Keller "keller" Pivoting "principal pivoting after Keller"
        "up to a thousand rows or two, positive semidefinite matrices";
    BlockPivoting "block-pivoting" Pivoting "block principal pivoting, Cholesky factor of the rows between their bounds"
        "up to some thousand rows, dense symmetric positive definite matrices: the quickest there";
    Enumerate "enumerate" Pivoting "tries every complementary cone"
        "a handful of rows, any matrix: finds a solution if there is one, an oracle for the others";
    Jacobi "jacobi" Splitting "damped projected Jacobi"
        "the simplest sweep; needs a dominant diagonal";
    Pgs "pgs" Splitting "projected Gauss-Seidel"
        "a rough answer at once, any size, positive diagonal";
    Psor "psor" Splitting "projected successive over-relaxation"
        "as pgs, faster where many sweeps are needed, as on large grids";
    Spsor "spsor" Splitting "symmetric projected successive over-relaxation"
        "as psor, without a preferred direction of the rows";
    Newton "newton" Newton "minimum map Newton with a projected search"
        "large sparse symmetric matrices, best for M-matrices; others by GMRES, with fall-backs";
    Fischer "fischer" Newton "Fischer-Newton"
        "any matrix, symmetric or not, zeros on the diagonal included";
    Policy "policy" ActiveSet "policy iteration"
        "large sparse symmetric M-matrices, singular ones too";
    Penalty "penalty" ActiveSet "penalty iteration"
        "as policy, to a moderate accuracy";
    Mprgp "mprgp" ActiveSet "gradient projection with proportioning, preconditioned"
        "large symmetric positive semidefinite matrices with any couplings";
    Masp "masp" ActiveSet "gradient projection with proportioning, preconditioned by aggregation multigrid"
        "large sparse symmetric matrices like those of diffusion, without a grid";
    InteriorPoint "interior-point" InteriorPoint "primal-dual interior point, predictor and corrector"
        "monotone problems, symmetric or not, with many bounded rows; sparse factorisations must fit";
    PdAmg "pd-amg" InteriorPoint "primal-dual interior point, systems by aggregation multigrid"
        "the same, where many rows come to lie at bounds";
    Linear "linear" Linear "preconditioned conjugate gradients"
        "rows without bounds and a symmetric positive semidefinite matrix";
}

/// Rows up to which all cones are tried.
pub(super) const ENUMERABLE: usize = 16;
/// Rows up to which a dense tableau is a sensible thing to have.
pub(super) const PIVOTABLE: usize = 5_000;

impl Method {
    /// Whether the method can be expected to solve such a problem; if not, why.
    ///
    /// A method that is asked for runs nevertheless where it can.
    pub fn fits(self, analysis: &Analysis) -> Result<(), &'static str> {
        let symmetric = || {
            analysis
                .symmetric
                .then_some(())
                .ok_or("the matrix is not symmetric")
        };
        let semidefinite = || match analysis.definiteness {
            Definiteness::Indefinite => Err("the matrix is indefinite"),
            _ => Ok(()),
        };
        let fewer = |rows: usize, why| (analysis.rows <= rows).then_some(()).ok_or(why);
        match self {
            Self::Auto | Self::Fischer | Self::Newton => Ok(()),
            Self::Enumerate => fewer(ENUMERABLE, "it has too many rows to try every cone"),
            Self::Lemke => fewer(PIVOTABLE, "it has too many rows for a dense tableau"),
            Self::Dantzig => {
                fewer(PIVOTABLE, "it has too many rows for a dense factorisation")?;
                symmetric()?;
                semidefinite()
            }
            Self::BlockPivoting => {
                fewer(PIVOTABLE, "it has too many rows for a dense factorisation")?;
                symmetric()?;
                match analysis.definiteness {
                    Definiteness::Semidefinite => Err("the matrix is singular"),
                    _ => semidefinite(),
                }
            }
            Self::Keller => {
                fewer(PIVOTABLE, "it has too many rows for a dense tableau")?;
                semidefinite()
            }
            Self::Jacobi | Self::Pgs | Self::Psor | Self::Spsor => {
                if analysis.diagonal.zero + analysis.diagonal.negative > 0 {
                    return Err("the diagonal is not positive everywhere");
                }
                if self == Self::Jacobi && !analysis.dominant {
                    return Err("the diagonal does not dominate the rows");
                }
                if analysis.symmetric || analysis.dominant {
                    semidefinite()
                } else {
                    Err("the matrix is neither symmetric nor dominated by its diagonal")
                }
            }
            Self::Policy | Self::Penalty | Self::Mprgp | Self::Masp => {
                symmetric()?;
                semidefinite()?;
                if !matches!(self, Self::Mprgp | Self::Masp) && !analysis.no_positive_couplings {
                    return Err("couplings of both signs can send it round in circles");
                }
                Ok(())
            }
            Self::InteriorPoint => semidefinite(),
            Self::PdAmg => {
                symmetric()?;
                semidefinite()
            }
            Self::Linear => {
                if !analysis.bounds.is_linear() {
                    return Err("some rows have bounds");
                }
                symmetric()?;
                semidefinite()
            }
        }
    }
}

impl Method {
    /// The scales of rows and columns that the method is given.
    pub(super) fn scaling(self) -> Scaling {
        match self {
            // What they need, a semidefinite matrix, other scales may lose.
            Self::Keller | Self::InteriorPoint | Self::PdAmg => Scaling::Symmetric,
            _ => Scaling::RowsAndColumns,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|method| method.name() == name);
        found.copied().ok_or_else(|| {
            format!(
                "there is no method {name}; there are {}",
                Self::NAMES.join(", ")
            )
        })
    }
}
