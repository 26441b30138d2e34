//! What is refused, and in which words.

use meniscus_shapes::{Ease, Keyframe, Motion, Pose, Rotation, ScriptedSolid, Shape, Solids};

fn ball(radius: f64) -> Shape<3> {
    Shape::Sphere {
        center: [0.0; 3],
        radius,
    }
}

fn words(shape: &Shape<3>) -> String {
    shape.validate().expect_err("refused").to_string()
}

#[test]
fn a_fault_is_told_with_its_place() {
    let nested = Shape::Union(vec![ball(1.0), ball(1.0).without(vec![ball(-2.0)])]).inverted();
    assert_eq!(
        words(&nested),
        "inverted: union, part 2: difference, part 1: sphere: radius is -2 but must be greater than zero"
    );
}

#[test]
fn every_kind_of_fault_is_found() {
    let cone = |to, radius_from, radius_to| Shape::Cone {
        from: [0.0; 3],
        to,
        radius_from,
        radius_to,
    };
    let top = [0.0, 0.0, 1.0];
    for (shape, told) in [
        (ball(f64::NAN), "sphere: radius must be finite"),
        (
            Shape::Sphere {
                center: [0.0, f64::INFINITY, 0.0],
                radius: 1.0,
            },
            "sphere: center must be finite",
        ),
        (
            Shape::Box {
                low: [0.0; 3],
                high: [1.0, -1.0, 1.0],
            },
            "box: low (0) must be less than high (-1) along y",
        ),
        (
            Shape::Capsule {
                from: [0.0; 3],
                to: [0.0; 3],
                radius: 0.0,
            },
            "capsule: radius is 0 but must be greater than zero",
        ),
        (
            Shape::Cylinder {
                from: top,
                to: top,
                radius: 1.0,
            },
            "cylinder: from and to are the same point",
        ),
        (
            cone(top, -1.0, 1.0),
            "cone: radius_from is -1 but must not be negative",
        ),
        (
            cone(top, 0.0, 0.0),
            "cone: the greater radius is 0 but must be greater than zero",
        ),
        (
            Shape::Torus {
                center: [0.0; 3],
                axis: [0.0; 3],
                major: 1.0,
                minor: 0.1,
            },
            "torus: axis must not be zero",
        ),
        (
            Shape::HalfSpace {
                point: [0.0; 3],
                normal: [0.0; 3],
            },
            "half space: normal must not be zero",
        ),
        (Shape::Union(vec![]), "union: there are no parts"),
        (
            Shape::Intersection(vec![]),
            "intersection: there are no parts",
        ),
        (ball(1.0).without(vec![]), "difference: there are no parts"),
        (
            ball(1.0).shell(0.0),
            "shell: thickness is 0 but must be greater than zero",
        ),
        (
            ball(1.0).rounded(-0.5),
            "rounded: radius is -0.5 but must not be negative",
        ),
        (
            ball(1.0).placed(Pose::translated([f64::NAN; 3])),
            "placed: the pose must be finite",
        ),
    ] {
        assert_eq!(words(&shape), told);
    }
    for sound in [
        ball(1.0),
        cone(top, 0.0, 1.0),
        ball(1.0).shell(0.1).inverted(),
    ] {
        assert_eq!(sound.validate(), Ok(()));
    }
}

#[test]
fn a_shape_of_nothing_is_infinitely_far_and_does_not_panic() {
    let nothing: Shape<3> = Shape::Union(vec![]);
    assert_eq!(nothing.distance([0.0; 3]), f64::INFINITY);
    assert_eq!(nothing.gradient([0.0; 3]), [0.0, 0.0, 1.0]);
    assert!(nothing.bounds().expect("known to be empty").is_empty());
    assert_eq!(
        Solids::<3>::default().distance([0.0; 3], 0.0),
        f64::INFINITY
    );
    assert_eq!(
        Solids::<3>::default().velocity([0.0; 3], 0.0, 0.1),
        [0.0; 3]
    );
}

fn key(time: f64, angle: f64) -> Keyframe<2> {
    Keyframe {
        time,
        position: [0.0; 2],
        rotation: Rotation::from_angle(angle),
    }
}

#[test]
fn motions_that_cannot_be_meant_are_refused() {
    for (keys, told) in [
        (vec![], "body paddle: the motion has no keys"),
        (
            vec![key(0.0, 0.0), key(1.0, f64::NAN)],
            "body paddle: key 2: time, position and rotation must be finite",
        ),
        (
            vec![key(1.0, 0.0), key(1.0, 1.0)],
            "body paddle: key 2: its time (1 s) must be after that of the key before (1 s)",
        ),
        (
            vec![
                key(0.0, 0.0),
                key(1.0, 3.0),
                key(2.0, 3.0 + std::f64::consts::PI),
            ],
            "body paddle: key 3: half a turn from the key before does not say which way; add a key between",
        ),
    ] {
        let body = ScriptedSolid {
            name: "paddle".into(),
            shape: Shape::Sphere {
                center: [0.0; 2],
                radius: 1.0,
            },
            motion: Motion::Keyframes {
                keys,
                ease: Ease::Smooth,
            },
        };
        let solids = Solids::new(vec![body]);
        assert_eq!(solids.validate().expect_err("refused").to_string(), told);
    }
}
