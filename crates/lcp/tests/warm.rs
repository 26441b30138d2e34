//! Once warm, neither the interior point method nor Krylov methods nor preconditioners take memory; and the interior
//! point method has the same bits for any number of threads.

mod gallery;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use gallery::{Domain, Instance};
use meniscus_lcp::krylov::{bicgstab, cr};
use meniscus_lcp::methods::interior_point;
use meniscus_lcp::precondition::{
    Ainv, AinvSettings, Ic0, Ic0Settings, Preconditioner, Ssor, SsorSettings,
};
use meniscus_lcp::{Report, Status};

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
#[test]
fn a_warm_solve_does_not_allocate_and_threads_do_not_matter() {
    let instance = Instance::with_known_solution(Domain::cube(8), 1);
    let mut workspace = interior_point::Workspace::default();
    let mut x = vec![0.0; instance.len()];
    let mut solve = |x: &mut [f64]| {
        x.fill(0.0);
        let settings = interior_point::Settings::default();
        let report =
            interior_point::solve(&instance.problem(), &settings, x, &mut workspace, &mut ())
                .unwrap();
        assert_eq!(report.status, Status::Converged);
    };
    solve(&mut x);
    let before = COUNT.load(Ordering::Relaxed);
    solve(&mut x);
    assert_eq!(COUNT.load(Ordering::Relaxed), before);

    let n = instance.len();
    let matrix = &instance.matrix;
    let (mut ssor, mut ic, mut ainv) = (
        Ssor::new(SsorSettings::default()).unwrap(),
        Ic0::new(Ic0Settings::default()).unwrap(),
        Ainv::new(AinvSettings::default()).unwrap(),
    );
    ssor.rebuild(matrix).unwrap();
    ic.rebuild(matrix).unwrap();
    ainv.rebuild(matrix).unwrap();
    let active: Vec<bool> = (0..n).map(|i| i % 3 > 0).collect();
    let mut by_cr = cr::Workspace::default();
    let mut by_bicgstab = bicgstab::Workspace::default();
    let settings = cr::Settings::default().max_iterations(20);
    let mut z = vec![0.0; n];
    let preconditioners: [&mut dyn Preconditioner; 3] = [&mut ssor, &mut ic, &mut ainv];
    for preconditioner in preconditioners {
        let mut use_all = || {
            preconditioner.restrict(&active);
            preconditioner.apply_masked_dot(&active, &instance.rhs, &mut z);
            x.fill(0.0);
            cr::solve(
                matrix,
                &instance.rhs,
                &settings,
                preconditioner,
                &mut x,
                &mut by_cr,
            )
            .unwrap();
            x.fill(0.0);
            let workspace = &mut by_bicgstab;
            bicgstab::solve(
                matrix,
                &instance.rhs,
                &settings,
                preconditioner,
                &mut x,
                workspace,
            )
            .unwrap();
        };
        use_all();
        let before = COUNT.load(Ordering::Relaxed);
        use_all();
        assert_eq!(COUNT.load(Ordering::Relaxed), before);
    }

    // Several leaves of work.
    let instance = Instance::with_known_solution(Domain::plane(150), 2).grounded(0.01);
    assert!(instance.len() > 16384);
    let bits = |threads: usize| -> (Vec<u64>, Report) {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut x = vec![0.0; instance.len()];
        let report = pool.install(|| {
            let settings = interior_point::Settings::default();
            let mut workspace = Default::default();
            interior_point::solve(
                &instance.problem(),
                &settings,
                &mut x,
                &mut workspace,
                &mut (),
            )
            .unwrap()
        });
        assert_eq!(report.status, Status::Converged);
        (x.iter().map(|x| x.to_bits()).collect(), report)
    };
    assert!(bits(1) == bits(3));
}
