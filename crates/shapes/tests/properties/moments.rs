//! Volume, centroid and second moments.

use crate::icosphere::icosphere;
use meniscus_shapes::{Moments, MomentsError, Pose, Rotation, Shape, TriangleMesh};
use std::f64::consts::PI;
use std::sync::Arc;

fn cube_mesh(low: [f64; 3], high: [f64; 3]) -> TriangleMesh {
    let corner = |k: usize| std::array::from_fn(|i| if k >> i & 1 == 1 { high[i] } else { low[i] });
    let vertices: Vec<[f64; 3]> = (0..8).map(corner).collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles: Vec<[u32; 3]> = quads
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
        .collect();
    TriangleMesh::new(&vertices, &triangles).unwrap().0
}

fn assert_near<const D: usize>(a: &Moments<D>, b: &Moments<D>, tolerance: f64) {
    let size = ((0..D).map(|i| b.second[i][i]).sum::<f64>() / b.volume).sqrt();
    assert!((a.volume / b.volume - 1.0).abs() < tolerance, "{a:?} {b:?}");
    for i in 0..D {
        assert!(
            (a.centroid[i] - b.centroid[i]).abs() < tolerance * size,
            "{a:?} {b:?}"
        );
        for j in 0..D {
            let off = (a.second[i][j] - b.second[i][j]).abs();
            assert!(
                off < 2.0 * tolerance * b.volume * size * size,
                "{a:?} {b:?}"
            );
        }
    }
}

/// Every formula, against the quadrature of the same solid as a union with nothing.
#[test]
fn formulas_agree_with_quadrature() {
    let by_quadrature = |shape: &Shape<3>| {
        Shape::Union(vec![shape.clone(), shape.clone()])
            .moments()
            .unwrap()
    };
    let (from, to) = ([0.1, 0.2, 0.3], [0.5, -0.3, 0.8]);
    for shape in [
        Shape::Sphere {
            center: from,
            radius: 0.3,
        },
        Shape::Box {
            low: [0.0, 0.1, -0.4],
            high: [0.5, 0.3, 0.3],
        },
        Shape::Capsule {
            from,
            to,
            radius: 0.2,
        },
        Shape::Cylinder {
            from,
            to,
            radius: 0.25,
        },
        Shape::Cone {
            from,
            to,
            radius_from: 0.3,
            radius_to: 0.1,
        },
        Shape::Cone {
            from,
            to,
            radius_from: 0.3,
            radius_to: 0.0,
        },
        Shape::Torus {
            center: from,
            axis: [1.0, 2.0, 0.5],
            major: 0.4,
            minor: 0.15,
        },
        Shape::Sphere {
            center: from,
            radius: 0.3,
        }
        .shell(0.04),
        Shape::Mesh(Arc::new(cube_mesh([0.0; 3], [0.3, 0.4, 0.5]))),
    ] {
        assert_near(&by_quadrature(&shape), &shape.moments().unwrap(), 1e-3);
    }
    let by_quadrature = |shape: &Shape<2>| {
        Shape::Union(vec![shape.clone(), shape.clone()])
            .moments()
            .unwrap()
    };
    let (from, to) = ([0.1, 0.2], [0.5, -0.3]);
    for shape in [
        Shape::Sphere {
            center: from,
            radius: 0.3,
        },
        Shape::Box {
            low: [0.0, 0.1],
            high: [0.5, 0.3],
        },
        Shape::Capsule {
            from,
            to,
            radius: 0.2,
        },
        Shape::Cylinder {
            from,
            to,
            radius: 0.25,
        },
        Shape::Cone {
            from,
            to,
            radius_from: 0.3,
            radius_to: 0.1,
        },
        Shape::Torus {
            center: from,
            axis: [1.0, 2.0],
            major: 0.4,
            minor: 0.15,
        },
        Shape::Sphere {
            center: from,
            radius: 0.3,
        }
        .shell(0.04),
    ] {
        assert_near(&by_quadrature(&shape), &shape.moments().unwrap(), 1e-3);
    }
}

#[test]
fn a_box_cut_into_triangles_has_the_moments_of_the_box_far_from_the_origin_too() {
    let (low, high) = ([1000.0, 2000.0, -500.0], [1001.0, 2000.5, -499.8]);
    let mesh = Shape::Mesh(Arc::new(cube_mesh(low, high)));
    let exact = Shape::Box { low, high }.moments().unwrap();
    assert_near(&mesh.moments().unwrap(), &exact, 1e-12);
}

#[test]
fn a_fine_ball_of_triangles_tends_to_the_ball() {
    let (vertices, triangles) = icosphere([0.2, 0.1, 0.3], 0.5, 4);
    let mesh = Shape::<3>::Mesh(Arc::new(
        TriangleMesh::new(&vertices, &triangles).unwrap().0,
    ));
    let ball = Shape::Sphere {
        center: [0.2, 0.1, 0.3],
        radius: 0.5,
    }
    .moments()
    .unwrap();
    assert_near(&mesh.moments().unwrap(), &ball, 5e-3);
}

#[test]
fn thin_shells_and_differences_are_within_a_thousandth() {
    // A box shell: the outer box with rounded edges, less the inner one.
    let (size, wall) = (0.5, 0.01);
    let shell = Shape::Box {
        low: [0.0; 3],
        high: [size; 3],
    }
    .shell(wall)
    .moments()
    .unwrap();
    let h = 0.5 * wall;
    let outer =
        size.powi(3) + 6.0 * size * size * h + 3.0 * PI * size * h * h + 4.0 / 3.0 * PI * h.powi(3);
    let exact = outer - (size - wall).powi(3);
    assert!(
        (shell.volume / exact - 1.0).abs() < 1e-3,
        "{} {exact}",
        shell.volume
    );
    // A bowl: half a ball without a smaller one.
    let ball = |radius: f64| Shape::Sphere {
        center: [0.0; 3],
        radius,
    };
    let bowl = Shape::Intersection(vec![
        ball(0.42).without(vec![ball(0.38)]),
        Shape::HalfSpace {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        },
    ]);
    let bowl = bowl.moments().unwrap();
    let (a, b) = (0.42_f64, 0.38_f64);
    let volume = 2.0 / 3.0 * PI * (a.powi(3) - b.powi(3));
    let centroid = -0.25 * PI * (a.powi(4) - b.powi(4)) / volume;
    assert!(
        (bowl.volume / volume - 1.0).abs() < 1e-3,
        "{} {volume}",
        bowl.volume
    );
    assert!((bowl.centroid[2] / centroid - 1.0).abs() < 1e-3);
}

#[test]
fn a_rotation_turns_the_second_moments() {
    let shape = Shape::Box {
        low: [0.0; 3],
        high: [1.0, 2.0, 3.0],
    };
    let pose = Pose {
        rotation: Rotation::from_axis_angle([1.0, 2.0, 3.0], 0.7),
        translation: [5.0, 6.0, 7.0],
    };
    let placed = shape.clone().placed(pose);
    let quadrature = Shape::Union(vec![placed.clone(), placed.clone()])
        .moments()
        .unwrap();
    assert_near(&quadrature, &placed.moments().unwrap(), 1e-3);
    assert_near(
        &shape.moments().unwrap().placed(&pose),
        &placed.moments().unwrap(),
        1e-14,
    );
}

#[test]
fn solids_without_end_or_volume_have_no_moments() {
    let inside_out = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.4,
    }
    .inverted();
    assert_eq!(inside_out.moments(), Err(MomentsError::Unbounded));
    let nothing = Shape::Box {
        low: [0.0; 3],
        high: [1.0, 1.0, 0.0],
    };
    assert_eq!(nothing.moments(), Err(MomentsError::NoVolume));
    let apart = Shape::Intersection(vec![
        Shape::Sphere {
            center: [0.0; 3],
            radius: 0.4,
        },
        Shape::Sphere {
            center: [2.0; 3],
            radius: 0.4,
        },
    ]);
    assert_eq!(apart.moments(), Err(MomentsError::NoVolume));
}
