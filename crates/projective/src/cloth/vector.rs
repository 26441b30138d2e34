//! Vectors of three numbers.

/// A point or vector.
pub type V3 = [f64; 3];

/// `a + factor * b`.
#[inline(always)]
pub fn plus(a: V3, factor: f64, b: V3) -> V3 {
    [
        a[0] + factor * b[0],
        a[1] + factor * b[1],
        a[2] + factor * b[2],
    ]
}

#[inline(always)]
pub fn sub(a: V3, b: V3) -> V3 {
    plus(a, -1.0, b)
}

#[inline(always)]
pub fn add(a: V3, b: V3) -> V3 {
    plus(a, 1.0, b)
}

#[inline(always)]
pub fn scaled(a: V3, factor: f64) -> V3 {
    a.map(|v| v * factor)
}

#[inline(always)]
pub fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub fn cross(a: V3, b: V3) -> V3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
pub fn length(a: V3) -> f64 {
    dot(a, a).sqrt()
}

/// The vector of length one in the same direction; zero for zero.
#[inline(always)]
pub fn unit(a: V3) -> V3 {
    let length = length(a);
    if length > 0.0 {
        scaled(a, 1.0 / length)
    } else {
        [0.0; 3]
    }
}
