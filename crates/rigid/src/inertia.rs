//! Inertia as a matrix: bodies that carry liquid with them.

use crate::body::Twist;
use crate::linear::Angular;

/// Matrix of the degrees of freedom of a body, translations before rotations. In two dimensions the first three rows and
/// columns are used.
pub type Matrix6 = [[f64; 6]; 6];

/// Degrees of freedom of a body in `D` dimensions.
pub const fn freedoms<const D: usize>() -> usize {
    D * (D + 1) / 2
}

/// An inertia and its inverse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inertia {
    pub matrix: Matrix6,
    pub inverse: Matrix6,
}

impl Inertia {
    /// `None` unless the matrix is positive definite.
    pub fn new(matrix: Matrix6, size: usize) -> Option<Self> {
        Some(Self {
            matrix,
            inverse: inverse(&matrix, size)?,
        })
    }

    /// Velocities that an impulse leads to.
    pub fn respond(&self, impulse: &[f64; 6], size: usize) -> [f64; 6] {
        apply(&self.inverse, impulse, size)
    }
}

/// `M x`
pub(crate) fn apply(m: &Matrix6, x: &[f64; 6], size: usize) -> [f64; 6] {
    let mut y = [0.0; 6];
    for i in 0..size {
        y[i] = (0..size).map(|j| m[i][j] * x[j]).sum();
    }
    y
}

/// The numbers of a velocity, or of an impulse and its moment.
pub(crate) fn join<const D: usize>(linear: [f64; D], angular: Angular) -> [f64; 6] {
    let mut x = [0.0; 6];
    x[..D].copy_from_slice(&linear);
    match D {
        2 => x[2] = angular[2],
        _ => x[3..].copy_from_slice(&angular),
    }
    x
}

/// The velocity that these numbers are.
pub(crate) fn split<const D: usize>(x: &[f64; 6]) -> Twist<D> {
    let angular = match D {
        2 => [0.0, 0.0, x[2]],
        _ => [x[3], x[4], x[5]],
    };
    Twist {
        linear: std::array::from_fn(|a| x[a]),
        angular,
    }
}

/// Inverse of a symmetric positive definite matrix by Cholesky factors.
fn inverse(matrix: &Matrix6, size: usize) -> Option<Matrix6> {
    let mut l = [[0.0; 6]; 6];
    for i in 0..size {
        for j in 0..=i {
            let sum = matrix[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return None;
                }
                l[i][i] = sum.sqrt();
            } else {
                l[i][j] = sum / l[j][j];
            }
        }
    }
    let mut inverse = [[0.0; 6]; 6];
    for column in 0..size {
        let mut x = [0.0; 6];
        x[column] = 1.0;
        for i in 0..size {
            x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
        }
        for i in (0..size).rev() {
            x[i] = (x[i] - (i + 1..size).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
        }
        for i in 0..size {
            inverse[i][column] = x[i];
        }
    }
    for i in 0..size {
        for j in 0..i {
            let mean = 0.5 * (inverse[i][j] + inverse[j][i]);
            (inverse[i][j], inverse[j][i]) = (mean, mean);
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inertia_times_its_inverse_is_one() {
        let mut matrix = [[0.0; 6]; 6];
        for (i, row) in matrix.iter_mut().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = 1.0 / (1.0 + i as f64 + j as f64) + f64::from(u8::from(i == j));
            }
        }
        for size in [3, 6] {
            let inertia = Inertia::new(matrix, size).unwrap();
            for i in 0..size {
                let mut unit = [0.0; 6];
                unit[i] = 1.0;
                let x = apply(&matrix, &inertia.respond(&unit, size), size);
                (0..6).for_each(|j| assert!((x[j] - unit[j]).abs() < 1e-13));
            }
        }
        matrix[0][0] = -1.0;
        assert!(Inertia::new(matrix, 6).is_none());
    }
}
