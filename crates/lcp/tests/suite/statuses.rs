//! Every way in which a solve can end, and that it says so.

use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, chain, dense};
use meniscus_lcp::methods::{linear, newton, policy};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{BoxMlcp, Csr, InnerProgress, Observer, Progress, Report, Status, Trace};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const ABOVE_ZERO: (f64, f64) = (0.0, f64::INFINITY);

fn with_newton(
    (matrix, rhs, bounds): (&Csr, &[f64], (f64, f64)),
    settings: newton::Settings,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let (lower, upper) = (vec![bounds.0; rhs.len()], vec![bounds.1; rhs.len()]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    let report = newton::solve(
        &problem,
        &settings,
        &mut Identity,
        x,
        &mut Default::default(),
        observer,
    )
    .unwrap();
    check(&problem, &report, x, settings.tolerance);
    report
}

fn with_policy(
    (matrix, rhs, bounds): (&Csr, &[f64], (f64, f64)),
    settings: policy::Settings,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let (lower, upper) = (vec![bounds.0; rhs.len()], vec![bounds.1; rhs.len()]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    let report = policy::solve(
        &problem,
        &settings,
        &mut Identity,
        x,
        &mut Default::default(),
        observer,
    )
    .unwrap();
    check(&problem, &report, x, settings.tolerance);
    report
}

fn with_linear(
    (matrix, rhs): (&Csr, &[f64]),
    settings: linear::Settings,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let (lower, upper) = (vec![FREE.0; rhs.len()], vec![FREE.1; rhs.len()]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    let report = linear::solve(
        &problem,
        &settings,
        &mut Identity,
        x,
        &mut Default::default(),
        observer,
    )
    .unwrap();
    check(&problem, &report, x, settings.tolerance);
    report
}

/// What holds for every report.
fn check(problem: &BoxMlcp<'_, Csr>, report: &Report, x: &[f64], tolerance: f64) {
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(
        report.residual == residual || (report.residual.is_nan() && residual.is_nan()),
        "{report:?}"
    );
    assert_eq!(
        report.status == Status::Converged,
        residual <= tolerance,
        "{report:?}"
    );
    for i in 0..x.len() {
        assert!(problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i]);
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
    let report = with_newton(
        (&matrix, &rhs, ABOVE_ZERO),
        Default::default(),
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
    let (matrix, rhs) = (chain(5, 0.0), [1.0; 5]);
    let mut x = [0.0; 5];
    let newton = with_newton(
        (&matrix, &rhs, ABOVE_ZERO),
        Default::default(),
        &mut x,
        &mut (),
    );
    let policy = with_policy(
        (&matrix, &rhs, ABOVE_ZERO),
        Default::default(),
        &mut x,
        &mut (),
    );
    let linear = with_linear((&matrix, &[0.0; 5]), Default::default(), &mut x, &mut ());
    for report in [newton, policy, linear] {
        assert_eq!(
            (report.status, report.iterations, report.merit),
            (Status::Converged, 0, 0.0)
        );
    }
}

#[test]
fn newton_says_relative_when_its_merit_hardly_changes() {
    let (matrix, rhs) = (chain(30, 0.0), ramp(30));
    let settings = newton::Settings::default()
        .tolerance(1e-300)
        .relative(1.0)
        .forcing(1e-12)
        .stagnation(0.0);
    let report = with_newton(
        (&matrix, &rhs, ABOVE_ZERO),
        settings,
        &mut [0.0; 30],
        &mut (),
    );
    assert_eq!(report.status, Status::Relative);
}

#[test]
fn newton_says_stagnated_when_x_hardly_changes() {
    let (matrix, rhs) = (chain(30, 0.0), ramp(30));
    let settings = newton::Settings::default()
        .tolerance(1e-300)
        .stagnation(10.0)
        .forcing(1e-12);
    let report = with_newton(
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
    let newton = newton::solve(
        &problem,
        &settings,
        &mut Identity,
        &mut x,
        &mut Default::default(),
        &mut (),
    )
    .unwrap();
    let settings = policy::Settings::default().tolerance(1e-300);
    x.fill(0.0);
    let policy = policy::solve(
        &problem,
        &settings,
        &mut Identity,
        &mut x,
        &mut Default::default(),
        &mut (),
    )
    .unwrap();
    let (matrix, rhs) = (chain(40, 0.0), ramp(40));
    let settings = linear::Settings::default().tolerance(1e-300);
    let linear = with_linear((&matrix, &rhs), settings, &mut [0.0; 40], &mut ());
    assert_eq!(linear.status, Status::Stagnated);
    assert_eq!(policy.status, Status::Stagnated);
    assert_eq!(newton.status, Status::Stagnated);
    for report in [newton, policy, linear] {
        assert_ne!(report.status, Status::Converged);
        assert!(report.residual < 1e-10, "{report:?}");
    }
}

#[test]
fn a_direction_of_negative_curvature_is_no_descent() {
    let (matrix, rhs) = (dense([[-1.0]]), [1.0]);
    let newton = with_newton(
        (&matrix, &rhs, FREE),
        Default::default(),
        &mut [0.0],
        &mut (),
    );
    let policy = with_policy(
        (&matrix, &rhs, FREE),
        Default::default(),
        &mut [0.0],
        &mut (),
    );
    let linear = with_linear((&matrix, &rhs), Default::default(), &mut [0.0], &mut ());
    for report in [newton, policy, linear] {
        assert_eq!(report.status, Status::NonDescent);
    }
}

#[test]
fn newton_tells_a_flat_merit_from_a_bad_direction() {
    // With no inner iteration there is no direction; on the zero matrix there could be none anyway.
    let settings = newton::Settings::default().max_inner_iterations(0);
    let flat = with_newton(
        (&dense([[0.0]]), &[1.0], FREE),
        settings,
        &mut [0.0],
        &mut (),
    );
    assert_eq!(flat.status, Status::LocalMinimum);
    let steep = with_newton(
        (&dense([[1.0]]), &[1.0], FREE),
        settings,
        &mut [0.0],
        &mut (),
    );
    assert_eq!(steep.status, Status::IterationLimit);
}

#[test]
fn iteration_limits_are_kept_and_said() {
    let (matrix, rhs) = (chain(200, 0.0), ramp(200));
    let settings = newton::Settings::default().max_iterations(1);
    let newton = with_newton(
        (&matrix, &rhs, ABOVE_ZERO),
        settings,
        &mut [1.0; 200],
        &mut (),
    );
    let settings = policy::Settings::default().max_iterations(1);
    let policy = with_policy(
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
    let linear = with_linear((&matrix, &rhs), settings, &mut [0.0; 200], &mut ());
    assert_eq!(
        (linear.status, linear.inner_iterations),
        (Status::IterationLimit, 7)
    );
    let none = linear::Settings::default().max_iterations(0);
    let linear = with_linear((&matrix, &rhs), none, &mut [0.0; 200], &mut ());
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
    let newton = with_newton(
        (&ring, &pushed, ABOVE_ZERO),
        Default::default(),
        &mut [3.0; 16],
        &mut (),
    );
    let policy = with_policy(
        (&ring, &pushed, ABOVE_ZERO),
        Default::default(),
        &mut [3.0; 16],
        &mut (),
    );
    let linear = with_linear(
        (&ring, &pushed),
        Default::default(),
        &mut [3.0; 16],
        &mut (),
    );
    let free = with_newton(
        (&ring, &pushed, FREE),
        Default::default(),
        &mut [3.0; 16],
        &mut (),
    );
    for report in [newton, policy, linear, free] {
        assert_eq!(report.status, Status::Infeasible, "{report:?}");
    }
}

#[test]
fn numbers_that_overflow_end_the_solve_with_a_finite_x() {
    let (matrix, rhs) = (chain(8, 0.0), [-1e300; 8]);
    let newton = with_newton(
        (&matrix, &rhs, ABOVE_ZERO),
        Default::default(),
        &mut [0.0; 8],
        &mut (),
    );
    let policy = with_policy(
        (&matrix, &rhs, ABOVE_ZERO),
        Default::default(),
        &mut [0.0; 8],
        &mut (),
    );
    let linear = with_linear((&matrix, &rhs), Default::default(), &mut [0.0; 8], &mut ());
    for report in [newton, policy, linear] {
        assert_eq!(report.status, Status::NonFinite, "{report:?}");
    }
    let start = [f64::MAX; 8];
    let newton = with_newton(
        (&matrix, &[0.0; 8], ABOVE_ZERO),
        Default::default(),
        &mut start.clone(),
        &mut (),
    );
    let policy = with_policy(
        (&matrix, &[0.0; 8], ABOVE_ZERO),
        Default::default(),
        &mut start.clone(),
        &mut (),
    );
    let linear = with_linear(
        (&matrix, &[0.0; 8]),
        Default::default(),
        &mut start.clone(),
        &mut (),
    );
    for report in [newton, policy, linear] {
        assert_eq!(report.status, Status::NonFinite, "{report:?}");
    }
}

#[test]
fn an_observer_stops_outer_and_inner_iterations() {
    let (matrix, rhs) = (chain(200, 0.0), ramp(200));
    let problem = (&matrix, &rhs[..], ABOVE_ZERO);
    for (outer, inner) in [(0, 1000), (1, 1000), (1000, 3)] {
        let mut stop = StopAt { outer, inner };
        let newton = with_newton(problem, Default::default(), &mut [1.0; 200], &mut stop);
        let policy = with_policy(problem, Default::default(), &mut [1.0; 200], &mut stop);
        let linear = with_linear(
            (&matrix, &rhs),
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
fn policy_iteration_without_scaling_can_cycle_on_boxes_and_says_so() {
    // Rows bounded on both sides jump from one bound to the other when x is compared with a much larger y.
    let mut cycles = 0;
    for seed in 0..40 {
        let instance = Instance::with_known_solution(Domain::cube(6), seed);
        let settings = policy::Settings::default().scaled(false);
        let mut x = vec![0.0; instance.len()];
        let report = policy::solve(
            &instance.problem(),
            &settings,
            &mut Identity,
            &mut x,
            &mut Default::default(),
            &mut (),
        )
        .unwrap();
        assert!(
            matches!(report.status, Status::Converged | Status::IterationLimit),
            "{report:?}"
        );
        cycles += usize::from(report.status == Status::IterationLimit);
    }
    assert!(cycles > 0);
}
