//! Rigid bodies in a liquid of particles.

use meniscus_projective::{Fluid, Settings, Sources};
use meniscus_rigid::{self as rigid, Bodies, Body, Mass};
use meniscus_shapes::{Bounds, Pose, ScriptedSolid, Shape};

use meniscus_sim::{ProjectiveWorld, RigidSetup, World, advance};

const SPACING: f64 = 0.05;

fn cube(half: f64) -> Shape<3> {
    Shape::Box {
        low: [-half; 3],
        high: [half; 3],
    }
}

fn body(name: &str, shape: Shape<3>, density: f64, place: [f64; 3]) -> Body<3> {
    let mass = Mass::of_density(&shape, density).unwrap();
    Body::free(name, shape, mass).at(Pose::translated(place))
}

/// Water up to `depth` in a tank with bodies.
fn world(
    size: [f64; 3],
    depth: f64,
    gravity: [f64; 3],
    list: Vec<Body<3>>,
    velocity: [f64; 3],
) -> ProjectiveWorld<3> {
    let domain = Bounds {
        low: [0.0; 3],
        high: size,
    };
    let sides = Shape::Box {
        low: [0.0; 3],
        high: size,
    };
    let sides = ScriptedSolid::still("domain", sides.inverted());
    let mut solids = vec![sides.clone()];
    let rigid_settings = rigid::Settings::default().gravity(gravity);
    let mut bodies = Bodies::new(rigid_settings).unwrap();
    let listed = list.len();
    for body in list {
        let number = bodies.add(body).unwrap();
        let shape = bodies.body(number).shape.clone();
        solids.push(ScriptedSolid::still(
            "body",
            shape.placed(bodies.pose(number)),
        ));
    }
    bodies.add(Body::from(&sides)).unwrap();
    let mut settings = Settings::new(SPACING);
    settings.gravity = gravity;
    let mut fluid = Fluid::new(settings).unwrap();
    let water = Bounds {
        low: [0.0; 3],
        high: [size[0], size[1], depth],
    };
    fluid.fill(&water, &solids, &|_| Some(0), &|_| velocity);
    let setup = RigidSetup {
        listed,
        domain,
        max_step: 0.01,
        removals: Vec::new(),
        forces: Vec::new(),
    };
    ProjectiveWorld::new(fluid, Sources::default(), Vec::new(), sides, domain, false)
        .with_bodies(bodies, setup)
}

const DOWN: [f64; 3] = [0.0, 0.0, -9.81];

fn run(world: &mut ProjectiveWorld<3>, until: f64) {
    while world.time() < until - 1e-9 {
        advance(world, until, &mut ()).unwrap();
    }
}

/// Height of the surface beside the bodies: half a spacing above the highest tenth of the particles' columns.
fn level(world: &ProjectiveWorld<3>, near_side: f64) -> f64 {
    let positions = &world.fluid().particles().position;
    let mut highest = std::collections::BTreeMap::new();
    for x in positions {
        let [x, y, z]: [f64; 3] = x.point();
        if x < near_side {
            let column = ((x / SPACING) as i64, (y / SPACING) as i64);
            let top = highest.entry(column).or_insert(z);
            *top = z.max(*top);
        }
    }
    highest.values().sum::<f64>() / highest.len() as f64 + 0.5 * SPACING
}

#[test]
fn a_box_in_particles_floats_at_the_draft_of_archimedes() {
    for (density, from) in [(500.0, 0.4), (800.0, 0.36)] {
        // Flat enough to float upright.
        let shape = Shape::Box {
            low: [-0.15, -0.15, -0.1],
            high: [0.15, 0.15, 0.1],
        };
        let list = vec![body("box", shape, density, [0.5, 0.4, from])];
        let mut world = world([0.8, 0.8, 1.0], 0.4, DOWN, list, [0.0; 3]);
        run(&mut world, 3.0);
        let (mut draft, mut count) = (0.0, 0.0);
        for k in 0..20 {
            run(&mut world, 3.0 + 0.05 * f64::from(k));
            let bottom = world.rigid_bodies().unwrap().center(0)[2] - 0.1;
            draft += level(&world, 0.2) - bottom;
            count += 1.0;
        }
        draft /= count;
        let expected = 0.2 * density / 1000.0;
        println!("density {density}: draft {draft}, expected {expected}");
        assert!((draft - expected).abs() < SPACING, "{draft} {expected}");
        let upright = world.rigid_bodies().unwrap().pose(0).rotation.matrix()[2][2];
        assert!(upright > 0.99, "{upright}");
    }
}

#[test]
fn a_stone_sinks_and_lies_on_the_floor() {
    let list = vec![body("stone", cube(0.1), 2500.0, [0.4, 0.4, 0.35])];
    let mut world = world([0.8, 0.8, 0.8], 0.4, DOWN, list, [0.0; 3]);
    run(&mut world, 2.5);
    let bodies = world.rigid_bodies().unwrap();
    // Particles that do not come out from under it are a layer one spacing thick: less is not resolved.
    let height = bodies.center(0)[2] - 0.1;
    assert!((0.0..SPACING).contains(&height), "{height}");
    assert!(bodies.twist(0).linear.iter().all(|v| v.abs() < 0.01));
}

#[test]
fn a_jet_of_water_and_a_free_ball_keep_their_momentum() {
    let ball = Shape::Sphere {
        center: [0.0; 3],
        radius: 0.15,
    };
    let list = vec![body("ball", ball, 800.0, [0.45, 0.47, 1.2])];
    let mut world = world([0.9, 0.9, 3.0], 0.6, [0.0; 3], list, [0.1, 0.0, 1.5]);
    let totals = |world: &ProjectiveWorld<3>| {
        let mass = world.fluid().settings().particle_mass();
        let (mut linear, mut angular) = world.rigid_bodies().unwrap().momentum();
        let particles = world.fluid().particles();
        for (x, v) in particles.position.iter().zip(&particles.velocity) {
            let (x, p): ([f64; 3], [f64; 3]) = (x.point(), v.point());
            for k in 0..3 {
                let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                linear[k] += mass * p[k];
                angular[k] += mass * (x[a] * p[b] - x[b] * p[a]);
            }
        }
        (linear, angular)
    };
    run(&mut world, 0.02);
    let before = totals(&world);
    run(&mut world, 0.5);
    let after = totals(&world);
    let bodies = world.rigid_bodies().unwrap();
    println!("{before:?} {after:?} ball {:?}", bodies.twist(0));
    assert!(
        bodies.twist(0).linear[2] > 0.1,
        "the jet has not hit the ball"
    );
    let size = before.0[2];
    // Along the jet nothing else touches: the sides act across.
    let change = (after.0[2] - before.0[2]) / size;
    assert!(change.abs() < 1e-3, "{change}");
}

#[test]
fn bodies_in_particles_have_the_same_bits_for_any_number_of_threads_and_after_a_restart() {
    let make = || {
        let list = vec![
            body("a", cube(0.1), 400.0, [0.3, 0.4, 0.4]),
            body("b", cube(0.1), 900.0, [0.35, 0.4, 0.62]),
        ];
        world([0.8, 0.8, 1.0], 0.3, DOWN, list, [0.0; 3])
    };
    let bytes = |world: &dyn World| {
        let mut out = Vec::new();
        world.state().write(&mut out).unwrap();
        out
    };
    let run_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut world = make();
            run(&mut world, 0.25);
            bytes(&world)
        })
    };
    let one = run_with(1);
    assert_eq!(one, run_with(3));
    let mut first = make();
    run(&mut first, 0.25);
    let start = make();
    let bodies = start.rigid_bodies().unwrap().clone();
    let (bodies, liquid) = ProjectiveWorld::<3>::restored_bodies(bodies, &one).unwrap();
    let fluid = Fluid::<3>::restore(start.fluid().settings().clone(), liquid).unwrap();
    assert_eq!(bodies.save(), first.rigid_bodies().unwrap().save());
    assert_eq!(fluid.state(), first.fluid().state());
    assert!(ProjectiveWorld::<3>::restored_bodies(bodies, &one[..40]).is_err());
}
