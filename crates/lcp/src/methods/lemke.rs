//! Complementary pivoting after Lemke. [Erl13 sec. 5.1]
//!
//! The problem is brought to the form of an LCP (see below) and covered,
//!
//! ```text
//! w = M z + q + d z0,    z >= 0,  w >= 0,  z0 >= 0,    z_i w_i = 0
//! ```
//!
//! with a covering vector `d > 0` and `z0` as large as needed. Then one variable after the other enters the basis,
//! always the partner of the one that just left it, until `z0` leaves: `z` is a solution. Where nothing limits the
//! entering variable, the path ends on a ray.
//!
//! | symbol | meaning |
//! | --- | --- |
//! | `z`, `w` | `x - l` and `y` on most rows; `u - x` and `-y` where there is an upper bound alone |
//! | `z0`, `d` | the artificial variable and its covering vector |
//! | `T` | the dictionary: the basic variables as functions of the others and of the constant 1 |
//!
//! On a box: fixed rows are constants, free rows are solved for first, a second bound adds a row, `[A I; -I 0]`. Of
//! all variables that limit the entering one the lexicographically first leaves, so that no basis can come twice; where
//! rounding makes one come twice nevertheless, the path is left for another one, on which larger differences count as rounding.
//!
//! [`Status::Infeasible`] is given only if the ray, what is left of the free rows, or a linear programme proves that there
//! is no solution. For positive semidefinite (and other copositive-plus) matrices it always does. A ray that proves
//! nothing is left for another path, with another covering vector, then also from another start, in which some `z`
//! are basic in place of their `w`; when all of them end on one, the status is [`Status::NonDescent`].
//!
//! ```
//! use meniscus_lcp::methods::lemke;
//! use meniscus_lcp::{BoxMlcp, Dense, Status};
//!
//! // Not symmetric, and the first row has a zero on its diagonal.
//! let matrix = Dense::new(2, vec![0.0, -1.0, 1.0, 1.0])?;
//! let problem = BoxMlcp::new(&matrix, &[1.0, -3.0], &[0.0; 2], &[f64::INFINITY, 2.0])?;
//! let mut x = [0.0; 2];
//! let settings = lemke::Settings::default();
//! let mut workspace = lemke::Workspace::default();
//! let report = lemke::solve(&problem, &settings, &mut x, &mut workspace, &mut ())?;
//! assert_eq!(report.status, Status::Converged);
//! assert_eq!(x, [2.0, 1.0]);
//! # Ok::<(), meniscus_lcp::InputError>(())
//! ```

pub use super::pivoting::Settings;

use std::ops::ControlFlow;

use super::pivoting::Course;
use super::pivoting::path::{PATHS, Path, Point};
use super::pivoting::standard::Standard;
use crate::error::InputError;
use crate::problem::BoxMlcp;
use crate::report::{Observer, Report, Status};
use crate::rows::Rows;

/// Scratch memory of the method, reused between solves.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    course: Course,
    standard: Standard,
    path: Path,
    point: Point,
}

/// Solves the problem. The given `x` is returned if it is a solution, and has no other influence.
///
/// Takes any matrix, free rows and all bounds. It finds a solution, or proves that there is none, whenever the matrix
/// is positive semidefinite (symmetric or not); and it finds one for P-matrices, for polyhedral cones such as those of
/// [`gallery::contact_cone`](crate::gallery::contact_cone()), and where every row has two finite bounds, whatever the matrix, though
/// the path can then be long.
pub fn solve(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    x: &mut [f64],
    workspace: &mut Workspace,
    observer: &mut (impl Observer + ?Sized),
) -> Result<Report, InputError> {
    let Workspace {
        course,
        standard,
        path,
        point,
    } = workspace;
    if let Some(status) = course.begin(problem, settings, x, observer)? {
        return Ok(course.end(problem, settings, status, x));
    }
    point.resize(problem.len());
    if !standard.build(&course.scaled)
        && course
            .scaled
            .is_infeasible(problem, &mut standard.contradiction)
    {
        return Ok(course.end(problem, settings, Status::Infeasible, x));
    }
    let mut status = Status::Stagnated;
    for number in 0..PATHS {
        path.begin(standard, number);
        match follow(problem, settings, (course, standard, path, point), observer) {
            ControlFlow::Break(ended) => {
                status = ended;
                break;
            }
            ControlFlow::Continue(left) => status = left,
        }
    }
    if status == Status::NonDescent {
        // No path led anywhere. That the signs alone cannot be met is known sooner than that no solution exists.
        point.prove(standard, course.pivots_left());
        if course.scaled.is_infeasible(problem, &mut point.x) {
            status = Status::Infeasible;
        }
    }
    Ok(course.end(problem, settings, status, x))
}

/// Follows one path. Breaks with the status that ends the solve; continues with the status if no other path does better.
fn follow(
    problem: &BoxMlcp<'_, impl Rows + ?Sized>,
    settings: &Settings,
    (course, standard, path, point): (&mut Course, &Standard, &mut Path, &mut Point),
    observer: &mut (impl Observer + ?Sized),
) -> ControlFlow<Status, Status> {
    if course.pivots_left() == 0 {
        return ControlFlow::Break(Status::IterationLimit);
    }
    let mut entering = path.cover();
    loop {
        path.point(standard, point);
        if let ControlFlow::Break(ended) = course.step(problem, (&point.x, &point.y), observer) {
            return ControlFlow::Break(ended);
        }
        let Some(variable) = entering else {
            break;
        };
        if path.is_back() {
            return ControlFlow::Continue(Status::Stagnated);
        }
        if let Some(row) = path.blocking(variable) {
            entering = path.exchange(row, variable);
            continue;
        }
        // A ray. On a singular matrix the last of z0 may be rounding.
        if path.is_nearly_uncovered()
            && course.settle(problem, settings, &point.active, &mut point.x)
        {
            return ControlFlow::Break(Status::Converged);
        }
        path.ray(standard, variable, &mut point.x);
        let proved = course.scaled.is_infeasible(problem, &mut point.x);
        return if proved {
            ControlFlow::Break(Status::Infeasible)
        } else {
            ControlFlow::Continue(Status::NonDescent)
        };
    }
    if course.settle(problem, settings, &point.active, &mut point.x) {
        ControlFlow::Break(Status::Converged)
    } else {
        ControlFlow::Continue(Status::Stagnated)
    }
}
