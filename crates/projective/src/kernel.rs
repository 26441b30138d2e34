//! The cubic spline kernel, and its integral over half-spaces.

use std::f64::consts::PI;

use crate::real::Real;

/// Support of the kernel, in particle spacings. In 2D a support of two spacings has only eight neighbours with any weight,
/// too few to keep layers apart at an impact.
pub const fn support<const D: usize>() -> f64 {
    if D == 2 { 2.6 } else { 2.0 }
}

/// Cubic spline kernel with support `h`, in branch-free form:
/// `W(r) = 2 k ((1 - q)³₊ - 4 (1/2 - q)³₊)` with `q = r / h`, and
/// `W'(r) / r = -6 k / h² ((1 - q)²₊ - 4 (1/2 - q)²₊) / q`.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<R> {
    /// `1 / h`.
    pub inverse_support: R,
    /// `2 k V`, with the volume `V` of a particle.
    pub weight: R,
    /// `6 k V / h²`.
    pub slope: R,
    /// `V W(0)`.
    pub own: R,
}

impl<R: Real> Kernel<R> {
    /// Kernel of particles at a distance of `spacing` in `D` dimensions, times a volume that makes the density of their
    /// lattice exactly one.
    pub fn new<const D: usize>(spacing: f64) -> Self {
        let h = support::<D>() * spacing;
        let k = normalisation::<D>(h);
        let volume = volume::<D>(spacing);
        Self {
            inverse_support: R::of(1.0 / h),
            weight: R::of(2.0 * k * volume),
            slope: R::of(6.0 * k * volume / (h * h)),
            own: R::of(k * volume),
        }
    }

    /// `V W(r)`.
    #[inline(always)]
    pub fn value(&self, r: R) -> R {
        let q = r * self.inverse_support;
        let a = (R::ONE - q).max(R::ZERO);
        let b = (R::of(0.5) - q).max(R::ZERO);
        self.weight * (a * a * a - R::of(4.0) * (b * b * b))
    }

    /// `V W'(r) / r`, from the square of the distance.
    #[inline(always)]
    pub fn slope(&self, r2: R) -> R {
        let q = r2.sqrt() * self.inverse_support;
        let a = (R::ONE - q).max(R::ZERO);
        let b = (R::of(0.5) - q).max(R::ZERO);
        -self.slope * (a * a - R::of(4.0) * (b * b)) / (q + R::of(1e-9))
    }
}

/// `k` of the kernel.
fn normalisation<const D: usize>(h: f64) -> f64 {
    match D {
        2 => 40.0 / (7.0 * PI * h * h),
        _ => 8.0 / (PI * h * h * h),
    }
}

/// The kernel without a volume.
fn value<const D: usize>(r: f64, h: f64) -> f64 {
    let q = r / h;
    let (a, b) = ((1.0 - q).max(0.0), (0.5 - q).max(0.0));
    2.0 * normalisation::<D>(h) * (a * a * a - 4.0 * b * b * b)
}

/// Volume of a particle in sums over kernels: with it, the density in the lattice is one. In 3D it is 1.00003 times that
/// of a cell of the lattice, in 2D 0.9992 times.
fn volume<const D: usize>(spacing: f64) -> f64 {
    1.0 / lattice_sum::<D>(spacing, -3)
}

/// Derivative of the sum of the kernel over the layers of a lattice beyond one, by the distance from them.
fn lattice_slope<const D: usize>(spacing: f64) -> f64 {
    let h = support::<D>() * spacing;
    let step = 1e-5 * spacing;
    let mut sum = 0.0;
    for i in 1..=3 {
        for j in -3..=3 {
            for k in -3..=3 {
                if D == 3 || k == 0 {
                    let across = f64::from(j * j + k * k) * spacing * spacing;
                    let at = |z: f64| value::<D>((z * z + across).sqrt(), h);
                    let z = f64::from(i) * spacing;
                    sum += (at(z + step) - at(z - step)) / (2.0 * step);
                }
            }
        }
    }
    sum
}

/// Sum of the kernel over the points of a lattice, from a layer on.
fn lattice_sum<const D: usize>(spacing: f64, from: i32) -> f64 {
    let mut sum = 0.0;
    for i in from..=3 {
        for j in -3..=3 {
            for k in -3..=3 {
                if D == 3 || k == 0 {
                    let r = f64::from(i * i + j * j + k * k).sqrt() * spacing;
                    sum += value::<D>(r, support::<D>() * spacing);
                }
            }
        }
    }
    sum
}

/// Share of the kernel beyond a plane, as a table over the distance from the plane.
#[derive(Clone, Debug)]
pub struct HalfSpace {
    support: f64,
    /// Share beyond, and its derivative, at equal distances from 0 to the support.
    table: Vec<(f64, f64)>,
    /// Share of a wall, and its derivative, at equal distances from minus the support to the support.
    wall: Vec<(f64, f64)>,
    first_layer: f64,
}

/// Intervals of the table.
const INTERVALS: usize = 1024;
/// Intervals of the integral over a plane.
const PLANE_INTERVALS: usize = 64;

impl HalfSpace {
    /// Table for the kernel of particles at a distance of `spacing`.
    pub fn new<const D: usize>(spacing: f64) -> Self {
        let support = support::<D>() * spacing;
        let step = support / INTERVALS as f64;
        // The share beyond is the integral of that in the planes beyond, here by Simpson's rule.
        let plane = |z: f64| plane_integral::<D>(z, support);
        let mut table = vec![(0.0, 0.0); INTERVALS + 1];
        for i in (0..INTERVALS).rev() {
            let z = i as f64 * step;
            let slice = (plane(z) + 4.0 * plane(z + 0.5 * step) + plane(z + step)) * step / 6.0;
            table[i] = (table[i + 1].0 + slice, -plane(z));
        }
        let half = 0.5 / table[0].0;
        for (share, slope) in &mut table {
            *share *= half;
            *slope *= half;
        }
        let mut plane = Self {
            support,
            table,
            wall: Vec::new(),
            first_layer: 0.0,
        };
        let (share, slope) = (lattice_sum::<D>(spacing, 1), lattice_slope::<D>(spacing));
        let share = share / lattice_sum::<D>(spacing, -3);
        let (mut low, mut high) = (0.0, support);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if plane.at(middle).0 > share {
                low = middle;
            } else {
                high = middle;
            }
        }
        plane.first_layer = 0.5 * (low + high);
        let slope = slope / lattice_sum::<D>(spacing, -3);
        let steepness = 2.0 * slope / plane.at(plane.first_layer).1 - 1.0;
        let places = (0..=2 * INTERVALS).map(|i| i as f64 * step - support);
        plane.wall = places
            .map(|z| steeper(plane.at(z), share, steepness))
            .collect();
        plane
    }

    /// Distance at which a plane has the share of a lattice that begins one spacing away.
    pub fn first_layer(&self) -> f64 {
        self.first_layer
    }

    /// Share of a wall at the signed distance `z`, and its derivative: with the share `F` of the half-space and that of the first
    /// layer of a lattice, `F_0`, the share `f` has `logit f = logit F + k w (logit F - logit F_0)`, where `w = min(F / F_0, 1)²`.
    /// Where `F = F_0` it has the same value and `1 + k` times the slope, which is twice that of the lattice; farther away it is
    /// hardly changed, and it stays between zero and one.
    pub fn of_wall(&self, z: f64) -> (f64, f64) {
        if z.abs() >= self.support {
            return (if z > 0.0 { 0.0 } else { 1.0 }, 0.0);
        }
        let step = self.support / INTERVALS as f64;
        interpolated(&self.wall, z + self.support, step)
    }

    /// Largest distance at which a plane matters.
    pub fn support(&self) -> f64 {
        self.support
    }

    /// Share of the kernel beyond a plane at the signed distance `z`, and its derivative.
    pub fn at(&self, z: f64) -> (f64, f64) {
        let distance = z.abs();
        if distance >= self.support {
            return (if z > 0.0 { 0.0 } else { 1.0 }, 0.0);
        }
        let step = self.support / INTERVALS as f64;
        let (share, slope) = interpolated(&self.table, distance, step);
        if z < 0.0 {
            (1.0 - share, slope)
        } else {
            (share, slope)
        }
    }
}

/// Cubic Hermite interpolation in a table of values and derivatives: the derivative of the first result is exactly the second.
fn interpolated(table: &[(f64, f64)], distance: f64, step: f64) -> (f64, f64) {
    let place = distance / step;
    let i = (place as usize).min(table.len() - 2);
    let t = place - i as f64;
    let ((f0, d0), (f1, d1)) = (table[i], table[i + 1]);
    let (t2, t3) = (t * t, t * t * t);
    let share = f0 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + f1 * (3.0 * t2 - 2.0 * t3)
        + step * (d0 * (t3 - 2.0 * t2 + t) + d1 * (t3 - t2));
    let slope = (f0 - f1) * 6.0 * (t2 - t) / step
        + d0 * (3.0 * t2 - 4.0 * t + 1.0)
        + d1 * (3.0 * t2 - 2.0 * t);
    (share, slope)
}

/// A share and its derivative by the distance, made steeper for walls.
fn steeper((share, slope): (f64, f64), first_layer: f64, steepness: f64) -> (f64, f64) {
    if share <= 1e-12 || share >= 1.0 - 1e-12 {
        return (share, slope);
    }
    let logit = |share: f64| (share / (1.0 - share)).ln();
    let apart = logit(share) - logit(first_layer);
    let part = (share / first_layer).min(1.0);
    let weight = steepness * part * part;
    let bent = 1.0 / (1.0 + (-logit(share) - weight * apart).exp());
    let turn = match part < 1.0 {
        true => 2.0 * steepness * part / first_layer * apart,
        false => 0.0,
    };
    let factor = (1.0 + weight) / (share * (1.0 - share)) + turn;
    (bent, bent * (1.0 - bent) * factor * slope)
}

/// Integral of the kernel over a plane (a line in 2D) at distance `z`.
fn plane_integral<const D: usize>(z: f64, h: f64) -> f64 {
    if z >= h {
        return 0.0;
    }
    let radius = (h * h - z * z).sqrt();
    let step = radius / PLANE_INTERVALS as f64;
    let integrand = |t: f64| {
        let w = value::<D>((z * z + t * t).sqrt(), h);
        if D == 2 { 2.0 * w } else { 2.0 * PI * t * w }
    };
    let mut sum = integrand(0.0) + integrand(radius);
    for i in 1..PLANE_INTERVALS {
        sum += integrand(i as f64 * step) * if i % 2 == 1 { 4.0 } else { 2.0 };
    }
    sum * step / 3.0
}
