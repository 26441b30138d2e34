//! The few operations on plain `[f64; D]` that this crate needs.

use std::array::from_fn;

pub(crate) fn add<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    from_fn(|i| a[i] + b[i])
}

pub(crate) fn sub<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    from_fn(|i| a[i] - b[i])
}

pub(crate) fn scale<const D: usize>(a: [f64; D], s: f64) -> [f64; D] {
    from_fn(|i| a[i] * s)
}

/// a + s b
pub(crate) fn add_scaled<const D: usize>(a: [f64; D], s: f64, b: [f64; D]) -> [f64; D] {
    from_fn(|i| a[i] + s * b[i])
}

pub(crate) fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    let mut sum = 0.0;
    for i in 0..D {
        sum += a[i] * b[i];
    }
    sum
}

pub(crate) fn norm<const D: usize>(a: [f64; D]) -> f64 {
    dot(a, a).sqrt()
}

/// `a` at length one, or the fallback where `a` has no direction.
pub(crate) fn direction_or<const D: usize>(a: [f64; D], fallback: [f64; D]) -> [f64; D] {
    let length = norm(a);
    if length > 0.0 {
        scale(a, 1.0 / length)
    } else {
        fallback
    }
}

/// The unit vector along one axis.
pub(crate) fn unit<const D: usize>(axis: usize) -> [f64; D] {
    from_fn(|i| if i == axis { 1.0 } else { 0.0 })
}

/// The last axis: the direction taken where every direction is as good.
pub(crate) fn up<const D: usize>() -> [f64; D] {
    unit(D - 1)
}

/// Some unit vector perpendicular to the unit vector `a`.
pub(crate) fn perpendicular<const D: usize>(a: [f64; D]) -> [f64; D] {
    let mut least = 0;
    for i in 1..D {
        if a[i].abs() < a[least].abs() {
            least = i;
        }
    }
    let e = unit::<D>(least);
    direction_or(add_scaled(e, -a[least], a), e)
}

pub(crate) fn is_finite<const D: usize>(a: [f64; D]) -> bool {
    a.iter().all(|c| c.is_finite())
}
