//! The penalty method: its cost beside policy iteration, and penalties that are too small.

use crate::gallery::{Domain, Instance, dense};
use crate::harness::{INF, Run, difference, mic};
use meniscus_lcp::methods::{penalty, policy};
use meniscus_lcp::{BoxMlcp, Status};

#[test]
fn it_takes_about_as_many_systems_as_policy_iteration() {
    // The two agree in the limit of large penalties.
    let instance = Instance::with_known_solution(Domain::cube(12), 7).grounded(0.01);
    let solve = |method: &dyn Run| {
        let mut x = vec![0.0; instance.len()];
        let report = method.preconditioned(&instance.problem(), &mut mic(&instance), &mut x);
        assert_eq!(report.status, Status::Converged, "{method:?}");
        (report.iterations, x)
    };
    let (by_penalty, x) = solve(&penalty::Settings::default());
    let (by_policy, y) = solve(&policy::Settings::default());
    assert!(by_penalty <= 3 * by_policy, "{by_penalty} {by_policy}");
    assert!(difference(&x, &y) < 1e-5);
}

#[test]
fn a_penalty_that_is_too_small_is_no_success() {
    // One row drawn 1e6 beyond its bound, a neighbour that feels it.
    let matrix = dense([[2.0, -1.0], [-1.0, 2.0]]);
    let problem = BoxMlcp::new(&matrix, &[1e9, -1.0], &[0.0, -INF], &[INF; 2]).unwrap();
    for (penalty, status) in [(1e3, Status::Converged), (1e-12, Status::Stagnated)] {
        let settings = penalty::Settings::default().penalty(penalty);
        assert_eq!(settings.run(&problem, &mut [1.0; 2]).status, status);
    }
}
