//! Rotation of a free body.
//!
//! The Lie-group midpoint rule, in the frame of the body: with `L = I w`,
//!
//! ```text
//! L1 = exp(-dt wm) L0,   I w1 = L1,   wm = (w0 + w1) / 2,   R1 = R0 exp(dt wm)
//! ```
//!
//! The angular momentum in the world, `R L`, is conserved whatever `wm`. So is the energy:
//! `2 (E1 - E0) = 2 wm . (L1 - L0)`, and `exp(-dt wm)` changes no component along `wm`.

use meniscus_shapes::Rotation;

use crate::linear::{
    Angular, Matrix3, apply3, apply3_transposed, cross3, inverse3, norm, product3, scale, sub,
};

/// Largest angle of a part of a step: beyond it the midpoint rule loses the phase of a precession.
const LARGEST_ANGLE: f64 = 0.25;
/// Parts that a step is divided into at most.
const MOST_PARTS: f64 = 1e4;

/// Rotation and angular velocity after `dt`.
pub(crate) fn advance<const D: usize>(
    rotation: &Rotation<D>,
    inertia: &Matrix3,
    angular: Angular,
    dt: f64,
    implicit: bool,
) -> (Rotation<D>, Angular) {
    if D == 2 || angular == [0.0; 3] {
        return (turned(rotation, scale(angular, dt)), angular);
    }
    let parts = (norm(angular) * dt.abs() / LARGEST_ANGLE)
        .ceil()
        .clamp(1.0, MOST_PARTS);
    let dt = dt / parts;
    let mut frame = lifted(rotation);
    let mut w = apply3_transposed(&frame, angular);
    let l = apply3(inertia, w);
    if norm(cross3(w, l)) <= 1e-15 * norm(w) * norm(l) {
        // About a principal axis, and balls about any.
        return (turned(rotation, scale(angular, dt * parts)), angular);
    }
    for _ in 0..parts as usize {
        let (turn, next) = if implicit {
            let next = implicit_gyroscopic(inertia, w, dt);
            (exponential(scale(next, dt)), next)
        } else {
            midpoint(inertia, w, dt)
        };
        frame = orthonormal(&product3(&frame, &turn));
        w = next;
    }
    (lowered(&frame), apply3(&frame, w))
}

/// `exp(dt wm)` and `w1`.
fn midpoint(inertia: &Matrix3, w0: Angular, dt: f64) -> (Matrix3, Angular) {
    let momentum = apply3(inertia, w0);
    let mut w1 = w0;
    let mut turn = exponential(scale(w0, dt));
    for _ in 0..30 {
        let residual = sub(apply3(inertia, w1), apply3_transposed(&turn, momentum));
        // The derivative of exp(-dt wm) L0 for small dt.
        let l = momentum;
        let h = 0.5 * dt;
        let jacobian: Matrix3 = [
            [
                inertia[0][0],
                inertia[0][1] + h * l[2],
                inertia[0][2] - h * l[1],
            ],
            [
                inertia[1][0] - h * l[2],
                inertia[1][1],
                inertia[1][2] + h * l[0],
            ],
            [
                inertia[2][0] + h * l[1],
                inertia[2][1] - h * l[0],
                inertia[2][2],
            ],
        ];
        let change = apply3(&inverse3(&jacobian), residual);
        w1 = sub(w1, change);
        turn = exponential(std::array::from_fn(|i| h * (w0[i] + w1[i])));
        if norm(change) <= 4e-16 * norm(w0) {
            break;
        }
    }
    // From the momentum, so that what is left of the iteration is in the energy.
    let w1 = apply3(&inverse3(inertia), apply3_transposed(&turn, momentum));
    (turn, w1)
}

/// One Newton step of implicit Euler for `I w' = -w x I w`.
fn implicit_gyroscopic(inertia: &Matrix3, w: Angular, dt: f64) -> Angular {
    let l = apply3(inertia, w);
    let f = scale(cross3(w, l), dt);
    let skew =
        |a: Angular| -> Matrix3 { [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]] };
    let (spin, own) = (product3(&skew(w), inertia), skew(l));
    let jacobian: Matrix3 = std::array::from_fn(|i| {
        std::array::from_fn(|j| inertia[i][j] + dt * (spin[i][j] - own[i][j]))
    });
    sub(w, apply3(&inverse3(&jacobian), f))
}

/// The rotation by the vector `a` (axis times angle), first `rotation`, in world axes.
pub(crate) fn turned<const D: usize>(rotation: &Rotation<D>, a: Angular) -> Rotation<D> {
    if a == [0.0; 3] {
        return *rotation;
    }
    lowered(&orthonormal(&product3(&exponential(a), &lifted(rotation))))
}

fn exponential([x, y, z]: Angular) -> Matrix3 {
    *Rotation::<3>::exp(&[[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]).matrix()
}

/// The axis times the angle of the rotation from one to another, in world axes.
pub(crate) fn rotation_between<const D: usize>(from: &Rotation<D>, to: &Rotation<D>) -> Angular {
    let turn = to.compose(&from.inverse()).log();
    if D == 2 {
        return [0.0, 0.0, turn[1][0]];
    }
    [turn[2][1], turn[0][2], turn[1][0]]
}

pub(crate) fn lifted<const D: usize>(rotation: &Rotation<D>) -> Matrix3 {
    let m = rotation.matrix();
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            if i < D && j < D {
                m[i][j]
            } else {
                f64::from(u8::from(i == j))
            }
        })
    })
}

fn lowered<const D: usize>(m: &Matrix3) -> Rotation<D> {
    let matrix = std::array::from_fn(|i| std::array::from_fn(|j| m[i][j]));
    // Not finite only if the velocity was not, which the step reports.
    Rotation::from_matrix(matrix).unwrap_or(Rotation::IDENTITY)
}

/// Takes out the rounding of a product of rotations: one Newton step `R (3 - R'R) / 2`.
fn orthonormal(r: &Matrix3) -> Matrix3 {
    let gram: Matrix3 = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let product: f64 = (0..3).map(|k| r[k][i] * r[k][j]).sum();
            0.5 * (if i == j { 3.0 } else { 0.0 } - product)
        })
    });
    product3(r, &gram)
}
