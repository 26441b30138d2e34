//! The directions of a semismooth Newton method.
//!
//! They are tried in turn until a step along one of them is accepted:
//!
//! 1. Newton: `J dx = -F` up to the forcing term, or the same for the minimum map;
//! 2. regularised: `(J'J + s D^2) dx = -J'F`, which has a solution where `J` is singular, and is always one of descent;
//! 3. gradient: `dx = -t J'F`, with the `t` that suits the linear model of `F`.
//!
//! Where the step along the first is short, the second is looked at as well, and the better one is taken.

use std::ops::ControlFlow;

use super::jacobian::{self, Difference, Jacobian, Mixed};
use super::map::{self, Kink, MeritState};
use super::{Workspace, normal};
use crate::krylov::gmres;
use crate::methods::fischer::{Inner, Settings};
use crate::operator::Operator;
use crate::precondition::Preconditioner;
use crate::problem::BoxMlcp;
use crate::reduce::{self, larger};
use crate::split::{fold, for_each};

/// Smallest forcing term: below it rounding dominates.
const SMALLEST_FORCING: f64 = 1e-10;

/// A direction that does not promise this part of the merit is nearly orthogonal to the gradient.
const PROMISE: f64 = 1e-4;

/// A Newton step that moves `x`, in units of `y`, by so many times `||F||` follows a null vector of `J`.
const FARTHEST: f64 = 1e6;

/// `x + h v` of a finite difference moves by this part of the largest `|x_i|`.
const DIFFERENCE: f64 = 1e-8;

/// Direction that is tried first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum First {
    /// A Newton step of the Fischer-Burmeister map.
    Fischer,
    /// A Newton step of the minimum map.
    MinimumMap,
    /// The gradient, and no other.
    Gradient,
}

/// The directions, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Newton,
    Regularised,
    Gradient,
}

/// Result of the search for a direction.
pub(super) struct Found {
    /// `F'J dx`, the slope of the merit along it, if the direction is of any use.
    pub slope: Option<f64>,
    pub iterations: usize,
    pub stopped: bool,
}

/// Result of a linear solve.
struct Solved {
    iterations: usize,
    /// Whether there is a direction at all.
    usable: bool,
    stopped: bool,
}

impl Solved {
    fn new(iterations: usize, usable: bool, flow: ControlFlow<()>) -> Self {
        Self {
            iterations,
            usable,
            stopped: flow.is_break(),
        }
    }
}

/// Callback with the number of iterations and the norm of the residual.
pub(super) type Watch<'a> = &'a mut dyn FnMut(usize, f64) -> ControlFlow<()>;

/// One iteration.
pub(super) struct Solve<'a, 'p, A: Operator + ?Sized> {
    pub problem: &'a BoxMlcp<'p, A>,
    pub settings: &'a Settings,
    pub first: First,
    /// `m`
    pub smoothing: f64,
    pub state: MeritState,
    /// `||F||` when the stage began.
    pub start: f64,
    pub forcing: f64,
}

impl<A: Operator + ?Sized> Solve<'_, '_, A> {
    /// The diagonals of the Jacobian, and the gradient of the merit.
    pub fn differentiate(&self, iteration: usize, w: &mut Workspace) {
        let Workspace {
            at,
            d,
            p,
            q,
            gradient,
            scratch,
            ..
        } = w;
        map::differentiate(
            self.problem,
            (&at.x, &at.y, d),
            self.smoothing,
            (self.settings.kink, iteration),
            (p, q),
        );
        let matrix = self.problem.matrix();
        Jacobian { matrix, p, q }.transposed(&at.f, scratch, gradient);
    }

    /// Leaves a direction in `w.dx`.
    pub fn direction(
        &self,
        kind: Kind,
        preconditioner: &mut (impl Preconditioner + ?Sized),
        w: &mut Workspace,
        watch: Watch<'_>,
    ) -> Found {
        let solved = match kind {
            Kind::Newton => self.newton(preconditioner, w, watch),
            Kind::Regularised => self.regularised(w, watch),
            Kind::Gradient => self.steepest(w),
        };
        let slope = reduce::dot(&w.gradient, &w.dx); // [Erl13 (104)]
        let promising = match kind {
            Kind::Gradient => slope < 0.0,
            _ => slope <= -PROMISE * self.state.squares,
        };
        let finite = reduce::largest(&w.dx).is_finite();
        Found {
            slope: (solved.usable && promising && finite).then_some(slope),
            iterations: solved.iterations,
            stopped: solved.stopped,
        }
    }

    /// `J dx = -F` up to the forcing term [Erl13 (105)], or the same for the minimum map.
    fn newton(
        &self,
        preconditioner: &mut (impl Preconditioner + ?Sized),
        w: &mut Workspace,
        watch: Watch<'_>,
    ) -> Solved {
        let Workspace {
            at,
            d,
            p,
            q,
            first,
            dx,
            r,
            scratch,
            active,
            gmres,
            normal,
            direct,
            ..
        } = w;
        let problem = self.problem;
        let (p, q): (&[f64], &[f64]) = if self.first == First::MinimumMap && self.smoothing == 0.0 {
            jacobian::minimum_map(problem, (&at.x, &at.y, d), (&mut first.0, &mut first.1, r));
            (&first.0, &first.1)
        } else {
            negate(r, &at.f);
            (p, q)
        };
        let matrix = problem.matrix();
        let jacobian = Jacobian { matrix, p, q };
        let norm = reduce::sum_of_squares(r).sqrt();
        let difference = Difference {
            problem,
            x: &at.x,
            y: &at.y,
            d,
            f: &at.f,
            smoothing: self.smoothing,
            step: DIFFERENCE * reduce::largest(&at.x).max(norm / reduce::largest(d)),
        };
        let differences = self.settings.kink == Kink::Approximation && self.first == First::Fischer;
        let enough = self.forcing.max(SMALLEST_FORCING) * norm;
        let iterations = self.settings.max_inner_iterations;
        let mut solved = match self.settings.inner {
            Inner::Gmres { restart } => {
                jacobian::rule(active, scratch, (p, q, d));
                preconditioner.restrict(active);
                let mixed = Mixed {
                    inner: &*preconditioner,
                    active,
                    ruling: scratch,
                };
                let limits = gmres::Limits {
                    norm: enough,
                    iterations,
                    restart,
                };
                dx.fill(0.0);
                let mut watch = |report: &gmres::Report| watch(report.iterations, report.norm);
                let report = if differences {
                    gmres::correct(&difference, &mixed, &limits, dx, r, gmres, &mut watch)
                } else {
                    gmres::correct(&jacobian, &mixed, &limits, dx, r, gmres, &mut watch)
                };
                Solved {
                    iterations: report.iterations,
                    usable: report.norm < norm,
                    stopped: report.status == gmres::Status::Stopped,
                }
            }
            Inner::NormalEquations => {
                let limits = normal::Limits {
                    gradient: SMALLEST_FORCING,
                    norm: enough,
                    iterations,
                    shift: 0.0,
                    d,
                };
                let (iterations, flow) =
                    normal::solve(&jacobian, &limits, dx, r, (scratch, normal), watch);
                Solved::new(iterations, true, flow)
            }
            Inner::Direct => {
                if differences {
                    scratch.fill(0.0);
                    direct.assemble_columns(dx, &mut |j, column| {
                        scratch[j] = 1.0;
                        let at = (&at.x[..], &at.y[..], &d[..], &at.f[..]);
                        let h = (self.smoothing, difference.step);
                        map::difference(problem, at, h, (scratch, column));
                        scratch[j] = 0.0;
                    });
                } else {
                    direct.assemble(p, q);
                }
                let usable = direct.solve(r, dx);
                let flow = watch(1, direct.leaves(usable, r, dx));
                Solved::new(1, usable, flow)
            }
        };
        solved.usable &= scaled_largest(d, dx) <= FARTHEST * norm;
        solved
    }

    /// `(J'J + s D^2) dx = -J'F`, with an `s` that vanishes with `F` and has no units.
    fn regularised(&self, w: &mut Workspace, watch: Watch<'_>) -> Solved {
        let Workspace {
            at,
            d,
            p,
            q,
            dx,
            r,
            scratch,
            gradient,
            normal,
            direct,
            ..
        } = w;
        let settings = self.settings;
        let shift = settings.regularisation * (self.state.norm() / self.start).min(1.0);
        if shift == 0.0 {
            return Solved::new(0, false, ControlFlow::Continue(()));
        }
        if settings.inner == Inner::Direct {
            direct.assemble(p, q);
            negate(r, gradient);
            let usable = direct.solve_normal(shift, d, r, dx);
            negate(r, &at.f);
            let flow = watch(1, direct.leaves(usable, r, dx));
            return Solved::new(1, usable, flow);
        }
        let matrix = self.problem.matrix();
        let jacobian = Jacobian { matrix, p, q };
        negate(r, &at.f);
        let limits = normal::Limits {
            gradient: self.forcing.max(SMALLEST_FORCING),
            norm: 0.0,
            iterations: settings.max_inner_iterations,
            shift,
            d,
        };
        let (iterations, flow) = normal::solve(&jacobian, &limits, dx, r, (scratch, normal), watch);
        Solved::new(iterations, true, flow)
    }

    /// `-t g` with `g = J'F` and `t = g'g / ||J g||^2`, the best step for the linear model.
    fn steepest(&self, w: &mut Workspace) -> Solved {
        let Workspace {
            p,
            q,
            dx,
            r,
            gradient,
            ..
        } = w;
        let matrix = self.problem.matrix();
        Jacobian { matrix, p, q }.apply(gradient, r);
        let t = reduce::sum_of_squares(gradient) / reduce::sum_of_squares(r);
        for_each((&mut dx[..], &gradient[..]), &|_, (dx, g)| {
            for (dx, g) in dx.iter_mut().zip(g) {
                *dx = -t * g;
            }
        });
        Solved::new(0, t.is_finite(), ControlFlow::Continue(()))
    }
}

/// `max d_i |dx_i|`
fn scaled_largest(d: &[f64], dx: &[f64]) -> f64 {
    fold(
        (d, dx),
        &|_, (d, dx)| {
            let mut largest = 0.0;
            for (d, dx) in d.iter().zip(dx) {
                largest = larger(largest, d * dx.abs());
            }
            largest
        },
        &larger,
    )
}

/// `out = -a`
fn negate(out: &mut [f64], a: &[f64]) {
    for_each((out, a), &|_, (out, a)| {
        for (out, a) in out.iter_mut().zip(a) {
            *out = -a;
        }
    });
}
