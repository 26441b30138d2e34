//! Every way in which a solve can end, and that its report says so.

use crate::gallery::{Domain, Instance, Random, chain, dense};
use crate::harness::{ABOVE_ZERO, FREE, INF, Run, StopAt, all, fischers, pivoting, preconditioned};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::{enumerate, interior_point, jacobi, linear, newton, policy, psor};
use meniscus_lcp::{BoxMlcp, Csr, Status, Trace};

fn ramp(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7).sin() - 0.3).collect()
}

/// Active-set and Newton methods, the interior point method and pivoting: those that prove infeasibility.
fn provers() -> Vec<Box<dyn Run>> {
    let mut methods = preconditioned();
    methods.push(Box::new(interior_point::Settings::default()));
    methods.extend(pivoting());
    methods
}

fn ends(methods: &[Box<dyn Run>], problem: (&Csr, &[f64], (f64, f64)), start: f64, status: Status) {
    for method in methods {
        let (report, _) = method.uniform(problem, start, &mut ());
        assert_eq!(report.status, status, "{method:?}, {problem:?}: {report:?}");
    }
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
fn a_trace_has_an_entry_per_iteration_and_ends_with_the_report() {
    let (matrix, rhs) = (chain(60, 0.1), ramp(60));
    for method in all() {
        let mut trace = Trace::default();
        let (report, _) = method.uniform((&matrix, &rhs, ABOVE_ZERO), 0.0, &mut trace);
        assert_eq!(report.status, Status::Converged, "{method:?}");
        assert_eq!(trace.outer.len(), report.iterations + 1, "{method:?}");
        for (i, progress) in trace.outer.iter().enumerate() {
            assert_eq!(progress.iteration, i, "{method:?}");
        }
        let last = trace.outer.last().unwrap();
        if !pivoting().iter().any(|other| other.name() == method.name()) {
            assert_eq!(trace.inner.len(), report.inner_iterations, "{method:?}");
            assert!(last.residual <= method.bound(), "{method:?}: {last:?}");
        }
        if method.name() == "newton" || method.name() == "fischer" {
            assert_eq!((last.residual, last.merit), (report.residual, report.merit));
        }
    }
}

#[test]
fn a_trace_shows_newton_lower_its_merit_until_it_converges() {
    let (matrix, rhs) = (chain(60, 0.0), ramp(60));
    let mut trace = Trace::default();
    newton::Settings::default().uniform((&matrix, &rhs, ABOVE_ZERO), 0.0, &mut trace);
    let falls = |pair: &[meniscus_lcp::Progress]| pair[1].merit < pair[0].merit;
    assert!(trace.outer.len() > 2 && trace.outer.windows(2).all(falls));
}

#[test]
fn newton_reports_relative_when_its_merit_hardly_changes() {
    let settings = newton::Settings::default()
        .tolerance(1e-300)
        .relative(1.0)
        .forcing(1e-12)
        .stagnation(0.0);
    let (report, _) = settings.uniform((&chain(30, 0.0), &ramp(30), ABOVE_ZERO), 0.0, &mut ());
    assert_eq!(report.status, Status::Relative);
}

#[test]
fn newton_reports_stagnated_when_x_hardly_changes() {
    let settings = newton::Settings::default()
        .tolerance(1e-300)
        .stagnation(10.0)
        .forcing(1e-12);
    let (report, _) = settings.uniform((&chain(30, 0.0), &ramp(30), ABOVE_ZERO), 0.0, &mut ());
    assert_eq!(report.status, Status::Stagnated);
}

#[test]
fn a_tolerance_below_rounding_ends_stagnated_near_the_solution() {
    let instance = Instance::with_known_solution(Domain::plane(12), 4).grounded(0.01);
    let mut methods = preconditioned();
    methods.push(Box::new(interior_point::Settings::default()));
    for method in methods {
        let mut x = vec![0.0; instance.len()];
        let report = method
            .within(1e-300, 10_000)
            .run(&instance.problem(), &mut x);
        assert_eq!(report.status, Status::Stagnated, "{method:?}");
        assert!(report.residual < 1e-10, "{method:?}: {report:?}");
    }
    let settings = linear::Settings::default().tolerance(1e-300);
    let (linear, _) = settings.uniform((&chain(40, 0.0), &ramp(40), FREE), 0.0, &mut ());
    assert_eq!(linear.status, Status::Stagnated);
    assert!(linear.residual < 1e-10, "{linear:?}");
    let settings = psor::Settings::default().tolerance(1e-300);
    let (sweeps, _) = settings.uniform((&chain(30, 0.0), &[-1.0; 30], ABOVE_ZERO), 0.0, &mut ());
    assert_eq!(sweeps.status, Status::Stagnated);
    assert!(sweeps.residual < 1e-11, "{sweeps:?}");
}

#[test]
fn negative_curvature_is_no_descent_unless_a_bound_is_ahead() {
    let concave = dense([[-1.0]]);
    ends(
        &preconditioned(),
        (&concave, &[1.0], FREE),
        0.0,
        Status::NonDescent,
    );
    let linear: [Box<dyn Run>; 1] = [Box::new(linear::Settings::default())];
    ends(&linear, (&concave, &[1.0], FREE), 0.0, Status::NonDescent);
    let bounded = (&concave, &[1.0][..], (-2.0, 2.0));
    ends(&preconditioned()[3..], bounded, 0.0, Status::Converged); // MPRGP
    let between = (&concave, &[1.0][..], (-3.0, -2.0));
    ends(
        &[Box::new(interior_point::Settings::default())],
        between,
        0.0,
        Status::Converged,
    );
}

#[test]
fn newton_distinguishes_a_flat_merit_from_a_bad_direction() {
    // With no inner iteration there is no direction; on the zero matrix there could be none anyway.
    let settings = newton::Settings::default().max_inner_iterations(0);
    for (entry, status) in [(0.0, Status::LocalMinimum), (1.0, Status::IterationLimit)] {
        let (report, _) = settings.uniform((&dense([[entry]]), &[1.0], FREE), 0.0, &mut ());
        assert_eq!(report.status, status);
    }
}

/// A start from which a method takes more than two iterations: block pivoting solves for all rows at once that are inside.
fn far_start(method: &str) -> f64 {
    if method == "block_pivoting" { 0.0 } else { 1.0 }
}

#[test]
fn iteration_limits_are_respected_and_reported() {
    let cone = generated::contact_cone(30, &mut Random::new(1));
    let (matrix, rhs) = (chain(200, 0.0), ramp(200));
    for limit in [0, 1, 2] {
        for method in all() {
            let (method, start) = (method.within(1e-8, limit), far_start(method.name()));
            let (report, _) = method.uniform((&matrix, &rhs, ABOVE_ZERO), start, &mut ());
            let expected = (Status::IterationLimit, limit);
            assert_eq!((report.status, report.iterations), expected, "{method:?}");
        }
        for settings in fischers() {
            let mut x = vec![0.0; cone.rhs.len()];
            let report = settings.max_iterations(limit).run(&cone.problem(), &mut x);
            let expected = (Status::IterationLimit, limit);
            assert_eq!((report.status, report.iterations), expected, "{settings:?}");
        }
        let linear = linear::Settings::default().max_iterations(limit);
        let (report, _) = linear.uniform((&matrix, &rhs, FREE), 0.0, &mut ());
        let found = (report.status, report.inner_iterations);
        assert_eq!(found, (Status::IterationLimit, limit));
    }
    let sweeps = psor::Settings::default().max_iterations(7).check_every(4);
    let (report, _) = sweeps.uniform((&matrix, &rhs, ABOVE_ZERO), 1.0, &mut ());
    assert_eq!(
        (report.status, report.iterations),
        (Status::IterationLimit, 7)
    );
}

#[test]
fn an_observer_stops_outer_and_inner_iterations() {
    let (matrix, rhs) = (chain(200, 0.0), ramp(200));
    for method in all() {
        let start = far_start(method.name());
        for outer in [0, 1, 2] {
            let stop = &mut StopAt {
                outer,
                inner: usize::MAX,
            };
            let (report, _) = method.uniform((&matrix, &rhs, ABOVE_ZERO), start, stop);
            let found = (report.status, report.iterations);
            assert_eq!(found, (Status::Stopped, outer), "{method:?}");
        }
        let (free, _) = method.uniform((&matrix, &rhs, ABOVE_ZERO), start, &mut ());
        if free.inner_iterations > 3 && method.name() != "lemke" {
            let stop = &mut StopAt {
                outer: usize::MAX,
                inner: 3,
            };
            let (report, _) = method.uniform((&matrix, &rhs, ABOVE_ZERO), start, stop);
            let within = report.inner_iterations <= 4;
            assert!(
                report.status == Status::Stopped && within,
                "{method:?}: {report:?}"
            );
        }
    }
    for (outer, inner) in [(0, 1000), (1000, 3)] {
        let stop = &mut StopAt { outer, inner };
        let linear = linear::Settings::default();
        let (report, _) = linear.uniform((&matrix, &rhs, FREE), 1.0, stop);
        assert_eq!(report.status, Status::Stopped, "linear: {report:?}");
        assert!(report.iterations <= outer.min(1) && report.inner_iterations <= inner);
    }
    let small = generated::dense(10, 0.0, 0.3, &mut Random::new(4));
    for outer in [0, 1, 3] {
        let stop = &mut StopAt { outer, inner: 0 };
        let report =
            enumerate::Settings::default().observed(&small.problem(), &mut [0.0; 10], stop);
        assert_eq!((report.status, report.iterations), (Status::Stopped, outer));
    }
}

#[test]
fn problems_without_a_solution_are_infeasible() {
    // A ring without ground: A 1 = 0, so sum y = sum b, and nothing can make it zero or positive.
    let ring = Domain::closed([4, 4, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    let mut uneven = [-0.1; 16];
    uneven[3] = 0.7;
    let linear: [Box<dyn Run>; 1] = [Box::new(linear::Settings::default())];
    for rhs in [[-0.1; 16], uneven] {
        for bounds in [ABOVE_ZERO, FREE] {
            ends(&provers(), (&ring, &rhs, bounds), 3.0, Status::Infeasible);
        }
        ends(&linear, (&ring, &rhs, FREE), 3.0, Status::Infeasible);
        // With an end to it, it is a problem like any other.
        ends(
            &provers(),
            (&ring, &rhs, (0.0, 100.0)),
            3.0,
            Status::Converged,
        );
    }
    // y = b whatever x is.
    let zero = dense([[0.0]]);
    ends(
        &provers()[3..],
        (&zero, &[-1.0], ABOVE_ZERO),
        0.0,
        Status::Infeasible,
    );
    ends(
        &provers()[3..],
        (&zero, &[1.0], FREE),
        0.0,
        Status::Infeasible,
    );
    ends(
        &provers()[3..],
        (&zero, &[1.0], ABOVE_ZERO),
        4.0,
        Status::Converged,
    );
    ends(
        &provers()[3..],
        (&zero, &[-1.0], (-3.0, 7.0)),
        0.0,
        Status::Converged,
    );
}

#[test]
fn numbers_that_overflow_end_the_solve_with_a_finite_x() {
    let matrix = chain(8, 0.0);
    for (rhs, start) in [(-1e300, 0.0), (0.0, f64::MAX)] {
        let problem = (&matrix, &[rhs; 8][..], ABOVE_ZERO);
        ends(&preconditioned()[..2], problem, start, Status::NonFinite);
        let linear: [Box<dyn Run>; 1] = [Box::new(linear::Settings::default())];
        ends(
            &linear,
            (&matrix, &[rhs; 8], FREE),
            start,
            Status::NonFinite,
        );
    }
    // Three rows that pull at each other: positive definite, but no matrix for Jacobi without damping.
    let matrix = dense([[1.0, 0.9, 0.9], [0.9, 1.0, 0.9], [0.9, 0.9, 1.0]]);
    let problem = BoxMlcp::new(&matrix, &[-1.0, 0.5, 0.5], &[-INF; 3], &[INF; 3]).unwrap();
    let mut x = [3.0, -4.0, 7.0];
    let start = problem.residual_inf(&x);
    let report = jacobi::Settings::default()
        .relaxation(1.0)
        .run(&problem, &mut x);
    assert_eq!(report.status, Status::NonFinite);
    assert!(report.residual <= start, "the best iterate is kept");
}

#[test]
fn a_merit_that_hardly_changes_ends_a_sweep_as_relative() {
    let settings = psor::Settings::default().relative(1e-2);
    let (report, _) = settings.uniform((&chain(30, 0.0), &[-1.0; 30], ABOVE_ZERO), 0.0, &mut ());
    assert_eq!(report.status, Status::Relative);
}

#[test]
fn policy_iteration_without_scaling_can_cycle_on_boxes_and_reports_it() {
    // Rows bounded on both sides jump from one bound to the other when x is compared with a much larger y.
    let mut cycles = 0;
    for seed in 0..40 {
        let instance = Instance::with_known_solution(Domain::cube(6), seed);
        let settings = policy::Settings::default().scaled(false);
        let report = settings.run(&instance.problem(), &mut vec![0.0; instance.len()]);
        assert!(
            matches!(report.status, Status::Converged | Status::IterationLimit),
            "{report:?}"
        );
        cycles += usize::from(report.status == Status::IterationLimit);
    }
    assert!(cycles > 0);
}
