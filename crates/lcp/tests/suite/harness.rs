//! One way to run every method, with memory of its own, and what holds for every report.

use crate::gallery::{Instance, Random, from_rows};
use meniscus_lcp::methods::{
    enumerate, fischer, interior_point, jacobi, linear, mprgp, newton, penalty, pgs, policy, psor,
    start,
};
use meniscus_lcp::precondition::{Identity, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{BoxMlcp, Csr, InputError, Observer, Operator, Report, Rows, Status};

/// A method with its settings.
pub trait Run {
    /// The tolerance.
    fn bound(&self) -> f64;

    /// Solves with a preconditioner, which methods that have none ignore, and an observer.
    fn attempt<A, P, O>(
        &self,
        problem: &BoxMlcp<'_, A>,
        preconditioner: &mut P,
        x: &mut [f64],
        observer: &mut O,
    ) -> Result<Report, InputError>
    where
        A: Rows + ?Sized,
        P: Preconditioner + ?Sized,
        O: Observer + ?Sized;

    /// Solves without a preconditioner and unobserved.
    fn run<A: Rows + ?Sized>(&self, problem: &BoxMlcp<'_, A>, x: &mut [f64]) -> Report {
        self.attempt(problem, &mut Identity, x, &mut ()).unwrap()
    }

    /// Solves without a preconditioner, observed.
    fn observed<A: Rows + ?Sized, O: Observer + ?Sized>(
        &self,
        problem: &BoxMlcp<'_, A>,
        x: &mut [f64],
        observer: &mut O,
    ) -> Report {
        self.attempt(problem, &mut Identity, x, observer).unwrap()
    }

    /// Solves with a preconditioner, unobserved.
    fn preconditioned<A: Rows + ?Sized, P: Preconditioner + ?Sized>(
        &self,
        problem: &BoxMlcp<'_, A>,
        preconditioner: &mut P,
        x: &mut [f64],
    ) -> Report {
        self.attempt(problem, preconditioner, x, &mut ()).unwrap()
    }
}

macro_rules! methods {
    ($($module:ident $settings:ty $(, $preconditioned:ident)?;)+) => {
        $(
            impl Run for $settings {
                fn bound(&self) -> f64 {
                    self.tolerance
                }

                fn attempt<A, P, O>(
                    &self,
                    problem: &BoxMlcp<'_, A>,
                    preconditioner: &mut P,
                    x: &mut [f64],
                    observer: &mut O,
                ) -> Result<Report, InputError>
                where
                    A: Rows + ?Sized,
                    P: Preconditioner + ?Sized,
                    O: Observer + ?Sized,
                {
                    let workspace = &mut $module::Workspace::default();
                    methods!(@call $module, problem, self, preconditioner, x, workspace, observer $(, $preconditioned)?)
                }
            }
        )+
    };
    (@call $m:ident, $p:ident, $s:ident, $pre:ident, $x:ident, $w:ident, $o:ident, preconditioned) => {
        $m::solve($p, $s, $pre, $x, $w, $o)
    };
    (@call $m:ident, $p:ident, $s:ident, $pre:ident, $x:ident, $w:ident, $o:ident) => {{
        let _ = $pre;
        $m::solve($p, $s, $x, $w, $o)
    }};
}

methods! {
    newton newton::Settings, preconditioned;
    fischer fischer::Settings, preconditioned;
    policy policy::Settings, preconditioned;
    penalty penalty::Settings, preconditioned;
    mprgp mprgp::Settings, preconditioned;
    linear linear::Settings, preconditioned;
    interior_point interior_point::Settings;
    jacobi jacobi::Settings;
    pgs pgs::Settings;
    psor psor::Settings;
    start start::Settings;
    enumerate enumerate::Settings;
}

/// What holds for every report: a finite `x` in its bounds, a residual recomputed there, and success only within the
/// tolerance.
pub fn check<A: Operator + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    report: &Report,
    x: &[f64],
    tolerance: f64,
) {
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(
        report.residual == residual || (report.residual.is_nan() && residual.is_nan()),
        "{report:?}"
    );
    let converged = report.status == Status::Converged;
    assert_eq!(converged, residual <= tolerance, "{report:?}");
    for i in 0..x.len() {
        assert!(problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i]);
    }
}

/// Solves, and checks what holds for every report.
pub fn checked<S: Run, A: Rows + ?Sized>(
    problem: &BoxMlcp<'_, A>,
    settings: S,
    preconditioner: &mut (impl Preconditioner + ?Sized),
    x: &mut [f64],
    observer: &mut (impl Observer + ?Sized),
) -> Report {
    let report = settings
        .attempt(problem, preconditioner, x, observer)
        .unwrap();
    check(problem, &report, x, settings.bound());
    report
}

/// A setting out of range is an error that names it.
pub fn refused(settings: impl Run, expected: &str) {
    let matrix = from_rows(vec![vec![(0, 2.0)], vec![(1, 2.0)]]);
    let problem = BoxMlcp::new(&matrix, &[1.0; 2], &[0.0; 2], &[1.0; 2]).unwrap();
    let error = settings.attempt(&problem, &mut Identity, &mut [0.0; 2], &mut ());
    let error = error.unwrap_err();
    assert!(
        matches!(error, InputError::Setting { name, .. } if name == expected),
        "{expected}: {error}"
    );
}

/// `max |a_i - b_i|`
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// MIC(0) of an instance.
pub fn mic(instance: &Instance) -> Mic0 {
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    mic
}

/// The bits of a vector.
pub fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// The result of a computation, which must be the same with 1, 2, 3 and 4 threads.
pub fn same_for_all_threads<T: PartialEq + Send>(compute: impl Fn() -> T + Sync) -> T {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(&compute)
    };
    let one = with(1);
    assert!((2..=4).all(|threads| with(threads) == one));
    one
}

/// A random matrix of any kind with entries of any size, with a right-hand side, bounds and a start.
pub struct Hostile {
    pub matrix: Csr,
    pub rhs: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub start: Vec<f64>,
}

impl Hostile {
    pub fn new(seed: u64, n: usize, scale: f64) -> Self {
        let mut random = Random::new(seed);
        let mut entries = vec![Vec::new(); n];
        for i in 0..n {
            for j in 0..n {
                if i == j || random.chance(0.7) {
                    entries[i].push((j as u32, scale * random.between(-1.0, 1.0)));
                }
            }
        }
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
        for i in 0..n {
            match random.below(5) {
                0 => lower[i] = 0.0,
                1 => upper[i] = random.between(-1.0, 1.0),
                2 => (lower[i], upper[i]) = (-1.0, 1e300),
                3 => (lower[i], upper[i]) = (0.5, 0.5),
                _ => {}
            }
        }
        let size = |random: &mut Random| 10_f64.powi(random.below(4) as i32 * 100);
        let rhs = (0..n)
            .map(|_| random.between(-1.0, 1.0) * size(&mut random))
            .collect();
        let start = (0..n).map(|_| random.between(-1.0, 1.0) * 1e10).collect();
        Self {
            matrix: from_rows(entries),
            rhs,
            lower,
            upper,
            start,
        }
    }

    pub fn problem(&self) -> BoxMlcp<'_, Csr> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper).unwrap()
    }
}
