//! Once their workspaces are warm, sweeps and the methods built on them take no memory.

mod gallery;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use gallery::{Domain, Instance};
use meniscus_lcp::methods::{
    fas, jacobi, mprgp, penalty, pgs, pgs_coupled, psor, spsor, staggered,
};
use meniscus_lcp::precondition::{Mic0, Mic0Settings};
use meniscus_lcp::{
    BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, Galerkin, Order, Report, Status, Transfer,
};

/// The allocator of the system, counting.
struct Counting;

thread_local! {
    // Of this thread only: the one that started the test still allocates while it begins.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is handed to the allocator of the system as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
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

/// Allocations made by the second of two equal solves from the same start.
fn when_warm(n: usize, mut solve: impl FnMut(&mut [f64]) -> Report) -> usize {
    let mut x = vec![0.0; n];
    let mut run = || {
        x.fill(5.0);
        let before = COUNT.get();
        let report = solve(&mut x);
        let allocations = COUNT.get() - before;
        assert_eq!(report.status, Status::Converged);
        assert!(report.iterations > 1);
        allocations
    };
    run();
    run()
}

#[test]
fn a_warm_solve_does_not_allocate() {
    // Small enough to stay on this thread: handing work to another one may allocate, once for all of it.
    let instance = Instance::with_known_solution(Domain::cube(12), 1).grounded(0.05);
    let problem = instance.problem();
    let n = instance.len();
    let mut counts = Vec::new();

    for order in [Order::Natural, Order::Colours] {
        let mut workspace = pgs::Workspace::default();
        let settings = pgs::Settings::default().order(order);
        counts.push(when_warm(n, |x| {
            pgs::solve(&problem, &settings, x, &mut workspace, &mut ()).unwrap()
        }));
        let mut workspace = psor::Workspace::default();
        let settings = psor::Settings::default().order(order);
        counts.push(when_warm(n, |x| {
            psor::solve(&problem, &settings, x, &mut workspace, &mut ()).unwrap()
        }));
        let mut workspace = spsor::Workspace::default();
        let settings = spsor::Settings::default().order(order);
        counts.push(when_warm(n, |x| {
            spsor::solve(&problem, &settings, x, &mut workspace, &mut ()).unwrap()
        }));
    }
    let mut workspace = jacobi::Workspace::default();
    counts.push(when_warm(n, |x| {
        jacobi::solve(&problem, &Default::default(), x, &mut workspace, &mut ()).unwrap()
    }));

    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    let mut workspace = mprgp::Workspace::default();
    counts.push(when_warm(n, |x| {
        let settings = mprgp::Settings::default();
        mprgp::solve(&problem, &settings, &mut mic, x, &mut workspace, &mut ()).unwrap()
    }));
    let mut workspace = penalty::Workspace::default();
    counts.push(when_warm(n, |x| {
        let settings = penalty::Settings::default();
        penalty::solve(&problem, &settings, &mut mic, x, &mut workspace, &mut ()).unwrap()
    }));

    // Lower bounds only, and two rows of each to a coarse one.
    let upper = vec![f64::INFINITY; n];
    let lower: Vec<f64> = instance
        .lower
        .iter()
        .map(|l| if l.is_finite() { *l } else { -100.0 })
        .collect();
    let from_below = BoxMlcp::new(&instance.matrix, &instance.rhs, &lower, &upper).unwrap();
    let pairs = (0..n as u32).map(|row| (row, row / 2, 1.0)).collect();
    let transfer = Transfer::new(n, n.div_ceil(2), pairs, 0.5).unwrap();
    let hierarchy = Galerkin::new(&instance.matrix, vec![transfer]).unwrap();
    for order in [Order::Natural, Order::Colours] {
        let mut workspace = fas::Workspace::default();
        let settings = fas::Settings::default().order(order).max_iterations(1000);
        counts.push(when_warm(n, |x| {
            fas::solve(
                &from_below,
                &settings,
                &hierarchy,
                x,
                &mut workspace,
                &mut (),
            )
            .unwrap()
        }));
    }

    let following: Vec<CoupledBound> = (0..n / 2)
        .map(|pair| CoupledBound {
            row: 2 * pair + 1,
            of: 2 * pair,
            factor: 0.3,
        })
        .collect();
    let own: Vec<f64> = (0..n)
        .map(|row| if row % 2 == 0 { 0.0 } else { f64::NEG_INFINITY })
        .collect();
    let rest = BoxMlcp::new(&instance.matrix, &instance.rhs, &own, &upper).unwrap();
    let chained = CoupledBoundMlcp::new(rest, &following).unwrap();
    let mut workspace = pgs_coupled::Workspace::default();
    counts.push(when_warm(n, |x| {
        pgs_coupled::solve(&chained, &Default::default(), x, &mut workspace, &mut ()).unwrap()
    }));
    let (mut workspace, mut inside) =
        (staggered::Workspace::default(), mprgp::Workspace::default());
    let settings = mprgp::Settings::default().tolerance(1e-10);
    let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
        mprgp::solve(part, &settings, &mut mic, x, &mut inside, &mut ())
    };
    counts.push(when_warm(n, |x| {
        let settings = staggered::Settings::default();
        staggered::solve(&chained, &settings, &mut inner, x, &mut workspace, &mut ()).unwrap()
    }));
    assert_eq!(counts, vec![0; counts.len()]);
}
