//! Bad values are refused with a message.

use crate::scenes::{ball, body, cuboid, empty, floor, up};
use meniscus_rigid::{
    Bodies, Body, BodyFault, Joint, JointError, JointKind, Mass, MassError, MotorTarget,
    PairMaterial, Settings, StepError, Wrench,
};
use meniscus_shapes::{MomentsError, Shape};

const BAD: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];

#[test]
fn bad_masses_are_refused() {
    let shape = cuboid::<3>([0.2; 3]);
    for bad in BAD.into_iter().chain([0.0]) {
        assert!(matches!(
            Mass::of_density(&shape, bad),
            Err(MassError::Density(_))
        ));
        assert!(matches!(
            Mass::of_mass(&shape, bad),
            Err(MassError::Mass(_))
        ));
    }
    let container = ball::<3>(0.5).inverted();
    assert_eq!(
        Mass::of_density(&container, 1.0),
        Err(MassError::Moments(MomentsError::Unbounded))
    );
    let mass = Mass::of_density(&shape, 500.0).unwrap();
    let diagonal = |a: f64, b: f64, c: f64| [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]];
    for inertia in [
        diagonal(1.0, 1.0, 2.1),
        diagonal(0.0, 1.0, 1.0),
        diagonal(1.0, f64::NAN, 1.0),
        diagonal(-1.0, 1.0, 1.0),
    ] {
        assert!(
            matches!(
                mass.with_inertia(inertia).validated(),
                Err(MassError::Inertia(_))
            ),
            "{inertia:?}"
        );
    }
    assert!(
        mass.with_inertia(diagonal(1.0, 1.0, 2.0))
            .validated()
            .is_ok()
    );
    assert_eq!(
        mass.with_center([f64::NAN; 3]).validated(),
        Err(MassError::Center)
    );
}

#[test]
fn bad_bodies_are_refused() {
    let good = || body("cube", cuboid::<3>([0.2; 3]), 500.0, up(1.0));
    let mut bodies = empty::<3>();
    let mut refuse = |body: Body<3>, why: &str| {
        let error = bodies.add(body).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(error.to_string().contains("cube"), "{error}");
    };
    for bad in BAD {
        refuse(good().friction(bad), "friction");
        refuse(good().restitution(bad), "restitution");
        if !(bad == -1.0) {
            refuse(good().moving([bad, 0.0, 0.0], [0.0; 3]), "finite");
            refuse(good().moving([0.0; 3], [0.0, bad, 0.0]), "finite");
        }
    }
    refuse(good().restitution(1.5), "restitution");
    refuse(
        Body {
            mass: None,
            ..good()
        },
        "mass",
    );
    refuse(
        Body {
            release_time: Some(1.0),
            ..good()
        },
        "scripted",
    );
    refuse(
        Body {
            shape: Shape::Sphere {
                center: [0.0; 3],
                radius: -1.0,
            },
            ..good()
        },
        "radius",
    );
    let tilted =
        body("cube", cuboid::<2>([0.2; 2]), 500.0, up(1.0)).moving([0.0; 2], [1.0, 0.0, 0.0]);
    assert_eq!(
        empty::<2>().add(tilted).unwrap_err().fault,
        BodyFault::OutOfPlane
    );
    let mut two = empty::<3>();
    two.add(good()).unwrap();
    two.add(floor()).unwrap();
    assert!(
        two.set_material(
            0,
            1,
            PairMaterial {
                friction: f64::NAN,
                restitution: 0.0
            }
        )
        .is_err()
    );
    two.set_material(
        1,
        0,
        PairMaterial {
            friction: 0.7,
            restitution: 0.3,
        },
    )
    .unwrap();
    assert_eq!(
        two.material(0, 1),
        PairMaterial {
            friction: 0.7,
            restitution: 0.3
        }
    );
}

#[test]
fn bad_joints_are_refused() {
    let mut bodies = empty::<3>();
    bodies
        .add(body("cube", cuboid::<3>([0.2; 3]), 500.0, up(1.0)))
        .unwrap();
    let hinge = |axis| {
        Joint::<3>::new(
            JointKind::Hinge {
                point: [0.0; 3],
                axis,
            },
            0,
            None,
        )
    };
    let y = [0.0, 1.0, 0.0];
    let ball = JointKind::Ball { point: [0.0; 3] };
    let mut refuse =
        |joint: Joint<3>, why: JointError| assert_eq!(bodies.add_joint(joint), Err(why));
    refuse(Joint::new(ball, 1, None), JointError::UnknownBody);
    refuse(Joint::new(ball, 0, Some(9)), JointError::UnknownBody);
    refuse(Joint::new(ball, 0, Some(0)), JointError::SameBody);
    refuse(
        Joint::new(
            JointKind::Ball {
                point: [f64::NAN; 3],
            },
            0,
            None,
        ),
        JointError::NotFinite,
    );
    refuse(hinge([0.0; 3]), JointError::Axis);
    refuse(hinge([f64::NAN; 3]), JointError::Axis);
    refuse(hinge(y).limits(1.0, -1.0), JointError::Limits);
    refuse(hinge(y).limits(f64::NAN, 1.0), JointError::Limits);
    refuse(
        hinge(y).motor(MotorTarget::Speed(f64::NAN), 1.0),
        JointError::Motor,
    );
    refuse(
        hinge(y).motor(MotorTarget::Speed(1.0), -1.0),
        JointError::Motor,
    );
    refuse(hinge(y).break_force(0.0), JointError::BreakForce);
    refuse(hinge(y).break_force(f64::NAN), JointError::BreakForce);
    refuse(
        Joint::new(ball, 0, None).limits(0.0, 1.0),
        JointError::NothingToDrive,
    );
    let distance = JointKind::Distance {
        point_a: [1.0; 3],
        point_b: [1.0; 3],
    };
    refuse(Joint::new(distance, 0, None), JointError::NoDistance);
}

#[test]
fn bad_settings_steps_and_forces_are_refused_and_change_nothing() {
    for bad in BAD {
        assert!(Bodies::<3>::new(Settings::default().tolerance(bad)).is_err());
        assert!(Bodies::<3>::new(Settings::default().resting_gap(Some(bad))).is_err());
        assert!(Bodies::<3>::new(Settings::default().position_correction(bad)).is_err());
    }
    assert!(Bodies::<3>::new(Settings::default().gravity([f64::NAN; 3])).is_err());
    assert!(Bodies::<3>::new(Settings::default().max_rounds(0)).is_err());
    let mut bodies = empty::<3>();
    bodies
        .add(body("cube", cuboid::<3>([0.2; 3]), 500.0, up(1.0)))
        .unwrap();
    let before = bodies.save();
    for bad in BAD.into_iter().chain([0.0]) {
        assert!(matches!(bodies.step(bad), Err(StepError::TimeStep(_))));
    }
    let wild = Wrench {
        force: [f64::NAN, 0.0, 0.0],
        torque: [0.0; 3],
    };
    assert_eq!(
        bodies.step_with(0.01, &[wild]),
        Err(StepError::Force {
            body: "cube".into()
        })
    );
    let huge = Wrench {
        force: [f64::MAX, 0.0, 0.0],
        torque: [0.0; 3],
    };
    assert!(matches!(
        bodies.step_with(1e10, &[huge]),
        Err(StepError::NonFinite { .. })
    ));
    assert_eq!(bodies.save(), before);
    assert!(bodies.step(0.01).is_ok());
}

#[test]
fn external_forces_act_on_their_bodies() {
    let mut bodies = Bodies::<2>::new(Settings::default().gravity([0.0; 2])).unwrap();
    let cube = body("cube", cuboid::<2>([0.2; 2]), 500.0, up(1.0));
    let mass = cube.mass.unwrap();
    bodies.add(cube).unwrap();
    let push = Wrench {
        force: [3.0, 0.0],
        torque: [0.0, 0.0, 2.0],
    };
    bodies.step_with(0.1, &[push]).unwrap();
    assert!((bodies.twist(0).linear[0] - 0.3 / mass.mass).abs() < 1e-15);
    assert!((bodies.twist(0).angular[2] - 0.2 / mass.inertia[2][2]).abs() < 1e-12);
}
