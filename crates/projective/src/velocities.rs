//! Velocities at the end of a step.

use rayon::prelude::*;

use crate::cells::{CHUNK, LANES, ListChunk};
use crate::constraints::Constraints;
use crate::kernel::Kernel;
use crate::particles::Particles;
use crate::real::{Real, Vec4};
use crate::reduce::sum_and_max;
use crate::settings::Settings;
use crate::simd::{Width, for_every_width};
use crate::solve::Unknowns;

/// Velocities from the change of positions, smoothed, and the new positions. Returns the force of the liquid on all solids:
/// forces between particles cancel, so it is what changes their total momentum besides gravity.
pub fn finish<const D: usize, R: Real>(
    particles: &mut Particles<R>,
    unknowns: &Unknowns<R>,
    constraints: &mut Constraints<R>,
    kernel: &Kernel<R>,
    settings: &Settings<D>,
    dt: f64,
    fall_time: f64,
) -> [f64; 3] {
    let n = particles.len();
    let rate = R::of(1.0 / dt);
    let mut velocity: Vec<Vec4<R>> = unknowns.position[..n]
        .par_iter()
        .zip(&particles.position)
        .map(|(y, x)| (*y - *x).scaled(rate).xyz())
        .collect();
    let mut force = [0.0; 3];
    for axis in 0..D {
        let (gained, _) = sum_and_max(n, |i| {
            velocity[i].0[axis].wide() - particles.velocity[i].0[axis].wide()
        });
        let fallen = n as f64 * settings.gravity[axis] * fall_time;
        force[axis] = settings.particle_mass() * (fallen - gained) / dt;
    }
    velocity.push(Vec4::ZERO);
    if settings.xsph > 0.0 || settings.filter > 0.0 {
        let lists = &mut constraints.lists;
        Smoothing::new(lists, kernel, &unknowns.position).apply(settings, &mut velocity);
    }
    velocity.truncate(n);
    particles.velocity = velocity;
    particles.position.copy_from_slice(&unknowns.position[..n]);
    force
}

/// Smoothing of velocities with the differences to the neighbours, `(S v)_i = V Σ_j W_ij (v_j - v_i)`. It is symmetric, so
/// momentum is conserved. The weights `V W_ij` are in the lists, in place of what a linearisation keeps there.
struct Smoothing<'a, R>(&'a [ListChunk<R>]);

impl<'a, R: Real> Smoothing<'a, R> {
    fn new(lists: &'a mut [ListChunk<R>], kernel: &Kernel<R>, position: &[Vec4<R>]) -> Self {
        let width = Width::widest();
        lists.par_iter_mut().enumerate().for_each(|(chunk, list)| {
            weigh::<R>(width, kernel, position, chunk * CHUNK, list);
        });
        Self(lists)
    }

    /// `v += xsph S v - filter S S v`: the first is XSPH, a viscosity; the second damps only what changes from particle to
    /// particle, such as layers that move against each other, which no density sees to first order.
    fn apply<const D: usize>(&self, settings: &Settings<D>, velocity: &mut [Vec4<R>]) {
        let first = self.differences(velocity);
        let second = match settings.filter > 0.0 {
            true => self.differences(&first),
            false => first.clone(),
        };
        let (xsph, filter) = (R::of(settings.xsph), R::of(-settings.filter));
        let changed = velocity.par_iter_mut().zip(&first).zip(&second);
        changed.for_each(|((v, first), second)| *v = v.plus(xsph, *first).plus(filter, *second));
    }

    /// `S v`, with the padding at the end.
    fn differences(&self, v: &[Vec4<R>]) -> Vec<Vec4<R>> {
        let n = v.len() - 1;
        let mut result = vec![Vec4::ZERO; n + 1];
        let width = Width::widest();
        let chunks = result[..n].par_chunks_mut(CHUNK).zip(self.0);
        chunks.enumerate().for_each(|(chunk, (result, list))| {
            differences_of::<R>(width, v, chunk * CHUNK, list, result);
        });
        result
    }
}

for_every_width! {
    /// Sets the weights of the pairs of a chunk that begins with the particle `first`.
    fn weigh<R>(kernel: &Kernel<R>, position: &[Vec4<R>], first: usize, list: &mut ListChunk<R>) {
        for i in 0..list.start.len() - 1 {
            let x = position[first + i];
            let range = list.range(i);
            let neighbours = list.neighbour[range.clone()].chunks_exact(LANES);
            for (block, weights) in neighbours.zip(list.slope[range].chunks_exact_mut(LANES)) {
                let mut squares = [R::ZERO; LANES];
                for lane in 0..LANES {
                    let apart = x - position[block[lane] as usize];
                    squares[lane] = apart.dot(apart);
                }
                for lane in 0..LANES {
                    weights[lane] = kernel.value(squares[lane].sqrt());
                }
            }
        }
    }
}

for_every_width! {
    /// `S v` of the particles of a chunk that begins with `first`.
    fn differences_of<R>(v: &[Vec4<R>], first: usize, list: &ListChunk<R>, result: &mut [Vec4<R>]) {
        for (i, result) in result.iter_mut().enumerate() {
            let own = v[first + i];
            let range = list.range(i);
            let (weights, neighbours) = (&list.slope[range.clone()], &list.neighbour[range]);
            let mut sums = [Vec4::ZERO; 4];
            for (j, w) in neighbours.chunks_exact(4).zip(weights.chunks_exact(4)) {
                for k in 0..4 {
                    sums[k] = sums[k].plus(w[k], v[j[k] as usize] - own);
                }
            }
            *result = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
    }
}
