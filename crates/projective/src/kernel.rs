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

/// Share of the density of a lattice that is beyond a plane between two of its layers, as seen from the layer before it.
pub fn share_beyond_layer<const D: usize>(spacing: f64) -> f64 {
    lattice_sum::<D>(spacing, 1) / lattice_sum::<D>(spacing, -3)
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
        Self { support, table }
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
        // Cubic Hermite interpolation: the derivative of the share is exactly the slope.
        let place = distance / self.support * INTERVALS as f64;
        let i = (place as usize).min(INTERVALS - 1);
        let (t, step) = (place - i as f64, self.support / INTERVALS as f64);
        let ((f0, d0), (f1, d1)) = (self.table[i], self.table[i + 1]);
        let (t2, t3) = (t * t, t * t * t);
        let share = f0 * (2.0 * t3 - 3.0 * t2 + 1.0)
            + f1 * (3.0 * t2 - 2.0 * t3)
            + step * (d0 * (t3 - 2.0 * t2 + t) + d1 * (t3 - t2));
        let slope = (f0 - f1) * 6.0 * (t2 - t) / step
            + d0 * (3.0 * t2 - 4.0 * t + 1.0)
            + d1 * (3.0 * t2 - 2.0 * t);
        if z < 0.0 {
            (1.0 - share, slope)
        } else {
            (share, slope)
        }
    }
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
