//! The same bits for any number of threads.

use crate::gallery::{Domain, Instance, Laplacian, Random};
use crate::harness::{Run, bits, mic, same_for_all_threads};
use meniscus_lcp::methods::{interior_point, linear, newton, policy};
use meniscus_lcp::precondition::{Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{BoxMlcp, Operator, Status, reduce};

/// Large enough for several leaves of work, and for blocks that run at the same time.
fn large() -> Domain {
    Domain {
        tile: 8,
        holes: 0.01,
        ..Domain::cube(40)
    }
}

fn instance() -> Instance {
    Instance::with_known_solution(large(), 11)
}

#[test]
fn sums_products_and_preconditioners() {
    let Laplacian { matrix, blocks } = large().laplacian(&mut Random::new(1));
    let mut random = Random::new(2);
    let n = matrix.rows();
    assert!(n > 50_000);
    let x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
    let active: Vec<bool> = (0..n).map(|_| random.chance(0.8)).collect();
    same_for_all_threads(|| {
        let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
        mic.rebuild(&matrix, &blocks).unwrap();
        mic.restrict(&active);
        let (mut y, mut z, mut w) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let sums = [
            reduce::dot(&x, &x),
            reduce::largest(&x),
            matrix.apply_dot(&x, &mut y),
            mic.apply_dot(&x, &mut z),
            mic.apply_masked_dot(&active, &x, &mut w),
            Jacobi::new(&matrix).unwrap().apply_dot(&x, &mut w.clone()),
        ];
        bits(&[&y[..], &z, &w, &sums].concat())
    });
}

#[test]
fn minimum_map_newton() {
    let instance = instance();
    same_for_all_threads(|| {
        let mut x = vec![0.0; instance.len()];
        let settings = newton::Settings::default();
        let report = settings.preconditioned(&instance.problem(), &mut mic(&instance), &mut x);
        assert_eq!(report.status, Status::Converged);
        (bits(&x), report)
    });
}

#[test]
fn policy_iteration() {
    let instance = instance();
    same_for_all_threads(|| {
        let mut x = vec![0.0; instance.len()];
        let settings = policy::Settings::default();
        let report = settings.preconditioned(&instance.problem(), &mut mic(&instance), &mut x);
        assert_eq!(report.status, Status::Converged);
        (bits(&x), report)
    });
}

#[test]
fn linear_systems() {
    let instance = instance().grounded(1e-3);
    let (lower, upper) = (
        vec![f64::NEG_INFINITY; instance.len()],
        vec![f64::INFINITY; instance.len()],
    );
    same_for_all_threads(|| {
        let problem = BoxMlcp::new(&instance.matrix, &instance.rhs, &lower, &upper).unwrap();
        let mut x = vec![0.0; instance.len()];
        let settings = linear::Settings::default();
        let report = settings.preconditioned(&problem, &mut mic(&instance), &mut x);
        assert_eq!(report.status, Status::Converged);
        (bits(&x), report)
    });
}

#[test]
fn interior_point() {
    let instance = Instance::with_known_solution(Domain::plane(150), 2).grounded(0.01);
    assert!(instance.len() > 16_384, "several leaves of work");
    same_for_all_threads(|| {
        let mut x = vec![0.0; instance.len()];
        let report = interior_point::Settings::default().run(&instance.problem(), &mut x);
        assert_eq!(report.status, Status::Converged);
        (bits(&x), report)
    });
}
