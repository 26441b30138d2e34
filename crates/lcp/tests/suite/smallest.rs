//! Empty problems and problems of one row are no special cases.

use crate::gallery::dense;
use crate::harness::Run;
use meniscus_lcp::methods::{linear, newton, policy};
use meniscus_lcp::precondition::{Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{Blocks, BoxMlcp, Csr, Operator, Status, reduce};

const INF: f64 = f64::INFINITY;

#[test]
fn an_empty_problem_is_solved() {
    let matrix = Csr::new(0, vec![0], vec![], vec![]).unwrap();
    let problem = BoxMlcp::new(&matrix, &[], &[], &[]).unwrap();
    assert!(problem.is_empty() && matrix.is_empty());
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    for blocks in [Blocks::single(0), Blocks::new(vec![0], vec![0]).unwrap()] {
        mic.rebuild(&matrix, &blocks).unwrap();
        mic.restrict(&[]);
        assert_eq!(mic.apply_masked_dot(&[], &[], &mut []), 0.0);
        let reports = [
            newton::Settings::default().attempt(&problem, &mut mic, &mut [], &mut ()),
            policy::Settings::default().attempt(&problem, &mut mic, &mut [], &mut ()),
            linear::Settings::default().attempt(&problem, &mut mic, &mut [], &mut ()),
        ];
        for report in reports {
            let report = report.unwrap();
            assert_eq!((report.status, report.residual), (Status::Converged, 0.0));
        }
    }
}

#[test]
fn one_row_takes_every_side_of_its_box() {
    let matrix = dense([[2.0]]);
    // y = 2 x + b
    for (b, lower, upper, expected) in [
        (-4.0, -INF, INF, 2.0),
        (-4.0, 0.0, INF, 2.0),
        (4.0, 0.0, INF, 0.0),
        (-4.0, 0.0, 1.0, 1.0),
        (-4.0, 0.0, 3.0, 2.0),
        (4.0, -1.0, 3.0, -1.0),
        (4.0, -INF, -3.0, -3.0),
        (4.0, -INF, 3.0, -2.0),
        (7.0, 5.0, 5.0, 5.0),
        (-70.0, 5.0, 5.0, 5.0),
    ] {
        let bounds = ([lower], [upper]);
        let rhs = [b];
        let problem = BoxMlcp::new(&matrix, &rhs, &bounds.0, &bounds.1).unwrap();
        for start in [-10.0, 0.0, 10.0] {
            let mut x = [start];
            let mut jacobi = Jacobi::new(&matrix).unwrap();
            let report = newton::Settings::default().preconditioned(&problem, &mut jacobi, &mut x);
            assert_eq!(
                (report.status, x),
                (Status::Converged, [expected]),
                "Newton {b} {lower} {upper} {start}"
            );
            let mut x = [start];
            let report = policy::Settings::default().preconditioned(&problem, &mut jacobi, &mut x);
            assert_eq!(
                (report.status, x),
                (Status::Converged, [expected]),
                "policy {b} {lower} {upper} {start}"
            );
        }
    }
}

#[test]
fn the_natural_residual_is_the_minimum_on_lower_bounds_and_y_on_free_rows() {
    let matrix = dense([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let rhs = [-1.0, 1e-9 - 1e8, 2.0];
    let problem = BoxMlcp::new(&matrix, &rhs, &[0.0, -INF, 5.0], &[INF, INF, 5.0]).unwrap();
    let x = [3.0, 1e8, 4.0];
    let mut r = [0.0; 3];
    let largest = problem.natural_residual(&x, &mut r);
    // On free rows x - (x - y) would have lost y altogether.
    assert_eq!(r, [2.0, 1e8 + (1e-9 - 1e8), -1.0]);
    assert_eq!(largest, 2.0);
    assert!(problem.residual_inf(&[f64::NAN, 0.0, 5.0]).is_nan());
    assert!(reduce::largest(&[0.0, f64::NAN, 9.0]).is_nan());
}
