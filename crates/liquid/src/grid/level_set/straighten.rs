//! Distances from those of the mean.
//!
//! The distance of a point from the mean of the particles around it, less that on the surface, is zero on a flat surface and
//! nowhere else a distance: at the depth `d` below the surface of a half-space full of particles the mean is `h(d)` away, with
//!
//! ```text
//! h(d) = - integral of z w(z) / integral of w(z)  over z < d,      w(z) = (1 - (z / REACH)^2)^((D + 5) / 2)
//! ```
//!
//! the kernel summed over a layer at the height `z`. Its slope falls from one far outside to zero deep inside, so that between
//! a cell inside and one outside the zero would seem too low: by 0.07 cells where the surface lies between their centres. Liquid at
//! rest would have less pressure than its depth, and bodies would float too low. The inverse of `h` has the exact distance of flat
//! surfaces; most of the difference is taken.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::half_space_mean;
use super::window::{AIR, REACH};

/// Depth in cells up to which distances are told from the mean; beyond it hardly moves, and noise would count many times. The
/// zero between two cells, of which one is deeper, hardly depends on how deep.
const DEEPEST: f64 = 0.6;
/// Share of the difference between the two distances that is taken. With all of it the noise at contact lines, which counts more, too,
/// keeps a few particles in motion that should rest.
const SHARE: f64 = 0.7;
/// Height above the surface, in cells, up to which the inverse is tabulated; beyond it is straight.
const HIGHEST: f64 = 1.0;
/// Intervals of the table.
const INTERVALS: usize = 256;
/// Layers of an integral.
const LAYERS: usize = 2000;

/// Distance of the mean of a half-space from a point at some depth below its surface, in cells.
fn mean_distance<const D: usize>(depth: f64) -> f64 {
    let layer = (depth + REACH) / LAYERS as f64;
    let (mut weight, mut moment) = (0.0, 0.0);
    for k in 0..LAYERS {
        let z = -REACH + (k as f64 + 0.5) * layer;
        let rest = 1.0 - (z / REACH).powi(2);
        let kernel = match D {
            2 => rest.powi(3) * rest.sqrt(),
            _ => rest.powi(4),
        };
        weight += kernel;
        moment += kernel * z;
    }
    -moment / weight
}

/// Signed distances of flat surfaces by the distance of the mean, less that on the surface.
struct Inverse {
    /// The least and the greatest of the table's range, in cells.
    low: f32,
    high: f32,
    per_interval: f32,
    distance: [f32; INTERVALS + 1],
    /// Slope beyond the greatest.
    slope: f32,
}

impl Inverse {
    fn new<const D: usize>() -> Self {
        let surface = half_space_mean::<D>();
        let of_mean = |distance: f64| mean_distance::<D>(-distance) - surface;
        let (low, high) = (of_mean(-DEEPEST), of_mean(HIGHEST));
        let mut distance = [0.0; INTERVALS + 1];
        for (k, entry) in distance.iter_mut().enumerate() {
            let wanted = low + (high - low) * k as f64 / INTERVALS as f64;
            let (mut inside, mut outside) = (-DEEPEST, HIGHEST);
            for _ in 0..30 {
                let middle = 0.5 * (inside + outside);
                match of_mean(middle) < wanted {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            *entry = (SHARE * 0.5 * (inside + outside) + (1.0 - SHARE) * wanted) as f32;
        }
        let last = INTERVALS as f64 / (high - low);
        Self {
            low: low as f32,
            high: high as f32,
            per_interval: last as f32,
            slope: last as f32 * (distance[INTERVALS] - distance[INTERVALS - 1]),
            distance,
        }
    }

    fn of<const D: usize>() -> &'static Self {
        static PLANE: LazyLock<Inverse> = LazyLock::new(Inverse::new::<2>);
        static SPACE: LazyLock<Inverse> = LazyLock::new(Inverse::new::<3>);
        if D == 2 { &PLANE } else { &SPACE }
    }

    #[inline]
    fn at(&self, mean: f32) -> f32 {
        if mean >= self.high {
            return self.distance[INTERVALS] + self.slope * (mean - self.high);
        }
        let place = (mean.max(self.low) - self.low) * self.per_interval;
        let k = (place as usize).min(INTERVALS - 1);
        let share = place - k as f32;
        self.distance[k] + share * (self.distance[k + 1] - self.distance[k])
    }
}

/// Turns distances of means, less that on the surface, into those of surfaces. The sign stays.
pub fn straighten<const D: usize>(phi: &mut [f32], dx: f64) {
    let inverse = Inverse::of::<D>();
    let (dx, per_dx, air) = (dx as f32, (1.0 / dx) as f32, (AIR * dx) as f32);
    let straight = |phi: f32| {
        let distance = dx * inverse.at(phi * per_dx);
        match phi < 0.0 {
            true => distance.min(-f32::MIN_POSITIVE),
            false => distance.clamp(0.0, air),
        }
    };
    phi.par_chunks_mut(4096).for_each(|part| {
        for phi in part.iter_mut().filter(|phi| **phi < air) {
            *phi = straight(*phi);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const D: usize>() {
        let (dx, surface) = (0.25, half_space_mean::<D>());
        const COUNT: usize = 33;
        let mut phi: Vec<f32> = (0..COUNT)
            .map(|k| (mean_distance::<D>(DEEPEST - 0.05 * k as f64) - surface) as f32 * dx)
            .collect();
        phi.push(-(surface as f32) * dx);
        phi.push((AIR * dx as f64) as f32);
        straighten::<D>(&mut phi, dx as f64);
        for (k, &phi) in phi[..COUNT].iter().enumerate() {
            let exact = 0.05 * k as f64 - DEEPEST;
            let mean = mean_distance::<D>(-exact) - surface;
            let wanted = (SHARE * exact + (1.0 - SHARE) * mean) as f32 * dx;
            assert!((phi - wanted).abs() < 2e-3 * dx, "{phi} {wanted}");
        }
        // Deep inside, and air far from the liquid.
        assert!((phi[COUNT] - phi[0]).abs() < 1e-6);
        assert_eq!(phi[COUNT + 1], (AIR * dx as f64) as f32);
    }

    #[test]
    fn distances_from_a_flat_surface_come_closer_to_the_exact_ones() {
        check::<2>();
        check::<3>();
    }

    #[test]
    fn no_cell_changes_sides() {
        for mean in [-0.5f32, -1e-3, -1e-12, -0.0, 0.0, 1e-12, 1e-3, 0.5, 1.9] {
            let mut phi = [mean];
            straighten::<3>(&mut phi, 1.0);
            assert_eq!(phi[0] < 0.0, mean < 0.0, "{mean} {}", phi[0]);
        }
    }
}
