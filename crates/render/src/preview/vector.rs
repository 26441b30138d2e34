//! Three single-precision components: points, directions and linear colours of a picture.

use std::array::from_fn;

pub(super) type Vec3 = [f32; 3];

#[inline(always)]
pub(super) fn add(a: Vec3, b: Vec3) -> Vec3 {
    from_fn(|i| a[i] + b[i])
}

#[inline(always)]
pub(super) fn sub(a: Vec3, b: Vec3) -> Vec3 {
    from_fn(|i| a[i] - b[i])
}

#[inline(always)]
pub(super) fn mul(a: Vec3, b: Vec3) -> Vec3 {
    from_fn(|i| a[i] * b[i])
}

#[inline(always)]
pub(super) fn scale(a: Vec3, s: f32) -> Vec3 {
    from_fn(|i| a[i] * s)
}

/// a + s b
#[inline(always)]
pub(super) fn along(a: Vec3, s: f32, b: Vec3) -> Vec3 {
    from_fn(|i| a[i] + s * b[i])
}

#[inline(always)]
pub(super) fn mix(a: Vec3, b: Vec3, t: f32) -> Vec3 {
    from_fn(|i| a[i] + t * (b[i] - a[i]))
}

#[inline(always)]
pub(super) fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: Vec3, b: Vec3) -> Vec3 {
    from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

/// `a` normalised; zero stays zero.
#[inline(always)]
pub(super) fn normalize(a: Vec3) -> Vec3 {
    let length = dot(a, a).sqrt();
    if length > 0.0 {
        scale(a, 1.0 / length)
    } else {
        a
    }
}

/// Reflection of direction `d` at a surface with normal `n`.
#[inline(always)]
pub(super) fn reflect(d: Vec3, n: Vec3) -> Vec3 {
    along(d, -2.0 * dot(d, n), n)
}

/// Smooth step from 0 at `low` to 1 at `high`.
#[inline(always)]
pub(super) fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
