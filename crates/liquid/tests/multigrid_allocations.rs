//! Once its workspace is warm, a multigrid solve takes no memory.

mod grids;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use grids::{Sphere, build};
use meniscus_lcp::Status;
use meniscus_liquid::multigrid::{self, Settings, Workspace};

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

// One test, so that no other one allocates meanwhile.
/// Turns from one problem to another, so that levels are made anew, and stays with it, so that they are kept.
#[test]
fn a_warm_solve_does_not_allocate() {
    // Small enough to stay on this thread: handing work to another one may allocate, once for all of it.
    let grids = [32, 31].map(|n| {
        let thin = Sphere {
            wave: true,
            thin: Some(1.0 / n as f64),
        };
        build::<3>(&thin, n)
    });
    let mut workspace = Workspace::default();
    let mut x = vec![0.0; grids[0].len().max(grids[1].len())];
    for (turn, grid) in [0, 1, 0, 0, 1].map(|k| &grids[k]).into_iter().enumerate() {
        let stencil = grid.stencil();
        let problem = stencil.posed().unwrap();
        let settings = Settings {
            tolerance: 1e-9 * grid.largest(),
            ..Default::default()
        };
        let x = &mut x[..grid.len()];
        x.fill(0.0);
        let before = COUNT.load(Ordering::Relaxed);
        let memory = &mut workspace;
        let report = multigrid::solve(&problem, &settings, x, memory, &mut ());
        let taken = COUNT.load(Ordering::Relaxed) - before;
        assert_eq!(report.unwrap().status, Status::Converged);
        assert!(turn < 2 || taken == 0, "{taken} in turn {turn}");
    }
}
