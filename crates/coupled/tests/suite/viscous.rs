//! Bodies in viscous liquid.

use meniscus_coupled::{Coupled, Outcome, Scheme, Settings, ViscousProjection};
use meniscus_liquid::stokes::{Rheology, StokesProjection};
use meniscus_liquid::{Liquid, Projection, Walls};
use meniscus_rigid::{Bodies, Body, Twist};
use meniscus_shapes::Shape;

use crate::scene::{Setup, block, free, tank};
use crate::stage::Stage;

fn ball<const D: usize>(radius: f64) -> Shape<D> {
    Shape::Sphere {
        center: [0.0; D],
        radius,
    }
}

/// Solves the stage for a viscous liquid; what it has done to the bodies.
fn solve<const D: usize>(stage: &mut Stage<D>, viscosity: f64, scheme: Scheme) -> Outcome<D> {
    stage.liquid.physics.materials = vec![Rheology::newtonian(viscosity)];
    stage.liquid.physics.walls = Walls::Stick;
    let mut settings = Settings::default();
    settings.scheme = scheme;
    settings.rounds = 2000;
    let (dt, forces) = (stage.dt, stage.forces.clone());
    stage.with_faces(|faces, _, bodies, motion| {
        let mut stokes = StokesProjection::default();
        stokes.settings.tolerance = 1e-8;
        let mut projection = ViscousProjection {
            stokes: &mut stokes,
            bodies,
            motion,
            settings: &settings,
            kick: dt,
            forces: &forces,
            outcome: None,
            failure: None,
        };
        projection.project(faces, dt).unwrap();
        projection.outcome.take().unwrap()
    })
}

fn apart<const D: usize>(a: &Twist<D>, b: &Twist<D>) -> f64 {
    let linear = a.linear.iter().zip(&b.linear);
    let angular = a.angular.iter().zip(&b.angular);
    linear
        .chain(angular)
        .fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn liquid_and_bodies_in_common_rigid_motion_are_not_changed() {
    for viscosity in [1.0, 1e3, 1e5] {
        let dx = 1.0 / 40.0;
        let spin = 3.0;
        let motion = |x: [f64; 2]| [0.7 - spin * (x[1] - 0.5), -0.4 + spin * (x[0] - 0.5)];
        let bodies: Vec<Body<2>> = vec![
            free("box", block([0.12, 0.08]), 500.0, [0.4, 0.42]),
            free("ball", ball(0.1), 2000.0, [0.63, 0.55]),
        ];
        let moving = |body: Body<2>| {
            let at = body.pose.translation;
            body.moving(motion(at), [0.0, 0.0, spin])
        };
        let mut stage = Stage::new([40, 40], dx, bodies.into_iter().map(moving).collect());
        stage.flow(|x| (x[0] - 0.5).hypot(x[1] - 0.5) - 0.42, motion);
        let outcome = solve(&mut stage, viscosity, Scheme::Unified);
        assert_eq!(outcome.wet.len(), 2);
        for wet in &outcome.wet {
            let at = stage.bodies.body(wet.body).pose.translation;
            let expected = Twist {
                linear: motion(at),
                angular: [0.0, 0.0, spin],
            };
            let change = apart(&wet.twist, &expected);
            println!("{viscosity:e}: {change:e}, {} cycles", outcome.cycles);
            assert!(change < 1e-7, "{viscosity:e}: {change:e}");
        }
    }
}

/// Speed of a ball under its weight in a sphere of liquid, over that of Stokes' law with the correction for the sphere.
fn settling(cells: usize) -> f64 {
    let (a, b, eta) = (0.15, 0.43, 1e4);
    let dx = 1.0 / cells as f64;
    let vessel = Shape::Sphere {
        center: [0.5; 3],
        radius: b,
    };
    let bodies = vec![
        Body::fixed("vessel", vessel.inverted()).friction(0.0),
        free("ball", ball(a), 1000.0, [0.5 + 0.1 * dx, 0.5, 0.5]),
    ];
    let mut stage = Stage::new([cells; 3], dx, bodies);
    stage.flow(|_| -1.0, |_| [0.0; 3]);
    stage.dt = 1.0;
    let mut force = meniscus_rigid::Wrench::ZERO;
    force.force[2] = 1.0;
    stage.forces = vec![meniscus_rigid::Wrench::ZERO, force];
    let outcome = solve(&mut stage, eta, Scheme::Unified);
    println!("{cells}: {} cycles", outcome.cycles);
    let l: f64 = a / b;
    let k = (1.0 - l.powi(5)) / (1.0 - 2.25 * l + 2.5 * l.powi(3) - 2.25 * l.powi(5) + l.powi(6));
    let stokes = 1.0 / (6.0 * std::f64::consts::PI * eta * a * k);
    outcome.wet[0].twist.linear[2] / stokes
}

#[test]
fn a_free_ball_in_a_sphere_moves_as_stokes_says() {
    let ratio = settling(32);
    println!("{ratio}");
    assert!((ratio - 1.0).abs() < 0.06, "{ratio}");
}

/// A pool with a heavy box on the floor and a lighter one on it.
fn pool(viscosity: f64, scheme: Scheme) -> Coupled<2> {
    let bodies = vec![
        tank([0.0; 2], [1.0; 2]),
        free("low", block([0.15, 0.08]), 3000.0, [0.5, 0.0805]),
        free("high", block([0.06, 0.06]), 2000.0, [0.55, 0.2215]),
    ];
    let mut setup = Setup::new(32, bodies);
    setup.viscosity = viscosity;
    setup.settings.scheme = scheme;
    setup.settings.rounds = 2000;
    setup.fill(|x: [f64; 2]| x[1] - 0.5)
}

#[test]
fn heavy_bodies_rest_on_the_floor_and_on_each_other_in_viscous_liquid() {
    for viscosity in [10.0, 1e3, 1e5] {
        let mut world = pool(viscosity, Scheme::Unified);
        for _ in 0..20 {
            let report = world.step(0.02, &mut ()).unwrap();
            assert!(report.wet_bodies == 2 && report.contacts >= 3, "{report:?}");
        }
        for (body, height) in [(1, 0.0805), (2, 0.2215)] {
            let pose = world.bodies().pose(body).translation;
            println!("{viscosity:e}: {pose:?}");
            assert!((pose[1] - height).abs() < 0.05 / 32.0, "{pose:?}");
        }
    }
}

#[test]
fn a_light_body_rises_in_viscous_liquid_and_slower_in_thicker() {
    let risen = |viscosity: f64| {
        let bodies = vec![
            tank([0.0; 2], [1.0; 2]),
            free("ball", ball(0.1), 300.0, [0.5, 0.3]),
        ];
        let mut setup = Setup::new(32, bodies);
        setup.viscosity = viscosity;
        let mut world = setup.fill(|x: [f64; 2]| x[1] - 0.7);
        for _ in 0..10 {
            world.step(0.02, &mut ()).unwrap();
        }
        world.bodies().pose(1).translation[1] - 0.3
    };
    let (thin, thick) = (risen(10.0), risen(1e3));
    println!("{thin} {thick}");
    assert!(thin > 2.0 * thick && thick > 1e-4, "{thin} {thick}");
}

#[test]
fn the_iterative_scheme_converges_to_the_unified_one() {
    let stepped = |scheme: Scheme| {
        let mut world = pool(100.0, scheme);
        let report = world.step(0.02, &mut ()).unwrap();
        println!("{}: {} rounds", scheme.word(), report.rounds);
        [1, 2].map(|body| world.bodies().twist(body))
    };
    let (unified, iterative) = (stepped(Scheme::Unified), stepped(Scheme::Iterative));
    for (a, b) in unified.iter().zip(&iterative) {
        assert!(apart(a, b) < 1e-5, "{a:?} {b:?}");
    }
}

#[test]
fn schemes_of_the_other_kind_of_liquid_are_refused() {
    for (viscosity, scheme) in [
        (10.0, Scheme::PressureContact),
        (10.0, Scheme::ContactPressure),
        (0.0, Scheme::ViscousContact),
        (0.0, Scheme::ContactViscous),
    ] {
        let mut settings = meniscus_liquid::Settings::<2>::new([8; 2], 0.1);
        if viscosity > 0.0 {
            settings.physics.materials = vec![Rheology::newtonian(viscosity)];
        }
        let bodies = Bodies::new(meniscus_rigid::Settings::default()).unwrap();
        let mut own = Settings::default();
        own.scheme = scheme;
        let made = Coupled::new(Liquid::new(settings).unwrap(), bodies, own);
        assert!(made.is_err(), "{}", scheme.word());
    }
}

#[test]
fn steps_with_bodies_in_viscous_liquid_have_the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool_of = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool_of.unwrap().install(|| {
            let mut world = pool(100.0, Scheme::Unified);
            for _ in 0..4 {
                world.step(0.02, &mut ()).unwrap();
            }
            let mut bytes = world.bodies().save();
            world.liquid().state().write(&mut bytes).unwrap();
            bytes
        })
    };
    assert!(run(1) == run(3));
}
