//! The coupled problem against independent methods; scalings.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use meniscus_coupled::{CoupledProblem, Settings, sor_mprgp};
use meniscus_lcp::{Operator, Status};
use meniscus_liquid::Walls;
use meniscus_rigid::{Body, Wrench};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, Shape};

use crate::scene::{block, free, tank};
use crate::stage::Stage;

/// Minimises `1/2 x'Ax + b'x` within the bounds, without friction.
fn by_clarabel<const D: usize>(problem: &CoupledProblem<D>) -> Vec<f64> {
    let joint = problem.joint(0.0);
    let n = joint.rhs.len();
    let mut diagonal = vec![0.0; n];
    joint.operator.diagonal(&mut diagonal);
    let scale: Vec<f64> = diagonal.iter().map(|d| 1.0 / d.sqrt()).collect();
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        unit[j] = 1.0;
        joint.operator.apply(&unit, &mut column);
        unit[j] = 0.0;
        for i in (0..=j).filter(|&i| column[i] != 0.0) {
            rows.push(i);
            values.push(column[i] * scale[i] * scale[j]);
        }
        starts.push(rows.len());
    }
    let p = CscMatrix::new(n, n, starts, rows, values);
    let mut q: Vec<f64> = joint.rhs.iter().zip(&scale).map(|(b, s)| b * s).collect();
    let size = q.iter().fold(0.0f64, |m, q| m.max(q.abs()));
    q.iter_mut().for_each(|q| *q /= size);
    // Rows that are held, then those with a lower bound: `-x + s = -lower`.
    let held = (0..n).filter(|&i| joint.lower[i] == joint.upper[i]);
    let mut bounded: Vec<usize> = held.collect();
    let count = bounded.len();
    bounded
        .extend((0..n).filter(|&i| joint.lower[i].is_finite() && joint.lower[i] < joint.upper[i]));
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for i in 0..n {
        rows.extend(bounded.iter().position(|&row| row == i));
        starts.push(rows.len());
    }
    let m = bounded.len();
    let a = CscMatrix::new(m, n, starts, rows, vec![-1.0; m]);
    let least = bounded.iter().map(|&i| -joint.lower[i] / (scale[i] * size));
    let least: Vec<f64> = least.collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-13,
        tol_gap_rel: 1e-13,
        tol_feas: 1e-13,
        ..Default::default()
    };
    let cones = [
        SupportedConeT::ZeroConeT(count),
        SupportedConeT::NonnegativeConeT(m - count),
    ];
    let mut solver = DefaultSolver::new(&p, &q, &a, &least, &cones, settings).unwrap();
    solver.solve();
    assert!(matches!(
        solver.solution.status,
        SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
    ));
    let x = solver.solution.x.iter().zip(&scale);
    x.map(|(x, s)| x * s * size).collect()
}

/// A tank with a box on the floor and another on top of it.
fn ground<const D: usize>(n: usize, density: f64, throw: f64) -> Stage<D> {
    let dx = 1.0 / n as f64;
    let at =
        |height: f64| std::array::from_fn(|a| if a == D - 1 { height } else { 0.5 + 0.3 * dx });
    let half =
        |width: f64, height: f64| std::array::from_fn(|a| if a == D - 1 { height } else { width });
    let floor = 2.0 * dx;
    let bodies = vec![
        tank([floor; D], [1.0 - floor; D]),
        free(
            "low",
            block(half(0.21, 0.11)),
            density,
            at(floor + 0.11 + 0.02 * dx),
        )
        .friction(0.0),
        free(
            "high",
            block(half(0.13, 0.1)),
            density,
            at(floor + 0.32 + 0.04 * dx),
        )
        .friction(0.0),
    ];
    let gravity = std::array::from_fn(|a| if a == D - 1 { -9.81 } else { 0.0 });
    let mut stage = Stage::new([n; D], dx, bodies).gravity(gravity);
    stage.settings.mass_correction = false;
    stage.liquid.physics.walls = Walls::Separating;
    stage.liquid.physics.pressure.tolerance = 1e-10;
    let dt = stage.dt;
    stage.flow(
        |x| x[D - 1] - 0.72,
        |x| {
            let mut u = [0.0; D];
            u[0] = 0.5 * (6.0 * x[D - 1]).sin();
            u[D - 1] = -0.5 * (6.0 * x[0]).cos() + throw - 9.81 * dt;
            u
        },
    );
    stage
}

fn compare<const D: usize>(n: usize, density: f64, throw: f64) {
    let mut stage = ground::<D>(n, density, throw);
    let problem = stage.problem();
    let program = by_clarabel(&problem);
    let mut reference = vec![0.0; program.len()];
    let mut settings = Settings::default();
    settings.max_iterations = 20_000;
    let report = sor_mprgp(&problem, &settings, 1e-12, &mut reference).unwrap();
    assert_eq!(report.status, Status::Converged);
    let solved = stage.solve();
    let p = stage.pressure.solution();
    let largest = p.iter().fold(0.0f64, |m, p| m.max(p.abs()));
    for (name, x, most) in [("Clarabel", &program, 1e-7), ("MPRGP", &reference, 1e-7)] {
        let apart = p
            .iter()
            .zip(x)
            .fold(0.0f64, |m, (p, q)| m.max((p - q).abs()));
        println!("{D}D {n} {density} {throw} {name}: {:.1e}", apart / largest);
        assert!(apart <= most * largest, "{name}: {}", apart / largest);
        let velocities = problem.velocities(x);
        for (wet, v) in solved.outcome.wet.iter().zip(&velocities) {
            for a in 0..D {
                assert!(
                    (wet.twist.linear[a] - v[a]).abs() < 1e-7,
                    "{name}: {:?} {v:?}",
                    wet.twist
                );
            }
        }
        let sum: f64 = x[problem.pressures()..].iter().sum::<f64>() * problem.impulse_scale;
        let own: f64 = solved
            .outcome
            .bodies
            .contacts
            .iter()
            .map(|c| {
                let normal = c.contact.normal;
                (0..D).map(|a| c.impulse[a] * normal[a]).sum::<f64>()
            })
            .sum();
        assert!(
            (sum - own).abs() <= 1e-7 * own.abs().max(1.0),
            "{name}: {sum} {own}"
        );
    }
}

#[test]
fn the_solution_is_that_of_an_interior_point_method_and_of_the_method_of_the_paper() {
    for (density, throw) in [(100.0, 0.0), (1000.0, 0.0), (500.0, 3.0), (3000.0, 3.0)] {
        compare::<2>(32, density, throw);
    }
    compare::<3>(16, 600.0, 0.0);
    compare::<3>(16, 600.0, 2.0);
}

/// Velocities of the wet bodies, and the sum of the normal impulses.
fn outcome(stage: &mut Stage<2>) -> (Vec<[f64; 3]>, f64) {
    let solved = stage.solve();
    let velocities = solved.outcome.wet.iter().map(|wet| {
        [
            wet.twist.linear[0],
            wet.twist.linear[1],
            wet.twist.angular[2],
        ]
    });
    let impulses = solved
        .outcome
        .bodies
        .contacts
        .iter()
        .map(|c| c.impulse[0] * c.contact.normal[0] + c.impulse[1] * c.contact.normal[1]);
    (velocities.collect(), impulses.sum())
}

fn assert_same(what: &str, a: &[[f64; 3]], b: &[[f64; 3]], most: f64) {
    for (a, b) in a.iter().zip(b) {
        for k in 0..3 {
            assert!((a[k] - b[k]).abs() < most, "{what}: {a:?} {b:?}");
        }
    }
}

#[test]
fn results_scale_as_the_equations_do() {
    let tight = |density: f64| {
        let mut stage = ground::<2>(32, density, 0.0);
        stage.liquid.physics.pressure.tolerance = 1e-12;
        stage
    };
    let mut stage = tight(400.0);
    let (v, impulse) = outcome(&mut stage);
    // All densities times a thousand.
    let mut heavy = tight(400_000.0);
    heavy.liquid.physics.density *= 1000.0;
    let (w, large) = outcome(&mut heavy);
    assert_same("density", &v, &w, 1e-9);
    assert!((large / impulse / 1000.0 - 1.0).abs() < 1e-7);
    // Half the step with the same velocities after gravity: impulses are the same. Gaps are those of rest.
    let mut short = tight(400.0);
    short.dt *= 0.5;
    let fall = -9.81 * 2.0 * short.dt;
    let mass: Vec<f64> = (1..3)
        .map(|b| short.bodies.body(b).mass.unwrap().mass)
        .collect();
    short.forces = vec![Wrench::ZERO; 3];
    for (k, m) in mass.iter().enumerate() {
        short.forces[k + 1].force[1] = -9.81 * m;
    }
    short.flow(
        |x| x[1] - 0.72,
        |x| [0.5 * (6.0 * x[1]).sin(), -0.5 * (6.0 * x[0]).cos() + fall],
    );
    let (w, same) = outcome(&mut short);
    assert_same("step", &v, &w, 1e-9);
    assert!((same / impulse - 1.0).abs() < 1e-7);
}

/// A box and a ball that move in a tank, turned by quarters about its center, and listed in either order.
fn turned(n: usize, quarters: usize, swapped: bool) -> Stage<2> {
    let dx = 1.0 / n as f64;
    let turn = |x: [f64; 2]| (0..quarters).fold(x, |x, _| [-x[1], x[0]]);
    let place = |x: [f64; 2]| turn([x[0] - 0.5, x[1] - 0.5]).map(|c| c + 0.5);
    let half = match quarters % 2 {
        0 => [0.17, 0.11],
        _ => [0.11, 0.17],
    };
    let ball = Shape::Sphere {
        center: [0.0; 2],
        radius: 0.1,
    };
    let mut bodies = vec![
        free("box", block(half), 600.0, place([0.43, 0.35]))
            .moving(turn([0.2, -0.3]), [0.0, 0.0, 0.5])
            .friction(0.2),
        free("ball", ball, 2000.0, place([0.71, 0.45])).moving(turn([-0.1, 0.4]), [0.0; 3]),
    ];
    if swapped {
        bodies.reverse();
    }
    bodies.push(tank([0.0625; 2], [0.9375; 2]));
    let mut stage = Stage::new([n, n], dx, bodies).gravity(turn([0.0, -9.81]));
    stage.liquid.physics.walls = Walls::Separating;
    stage.liquid.physics.pressure.tolerance = 1e-12;
    let back = |x: [f64; 2]| (quarters..4).fold(x, |x, _| [-x[1], x[0]]);
    let upright = |x: [f64; 2]| back([x[0] - 0.5, x[1] - 0.5]).map(|c| c + 0.5);
    stage.flow(
        |x| upright(x)[1] - 0.71,
        |x| {
            let x = upright(x);
            turn([0.5 * (6.0 * x[1]).sin(), -0.5 * (6.0 * x[0]).cos() - 0.0981])
        },
    );
    stage
}

#[test]
fn a_turned_scene_gives_turned_results_and_the_order_of_bodies_does_not_matter() {
    let (v, _) = outcome(&mut turned(32, 0, false));
    for quarters in 1..4 {
        let (w, _) = outcome(&mut turned(32, quarters, false));
        let back = |v: [f64; 3]| (quarters..4).fold(v, |v, _| [-v[1], v[0], v[2]]);
        let w: Vec<[f64; 3]> = w.into_iter().map(back).collect();
        assert_same("turned", &v, &w, 1e-9);
    }
    let (mut w, _) = outcome(&mut turned(32, 0, true));
    w.reverse();
    assert_same("renumbered", &v, &w, 1e-11);
}

#[test]
fn finer_cells_change_velocities_little() {
    let speed = |n: usize| outcome(&mut turned(n, 0, false)).0;
    assert_same("cells", &speed(64), &speed(128), 0.02);
}

#[test]
fn a_body_of_infinite_mass_is_a_scripted_solid() {
    let n = 32;
    let dx = 1.0 / n as f64;
    let speed = [0.3, -0.2];
    let solve = |body: Body<2>, adhesion: f64| {
        let mut stage = Stage::new(
            [n, n],
            dx,
            vec![tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2]), body],
        );
        stage.liquid.physics.walls = Walls::Separating;
        stage.settings.adhesion = vec![adhesion; 2];
        stage.liquid.physics.pressure.tolerance = 1e-13;
        stage.flow(|x| x[1] - 0.7, |x| [(6.0 * x[1]).sin(), -9.81 * 0.01]);
        stage.solve();
        stage.pressures()
    };
    let at = [0.5, 0.5];
    let key = |time: f64| Keyframe {
        time,
        position: std::array::from_fn(|a| at[a] + time * speed[a]),
        rotation: Rotation::IDENTITY,
    };
    let motion = Motion::Keyframes {
        keys: vec![key(0.0), key(1.0)],
        ease: Ease::Linear,
    };
    for adhesion in [0.0, f64::INFINITY] {
        let scripted = solve(
            Body::scripted("box", block([0.2, 0.1]), motion.clone()),
            adhesion,
        );
        let heavy = free("box", block([0.2, 0.1]), 1e18, at).moving(speed, [0.0; 3]);
        let free = solve(heavy, adhesion);
        let largest = scripted.iter().fold(0.0f64, |m, p| m.max(p.1.abs()));
        for (a, b) in scripted.iter().zip(&free) {
            assert!((a.1 - b.1).abs() < 1e-12 * largest, "{a:?} {b:?}");
        }
    }
}
