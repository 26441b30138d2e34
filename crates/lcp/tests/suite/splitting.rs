//! The splitting methods: single sweeps, the order of the rows, and the diagonal they divide by.

use crate::gallery::{Domain, Instance, chain, dense};
use crate::harness::{ABOVE_ZERO, INF, Run, Spsor, difference, splittings};
use meniscus_lcp::methods::{jacobi, pgs, psor};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{BoxMlcp, InputError, Order, Rows, Status, Trace};

#[test]
fn one_sweep_of_gauss_seidel_is_the_one_done_by_hand() {
    let matrix = dense([[2.0, -1.0, 0.5], [-1.0, 4.0, -1.0], [0.25, -1.0, 2.0]]);
    let (rhs, upper) = ([-2.0, -1.0, 8.0], [INF, 0.4, 9.0]);
    let problem = BoxMlcp::new(&matrix, &rhs, &[0.0; 3], &upper).unwrap();
    let cases: [(&dyn Run, [f64; 3]); 3] = [
        // Row 0 (2 - 0.5)/2 = 0.75, row 1 (0.75 + 1 + 1)/4 fixed at 0.4, row 2 (0.4 - 0.1875 - 8)/2 fixed at 0.
        (&pgs::Settings::default(), [0.75, 0.4, 0.0]),
        // With a relaxation of 1.4: row 0 1.4 * 0.75 = 1.05; the others are fixed as before.
        (&psor::Settings::default(), [1.05, 0.4, 0.0]),
        // 2/3 of every step: row 0 0.5; row 1 2/3 of 0.5; row 2 1 - 2/3 (2 + 8)/2 fixed at 0.
        (&jacobi::Settings::default(), [0.5, 1.0 / 3.0, 0.0]),
    ];
    for (method, expected) in cases {
        let mut x = [0.0, 0.0, 1.0];
        method.within(1e-10, 1).run(&problem, &mut x);
        assert!(difference(&x, &expected) < 1e-15, "{method:?}: {x:?}");
    }
}

#[test]
fn a_symmetric_sweep_treats_both_ends_alike() {
    // A chain that looks the same from both ends, and a start that does too: after a sweep there and back with no bound
    // in the way, the operator is symmetric, so e_i' S e_j = e_j' S e_i for the error propagated from j to i times A.
    let n = 12;
    let matrix = chain(n, 0.1);
    let (zero, lower, upper) = (vec![0.0; n], vec![-INF; n], vec![INF; n]);
    let problem = BoxMlcp::new(&matrix, &zero, &lower, &upper).unwrap();
    let asymmetry = |method: &dyn Run| {
        let sweep = |j: usize| -> Vec<f64> {
            let mut x = vec![0.0; n];
            x[j] = 1.0;
            method.within(1e-300, 1).run(&problem, &mut x);
            (0..n).map(|i| matrix.row_dot(i, &x)).collect()
        };
        let columns: Vec<Vec<f64>> = (0..n).map(sweep).collect();
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        pairs
            .map(|(i, j)| (columns[i][j] - columns[j][i]).abs())
            .fold(0.0, f64::max)
    };
    let psor = psor::Settings::default();
    assert!(asymmetry(&Spsor(psor)) < 1e-14);
    assert!(asymmetry(&Spsor(psor.order(Order::Colours))) < 1e-14);
    assert!(asymmetry(&psor) > 1e-2);
}

#[test]
fn a_diagonal_that_cannot_be_divided_by_is_named() {
    let matrix = dense([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, -1.0, 0.0]]);
    let negative = dense([[1.0, 0.0], [0.0, -2.0]]);
    let zero = [0.0; 3];
    for method in splittings() {
        let (mut x, mut trace) = ([0.0; 3], Trace::default());
        let problem = BoxMlcp::new(&matrix, &zero, &zero, &[1.0; 3]).unwrap();
        let error = method.attempt(&problem, &mut Identity, &mut x, &mut trace);
        let error = error.unwrap_err();
        assert_eq!(error, InputError::NoDivisor { row: 2, value: 0.0 });
        assert!(error.to_string().contains("row 2"), "{error}");
        assert!(trace.outer.is_empty());

        // A row that cannot move needs no divisor.
        let problem = BoxMlcp::new(&matrix, &[1.0, -2.0, 0.0], &zero, &[1.0, 1.0, 0.0]).unwrap();
        let report = method.within(1e-10, 10_000).run(&problem, &mut x);
        assert_eq!(report.status, Status::Converged, "{method:?}");
        assert!(difference(&x, &[0.0, 1.0, 0.0]) < 1e-9);

        let problem = BoxMlcp::new(&negative, &zero[..2], &zero[..2], &[1.0; 2]).unwrap();
        let error = method.attempt(&problem, &mut Identity, &mut [0.0; 2], &mut trace);
        let (row, value) = (1, -2.0);
        assert_eq!(error.unwrap_err(), InputError::NoDivisor { row, value });
    }
}

#[test]
fn checking_less_often_changes_no_iterate() {
    let instance = Instance::with_known_solution(Domain::plane(12), 5).grounded(0.1);
    let run = |method: &dyn Run| {
        let (mut x, mut trace) = (vec![0.0; instance.len()], Trace::default());
        let method = method.within(1e-300, 12);
        method.observed(&instance.problem(), &mut x, &mut trace);
        (x, trace)
    };
    let coloured = psor::Settings::default().order(Order::Colours);
    let pairs: [(&dyn Run, &dyn Run); 4] = [
        (
            &jacobi::Settings::default(),
            &jacobi::Settings::default().check_every(5),
        ),
        (
            &pgs::Settings::default(),
            &pgs::Settings::default().check_every(5),
        ),
        (&coloured, &coloured.check_every(5)),
        (&Spsor(coloured), &Spsor(coloured.check_every(5))),
    ];
    for (method, rare) in pairs {
        let ((often, every), (rarely, some)) = (run(method), run(rare));
        assert_eq!(every.outer.len(), 13);
        let checks: Vec<usize> = some.outer.iter().map(|p| p.iteration).collect();
        assert_eq!(checks, [0, 5, 10, 12]);
        for progress in &some.outer {
            assert_eq!(progress, &every.outer[progress.iteration], "{method:?}");
        }
        assert_eq!(often, rarely);
    }
}

#[test]
fn over_relaxation_pays_on_a_chain() {
    let matrix = chain(40, 0.0);
    let sweeps = |method: &dyn Run| {
        let method = method.within(1e-10, 200_000);
        let (report, _) = method.uniform((&matrix, &[-1.0; 40], ABOVE_ZERO), 0.0, &mut ());
        assert_eq!(report.status, Status::Converged, "{method:?}");
        report.iterations
    };
    let (jacobi, pgs) = (
        sweeps(&jacobi::Settings::default()),
        sweeps(&pgs::Settings::default()),
    );
    let psor = psor::Settings::default();
    let (psor, spsor) = (sweeps(&psor), sweeps(&Spsor(psor)));
    assert!(2 * pgs < jacobi, "{pgs} {jacobi}");
    assert!(2 * psor < pgs, "{psor} {pgs}");
    assert!(spsor < psor, "{spsor} {psor}");
}
