//! Semismooth Newton methods give the same bits for any number of threads.

use crate::gallery::{Domain, Instance};
use crate::harness::{Run, bits, same_for_all_threads};
use meniscus_lcp::Status;
use meniscus_lcp::methods::fischer::{self, Inner, Kink};
use meniscus_lcp::methods::newton::{self, Globalisation};
use meniscus_lcp::methods::start::{self, Measure};
use meniscus_lcp::precondition::Jacobi;

/// Large enough for several leaves of work.
fn instance() -> Instance {
    let instance = Instance::with_known_solution(Domain::cube(30), 11).grounded(0.1);
    assert!(instance.len() > 16_384);
    instance
}

#[test]
fn fischer_newton_with_random_kinks() {
    let instance = instance();
    for (inner, kink) in [
        (Inner::Gmres { restart: 30 }, Kink::Random { seed: 5 }),
        (Inner::Gmres { restart: 30 }, Kink::Approximation),
        (Inner::NormalEquations, Kink::Zero),
    ] {
        let settings = fischer::Settings::default().inner(inner).kink(kink);
        let (_, report) = same_for_all_threads(|| {
            let mut x = vec![0.0; instance.len()];
            let report = settings.preconditioned(
                &instance.problem(),
                &mut Jacobi::new(&instance.matrix).unwrap(),
                &mut x,
            );
            (bits(&x), report)
        });
        assert_eq!(report.status, Status::Converged, "{inner:?} {kink:?}");
    }
}

#[test]
fn minimum_map_newton_with_gmres_and_its_globalisation() {
    let instance = instance();
    for globalisation in [Globalisation::None, Globalisation::Fischer] {
        let settings = newton::Settings::default()
            .inner(newton::Inner::Gmres { restart: 30 })
            .globalisation(globalisation);
        let (_, report) = same_for_all_threads(|| {
            let mut x = vec![0.0; instance.len()];
            let report = settings.preconditioned(
                &instance.problem(),
                &mut Jacobi::new(&instance.matrix).unwrap(),
                &mut x,
            );
            (bits(&x), report)
        });
        assert_eq!(report.status, Status::Converged, "{globalisation:?}");
    }
}

#[test]
fn gradient_steps() {
    let instance = instance();
    for measure in [Measure::Energy, Measure::Merit] {
        let settings = start::Settings::default().measure(measure);
        same_for_all_threads(|| {
            let mut x = vec![0.0; instance.len()];
            let report = settings.run(&instance.problem(), &mut x);
            (bits(&x), report)
        });
    }
}
