//! Choice of methods by the properties of a problem.

use super::full::is_full;
use super::scaling::Scaled;
use super::{Candidate, Method, Scaling, Solution, StartFrom, first_converged};
use crate::analysis::{Analysis, Definiteness, analyse_knowing, analyse_rows, definiteness};
use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::Report;

/// Rows up to which pivoting is as quick as anything, whatever the matrix.
const TINY: usize = 60;
/// The same for symmetric matrices.
const FEW: usize = 300;
/// The same for symmetric matrices most of whose entries are not zero.
const FULL: usize = 1_000;
/// Rows up to which a dense tableau is worth its time where the problem is not known to be monotone.
const PIVOTABLE: usize = 3_000;

/// The methods that `auto` tries, in order, each with the reason. Depends on the problem alone.
pub fn choices(analysis: &Analysis) -> Vec<(Method, &'static str)> {
    use Method::*;
    let Analysis {
        rows,
        symmetric,
        no_positive_couplings,
        ..
    } = *analysis;
    let possible = analysis.definiteness != Definiteness::Indefinite;
    let monotone = analysis.definiteness.is_semidefinite();
    let full = is_full(rows, analysis.entries);
    let mut choices = Vec::new();
    if symmetric && possible && full && rows <= super::method::PIVOTABLE {
        choices.push((BlockPivoting, super::full::WHY));
    }
    if analysis.bounds.is_linear() && symmetric && possible {
        choices.push((Linear, "no row has a bound and the matrix is symmetric"));
    }
    if symmetric && possible {
        if no_positive_couplings {
            choices.push((Newton, "a symmetric matrix without positive couplings"));
            choices.push((Policy, "a symmetric matrix without positive couplings"));
        } else if rows <= FEW || (full && rows <= FULL) {
            choices.push((
                Lemke,
                "few rows, or a full matrix: pivoting is sure and quick enough",
            ));
        }
        choices.push((Mprgp, "a symmetric matrix"));
        choices.push((InteriorPoint, "a symmetric matrix"));
    } else if monotone && rows > TINY {
        choices.push((InteriorPoint, "a monotone problem that is not symmetric"));
    }
    let pivoted = choices.iter().any(|(method, _)| *method == Lemke);
    if rows <= PIVOTABLE && !pivoted {
        choices.push((Lemke, "it takes any matrix, though many rows take time"));
    }
    if !symmetric && no_positive_couplings && analysis.dominant {
        choices.push((
            Psor,
            "a diagonal that dominates rows without positive couplings",
        ));
    }
    choices.push((Fischer, "it takes any matrix"));
    if rows <= super::method::ENUMERABLE {
        choices.push((Enumerate, "so few rows that every cone can be tried"));
    }
    choices
}

/// A solve by one of the methods.
type Attempt<'a> = dyn FnMut(Method, &mut [f64]) -> Result<Report, InputError> + 'a;

/// Properties that the choice depends on, with the definiteness if it is known.
///
/// A full symmetric matrix is not factorised: few rows are for pivoting, whatever a factorisation says, and it takes as long as
/// the solve.
pub(super) fn analysed(problem: &BoxMlcp<'_, Csr>, known: Option<Definiteness>) -> Analysis {
    let (rows, entries) = (problem.len(), problem.matrix().nonzeros());
    if known.is_none() && rows <= FULL && is_full(rows, entries) {
        let analysis = analyse_rows(problem);
        if analysis.symmetric && !analysis.no_positive_couplings && !analysis.bounds.is_linear() {
            return analysis;
        }
    }
    analyse_knowing(problem, known)
}

/// Tries the methods in order, apart from a first one that was tried before.
pub(super) fn solve(
    analysis: &Analysis,
    first: Option<super::Attempt>,
    x: &mut [f64],
    attempt: &mut Attempt<'_>,
) -> Result<Solution, InputError> {
    let candidates: Vec<Candidate<Method>> = choices(analysis)
        .into_iter()
        .filter(|(solver, _)| first.is_none_or(|first| first.solver != solver.name()))
        .map(|(solver, why)| Candidate {
            solver,
            name: solver.name(),
            why,
        })
        .collect();
    let mut solution = first_converged(&candidates, StartFrom::Given, x, attempt)?;
    solution.attempts.splice(0..0, first);
    Ok(solution)
}

/// The problem with its rows and columns scaled, the same scales for both where these show that it is monotone, and its
/// definiteness if that was determined on the way.
pub(super) fn scaled(problem: &BoxMlcp<'_, Csr>) -> (Option<Scaled>, Option<Definiteness>) {
    let Some(alike) = Scaled::new(problem, Scaling::Symmetric) else {
        return (None, None);
    };
    // Then other scales are the same.
    if alike.is_symmetric() {
        return (Some(alike), None);
    }
    let definiteness = definiteness(alike.matrix());
    if definiteness.is_semidefinite() {
        return (Some(alike), Some(definiteness));
    }
    (Scaled::new(problem, Scaling::RowsAndColumns), None)
}
