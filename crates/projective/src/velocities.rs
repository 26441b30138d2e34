//! Velocities at the end of a step.

use rayon::prelude::*;

use crate::cells::CHUNK;
use crate::constraints::Constraints;
use crate::kernel::Kernel;
use crate::particles::Particles;
use crate::real::{Real, Vec4};
use crate::reduce::sum_and_max;
use crate::settings::Settings;
use crate::solve::Unknowns;

/// Velocities from the change of positions, smoothed, and the new positions. Returns the force of the liquid on all solids:
/// forces between particles cancel, so it is what changes their total momentum besides gravity.
pub fn finish<const D: usize, R: Real>(
    particles: &mut Particles<R>,
    unknowns: &Unknowns<R>,
    constraints: &Constraints<R>,
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
    let smoothing = Smoothing {
        constraints,
        kernel,
        position: &unknowns.position,
    };
    smoothing.apply(settings, &mut velocity);
    velocity.truncate(n);
    particles.velocity = velocity;
    particles.position.copy_from_slice(&unknowns.position[..n]);
    force
}

/// Smoothing of velocities with the differences to the neighbours, `(S v)_i = V Σ_j W_ij (v_j - v_i)`. It is symmetric, so
/// momentum is conserved.
struct Smoothing<'a, R> {
    constraints: &'a Constraints<R>,
    kernel: &'a Kernel<R>,
    position: &'a [Vec4<R>],
}

impl<R: Real> Smoothing<'_, R> {
    /// `v += xsph S v - filter S S v`: the first is XSPH, a viscosity; the second damps only what changes from particle to
    /// particle, such as layers that move against each other, which no density sees to first order.
    fn apply<const D: usize>(&self, settings: &Settings<D>, velocity: &mut [Vec4<R>]) {
        if settings.xsph == 0.0 && settings.filter == 0.0 {
            return;
        }
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
        let difference = |i: usize| {
            if i == n {
                return Vec4::ZERO;
            }
            let list = &self.constraints.lists[i / CHUNK];
            let mut sum = Vec4::ZERO;
            for &j in &list.neighbour[list.range(i % CHUNK)] {
                let apart = self.position[i] - self.position[j as usize];
                let weight = self.kernel.value(apart.dot(apart).sqrt());
                sum = sum.plus(weight, v[j as usize] - v[i]);
            }
            sum
        };
        (0..=n).into_par_iter().map(difference).collect()
    }
}
