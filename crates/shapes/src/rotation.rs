//! Rotations as matrices, with one exponential and logarithm for two and three dimensions.

use crate::vector::{add_scaled, direction_or, dot, norm, scale, unit};
use std::array::from_fn;

/// An antisymmetric matrix K: `exp(K)` is a rotation, by the angle [`angle_of`] (K).
///
/// In two and three dimensions every such matrix turns within one plane, so K^3 = -theta^2 K,
/// which is all that the formulas of this file use.
pub type Generator<const D: usize> = [[f64; D]; D];

/// A rotation of the plane or of space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation<const D: usize> {
    matrix: [[f64; D]; D],
}

impl<const D: usize> Default for Rotation<D> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl<const D: usize> Rotation<D> {
    /// The rotation that leaves everything in place.
    pub const IDENTITY: Self = {
        let mut matrix = [[0.0; D]; D];
        let mut i = 0;
        while i < D {
            matrix[i][i] = 1.0;
            i += 1;
        }
        Self { matrix }
    };

    /// The matrix, by rows.
    pub fn matrix(&self) -> &[[f64; D]; D] {
        &self.matrix
    }

    /// Rotation with a matrix given by rows; `None` unless the rows are orthonormal and right-handed, up to rounding.
    pub fn from_matrix(matrix: [[f64; D]; D]) -> Option<Self> {
        const ROUNDING: f64 = 1e-6;
        for i in 0..D {
            for j in 0..D {
                let expected = f64::from(u8::from(i == j));
                let off = (dot(matrix[i], matrix[j]) - expected).abs();
                // Not a number is not within bounds either.
                if off.is_nan() || off > ROUNDING {
                    return None;
                }
            }
        }
        let determinant: f64 = match D {
            2 => matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0],
            _ => (0..D)
                .map(|j| {
                    let (k, l) = ((j + 1) % D, (j + 2) % D);
                    matrix[0][j] * (matrix[1][k] * matrix[2][l] - matrix[1][l] * matrix[2][k])
                })
                .sum(),
        };
        (determinant > 0.0).then_some(Self { matrix })
    }

    /// The rotation of a generator: I + (sin theta / theta) K + ((1 - cos theta) / theta^2) K^2.
    pub fn exp(generator: &Generator<D>) -> Self {
        let theta = angle_of(generator);
        let half = sinc(0.5 * theta);
        let (first, second) = (sinc(theta), 0.5 * half * half);
        let square = product(generator, generator);
        let identity = Self::IDENTITY.matrix;
        Self {
            matrix: from_fn(|i| {
                from_fn(|j| identity[i][j] + first * generator[i][j] + second * square[i][j])
            }),
        }
    }

    /// The generator of least angle, at most pi, with `exp(log(R)) = R`.
    ///
    /// At exactly half a turn both senses are right and one is chosen.
    pub fn log(&self) -> Generator<D> {
        let r = &self.matrix;
        let trace: f64 = (0..D).map(|i| r[i][i]).sum();
        let cosine = 0.5 * (trace - (D as f64 - 2.0));
        // The antisymmetric part of R is (sin theta / theta) K.
        let odd: Generator<D> = from_fn(|i| from_fn(|j| 0.5 * (r[i][j] - r[j][i])));
        let sine = angle_of(&odd);
        let theta = sine.atan2(cosine);
        if cosine > -0.5 {
            let factor = if sine > 0.0 { theta / sine } else { 1.0 };
            return odd.map(|row| scale(row, factor));
        }
        // Near half a turn the antisymmetric part vanishes and says only the sense. The symmetric
        // part is I - (1 - cos theta) P with P the projection onto the plane that is turned.
        let plane: [[f64; D]; D] = from_fn(|i| {
            from_fn(|j| (Self::IDENTITY.matrix[i][j] - 0.5 * (r[i][j] + r[j][i])) / (1.0 - cosine))
        });
        let u = longest(&plane, None);
        let v = longest(&plane, Some(u));
        let turn: Generator<D> = from_fn(|i| from_fn(|j| v[i] * u[j] - u[i] * v[j]));
        let sense: f64 = (0..D).map(|i| dot(turn[i], odd[i])).sum();
        let theta = if sense < 0.0 { -theta } else { theta };
        turn.map(|row| scale(row, theta))
    }

    /// First `other`, then `self`.
    pub fn compose(&self, other: &Self) -> Self {
        Self {
            matrix: product(&self.matrix, &other.matrix),
        }
    }

    /// The rotation back.
    pub fn inverse(&self) -> Self {
        Self {
            matrix: from_fn(|i| from_fn(|j| self.matrix[j][i])),
        }
    }

    /// The rotated vector.
    pub fn apply(&self, x: [f64; D]) -> [f64; D] {
        from_fn(|i| dot(self.matrix[i], x))
    }

    /// The vector rotated back.
    pub fn apply_inverse(&self, x: [f64; D]) -> [f64; D] {
        let mut y = [0.0; D];
        for i in 0..D {
            y = add_scaled(y, x[i], self.matrix[i]);
        }
        y
    }

    /// The angle, from 0 to pi.
    pub fn angle(&self) -> f64 {
        angle_of(&self.log())
    }

    /// Whether all entries are finite, as they are unless the angle or axis was not.
    pub fn is_finite(&self) -> bool {
        self.matrix.iter().flatten().all(|c| c.is_finite())
    }
}

impl Rotation<2> {
    /// Counterclockwise by `angle`, in radians.
    pub fn from_angle(angle: f64) -> Self {
        Self::exp(&[[0.0, -angle], [angle, 0.0]])
    }
}

impl Rotation<3> {
    /// Right-handed about `axis` (of any length but zero) by `angle`, in radians. A zero axis gives the identity.
    pub fn from_axis_angle(axis: [f64; 3], angle: f64) -> Self {
        let [x, y, z] = scale(direction_or(axis, [0.0; 3]), angle);
        Self::exp(&[[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    }
}

/// The angle theta of a generator: the root of the sum of its squares above the diagonal.
pub fn angle_of<const D: usize>(generator: &Generator<D>) -> f64 {
    let mut sum = 0.0;
    for i in 0..D {
        for j in i + 1..D {
            sum += generator[i][j] * generator[i][j];
        }
    }
    sum.sqrt()
}

/// The change of a generator that gives the turning rate `rate` (in the turned frame) at the end of
/// `exp(generator)`: the inverse of the right-hand differential of the exponential.
pub(crate) fn change_for_rate<const D: usize>(
    generator: &Generator<D>,
    rate: &Generator<D>,
) -> Generator<D> {
    let theta = angle_of(generator);
    let once = commutator(generator, rate);
    let twice = commutator(generator, &once);
    let second = if theta < 1e-3 {
        // The closed form loses all digits here; the next term of the series is below 1e-16.
        1.0 / 12.0 + theta * theta / 720.0
    } else {
        (1.0 - 0.5 * theta * (0.5 * theta).cos() / (0.5 * theta).sin()) / (theta * theta)
    };
    from_fn(|i| from_fn(|j| rate[i][j] + 0.5 * once[i][j] + second * twice[i][j]))
}

pub(crate) fn product<const D: usize>(a: &[[f64; D]; D], b: &[[f64; D]; D]) -> [[f64; D]; D] {
    from_fn(|i| {
        let mut row = [0.0; D];
        for k in 0..D {
            row = add_scaled(row, a[i][k], b[k]);
        }
        row
    })
}

fn commutator<const D: usize>(a: &Generator<D>, b: &Generator<D>) -> Generator<D> {
    let (ab, ba) = (product(a, b), product(b, a));
    from_fn(|i| from_fn(|j| ab[i][j] - ba[i][j]))
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-4 {
        1.0 - x * x / 6.0
    } else {
        x.sin() / x
    }
}

/// The longest column of a projection, at length one, after taking out the direction `without`.
fn longest<const D: usize>(projection: &[[f64; D]; D], without: Option<[f64; D]>) -> [f64; D] {
    let mut best = unit::<D>(0);
    let mut best_length = 0.0;
    for j in 0..D {
        let mut column: [f64; D] = from_fn(|i| projection[i][j]);
        if let Some(u) = without {
            column = add_scaled(column, -dot(u, column), u);
        }
        let length = norm(column);
        if length > best_length {
            best_length = length;
            best = scale(column, 1.0 / length);
        }
    }
    best
}
