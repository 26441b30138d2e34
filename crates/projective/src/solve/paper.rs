//! The method as printed: local steps project every constraint onto its manifold, the global step averages.
//!
//! With `D = P = I` the global matrix is diagonal for a liquid, so that the global step is one division per particle. The
//! projections are gathered: constraint `i` keeps the multiplier and its own position of every iteration of Newton's method,
//! and a neighbour replays its own path from them, so that no two particles write to the same place.

use rayon::prelude::*;

use super::{Problem, SolveReport, Unknowns, differential, errors, push_out};
use crate::cells::CHUNK;
use crate::constraints::Constraints;
use crate::kernel::{Kernel, support};
use crate::real::{Real, Vec4};
use crate::settings::Coordinates;

/// Largest number of iterations of Newton's method in a projection.
const NEWTON: usize = 8;

/// Iterations of Newton's method that projected one constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<R> {
    pub len: usize,
    /// Multiplier, and position of the constraint's particle, before each iteration.
    steps: [(R, Vec4<R>); NEWTON],
    /// Position of the constraint's particle at the end.
    end: Vec4<R>,
}

impl<R: Copy> Path<R> {
    /// Where the projection moves the particle of its constraint.
    pub fn end(&self) -> Vec4<R> {
        self.end
    }
}

pub fn solve<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &mut Constraints<R>,
    unknowns: &mut Unknowns<R>,
) -> SolveReport {
    let settings = problem.settings;
    let n = constraints.excess.len();
    let mut report = SolveReport {
        newton_histogram: vec![0; NEWTON + 1],
        ..SolveReport::default()
    };
    unknowns.multiplier.fill(R::ZERO);
    loop {
        constraints.evaluate::<D, false>(problem.kernel, &problem.walls, &unknowns.position);
        (report.mean_error, report.max_error) = errors(constraints, &unknowns.multiplier, 0.0);
        report.has_converged =
            report.max_error <= settings.max_error && report.mean_error <= settings.mean_error;
        let is_broken = !report.max_error.is_finite();
        if report.has_converged || report.rounds == settings.rounds || is_broken {
            return report;
        }
        let paths = local_step(problem, constraints, &unknowns.position);
        for path in paths.iter().filter(|path| path.len > 0) {
            report.newton_histogram[path.len] += 1;
            report.inner_iterations += path.len;
        }
        let sums = projections(problem, constraints, &unknowns.position, &paths);
        let inertia = settings.particle_mass() / (problem.dt * problem.dt);
        let weight = R::of(weight(settings));
        if settings.coordinates == Coordinates::Differential {
            let factors = (R::of(inertia), weight);
            differential::global_step(problem, constraints, unknowns, &paths, &sums, factors);
            let moved = unknowns.position[..n].par_iter_mut();
            moved
                .zip(&constraints.is_near_wall)
                .filter(|(_, is_near_wall)| **is_near_wall)
                .for_each(|(y, _)| {
                    push_out(&problem.walls, y);
                });
            report.rounds += 1;
            continue;
        }
        let moved = unknowns.position[..n].par_iter_mut().zip(&sums);
        moved
            .zip(problem.predicted)
            .zip(&constraints.is_near_wall)
            .for_each(|(((y, &(count, sum)), s), &is_near_wall)| {
                // [WKB16 (5)] with a diagonal matrix.
                let matrix = R::of(inertia) + weight * count;
                let right = s.scaled(R::of(inertia)).plus(weight, sum);
                *y = right.scaled(R::ONE / matrix).xyz();
                if is_near_wall {
                    push_out(&problem.walls, y);
                }
            });
        report.rounds += 1;
    }
}

/// The paper's weight, in N/m, that has the bulk modulus of the settings in a lattice: `K V |∇C|²`.
pub fn weight<const D: usize>(settings: &crate::Settings<D>) -> f64 {
    let spacing = settings.spacing;
    let kernel = crate::kernel::Kernel::<f64>::new::<D>(spacing);
    let reach = support::<D>() as i32;
    let mut squares = 0.0;
    for i in -reach..=reach {
        for j in -reach..=reach {
            for k in -reach..=reach {
                let is_point = (D == 3 || k == 0) && (i, j, k) != (0, 0, 0);
                if is_point {
                    let r2 = f64::from(i * i + j * j + k * k) * spacing * spacing;
                    squares += kernel.slope(r2).powi(2) * r2;
                }
            }
        }
    }
    settings.bulk_modulus * settings.particle_volume() * squares
}

/// Bulk modulus, in Pa, of the paper's weight of constraints, in N/m, for particles at a distance of `spacing`.
pub fn bulk_modulus_of_weight<const D: usize>(paper_weight: f64, spacing: f64) -> f64 {
    let unit = crate::Settings::<D> {
        bulk_modulus: 1.0,
        ..crate::Settings::new(spacing)
    };
    paper_weight / weight(&unit)
}

/// [WKB16 alg. 1] Projects every constraint with an excess of density.
pub(super) fn local_step<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &Constraints<R>,
    y: &[Vec4<R>],
) -> Vec<Path<R>> {
    let n = constraints.excess.len();
    // The paper's 1e-14, or rounding in single precision.
    let tolerance = if R::BYTES == 8 {
        R::of(1e-14)
    } else {
        R::of(1e-6)
    };
    let kernel = problem.kernel;
    let project = |i: usize| {
        let mut path = Path {
            len: 0,
            steps: [(R::ZERO, Vec4::ZERO); NEWTON],
            end: y[i],
        };
        if constraints.excess[i] <= R::ZERO {
            return path;
        }
        let list = &constraints.lists[i / CHUNK];
        let neighbours = &list.neighbour[list.range(i % CHUNK)];
        let mut others: Vec<Vec4<R>> = neighbours.iter().map(|&j| y[j as usize]).collect();
        while path.len < NEWTON {
            let x = path.end;
            let (share, wall_gradient) = match constraints.is_near_wall[i] {
                true => problem.walls.share(x.point()),
                false => (0.0, [0.0; D]),
            };
            let mut excess = kernel.own + R::of(share) - R::ONE;
            let mut gradient = Vec4::of(wall_gradient);
            let mut squares = R::ZERO;
            for other in &others {
                let apart = x - *other;
                let r2 = apart.dot(apart);
                excess += kernel.value(r2.sqrt());
                let part = apart.scaled(kernel.slope(r2));
                gradient = gradient + part;
                squares += part.dot(part);
            }
            squares += gradient.dot(gradient);
            if !(excess > tolerance && squares > R::ZERO) {
                break;
            }
            // [WKB16 (11)], with the minus sign that it lacks.
            let multiplier = excess / squares;
            path.steps[path.len] = (multiplier, x);
            path.len += 1;
            for other in &mut others {
                let apart = x - *other;
                *other = other.plus(multiplier * kernel.slope(apart.dot(apart)), apart);
            }
            path.end = x.plus(-multiplier, gradient).xyz();
        }
        path
    };
    (0..n).into_par_iter().map(project).collect()
}

/// Where a projection moves a neighbour of its particle.
pub(super) fn replay<R: Real>(kernel: &Kernel<R>, path: &Path<R>, neighbour: Vec4<R>) -> Vec4<R> {
    let mut place = neighbour;
    for &(multiplier, center) in &path.steps[..path.len] {
        let apart = center - place;
        place = place.plus(multiplier * kernel.slope(apart.dot(apart)), apart);
    }
    place
}

/// For every particle, the number of projections that contain it, and the sum of the positions that they want.
pub(super) fn projections<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &Constraints<R>,
    y: &[Vec4<R>],
    paths: &[Path<R>],
) -> Vec<(R, Vec4<R>)> {
    let n = paths.len();
    let kernel = problem.kernel;
    let gather = |j: usize| {
        let (mut count, mut sum) = (R::ZERO, Vec4::ZERO);
        if paths[j].len > 0 {
            count += R::ONE;
            sum = paths[j].end;
        }
        let list = &constraints.lists[j / CHUNK];
        for &i in &list.neighbour[list.range(j % CHUNK)] {
            let Some(path) = paths.get(i as usize).filter(|path| path.len > 0) else {
                continue;
            };
            count += R::ONE;
            sum = sum + replay(kernel, path, y[j]);
        }
        (count, sum)
    };
    (0..n).into_par_iter().map(gather).collect()
}
