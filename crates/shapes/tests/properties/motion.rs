//! Motion by keyframes.

use crate::arbitrary;

use meniscus_shapes::{
    Bounds, Ease, Keyframe, Motion, Pose, Rotation, ScriptedSolid, Shape, Solids,
};
use proptest::prelude::*;
use std::array::from_fn;

fn keys<const D: usize>() -> impl Strategy<Value = Vec<Keyframe<D>>> {
    // Whatever the order of the rotations, neighbours stay less than half a turn apart.
    let key = (0.1..1.0, arbitrary::point(1.0), arbitrary::generator(0.8));
    prop::collection::vec(key, 1..6).prop_map(|steps| {
        let mut time = -0.5;
        steps
            .into_iter()
            .map(|(wait, position, turn)| {
                time += wait;
                Keyframe {
                    time,
                    position,
                    rotation: Rotation::exp(&turn),
                }
            })
            .collect()
    })
}

fn ease() -> impl Strategy<Value = Ease> {
    prop_oneof![Just(Ease::Smooth), Just(Ease::Linear)]
}

fn apart<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (0..D).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

fn passes_the_keys_and_rests_outside<const D: usize>(
    keys: Vec<Keyframe<D>>,
    ease: Ease,
) -> Result<(), TestCaseError> {
    let (first, last) = (keys[0].pose(), keys[keys.len() - 1].pose());
    let (start, end) = (keys[0].time, keys[keys.len() - 1].time);
    let motion = Motion::Keyframes {
        keys: keys.clone(),
        ease,
    };
    prop_assert_eq!(motion.validate(), Ok(()));
    prop_assert_eq!(motion.world_from_body(start - 1.0), first);
    prop_assert_eq!(motion.world_from_body(f64::NEG_INFINITY), first);
    prop_assert_eq!(motion.world_from_body(end), last);
    prop_assert_eq!(motion.world_from_body(end + 1.0), last);
    for key in keys {
        let pose = motion.world_from_body(key.time);
        let corner = [0.7; D];
        prop_assert!(apart(pose.apply(corner), key.pose().apply(corner)) < 1e-12);
    }
    Ok(())
}

/// Velocities of a far point of the body just before and just after `t`.
fn velocities_about<const D: usize>(motion: &Motion<D>, t: f64) -> [[f64; D]; 2] {
    let h = 1e-5;
    let corner = [0.7; D];
    let at = |t: f64| motion.world_from_body(t).apply(corner);
    [
        from_fn(|i| (at(t)[i] - at(t - h)[i]) / h),
        from_fn(|i| (at(t + h)[i] - at(t)[i]) / h),
    ]
}

fn has_no_jump_in_velocity<const D: usize>(keys: Vec<Keyframe<D>>) -> Result<(), TestCaseError> {
    let motion = Motion::Keyframes {
        keys: keys.clone(),
        ease: Ease::Smooth,
    };
    for (k, key) in keys.iter().enumerate() {
        let [before, after] = velocities_about(&motion, key.time);
        // The second derivative times h remains.
        prop_assert!(
            apart(before, after) < 2e-2,
            "key {k}: {before:?} then {after:?}"
        );
        if k == 0 || k + 1 == keys.len() {
            prop_assert!(apart(after, [0.0; D]) < 2e-2);
        }
    }
    Ok(())
}

fn no_coordinate_leaves_the_range_of_its_two_keys<const D: usize>(
    keys: &[Keyframe<D>],
) -> Result<(), TestCaseError> {
    let motion = Motion::Keyframes {
        keys: keys.to_vec(),
        ease: Ease::Smooth,
    };
    for pair in keys.windows(2) {
        for step in 0..=50 {
            let t = pair[0].time + (pair[1].time - pair[0].time) * f64::from(step) / 50.0;
            let x = motion.world_from_body(t).translation;
            for i in 0..D {
                let (a, b) = (pair[0].position[i], pair[1].position[i]);
                prop_assert!(a.min(b) - 1e-12 <= x[i] && x[i] <= a.max(b) + 1e-12);
            }
        }
    }
    Ok(())
}

fn ball<const D: usize>(keys: Vec<Keyframe<D>>, ease: Ease) -> ScriptedSolid<D> {
    ScriptedSolid {
        name: "ball".into(),
        shape: Shape::Sphere {
            center: [0.1; D],
            radius: 0.5,
        },
        motion: Motion::Keyframes { keys, ease },
    }
}

fn velocity_is_that_of_the_carried_point<const D: usize>(
    body: &ScriptedSolid<D>,
    x: [f64; D],
    t: f64,
    dt: f64,
) -> Result<(), TestCaseError> {
    let carried = body.carried(x, t, t + dt);
    let velocity = body.velocity(x, t, dt);
    prop_assert!(apart(from_fn(|i| x[i] + dt * velocity[i]), carried) < 1e-12);
    // A carried point keeps its distance and returns.
    prop_assert!((body.distance(carried, t + dt) - body.distance(x, t)).abs() < 1e-12);
    prop_assert!(apart(body.carried(carried, t + dt, t), x) < 1e-12);
    // The snapshot answers the same.
    let solids = Solids::new(vec![body.clone()]);
    let step = solids.over_step(t, dt);
    prop_assert_eq!(step.distance(x), body.distance(x, t));
    prop_assert_eq!(step.normal(x), Some(body.normal(x, t)));
    prop_assert!(apart(step.velocity(x), velocity) < 1e-12);
    prop_assert!(apart(step.carried_by(0, x), carried) < 1e-14);
    Ok(())
}

fn no_surface_point_is_faster_than_the_bound<const D: usize>(
    body: &ScriptedSolid<D>,
    direction: [f64; D],
    t: f64,
    dt: f64,
) -> Result<(), TestCaseError> {
    let everywhere = Bounds {
        low: [-9.0; D],
        high: [9.0; D],
    };
    let bound = body.max_speed(t, dt, &everywhere);
    let local: [f64; D] = from_fn(|i| 0.1 + 0.5 * direction[i] / apart(direction, [0.0; D]));
    let mut fastest: f64 = 0.0;
    for step in 0..40 {
        let (t0, t1) = (
            t + dt * f64::from(step) / 40.0,
            t + dt * f64::from(step + 1) / 40.0,
        );
        let a = body.motion.world_from_body(t0).apply(local);
        let b = body.motion.world_from_body(t1).apply(local);
        fastest = fastest.max(apart(a, b) / (t1 - t0));
    }
    prop_assert!(fastest <= bound + 1e-9, "{fastest} over {bound}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_motion_passes_its_keys_and_rests_outside_them(flat in keys::<2>(), solid in keys::<3>(), ease in ease()) {
        passes_the_keys_and_rests_outside(flat, ease)?;
        passes_the_keys_and_rests_outside(solid, ease)?;
    }

    #[test]
    fn a_smooth_motion_has_no_jump_in_velocity(flat in keys::<2>(), solid in keys::<3>()) {
        has_no_jump_in_velocity(flat)?;
        has_no_jump_in_velocity(solid)?;
    }

    #[test]
    fn a_smooth_motion_does_not_overshoot(flat in keys::<2>(), solid in keys::<3>()) {
        no_coordinate_leaves_the_range_of_its_two_keys(&flat)?;
        no_coordinate_leaves_the_range_of_its_two_keys(&solid)?;
    }

    #[test]
    fn velocities_are_those_of_carried_points(
        flat in keys::<2>(), solid in keys::<3>(), ease in ease(),
        x in arbitrary::point(1.0), y in arbitrary::point(1.0), t in -1.0..4.0, dt in 0.01..0.5,
    ) {
        velocity_is_that_of_the_carried_point(&ball(flat, ease), x, t, dt)?;
        velocity_is_that_of_the_carried_point(&ball(solid, ease), y, t, dt)?;
    }

    #[test]
    fn no_point_is_faster_than_the_bound_on_the_speed(
        flat in keys::<2>(), solid in keys::<3>(), ease in ease(),
        x in arbitrary::point(1.0), y in arbitrary::point(1.0), t in -1.0..4.0, dt in 0.01..1.5,
    ) {
        no_surface_point_is_faster_than_the_bound(&ball(flat, ease), x, t, dt)?;
        no_surface_point_is_faster_than_the_bound(&ball(solid, ease), y, t, dt)?;
    }
}

fn to_and_fro() -> Vec<Keyframe<2>> {
    [(0.0, 0.0), (1.0, 1.0), (3.0, -0.5)]
        .map(|(time, x)| Keyframe {
            time,
            position: [x, 0.0],
            rotation: Rotation::from_angle(x),
        })
        .to_vec()
}

#[test]
fn a_smooth_motion_turns_back_at_its_key() {
    let motion = Motion::Keyframes {
        keys: to_and_fro(),
        ease: Ease::Smooth,
    };
    let [before, after] = velocities_about(&motion, 1.0);
    assert!(apart(before, [0.0; 2]) < 1e-3 && apart(after, [0.0; 2]) < 1e-3);
}

#[test]
fn a_linear_motion_keeps_its_speed_between_keys() {
    let body = ball(to_and_fro(), Ease::Linear);
    let origin = |t| body.motion.world_from_body(t).translation;
    for (t, speed) in [
        (0.1, 1.0),
        (0.8, 1.0),
        (1.2, -0.75),
        (2.9, -0.75),
        (3.1, 0.0),
    ] {
        let velocity = body.velocity(origin(t), t, 0.0);
        assert!((velocity[0] - speed).abs() < 1e-8, "at {t}: {velocity:?}");
    }
}

#[test]
fn a_smooth_motion_through_even_steps_keeps_its_speed_in_the_middle() {
    let turn = |k: u32| Rotation::from_axis_angle([1.0, 2.0, -1.0], 0.4 * f64::from(k));
    let keys = (0..6).map(|k| Keyframe {
        time: f64::from(k),
        position: [f64::from(k), 0.0, 0.0],
        rotation: turn(k),
    });
    let motion = Motion::Keyframes {
        keys: keys.collect(),
        ease: Ease::Smooth,
    };
    for step in 0..=20 {
        let t = 2.0 + f64::from(step) / 20.0;
        let pose = motion.world_from_body(t);
        let expected = Pose {
            rotation: Rotation::from_axis_angle([1.0, 2.0, -1.0], 0.4 * t),
            translation: [t, 0.0, 0.0],
        };
        assert!(apart(pose.apply([1.0; 3]), expected.apply([1.0; 3])) < 1e-12);
    }
}

#[test]
fn only_bodies_with_differing_keys_move() {
    let mut keys = to_and_fro();
    assert!(ball(keys.clone(), Ease::Smooth).moves());
    for key in &mut keys {
        *key = Keyframe {
            time: key.time,
            position: [0.3, 0.4],
            rotation: Rotation::from_angle(0.2),
        };
    }
    let resting = ball(keys, Ease::Smooth);
    assert!(!resting.moves());
    assert_eq!(resting.velocity([0.1, 0.2], 0.5, 0.1), [0.0; 2]);
    assert_eq!(resting.max_speed(0.0, 1.0, &Bounds::EVERYTHING), 0.0);
    // It does not move, but it is where its keys put it.
    assert!((resting.distance([0.3, 0.4], 0.0) - (0.02_f64.sqrt() - 0.5)).abs() < 1e-12);
}

#[test]
fn the_closest_of_several_bodies_answers() {
    let moving = ball(to_and_fro(), Ease::Linear);
    let wall = ScriptedSolid::still(
        "wall",
        Shape::HalfSpace {
            point: [0.0, -2.0],
            normal: [0.0, 1.0],
        },
    );
    let solids = Solids::new(vec![wall, moving.clone()]);
    assert!(solids.moves());
    let step = solids.over_step(0.5, 0.1);
    assert_eq!(step.len(), 2);
    for (x, closest) in [([0.5, 0.2], 1), ([0.5, -1.9], 0)] {
        let (index, distance) = solids.closest(x, 0.5).expect("two bodies");
        assert_eq!(index, closest);
        assert_eq!(step.closest(x), Some((index, distance)));
        assert_eq!(distance, solids.distance(x, 0.5));
        assert_eq!(distance, step.solid(index).distance(x));
        let velocity = solids.velocity(x, 0.5, 0.1);
        assert!(apart(velocity, step.velocity(x)) < 1e-12);
        assert_eq!(velocity == [0.0; 2], closest == 0);
    }
    assert_eq!(
        solids.max_speed(0.2, 0.1, &Bounds::EVERYTHING),
        moving.max_speed(0.2, 0.1, &Bounds::EVERYTHING)
    );
}

#[test]
fn a_container_is_as_fast_as_its_hollow() {
    let mut body = ball(to_and_fro(), Ease::Linear);
    let speed = body.max_speed(0.0, 0.5, &Bounds::EVERYTHING);
    body.shape = body.shape.inverted();
    assert_eq!(body.max_speed(0.0, 0.5, &Bounds::EVERYTHING), speed);
    // Travel of 1 m/s, and 1 rad/s at the far side of the ball about the body's origin.
    assert!((1.5..2.0).contains(&speed), "{speed}");
}
