//! A bowl on the ground, by all schemes; bodies that are pulled out of the liquid.

use meniscus_coupled::{Method, Scheme};
use meniscus_liquid::Walls;
use meniscus_rigid::{Body, Wrench};
use meniscus_shapes::Shape;

use crate::scene::{block, free, tank};
use crate::stage::Stage;

const G: f64 = 9.81;

/// A bowl with vertical walls on the ground, with liquid at rest in it; also its mass.
fn bowl(n: usize) -> (Stage<2>, f64) {
    let dx = 1.0 / n as f64;
    let ground = Shape::HalfSpace {
        point: [0.0, 0.1],
        normal: [0.0, 1.0],
    };
    let hollow = Shape::Box {
        low: [-0.2, 0.1],
        high: [0.2, 1.0],
    };
    let vessel = Shape::Box {
        low: [-0.3, 0.0],
        high: [0.3, 0.4],
    }
    .without(vec![hollow]);
    let vessel = free("bowl", vessel, 200.0, [0.5, 0.1 + 0.02 * dx]).friction(0.0);
    let bodies = vec![vessel, Body::fixed("ground", ground).friction(0.0)];
    let mass = bodies[0].mass.unwrap().mass;
    let mut stage = Stage::new([n, n], dx, bodies).gravity([0.0, -G]);
    stage.settings.mass_correction = false;
    stage.liquid.physics.pressure.tolerance = 1e-10;
    let fall = -G * stage.dt;
    stage.flow(
        |x| match (x[0] - 0.5).abs() < 0.25 && x[1] > 0.15 {
            true => x[1] - 0.383,
            false => 1.0,
        },
        |_| [0.0, fall],
    );
    (stage, mass)
}

/// Velocity of the bowl, volume rate of the divergence that is left, force of contacts; in shares of `g dt`, `A g dt`, `g`.
fn measure(stage: &mut Stage<2>) -> (f64, f64, f64, f64) {
    let problem = stage.problem();
    let solved = stage.solve();
    let twist = solved.outcome.wet[0].twist;
    let v = [twist.linear[0], twist.linear[1], twist.angular[2]];
    let n = problem.pressures();
    let mut y = vec![0.0; n];
    meniscus_lcp::Operator::apply(&problem.pressure.matrix, stage.pressure.solution(), &mut y);
    let mut sum: f64 = (0..n).map(|i| y[i] + problem.pressure.rhs[i]).sum();
    for entry in &problem.entries {
        sum += (0..3).map(|k| entry.value[k] * v[k]).sum::<f64>();
    }
    let (g_dt, dx) = (G * stage.dt, stage.liquid.dx);
    let force = solved.outcome.bodies.contact_forces[0].force[1];
    (
        v[1] / g_dt,
        sum * dx * dx / (0.4 * g_dt),
        force / G,
        solved.mass,
    )
}

#[test]
fn a_bowl_on_the_ground_carries_its_liquid() {
    let (mut stage, mass) = bowl(40);
    let (v, divergence, force, liquid) = measure(&mut stage);
    // The lowest half of a cell has no vertical face.
    let exact = 1000.0 * 0.4 * (0.183 - 0.5 / 40.0);
    assert!((liquid / exact - 1.0).abs() < 1e-4, "{liquid} {exact}");
    assert!(
        v.abs() < 1e-8 && divergence.abs() < 1e-8,
        "{v} {divergence}"
    );
    assert!(
        (force / (mass + liquid) - 1.0).abs() < 1e-8,
        "{force} {}",
        mass + liquid
    );
}

#[test]
fn schemes_differ_as_they_must() {
    let run = |scheme: Scheme, rounds: usize| {
        let (mut stage, mass) = bowl(40);
        stage.settings.scheme = scheme;
        stage.settings.rounds = rounds;
        let (v, divergence, force, liquid) = measure(&mut stage);
        (v, divergence, force / mass, liquid / (mass + liquid))
    };
    let (v, divergence, force, share) = run(Scheme::PressureContact, 1);
    assert!(
        v.abs() < 1e-4 && (divergence + 1.0).abs() < 1e-4,
        "{v} {divergence}"
    );
    assert!((force - 1.0).abs() < 1e-4, "{force}");
    let (v, divergence, force, _) = run(Scheme::ContactPressure, 1);
    assert!(
        (v + share).abs() < 1e-4 && divergence.abs() < 1e-4,
        "{v} {share} {divergence}"
    );
    assert!((force - 1.0).abs() < 1e-4, "{force}");
    for rounds in [1, 2, 5, 10] {
        let (v, divergence, _, r) = run(Scheme::Iterative, rounds);
        let exact = -r.powi(rounds as i32 - 1);
        assert!(
            v.abs() < 1e-4 && (divergence - exact).abs() < 1e-4,
            "{rounds}: {divergence} {exact}"
        );
    }
}

#[test]
fn iterative_converges_to_unified_and_so_does_the_method_of_the_paper() {
    let run = |scheme: Scheme, method: Method| {
        let (mut stage, _) = bowl(40);
        stage.settings.scheme = scheme;
        stage.settings.method = method;
        stage.settings.rounds = 300;
        stage.settings.diagonal_scale = 1e-9;
        let solved = stage.solve();
        (
            stage.pressures(),
            solved.outcome.wet[0].twist,
            solved.outcome.bodies.contact_forces[0].force[1],
        )
    };
    let (p, v, force) = run(Scheme::Unified, Method::Multigrid);
    let largest = p.iter().fold(0.0f64, |m, p| m.max(p.1.abs()));
    for (scheme, method) in [
        (Scheme::Iterative, Method::Multigrid),
        (Scheme::Unified, Method::SorMprgp),
    ] {
        let (q, w, other) = run(scheme, method);
        let apart = p
            .iter()
            .zip(&q)
            .fold(0.0f64, |m, (p, q)| m.max((p.1 - q.1).abs()));
        assert!(
            apart < 1e-6 * largest,
            "{scheme:?} {method:?}: {}",
            apart / largest
        );
        assert!((v.linear[1] - w.linear[1]).abs() < 1e-6 * G * 0.01);
        assert!((force / other - 1.0).abs() < 1e-6);
    }
}

#[test]
fn liquid_separates_from_a_body_that_is_pulled_out() {
    let (n, dx) = (64, 1.0 / 64.0);
    for (k, two_sided) in [(0.5, 0.0), (2.0, 0.561), (5.0, 1.396), (20.0, 5.571)] {
        let run = |walls: Walls, adhesion: f64| {
            let bodies = vec![
                free("box", block([0.2, 0.1]), 500.0, [0.503, 0.507]),
                tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2]),
            ];
            let mass = bodies[0].mass.unwrap().mass;
            let mut stage = Stage::new([n, n], dx, bodies).gravity([0.0, -G]);
            stage.liquid.physics.walls = walls;
            stage.settings.adhesion = vec![adhesion; 2];
            let mut pull = Wrench::<2>::ZERO;
            pull.force[1] = k * mass * G;
            stage.forces = vec![pull];
            let fall = -G * stage.dt;
            stage.flow(|x| x[1] - 0.507, |_| [0.0, fall]);
            let solved = stage.solve();
            let least = stage.pressures().iter().fold(0.0f64, |m, p| m.min(p.1));
            let a = solved.outcome.wet[0].twist.linear[1] / (G * stage.dt);
            (a, least, solved.projected.separated_rows)
        };
        let (slip, pull, _) = run(Walls::Slip, -1.0);
        let (separating, none, rows) = run(Walls::Separating, -1.0);
        let (held, _, _) = run(Walls::Separating, f64::INFINITY);
        let (barely, least, _) = run(Walls::Separating, 200.0);
        assert!(none >= 0.0 && least >= -200.0);
        if k < 1.0 {
            assert!((slip - separating).abs() < 1e-3, "{slip} {separating}");
            continue;
        }
        assert!(
            (separating / (k - 1.0) - 1.0).abs() < 0.03,
            "{k}: {separating}"
        );
        assert!(slip < separating && pull < 0.0 && rows > 0);
        assert!(
            (slip / two_sided - 1.0).abs() < 0.15,
            "{k}: {slip} {two_sided}"
        );
        assert!((held - slip).abs() < 0.02 * slip, "{held} {slip}");
        assert!(barely <= separating + 1e-9 && barely > slip);
    }
}
