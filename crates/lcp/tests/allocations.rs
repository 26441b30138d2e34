//! Once its workspace is warm, a solve takes no memory.

mod gallery;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use gallery::{Domain, Instance};
use meniscus_lcp::methods::{linear, newton, policy};
use meniscus_lcp::precondition::{Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{BoxMlcp, Status};

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
    // Small enough to stay on this thread: handing work to another one may allocate, once for all of it. Without
    // ground, so that the null space is met on the way.
    let instance = Instance::with_known_solution(
        Domain {
            holes: 0.0,
            ..Domain::cube(12)
        },
        1,
    );
    let problem = instance.problem();
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    let mut x = vec![0.0; instance.len()];

    let mut workspace = newton::Workspace::default();
    let newton = when_warm(|| {
        x.fill(50.0);
        let report = newton::solve(
            &problem,
            &Default::default(),
            &mut mic,
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
    });
    let mut workspace = policy::Workspace::default();
    let policy = when_warm(|| {
        x.fill(50.0);
        let report = policy::solve(
            &problem,
            &Default::default(),
            &mut mic,
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
    });
    let grounded = Instance::with_known_solution(Domain::cube(12), 1).grounded(0.01);
    let free = (
        vec![f64::NEG_INFINITY; grounded.len()],
        vec![f64::INFINITY; grounded.len()],
    );
    let problem = BoxMlcp::new(&grounded.matrix, &grounded.rhs, &free.0, &free.1).unwrap();
    let mut x = vec![0.0; grounded.len()];
    let mut workspace = linear::Workspace::default();
    mic.rebuild(&grounded.matrix, &grounded.blocks).unwrap();
    let linear = when_warm(|| {
        x.fill(0.0);
        let report = linear::solve(
            &problem,
            &Default::default(),
            &mut mic,
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
    });
    let active = vec![true; grounded.len()];
    let factorisation = when_warm(|| {
        mic.rebuild(&grounded.matrix, &grounded.blocks).unwrap();
        mic.restrict(&active);
    });
    assert_eq!((newton, policy, linear, factorisation), (0, 0, 0, 0));
}
