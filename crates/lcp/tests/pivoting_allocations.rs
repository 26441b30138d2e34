//! Once their workspaces are warm, pivoting methods take no memory.

mod gallery;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use gallery::{Domain, Instance, Random};
use meniscus_lcp::methods::{dantzig, enumerate, keller, lemke};
use meniscus_lcp::{BoxMlcp, Csr, Status};

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

fn counts(problem: &BoxMlcp<'_, Csr>) -> [usize; 3] {
    let mut x = vec![0.0; problem.len()];
    let mut workspace = lemke::Workspace::default();
    let lemke = when_warm(|| {
        x.fill(0.0);
        let report = lemke::solve(
            problem,
            &Default::default(),
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.iterations > 1);
    });
    let mut workspace = dantzig::Workspace::default();
    let dantzig = when_warm(|| {
        x.fill(0.0);
        let report = dantzig::solve(
            problem,
            &Default::default(),
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.iterations > 1);
    });
    let mut workspace = keller::Workspace::default();
    let keller = when_warm(|| {
        x.fill(0.0);
        let report = keller::solve(
            problem,
            &Default::default(),
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.iterations > 1);
    });
    [lemke, dantzig, keller]
}

// One test, so that no other one allocates meanwhile.
#[test]
fn a_warm_solve_does_not_allocate() {
    // Small enough to stay on this thread: handing work to another one may allocate, once for all of it.
    let plain = Instance::with_known_solution(Domain::plane(9), 1);
    assert_eq!(counts(&plain.problem()), [0; 3]);
    let singular = Instance::with_known_solution(
        Domain {
            holes: 0.0,
            ..Domain::plane(9)
        },
        1,
    );
    assert_eq!(counts(&singular.problem()), [0; 3]);
    let generated = meniscus_lcp::gallery::dense(60, 0.3, 0.5, &mut Random::new(1));
    assert_eq!(counts(&generated.problem()), [0; 3]);

    // Singular, so that linear programmes are met on the way.
    let small = meniscus_lcp::gallery::dense(7, 0.6, 0.5, &mut Random::new(1));
    let mut workspace = enumerate::Workspace::default();
    let mut x = [0.0; 7];
    let enumerate = when_warm(|| {
        x.fill(0.0);
        let report = enumerate::solve(
            &small.problem(),
            &Default::default(),
            &mut x,
            &mut workspace,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.iterations > 1);
    });
    assert_eq!(enumerate, 0);
}
