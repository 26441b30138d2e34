//! Once its workspace is warm, a solve by a semismooth Newton method takes no memory.

mod gallery;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use gallery::Random;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::krylov::gmres;
use meniscus_lcp::methods::fischer::{self, Inner, Kink};
use meniscus_lcp::methods::newton::{self, Globalisation};
use meniscus_lcp::methods::start::{self, Measure};
use meniscus_lcp::precondition::Jacobi;

/// The allocator of the system, counting.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed to the allocator of the system as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations made by the second of two equal calls.
fn when_warm(mut work: impl FnMut()) -> usize {
    work();
    let before = COUNT.load(Ordering::Relaxed);
    work();
    COUNT.load(Ordering::Relaxed) - before
}

// One test, so that no other one allocates meanwhile.
#[test]
fn a_warm_solve_does_not_allocate() {
    // Seed 83 needs every direction, and a rescue.
    let instance = generated::contact_cone(30, &mut Random::new(83));
    let small = generated::contact_cone(20, &mut Random::new(83));
    let problem = instance.problem();
    let mut x = vec![0.0; problem.len()];
    let mut jacobi = Jacobi::new(&instance.matrix).unwrap();

    for (inner, kink) in [
        (Inner::Gmres { restart: 100 }, Kink::Zero),
        (Inner::Gmres { restart: 100 }, Kink::Approximation),
        (Inner::NormalEquations, Kink::Random { seed: 3 }),
        (Inner::Direct, Kink::Perturbation { epsilon: 1e-6 }),
        (Inner::Direct, Kink::Approximation),
    ] {
        let settings = fischer::Settings::default()
            .inner(inner)
            .kink(kink)
            .memory(3)
            .max_iterations(60);
        let mut workspace = fischer::Workspace::default();
        // A factor of more entries is shared with other threads, and handing work to them may allocate.
        let instance = match inner {
            Inner::Direct => &small,
            _ => &instance,
        };
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        let x = &mut x[..instance.rhs.len()];
        let allocations = when_warm(|| {
            x.fill(0.0);
            fischer::solve(
                &instance.problem(),
                &settings,
                &mut jacobi,
                x,
                &mut workspace,
                &mut (),
            )
            .unwrap();
        });
        assert_eq!(allocations, 0, "{inner:?} {kink:?}");
    }
    for globalisation in [Globalisation::None, Globalisation::Fischer] {
        let settings = newton::Settings::default()
            .inner(newton::Inner::Gmres { restart: 50 })
            .memory(4)
            .globalisation(globalisation)
            .max_inner_iterations(200);
        let mut workspace = newton::Workspace::default();
        let allocations = when_warm(|| {
            x.fill(0.0);
            newton::solve(
                &problem,
                &settings,
                &mut jacobi,
                &mut x,
                &mut workspace,
                &mut (),
            )
            .unwrap();
        });
        assert_eq!(allocations, 0, "{globalisation:?}");
    }
    for measure in [Measure::Energy, Measure::Merit] {
        let settings = start::Settings::default().measure(measure);
        let mut workspace = start::Workspace::default();
        let allocations = when_warm(|| {
            x.fill(0.0);
            start::solve(&problem, &settings, &mut x, &mut workspace, &mut ()).unwrap();
        });
        assert_eq!(allocations, 0, "{measure:?}");
    }
    let mut workspace = gmres::Workspace::default();
    let settings = gmres::Settings::default().restart(20).max_iterations(100);
    let allocations = when_warm(|| {
        x.fill(0.0);
        gmres::solve(
            &instance.matrix,
            &instance.rhs,
            &settings,
            &jacobi,
            &mut x,
            &mut workspace,
        )
        .unwrap();
    });
    assert_eq!(allocations, 0);
}
