//! The paper's global step with differential coordinates: `D_i = P_i` take from the positions of a constraint their mean, as
//! Bouaziz and others (2014) do, since the density does not depend on it.
//!
//! The global matrix `M/dt² + w Σ S_iᵀ (1 - 1 1ᵀ / k_i) S_i` then couples the particles. Its products are gathered in two passes:
//! every active constraint takes the mean of its positions, then every particle the means of the constraints that it is in.

use rayon::prelude::*;

use super::paper::{Path, replay};
use super::{Problem, Unknowns};
use crate::cells::CHUNK;
use crate::constraints::Constraints;
use crate::real::{Real, Vec4};
use crate::reduce::sum_and_max;

/// Iterations of conjugate gradients of a global step.
const MOST_ITERATIONS: usize = 100;

/// Sets of the active constraints.
struct Sets<'a, R> {
    constraints: &'a Constraints<R>,
    is_active: Vec<bool>,
    /// Number of positions of each constraint.
    size: Vec<R>,
}

impl<R: Real> Sets<'_, R> {
    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let list = &self.constraints.lists[i / CHUNK];
        let all = list.neighbour[list.range(i % CHUNK)].iter();
        let n = self.is_active.len();
        all.map(|&j| j as usize).filter(move |&j| j < n)
    }

    /// Mean over the positions of every active constraint.
    fn means(&self, of: impl Fn(usize, usize) -> Vec4<R> + Sync) -> Vec<Vec4<R>> {
        let mean = |i: usize| {
            if !self.is_active[i] {
                return Vec4::ZERO;
            }
            let others = self.neighbours(i).map(|j| of(i, j));
            let sum = others.fold(of(i, i), |sum, x| sum + x);
            sum.scaled(R::ONE / self.size[i])
        };
        (0..self.is_active.len())
            .into_par_iter()
            .map(mean)
            .collect()
    }

    /// Sum of `means` over the constraints that a particle is in.
    fn gathered(&self, j: usize, means: &[Vec4<R>]) -> Vec4<R> {
        let others = self.neighbours(j).map(|i| means[i]);
        others.fold(means[j], |sum, mean| sum + mean)
    }
}

/// The global step: the positions that are nearest to the projections `paths`, of which `sums` has the number and the sum for
/// every particle. Returns the number of iterations.
pub fn global_step<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &Constraints<R>,
    unknowns: &mut Unknowns<R>,
    paths: &[Path<R>],
    sums: &[(R, Vec4<R>)],
    (inertia, weight): (R, R),
) -> usize {
    let n = paths.len();
    let mut sets = Sets {
        constraints,
        is_active: paths.iter().map(|path| path.len > 0).collect(),
        size: Vec::new(),
    };
    sets.size = (0..n)
        .map(|i| R::of(1.0 + sets.neighbours(i).count() as f64))
        .collect();
    let y = &unknowns.position;
    let wanted = sets.means(|i, j| match i == j {
        true => paths[i].end(),
        false => replay(problem.kernel, &paths[i], y[j]),
    });
    let product = |x: &[Vec4<R>]| -> Vec<Vec4<R>> {
        let means = sets.means(|_, j| x[j]);
        let of_particle = |j: usize| {
            let own = x[j].scaled(inertia + weight * sums[j].0);
            own.plus(-weight, sets.gathered(j, &means)).xyz()
        };
        (0..n).into_par_iter().map(of_particle).collect()
    };
    let diagonal: Vec<R> = (0..n)
        .into_par_iter()
        .map(|j| {
            let share = |i: usize| match sets.is_active[i] {
                true => R::ONE / sets.size[i],
                false => R::ZERO,
            };
            let others = sets.neighbours(j).map(share);
            inertia + weight * (sums[j].0 - others.fold(share(j), |sum, x| sum + x))
        })
        .collect();
    let right: Vec<Vec4<R>> = (0..n)
        .into_par_iter()
        .map(|j| {
            let wanted = sums[j].1 + sets.gathered(j, &wanted).scaled(-R::ONE);
            let predicted = problem.predicted[j].scaled(inertia);
            predicted.plus(weight, wanted).xyz()
        })
        .collect();
    let tolerance = if R::BYTES == 8 { 1e-12 } else { 1e-6 };
    let x = &mut unknowns.position[..n];
    conjugate_gradients(&product, &diagonal, &right, x, tolerance)
}

/// Product of a matrix with vectors of points.
type PointProduct<'a, R> = dyn Fn(&[Vec4<R>]) -> Vec<Vec4<R>> + 'a;

/// Solves `A x = b` for the three coordinates together. Returns the number of iterations.
pub(super) fn conjugate_gradients<R: Real>(
    product: &PointProduct<'_, R>,
    diagonal: &[R],
    right: &[Vec4<R>],
    x: &mut [Vec4<R>],
    tolerance: f64,
) -> usize {
    let n = right.len();
    let dot = |a: &[Vec4<R>], b: &[Vec4<R>]| sum_and_max(n, |i| a[i].dot(b[i]).wide()).0;
    let plus = |a: &mut [Vec4<R>], factor: R, b: &[Vec4<R>]| {
        let pairs = a.par_iter_mut().zip(b);
        pairs.for_each(|(a, b)| *a = a.plus(factor, *b).xyz());
    };
    let scaled = |r: &[Vec4<R>]| -> Vec<Vec4<R>> {
        let pairs = r.par_iter().zip(diagonal);
        pairs.map(|(r, d)| r.scaled(R::ONE / *d)).collect()
    };
    let mut residual = right.to_vec();
    plus(&mut residual, -R::ONE, &product(x));
    let end = tolerance * tolerance * dot(right, right);
    let mut preconditioned = scaled(&residual);
    let mut direction = preconditioned.clone();
    let mut energy = dot(&residual, &preconditioned);
    for iteration in 0..MOST_ITERATIONS {
        if dot(&residual, &residual) <= end {
            return iteration;
        }
        let image = product(&direction);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 || curvature.is_nan() {
            return iteration;
        }
        let step = R::of(energy / curvature);
        plus(x, step, &direction);
        plus(&mut residual, -step, &image);
        preconditioned = scaled(&residual);
        let next = dot(&residual, &preconditioned);
        let factor = R::of(next / energy);
        energy = next;
        let turned = direction.par_iter_mut().zip(&preconditioned);
        turned.for_each(|(p, z)| *p = z.plus(factor, *p).xyz());
    }
    MOST_ITERATIONS
}
