//! Same bits, whatever the threads, and after a restart.

use crate::scenes::{ball, body, cuboid, empty, floor, stack};
use meniscus_rigid::{Bodies, Joint, JointKind, Settings};
use meniscus_shapes::Rotation;

/// Boxes, balls and a chain that fall into a heap.
fn heap() -> Bodies<3> {
    let mut bodies = empty::<3>();
    bodies.add(floor()).unwrap();
    for k in 0..10 {
        let at = [
            0.3 * (k % 3) as f64,
            0.25 * (k % 2) as f64,
            0.3 + 0.15 * k as f64,
        ];
        let mut own = if k % 2 == 0 {
            body("box", cuboid([0.2, 0.15, 0.25]), 500.0, at)
        } else {
            body("ball", ball(0.1), 700.0, at)
        };
        own.pose.rotation = Rotation::from_axis_angle([1.0, k as f64, 0.3], k as f64);
        own.restitution = if k == 3 { 0.5 } else { 0.0 };
        bodies.add(own).unwrap();
    }
    bodies
        .add_joint(Joint::new(
            JointKind::Ball {
                point: [0.1, 0.1, 0.5],
            },
            1,
            Some(2),
        ))
        .unwrap();
    bodies
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut bodies = heap();
            for _ in 0..100 {
                bodies.step(0.01).unwrap();
            }
            bodies.save()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn a_restored_state_continues_to_the_same_bits() {
    let mut whole = heap();
    for _ in 0..60 {
        whole.step(0.01).unwrap();
    }
    let saved = whole.save();
    let mut resumed = heap();
    resumed.restore(&saved).unwrap();
    assert_eq!(resumed.save(), saved);
    for _ in 0..60 {
        whole.step(0.01).unwrap();
        resumed.step(0.01).unwrap();
    }
    assert_eq!(whole.save(), resumed.save());
}

#[test]
fn bytes_that_are_no_state_are_refused_and_change_nothing() {
    let mut bodies = heap();
    bodies.step(0.01).unwrap();
    let saved = bodies.save();
    for end in 0..saved.len().min(400) {
        assert!(bodies.restore(&saved[..end]).is_err());
    }
    let mut longer = saved.clone();
    longer.push(0);
    assert!(bodies.restore(&longer).is_err());
    let mut wild = saved.clone();
    wild[60] = 0xff;
    wild[61] = 0xff;
    wild[62] = 0xff;
    wild[63] = 0x7f;
    let _ = bodies.restore(&wild);
    bodies.restore(&saved).unwrap();
    assert_eq!(bodies.save(), saved);
    assert!(empty::<3>().restore(&saved).is_err());
    assert!(empty::<2>().restore(&saved).is_err());
}

/// coupling test 28: masses times a thousand, rotated gravity, other numbers of the bodies.
#[test]
fn results_follow_scales_axes_and_numbering() {
    let run = |density: f64, down: usize, reversed: bool| {
        let mut gravity = [0.0; 3];
        gravity[down] = -9.81;
        let mut bodies = Bodies::<3>::new(Settings::default().gravity(gravity)).unwrap();
        let mut normal = [0.0; 3];
        normal[down] = 1.0;
        let floor = meniscus_rigid::Body::fixed(
            "floor",
            meniscus_shapes::Shape::HalfSpace {
                point: [0.0; 3],
                normal,
            },
        );
        // The other axes follow in order.
        let turn = |x: [f64; 3]| {
            let mut y = [0.0; 3];
            for i in 0..3 {
                y[(i + down + 1) % 3] = x[i];
            }
            y
        };
        let list = [
            floor,
            body(
                "lower",
                cuboid(turn([0.2, 0.3, 0.2])),
                density,
                turn([0.0, 0.0, 0.11]),
            )
            .moving(turn([0.3, 0.0, 0.0]), [0.0; 3]),
            body(
                "upper",
                cuboid(turn([0.25, 0.2, 0.2])),
                3.0 * density,
                turn([0.03, 0.02, 0.33]),
            ),
        ];
        let order: Vec<usize> = if reversed {
            vec![2, 1, 0]
        } else {
            vec![0, 1, 2]
        };
        let ids: Vec<usize> = order
            .iter()
            .map(|&k| bodies.add(list[k].clone()).unwrap())
            .collect();
        for _ in 0..20 {
            bodies.step(0.01).unwrap();
        }
        let at = |k: usize| {
            let id = ids[order.iter().position(|&o| o == k).unwrap()];
            let v = bodies.twist(id).linear;
            [v[(down + 1) % 3], v[(down + 2) % 3], v[down]]
        };
        [at(1), at(2)]
    };
    let expected = run(500.0, 2, false);
    for found in [
        run(500_000.0, 2, false),
        run(500.0, 0, false),
        run(500.0, 1, false),
        run(500.0, 2, true),
    ] {
        for k in 0..2 {
            assert!(
                crate::scenes::distance(found[k], expected[k]) < 1e-7,
                "{found:?} {expected:?}"
            );
        }
    }
}

#[test]
fn a_stack_falls_asleep_and_wakes_when_hit() {
    let mut bodies = Bodies::<3>::new(Settings::default().sleeping(true)).unwrap();
    let list = stack(&mut bodies, 0.2, &[500.0; 3]);
    let hammer = body("hammer", ball(0.1), 500.0, [0.0, 0.0, 6.0]);
    let hammer = bodies.add(hammer).unwrap();
    for _ in 0..90 {
        bodies.step(0.01).unwrap();
    }
    assert!(list.iter().all(|&body| bodies.is_asleep(body)) && !bodies.is_asleep(hammer));
    let still = bodies.center(list[2]);
    bodies.step(0.01).unwrap();
    assert_eq!(bodies.center(list[2]), still);
    let mut woke = false;
    for _ in 0..60 {
        bodies.step(0.01).unwrap();
        woke |= !bodies.is_asleep(list[0]);
    }
    assert!(woke);
    // Without what carries it, a body wakes and falls.
    let mut bodies = Bodies::<3>::new(Settings::default().sleeping(true)).unwrap();
    let list = stack(&mut bodies, 0.2, &[500.0; 2]);
    for _ in 0..90 {
        bodies.step(0.01).unwrap();
    }
    assert!(bodies.is_asleep(list[1]));
    bodies.remove(list[0]);
    for _ in 0..10 {
        bodies.step(0.01).unwrap();
    }
    assert!(bodies.twist(list[1]).linear[2] < -0.5);
}
