//! Scenes that several tests use.

use meniscus_rigid::{Bodies, Body, Mass, Settings};
use meniscus_shapes::{Pose, Shape};

pub const G: f64 = 9.81;

/// A simulation with default settings.
pub fn empty<const D: usize>() -> Bodies<D> {
    Bodies::new(Settings::default()).unwrap()
}

/// A floor at height zero.
pub fn floor<const D: usize>() -> Body<D> {
    let mut normal = [0.0; D];
    normal[D - 1] = 1.0;
    Body::fixed(
        "floor",
        Shape::HalfSpace {
            point: [0.0; D],
            normal,
        },
    )
}

/// A box about the origin.
pub fn cuboid<const D: usize>(size: [f64; D]) -> Shape<D> {
    Shape::Box {
        low: size.map(|s| -0.5 * s),
        high: size.map(|s| 0.5 * s),
    }
}

pub fn ball<const D: usize>(radius: f64) -> Shape<D> {
    Shape::Sphere {
        center: [0.0; D],
        radius,
    }
}

/// A free body at a point.
pub fn body<const D: usize>(name: &str, shape: Shape<D>, density: f64, at: [f64; D]) -> Body<D> {
    let mass = Mass::of_density(&shape, density).unwrap();
    Body::free(name, shape, mass).at(Pose::translated(at))
}

/// A point at a height.
pub fn up<const D: usize>(height: f64) -> [f64; D] {
    let mut x = [0.0; D];
    x[D - 1] = height;
    x
}

/// Boxes of one size on a floor, each at the resting gap above the one below.
pub fn stack<const D: usize>(bodies: &mut Bodies<D>, size: f64, densities: &[f64]) -> Vec<usize> {
    bodies.add(floor()).unwrap();
    let gap = 0.002 * size;
    densities
        .iter()
        .enumerate()
        .map(|(k, &density)| {
            let height = gap + 0.5 * size + k as f64 * (size + gap);
            bodies
                .add(body(
                    &format!("box {k}"),
                    cuboid([size; D]),
                    density,
                    up(height),
                ))
                .unwrap()
        })
        .collect()
}

pub fn norm<const N: usize>(a: [f64; N]) -> f64 {
    a.iter().map(|c| c * c).sum::<f64>().sqrt()
}

pub fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    norm(std::array::from_fn::<f64, N, _>(|i| a[i] - b[i]))
}
