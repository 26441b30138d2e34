//! Broken contracts are errors that name what is wrong.

use crate::gallery::chain;
use crate::harness::{INF, Run, all, pivoting, refused};
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::{
    enumerate, fischer, interior_point, jacobi, linear, mprgp, newton, penalty, policy, psor, start,
};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{Blocks, BoxMlcp, Csr, InputError};

#[test]
fn arrays_that_are_no_matrix_are_refused() {
    let error = |n, starts: &[usize], columns: &[u32], values: &[f64]| {
        let error = Csr::new(n, starts.to_vec(), columns.to_vec(), values.to_vec()).unwrap_err();
        match error {
            InputError::Length { what, .. } => (what, 0),
            InputError::Structure { row, .. } => ("row", row),
            InputError::NotFinite { what, index } => (what, index),
            other => panic!("{other}"),
        }
    };
    assert_eq!(error(2, &[0, 1], &[0], &[1.0]), ("row_starts", 0));
    assert_eq!(error(1, &[0, 1], &[0], &[]), ("values", 0));
    assert_eq!(error(1, &[0, 2], &[0], &[1.0]), ("columns", 0));
    assert_eq!(error(1, &[1, 1], &[0], &[1.0]), ("row", 0));
    assert_eq!(error(2, &[0, 2, 1], &[0], &[1.0]), ("row", 1));
    assert_eq!(error(2, &[0, 1, 3], &[0, 1, 0], &[1.0; 3]), ("row", 1));
    assert_eq!(error(2, &[0, 1, 3], &[0, 1, 1], &[1.0; 3]), ("row", 1));
    assert_eq!(error(2, &[0, 1, 2], &[0, 2], &[1.0; 2]), ("row", 1));
    assert_eq!(
        error(2, &[0, 1, 2], &[0, 1], &[1.0, f64::NAN]),
        ("values", 1)
    );
    assert_eq!(error(usize::MAX, &[0], &[], &[]).0, "row_starts");
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
    let error =
        |rhs: &[f64], lower: &[f64], upper: &[f64]| match BoxMlcp::new(&matrix, rhs, lower, upper)
            .unwrap_err()
        {
            InputError::Length { what, .. } => (what, 0),
            InputError::NotFinite { what, index } => (what, index),
            InputError::Bounds { row, .. } => ("bounds", row),
            other => panic!("{other}"),
        };
    assert_eq!(error(&[0.0], &[0.0; 2], &[1.0; 2]), ("rhs", 0));
    assert_eq!(error(&[0.0; 2], &[0.0; 3], &[1.0; 2]), ("lower", 0));
    assert_eq!(error(&[0.0; 2], &[0.0; 2], &[1.0]), ("upper", 0));
    assert_eq!(error(&[0.0, INF], &[0.0; 2], &[1.0; 2]), ("rhs", 1));
    for (lower, upper) in [
        (1.0, 0.0),
        (f64::NAN, 0.0),
        (0.0, f64::NAN),
        (INF, INF),
        (-INF, -INF),
    ] {
        let error = error(&[0.0; 2], &[0.0, lower], &[1.0, upper]);
        assert_eq!(error, ("bounds", 1), "{lower} {upper}");
    }
}

#[test]
fn every_method_refuses_a_start_of_the_wrong_length_or_with_a_number_that_is_not_finite() {
    let matrix = chain(2, 0.0);
    let problem = BoxMlcp::new(&matrix, &[0.0; 2], &[0.0; 2], &[INF; 2]).unwrap();
    for method in everything() {
        let run = |x: &mut [f64]| method.attempt(&problem, &mut Identity, x, &mut ());
        for x in [&mut [0.0][..], &mut [0.0; 3]] {
            let error = run(x);
            assert!(
                matches!(error, Err(InputError::Length { what: "x", .. })),
                "{method:?}: {error:?}"
            );
        }
        for bad in [f64::NAN, INF] {
            let (what, index) = ("x", 1);
            let error = run(&mut [0.0, bad]).unwrap_err();
            assert_eq!(error, InputError::NotFinite { what, index }, "{method:?}");
        }
    }
    let error =
        linear::Settings::default().attempt(&problem, &mut Identity, &mut [0.0; 2], &mut ());
    assert_eq!(error, Err(InputError::BoundedRow { row: 0 }));
}

fn everything() -> Vec<Box<dyn Run>> {
    let mut methods = all();
    methods.push(Box::new(linear::Settings::default()));
    methods.push(Box::new(start::Settings::default()));
    methods.push(Box::new(enumerate::Settings::default()));
    methods
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    for method in everything() {
        for bad in [0.0, -1.0, f64::NAN, INF] {
            refused(&*method.within(bad, 100), "tolerance");
        }
    }
    let (newton, fischer) = (newton::Settings::default(), fischer::Settings::default());
    let (psor, mprgp) = (psor::Settings::default(), mprgp::Settings::default());
    let (policy, penalty) = (policy::Settings::default(), penalty::Settings::default());
    for bad in [-1.0, f64::NAN] {
        refused(&newton.relative(bad), "relative");
        refused(&newton.stagnation(bad), "stagnation");
        refused(&fischer.relative(bad), "relative");
        refused(&fischer.stagnation(bad), "stagnation");
        refused(&fischer.regularisation(bad), "regularisation");
        refused(&psor.relative(bad), "relative");
        refused(&psor.stagnation(bad), "stagnation");
    }
    refused(&fischer.regularisation(INF), "regularisation");
    for bad in [0.0, 1.0, f64::NAN] {
        refused(&newton.forcing(bad), "forcing");
        refused(&newton.backtracking(bad), "backtracking");
        refused(&newton.smallest_step(bad), "smallest_step");
        refused(&newton.sufficient_decrease(bad), "sufficient_decrease");
        refused(&fischer.forcing(bad), "forcing");
        refused(&fischer.backtracking(bad), "backtracking");
        refused(&fischer.smallest_step(bad), "smallest_step");
        refused(&fischer.sufficient_decrease(bad), "sufficient_decrease");
        refused(&policy.inner_tolerance(bad), "inner_tolerance");
        refused(&penalty.inner_tolerance(bad), "inner_tolerance");
        refused(&interior_point::Settings::default().step(bad), "step");
    }
    for bad in [0.0, 2.0, -1.0, f64::NAN] {
        refused(&psor.relaxation(bad), "relaxation");
        refused(&jacobi::Settings::default().relaxation(bad), "relaxation");
        refused(&mprgp.step_factor(bad), "step_factor");
    }
    refused(&psor.check_every(0), "check_every");
    refused(&penalty.penalty(0.0), "penalty");
    refused(&mprgp.proportionality(0.0), "proportionality");
    refused(&mprgp.power_iterations(0), "power_iterations");
    refused(&newton.memory(0), "memory");
    refused(
        &newton.inner(newton::Inner::Gmres { restart: 0 }),
        "restart",
    );
    let globalised = newton.globalisation(newton::Globalisation::Fischer);
    refused(&globalised, "inner");
    refused(&globalised.inner(newton::Inner::Cr), "inner");
    refused(&fischer.memory(0), "memory");
    refused(
        &fischer.inner(fischer::Inner::Gmres { restart: 0 }),
        "restart",
    );
    refused(
        &fischer.kink(fischer::Kink::Perturbation { epsilon: 0.0 }),
        "epsilon",
    );
    let differences = fischer.kink(fischer::Kink::Approximation);
    refused(&differences.inner(fischer::Inner::NormalEquations), "inner");
    for settings in [
        pcg::Settings::default().relative_tolerance(f64::NAN),
        pcg::Settings::default().absolute_tolerance(-1.0),
    ] {
        assert!(
            matches!(settings.check(), Err(InputError::Setting { .. })),
            "{settings:?}"
        );
    }
}

#[test]
fn pivoting_refuses_more_rows_than_a_dense_tableau_can_have() {
    let n = 5_001;
    let matrix = Csr::from_entries(n, (0..n as u32).map(|i| (i, i, 1.0)).collect()).unwrap();
    let mut methods = pivoting();
    methods.push(Box::new(enumerate::Settings::default()));
    let (rhs, lower, upper) = (vec![-1.0; n], vec![0.0; n], vec![INF; n]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    for method in methods {
        let error = method.attempt(&problem, &mut Identity, &mut vec![0.0; n], &mut ());
        let error = error.unwrap_err();
        assert!(matches!(error, InputError::TooLarge { .. }), "{method:?}");
        assert!(error.to_string().starts_with("the method takes at most"));
    }
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
