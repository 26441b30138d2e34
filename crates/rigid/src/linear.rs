//! Vectors and small matrices.
//!
//! Positions, velocities and forces have `D` components. Angular velocities, torques and inertia have three in both
//! dimensions, so that one source serves both: the plane is the one of the first two axes, and turns about the third.

use std::array::from_fn;

/// Angular velocity, torque or angular momentum. In two dimensions only the last component is not zero.
pub type Angular = [f64; 3];
/// A matrix of three rows and columns.
pub type Matrix3 = [[f64; 3]; 3];

pub(crate) const ZERO3: Matrix3 = [[0.0; 3]; 3];

#[inline(always)]
pub(crate) fn add<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    from_fn(|i| a[i] + b[i])
}

#[inline(always)]
pub(crate) fn sub<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    from_fn(|i| a[i] - b[i])
}

#[inline(always)]
pub(crate) fn scale<const N: usize>(a: [f64; N], s: f64) -> [f64; N] {
    from_fn(|i| a[i] * s)
}

/// `a + s b`
#[inline(always)]
pub(crate) fn add_scaled<const N: usize>(a: [f64; N], s: f64, b: [f64; N]) -> [f64; N] {
    from_fn(|i| a[i] + s * b[i])
}

#[inline(always)]
pub(crate) fn dot<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    let mut sum = 0.0;
    for i in 0..N {
        sum += a[i] * b[i];
    }
    sum
}

#[inline(always)]
pub(crate) fn norm<const N: usize>(a: [f64; N]) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn unit_or<const N: usize>(a: [f64; N], fallback: [f64; N]) -> [f64; N] {
    let length = norm(a);
    if length > 0.0 && length.is_finite() {
        scale(a, 1.0 / length)
    } else {
        fallback
    }
}

pub(crate) fn is_finite<const N: usize>(a: [f64; N]) -> bool {
    a.iter().all(|c| c.is_finite())
}

/// A vector in space; the third component is zero in two dimensions.
#[inline(always)]
pub(crate) fn lift<const D: usize>(a: [f64; D]) -> [f64; 3] {
    from_fn(|i| if i < D { a[i] } else { 0.0 })
}

/// The first `D` components.
#[inline(always)]
pub(crate) fn lower<const D: usize>(a: [f64; 3]) -> [f64; D] {
    from_fn(|i| a[i])
}

#[inline(always)]
pub(crate) fn cross3(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// `a x b` of two vectors of the plane or of space.
#[inline(always)]
pub(crate) fn cross<const D: usize>(a: [f64; D], b: [f64; D]) -> Angular {
    cross3(lift(a), lift(b))
}

/// Velocity `w x r` of a point.
#[inline(always)]
pub(crate) fn turned<const D: usize>(w: Angular, r: [f64; D]) -> [f64; D] {
    lower(cross3(w, lift(r)))
}

#[inline(always)]
pub(crate) fn apply3(m: &Matrix3, x: [f64; 3]) -> [f64; 3] {
    from_fn(|i| dot(m[i], x))
}

#[inline(always)]
pub(crate) fn apply3_transposed(m: &Matrix3, x: [f64; 3]) -> [f64; 3] {
    from_fn(|i| m[0][i] * x[0] + m[1][i] * x[1] + m[2][i] * x[2])
}

pub(crate) fn product3(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    from_fn(|i| from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j]))
}

/// `r m r'`
pub(crate) fn conjugated(r: &Matrix3, m: &Matrix3) -> Matrix3 {
    let half = product3(r, m);
    from_fn(|i| from_fn(|j| dot(half[i], r[j])))
}

/// Inverse of a regular matrix.
pub(crate) fn inverse3(m: &Matrix3) -> Matrix3 {
    let (a, b, c) = (cross3(m[1], m[2]), cross3(m[2], m[0]), cross3(m[0], m[1]));
    let scale = 1.0 / dot(m[0], a);
    from_fn(|i| [a[i] * scale, b[i] * scale, c[i] * scale])
}

/// Unit vectors at right angles to a unit vector and to each other, `D - 1` of them; the last entry of the array repeats
/// the first in two dimensions.
pub(crate) fn tangents<const D: usize>(n: [f64; D]) -> [[f64; D]; 2] {
    if D == 2 {
        let t = from_fn(|i| if i == 0 { -n[1] } else { n[0] });
        return [t, t];
    }
    let mut least = 0;
    for i in 1..D {
        if n[i].abs() < n[least].abs() {
            least = i;
        }
    }
    let e: [f64; D] = from_fn(|i| if i == least { 1.0 } else { 0.0 });
    let first = unit_or(add_scaled(e, -n[least], n), e);
    [first, lower(cross(n, first))]
}

/// Eigenvalues of a symmetric matrix, rising, and its eigenvectors as rows, by Jacobi's rotations.
pub(crate) fn eigen3(m: &Matrix3) -> ([f64; 3], Matrix3) {
    let mut a = *m;
    let mut v: Matrix3 = from_fn(|i| from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    for _ in 0..40 {
        let off = a[0][1] * a[0][1] + a[0][2] * a[0][2] + a[1][2] * a[1][2];
        let size = a[0][0] * a[0][0] + a[1][1] * a[1][1] + a[2][2] * a[2][2];
        if off <= 1e-32 * size || !off.is_finite() {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
            let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let mut r: Matrix3 = from_fn(|i| from_fn(|j| if i == j { 1.0 } else { 0.0 }));
            r[p][p] = c;
            r[q][q] = c;
            r[p][q] = -s;
            r[q][p] = s;
            a = conjugated(&r, &a);
            v = product3(&r, &v);
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    (order.map(|i| a[i][i]), order.map(|i| v[i]))
}
