//! Means over the problems of a run.

use super::sample::{Choice, Seen, visit};
use super::solver_case::{Rules, SolverCase};
use meniscus_scene::Scene;
use meniscus_store::error::Error;

/// How a solver fared on the problems of a run.
#[derive(Clone, Debug)]
pub struct Averages {
    pub case: SolverCase,
    /// Problems that it was given.
    pub problems: usize,
    /// Problems that it solved; means are over these.
    pub solved: usize,
    /// Whether a solve exceeded the time limit; the solver is given no further problems then.
    pub too_long: bool,
    /// As the tables count them.
    pub iterations: Vec<f64>,
    pub outer: Vec<f64>,
    /// CPU seconds, set-up included.
    pub cpu: Vec<f64>,
}

impl Averages {
    fn new(case: SolverCase) -> Self {
        Averages {
            case,
            problems: 0,
            solved: 0,
            too_long: false,
            iterations: Vec::new(),
            outer: Vec::new(),
            cpu: Vec::new(),
        }
    }
}

/// The mean of some values, if there are any.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Runs a scene, and gives its problems to every solver as it meets them.
pub fn averages<const D: usize>(
    scene: &Scene<D>,
    choice: Choice,
    cases: &[SolverCase],
    rules: &Rules,
) -> Result<(Vec<Averages>, Seen), Error> {
    let mut found: Vec<Averages> = cases.iter().copied().map(Averages::new).collect();
    let seen = visit(scene, choice, &mut |sample| {
        for one in found.iter_mut().filter(|one| !one.too_long) {
            let outcome = one.case.solve(sample, rules)?;
            one.problems += 1;
            one.too_long = outcome.too_long;
            if outcome.solved() {
                one.solved += 1;
                one.iterations.push(one.case.iterations(&outcome) as f64);
                one.outer.push(outcome.outer as f64);
                one.cpu.push(outcome.cpu);
            }
        }
        Ok(())
    })?;
    Ok((found, seen))
}
