//! Methods for the contact problem, and the problem as data.

use crate::scenes::{body, cuboid, distance, floor, stack, up};
use meniscus_lcp::{BoxMlcp, CoupledBoundMlcp};
use meniscus_rigid::{Bodies, Cone, Method, Settings};
use meniscus_shapes::Rotation;

/// A box that slides on another one, which slides on the floor.
fn sliding<const D: usize>(settings: Settings<D>) -> Bodies<D> {
    let mut bodies = Bodies::new(settings).unwrap();
    bodies.add(floor().friction(0.2)).unwrap();
    let mut v = [0.0; D];
    v[0] = 1.0;
    bodies
        .add(body("lower", cuboid([0.2; D]), 500.0, up(0.1004)).friction(0.2))
        .unwrap();
    bodies
        .add(
            body("upper", cuboid([0.2; D]), 200.0, up(0.3008))
                .friction(0.4)
                .moving(v, [0.0; 3]),
        )
        .unwrap();
    bodies
}

/// In two dimensions all cones are the same: every method finds the same velocities.
#[test]
fn every_method_finds_the_same_velocities_in_2d() {
    let velocities = |method: Method| {
        let settings = Settings::<2>::default()
            .method(method)
            .max_sweeps(50_000)
            .max_rounds(500);
        let mut bodies = sliding(settings);
        for _ in 0..5 {
            let report = bodies.step(0.01).unwrap();
            assert!(report.converged(), "{method:?}: {:?}", report.solves);
        }
        [bodies.twist(1).linear, bodies.twist(2).linear]
    };
    let expected = velocities(Method::Hybrid);
    for method in Method::ALL {
        let found = velocities(method);
        for k in 0..2 {
            assert!(
                distance(found[k], expected[k]) < 1e-6,
                "{method:?}: {found:?} {expected:?}"
            );
        }
    }
}

/// Sliding along a direction of the polyhedral cone, all cones agree in space too.
#[test]
fn methods_on_the_polyhedral_cone_agree_with_the_disc_along_its_edges() {
    let velocities = |method: Method| {
        let mut bodies = sliding(Settings::<3>::default().method(method));
        for _ in 0..3 {
            let report = bodies.step(0.01).unwrap();
            assert!(report.converged(), "{method:?}: {:?}", report.solves);
        }
        [bodies.twist(1).linear, bodies.twist(2).linear]
    };
    let expected = velocities(Method::Hybrid);
    for method in [Method::Lemke, Method::FischerNewton] {
        let found = velocities(method);
        for k in 0..2 {
            assert!(
                distance(found[k], expected[k]) < 1e-5,
                "{method:?}: {found:?} {expected:?}"
            );
        }
    }
}

/// The exported problem is the one that is solved: the impulses of a step have no residual in it.
#[test]
fn an_exported_problem_is_solved_by_the_impulses_of_the_step() {
    let settings = Settings::<3>::default().cone(Cone::Pyramid);
    let mut bodies = Bodies::new(settings).unwrap();
    stack(&mut bodies, 0.2, &[500.0, 300.0, 700.0]);
    bodies.step(0.01).unwrap();
    let problems = bodies.contact_problems(0.01).unwrap();
    assert_eq!(problems.len(), 1);
    let problem = &problems[0];
    assert_eq!(
        (problem.contacts(), problem.b.len(), problem.joint_rows),
        (12, 36, 0)
    );
    assert!(problem.matrix.is_symmetric(1e-12));
    let rest = BoxMlcp::new(&problem.matrix, &problem.b, &problem.lower, &problem.upper).unwrap();
    let coupled = CoupledBoundMlcp::new(rest, &problem.friction).unwrap();
    let report = bodies.step(0.01).unwrap();
    let tangents = |n: [f64; 3]| {
        // The basis is that of the rows, which the sums of impulses do not depend on.
        assert!((n[2].abs() - 1.0).abs() < 1e-12);
    };
    let mut x = vec![0.0; 36];
    for (k, loaded) in report.contacts.iter().enumerate() {
        tangents(loaded.contact.normal);
        x[3 * k] = (0..3)
            .map(|i| loaded.impulse[i] * loaded.contact.normal[i])
            .sum();
    }
    assert!(
        coupled.residual_inf(&x) < 1e-8,
        "{}",
        coupled.residual_inf(&x)
    );
}

/// The first sweeps are enough for a single body, and where a solve starts from the impulses of the last step: neither Newton
/// steps nor normal problems are spent on them.
#[test]
fn the_first_sweeps_solve_what_is_simple() {
    let mut bodies = Bodies::<3>::new(Settings::default()).unwrap();
    bodies.add(floor()).unwrap();
    let at = [0.0, 0.0, 0.1004];
    let ball = body("ball", crate::scenes::ball(0.1), 500.0, at);
    bodies.add(ball.moving([1.0, 0.0, -1.0], [0.0; 3])).unwrap();
    for k in 0..3 {
        let report = bodies.step(0.01).unwrap();
        let solve = &report.solves[0];
        assert!(report.converged());
        // Later, the impulses of the last step may be exact.
        let least = if k == 0 { 1 } else { 0 };
        assert!((least..=8).contains(&solve.sweeps), "{solve:?}");
        assert_eq!((solve.active_sets, solve.rounds), (0, 0), "{solve:?}");
        assert!(solve.normal.is_empty());
    }
}

/// A hybrid solve needs few rounds where sweeps alone are not enough.
#[test]
fn sweeps_alone_do_not_carry_a_heavy_load_and_the_hybrid_does() {
    let residual = |method: Method| {
        let mut bodies = Bodies::<3>::new(Settings::default().method(method)).unwrap();
        stack(&mut bodies, 0.2, &[10.0, 10.0, 10.0, 10.0, 10_000.0]);
        let report = bodies.step(0.01).unwrap();
        (report.residual(), report.converged())
    };
    let (hybrid, converged) = residual(Method::Hybrid);
    assert!(converged && hybrid < 1e-9, "{hybrid}");
    let (sweeps, converged) = residual(Method::Pgs);
    assert!(!converged && sweeps > 1e-4, "{sweeps}");
}

/// A masonry arch stands by friction alone, and falls without its keystone.
#[test]
fn an_arch_stands_and_falls_without_its_keystone() {
    let stones = 7;
    let fall = |without: Option<usize>| {
        let mut bodies = Bodies::<2>::new(Settings::default().resting_gap(Some(2e-4))).unwrap();
        bodies.add(floor().friction(0.8)).unwrap();
        let (inner, outer) = (0.8, 1.1);
        let step = std::f64::consts::PI / stones as f64;
        let mut list = Vec::new();
        for k in (0..stones).filter(|&k| Some(k) != without) {
            let middle = (k as f64 + 0.5) * step;
            // A wedge between two radii, thinner by the gap at rest.
            let half = |r: f64| r * (0.5 * step).tan() - 1e-4 / (0.5 * step).cos();
            let stone = meniscus_shapes::Shape::Cone {
                from: [inner, 0.0],
                to: [outer, 0.0],
                radius_from: half(inner),
                radius_to: half(outer),
            };
            let mass = meniscus_rigid::Mass::of_density(&stone, 2000.0).unwrap();
            let mut own =
                meniscus_rigid::Body::free(format!("stone {k}"), stone, mass).friction(0.8);
            own.pose.rotation = Rotation::from_angle(middle);
            own.pose.translation = [0.0, 1.5e-4];
            list.push(bodies.add(own).unwrap());
        }
        let start: Vec<_> = list.iter().map(|&b| bodies.center(b)).collect();
        for _ in 0..200 {
            bodies.step(0.005).unwrap();
        }
        list.iter()
            .zip(start)
            .map(|(&b, start)| distance(bodies.center(b), start))
            .fold(0.0, f64::max)
    };
    let standing = fall(None);
    assert!(standing < 0.01, "{standing}");
    let fallen = fall(Some(3));
    assert!(fallen > 0.2, "{fallen}");
}

/// A wall of bricks, each on two of the row below.
fn wall(settings: Settings<3>, side: usize) -> Bodies<3> {
    let mut bodies = Bodies::new(settings).unwrap();
    bodies.add(floor()).unwrap();
    for row in 0..side {
        for k in 0..side {
            let x = 0.402 * k as f64 + 0.2 * (row % 2) as f64;
            let at = [x, 0.0, 0.0502 + 0.1002 * row as f64];
            let brick = body("brick", cuboid([0.4, 0.2, 0.1]), 1800.0, at);
            bodies.add(brick).unwrap();
        }
    }
    bodies
}

/// Large islands are solved to a share of the speed that gravity gives in a step, by sweeps that conjugate gradients
/// accelerate: a wall, whose factors would fill in, takes less than two thirds as many as by plain ones.
#[test]
fn a_large_island_is_solved_by_few_sweeps_to_its_own_tolerance() {
    let solve = |method: Method| {
        let settings = Settings::<3>::default()
            .coarse_rows(100)
            .coarse_tolerance(0.02)
            .max_sweeps(10_000)
            .method(method);
        let report = wall(settings, 8).step(0.01).unwrap();
        let solve = report.solves[0].clone();
        assert_eq!((solve.bodies, solve.tolerance), (64, 0.02 * 9.81 * 0.01));
        assert!(report.converged() && solve.residual <= solve.tolerance);
        assert_eq!(solve.active_sets, 0);
        solve.sweeps
    };
    let (accelerated, plain) = (solve(Method::Hybrid), solve(Method::Pgs));
    assert!(3 * accelerated < 2 * plain, "{accelerated} {plain}");
}

/// Bricks that lie on two others, edge on edge: corners come and go from step to step, and their impulses are passed on. From
/// them a wall at rest needs next to no sweeps, and keeps standing.
#[test]
fn a_wall_at_rest_continues_from_the_impulses_of_the_last_step() {
    let settings = Settings::<3>::default()
        .coarse_rows(100)
        .coarse_tolerance(0.02)
        .max_sweeps(10_000);
    let mut bodies = wall(settings, 8);
    bodies.step(0.01).unwrap();
    let start: Vec<[f64; 3]> = (0..bodies.len()).map(|b| bodies.center(b)).collect();
    let mut later = 0;
    for _ in 0..40 {
        let report = bodies.step(0.01).unwrap();
        assert!(report.converged());
        later += report.solves[0].sweeps;
    }
    // From nothing, each step takes more than a hundred.
    assert!(later <= 400, "{later} sweeps in 40 steps");
    let moved = (start.iter().enumerate())
        .map(|(b, &x)| distance(bodies.center(b), x))
        .fold(0.0, f64::max);
    // Each of eight rows may approach the one below at the tolerance.
    let creep = 8.0 * (0.02 * 9.81 * 0.01) * 0.4;
    assert!(moved <= creep, "{moved}");
}

/// A tall column has factors without fill: it is solved by Newton steps however many rows it has.
#[test]
fn a_column_with_many_rows_is_solved_by_newton_steps() {
    let settings = Settings::<3>::default().coarse_rows(100);
    let mut bodies = Bodies::new(settings).unwrap();
    stack(&mut bodies, 0.2, &[500.0; 40]);
    let report = bodies.step(0.01).unwrap();
    let solve = &report.solves[0];
    assert!(solve.rows >= 480 && solve.sweeps <= 8 && solve.active_sets > 0);
    assert!(report.converged() && solve.residual <= solve.tolerance);
}
