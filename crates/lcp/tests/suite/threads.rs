//! The same bits for any number of threads.

use crate::gallery::{Domain, Instance, Laplacian, Random};
use crate::harness::{
    GMRES, INF, Run, Spsor, bits, mic, pivoting, preconditioned, same_for_all_threads,
};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::fischer::{self, Inner, Kink};
use meniscus_lcp::methods::newton::{self, Globalisation};
use meniscus_lcp::methods::start::{self, Measure};
use meniscus_lcp::methods::{interior_point, jacobi, linear, psor};
use meniscus_lcp::precondition::{Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{Operator, Order, Report, Status, Trace, reduce};

/// Large enough for several leaves of work, and for blocks that run at the same time.
fn large() -> Domain {
    Domain {
        tile: 8,
        holes: 0.01,
        ..Domain::cube(40)
    }
}

/// Solves with any number of threads.
fn same(
    method: &dyn Run,
    instance: &Instance,
    preconditioner: &(dyn Fn() -> Box<dyn Preconditioner> + Sync),
) -> Report {
    assert!(instance.len() > 16_384, "several leaves of work");
    let (_, report, _) = same_for_all_threads(&format!("{method:?}"), || {
        let (mut x, mut trace) = (vec![0.0; instance.len()], Trace::default());
        let report = method.solve(
            &instance.problem(),
            &mut *preconditioner(),
            &mut x,
            &mut trace,
        );
        (bits(&x), report, trace)
    });
    report
}

#[test]
fn sums_products_and_preconditioners() {
    let Laplacian { matrix, blocks } = large().laplacian(&mut Random::new(1));
    let mut random = Random::new(2);
    let n = matrix.rows();
    assert!(n > 50_000);
    let x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
    let active: Vec<bool> = (0..n).map(|_| random.chance(0.8)).collect();
    same_for_all_threads("sums", || {
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
fn methods_with_a_preconditioner() {
    for method in preconditioned() {
        let mut instance = Instance::with_known_solution(large(), 11);
        if matches!(method.name(), "mprgp" | "penalty") {
            instance = instance.grounded(0.01);
        }
        let report = same(&*method, &instance, &|| Box::new(mic(&instance)));
        assert_eq!(report.status, Status::Converged, "{method:?}");
    }
    let mut instance = Instance::with_known_solution(large(), 11).grounded(1e-3);
    instance.lower.fill(-INF);
    instance.upper.fill(INF);
    let report = same(&linear::Settings::default(), &instance, &|| {
        Box::new(mic(&instance))
    });
    assert_eq!(report.status, Status::Converged);
}

#[test]
fn semismooth_newton_methods() {
    let instance = Instance::with_known_solution(Domain::cube(30), 11).grounded(0.1);
    let jacobi = || Box::new(Jacobi::new(&instance.matrix).unwrap()) as Box<dyn Preconditioner>;
    let gmres = Inner::Gmres { restart: 30 };
    let fischer = |inner, kink| fischer::Settings::default().inner(inner).kink(kink);
    let newton = newton::Settings::default().inner(newton::Inner::Gmres { restart: 30 });
    let methods: [&dyn Run; 5] = [
        &fischer(gmres, Kink::Random { seed: 5 }),
        &fischer(gmres, Kink::Approximation),
        &fischer(Inner::NormalEquations, Kink::Zero),
        &newton,
        &newton.inner(GMRES).globalisation(Globalisation::Fischer),
    ];
    for method in methods {
        let report = same(method, &instance, &jacobi);
        assert_eq!(report.status, Status::Converged, "{method:?}");
    }
    for measure in [Measure::Energy, Measure::Merit] {
        same(
            &start::Settings::default().measure(measure),
            &instance,
            &jacobi,
        );
    }
}

#[test]
fn sweeps() {
    let domain = Domain {
        tile: 8,
        ..Domain::cube(36)
    };
    let instance = Instance::with_known_solution(domain, 11).grounded(0.05);
    let coloured = psor::Settings::default().order(Order::Colours);
    let methods: [&dyn Run; 3] = [&jacobi::Settings::default(), &coloured, &Spsor(coloured)];
    for method in methods {
        let none = || Box::new(meniscus_lcp::precondition::Identity) as Box<dyn Preconditioner>;
        same(&*method.within(1e-10, 8), &instance, &none);
    }
}

#[test]
fn interior_point() {
    let instance = Instance::with_known_solution(Domain::plane(150), 2).grounded(0.01);
    let none = || Box::new(meniscus_lcp::precondition::Identity) as Box<dyn Preconditioner>;
    let report = same(&interior_point::Settings::default(), &instance, &none);
    assert_eq!(report.status, Status::Converged);
}

#[test]
fn pivots() {
    let symmetric = generated::dense(220, 0.1, 0.5, &mut Random::new(3));
    let cones = generated::contact_cone(40, &mut Random::new(3));
    for (at, method) in pivoting().iter().enumerate() {
        // Lemke's method takes cones, too.
        for instance in [&symmetric, &cones]
            .into_iter()
            .take(if at == 0 { 2 } else { 1 })
        {
            let (_, report) = same_for_all_threads(method.name(), || {
                let mut x = vec![0.0; instance.rhs.len()];
                let report = method.run(&instance.problem(), &mut x);
                (bits(&x), report)
            });
            assert_eq!(report.status, Status::Converged, "{method:?}");
        }
    }
}
