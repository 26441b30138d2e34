//! One way to run every method, with memory of its own, and what holds for every report.

use meniscus_lcp::methods::{
    enumerate, fischer, interior_point, jacobi, linear, mprgp, newton, penalty, pgs, policy, psor,
    start,
};
use meniscus_lcp::precondition::{Identity, Preconditioner};
use meniscus_lcp::{BoxMlcp, InputError, Observer, Operator, Report, Rows, Status};

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
