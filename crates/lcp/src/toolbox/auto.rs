//! Picks methods by what a problem looks like.

use super::{Attempt, Method, Options, Solution, run};
use crate::csr::Csr;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report, Status};
use crate::survey::{Definiteness, Survey};

/// Rows up to which pivoting is as quick as anything.
const FEW: usize = 300;
/// Rows up to which a dense tableau is worth waiting for where nothing else converged.
const PIVOTABLE: usize = 3_000;

/// A method and why it was picked.
type Choice = (Method, &'static str);

/// The methods to try, in order. Depends on the problem alone.
pub(super) fn choices(survey: &Survey) -> Vec<Choice> {
    use Method::*;
    let few = survey.rows <= FEW;
    let possible = survey.definiteness != Definiteness::Indefinite;
    let mut choices = Vec::new();
    if survey.bounds.is_linear() && survey.symmetric && possible {
        choices.push((Linear, "no row has a bound and the matrix is symmetric"));
    }
    if survey.symmetric && possible {
        if survey.no_positive_couplings {
            choices.push((Policy, "a symmetric matrix without positive couplings"));
            choices.push((Newton, "a symmetric matrix without positive couplings"));
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
    if !survey.symmetric && survey.definiteness.is_semidefinite() {
        choices.push((InteriorPoint, "a monotone problem that is not symmetric"));
    }
    choices.push((Fischer, "it takes any matrix"));
    if !few && survey.rows <= PIVOTABLE {
        choices.push((Lemke, "it takes any matrix, though it takes time"));
    }
    if survey.rows <= super::method::ENUMERABLE {
        choices.push((Enumerate, "so few rows that every cone can be tried"));
    }
    choices
}

pub(super) fn solve<O: Observer + ?Sized>(
    problem: &BoxMlcp<'_, Csr>,
    survey: &Survey,
    options: &Options,
    x: &mut [f64],
    observer: &mut O,
) -> Result<Solution, InputError> {
    let start = x.to_vec();
    let mut best: Option<(Report, Method)> = None;
    let mut attempts = Vec::new();
    for (method, why) in choices(survey) {
        let mut trial = start.clone();
        let report = match run::run(problem, method, options, &mut trial, observer) {
            Ok(report) => report,
            // What is wrong with the input is wrong for all.
            Err(fault) if attempts.is_empty() => return Err(fault),
            Err(_) => continue,
        };
        attempts.push(Attempt {
            method,
            why: why.into(),
            report,
        });
        let better = match &best {
            None => true,
            Some((kept, _)) => kept.residual.is_nan() || report.residual < kept.residual,
        };
        if report.status == Status::Converged || better {
            x.copy_from_slice(&trial);
            best = Some((report, method));
        }
        if matches!(report.status, Status::Converged | Status::Stopped) {
            break;
        }
    }
    let Some((report, method)) = best else {
        unreachable!("the first method gives a report or an error");
    };
    Ok(Solution {
        report,
        method,
        attempts,
    })
}
