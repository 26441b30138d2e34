//! Targets of the solvers.

use super::part::Answer;
use crate::prelude::*;
use meniscus_liquid::Solver;

/// CPU seconds that a whole solve of the plain problem may take, by size.
const MOST_SECONDS: [(u32, f64); 2] = [(128, 0.13), (256, 1.0)];
/// Cycles that it may take at any size: as a rule, and with plates and shells of one cell.
const MOST_CYCLES: f64 = 12.0;
const MOST_CYCLES_THIN: f64 = 20.0;
/// Cycles of FAS multigrid, and the size at which they count.
const MOST_FAS_CYCLES: f64 = 15.0;
const FAS_SIZE: u32 = 256;
/// Memory of the whole process, in GiB, and the size at which it counts.
const MOST_MEMORY: f64 = 12.0;
const HUGE: u32 = 512;
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

/// Every target that something was measured for: on the plain problem, with `thin` solids, or on another that is harder.
pub fn section(answers: &[Answer], plain: bool, thin: bool) -> Section {
    let solved: Vec<&Answer> = answers.iter().filter(|answer| answer.converged).collect();
    // `auto` is the same method unless that fails.
    let is_ours = |a: &&Answer| a.solver.is(Solver::TnMg) || a.solver.is(Solver::Auto);
    let mut targets = Vec::new();
    for answer in answers.iter().filter(is_ours) {
        if answer.threads != 1 {
            continue;
        }
        let size = answer.size;
        let name = |what: &str| format!("{}, {size} cells: {what}", answer.solver);
        let measured = |value: f64| answer.converged.then_some(value);
        let seconds = MOST_SECONDS.into_iter().find(|known| known.0 == size);
        if let Some((_, most)) = seconds.filter(|_| plain) {
            targets.push(Target::new(
                name("CPU time, set-up included"),
                Bound::AtMost(most),
                "s",
                measured(cpu(answer)),
                3,
            ));
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
            targets.push(Target::new(
                name("CPU time by that of the fastest linear solve"),
                Bound::AtMost(MOST_TIMES_LINEAR),
                "times",
                measured(cpu(answer) / linear),
                2,
            ));
        }
        let two = solved
            .iter()
            .filter(beside)
            .find(|other| other.threads == 2 && other.solver == answer.solver);
        if let Some(two) = two.filter(|_| size >= SHARED) {
            targets.push(Target::new(
                name("two threads against one"),
                Bound::AtLeast(LEAST_SPEED_UP),
                "times as fast",
                measured(answer.wall_clock_s / two.wall_clock_s),
                2,
            ));
        }
        if let Some(bytes) = answer.peak_bytes.filter(|_| size == HUGE) {
            targets.push(Target::new(
                name("peak memory, the problem included"),
                Bound::AtMost(MOST_MEMORY),
                "GiB",
                measured(bytes as f64 / (1u64 << 30) as f64),
                1,
            ));
        }
    }
    let cycles = |what: String, most: f64, counted: &dyn Fn(&&Answer) -> bool| {
        let counted = || answers.iter().filter(counted);
        let solved = counted().all(|answer| answer.converged);
        let most_taken = counted()
            .map(|answer| answer.cycles as f64)
            .reduce(f64::max)?;
        Some(Target::new(
            what,
            Bound::AtMost(most),
            "cycles",
            solved.then_some(most_taken),
            0,
        ))
    };
    let (words, most) = match thin {
        true => (
            "tn-mg: cycles, at any of the sizes, with thin solids",
            MOST_CYCLES_THIN,
        ),
        false => ("tn-mg: cycles, at any of the sizes", MOST_CYCLES),
    };
    targets.extend(cycles(words.into(), most, &is_ours));
    let is_fas = |a: &&Answer| a.solver.is(Solver::FasMg) && a.size == FAS_SIZE && !thin;
    targets.extend(cycles(
        format!("fas-mg, {FAS_SIZE} cells: cycles"),
        MOST_FAS_CYCLES,
        &is_fas,
    ));
    target::section(Vec::new(), &targets)
}
