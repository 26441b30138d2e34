//! Moments of combined solids, by adaptive quadrature over cells that the surface crosses.
//!
//! A distance never changes faster than the point moves, so a cell whose centre is farther from the surface than its
//! corners are from the centre is wholly inside or outside. Other cells are divided; the last ones count in part, as if
//! the surface were a plane.

use super::{Moments, MomentsError};
use crate::shape::Shape;
use crate::vector::norm;
use std::array::from_fn;

/// Change of volume and second moments from one depth to the next that ends the refinement.
const CONVERGED: f64 = 3e-4;
/// Cells along the longest side are two to this power at first.
const FIRST_DEPTH: usize = 5;
const LAST_DEPTH: usize = 9;

pub(super) fn moments<const D: usize>(shape: &Shape<D>) -> Result<Moments<D>, MomentsError> {
    let bounds = shape.bounds().ok_or(MomentsError::Unbounded)?;
    if bounds.is_empty() {
        return Err(MomentsError::NoVolume);
    }
    let side = (0..D).fold(0.0, |side: f64, i| side.max(bounds.high[i] - bounds.low[i]));
    if side <= 0.0 {
        return Err(MomentsError::NoVolume);
    }
    let center = from_fn(|i| 0.5 * (bounds.low[i] + bounds.high[i]));
    // Slightly larger than the box: no surface lies in the planes between cells for long.
    let half = 0.5 * side * 1.013;
    let mut last = Moments::ZERO;
    for depth in FIRST_DEPTH..=LAST_DEPTH {
        let mut sums = Sums {
            origin: center,
            ..Sums::default()
        };
        sums.add(shape, center, half, depth);
        let now = sums.moments();
        if near(&last, &now) {
            return Ok(now);
        }
        last = now;
    }
    Ok(last)
}

fn near<const D: usize>(a: &Moments<D>, b: &Moments<D>) -> bool {
    let within = |x: f64, y: f64| (x - y).abs() <= CONVERGED * y.abs();
    let size = (0..D).map(|i| b.second[i][i]).sum::<f64>() / b.volume;
    within(a.volume, b.volume)
        && (0..D).all(|i| within(a.second[i][i], b.second[i][i]))
        && (0..D).all(|i| (a.centroid[i] - b.centroid[i]).abs() <= CONVERGED * size.sqrt())
}

/// Moments about a fixed point.
struct Sums<const D: usize> {
    origin: [f64; D],
    volume: f64,
    first: [f64; D],
    second: [[f64; D]; D],
}

impl<const D: usize> Default for Sums<D> {
    fn default() -> Self {
        Self {
            origin: [0.0; D],
            volume: 0.0,
            first: [0.0; D],
            second: [[0.0; D]; D],
        }
    }
}

impl<const D: usize> Sums<D> {
    /// Adds the part of the solid in a cube.
    fn add(&mut self, shape: &Shape<D>, center: [f64; D], half: f64, depth: usize) {
        let reach = norm([half; D]);
        let distance = shape.distance(center);
        if distance >= reach {
            return;
        }
        if distance <= -reach {
            self.add_cube(center, half, 1.0);
        } else if depth > 0 {
            for corner in 0..1 << D {
                let sign = |i: usize| if corner >> i & 1 == 1 { 0.5 } else { -0.5 };
                self.add(
                    shape,
                    from_fn(|i| center[i] + sign(i) * half),
                    0.5 * half,
                    depth - 1,
                );
            }
        } else {
            // A plane at right angles to an axis crosses the cube within `half` of its centre, a tilted one within more.
            let normal = shape.gradient(center);
            let width = half * normal.iter().map(|n| n.abs()).sum::<f64>();
            let share = (0.5 - 0.5 * distance / width).clamp(0.0, 1.0);
            // The centroid of what a plane cuts off, exact for planes across an axis.
            let shift = half * (1.0 - share);
            self.add_cube(from_fn(|i| center[i] - shift * normal[i]), half, share);
        }
    }

    fn add_cube(&mut self, center: [f64; D], half: f64, share: f64) {
        let volume = share * (2.0 * half).powi(D as i32);
        let own = volume * half * half / 3.0;
        let x: [f64; D] = from_fn(|i| center[i] - self.origin[i]);
        self.volume += volume;
        for i in 0..D {
            self.first[i] += volume * x[i];
            self.second[i][i] += own;
            for j in 0..D {
                self.second[i][j] += volume * x[i] * x[j];
            }
        }
    }

    fn moments(&self) -> Moments<D> {
        let arm = self
            .first
            .map(|first| first / self.volume.max(f64::MIN_POSITIVE));
        Moments {
            volume: self.volume,
            centroid: from_fn(|i| self.origin[i] + arm[i]),
            second: from_fn(|i| from_fn(|j| self.second[i][j] - self.volume * arm[i] * arm[j])),
        }
    }
}
