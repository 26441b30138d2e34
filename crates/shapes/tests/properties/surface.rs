//! Polytopes and samples of surfaces.

use meniscus_shapes::{Polytope, Pose, Rotation, Shape};

fn assert_sound<const D: usize>(shape: &Shape<D>, polytope: &Polytope<D>) {
    for face in &polytope.faces {
        assert!(face.vertices.len() >= D);
        for &v in face.vertices.iter() {
            let x = polytope.vertices[v as usize];
            assert!(shape.distance(x).abs() < 1e-12, "{x:?} is no corner");
            let along: f64 = (0..D).map(|i| face.normal[i] * x[i]).sum();
            assert!((along - face.offset).abs() < 1e-12);
        }
        // Counter-clockwise seen from outside.
        let corner = |k: usize| polytope.vertices[face.vertices[k] as usize];
        let (a, b) = (corner(0), corner(1));
        let u: [f64; D] = std::array::from_fn(|i| b[i] - a[i]);
        let turn: f64 = if D == 2 {
            u[1] * face.normal[0] - u[0] * face.normal[1]
        } else {
            let c = corner(2);
            let v: [f64; D] = std::array::from_fn(|i| c[i] - b[i]);
            (0..3)
                .map(|i| {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    face.normal[i] * (u[j] * v[k] - u[k] * v[j])
                })
                .sum()
        };
        assert!(turn > 0.0, "{face:?}");
    }
}

#[test]
fn boxes_trapezoids_and_cut_boxes_are_polytopes() {
    let pose = Pose {
        rotation: Rotation::from_axis_angle([1.0, 2.0, 3.0], 0.7),
        translation: [5.0, 6.0, 7.0],
    };
    let cube = Shape::Box {
        low: [0.0; 3],
        high: [1.0, 2.0, 3.0],
    };
    let wedge = Shape::Intersection(vec![
        cube.clone(),
        Shape::HalfSpace {
            point: [0.8, 1.8, 2.8],
            normal: [1.0, 1.0, 1.0],
        },
    ]);
    for (shape, faces, edges) in [
        (cube.clone(), 6, 12),
        (cube.placed(pose), 6, 12),
        (wedge.clone(), 7, 15),
        (wedge.placed(pose), 7, 15),
    ] {
        let polytope = shape.polytope().unwrap();
        assert_eq!((polytope.faces.len(), polytope.edges.len()), (faces, edges));
        assert_sound(&shape, &polytope);
    }
    let stone = Shape::Cone {
        from: [0.0, 1.0],
        to: [0.2, 1.5],
        radius_from: 0.2,
        radius_to: 0.3,
    };
    let cut = Shape::Intersection(vec![
        Shape::Box {
            low: [0.0; 2],
            high: [1.0; 2],
        },
        Shape::HalfSpace {
            point: [0.7, 0.7],
            normal: [1.0, 1.0],
        },
    ]);
    for (shape, faces) in [
        (stone, 4),
        (cut, 5),
        (
            Shape::Box {
                low: [0.0; 2],
                high: [1.0; 2],
            },
            4,
        ),
    ] {
        let polytope = shape.polytope().unwrap();
        assert_eq!(polytope.faces.len(), faces);
        assert_sound(&shape, &polytope);
    }
    assert!(
        Shape::Sphere {
            center: [0.0; 3],
            radius: 1.0
        }
        .polytope()
        .is_none()
    );
}

#[test]
fn samples_lie_on_the_surface_and_cover_it() {
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
    let samples = bowl.surface_samples(0.05, 10_000);
    assert!(samples.len() > 400, "{}", samples.len());
    for sample in &samples {
        assert!(bowl.distance(sample.point).abs() < 1e-7);
    }
    // Both sides of the wall are sampled.
    let inside = samples.iter().filter(|s| {
        s.point
            .iter()
            .zip(&s.normal)
            .map(|(x, n)| x * n)
            .sum::<f64>()
            < -0.3
    });
    assert!(inside.count() > 150);
    let few = bowl.surface_samples(0.001, 200);
    assert!(few.len() <= 200 && few.len() > 50, "{}", few.len());
    assert!(ball(1.0).inverted().surface_samples(0.1, 100).is_empty());
}
