//! Methods under test: one way to run each of them with its settings, tables of them, and the properties that every
//! report has.

use std::fmt::Debug;
use std::ops::ControlFlow;

use crate::gallery::{Instance, Random, from_rows};
use meniscus_lcp::methods::{
    block_pivoting, dantzig, enumerate, fischer, interior_point, jacobi, keller, lemke, linear,
    mprgp, newton, penalty, pgs, policy, psor, spsor, start,
};
use meniscus_lcp::precondition::{Identity, Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{
    BoxMlcp, Csr, InnerProgress, InputError, Observer, Operator, Order, Progress, Report, Status,
};

pub const INF: f64 = f64::INFINITY;
/// Bounds of a linear equation.
pub const FREE: (f64, f64) = (-INF, INF);
/// Bounds of a row of an LCP.
pub const ABOVE_ZERO: (f64, f64) = (0.0, INF);
/// GMRES as the inner solver of Newton's method.
pub const GMRES: newton::Inner = newton::Inner::Gmres { restart: 100 };

/// A solver with a workspace of its own.
pub type Solver = Box<
    dyn FnMut(
        &BoxMlcp<'_, Csr>,
        &mut dyn Preconditioner,
        &mut [f64],
        &mut dyn Observer,
    ) -> Result<Report, InputError>,
>;

/// A method with its settings.
pub trait Run: Debug + Sync {
    /// The name of the method.
    fn name(&self) -> &'static str;

    /// The tolerance.
    fn bound(&self) -> f64;

    /// The same with another tolerance and another iteration limit.
    fn within(&self, tolerance: f64, limit: usize) -> Box<dyn Run>;

    /// A solver with a new workspace. Methods without a preconditioner ignore theirs.
    fn solver(&self) -> Solver;

    /// Solves with a preconditioner and an observer.
    fn attempt(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        preconditioner: &mut dyn Preconditioner,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Result<Report, InputError> {
        self.solver()(problem, preconditioner, x, observer)
    }

    /// Solves with a preconditioner and an observer, and checks the report.
    fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        preconditioner: &mut dyn Preconditioner,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Report {
        let report = self.attempt(problem, preconditioner, x, observer);
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", self.name()));
        check(self.name(), problem, &report, x, self.bound());
        report
    }

    /// Solves without a preconditioner and unobserved.
    fn run(&self, problem: &BoxMlcp<'_, Csr>, x: &mut [f64]) -> Report {
        self.solve(problem, &mut Identity, x, &mut ())
    }

    /// Solves without a preconditioner, observed.
    fn observed(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        x: &mut [f64],
        observer: &mut dyn Observer,
    ) -> Report {
        self.solve(problem, &mut Identity, x, observer)
    }

    /// Solves with a preconditioner, unobserved.
    fn preconditioned(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        preconditioner: &mut dyn Preconditioner,
        x: &mut [f64],
    ) -> Report {
        self.solve(problem, preconditioner, x, &mut ())
    }

    /// Solves a problem with the same bounds on all rows from a constant start.
    fn uniform(
        &self,
        (matrix, rhs, bounds): (&Csr, &[f64], (f64, f64)),
        start: f64,
        observer: &mut dyn Observer,
    ) -> (Report, Vec<f64>) {
        let (lower, upper) = (vec![bounds.0; rhs.len()], vec![bounds.1; rhs.len()]);
        let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
        let mut x = vec![start; rhs.len()];
        (self.observed(&problem, &mut x, observer), x)
    }
}

/// Settings of methods that share theirs with another one.
#[derive(Clone, Copy, Debug)]
pub struct Lemke(pub lemke::Settings);
#[derive(Clone, Copy, Debug)]
pub struct Dantzig(pub dantzig::Settings);
#[derive(Clone, Copy, Debug)]
pub struct Keller(pub keller::Settings);
#[derive(Clone, Copy, Debug)]
pub struct Spsor(pub spsor::Settings);

macro_rules! methods {
    ($($module:ident $type:ty, $limit:ident $(, [$field:tt])? $(, $preconditioned:ident)?;)+) => {
        $(
            impl Run for $type {
                fn name(&self) -> &'static str {
                    stringify!($module)
                }

                fn bound(&self) -> f64 {
                    self$(.$field)?.tolerance
                }

                fn within(&self, tolerance: f64, limit: usize) -> Box<dyn Run> {
                    let mut own = *self;
                    own$(.$field)?.tolerance = tolerance;
                    own$(.$field)?.$limit = limit;
                    Box::new(own)
                }

                fn solver(&self) -> Solver {
                    let settings = self$(.$field)?.clone();
                    let mut w = $module::Workspace::default();
                    Box::new(move |p, pre, x, o| methods!(@call $module, p, &settings, pre, x, &mut w, o $(, $preconditioned)?))
                }
            }
        )+
    };
    (@call $m:ident, $p:expr, $s:expr, $pre:expr, $x:expr, $w:expr, $o:expr, preconditioned) => {
        $m::solve($p, $s, $pre, $x, $w, $o)
    };
    (@call $m:ident, $p:expr, $s:expr, $pre:expr, $x:expr, $w:expr, $o:expr) => {{
        let _ = $pre;
        $m::solve($p, $s, $x, $w, $o)
    }};
}

methods! {
    newton newton::Settings, max_iterations, preconditioned;
    fischer fischer::Settings, max_iterations, preconditioned;
    policy policy::Settings, max_iterations, preconditioned;
    penalty penalty::Settings, max_iterations, preconditioned;
    mprgp mprgp::Settings, max_iterations, preconditioned;
    linear linear::Settings, max_iterations, preconditioned;
    interior_point interior_point::Settings, max_iterations;
    jacobi jacobi::Settings, max_iterations;
    pgs pgs::Settings, max_iterations;
    psor psor::Settings, max_iterations;
    spsor Spsor, max_iterations, [0];
    start start::Settings, max_iterations;
    block_pivoting block_pivoting::Settings, max_iterations;
    enumerate enumerate::Settings, max_cones;
    lemke Lemke, max_iterations, [0];
    dantzig Dantzig, max_iterations, [0];
    keller Keller, max_iterations, [0];
}

/// Methods for symmetric positive semidefinite matrices that use a preconditioner.
pub fn preconditioned() -> Vec<Box<dyn Run>> {
    vec![
        Box::new(newton::Settings::default()),
        Box::new(policy::Settings::default()),
        Box::new(penalty::Settings::default()),
        Box::new(mprgp::Settings::default()),
    ]
}

/// Newton's method with every way to solve and to globalise it.
pub fn newtons() -> Vec<Box<dyn Run>> {
    let newton = newton::Settings::default();
    let globalised = newton.globalisation(newton::Globalisation::Fischer);
    vec![
        Box::new(newton.inner(GMRES)),
        Box::new(newton.memory(5)),
        Box::new(newton.inner(GMRES).memory(5)),
        Box::new(globalised.inner(GMRES)),
        Box::new(globalised.inner(GMRES).memory(5)),
    ]
}

/// Every pair of inner solver and treatment of kinks that Fischer-Newton allows.
pub fn fischers() -> Vec<fischer::Settings> {
    use fischer::{Inner, Kink};
    let inners = [
        Inner::Gmres { restart: 100 },
        Inner::NormalEquations,
        Inner::Direct,
    ];
    let kinks = [
        Kink::Zero,
        Kink::Random { seed: 1 },
        Kink::Perturbation { epsilon: 1e-7 },
        Kink::Approximation,
    ];
    let pairs = inners
        .into_iter()
        .flat_map(|inner| kinks.map(|kink| (inner, kink)));
    pairs
        .filter(|pair| *pair != (Inner::NormalEquations, Kink::Approximation))
        .map(|(inner, kink)| fischer::Settings::default().inner(inner).kink(kink))
        .collect()
}

/// Splitting methods, in every order of the rows.
pub fn splittings() -> Vec<Box<dyn Run>> {
    let mut all: Vec<Box<dyn Run>> = vec![Box::new(jacobi::Settings::default())];
    for order in [Order::Natural, Order::Colours] {
        all.push(Box::new(pgs::Settings::default().order(order)));
        all.push(Box::new(psor::Settings::default().order(order)));
        all.push(Box::new(Spsor(spsor::Settings::default().order(order))));
    }
    all
}

/// Pivoting methods, enumeration excepted.
pub fn pivoting() -> Vec<Box<dyn Run>> {
    vec![
        Box::new(Lemke(Default::default())),
        Box::new(Dantzig(Default::default())),
        Box::new(Keller(Default::default())),
    ]
}

/// Pivoting methods by name, with a limit that none of the problems reaches.
pub fn pivots(names: &str) -> Vec<Box<dyn Run>> {
    let mut methods = pivoting();
    methods.push(Box::new(enumerate::Settings::default()));
    methods.retain(|method| names.split(' ').any(|name| name == method.name()));
    let methods = methods.iter().map(|method| method.within(1e-8, 100_000));
    methods.collect()
}

/// All methods for the box MLCP that converge on symmetric positive definite matrices.
pub fn all() -> Vec<Box<dyn Run>> {
    let mut all = preconditioned();
    all.extend(newtons());
    for settings in fischers() {
        all.push(Box::new(settings));
    }
    all.push(Box::new(interior_point::Settings::default()));
    all.extend(splittings());
    all.extend(pivoting());
    all.push(Box::new(block_pivoting::Settings::default()));
    all
}

/// The properties of every report: a finite `x` in its bounds, a residual recomputed there, and success exactly within
/// the tolerance.
pub fn check<A: Operator + ?Sized>(
    name: &str,
    problem: &BoxMlcp<'_, A>,
    report: &Report,
    x: &[f64],
    tolerance: f64,
) {
    assert!(x.iter().all(|x| x.is_finite()), "{name}: {report:?}");
    let residual = problem.residual_inf(x);
    assert!(
        report.residual == residual || (report.residual.is_nan() && residual.is_nan()),
        "{name}: {report:?}, recomputed {residual}"
    );
    let converged = report.status == Status::Converged;
    assert_eq!(converged, residual <= tolerance, "{name}: {report:?}");
    for i in 0..x.len() {
        let inside = problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i];
        assert!(inside, "{name}: row {i} is {}", x[i]);
    }
}

/// Asserts that a setting out of range is an error that names it.
pub fn refused(settings: &dyn Run, expected: &str) {
    let matrix = from_rows(vec![vec![(0, 2.0)], vec![(1, 2.0)]]);
    let problem = BoxMlcp::new(&matrix, &[1.0; 2], &[-INF; 2], &[INF; 2]).unwrap();
    let error = settings.attempt(&problem, &mut Identity, &mut [0.0; 2], &mut ());
    assert!(
        matches!(error, Err(InputError::Setting { name, .. }) if name == expected),
        "{settings:?}: {error:?} in place of {expected}"
    );
}

/// An observer that stops at the given iterations.
pub struct StopAt {
    pub outer: usize,
    pub inner: usize,
}

fn stop_if(reached: bool) -> ControlFlow<()> {
    match reached {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

impl Observer for StopAt {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        stop_if(progress.iteration >= self.outer)
    }

    fn observe_inner(&mut self, progress: &InnerProgress) -> ControlFlow<()> {
        stop_if(progress.iteration >= self.inner)
    }
}

/// `max |a_i - b_i|`
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// MIC(0) of an instance.
pub fn mic(instance: &Instance) -> Mic0 {
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    mic
}

/// None, Jacobi and MIC(0).
pub fn preconditioners(instance: &Instance) -> [Box<dyn Preconditioner>; 3] {
    [
        Box::new(Identity),
        Box::new(Jacobi::new(&instance.matrix).unwrap()),
        Box::new(mic(instance)),
    ]
}

/// The bits of a vector.
pub fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// The result of a computation, which must be the same with 1, 2, 3 and 4 threads.
pub fn same_for_all_threads<T: PartialEq + Send>(name: &str, compute: impl Fn() -> T + Sync) -> T {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(&compute)
    };
    let one = with(1);
    for threads in 2..=4 {
        assert!(
            with(threads) == one,
            "{name}: other bits with {threads} threads"
        );
    }
    one
}

/// `n` numbers between -1 and 1.
pub fn noise(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| random.between(-1.0, 1.0)).collect()
}
