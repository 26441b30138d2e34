//! Correction of a body's inertia for the place of its surface within cells.
//!
//! The pressure of a cell's centre acts on the body's surface, which is `d` away along the normal `n` into the body. At a moving
//! wall `n . grad p = rho n . (u* - v) / dt`, so that the right force on the patch of area `|A_i|` is
//! `A_i (p_i + d_i n . grad p)`. What depends on `v` belongs to the inertia of the body:
//!
//! ```text
//! (M + dM) v = M v* + rho sum_i |A_i| d_i j_i (n_i . u*_i) + dt (C p + J' lambda),    dM = rho sum_i |A_i| d_i j_i j_i',
//! j_i = [ n_i ; r_i x n_i ],    r_i = x_i + d_i n_i - X
//! ```
//!
//! Without it, a flat bottom parallel to the grid feels the pressure of the centres of its cells: its buoyancy is a
//! staircase. A cell that an edge of the body cuts has a patch for every side of it, see `patches.rs`. The distance is that to
//! the body as it is, not to the walls that the grid has thickened: then a thin body has its own volume.
//!
//! DEVIATION [TB20 (20)]: the paper has the body's own mass.

use meniscus_liquid::Faces;
use meniscus_liquid::SolidId;
use meniscus_liquid::multigrid::FREEDOMS;
use meniscus_liquid::particles::transfer::sample;
use meniscus_rigid::{Matrix6, StagedStep, Twist, freedoms};

use crate::patches::patches;
use crate::shares::{RowShares, wrench};

/// Share of its inertia that a body keeps at least.
const LEAST: f64 = 0.5;

/// What the layer between cell centres and the surface of a body adds to its inertia, and to its momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AddedMass {
    /// `dM`
    pub inertia: Matrix6,
    /// `rho sum |A| d j (n . u*)`
    pub momentum: [f64; FREEDOMS],
    /// Whether the limit on it applies.
    pub limited: bool,
}

impl AddedMass {
    /// The layers of the listed bodies, one for each.
    pub fn of<const D: usize>(
        rows: &[RowShares],
        skip: &[bool],
        faces: &Faces<'_, D>,
        step: &StagedStep<D>,
        listed: &[usize],
    ) -> Vec<Self> {
        let mut all = vec![Self::default(); listed.len()];
        let f = freedoms::<D>();
        let (dx, density) = (faces.settings.dx, faces.settings.physics.density);
        for row in rows {
            if skip.get(row.row as usize).copied().unwrap_or(false) {
                continue;
            }
            let x = faces
                .tiles
                .coord(row.cell as usize)
                .map(|c| (c as f64 + 0.5) * dx);
            for (body, value) in &row.bodies {
                let Ok(at) = listed.binary_search(body) else {
                    continue;
                };
                let area: [f64; D] = std::array::from_fn(|a| value[a] * dx.powi(D as i32));
                let distance = |x: [f64; D]| faces.solids.distance_to(SolidId(*body as u32), x);
                for patch in patches(area, x, dx, &distance).into_iter().flatten() {
                    let mut j = [0.0; FREEDOMS];
                    for axis in 0..D {
                        let along = wrench(axis, patch.point, step.center(*body));
                        (0..f).for_each(|k| j[k] += patch.normal[axis] * along[k]);
                    }
                    let flow = sample(faces.tiles, faces.velocity, patch.point.map(|c| c / dx));
                    let speed: f64 = (0..D).map(|a| patch.normal[a] * flow[a]).sum();
                    let mass = density * patch.area * patch.depth;
                    let own = &mut all[at];
                    for i in 0..f {
                        own.momentum[i] += mass * speed * j[i];
                        for k in 0..f {
                            own.inertia[i][k] += mass * j[i] * j[k];
                        }
                    }
                }
            }
        }
        for (own, &body) in all.iter_mut().zip(listed) {
            own.limit(&step.inertia(body), f);
        }
        all
    }

    /// Scales the layer so that the body keeps half of its inertia in every direction.
    fn limit(&mut self, inertia: &Matrix6, size: usize) {
        let least = least_ratio(&self.inertia, inertia, size);
        if least < LEAST - 1.0 {
            let scale = (LEAST - 1.0) / least;
            self.limited = true;
            self.momentum = self.momentum.map(|m| m * scale);
            self.inertia = self.inertia.map(|row| row.map(|m| m * scale));
        }
    }

    /// Inertia with the layer, and the momentum before the pressure acts on a body with the velocity `before`.
    pub fn start<const D: usize>(
        &self,
        step: &StagedStep<D>,
        body: usize,
        before: &Twist<D>,
    ) -> (Matrix6, [f64; 6]) {
        let f = freedoms::<D>();
        let own = step.inertia(body);
        let before = numbers(before);
        let mut momentum = [0.0; 6];
        let mut inertia = own;
        for i in 0..f {
            momentum[i] = self.momentum[i] + (0..f).map(|k| own[i][k] * before[k]).sum::<f64>();
            for k in 0..f {
                inertia[i][k] += self.inertia[i][k];
            }
        }
        (inertia, momentum)
    }
}

/// The numbers of a velocity, translations first.
pub fn numbers<const D: usize>(twist: &Twist<D>) -> [f64; 6] {
    let mut x = [0.0; 6];
    x[..D].copy_from_slice(&twist.linear);
    match D {
        2 => x[2] = twist.angular[2],
        _ => x[3..].copy_from_slice(&twist.angular),
    }
    x
}

/// The velocity that these numbers are.
pub fn twist_of<const D: usize>(x: &[f64]) -> Twist<D> {
    let angular = match D {
        2 => [0.0, 0.0, x[2]],
        _ => [x[3], x[4], x[5]],
    };
    Twist {
        linear: std::array::from_fn(|a| x[a]),
        angular,
    }
}

/// The least `x'A x / x'M x` for `M` positive definite.
fn least_ratio(a: &Matrix6, m: &Matrix6, n: usize) -> f64 {
    // Cholesky factors of M, then inv(L) A inv(L)'.
    let mut l = [[0.0; 6]; 6];
    for i in 0..n {
        for j in 0..=i {
            let sum = m[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
    }
    let forward = |mut x: [f64; 6]| {
        for i in 0..n {
            x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
        }
        x
    };
    let columns: Matrix6 = std::array::from_fn(|j| forward(std::array::from_fn(|i| a[i][j])));
    let mut s: Matrix6 = std::array::from_fn(|i| forward(std::array::from_fn(|j| columns[j][i])));
    least_eigenvalue(&mut s, n)
}

/// The least eigenvalue of a symmetric matrix, by Jacobi rotations.
fn least_eigenvalue(s: &mut Matrix6, n: usize) -> f64 {
    for _ in 0..30 {
        let mut off = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                off += s[p][q] * s[p][q];
                if s[p][q] == 0.0 {
                    continue;
                }
                let theta = (s[q][q] - s[p][p]) / (2.0 * s[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let sine = t * c;
                for k in 0..n {
                    let (x, y) = (s[k][p], s[k][q]);
                    (s[k][p], s[k][q]) = (c * x - sine * y, sine * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (s[p][k], s[q][k]);
                    (s[p][k], s[q][k]) = (c * x - sine * y, sine * x + c * y);
                }
            }
        }
        let size: f64 = (0..n).map(|i| s[i][i] * s[i][i]).sum();
        if off <= 1e-28 * size {
            break;
        }
    }
    (0..n).map(|i| s[i][i]).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_ratio_of_two_matrices_is_found() {
        let mut m = [[0.0; 6]; 6];
        let mut a = [[0.0; 6]; 6];
        for i in 0..6 {
            m[i][i] = 2.0 + i as f64;
            a[i][i] = -0.3 * (i as f64) * m[i][i];
        }
        assert!((least_ratio(&a, &m, 6) + 1.5).abs() < 1e-12);
        assert!((least_ratio(&a, &m, 3) + 0.6).abs() < 1e-12);
        // One direction, as a single patch has.
        let j = [1.0, -2.0, 0.5, 0.25, 3.0, -1.0];
        let one: Matrix6 = std::array::from_fn(|i| std::array::from_fn(|k| -0.1 * j[i] * j[k]));
        let exact: f64 = -0.1 * (0..6).map(|i| j[i] * j[i] / m[i][i]).sum::<f64>();
        assert!((least_ratio(&one, &m, 6) - exact).abs() < 1e-12);
    }

    #[test]
    fn a_body_keeps_half_of_its_inertia() {
        let mut m = [[0.0; 6]; 6];
        (0..3).for_each(|i| m[i][i] = 4.0);
        let mut layer = AddedMass::default();
        layer.inertia[1][1] = -8.0;
        layer.momentum[1] = 3.0;
        layer.limit(&m, 3);
        assert!(layer.limited);
        assert!((layer.inertia[1][1] + 2.0).abs() < 1e-12);
        assert!((layer.momentum[1] - 0.75).abs() < 1e-12);
    }
}
