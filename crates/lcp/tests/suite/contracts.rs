//! Broken contracts are errors that name what is wrong.

use crate::gallery::chain;
use crate::harness::Run;
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::{linear, newton, policy};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{Blocks, BoxMlcp, Csr, InputError};

const INF: f64 = f64::INFINITY;

#[test]
fn arrays_that_are_no_matrix_are_refused() {
    let structure = |n, starts: &[usize], columns: &[u32], values: &[f64]| {
        Csr::new(n, starts.to_vec(), columns.to_vec(), values.to_vec()).unwrap_err()
    };
    assert!(matches!(
        structure(2, &[0, 1], &[0], &[1.0]),
        InputError::Length {
            what: "row_starts",
            ..
        }
    ));
    assert!(matches!(
        structure(1, &[0, 1], &[0], &[]),
        InputError::Length { what: "values", .. }
    ));
    assert!(matches!(
        structure(1, &[0, 2], &[0], &[1.0]),
        InputError::Length {
            what: "columns",
            ..
        }
    ));
    assert!(matches!(
        structure(1, &[1, 1], &[0], &[1.0]),
        InputError::Structure { row: 0, .. }
    ));
    assert!(matches!(
        structure(2, &[0, 2, 1], &[0], &[1.0]),
        InputError::Structure { row: 1, .. }
    ));
    assert!(matches!(
        structure(2, &[0, 1, 3], &[0, 1, 0], &[1.0; 3]),
        InputError::Structure { row: 1, .. }
    ));
    assert!(matches!(
        structure(2, &[0, 1, 3], &[0, 1, 1], &[1.0; 3]),
        InputError::Structure { row: 1, .. }
    ));
    assert!(matches!(
        structure(2, &[0, 1, 2], &[0, 2], &[1.0; 2]),
        InputError::Structure { row: 1, .. }
    ));
    assert!(matches!(
        structure(2, &[0, 1, 2], &[0, 1], &[1.0, f64::NAN]),
        InputError::NotFinite {
            what: "values",
            index: 1
        }
    ));
    assert!(matches!(
        structure(usize::MAX, &[0], &[], &[]),
        InputError::Length { .. }
    ));
}

#[test]
fn a_matrix_gives_back_its_parts_and_knows_whether_it_is_symmetric() {
    let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 2.5, 1.0]).unwrap();
    assert!(!matrix.is_symmetric(0.1));
    assert!(matrix.is_symmetric(0.2));
    assert!(
        !Csr::new(2, vec![0, 1, 1], vec![1], vec![1.0])
            .unwrap()
            .is_symmetric(0.5)
    );
    assert_eq!(
        (
            matrix.rows(),
            matrix.nonzeros(),
            matrix.get(1, 0),
            matrix.get(0, 7)
        ),
        (2, 4, 2.5, 0.0)
    );
    assert_eq!(
        matrix.into_parts(),
        (vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 2.0, 2.5, 1.0])
    );
}

#[test]
fn arrays_that_are_no_blocks_are_refused() {
    for (starts, colour_starts) in [
        (vec![], vec![0]),
        (vec![1, 2], vec![0, 1]),
        (vec![0, 2], vec![]),
        (vec![0, 2], vec![1]),
        (vec![0, 2, 1], vec![0, 2]),
        (vec![0, 2, 4], vec![0, 2, 1]),
        (vec![0, 2, 4], vec![0, 1]),
        (vec![0, 2, 4], vec![0, 3]),
    ] {
        assert!(matches!(
            Blocks::new(starts, colour_starts),
            Err(InputError::Blocks { .. })
        ));
    }
    let blocks = Blocks::new(vec![0, 2, 4], vec![0, 1, 2]).unwrap();
    assert_eq!((blocks.rows(), blocks.count(), blocks.colours()), (4, 2, 2));
    assert_eq!(blocks.into_parts(), (vec![0, 2, 4], vec![0, 1, 2]));
    assert_eq!(Blocks::new(vec![0], vec![0]).unwrap().rows(), 0);
}

#[test]
fn problems_must_fit_together_and_have_possible_bounds() {
    let matrix = chain(2, 0.0);
    let fault = |rhs: &[f64], lower: &[f64], upper: &[f64]| {
        BoxMlcp::new(&matrix, rhs, lower, upper).unwrap_err()
    };
    assert!(matches!(
        fault(&[0.0], &[0.0; 2], &[1.0; 2]),
        InputError::Length { what: "rhs", .. }
    ));
    assert!(matches!(
        fault(&[0.0; 2], &[0.0; 3], &[1.0; 2]),
        InputError::Length { what: "lower", .. }
    ));
    assert!(matches!(
        fault(&[0.0; 2], &[0.0; 2], &[1.0]),
        InputError::Length { what: "upper", .. }
    ));
    assert!(matches!(
        fault(&[0.0, INF], &[0.0; 2], &[1.0; 2]),
        InputError::NotFinite {
            what: "rhs",
            index: 1
        }
    ));
    for (lower, upper) in [
        (1.0, 0.0),
        (f64::NAN, 0.0),
        (0.0, f64::NAN),
        (INF, INF),
        (-INF, -INF),
    ] {
        assert!(matches!(
            fault(&[0.0; 2], &[0.0, lower], &[1.0, upper]),
            InputError::Bounds { row: 1, .. }
        ));
    }
}

#[test]
fn starts_and_settings_are_checked() {
    let matrix = chain(2, 0.0);
    let problem = BoxMlcp::new(&matrix, &[0.0; 2], &[0.0; 2], &[INF; 2]).unwrap();
    let newton = |settings: newton::Settings, x: &mut [f64]| {
        settings
            .attempt(&problem, &mut Identity, x, &mut ())
            .unwrap_err()
    };
    let policy = |settings: policy::Settings, x: &mut [f64]| {
        settings
            .attempt(&problem, &mut Identity, x, &mut ())
            .unwrap_err()
    };
    let linear = |settings: linear::Settings, x: &mut [f64]| {
        settings
            .attempt(&problem, &mut Identity, x, &mut ())
            .unwrap_err()
    };
    for x in [&mut [0.0][..], &mut [0.0; 3]] {
        assert!(matches!(
            newton(Default::default(), x),
            InputError::Length { what: "x", .. }
        ));
        assert!(matches!(
            policy(Default::default(), x),
            InputError::Length { what: "x", .. }
        ));
        assert!(matches!(
            linear(Default::default(), x),
            InputError::Length { what: "x", .. }
        ));
    }
    for bad in [f64::NAN, INF] {
        let x = &mut [0.0, bad];
        assert!(matches!(
            newton(Default::default(), x),
            InputError::NotFinite {
                what: "x",
                index: 1
            }
        ));
        assert!(matches!(
            policy(Default::default(), x),
            InputError::NotFinite {
                what: "x",
                index: 1
            }
        ));
        assert!(matches!(
            linear(Default::default(), x),
            InputError::NotFinite {
                what: "x",
                index: 1
            }
        ));
    }
    let x = &mut [0.0; 2];
    assert!(matches!(
        linear(Default::default(), x),
        InputError::BoundedRow { row: 0 }
    ));

    let name = |error: InputError| match error {
        InputError::Setting { name, .. } => name,
        other => panic!("{other}"),
    };
    for bad in [0.0, -1.0, f64::NAN, INF] {
        assert_eq!(
            name(newton(newton::Settings::default().tolerance(bad), x)),
            "tolerance"
        );
        assert_eq!(
            name(policy(policy::Settings::default().tolerance(bad), x)),
            "tolerance"
        );
        assert_eq!(
            name(linear(linear::Settings::default().tolerance(bad), x)),
            "tolerance"
        );
    }
    for bad in [-1.0, f64::NAN] {
        assert_eq!(
            name(newton(newton::Settings::default().relative(bad), x)),
            "relative"
        );
        assert_eq!(
            name(newton(newton::Settings::default().stagnation(bad), x)),
            "stagnation"
        );
    }
    for bad in [0.0, 1.0, f64::NAN] {
        assert_eq!(
            name(newton(newton::Settings::default().forcing(bad), x)),
            "forcing"
        );
        assert_eq!(
            name(newton(newton::Settings::default().backtracking(bad), x)),
            "backtracking"
        );
        assert_eq!(
            name(newton(newton::Settings::default().smallest_step(bad), x)),
            "smallest_step"
        );
        let settings = newton::Settings::default().sufficient_decrease(bad);
        assert_eq!(name(newton(settings, x)), "sufficient_decrease");
        assert_eq!(
            name(policy(policy::Settings::default().inner_tolerance(bad), x)),
            "inner_tolerance"
        );
    }
    let settings = pcg::Settings::default().relative_tolerance(f64::NAN);
    let error = pcg::solve(
        &matrix,
        &[1.0; 2],
        &settings,
        &Identity,
        x,
        &mut Default::default(),
    )
    .unwrap_err();
    assert_eq!(name(error), "relative_tolerance");
}

#[test]
fn every_error_names_its_cause() {
    let errors = [
        (
            InputError::Length {
                what: "rhs",
                expected: 2,
                found: 3,
            },
            "rhs has 3 entries, expected 2",
        ),
        (
            InputError::NotFinite {
                what: "x",
                index: 4,
            },
            "x is not finite at entry 4",
        ),
        (
            InputError::Bounds {
                row: 1,
                lower: 2.0,
                upper: 1.0,
            },
            "no number lies between the bounds 2 and 1 of row 1",
        ),
        (
            InputError::BoundedRow { row: 3 },
            "row 3 has a finite bound, but the method solves linear rows only",
        ),
    ];
    for (error, words) in errors {
        assert_eq!(error.to_string(), words);
    }
}
