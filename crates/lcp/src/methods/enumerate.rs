//! Enumeration of all complementary cones of a tiny problem. [Erl13 (36)-(40)]
//!
//! A cone determines for every row whether `x_i` is at its lower bound, at its upper bound, or between them with `y_i = 0`.
//! Inside a cone all conditions are linear. Where the block `A_AA` of the rows between their bounds is regular, one
//! solve gives the only point in question; where it is singular, a linear programme determines whether the cone holds a
//! solution, and whether it holds a whole face of them. There are two cones for each row with one bound and three for
//! each row with two, multiplied: this is an oracle, not a method for problems of any size.
//!
//! ```
//! use meniscus_lcp::methods::enumerate;
//! use meniscus_lcp::{BoxMlcp, Dense};
//!
//! // x = 0 and x = 1 solve 0 <= x, 1 - x >= 0, x (1 - x) = 0
//! let matrix = Dense::new(1, vec![-1.0])?;
//! let problem = BoxMlcp::new(&matrix, &[1.0], &[0.0], &[f64::INFINITY])?;
//! let settings = enumerate::Settings::default();
//! let found = enumerate::all(&problem, &settings, &mut Default::default(), &mut ())?;
//! let points: Vec<f64> = found.solutions.iter().map(|solution| solution.x[0]).collect();
//! assert_eq!(points, [0.0, 1.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

use super::pivoting::cone::{Cone, SAME};
use super::pivoting::{self, Course};
use crate::error::{InputError, check_positive};
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;

settings! {
    /// Settings of the enumeration.
    pub struct Settings {
        /// Bound on `||r||_inf` of the natural residual of a solution.
        pub tolerance: f64 = 1e-8,
        /// A problem with more cones than this is refused. The default allows 20 rows with one bound, or 12 with two.
        pub max_cones: usize = 1 << 20,
    }
}

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    course: Course,
    cone: Cone,
}

/// A solution, as found in a cone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// The solution; where its cone holds more than one, a corner of them.
    pub x: Vec<f64>,
    /// `||r||_inf` of its natural residual.
    pub residual: f64,
    /// Whether one of its cones holds more solutions than this.
    pub is_face: bool,
}

/// Result of an enumeration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solutions {
    /// One solution per cone, in the order of the cones. Empty if there is none, or if the enumeration was stopped before.
    pub solutions: Vec<Solution>,
    /// Number of cones examined.
    pub cones: usize,
    /// Whether the observer stopped the enumeration, so that there may be more solutions.
    pub is_stopped: bool,
}

/// Examines every cone.
pub fn all(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Solutions, InputError> {
    let start = vec![0.0; problem.len()];
    let mut solutions: Vec<Solution> = Vec::new();
    let (cones, status) = look(
        problem,
        settings,
        workspace,
        &start,
        observer,
        &mut |found| {
            let same = |other: &&mut Solution| {
                let size = 1.0 + crate::reduce::largest(&other.x);
                let mut pairs = other.x.iter().zip(found.x);
                pairs.all(|(a, b)| (a - b).abs() <= SAME * size)
            };
            match solutions.iter_mut().find(same) {
                Some(known) => known.is_face |= found.is_face,
                None => solutions.push(Solution {
                    x: found.x.to_vec(),
                    residual: found.residual,
                    is_face: found.is_face,
                }),
            }
            true
        },
    )?;
    Ok(Solutions {
        solutions,
        cones,
        is_stopped: status == Some(Status::Stopped),
    })
}

/// The first solution, in the order of the cones; the given `x` if it is one.
///
/// Takes any matrix and all bounds, as long as there are few cones. [`Status::Infeasible`] means that no cone holds a
/// solution, and [`Status::NonFinite`] that the numbers of the problem cannot be worked with.
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let mut found = false;
    let (_, status) = look(problem, settings, workspace, x, observer, &mut |_| {
        found = true;
        false
    })?;
    let status = status.unwrap_or(if found {
        Status::Converged
    } else {
        Status::Infeasible
    });
    let as_pivoting = settings.as_pivoting();
    Ok(workspace.course.end(problem, &as_pivoting, status, x))
}

impl Settings {
    fn as_pivoting(&self) -> pivoting::Settings {
        pivoting::Settings {
            tolerance: self.tolerance,
            max_iterations: usize::MAX,
        }
    }
}

/// A point that solves the problem.
struct Found<'a> {
    x: &'a [f64],
    residual: f64,
    is_face: bool,
}

/// A residual no larger than this part of the terms it is made of is rounding.
const ROUNDING: f64 = 1e-12;

/// The largest sum of magnitudes that an entry of `A x + b` is made of.
fn size(problem: &BoxMlcp<'_, impl Rows + ?Sized>, x: &[f64]) -> f64 {
    (0..problem.len()).fold(0.0, |largest: f64, row| {
        let mut sum = problem.rhs()[row].abs();
        let matrix = problem.matrix();
        matrix.visit_row(row, &mut |column, value| sum += (value * x[column]).abs());
        largest.max(sum)
    })
}

/// Looks into cones until `take` returns false; returns how many, and what ended it before.
fn look<A, O>(
    problem: &BoxMlcp<'_, A>,
    settings: &Settings,
    Workspace { course, cone }: &mut Workspace,
    x: &[f64],
    observer: &mut O,
    take: &mut dyn FnMut(Found<'_>) -> bool,
) -> Result<(usize, Option<Status>), InputError>
where
    A: Rows + ?Sized,
    O: Observer + ?Sized,
{
    check_positive("tolerance", settings.tolerance)?;
    let count = (0..problem.len()).try_fold(1_usize, |count, i| {
        let (l, u) = (problem.lower()[i], problem.upper()[i]);
        count.checked_mul(match (l.is_finite(), u.is_finite()) {
            _ if l == u => 1,
            (true, true) => 3,
            (false, false) => 1,
            _ => 2,
        })
    });
    if count.is_none_or(|count| count > settings.max_cones) {
        return Err(InputError::TooLarge {
            what: "complementary cones",
            limit: settings.max_cones,
        });
    }
    match course.begin(problem, &settings.as_pivoting(), x, observer)? {
        None => {}
        Some(Status::Converged) => {
            // There may be solutions other than the start.
            let (point, residual) = course.best();
            let start = Found {
                x: point,
                residual,
                is_face: false,
            };
            if !take(start) {
                return Ok((0, None));
            }
        }
        ended => return Ok((0, ended)),
    }
    cone.begin(&course.scaled);
    // A cone that holds a point which misses the tolerance by rounding is no proof that there is no solution.
    let (mut any, mut missed) = (false, false);
    loop {
        course.pivots += 1;
        let mut enough = false;
        if let Some(is_face) = cone.solve(&course.scaled) {
            course.scaled.back(&cone.x, &mut cone.point);
            problem.project(&mut cone.point);
            let residual = problem.natural_residual(&cone.point, &mut cone.y);
            if residual <= settings.tolerance {
                course.offer(&cone.point, &cone.y);
                let found = Found {
                    x: &cone.point,
                    residual,
                    is_face,
                };
                any = true;
                enough = !take(found);
            } else if residual <= ROUNDING * size(problem, &cone.point) {
                course.offer(&cone.point, &cone.y);
                missed = true;
            }
        }
        let stop = course.tell(observer).is_break();
        if enough {
            return Ok((course.pivots, None));
        }
        if stop {
            return Ok((course.pivots, Some(Status::Stopped)));
        }
        if !cone.next(&course.scaled) {
            let ended = (missed && !any).then_some(Status::Stagnated);
            return Ok((course.pivots, ended));
        }
    }
}
