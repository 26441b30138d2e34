//! Open shares of faces that curved surfaces and edges cut.
//!
//! Linear between the corners of a face, a surface of radius `r` is seen as chords, up to `dx^2 / 8r` inside of it: the volume that
//! a ball displaces, and its added mass, come out too small by about `(dx / r)^2 / 2`. Here the distance is taken at points between
//! them, and parabolas join them: eight intervals along a face in the plane, four by four on one in space.

use super::{LEAST_OPEN, ON_THE_WALL, open_segment, open_square};
use crate::grid::tiles::Coord;
use crate::solids::SolidField;

/// Pieces of an edge in which the distance is taken as linear, for every two intervals between distances that are exact.
const PIECES: usize = 4;
/// Difference in cells between the distance at the centre of a face and the mean of its corners, below which it is flat.
const FLAT: f64 = 1e-6;

/// A face, and the solids that may cut it.
pub struct Face<'a, const D: usize> {
    pub solids: &'a dyn SolidField<D>,
    pub dx: f64,
    /// Distance from a surface beyond which distances need not be exact.
    pub band: f64,
    pub axis: usize,
    /// The cell whose low face it is.
    pub cell: Coord<D>,
}

impl<const D: usize> Face<'_, D> {
    /// Open share, from the distances at the corners in order around the face, of which the first `2^(D - 1)` count. `None` if the
    /// face is flat, or too far from any surface to be cut.
    pub fn open_share(&self, corners: [f64; 4]) -> Option<f64> {
        let corners_used = &corners[..1 << (D - 1)];
        let nearest = corners_used
            .iter()
            .fold(f64::INFINITY, |least, d| d.abs().min(least));
        let same_side =
            corners_used.iter().all(|&d| d > 0.0) || corners_used.iter().all(|&d| d < 0.0);
        // No point of the face is farther from the nearest corner.
        if same_side && nearest > 0.5 * ((D - 1) as f64).sqrt() * self.dx {
            return None;
        }
        let centre = self.distance([0.5; 2]);
        let mean = corners_used.iter().sum::<f64>() / corners_used.len() as f64;
        if (centre - mean).abs() <= FLAT * self.dx {
            return None;
        }
        let open = match D {
            2 => {
                let at: [f64; 9] = std::array::from_fn(|k| match k {
                    0 => corners[0],
                    4 => centre,
                    8 => corners[1],
                    _ => self.distance([k as f64 / 8.0, 0.0]),
                });
                let halves =
                    (0..4).map(|k| curved_segment([at[2 * k], at[2 * k + 1], at[2 * k + 2]]));
                halves.sum::<f64>() / 4.0
            }
            _ => {
                let at: [[f64; 5]; 5] = std::array::from_fn(|i| {
                    std::array::from_fn(|j| match (i, j) {
                        (0, 0) => corners[0],
                        (4, 0) => corners[1],
                        (4, 4) => corners[2],
                        (0, 4) => corners[3],
                        (2, 2) => centre,
                        _ => self.distance([i as f64 / 4.0, j as f64 / 4.0]),
                    })
                });
                let quarter = |i: usize, j: usize| {
                    curved_square(std::array::from_fn(|a| {
                        std::array::from_fn(|b| at[2 * i + a][2 * j + b])
                    }))
                };
                (quarter(0, 0) + quarter(1, 1) + quarter(0, 1) + quarter(1, 0)) / 4.0
            }
        };
        Some(if open < LEAST_OPEN { 0.0 } else { open })
    }

    /// Distance at a point of the face, given in cells along its axes.
    fn distance(&self, at: [f64; 2]) -> f64 {
        let mut x = self.cell.map(|c| c as f64);
        for (k, at) in at.into_iter().take(D - 1).enumerate() {
            x[(self.axis + 1 + k) % D] += at;
        }
        let distance = self
            .solids
            .distance_within(x.map(|c| c * self.dx), self.band);
        if distance.abs() < ON_THE_WALL * self.dx {
            0.0
        } else {
            distance
        }
    }
}

/// Values of the parabola through three equidistant values at the ends of all pieces.
fn parabola(values: [f64; 3]) -> [f64; PIECES + 1] {
    let [a, m, b] = values;
    std::array::from_fn(|k| {
        let t = k as f64 / PIECES as f64;
        a * (1.0 - t) * (1.0 - 2.0 * t) + 4.0 * m * t * (1.0 - t) + b * t * (2.0 * t - 1.0)
    })
}

/// Share of a segment with positive distance, from the distances at its ends and in its middle.
fn curved_segment(values: [f64; 3]) -> f64 {
    let at = parabola(values);
    let pieces = at.windows(2).map(|ends| open_segment(ends[0], ends[1]));
    pieces.sum::<f64>() / PIECES as f64
}

/// Share of a square with positive distance, from a grid of nine distances.
fn curved_square(values: [[f64; 3]; 3]) -> f64 {
    let rows = values.map(parabola);
    let columns: [[f64; PIECES + 1]; PIECES + 1] =
        std::array::from_fn(|j| parabola([rows[0][j], rows[1][j], rows[2][j]]));
    let mut sum = 0.0;
    for ends in columns.windows(2) {
        for i in 0..PIECES {
            sum += open_square([ends[0][i], ends[0][i + 1], ends[1][i + 1], ends[1][i]]);
        }
    }
    sum / (PIECES * PIECES) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::{ScriptedSolid, Shape, Solids};

    #[test]
    fn a_ball_covers_its_share_of_a_face() {
        // Center of the circle in the plane of the face, in cells, and its radius.
        for (center, radius) in [
            ([-3.2, -3.4], 5.0f64),
            ([0.4, -9.6], 10.0),
            ([2.5, 0.3], 2.2),
        ] {
            let at = |x: f64, y: f64| (x - center[0]).hypot(y - center[1]) - radius;
            let n = 1000;
            let exact = (0..n * n)
                .map(|k| ((k % n) as f64 + 0.5, (k / n) as f64 + 0.5))
                .filter(|&(x, y)| at(x / n as f64, y / n as f64) > 0.0)
                .count() as f64
                / (n * n) as f64;
            let corners = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
            let ball = Shape::Sphere {
                center: [center[0], center[1], 0.0],
                radius,
            };
            let solids = Solids::new(vec![ScriptedSolid::still("ball", ball)]);
            let face = Face {
                solids: &solids.over_step(0.0, 0.0),
                dx: 1.0,
                band: 4.0,
                axis: 2,
                cell: [0; 3],
            };
            let curved = face.open_share(corners).unwrap();
            let chords = open_square(corners);
            assert!((curved - exact).abs() < 1e-3, "{curved} {exact}");
            assert!((curved - exact).abs() < 0.1 * (chords - exact).abs());
        }
    }

    #[test]
    fn a_plane_covers_what_it_covers_by_the_corners_alone() {
        let at = |x: f64, y: f64| 0.6 * x + 0.8 * y - 0.7;
        let half = |k: usize| 0.5 * k as f64;
        let curved = curved_square(std::array::from_fn(|i| {
            std::array::from_fn(|j| at(half(i), half(j)))
        }));
        let linear = open_square([at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)]);
        assert!((curved - linear).abs() < 1e-14);
    }
}
