//! Each method with settings and a preconditioner that suit most problems.

use super::{Method, Options};
use crate::analysis::SYMMETRIC;
use crate::blocks::Blocks;
use crate::csr::Csr;
use crate::error::InputError;
use crate::methods::{
    block_pivoting, dantzig, enumerate, fischer, interior_point, jacobi, keller, lemke, linear,
    masp, mprgp, newton, pd_amg, penalty, pgs, policy, psor, spsor,
};
use crate::precondition::{
    Amg, AmgSettings, Ic0, Ic0Settings, Identity, Mic0, Mic0Settings, Preconditioner,
};
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report};

/// Directions that GMRES keeps.
const RESTART: usize = 200;

/// Solves a problem by one method, [`Method::Auto`] excepted.
#[allow(clippy::needless_update)] // some methods have no further settings
pub(super) fn run(
    problem: &BoxMlcp<'_, Csr>,
    method: Method,
    options: &Options,
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    /// The settings of a method with what is asked for.
    macro_rules! settings {
        ($module:ident) => {{
            let own = $module::Settings::default();
            $module::Settings {
                tolerance: options.tolerance,
                max_iterations: options.max_iterations.unwrap_or(own.max_iterations),
                ..own
            }
        }};
    }
    macro_rules! solved {
        ($module:ident, $settings:expr) => {
            $module::solve(
                problem,
                &$settings,
                x,
                &mut $module::Workspace::default(),
                observer,
            )
        };
        ($module:ident, $settings:expr, $preconditioner:expr) => {
            $module::solve(
                problem,
                &$settings,
                $preconditioner,
                x,
                &mut $module::Workspace::default(),
                observer,
            )
        };
    }
    let matrix = problem.matrix();
    match method {
        Method::Lemke => solved!(lemke, settings!(lemke)),
        Method::Dantzig => solved!(dantzig, settings!(dantzig)),
        Method::BlockPivoting => solved!(block_pivoting, settings!(block_pivoting)),
        Method::Keller => solved!(keller, settings!(keller)),
        Method::Enumerate => {
            let settings = enumerate::Settings {
                tolerance: options.tolerance,
                ..Default::default()
            };
            solved!(enumerate, settings)
        }
        Method::Jacobi => solved!(jacobi, settings!(jacobi)),
        Method::Pgs => solved!(pgs, settings!(pgs)),
        Method::Psor => solved!(psor, settings!(psor)),
        Method::Spsor => solved!(spsor, settings!(spsor)),
        Method::Newton if matrix.is_symmetric(SYMMETRIC) => {
            solved!(
                newton,
                settings!(newton),
                &mut *preconditioner(matrix, options)
            )
        }
        Method::Newton => {
            let settings = newton::Settings {
                inner: newton::Inner::Gmres { restart: RESTART },
                globalisation: newton::Globalisation::Fischer,
                ..settings!(newton)
            };
            solved!(newton, settings, &mut Identity)
        }
        Method::Fischer => solved!(fischer, settings!(fischer), &mut Identity),
        Method::Policy => solved!(
            policy,
            settings!(policy),
            &mut *preconditioner(matrix, options)
        ),
        Method::Penalty => solved!(
            penalty,
            settings!(penalty),
            &mut *preconditioner(matrix, options)
        ),
        Method::Mprgp => solved!(
            mprgp,
            settings!(mprgp),
            &mut *preconditioner(matrix, options)
        ),
        Method::Masp => solved!(masp, settings!(masp)),
        Method::InteriorPoint => solved!(interior_point, settings!(interior_point)),
        Method::PdAmg => solved!(pd_amg, settings!(pd_amg)),
        Method::Linear => solved!(
            linear,
            settings!(linear),
            &mut *preconditioner(matrix, options)
        ),
        Method::Auto => unreachable!("what auto picks is never auto"),
    }
}

/// MIC(0) for what may be an M-matrix, IC(0) for other symmetric matrices, nothing for those it can't be made of. Aggregation
/// multigrid if it is asked for.
fn preconditioner<'a>(matrix: &'a Csr, options: &Options) -> Box<dyn Preconditioner + 'a> {
    let n = matrix.rows();
    if options.multigrid
        && let Ok(amg) = Amg::new(matrix, AmgSettings::default())
    {
        return Box::new(amg);
    }
    let positive_couplings = (0..n).any(|row| {
        let (columns, values) = matrix.row(row);
        let mut entries = columns.iter().zip(values);
        entries.any(|(&column, &value)| column as usize != row && value > 0.0)
    });
    let made: Result<Box<dyn Preconditioner>, InputError> = if positive_couplings {
        Ic0::new(Ic0Settings::default()).and_then(|mut ic0| {
            ic0.rebuild(matrix)?;
            Ok(Box::new(ic0) as Box<dyn Preconditioner>)
        })
    } else {
        Mic0::new(Mic0Settings::default()).and_then(|mut mic0| {
            mic0.rebuild(matrix, &Blocks::single(n))?;
            Ok(Box::new(mic0) as Box<dyn Preconditioner>)
        })
    };
    // A negative diagonal: the method will say what it makes of that.
    made.unwrap_or_else(|_| Box::new(Identity))
}
