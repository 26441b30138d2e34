//! Sliding, sticking and rolling.

use crate::scenes::{G, ball, body, cuboid, empty, floor, norm};
use meniscus_rigid::{Bodies, Body, Cone, Mass, Method, Settings};
use meniscus_shapes::{Ease, Keyframe, Motion, Pose, Rotation, Shape};

const DT: f64 = 0.01;

/// Speed down a slope of 20 degrees after a second.
fn speed_on_slope<const D: usize>(mu: f64, settings: Settings<D>) -> f64 {
    let angle = 20.0_f64.to_radians();
    let mut bodies = Bodies::<D>::new(settings).unwrap();
    let mut normal = [0.0; D];
    (normal[0], normal[D - 1]) = (angle.sin(), angle.cos());
    bodies
        .add(
            Body::fixed(
                "slope",
                Shape::HalfSpace {
                    point: [0.0; D],
                    normal,
                },
            )
            .friction(mu),
        )
        .unwrap();
    // Turned with the slope, about the second axis in space.
    let mut turn = Rotation::<D>::IDENTITY;
    let mut matrix = *turn.matrix();
    (matrix[0][0], matrix[D - 1][D - 1]) = (angle.cos(), angle.cos());
    (matrix[0][D - 1], matrix[D - 1][0]) = (angle.sin(), -angle.sin());
    turn = Rotation::from_matrix(matrix).unwrap();
    let shape = cuboid([0.2; D]);
    let height = 0.1 + 0.002 * 0.2;
    let pose = Pose {
        rotation: turn,
        translation: normal.map(|n| n * height),
    };
    let mass = Mass::of_density(&shape, 500.0).unwrap();
    let block = bodies
        .add(Body::free("block", shape, mass).at(pose).friction(mu))
        .unwrap();
    for _ in 0..100 {
        bodies.step(DT).unwrap();
    }
    norm(bodies.twist(block).linear)
}

/// coupling test 20.
#[test]
fn a_block_on_a_slope_slides_or_sticks_as_coulomb_says() {
    for method in [Method::Hybrid, Method::Pgs, Method::Staggered] {
        let plane = Settings::<2>::default()
            .method(method)
            .max_sweeps(20_000)
            .max_rounds(200);
        let space = Settings::<3>::default()
            .method(method)
            .max_sweeps(20_000)
            .max_rounds(200);
        for (mu, exact, tolerance) in [
            (0.30, 0.589_702, 1e-6),
            (0.36, 0.036_599, 1e-6),
            (0.37, 0.0, 1e-9),
        ] {
            for speed in [speed_on_slope(mu, plane), speed_on_slope(mu, space)] {
                assert!(
                    (speed - exact).abs() < tolerance,
                    "{method:?}, mu {mu}: {speed} against {exact}"
                );
            }
        }
    }
}

/// coupling test 21.
#[test]
fn a_sliding_block_stops_where_it_should() {
    let (v0, mu) = (2.0, 0.3);
    let mut bodies = empty::<3>();
    bodies.add(floor().friction(mu)).unwrap();
    let gap = 0.002 * 0.1;
    let block = body(
        "block",
        cuboid([0.4, 0.4, 0.1]),
        500.0,
        [0.0, 0.0, 0.05 + gap],
    );
    let block = bodies
        .add(block.friction(mu).moving([v0, 0.0, 0.0], [0.0; 3]))
        .unwrap();
    for _ in 0..100 {
        bodies.step(DT).unwrap();
    }
    let exact = v0 * v0 / (2.0 * mu * G) - 0.5 * v0 * DT;
    assert!(
        (bodies.center(block)[0] / exact - 1.0).abs() < 1e-3,
        "{:?} {exact}",
        bodies.center(block)
    );
    assert!(norm(bodies.twist(block).linear) < 1e-9);
}

/// The disc is isotropic; the pyramid follows the sliding direction.
#[test]
fn a_block_slides_equally_far_in_every_direction() {
    for cone in [Cone::Disc, Cone::Pyramid] {
        let way = |angle: f64| {
            let mut bodies = Bodies::<3>::new(Settings::default().cone(cone)).unwrap();
            bodies.add(floor().friction(0.3)).unwrap();
            let start = [2.0 * angle.cos(), 2.0 * angle.sin(), 0.0];
            let block = body("block", ball(0.1), 500.0, [0.0, 0.0, 0.1 + 0.0004]);
            let block = bodies
                .add(block.friction(0.3).moving(start, [0.0; 3]))
                .unwrap();
            for _ in 0..10 {
                bodies.step(DT).unwrap();
            }
            norm(bodies.twist(block).linear)
        };
        let along = way(0.0);
        for angle in [0.3, 0.785, 1.2] {
            assert!(
                (way(angle) / along - 1.0).abs() < 1e-9,
                "{cone:?}: {} {along}",
                way(angle)
            );
        }
    }
}

/// Final speed of a round body thrown without spin, as a share of its first.
fn rolling_share<const D: usize>(shape: Shape<D>) -> f64 {
    let mut bodies = empty::<D>();
    bodies.add(floor()).unwrap();
    let mut at = [0.0; D];
    at[D - 1] = 0.1 + 0.002 * 0.2;
    let mut v = [0.0; D];
    v[0] = 1.0;
    let round = bodies
        .add(body("ball", shape, 500.0, at).moving(v, [0.0; 3]))
        .unwrap();
    for _ in 0..200 {
        bodies.step(0.005).unwrap();
    }
    bodies.twist(round).linear[0]
}

#[test]
fn balls_thrown_without_spin_end_at_the_share_of_their_inertia() {
    assert!((rolling_share(ball::<3>(0.1)) * 7.0 / 5.0 - 1.0).abs() < 5e-3);
    assert!((rolling_share(ball::<2>(0.1)) * 3.0 / 2.0 - 1.0).abs() < 5e-3);
    // A thin shell of the same outer radius.
    let shell = ball::<3>(0.1 - 0.00005).shell(0.0001);
    assert!((rolling_share(shell) * 5.0 / 3.0 - 1.0).abs() < 5e-3);
}

/// A cup tilted over its edge by a slow rod, whose push wedges it against the floor if the edge slides, and turns it if the edge
/// sticks: whatever else pushes it, the problem has a solution that is found from whichever was the last one.
#[test]
fn a_cup_tipped_over_its_edge_by_a_rod_is_solved_for_any_push() {
    let mut bodies = empty::<3>();
    bodies.add(floor().friction(1.0)).unwrap();
    let angle = 33.0_f64.to_radians();
    let (s, c) = angle.sin_cos();
    // From the edge, which is the second axis, to a point of the cup.
    let turned = |x: f64, z: f64| [c * x + s * z, 0.0, -s * x + c * z + 0.0003];
    let cylinder = |low: f64, radius: f64| Shape::Cylinder {
        from: [0.0, 0.0, low],
        to: [0.0, 0.0, 0.07],
        radius,
    };
    let shape = cylinder(-0.07, 0.062).without(vec![cylinder(-0.058, 0.05)]);
    let mass = Mass::of_density(&shape, 1200.0).unwrap();
    let pose = Pose {
        rotation: Rotation::from_axis_angle([0.0, 1.0, 0.0], angle),
        translation: turned(-0.062, 0.07),
    };
    let cup = Body::free("cup", shape, mass).at(pose).friction(0.6);
    let cup = bodies.add(cup).unwrap();
    let at = turned(-0.124 - 0.0122, 0.0684);
    let key = |time, x| Keyframe {
        time,
        position: [x, at[1], at[2]],
        rotation: Rotation::IDENTITY,
    };
    let motion = Motion::Keyframes {
        keys: vec![key(0.0, at[0]), key(1.0, at[0] + 0.16)],
        ease: Ease::Linear,
    };
    let rod = Body::scripted("rod", ball(0.012), motion).friction(0.1);
    bodies.add(rod).unwrap();
    let dt = 1.0 / 216.0;
    let mut step = bodies.begin_step(dt, dt, &[]).unwrap();
    step.assemble(&bodies, &[cup]);
    assert!(step.contacts() >= 3, "{}", step.contacts());
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(random >> 8) / f64::from(1 << 24) - 0.5
    };
    let mut velocities = [0.0; 6];
    let mut unsolved = Vec::new();
    for round in 0..300 {
        let size = [0.02, 0.1, 0.5][round % 3];
        let push: [f64; 6] = std::array::from_fn(|k| match k {
            0..3 => size * next(),
            _ => 0.05 * size * next(),
        });
        step.respond(&push, &mut velocities);
        let fastest = velocities.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // A part in a million of the velocities.
        if step.residual() > 1e-6 * fastest || fastest > 500.0 * size {
            unsolved.push((round, step.residual(), push, velocities));
        }
    }
    assert!(unsolved.is_empty(), "{}: {unsolved:.3?}", unsolved.len());
}
