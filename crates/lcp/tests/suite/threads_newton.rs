//! Semismooth Newton methods give the same bits for any number of threads.

use crate::gallery::{Domain, Instance};
use crate::harness::Run;
use meniscus_lcp::methods::fischer::{self, Inner, Kink};
use meniscus_lcp::methods::newton::{self, Globalisation};
use meniscus_lcp::methods::start::{self, Measure};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{Report, Status};

/// What a computation gives with 1, 2 and 4 threads must be equal, bit for bit.
fn same_for_all_threads(compute: impl Fn() -> (Vec<f64>, Report) + Sync) -> Report {
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (x, report) = pool.install(&compute);
        let bits: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
        (bits, report)
    };
    let one = bits(1);
    assert!(one == bits(2));
    assert!(one == bits(4));
    one.1
}

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
        let report = same_for_all_threads(|| {
            let mut x = vec![0.0; instance.len()];
            let report = settings.preconditioned(
                &instance.problem(),
                &mut Jacobi::new(&instance.matrix).unwrap(),
                &mut x,
            );
            (x, report)
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
        let report = same_for_all_threads(|| {
            let mut x = vec![0.0; instance.len()];
            let report = settings.preconditioned(
                &instance.problem(),
                &mut Jacobi::new(&instance.matrix).unwrap(),
                &mut x,
            );
            (x, report)
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
            (x, report)
        });
    }
}
