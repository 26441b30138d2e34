//! Bodies in viscous liquid.

use meniscus_coupled::{Coupled, Outcome, Scheme, Settings, ViscousProjection};
use meniscus_liquid::multigrid::Response;
use meniscus_liquid::stokes::{BodyModes, Rheology, StokesProjection};
use meniscus_liquid::{Liquid, Projection, SolidId, Walls};
use meniscus_rigid::{Bodies, Body, Twist};
use meniscus_shapes::{Rotation, Shape};

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
            assert!(change < 1e-9, "{viscosity:e}: {change:e}");
        }
    }
}

/// A free body, round about its centre, in a round vessel full of liquid of 1e4 Pa s: its velocity after a long step under a force
/// or a torque along the last freedom.
fn pushed<const D: usize>(cells: usize, radii: [f64; 2], turned: bool) -> f64 {
    let dx = 1.0 / cells as f64;
    let center: [f64; D] = std::array::from_fn(|a| [0.503, 0.497, 0.511][a]);
    let vessel = Shape::Sphere {
        center,
        radius: radii[1],
    };
    let bodies = vec![
        Body::fixed("vessel", vessel.inverted()).friction(0.0),
        free("ball", ball(radii[0]), 1000.0, center),
    ];
    let mut stage = Stage::new([cells; D], dx, bodies);
    stage.flow(|_| -1.0, |_| [0.0; D]);
    stage.dt = 30.0;
    let mut push = meniscus_rigid::Wrench::ZERO;
    match turned {
        true => push.torque[2] = 1.0,
        false => push.force[D - 1] = 1.0,
    }
    stage.forces = vec![meniscus_rigid::Wrench::ZERO, push];
    let outcome = solve(&mut stage, 1e4, Scheme::Unified);
    println!("{cells}: {} cycles", outcome.cycles);
    let twist = &outcome.wet[0].twist;
    match turned {
        true => twist.angular[2],
        false => twist.linear[D - 1],
    }
}

/// Velocity of a ball in a sphere by Stokes' law with the correction for the sphere, and its spin.
fn ball_in_sphere([a, b]: [f64; 2], turned: bool) -> f64 {
    let (pi, eta) = (std::f64::consts::PI, 1e4);
    let l = a / b;
    let k = (1.0 - l.powi(5)) / (1.0 - 2.25 * l + 2.5 * l.powi(3) - 2.25 * l.powi(5) + l.powi(6));
    match turned {
        true => (b.powi(3) - a.powi(3)) / (8.0 * pi * eta * a.powi(3) * b.powi(3)),
        false => 1.0 / (6.0 * pi * eta * a * k),
    }
}

/// The same of a disc in a circle: of the flow between two cylinders.
fn disc_in_circle([a, b]: [f64; 2], turned: bool) -> f64 {
    let (pi, eta) = (std::f64::consts::PI, 1e4);
    let k: f64 = b / a;
    match turned {
        true => (a.powi(-2) - b.powi(-2)) / (4.0 * pi * eta),
        false => (k.ln() - (k * k - 1.0) / (k * k + 1.0)) / (4.0 * pi * eta),
    }
}

#[test]
fn a_free_ball_in_a_sphere_moves_as_stokes_says() {
    let radii = [0.15, 0.43];
    for (turned, tolerance) in [(false, 0.06), (true, 0.05)] {
        let ratio = pushed::<3>(32, radii, turned) / ball_in_sphere(radii, turned);
        println!("turned {turned}: {ratio}");
        assert!((ratio - 1.0).abs() < tolerance, "{ratio}");
    }
}

#[test]
#[ignore = "long: half a minute, for the order of convergence"]
fn a_free_ball_in_a_sphere_moves_as_stokes_says_on_a_finer_grid() {
    let radii = [0.15, 0.43];
    for (turned, tolerance) in [(false, 0.03), (true, 0.025)] {
        let ratio = pushed::<3>(48, radii, turned) / ball_in_sphere(radii, turned);
        println!("turned {turned}: {ratio}");
        assert!((ratio - 1.0).abs() < tolerance, "{ratio}");
    }
}

#[test]
fn a_free_disc_in_a_circle_has_the_torque_and_drag_of_theory() {
    let radii = [0.17, 0.42];
    for (cells, turned, tolerance) in [
        (32, true, 1.6e-2),
        (64, true, 5e-3),
        (32, false, 4e-2),
        (64, false, 1.3e-2),
    ] {
        let ratio = pushed::<2>(cells, radii, turned) / disc_in_circle(radii, turned);
        println!("{cells}, turned {turned}: {ratio}");
        assert!((ratio - 1.0).abs() < tolerance, "{cells} {turned}: {ratio}");
    }
}

/// Bodies that nothing but the liquid touches.
struct Alone {
    inverse: Vec<meniscus_rigid::Matrix6>,
    start: Vec<f64>,
    freedoms: usize,
}

impl Response for Alone {
    fn groups(&self) -> usize {
        self.inverse.len()
    }
    fn respond(&mut self, impulse: &[f64], velocity: &mut [f64]) {
        let f = self.freedoms;
        for (k, v) in velocity.iter_mut().enumerate() {
            let row = &self.inverse[k / f][k % f];
            let own = &impulse[k / f * f..];
            *v = self.start[k] + row.iter().zip(own).take(f).map(|(m, j)| m * j).sum::<f64>();
        }
    }
    fn derivative(&mut self, matrix: &mut Vec<f64>) -> bool {
        if !matrix.is_empty() {
            return false;
        }
        let (n, f) = (self.start.len(), self.freedoms);
        matrix.resize(n * n, 0.0);
        for i in 0..n {
            for j in i / f * f..(i / f + 1) * f {
                matrix[i * n + j] = self.inverse[i / f][i % f][j % f];
            }
        }
        true
    }
    fn inverse_mass(&self, group: usize) -> meniscus_rigid::Matrix6 {
        self.inverse[group]
    }
    fn is_affine(&self) -> bool {
        true
    }
    fn potential(&self) -> Option<f64> {
        None
    }
}

#[test]
fn liquid_and_bodies_exchange_momentum_and_angular_momentum() {
    for (viscosity, density) in [(1.0, 300.0), (1e3, 300.0), (1e3, 3000.0), (1e5, 3000.0)] {
        let dx = 1.0 / 40.0;
        let bodies: Vec<Body<2>> = vec![
            free("box", block([0.12, 0.08]), density, [0.4, 0.42]).moving([1.0, -0.5], [0.0; 3]),
            free("ball", ball(0.1), 2000.0, [0.63, 0.55]).moving([0.2, 0.5], [0.0, 0.0, 4.0]),
        ];
        let mut stage = Stage::new([40, 40], dx, bodies);
        // A rough velocity: a different one for every face.
        let rough = |x: [f64; 2]| {
            let noise = |k: f64| ((x[0] * 7919.0 + x[1] * 104729.0 + k).sin() * 43758.5).fract();
            [noise(1.0) + 0.5, noise(2.0)]
        };
        stage.flow(|x| (x[0] - 0.5).hypot(x[1] - 0.5) - 0.42, rough);
        stage.liquid.physics.materials = vec![Rheology::newtonian(viscosity)];
        stage.liquid.physics.walls = Walls::Stick;
        let dt = stage.dt;
        stage.with_faces(|faces, _, bodies, _| {
            let step = bodies.begin_step(dt, dt, &[]).unwrap();
            let modes: Vec<BodyModes<2>> = [0, 1]
                .map(|body| BodyModes {
                    solid: SolidId(body),
                    center: step.center(body as usize),
                })
                .to_vec();
            let twists = [0, 1].map(|body| step.start(body));
            let mut alone = Alone {
                inverse: [0, 1].map(|body| step.inverse_inertia(body)).to_vec(),
                start: twists
                    .iter()
                    .flat_map(|t| [t.linear[0], t.linear[1], t.angular[2]])
                    .collect(),
                freedoms: 3,
            };
            let mut stokes = StokesProjection::default();
            stokes.settings.tolerance = 1e-11;
            stokes.settings.max_iterations = 200;
            let solution = stokes.solve_with(faces, dt, &modes, &mut alone).unwrap();
            println!("{} iterations", solution.report.iterations);
            let liquid = stokes.momentum_change(faces);
            let (_, impulses) = stokes.bodies().unwrap();
            let mut total = liquid.clone();
            let mut size: f64 = liquid.iter().fold(0.0, |m, x| m.max(x.abs()));
            for (own, mode) in impulses.chunks(3).zip(&modes) {
                let [x, y] = mode.center;
                let about_origin = own[2] + x * own[1] - y * own[0];
                for (total, own) in total.iter_mut().zip([own[0], own[1], about_origin]) {
                    *total += own;
                    size = size.max(own.abs());
                }
            }
            println!("{viscosity:e}: {total:?} of {size:e}");
            assert!(
                total.iter().all(|t| t.abs() < 1e-10 * size),
                "{total:?} of {size}"
            );
        });
    }
}

#[test]
fn a_box_on_four_redundant_contacts_rests_with_its_weight_on_them() {
    for viscosity in [10.0, 1e4] {
        let bodies = vec![
            tank([0.0; 3], [1.0; 3]),
            free("box", block([0.2, 0.15, 0.1]), 2500.0, [0.5, 0.5, 0.1006]),
        ];
        let mut setup = Setup::new(16, bodies);
        setup.viscosity = viscosity;
        let mut world = setup.fill(|x: [f64; 3]| x[2] - 0.45);
        let mut last = None;
        for _ in 0..10 {
            last = Some(world.step(0.02, &mut ()).unwrap());
        }
        let report = last.unwrap();
        assert!(report.contacts >= 4, "{report:?}");
        let volume = 8.0 * 0.2 * 0.15 * 0.1;
        let weight = (2500.0 - 1000.0) * volume * 9.81;
        let force = report.loads[1].contact.force;
        println!(
            "{viscosity:e}: {force:?}, {weight} in liquid, {} cycles",
            report.cycles
        );
        // Little liquid gets below it, so that it is pressed down by more than its weight in liquid.
        assert!(force[2] > 0.95 * weight, "{force:?} {weight}");
        assert!(force[0].hypot(force[1]) < 1e-3 * weight, "{force:?}");
        let twist = world.bodies().twist(1);
        // Without friction it may slide along.
        let [_, _, up] = twist.linear;
        let [tip_x, tip_y, _] = twist.angular;
        let fastest = up.abs().max(tip_x.abs()).max(tip_y.abs());
        assert!(fastest < 1e-9, "{viscosity:e}: {twist:?}");
    }
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

#[test]
fn a_restored_world_of_bodies_in_viscous_liquid_continues_to_the_same_bits() {
    let run = |world: &mut Coupled<2>, steps: usize| {
        for _ in 0..steps {
            world.step(0.02, &mut ()).unwrap();
        }
    };
    let state = |world: &Coupled<2>| {
        let mut liquid = Vec::new();
        world.liquid().state().write(&mut liquid).unwrap();
        (liquid, world.bodies().save())
    };
    let mut world = pool(100.0, Scheme::Unified);
    run(&mut world, 4);
    let (liquid, bodies) = state(&world);
    let mut again = pool(100.0, Scheme::Unified);
    let settings = world.liquid().settings().clone();
    *again.liquid_mut() = Liquid::restore(settings, &liquid).unwrap();
    again.bodies_mut().restore(&bodies).unwrap();
    run(&mut world, 4);
    run(&mut again, 4);
    assert!(state(&world) == state(&again));
}

#[test]
fn a_body_falls_into_liquid_of_any_viscosity_by_any_scheme() {
    let mut depths = Vec::new();
    for viscosity in [1e-3, 1.0, 1e3, 1e6] {
        for scheme in [
            Scheme::Unified,
            Scheme::PressureViscosityPressure,
            Scheme::ViscousContact,
            Scheme::ContactViscous,
            Scheme::Iterative,
        ] {
            let bodies = vec![
                tank([0.0; 2], [1.0; 2]),
                free("ball", ball(0.1), 3000.0, [0.5, 0.63]).moving([0.3, -2.0], [0.0, 0.0, 2.0]),
            ];
            let mut setup = Setup::new(32, bodies);
            setup.viscosity = viscosity;
            setup.settings.scheme = scheme;
            let mut world = setup.fill(|x: [f64; 2]| x[1] - 0.5);
            for _ in 0..12 {
                world.step(0.01, &mut ()).unwrap();
            }
            let pose = world.bodies().pose(1).translation;
            println!("{viscosity:e} {}: {pose:?}", scheme.word());
            assert!(pose.iter().all(|x| x.is_finite() && *x > 0.09 && *x < 0.91));
            if scheme == Scheme::Unified {
                depths.push(pose[1]);
            }
        }
    }
    assert!(depths.is_sorted(), "{depths:?}");
}

#[test]
fn a_bowl_on_the_ground_stays_while_thick_liquid_falls_into_it() {
    let shell = Shape::Sphere {
        center: [0.0; 2],
        radius: 0.25,
    };
    let hollow = Shape::Sphere {
        center: [0.0; 2],
        radius: 0.18,
    };
    let lid = Shape::Box {
        low: [-1.0, 0.0],
        high: [1.0, 1.0],
    };
    let foot = Shape::Box {
        low: [-0.1, -0.25],
        high: [0.1, -0.2],
    };
    let whole = Box::new(Shape::Union(vec![shell, foot]));
    let bowl = Shape::Difference(whole, vec![hollow, lid]);
    let bodies = vec![
        Body::fixed("ground", tank([0.0; 2], [1.0; 2]).shape),
        free("bowl", bowl, 100.0, [0.5, 0.2505]),
    ];
    let mut setup = Setup::new(40, bodies);
    setup.viscosity = 100.0;
    let mut world = setup.fill(|x: [f64; 2]| (x[0] - 0.5).hypot(x[1] - 0.5) - 0.1);
    let before = world.bodies().pose(1);
    let particles = world.liquid().particles().len();
    let mut cycles = 0;
    for _ in 0..60 {
        cycles += world.step(0.01, &mut ()).unwrap().cycles;
    }
    let after = world.bodies().pose(1);
    println!("{after:?}, {} cycles a step", cycles / 60);
    for a in 0..2 {
        let moved = after.translation[a] - before.translation[a];
        assert!(moved.abs() < 0.1 / 40.0, "{moved}");
    }
    assert_eq!(world.liquid().particles().len(), particles);
    // All of it is in the bowl.
    let inside = |x: &[f32; 2]| (x[0] - 0.5).hypot(x[1] - 0.2505) < 0.19;
    let count = world
        .liquid()
        .particles()
        .position
        .iter()
        .filter(|x| inside(x));
    assert!(count.count() as f64 > 0.99 * particles as f64);
}

#[test]
fn contacts_with_friction_settle_with_the_liquid_in_every_step() {
    // In the thicker liquid fewer boxes reach each other in that time.
    for (viscosity, least) in [(3.0, 16), (300.0, 5)] {
        let floor = Shape::Box {
            low: [0.0; 2],
            high: [1.0; 2],
        };
        let mut bodies = vec![Body::fixed("tank", floor.inverted()).friction(0.6)];
        for k in 0..9 {
            let (column, row) = (k % 3, k / 3);
            let turn = 0.4 + 0.7 * k as f64;
            let (s, c) = turn.sin_cos();
            let at = [
                0.3 + 0.2 * column as f64 + 0.03 * row as f64,
                0.12 + 0.19 * row as f64,
            ];
            let mut body = free("box", block([0.07, 0.05]), 2500.0, at).friction(0.6);
            body.pose.rotation = Rotation::from_matrix([[c, -s], [s, c]]).unwrap();
            bodies.push(body);
        }
        let mut setup = Setup::new(32, bodies);
        setup.viscosity = viscosity;
        let mut world = setup.fill(|x: [f64; 2]| x[1] - 0.4);
        let (mut contacts, mut most) = (0, 0);
        for step in 0..80 {
            let dt = world.step_limit(0.02).dt;
            let report = world.step(dt, &mut ()).unwrap();
            contacts = contacts.max(report.contacts);
            most = most.max(report.cycles);
            let unsettled = report.unsettled;
            assert!(
                unsettled == 0.0,
                "{viscosity}, step {step}: {unsettled} m/s"
            );
        }
        println!("{viscosity}: at most {contacts} contacts, {most} iterations");
        assert!(contacts >= least, "{viscosity}: {contacts} contacts");
    }
}
