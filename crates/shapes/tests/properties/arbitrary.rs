//! Random shapes, for all tests of shapes.

use crate::icosphere::icosphere;

use meniscus_shapes::{Generator, Pose, Rotation, Shape, TriangleMesh};
use proptest::prelude::*;
use std::array::from_fn;
use std::sync::{Arc, LazyLock};

pub fn point<const D: usize>(reach: f64) -> impl Strategy<Value = [f64; D]> + Clone {
    prop::collection::vec(-reach..reach, D).prop_map(|v| from_fn(|i| v[i]))
}

pub fn generator<const D: usize>(reach: f64) -> impl Strategy<Value = Generator<D>> {
    prop::collection::vec(-reach..reach, D * D)
        .prop_map(|v| from_fn(|i| from_fn(|j| 0.5 * (v[D * i + j] - v[D * j + i]))))
}

pub fn pose<const D: usize>() -> impl Strategy<Value = Pose<D>> {
    (generator(2.0), point(0.5)).prop_map(|(turn, translation)| Pose {
        rotation: Rotation::exp(&turn),
        translation,
    })
}

/// One of the solids whose distance is exact and which have an end.
pub fn simple<const D: usize>() -> BoxedStrategy<Shape<D>> {
    let length = 0.1..0.6;
    let ends = (point::<D>(0.7), point::<D>(0.7)).prop_filter("apart", |(a, b)| {
        (0..D).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>() > 0.04
    });
    prop_oneof![
        (point(0.5), length.clone()).prop_map(|(center, radius)| Shape::Sphere { center, radius }),
        (point::<D>(0.5), prop::collection::vec(length.clone(), D)).prop_map(|(low, size)| {
            Shape::Box {
                low,
                high: from_fn(|i| low[i] + size[i]),
            }
        }),
        (ends.clone(), length.clone()).prop_map(|((from, to), radius)| Shape::Capsule {
            from,
            to,
            radius
        }),
        (ends.clone(), length.clone()).prop_map(|((from, to), radius)| Shape::Cylinder {
            from,
            to,
            radius
        }),
        (ends.clone(), length.clone(), 0.0..0.6, any::<bool>()).prop_map(
            |((from, to), wide, narrow, flip)| Shape::Cone {
                from,
                to,
                radius_from: if flip { wide } else { narrow },
                radius_to: if flip { narrow } else { wide },
            }
        ),
        (point::<D>(0.5), ends, length, 0.1..0.9).prop_map(|(center, (a, b), major, ratio)| {
            Shape::Torus {
                center,
                axis: from_fn(|i| b[i] - a[i]),
                major,
                minor: ratio * major,
            }
        }),
    ]
    .boxed()
}

/// A mesh: a ball with bumps, in every other case two that overlap. There are a few, made once.
pub fn mesh() -> impl Strategy<Value = Arc<TriangleMesh>> {
    static MESHES: LazyLock<Vec<Arc<TriangleMesh>>> =
        LazyLock::new(|| (0..12).map(|kind| Arc::new(bumpy_mesh(kind))).collect());
    prop::sample::select(MESHES.as_slice())
}

fn bumpy_mesh(kind: usize) -> TriangleMesh {
    let (mut vertices, mut triangles) = icosphere([0.0; 3], 1.0, 1 + kind % 3);
    for v in &mut vertices {
        let phase = 6.0 * v[kind % 3] + 3.0 * v[(kind + 1) % 3] + kind as f64;
        let radius = 0.5 + 0.03 * kind as f64 * phase.sin();
        *v = from_fn(|i| 0.1 * (kind % (i + 2)) as f64 + radius * v[i]);
    }
    if kind % 2 == 1 {
        let count = vertices.len() as u32;
        let second: Vec<[f64; 3]> = vertices.iter().map(|v| v.map(|c| c + 0.2)).collect();
        vertices.extend(second);
        let second: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| v + count)).collect();
        triangles.extend(second);
    }
    TriangleMesh::new(&vertices, &triangles)
        .expect("a sound mesh")
        .0
}

/// Any shape, nested a few deep; in three dimensions with meshes in it.
pub fn shape<const D: usize>() -> BoxedStrategy<Shape<D>> {
    let half_space = (point::<D>(0.5), point::<D>(1.0))
        .prop_filter("a direction", |(_, n)| n.iter().any(|c| c.abs() > 0.1))
        .prop_map(|(point, normal)| Shape::HalfSpace { point, normal });
    let leaf = prop_oneof![6 => simple(), 1 => half_space].boxed();
    let leaf = if D == 3 {
        prop_oneof![7 => leaf, 1 => mesh().prop_map(Shape::Mesh)].boxed()
    } else {
        leaf
    };
    leaf.prop_recursive(3, 12, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            parts.clone().prop_map(Shape::Union),
            parts.clone().prop_map(Shape::Intersection),
            (inner.clone(), parts).prop_map(|(whole, parts)| whole.without(parts)),
            inner.clone().prop_map(Shape::inverted),
            (inner.clone(), 0.01..0.3).prop_map(|(shape, thickness)| shape.shell(thickness)),
            (inner.clone(), 0.0..0.3).prop_map(|(shape, radius)| shape.rounded(radius)),
            (inner, pose()).prop_map(|(shape, pose)| shape.placed(pose)),
        ]
    })
    .boxed()
}
