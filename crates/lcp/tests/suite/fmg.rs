//! Full multigrid with bounds on the finest level alone.

use crate::fas::{membrane, plane};
use crate::gallery::Instance;
use crate::oracle::quadratic_programme;
use meniscus_lcp::methods::fmg;
use meniscus_lcp::{Galerkin, InputError, Report, Status};

const NONE: f64 = f64::NEG_INFINITY;

fn solve(
    instance: &Instance,
    n: usize,
    settings: fmg::Settings,
    x: &mut [f64],
) -> Result<Report, InputError> {
    let hierarchy = Galerkin::grid(&instance.matrix, &[n, n])?;
    let memory = &mut fmg::Workspace::default();
    fmg::solve(
        &instance.problem(),
        &settings,
        &hierarchy,
        x,
        memory,
        &mut (),
    )
}

#[test]
fn it_finds_the_solution_that_clarabel_finds() {
    let membrane = membrane(15);
    let mut x = vec![0.0; 225];
    let report = solve(&membrane, 15, fmg::Settings::default(), &mut x).unwrap();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    let expected = quadratic_programme(&membrane).unwrap();
    assert!(x.iter().zip(&membrane.lower).any(|(x, l)| x == l));
    for (x, y) in x.iter().zip(&expected) {
        assert!((x - y).abs() < 1e-6, "{x} and {y}");
    }
}

#[test]
fn without_bounds_the_number_of_cycles_does_not_depend_on_the_size() {
    for n in [15, 31, 63] {
        let mut membrane = membrane(n);
        membrane.lower.fill(NONE);
        let mut x = vec![0.0; n * n];
        let report = solve(&membrane, n, fmg::Settings::default(), &mut x).unwrap();
        assert!(
            report.status == Status::Converged && report.iterations <= 6,
            "{n}: {report:?}"
        );
    }
}

#[test]
fn limits_are_kept_and_a_solution_is_a_fixed_point() {
    let membrane = membrane(31);
    let mut x = vec![0.0; 961];
    let once = fmg::Settings::default().max_iterations(1);
    let report = solve(&membrane, 31, once, &mut x).unwrap();
    assert_eq!(report.status, Status::IterationLimit);
    assert_eq!(report.residual, membrane.problem().residual_inf(&x));
    solve(&membrane, 31, fmg::Settings::default(), &mut x).unwrap();
    let before = x.clone();
    let again = once.tolerance(1e-300);
    solve(&membrane, 31, again, &mut x).unwrap();
    for (x, y) in x.iter().zip(&before) {
        assert!((x - y).abs() < 1e-7, "{x} and {y}");
    }
}

#[test]
fn broken_contracts_are_errors() {
    let membrane = membrane(7);
    let none = fmg::Settings::default().sweeps(0);
    let refused = solve(&membrane, 7, none, &mut [0.0; 49]).unwrap_err();
    assert!(matches!(
        refused,
        InputError::Setting { name: "sweeps", .. }
    ));
    let refused = solve(&membrane, 7, fmg::Settings::default(), &mut [0.0; 48]);
    assert!(matches!(refused, Err(InputError::Length { .. })));
    let hierarchy = Galerkin::grid(&plane(5), &[5, 5]).unwrap();
    let refused = fmg::solve(
        &membrane.problem(),
        &fmg::Settings::default(),
        &hierarchy,
        &mut [0.0; 49],
        &mut fmg::Workspace::default(),
        &mut (),
    );
    assert!(matches!(refused, Err(InputError::Length { .. })));
}
