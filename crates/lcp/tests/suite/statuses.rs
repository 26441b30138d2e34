//! Every way in which a solve can end, and that it says so.

use crate::harness::{Run, check};
use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, chain, dense};
use meniscus_lcp::methods::{linear, newton, policy};
use meniscus_lcp::{BoxMlcp, Csr, InnerProgress, Observer, Progress, Report, Status, Trace};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const ABOVE_ZERO: (f64, f64) = (0.0, f64::INFINITY);

/// Solves a problem with the same bounds on all rows, and checks the report.
fn with<S: Run>(
    (matrix, rhs, bounds): (&Csr, &[f64], (f64, f64)),
    settings: S,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let (lower, upper) = (vec![bounds.0; rhs.len()], vec![bounds.1; rhs.len()]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    let report = settings.observed(&problem, x, observer);
    check(&problem, &report, x, settings.bound());
    report
}

/// Newton, policy iteration and, without the bounds, conjugate gradients from a constant start.
fn all(
    (matrix, rhs, bounds): (&Csr, &[f64], (f64, f64)),
    start: f64,
    observer: &mut impl Observer,
) -> [Report; 3] {
    let x = || vec![start; rhs.len()];
    [
        with(
            (matrix, rhs, bounds),
            newton::Settings::default(),
            &mut x(),
            observer,
        ),
        with(
            (matrix, rhs, bounds),
            policy::Settings::default(),
            &mut x(),
            observer,
        ),
        with(
            (matrix, rhs, FREE),
            linear::Settings::default(),
            &mut x(),
            observer,
        ),
    ]
}

/// Stops at the given call.
struct StopAt {
    outer: usize,
    inner: usize,
}

impl Observer for StopAt {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        if progress.iteration >= self.outer {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        if progress.iteration >= self.inner {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn ramp(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7).sin() - 0.3).collect()
}

#[test]
fn status_words_are_those_of_the_files() {
    let words = [
        (Status::Converged, "converged"),
        (Status::Relative, "relative"),
        (Status::Stagnated, "stagnated"),
        (Status::LocalMinimum, "local-minimum"),
        (Status::NonDescent, "non-descent"),
        (Status::IterationLimit, "iteration-limit"),
        (Status::Infeasible, "infeasible"),
        (Status::NonFinite, "non-finite"),
        (Status::Stopped, "stopped"),
    ];
    for (status, word) in words {
        assert_eq!(status.to_string(), word);
        assert_eq!(format!("{status:>16}").trim_start(), word);
    }
}

#[test]
fn a_trace_shows_newton_lower_its_merit_until_it_converges() {
    let (matrix, rhs) = (chain(60, 0.0), ramp(60));
    let mut trace = Trace::default();
    let report = with(
        (&matrix, &rhs, ABOVE_ZERO),
        newton::Settings::default(),
        &mut [0.0; 60],
        &mut trace,
    );
    assert_eq!(report.status, Status::Converged);
    assert_eq!(trace.outer.len(), report.iterations + 1);
    assert_eq!(trace.inner.len(), report.inner_iterations);
    assert!(
        trace
            .outer
            .windows(2)
            .all(|pair| pair[1].merit < pair[0].merit)
    );
    assert_eq!(trace.outer.last().unwrap().residual, report.residual);
}

#[test]
fn a_start_that_is_a_solution_needs_no_iteration() {
    let matrix = chain(5, 0.0);
    let bounded = all((&matrix, &[1.0; 5], ABOVE_ZERO), 0.0, &mut ());
    let free = all((&matrix, &[0.0; 5], FREE), 0.0, &mut ());
    for report in [bounded[0], bounded[1], free[2]] {
        assert_eq!(
            (report.status, report.iterations, report.merit),
            (Status::Converged, 0, 0.0)
        );
    }
}

#[test]
fn newton_reports_relative_when_its_merit_hardly_changes() {
    let (matrix, rhs) = (chain(30, 0.0), ramp(30));
    let settings = newton::Settings::default()
        .tolerance(1e-300)
        .relative(1.0)
        .forcing(1e-12)
        .stagnation(0.0);
    let report = with(
        (&matrix, &rhs, ABOVE_ZERO),
        settings,
        &mut [0.0; 30],
        &mut (),
    );
    assert_eq!(report.status, Status::Relative);
}

#[test]
fn newton_reports_stagnated_when_x_hardly_changes() {
    let (matrix, rhs) = (chain(30, 0.0), ramp(30));
    let settings = newton::Settings::default()
        .tolerance(1e-300)
        .stagnation(10.0)
        .forcing(1e-12);
    let report = with(
        (&matrix, &rhs, ABOVE_ZERO),
        settings,
        &mut [0.0; 30],
        &mut (),
    );
    assert_eq!(report.status, Status::Stagnated);
}

#[test]
fn a_tolerance_below_rounding_ends_without_success() {
    let instance = Instance::with_known_solution(Domain::plane(12), 4).grounded(0.01);
    let problem = instance.problem();
    let mut x = vec![0.0; instance.len()];
    let settings = newton::Settings::default().tolerance(1e-300);
    let newton = settings.run(&problem, &mut x);
    let settings = policy::Settings::default().tolerance(1e-300);
    x.fill(0.0);
    let policy = settings.run(&problem, &mut x);
    let (matrix, rhs) = (chain(40, 0.0), ramp(40));
    let settings = linear::Settings::default().tolerance(1e-300);
    let linear = with((&matrix, &rhs, FREE), settings, &mut [0.0; 40], &mut ());
    assert_eq!(linear.status, Status::Stagnated);
    assert_eq!(policy.status, Status::Stagnated);
    assert_eq!(newton.status, Status::Stagnated);
    for report in [newton, policy, linear] {
        assert_ne!(report.status, Status::Converged);
        assert!(report.residual < 1e-10, "{report:?}");
    }
}

#[test]
fn negative_curvature_is_reported_as_non_descent() {
    for report in all((&dense([[-1.0]]), &[1.0], FREE), 0.0, &mut ()) {
        assert_eq!(report.status, Status::NonDescent);
    }
}

#[test]
fn newton_distinguishes_a_flat_merit_from_a_bad_direction() {
    // With no inner iteration there is no direction; on the zero matrix there could be none anyway.
    let settings = newton::Settings::default().max_inner_iterations(0);
    let flat = with(
        (&dense([[0.0]]), &[1.0], FREE),
        settings,
        &mut [0.0],
        &mut (),
    );
    assert_eq!(flat.status, Status::LocalMinimum);
    let steep = with(
        (&dense([[1.0]]), &[1.0], FREE),
        settings,
        &mut [0.0],
        &mut (),
    );
    assert_eq!(steep.status, Status::IterationLimit);
}

#[test]
fn iteration_limits_are_respected_and_reported() {
    let (matrix, rhs) = (chain(200, 0.0), ramp(200));
    let settings = newton::Settings::default().max_iterations(1);
    let newton = with(
        (&matrix, &rhs, ABOVE_ZERO),
        settings,
        &mut [1.0; 200],
        &mut (),
    );
    let settings = policy::Settings::default().max_iterations(1);
    let policy = with(
        (&matrix, &rhs, ABOVE_ZERO),
        settings,
        &mut [1.0; 200],
        &mut (),
    );
    for report in [newton, policy] {
        assert_eq!(
            (report.status, report.iterations),
            (Status::IterationLimit, 1)
        );
    }
    let settings = linear::Settings::default().max_iterations(7);
    let linear = with((&matrix, &rhs, FREE), settings, &mut [0.0; 200], &mut ());
    assert_eq!(
        (linear.status, linear.inner_iterations),
        (Status::IterationLimit, 7)
    );
    let none = linear::Settings::default().max_iterations(0);
    let linear = with((&matrix, &rhs, FREE), none, &mut [0.0; 200], &mut ());
    assert_eq!(
        (linear.status, linear.inner_iterations),
        (Status::IterationLimit, 0)
    );
}

#[test]
fn problems_without_a_solution_are_infeasible() {
    // A ring without ground: A 1 = 0, so sum y = sum b, and nothing can make it zero or positive.
    let ring = Domain::closed([4, 4, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    let pushed = [-0.1; 16];
    for bounds in [ABOVE_ZERO, FREE] {
        for report in all((&ring, &pushed, bounds), 3.0, &mut ()) {
            assert_eq!(report.status, Status::Infeasible, "{report:?}");
        }
    }
}

#[test]
fn numbers_that_overflow_end_the_solve_with_a_finite_x() {
    let matrix = chain(8, 0.0);
    for (rhs, start) in [(-1e300, 0.0), (0.0, f64::MAX)] {
        for report in all((&matrix, &[rhs; 8], ABOVE_ZERO), start, &mut ()) {
            assert_eq!(report.status, Status::NonFinite, "{report:?}");
        }
    }
}

#[test]
fn an_observer_stops_outer_and_inner_iterations() {
    let (matrix, rhs) = (chain(200, 0.0), ramp(200));
    let problem = (&matrix, &rhs[..], ABOVE_ZERO);
    for (outer, inner) in [(0, 1000), (1, 1000), (1000, 3)] {
        let mut stop = StopAt { outer, inner };
        let newton = with(
            problem,
            newton::Settings::default(),
            &mut [1.0; 200],
            &mut stop,
        );
        let policy = with(
            problem,
            policy::Settings::default(),
            &mut [1.0; 200],
            &mut stop,
        );
        let linear = with(
            (&matrix, &rhs, FREE),
            linear::Settings::default(),
            &mut [1.0; 200],
            &mut StopAt { outer: 0, inner },
        );
        for report in [newton, policy, linear] {
            assert_eq!(report.status, Status::Stopped, "{outer} {inner}");
            assert!(report.iterations <= outer.min(1));
            assert!(report.inner_iterations <= inner);
        }
    }
}

#[test]
fn policy_iteration_without_scaling_can_cycle_on_boxes_and_reports_it() {
    // Rows bounded on both sides jump from one bound to the other when x is compared with a much larger y.
    let mut cycles = 0;
    for seed in 0..40 {
        let instance = Instance::with_known_solution(Domain::cube(6), seed);
        let settings = policy::Settings::default().scaled(false);
        let mut x = vec![0.0; instance.len()];
        let report = settings.run(&instance.problem(), &mut x);
        assert!(
            matches!(report.status, Status::Converged | Status::IterationLimit),
            "{report:?}"
        );
        cycles += usize::from(report.status == Status::IterationLimit);
    }
    assert!(cycles > 0);
}
