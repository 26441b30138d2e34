//! Local shape of thin liquid: an anisotropic body for each particle, with the extent of the sheet, filament or drop around it.
//!
//! The covariance of the particles around a particle distinguishes sheets, filaments and drops, as in Yu and Turk,
//! "Reconstructing surfaces of particle-based fluids using anisotropic kernels" (2013). Unlike there, a body is the whole of the
//! liquid in the neighbourhood and not the share of one particle, and its thickness follows from the volume of the particles:
//! bodies of particles in the same sheet agree, and the surface is their weighted mean, not a sum of bumps.

use super::cells::{Cells, Window, square};
use super::thickness::{ramp, slab};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Radius of the neighbourhood in cells.
const REACH: f64 = 1.5;
/// Variance along an axis on which liquid fills the neighbourhood.
const FULL: f64 = REACH * REACH / 10.0;
/// Fractions of [`FULL`] up to which a body ends within the neighbourhood and from which it continues beyond.
const ENDS: (f64, f64) = (0.6, 0.9);
/// Fractions of [`FULL`] along an axis for round and for flat bodies.
const ROUND: (f64, f64) = (0.4, 0.8);
/// Half thickness of the thinnest bodies, in lattice spacings: thinner ones would fall between its points.
const THINNEST: f64 = 0.55;
/// Loss of thickness of a curved body by flat triangles, in squared spacings over its radius.
const CUT_OFF: f64 = 0.16;
/// Gap in cells between a film and a wall that is closed.
const MOST_GAP: f32 = 0.2;
/// Cosine of the angle between the thin axis of a film and the normal of its wall.
const FLAT: f32 = 0.9;
/// Smallest thinness of a particle with a body.
const LEAST_THINNESS: f32 = 0.15;

/// Distance in cells beyond which a body has no weight.
pub const LIMIT: f32 = 0.5;
/// Distance in cells from its centre beyond which a body has no weight.
pub const SEEN: f32 = 1.0;

/// Liquid around a particle: an ellipsoid, unbounded along axes on which the liquid continues.
#[derive(Clone, Copy, Debug)]
pub struct Body<const D: usize> {
    /// Centre in cells.
    pub centre: [f32; D],
    /// Symmetric matrix `Q`: the body is where `d' Q d < 1`, with `d` the vector from its centre.
    pub metric: [[f32; D]; D],
    /// Unit vector along the thinnest axis.
    axis: [f32; D],
    /// Half the thickness along it, in cells; `(sqrt(d' Q d) - 1) half` is the distance.
    pub half: f32,
    /// Half extents, in cells, of a box around all points where the body has weight.
    pub reach: [f32; D],
    /// Thinness of the particle.
    pub thinness: f32,
}

/// Bodies of all particles in thin liquid. `volume` is that of a particle, `spacing` that of the lattice of the contour, and
/// `wall` the distance of a point to an adjacent solid with the normal out of that solid; all in cells.
pub fn bodies<const D: usize>(
    cells: &Cells<D>,
    positions: &[[f32; D]],
    thinness: &[f32],
    volume: f64,
    spacing: f64,
    wall: impl Fn([f32; D]) -> Option<(f64, [f64; D])> + Sync,
) -> Vec<Body<D>> {
    let of_block = |window: &mut Window<D>, (slot, block): (usize, &[i32; D])| -> Vec<Body<D>> {
        let is_thick = |&i: &u32| thinness[i as usize] <= LEAST_THINNESS;
        if cells.members(slot).iter().all(is_thick) {
            return Vec::new();
        }
        // The neighbourhood of a body's centre may reach farther than that of its particle.
        cells.window(positions, *block, 4, window);
        let all = window.each(|window, p, _| {
            let thinness = thinness[window.particles[p] as usize];
            (thinness > LEAST_THINNESS).then(|| {
                let middle = middle(window, window.places[p]);
                let mut body = body(middle, window, volume, spacing, thinness);
                if let Some((distance, normal)) = wall(body.centre) {
                    body.thicken_into_wall(distance, normal);
                }
                body
            })
        });
        all.into_iter().flatten().collect()
    };
    let blocks = cells.blocks.par_iter().enumerate();
    let lists: Vec<Vec<Body<D>>> = blocks.map_init(Window::default, of_block).collect();
    lists.into_iter().flatten().collect()
}

impl<const D: usize> Body<D> {
    /// Thickens a body that lies flat on a wall into the wall, or the film would touch the wall in some places only.
    fn thicken_into_wall(&mut self, distance: f64, normal: [f64; D]) {
        let cosine: f32 = (0..D).map(|a| self.axis[a] * normal[a] as f32).sum();
        let gap = distance as f32 - self.half;
        if gap > MOST_GAP || cosine.abs() < FLAT {
            return;
        }
        let by = (0.5 * (gap + MOST_GAP)).clamp(0.0, MOST_GAP);
        let (before, after) = (self.half, self.half + by);
        let change = 1.0 / (after * after) - 1.0 / (before * before);
        for a in 0..D {
            self.centre[a] -= by * self.axis[a] * cosine.signum();
            self.reach[a] = (self.reach[a] + by).min(SEEN);
            for b in 0..D {
                self.metric[a][b] += change * self.axis[a] * self.axis[b];
            }
        }
        self.half = after;
    }
}

/// Centre of the sheet, filament or drop at `x`: all of its particles agree from there.
fn middle<const D: usize>(window: &Window<D>, x: [f32; D]) -> [f32; D] {
    let moments = Moments::new(window, x);
    let (values, axes) = eigen(moments.covariance);
    let mut middle = x;
    for i in 0..D {
        let shift = moments.along(axes[i]) * (1.0 - ramp(values[i] / FULL, 0.15, 0.45));
        for a in 0..D {
            middle[a] += (shift * axes[i][a]) as f32;
        }
    }
    middle
}

fn body<const D: usize>(
    middle: [f32; D],
    window: &Window<D>,
    own: f64,
    spacing: f64,
    thinness: f32,
) -> Body<D> {
    let moments = Moments::new(window, middle);
    let mass = moments.weight * own;
    let (values, axes) = eigen(moments.covariance);
    let share = values.map(|v| v / FULL);
    let deviation = spread(values, mass).map(f64::sqrt);
    // The volume divided by the extent along the other axes.
    let thickness = mass / deviation[1..].iter().map(|&d| length(d)).product::<f64>();
    let mut bounded = share.map(|u| 1.0 - ramp(u, ENDS.0, ENDS.1));
    bounded[0] = 1.0;
    // Radii over lengths: 0.5 for a slab, 0.56 for a cylinder, 0.62 for a ball.
    let round = 1.0 - ramp(share[1], ROUND.0, ROUND.1);
    let ball = 1.0 - ramp(share[D - 1], ROUND.0, ROUND.1);
    let seems = thickness * (0.5 + 0.06 * round + if D == 3 { 0.06 * ball } else { 0.0 });
    let dimension: f64 = bounded.iter().sum();
    let growth = growth(seems / REACH, dimension);
    let mut offsets = axes.map(|axis| moments.along(axis));
    let mut halves: [f64; D] = std::array::from_fn(|i| {
        // At an edge of the liquid the mean lies to one side, and the edge is closer.
        let aside = (offsets[i].abs() / deviation[i]).min(1.0);
        growth * deviation[i] * (2.0 + 0.2 * ball - 0.6 * aside)
    });
    halves[0] = growth * seems;
    let mut curved = dimension - 1.0;
    let thinnest = THINNEST * spacing;
    if halves[0] < thinnest {
        // Too thin for the lattice: flat beads, one per particle, so that the sheet tears instead of swelling.
        let kept = halves[0] / thinnest;
        halves[0] = thinnest;
        let unit = if D == 3 { 4.0 / 3.0 * PI } else { PI };
        let bead = 0.92 * (own / unit / thinnest).powf(1.0 / (D as f64 - 1.0));
        for i in 1..D {
            let inverse =
                kept * bounded[i] / (halves[i] * halves[i]) + (1.0 - kept) / (bead * bead);
            halves[i] = 1.0 / inverse.sqrt();
            bounded[i] = 1.0;
            offsets[i] *= kept;
        }
        curved += 0.5 * (1.0 - kept) * (D as f64 - 1.0 - curved);
    }
    let cut_off = CUT_OFF * spacing * spacing * curved / (D as f64 - 1.0) / halves[0];
    let halves = halves.map(|half| half + cut_off);
    assembled(middle, axes, halves, bounded, offsets, thinness)
}

fn assembled<const D: usize>(
    middle: [f32; D],
    axes: [[f64; D]; D],
    halves: [f64; D],
    bounded: [f64; D],
    offsets: [f64; D],
    thinness: f32,
) -> Body<D> {
    let mut metric = [[0.0f64; D]; D];
    let mut centre = middle.map(f64::from);
    let mut squares = [0.0; D];
    let visible = 1.0 + f64::from(LIMIT) / halves[0];
    for i in 0..D {
        let inverse = bounded[i] / (halves[i] * halves[i]);
        let reach = if inverse > 0.0 {
            (visible / inverse.sqrt()).min(SEEN.into())
        } else {
            SEEN.into()
        };
        for a in 0..D {
            centre[a] += axes[i][a] * offsets[i] * bounded[i];
            squares[a] += (axes[i][a] * reach).powi(2);
            for b in 0..D {
                metric[a][b] += inverse * axes[i][a] * axes[i][b];
            }
        }
    }
    Body {
        centre: centre.map(|c| c as f32),
        metric: metric.map(|row| row.map(|q| q as f32)),
        axis: axes[0].map(|c| c as f32),
        half: halves[0] as f32,
        reach: squares.map(|s| (s.sqrt() as f32).min(SEEN)),
        thinness,
    }
}

/// Length along an axis of a body with a standard deviation: a uniformly filled box of it has the same volume.
fn length(deviation: f64) -> f64 {
    (3.5 - 0.7 * (deviation * deviation / FULL).min(1.0)) * deviation
}

/// Variances including the size of the particles themselves, added to those of their centres so that the volume is right.
fn spread<const D: usize>(values: [f64; D], mass: f64) -> [f64; D] {
    let volume =
        |extra: f64| -> f64 { values.iter().map(|v| length((v + extra).sqrt())).product() };
    let (mut low, mut high) = (0.0, 4.0 * FULL);
    if volume(low) < mass {
        for _ in 0..30 {
            let extra = 0.5 * (low + high);
            if volume(extra) < mass {
                low = extra;
            } else {
                high = extra;
            }
        }
        return values.map(|v| v + high);
    }
    // A variance of zero has no axis, and no length to divide by.
    values.map(|v| v.max(1e-6))
}

/// Correction of the extent of a body for the fall-off of the kernel: exact for a slab, a fit for cylinders and
/// balls.
fn growth(half: f64, dimension: f64) -> f64 {
    let mut z = half;
    for _ in 0..12 {
        z = (z + half - slab(z)).min(0.6);
    }
    (z / half).max(1.0).powf((1.24 / dimension).min(1.0))
}

/// Moments of the particles around a point, under the kernel `(1 - s^2)^3`.
struct Moments<const D: usize> {
    weight: f64,
    mean: [f64; D],
    covariance: [[f64; D]; D],
}

impl<const D: usize> Moments<D> {
    fn new(window: &Window<D>, x: [f32; D]) -> Self {
        let (mut weight, mut mean, mut covariance) = (0.0, [0.0; D], [[0.0; D]; D]);
        window.near(x, REACH as f32, |q| {
            let y = window.places[q];
            let rest = 1.0 - square(x, y) * (1.0 / (REACH * REACH)) as f32;
            if rest > 0.0 {
                let kernel = f64::from(rest * rest * rest);
                let away: [f64; D] = std::array::from_fn(|a| f64::from(y[a] - x[a]));
                weight += kernel;
                for a in 0..D {
                    mean[a] += kernel * away[a];
                    for b in 0..=a {
                        covariance[a][b] += kernel * away[a] * away[b];
                    }
                }
            }
        });
        if weight > 0.0 {
            mean = mean.map(|m| m / weight);
            for a in 0..D {
                for b in 0..=a {
                    covariance[a][b] = covariance[a][b] / weight - mean[a] * mean[b];
                    covariance[b][a] = covariance[a][b];
                }
            }
        }
        Moments {
            // A particle may be out of reach of the centre of its neighbourhood, but still has its own volume.
            weight: weight.max(1.0),
            mean,
            covariance,
        }
    }

    fn along(&self, axis: [f64; D]) -> f64 {
        (0..D).map(|a| axis[a] * self.mean[a]).sum()
    }
}

/// Eigenvalues of a symmetric matrix in ascending order, clamped to zero, and unit eigenvectors as rows, by Jacobi rotations.
fn eigen<const D: usize>(mut m: [[f64; D]; D]) -> ([f64; D], [[f64; D]; D]) {
    let mut v: [[f64; D]; D] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for _ in 0..8 {
        for p in 0..D {
            for q in 0..p {
                if m[p][q].abs() < 1e-12 {
                    continue;
                }
                let theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
                let t = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let turned = |a: f64, b: f64| (c * a - s * b, s * a + c * b);
                for k in 0..D {
                    (m[k][p], m[k][q]) = turned(m[k][p], m[k][q]);
                }
                for k in 0..D {
                    (m[p][k], m[q][k]) = turned(m[p][k], m[q][k]);
                    (v[p][k], v[q][k]) = turned(v[p][k], v[q][k]);
                }
            }
        }
    }
    let mut order: [usize; D] = std::array::from_fn(|i| i);
    order.sort_by(|&a, &b| m[a][a].total_cmp(&m[b][b]));
    (order.map(|i| m[i][i].max(0.0)), order.map(|i| v[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eigendecomposition_reproduces_the_matrix() {
        let matrix = [[2.0, -0.7, 0.1], [-0.7, 1.0, 0.4], [0.1, 0.4, 3.0]];
        let (values, axes) = eigen(matrix);
        assert!(values.is_sorted());
        for a in 0..3 {
            for b in 0..3 {
                let sum: f64 = (0..3).map(|i| values[i] * axes[i][a] * axes[i][b]).sum();
                assert!((sum - matrix[a][b]).abs() < 1e-9, "{a} {b} {sum}");
            }
        }
    }

    #[test]
    fn an_isolated_particle_is_a_ball_of_its_volume() {
        let cells = Cells::new(&[[3.3f32, 4.4, 5.5]]);
        let of = |spacing| bodies(&cells, &[[3.3, 4.4, 5.5]], &[1.0], 0.125, spacing, |_| None)[0];
        // On a lattice fine enough to neglect the loss at curved surfaces.
        let body = of(1e-3);
        let radius = (0.125f32 * 0.75 / std::f32::consts::PI).cbrt();
        // The fit for drops of several particles is slightly off for one.
        assert!((body.half / radius - 1.0).abs() < 0.08, "{}", body.half);
        for a in 0..3 {
            let half = 1.0 / body.metric[a][a].sqrt();
            assert!((half / radius - 1.0).abs() < 0.08, "{half}");
        }
        assert!(of(0.25).half > body.half);
    }
}
