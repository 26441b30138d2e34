//! Choice of methods by the properties of a problem.

use super::scaling::Scaled;
use super::{Candidate, Method, Scaling, Solution, StartFrom, first_converged};
use crate::analysis::{Analysis, Definiteness, definiteness};
use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::Report;

/// Rows up to which pivoting is as quick as anything.
const FEW: usize = 300;
/// Rows up to which a dense tableau is worth its time where the problem is not known to be monotone.
const PIVOTABLE: usize = 3_000;

/// The methods that `auto` tries, in order, each with the reason. Depends on the problem alone.
pub fn choices(analysis: &Analysis) -> Vec<(Method, &'static str)> {
    use Method::*;
    let few = analysis.rows <= FEW;
    let possible = analysis.definiteness != Definiteness::Indefinite;
    let mut choices = Vec::new();
    if analysis.bounds.is_linear() && analysis.symmetric && possible {
        choices.push((Linear, "no row has a bound and the matrix is symmetric"));
    }
    if analysis.symmetric && possible {
        if analysis.no_positive_couplings {
            choices.push((Newton, "a symmetric matrix without positive couplings"));
            choices.push((Policy, "a symmetric matrix without positive couplings"));
        }
        if few {
            choices.push((Keller, "few rows and a symmetric matrix"));
        }
        choices.push((Mprgp, "a symmetric matrix"));
        choices.push((InteriorPoint, "a symmetric matrix"));
    }
    if few {
        choices.push((Lemke, "few rows: pivoting is sure and quick enough"));
    }
    if !analysis.symmetric && analysis.definiteness.is_semidefinite() {
        choices.push((InteriorPoint, "a monotone problem that is not symmetric"));
    }
    if !few && analysis.rows <= PIVOTABLE {
        choices.push((Lemke, "it takes any matrix, though it takes time"));
    }
    if !analysis.symmetric && analysis.no_positive_couplings && analysis.dominant {
        choices.push((
            Psor,
            "a diagonal that dominates rows without positive couplings",
        ));
    }
    choices.push((Fischer, "it takes any matrix"));
    if analysis.rows <= super::method::ENUMERABLE {
        choices.push((Enumerate, "so few rows that every cone can be tried"));
    }
    choices
}

/// Tries the methods in order.
pub(super) fn solve(
    analysis: &Analysis,
    x: &mut [f64],
    attempt: &mut dyn FnMut(Method, &mut [f64]) -> Result<Report, InputError>,
) -> Result<Solution, InputError> {
    let candidates: Vec<Candidate<Method>> = choices(analysis)
        .into_iter()
        .map(|(solver, why)| Candidate {
            solver,
            name: solver.name(),
            why,
        })
        .collect();
    first_converged(&candidates, StartFrom::Given, x, attempt)
}

/// The scales for a problem: the same ones for rows and columns where these show that it is monotone.
pub(super) fn scaling(problem: &BoxMlcp<'_, Csr>) -> Scaling {
    let alike = Scaled::new(problem, Scaling::Symmetric).filter(|scaled| !scaled.is_symmetric());
    let monotone = alike.is_some_and(|scaled| definiteness(scaled.matrix()).is_semidefinite());
    match monotone {
        true => Scaling::Symmetric,
        false => Scaling::RowsAndColumns,
    }
}
