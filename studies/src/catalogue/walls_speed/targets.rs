//! What the solvers are expected to reach.

use super::part::Answer;
use crate::findings::Section;
use crate::target::{self, Bound, Target};
use meniscus_liquid::Solver;

/// CPU seconds that a whole solve may take, by size.
const MOST_SECONDS: [(u32, f64); 2] = [(128, 0.25), (256, 2.0)];
/// Cycles that it may take at any size.
const MOST_CYCLES: f64 = 12.0;
/// CPU time of a whole solve, by that of the fastest solve of the linear problem.
const MOST_TIMES_LINEAR: f64 = 1.5;
/// From this size on that counts: smaller ones take milliseconds.
const LARGE: u32 = 128;
/// How many times as fast two threads are, and the size at which that counts.
const LEAST_SPEED_UP: f64 = 1.6;
const SHARED: u32 = 256;

fn cpu(answer: &Answer) -> f64 {
    answer.setup_cpu_s + answer.solve_cpu_s
}

/// Every target that something was measured for.
pub fn section(answers: &[Answer]) -> Section {
    let solved: Vec<&Answer> = answers.iter().filter(|answer| answer.converged).collect();
    let ours = || answers.iter().filter(|a| a.solver.is(Solver::TnMg));
    let mut targets = Vec::new();
    for answer in ours().filter(|answer| answer.threads == 1) {
        let size = answer.size;
        let name = |what: &str| format!("tn-mg, {size} cells: {what}");
        let measured = |value: f64| answer.converged.then_some(value);
        if let Some((_, most)) = MOST_SECONDS.into_iter().find(|known| known.0 == size) {
            targets.push(Target {
                what: name("CPU time, set-up included"),
                bound: Bound::AtMost(most),
                unit: "s",
                measured: measured(cpu(answer)),
                decimals: 3,
            });
        }
        let beside = |other: &&&Answer| other.size == size;
        let linear = solved
            .iter()
            .filter(beside)
            .filter(|other| other.solver.is_linear());
        let linear = linear
            .filter(|other| other.threads == 1)
            .map(|other| cpu(other));
        if let Some(linear) = linear.reduce(f64::min).filter(|_| size >= LARGE) {
            targets.push(Target {
                what: name("CPU time by that of the fastest linear solve"),
                bound: Bound::AtMost(MOST_TIMES_LINEAR),
                unit: "times",
                measured: measured(cpu(answer) / linear),
                decimals: 2,
            });
        }
        let two = solved
            .iter()
            .filter(beside)
            .find(|other| other.threads == 2 && other.solver == answer.solver);
        if let Some(two) = two.filter(|_| size >= SHARED) {
            targets.push(Target {
                what: name("two threads against one"),
                bound: Bound::AtLeast(LEAST_SPEED_UP),
                unit: "times as fast",
                measured: measured(answer.wall_clock_s / two.wall_clock_s),
                decimals: 2,
            });
        }
    }
    targets.push(Target {
        what: "tn-mg: cycles, at any of the sizes".into(),
        bound: Bound::AtMost(MOST_CYCLES),
        unit: "cycles",
        measured: ours().map(|answer| answer.cycles as f64).reduce(f64::max),
        decimals: 0,
    });
    target::section(Vec::new(), &targets)
}
