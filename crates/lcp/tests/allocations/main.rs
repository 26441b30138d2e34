//! A solve does not allocate once its workspace is warm. A program of its own: it counts the allocations of the process.

#[path = "../gallery/mod.rs"]
mod gallery;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use gallery::{Domain, Instance, Random};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::krylov::{bicgstab, cr, gmres};
use meniscus_lcp::methods::{
    block_pivoting, dantzig, enumerate, fas, fischer, interior_point, jacobi, keller, lemke,
    linear, mprgp, newton, penalty, pgs, pgs_coupled, policy, psor, spsor, staggered, start,
};
use meniscus_lcp::precondition::{
    Ainv, AinvSettings, Ic0, Ic0Settings, Jacobi, Mic0, Mic0Settings, Preconditioner, Ssor,
    SsorSettings,
};
use meniscus_lcp::{
    BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, Galerkin, InputError, Order, Report, Status,
    Transfer,
};

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

/// The second of two equal calls must not allocate.
fn warm(name: &str, mut work: impl FnMut()) {
    work();
    let before = COUNT.load(Ordering::Relaxed);
    work();
    let allocations = COUNT.load(Ordering::Relaxed) - before;
    assert_eq!(allocations, 0, "{name}");
}

/// The same for a solve from a constant start, which must converge.
fn warm_solve(
    name: &str,
    (n, value): (usize, f64),
    mut solve: impl FnMut(&mut [f64]) -> Result<Report, InputError>,
) {
    let mut x = vec![value; n];
    warm(name, || {
        x.fill(value);
        let report = solve(&mut x).unwrap();
        assert_eq!(report.status, Status::Converged, "{name}");
        assert!(report.iterations > 1 || name == "linear", "{name}");
    });
}

/// A warm solve by a method with default settings, or with those given.
macro_rules! method {
    ($module:ident, $problem:expr, $start:expr $(, settings $settings:expr)? $(, with $preconditioner:expr)?) => {{
        let problem = $problem;
        #[allow(unused_variables)]
        let settings = $module::Settings::default();
        $(let settings = $settings;)?
        let mut workspace = $module::Workspace::default();
        warm_solve(stringify!($module), (problem.len(), $start), |x| {
            $module::solve(&problem, &settings, $($preconditioner,)? x, &mut workspace, &mut ())
        });
    }};
}

fn mic0(instance: &Instance) -> Mic0 {
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    mic
}

/// Without holes the matrix is singular, so that the null space is met on the way.
fn singular(domain: Domain) -> Instance {
    let domain = Domain {
        holes: 0.0,
        ..domain
    };
    Instance::with_known_solution(domain, 1)
}

// One test, so that no other one allocates meanwhile. Problems are small enough to stay on this thread: handing work to
// another one may allocate, once for all of it.
#[test]
fn a_warm_solve_does_not_allocate() {
    active_sets();
    splittings();
    coupled_bounds();
    semismooth_newton();
    pivoting();
    krylov_and_preconditioners();
}

fn active_sets() {
    let instance = singular(Domain::cube(12));
    let mut mic = mic0(&instance);
    method!(newton, instance.problem(), 50.0, with &mut mic);
    method!(policy, instance.problem(), 50.0, with &mut mic);

    let grounded = Instance::with_known_solution(Domain::cube(12), 1).grounded(0.01);
    let n = grounded.len();
    let (lower, upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
    let free = BoxMlcp::new(&grounded.matrix, &grounded.rhs, &lower, &upper).unwrap();
    mic.rebuild(&grounded.matrix, &grounded.blocks).unwrap();
    method!(linear, free, 0.0, with &mut mic);
    let active = vec![true; n];
    warm("factorisation", || {
        mic.rebuild(&grounded.matrix, &grounded.blocks).unwrap();
        mic.restrict(&active);
    });

    let grounded = Instance::with_known_solution(Domain::cube(12), 1).grounded(0.05);
    let mut mic = mic0(&grounded);
    method!(mprgp, grounded.problem(), 5.0, with &mut mic);
    method!(penalty, grounded.problem(), 5.0, with &mut mic);
    let small = Instance::with_known_solution(Domain::cube(8), 1);
    method!(interior_point, small.problem(), 0.0);
}

fn splittings() {
    let instance = Instance::with_known_solution(Domain::cube(12), 1).grounded(0.05);
    let n = instance.len();
    method!(jacobi, instance.problem(), 5.0);
    // Lower bounds only, and two rows of each to a coarse one.
    let upper = vec![f64::INFINITY; n];
    let below = |l: &f64| if l.is_finite() { *l } else { -100.0 };
    let lower: Vec<f64> = instance.lower.iter().map(below).collect();
    let from_below = BoxMlcp::new(&instance.matrix, &instance.rhs, &lower, &upper).unwrap();
    let pairs = (0..n as u32).map(|row| (row, row / 2, 1.0)).collect();
    let transfer = Transfer::new(n, n.div_ceil(2), pairs, 0.5).unwrap();
    let hierarchy = Galerkin::new(&instance.matrix, vec![transfer]).unwrap();
    for order in [Order::Natural, Order::Colours] {
        method!(pgs, instance.problem(), 5.0, settings pgs::Settings::default().order(order));
        method!(psor, instance.problem(), 5.0, settings psor::Settings::default().order(order));
        method!(spsor, instance.problem(), 5.0, settings spsor::Settings::default().order(order));
        let settings = fas::Settings::default().order(order).max_iterations(1000);
        method!(fas, from_below, 5.0, settings settings, with &hierarchy);
    }
}

fn coupled_bounds() {
    let instance = Instance::with_known_solution(Domain::cube(12), 1).grounded(0.05);
    let n = instance.len();
    let bound = |pair| CoupledBound {
        row: 2 * pair + 1,
        of: 2 * pair,
        factor: 0.3,
    };
    let bounds: Vec<CoupledBound> = (0..n / 2).map(bound).collect();
    let own = |row| if row % 2 == 0 { 0.0 } else { f64::NEG_INFINITY };
    let lower: Vec<f64> = (0..n).map(own).collect();
    let upper = vec![f64::INFINITY; n];
    let rest = BoxMlcp::new(&instance.matrix, &instance.rhs, &lower, &upper).unwrap();
    let problem = CoupledBoundMlcp::new(rest, &bounds).unwrap();
    method!(pgs_coupled, problem, 5.0);
    let mut mic = mic0(&instance);
    let mut memory = mprgp::Workspace::default();
    let settings = mprgp::Settings::default().tolerance(1e-10);
    let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
        mprgp::solve(part, &settings, &mut mic, x, &mut memory, &mut ())
    };
    method!(staggered, problem, 5.0, with &mut inner);
}

/// A warm solve from zero by given settings, which need not converge.
macro_rules! settings {
    ($module:ident, $instance:expr, $settings:expr $(, with $preconditioner:expr)?) => {{
        let (problem, settings) = ($instance.problem(), $settings);
        let mut workspace = $module::Workspace::default();
        let mut x = vec![0.0; problem.len()];
        warm(&format!("{settings:?}"), || {
            x.fill(0.0);
            $module::solve(&problem, &settings, $($preconditioner,)? &mut x, &mut workspace, &mut ()).unwrap();
        });
    }};
}

fn semismooth_newton() {
    use fischer::{Inner, Kink};
    // Seed 83 needs every direction, and a rescue. A factor of more entries than the small one's is shared with other
    // threads.
    let large = generated::contact_cone(30, &mut Random::new(83));
    let small = generated::contact_cone(20, &mut Random::new(83));
    let jacobi = |instance: &generated::Instance| Jacobi::new(&instance.matrix).unwrap();
    let fischer = fischer::Settings::default().memory(3).max_iterations(60);
    for (instance, inner, kink) in [
        (&large, Inner::Gmres { restart: 100 }, Kink::Zero),
        (&large, Inner::Gmres { restart: 100 }, Kink::Approximation),
        (&large, Inner::NormalEquations, Kink::Random { seed: 3 }),
        (&small, Inner::Direct, Kink::Perturbation { epsilon: 1e-6 }),
        (&small, Inner::Direct, Kink::Approximation),
    ] {
        let mut jacobi = jacobi(instance);
        settings!(fischer, instance, fischer.inner(inner).kink(kink), with &mut jacobi);
    }
    let newton = newton::Settings::default()
        .inner(newton::Inner::Gmres { restart: 50 })
        .memory(4)
        .max_inner_iterations(200);
    let mut jacobi = jacobi(&large);
    for globalisation in [newton::Globalisation::None, newton::Globalisation::Fischer] {
        settings!(newton, large, newton.globalisation(globalisation), with &mut jacobi);
    }
    for measure in [start::Measure::Energy, start::Measure::Merit] {
        settings!(start, large, start::Settings::default().measure(measure));
    }
}

fn pivoting() {
    let plane = Instance::with_known_solution(Domain::plane(9), 1);
    let flat = singular(Domain::plane(9));
    let dense = generated::dense(60, 0.3, 0.5, &mut Random::new(1));
    for problem in [plane.problem(), flat.problem(), dense.problem()] {
        method!(lemke, problem, 0.0);
        method!(dantzig, problem, 0.0);
        method!(keller, problem, 0.0);
    }
    let definite = generated::dense(60, 0.0, 0.5, &mut Random::new(1));
    method!(block_pivoting, definite.problem(), 50.0);
    // Singular, so that linear programmes are met on the way.
    let small = generated::dense(7, 0.6, 0.5, &mut Random::new(1));
    method!(enumerate, small.problem(), 0.0);
}

fn krylov_and_preconditioners() {
    let instance = Instance::with_known_solution(Domain::cube(8), 1);
    let (matrix, rhs) = (&instance.matrix, &instance.rhs);
    let n = instance.len();
    let mut ssor = Ssor::new(SsorSettings::default()).unwrap();
    let mut ic = Ic0::new(Ic0Settings::default()).unwrap();
    let mut ainv = Ainv::new(AinvSettings::default()).unwrap();
    ssor.rebuild(matrix).unwrap();
    ic.rebuild(matrix).unwrap();
    ainv.rebuild(matrix).unwrap();
    let active: Vec<bool> = (0..n).map(|i| i % 3 > 0).collect();
    let mut by_cr = cr::Workspace::default();
    let mut by_bicgstab = bicgstab::Workspace::default();
    let (gmres, mut by_gmres) = (gmres::Settings::default(), gmres::Workspace::default());
    let settings = cr::Settings::default().max_iterations(20);
    let (mut x, mut z) = (vec![0.0; n], vec![0.0; n]);
    let preconditioners: [(&str, &mut dyn Preconditioner); 3] =
        [("SSOR", &mut ssor), ("IC(0)", &mut ic), ("AINV", &mut ainv)];
    for (name, preconditioner) in preconditioners {
        warm(name, || {
            preconditioner.restrict(&active);
            preconditioner.apply_masked_dot(&active, rhs, &mut z);
            x.fill(0.0);
            cr::solve(matrix, rhs, &settings, preconditioner, &mut x, &mut by_cr).unwrap();
            x.fill(0.0);
            let w = &mut by_bicgstab;
            bicgstab::solve(matrix, rhs, &settings, preconditioner, &mut x, w).unwrap();
            x.fill(0.0);
            let (settings, w) = (gmres.restart(20).max_iterations(100), &mut by_gmres);
            gmres::solve(matrix, rhs, &settings, preconditioner, &mut x, w).unwrap();
        });
    }
}
