//! Fischer-Newton: what it solves, by which means, and what it says where it cannot.

use crate::gallery;
use crate::harness::{Run, refused};
use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, by_exhaustion, dense};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::fischer::{self, Inner, Kink, Settings};
use meniscus_lcp::methods::newton;
use meniscus_lcp::precondition::{Identity, Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{
    BoxMlcp, Csr, InnerProgress, Observer, Progress, Report, Status, Trace, reduce,
};
use proptest::prelude::*;

const INNERS: [Inner; 3] = [
    Inner::Gmres { restart: 100 },
    Inner::NormalEquations,
    Inner::Direct,
];
const KINKS: [Kink; 4] = [
    Kink::Zero,
    Kink::Random { seed: 1 },
    Kink::Perturbation { epsilon: 1e-7 },
    Kink::Approximation,
];
const INF: f64 = f64::INFINITY;

/// Every pair of inner solver and kink that is allowed.
fn means() -> impl Iterator<Item = (Inner, Kink)> {
    INNERS
        .into_iter()
        .flat_map(|inner| KINKS.into_iter().map(move |kink| (inner, kink)))
        .filter(|means| *means != (Inner::NormalEquations, Kink::Approximation))
}

/// Solves without a preconditioner, and checks what holds for every report.
fn solve(
    problem: &BoxMlcp<'_, Csr>,
    settings: &Settings,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    solve_with(&mut Identity, problem, settings, x, observer)
}

/// Solves, and checks what holds for every report.
fn solve_with(
    preconditioner: &mut impl Preconditioner,
    problem: &BoxMlcp<'_, Csr>,
    settings: &Settings,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let report = settings
        .attempt(problem, preconditioner, x, observer)
        .unwrap();
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(
        report.residual == residual || (report.residual.is_nan() && residual.is_nan()),
        "{report:?} {residual}"
    );
    assert_eq!(
        report.status == Status::Converged,
        residual <= settings.tolerance,
        "{report:?}"
    );
    for i in 0..x.len() {
        assert!(problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i]);
    }
    report
}

fn cone(seed: u64) -> generated::Instance {
    generated::contact_cone(30, &mut Random::new(seed))
}

#[test]
fn all_of_a_hundred_cone_problems_are_solved_in_no_more_iterations_than_the_notes_count() {
    let mut to_a_thousandth = 0;
    for seed in 0..100 {
        let instance = cone(seed);
        let problem = instance.problem();
        let mut x = vec![0.0; problem.len()];
        let mut trace = Trace::default();
        let report = solve(&problem, &Default::default(), &mut x, &mut trace);
        assert_eq!(report.status, Status::Converged, "{seed}: {report:?}");
        let reached = trace
            .outer
            .iter()
            .position(|progress| progress.merit < 1e-3);
        to_a_thousandth += reached.unwrap();
    }
    // 14.54 on average in the notes, on problems of their own.
    assert!(to_a_thousandth <= 1000, "{to_a_thousandth}");
}

#[test]
fn banded_problems_take_the_few_iterations_of_the_notes_whatever_is_done_at_kinks() {
    let instance = generated::banded(1000, 3, 0.5, &mut Random::new(1));
    let problem = instance.problem();
    for kink in KINKS {
        let settings = Settings::default().kink(kink);
        let mut x = vec![0.0; 1000];
        let mut trace = Trace::default();
        let report = solve(&problem, &settings, &mut x, &mut trace);
        assert_eq!(report.status, Status::Converged, "{kink:?} {report:?}");
        assert!(report.iterations <= 7, "{kink:?} {report:?}");
        for (x, solution) in x.iter().zip(&instance.solution) {
            assert!((x - solution).abs() < 1e-7);
        }
        // The last step gains at least as many digits as there were before it: convergence faster than linear.
        let last = &trace.outer[trace.outer.len() - 2..];
        assert!(last[1].residual < 1e-3 * last[0].residual, "{kink:?}");
    }
}

#[test]
fn every_inner_solver_solves_cone_problems_with_every_treatment_of_kinks() {
    for (inner, kink) in means() {
        let solved = (0..10)
            .filter(|&seed| {
                let instance = cone(seed);
                let settings = Settings::default().inner(inner).kink(kink);
                let mut x = vec![0.0; instance.rhs.len()];
                let report = solve(&instance.problem(), &settings, &mut x, &mut ());
                report.status == Status::Converged
            })
            .count();
        assert_eq!(solved, 10, "{inner:?} {kink:?}");
    }
}

/// Small problems with all kinds of rows and a matrix that is anything but symmetric.
fn small(random: &mut Random, n: usize) -> (Csr, Vec<f64>, Vec<f64>, Vec<f64>) {
    let rows = (0..n).map(|i| {
        (0..n)
            .map(|j| {
                // Positive real part, so that there is one solution and no other.
                let skew = random.between(-2.0, 2.0);
                let entry = if i == j { n as f64 + 0.5 } else { skew };
                (j as u32, entry)
            })
            .collect()
    });
    let matrix = gallery::from_rows(rows.collect());
    let rhs = (0..n).map(|_| random.between(-5.0, 5.0)).collect();
    let (mut lower, mut upper) = (vec![-INF; n], vec![INF; n]);
    for i in 0..n {
        match random.below(6) {
            0 => {}
            1 => lower[i] = 0.0,
            2 => lower[i] = random.between(-1.0, 1.0),
            3 => upper[i] = random.between(-1.0, 1.0),
            4 => (lower[i], upper[i]) = (random.between(-1.0, 0.0), random.between(0.0, 1.0)),
            _ => {
                lower[i] = random.between(-1.0, 1.0);
                upper[i] = lower[i];
            }
        }
    }
    (matrix, rhs, lower, upper)
}

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn it_finds_the_solution_that_trying_all_ways_finds(seed: u64, n in 1_usize..6) {
        let mut random = Random::new(seed);
        let (matrix, rhs, lower, upper) = small(&mut random, n);
        let oracle = by_exhaustion(&matrix, &rhs, &lower, &upper);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        for (inner, kink) in means() {
            let settings = Settings::default().inner(inner).kink(kink).tolerance(1e-9);
            let mut x = vec![random.between(-3.0, 3.0); n];
            let report = solve(&problem, &settings, &mut x, &mut ());
            prop_assert_eq!(report.status, Status::Converged, "{:?} {:?} {:?}", inner, kink, report);
            for (x, oracle) in x.iter().zip(&oracle) {
                prop_assert!((x - oracle).abs() < 1e-6, "{} {} {:?} {:?}", x, oracle, inner, kink);
            }
        }
    }

    #[test]
    fn it_agrees_with_the_minimum_map_method_on_laplacians(seed: u64, side in 2_usize..12) {
        let instance = Instance::with_known_solution(Domain::plane(side), seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let problem = instance.problem();
        let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
        mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
        let (mut x, mut other) = (vec![0.0; instance.len()], vec![0.0; instance.len()]);
        let settings = Settings::default().tolerance(1e-10);
        let report =
            settings.preconditioned(&problem, &mut mic, &mut x);
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        let settings = newton::Settings::default().tolerance(1e-10);
        let report =
            settings.preconditioned(&problem, &mut mic, &mut other);
        prop_assert_eq!(report.status, Status::Converged);
        let largest = reduce::largest(&other).max(1e-3);
        for (a, b) in x.iter().zip(&other) {
            prop_assert!((a - b).abs() <= 1e-6 * largest);
        }
    }

    #[test]
    fn no_problem_causes_a_panic_a_hang_or_a_false_report(
        seed: u64, n in 0_usize..6, size in prop::sample::select(vec![0, 0, 0, 8, -8, 150, -150, 299, -299]),
    ) {
        let mut random = Random::new(seed);
        let (_, mut rhs, lower, upper) = small(&mut random, n);
        let scale = 10.0_f64.powi(size);
        // Zero rows, zero diagonals, no sign that holds.
        let mut rows = vec![Vec::new(); n];
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| i % 3 != 2) {
            for j in 0..n {
                if random.chance(0.5) {
                    row.push((j as u32, scale * random.between(-1.0, 1.0)));
                }
            }
        }
        let matrix = gallery::from_rows(rows);
        for b in &mut rhs {
            *b *= [1.0, scale, 0.0][random.below(3)];
        }
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        for (inner, kink) in means() {
            let settings = Settings::default().inner(inner).kink(kink).max_iterations(60);
            let start: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
            let mut x = start.clone();
            let report = solve(&problem, &settings, &mut x, &mut ());
            let clamped: Vec<f64> = (0..n).map(|i| start[i].clamp(lower[i], upper[i])).collect();
            let before = problem.residual_inf(&clamped);
            prop_assert!(report.residual.is_nan() || !before.is_finite() || report.residual <= before, "{report:?} {before}");
        }
    }
}

#[test]
fn a_preconditioner_of_the_matrix_saves_inner_iterations() {
    let instance = Instance::with_known_solution(Domain::cube(14), 3).grounded(1e-4);
    let problem = instance.problem();
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    let mut x = vec![0.0; instance.len()];
    let mut workspace = fischer::Workspace::default();
    let settings = Settings::default();
    let with = fischer::solve(
        &problem,
        &settings,
        &mut mic,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    x.fill(0.0);
    let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
    let without = fischer::solve(
        &problem,
        &settings,
        &mut jacobi,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    assert_eq!(
        (with.status, without.status),
        (Status::Converged, Status::Converged)
    );
    assert!(
        4 * with.inner_iterations < 3 * without.inner_iterations,
        "{with:?} {without:?}"
    );
}

#[test]
fn the_seed_of_random_kinks_names_the_run() {
    // Half of the rows start at the kink, x = y = 0.
    let matrix = gallery::chain(20, 0.5);
    let rhs: Vec<f64> = (0..20)
        .map(|i| if i % 2 == 0 { 0.0 } else { -1.0 })
        .collect();
    let (lower, upper) = (vec![0.0; 20], vec![INF; 20]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let run = |kink| {
        let settings = Settings::default().kink(kink);
        let mut trace = Trace::default();
        let mut x = vec![0.0; 20];
        let report = solve(&problem, &settings, &mut x, &mut trace);
        assert_eq!(report.status, Status::Converged, "{kink:?}");
        trace.outer[1].merit
    };
    let random = |seed| run(Kink::Random { seed });
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
    // All four strategies leave the kink in directions of their own.
    let perturbed = run(Kink::Perturbation { epsilon: 1e-7 });
    let approximated = run(Kink::Approximation);
    assert_ne!(run(Kink::Zero), perturbed);
    assert_ne!(run(Kink::Zero), approximated);
    assert_ne!(perturbed, approximated);
}

#[test]
fn the_merit_never_rises_unless_the_search_may_look_back() {
    let rises = |memory: usize| {
        let rising = (0..20).filter(|&seed| {
            let instance = cone(seed);
            let settings = Settings::default().memory(memory).rescues(0);
            let mut trace = Trace::default();
            let mut x = vec![0.0; instance.rhs.len()];
            solve(&instance.problem(), &settings, &mut x, &mut trace);
            trace
                .outer
                .windows(2)
                .any(|pair| pair[1].merit > pair[0].merit)
        });
        rising.count()
    };
    assert_eq!(rises(1), 0);
    assert!(rises(5) > 0);
}

#[test]
fn a_rescue_is_what_solves_the_hardest_cone_problem() {
    let instance = cone(83);
    let run = |rescues| {
        let settings = Settings::default().rescues(rescues);
        let mut x = vec![0.0; instance.rhs.len()];
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        solve_with(&mut jacobi, &instance.problem(), &settings, &mut x, &mut ())
    };
    let (without, with) = (run(0), run(3));
    assert_ne!(without.status, Status::Converged, "{without:?}");
    assert_eq!(with.status, Status::Converged, "{with:?}");
}

#[test]
fn regularised_steps_save_iterations_where_the_jacobian_is_singular() {
    let iterations = |regularisation| -> usize {
        let run = |seed| {
            let instance = cone(seed);
            let settings = Settings::default()
                .inner(Inner::Direct)
                .regularisation(regularisation);
            let mut x = vec![0.0; instance.rhs.len()];
            solve(&instance.problem(), &settings, &mut x, &mut ()).iterations
        };
        (0..20).map(run).sum()
    };
    let (with, without) = (iterations(1e-3), iterations(0.0));
    assert!(with < without, "{with} {without}");
}

#[test]
fn problems_without_a_solution_end_with_a_word_that_is_not_success() {
    // y = -1 whatever x.
    let zero = dense([[0.0]]);
    let problem = BoxMlcp::new(&zero, &[-1.0], &[0.0], &[INF]).unwrap();
    for inner in INNERS {
        let settings = Settings::default().inner(inner);
        let report = solve(&problem, &settings, &mut [0.0], &mut ());
        assert_ne!(report.status, Status::Converged, "{inner:?} {report:?}");
    }
    // x1 + x2 = 1 and x1 + x2 = 2, both free: the least squares solution is where the gradient vanishes.
    let matrix = dense([[1.0, 1.0], [1.0, 1.0]]);
    let problem = BoxMlcp::new(&matrix, &[-1.0, -2.0], &[-INF; 2], &[INF; 2]).unwrap();
    for inner in INNERS {
        let settings = Settings::default().inner(inner);
        let mut x = [0.0; 2];
        let report = solve(&problem, &settings, &mut x, &mut ());
        assert_eq!(report.status, Status::LocalMinimum, "{inner:?} {report:?}");
        assert!((x[0] + x[1] - 1.5).abs() < 1e-6, "{inner:?} {x:?}");
    }
}

/// Stops at the given call.
struct StopAt {
    outer: usize,
    inner: usize,
}

impl Observer for StopAt {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if progress.iteration >= self.outer {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        if progress.iteration >= self.inner {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn it_stops_when_asked_and_at_its_limits() {
    let instance = cone(1);
    let problem = instance.problem();
    for inner in INNERS {
        let settings = Settings::default().inner(inner);
        let mut x = vec![0.0; problem.len()];
        let mut observer = StopAt {
            outer: 2,
            inner: usize::MAX,
        };
        let report = solve(&problem, &settings, &mut x, &mut observer);
        assert_eq!((report.status, report.iterations), (Status::Stopped, 2));
        let mut observer = StopAt {
            outer: usize::MAX,
            inner: 1,
        };
        x.fill(0.0);
        let report = solve(&problem, &settings, &mut x, &mut observer);
        assert_eq!(
            (report.status, report.inner_iterations),
            (Status::Stopped, 1),
            "{inner:?}"
        );
        let settings = settings.max_iterations(3);
        x.fill(0.0);
        let report = solve(&problem, &settings, &mut x, &mut ());
        assert_eq!(
            (report.status, report.iterations),
            (Status::IterationLimit, 3)
        );
    }
}

#[test]
fn the_trace_has_an_entry_for_every_iteration() {
    let instance = cone(2);
    let mut trace = Trace::default();
    let mut x = vec![0.0; instance.rhs.len()];
    let report = solve(&instance.problem(), &Default::default(), &mut x, &mut trace);
    assert_eq!(trace.outer.len(), report.iterations + 1);
    assert_eq!(trace.inner.len(), report.inner_iterations);
    assert_eq!(trace.outer.last().unwrap().residual, report.residual);
    assert_eq!(trace.outer.last().unwrap().merit, report.merit);
}

#[test]
fn results_do_not_depend_on_units() {
    // Factors of two change no digit: every merit must be the same but for the units.
    let plain = Instance::with_known_solution(Domain::cube(5), 3).grounded(0.01);
    for inner in INNERS {
        let merits = |matrix_scale: f64, x_scale: f64| -> Vec<f64> {
            let instance = plain.rescaled(matrix_scale, x_scale);
            let settings = Settings::default()
                .inner(inner)
                .tolerance(1e-300)
                .max_iterations(6);
            let mut trace = Trace::default();
            let mut x = vec![0.0; instance.len()];
            let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
            solve_with(
                &mut jacobi,
                &instance.problem(),
                &settings,
                &mut x,
                &mut trace,
            );
            let unit = matrix_scale * x_scale;
            let merits = trace.outer.iter();
            merits
                .map(|progress| progress.merit / unit / unit)
                .collect()
        };
        let reference = merits(1.0, 1.0);
        assert!(
            reference[6] < 1e-3 * reference[0],
            "{inner:?} {reference:?}"
        );
        let (large, small) = (2.0_f64.powi(30), 2.0_f64.powi(-30));
        for (matrix_scale, x_scale) in [(large, 1.0), (small, 1.0), (1.0, large), (1.0, small)] {
            assert_eq!(merits(matrix_scale, x_scale), reference, "{inner:?}");
        }
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let default = Settings::default;
    for (name, settings) in [
        ("tolerance", default().tolerance(0.0)),
        ("relative", default().relative(-1.0)),
        ("stagnation", default().stagnation(f64::NAN)),
        ("forcing", default().forcing(1.0)),
        ("sufficient_decrease", default().sufficient_decrease(0.0)),
        ("backtracking", default().backtracking(1.0)),
        ("smallest_step", default().smallest_step(0.0)),
        ("memory", default().memory(0)),
        ("regularisation", default().regularisation(INF)),
        ("restart", default().inner(Inner::Gmres { restart: 0 })),
        (
            "epsilon",
            default().kink(Kink::Perturbation { epsilon: 0.0 }),
        ),
        (
            "inner",
            default()
                .kink(Kink::Approximation)
                .inner(Inner::NormalEquations),
        ),
    ] {
        refused(settings, name);
    }
}
