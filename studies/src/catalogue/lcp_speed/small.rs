//! Contact and fluid problems of a few hundred variables: each method beside its namesake in Siconos.

use super::{Options, Solve, section as section_of};
use crate::peer;
use crate::prelude::*;
use meniscus_app::problem_files;
use meniscus_lcp::gallery::{self, Instance, Random};
use meniscus_lcp::registry::Method;
use std::time::Duration;

const TOLERANCE: f64 = 1e-8;

/// Ours, and what Siconos calls it.
const NAMESAKES: [(Method, &str); 5] = [
    (Method::Lemke, "lemke"),
    (Method::Newton, "newton"),
    (Method::Fischer, "fischer"),
    (Method::Pgs, "pgs"),
    (Method::Psor, "psor"),
];

/// A problem and the methods to try on it.
type Entry = (String, Instance, &'static [(Method, &'static str)]);

pub fn section(options: &Options) -> Result<(Vec<Solve>, Section), Error> {
    let problems: [Entry; 6] = [
        fluid(343),
        fluid(729),
        fluid(1331),
        contact(300),
        contact(720),
        contact(1380),
    ];
    let mut solves = Vec::new();
    let mut missing = Vec::new();
    let mut pairs =
        Table::columns("problem | method | ours, CPU s | Siconos, CPU s | theirs : ours | verdict");
    for (name, instance, methods) in &problems {
        let folder = tempfile::tempdir()
            .map_err(|cause| Error::new(Kind::Storage, format!("no temporary folder: {cause}")))?;
        problem_files::write_generated(folder.path(), instance)?;
        let path = folder.path().to_string_lossy().into_owned();
        let tolerance = TOLERANCE.to_string();
        for &(method, theirs) in *methods {
            let ours = Solve::ours(name, &instance.problem(), method, TOLERANCE)?;
            let patience = Duration::from_secs(options.patience);
            let other = match peer::ask("siconos_lcp.py", &[&path, &tolerance, theirs], patience) {
                Ok(answers) => answers.first().map(|answer| Solve::told(name, answer)),
                Err(why) => {
                    missing.push(format!("{name}, {theirs}: {why}"));
                    None
                }
            };
            pairs.push(pair(&ours, other.as_ref()));
            solves.push(ours);
            solves.extend(other);
        }
    }
    let words = vec![
        format!(
            "LCPs with a known solution, to a natural residual of {TOLERANCE:e}, from zero, at most 10,000 iterations. Siconos \
             works on dense matrices. A time in parentheses belongs to a solve that did not reach the tolerance."
        ),
        "Its newton is the minimum map method with a Fischer-Burmeister line search (NEWTON_MIN_FBLSA), its fischer \
         NEWTON_FB_FBLSA, its lemke the lexicographic one; its psor says itself that it does not use its relaxation, and is its pgs."
            .into(),
    ];
    Ok((solves, section_of("Beside Siconos", words, missing, pairs)))
}

fn fluid(rows: usize) -> Entry {
    let instance = gallery::banded(rows, 3, 0.5, &mut Random::new(1));
    (format!("fluid, {rows}"), instance, &NAMESAKES)
}

/// Sweeps need a diagonal without zeros.
fn contact(rows: usize) -> Entry {
    let instance = gallery::contact_cone(rows / gallery::ROWS_PER_CONE, &mut Random::new(1));
    (format!("contact, {rows}"), instance, &NAMESAKES[..3])
}

fn pair(ours: &Solve, other: Option<&Solve>) -> Vec<Cell> {
    let shown = |solve: &Solve| {
        if solve.converged {
            format!("{:.5}", solve.cpu)
        } else {
            format!("({:.5})", solve.cpu)
        }
    };
    let verdict = match other {
        None => "-",
        Some(other) => match (ours.converged, other.converged) {
            (true, true) if ours.cpu <= other.cpu => "ahead",
            (true, true) => "behind",
            (true, false) => "only ours solved it",
            (false, true) => "only theirs solved it",
            (false, false) => "nobody solved it",
        },
    };
    vec![
        ours.problem.clone().into(),
        ours.method.clone().into(),
        shown(ours).into(),
        other.map_or(Cell::Missing, |other| shown(other).into()),
        Cell::maybe(other.map(|other| other.cpu / ours.cpu), 1),
        verdict.into(),
    ]
}
