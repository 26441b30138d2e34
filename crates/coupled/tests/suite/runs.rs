//! Whole steps with particles.

use meniscus_coupled::{Coupled, StepError};
use meniscus_liquid::Liquid;
use meniscus_rigid::{Bodies, StepError as BodyError};
use meniscus_shapes::Rotation;

use crate::scene::{Setup, block, free, tank};

/// Two boxes that fall into a tank, one on the other.
fn splash() -> Coupled<2> {
    let bodies = vec![
        tank([0.0; 2], [1.0; 2]),
        free("low", block([0.15, 0.06]), 300.0, [0.5, 0.62]),
        free("high", block([0.08, 0.06]), 1500.0, [0.55, 0.78]),
    ];
    Setup::new(32, bodies).fill(|x: [f64; 2]| x[1] - 0.5)
}

fn bytes(world: &Coupled<2>) -> Vec<u8> {
    let mut out = Vec::new();
    world.liquid().state().write(&mut out).unwrap();
    out.extend(world.bodies().save());
    out
}

fn run(world: &mut Coupled<2>, steps: usize) {
    for _ in 0..steps {
        let dt = world.step_limit(0.02).dt;
        world.step(dt, &mut ()).unwrap();
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut world = splash();
            run(&mut world, 40);
            bytes(&world)
        })
    };
    assert!(with(1) == with(2));
}

#[test]
fn a_restored_world_continues_to_the_same_bits() {
    let mut world = splash();
    run(&mut world, 25);
    let mut liquid = Vec::new();
    world.liquid().state().write(&mut liquid).unwrap();
    let bodies = world.bodies().save();
    let mut again = splash();
    let settings = world.liquid().settings().clone();
    *again.liquid_mut() = Liquid::restore(settings, &liquid).unwrap();
    again.bodies_mut().restore(&bodies).unwrap();
    run(&mut world, 15);
    run(&mut again, 15);
    assert!(bytes(&world) == bytes(&again));
}

#[test]
fn a_failed_step_changes_no_byte() {
    let mut world = splash();
    run(&mut world, 20);
    // Without a body in it the liquid has other solvers to turn to, and a body that has just got wet may bounce off.
    let mut wet_steps = 0;
    while wet_steps < 5 {
        match world.step(0.01, &mut ()).unwrap().wet_bodies {
            0 => wet_steps = 0,
            _ => wet_steps += 1,
        }
        assert!(world.time() < 2.0);
    }
    let mut settings = world.liquid().settings().clone();
    settings.physics.pressure.max_iterations = 1;
    settings.physics.pressure.tolerance = 1e-14;
    let mut state = Vec::new();
    world.liquid().state().write(&mut state).unwrap();
    *world.liquid_mut() = Liquid::restore(settings, &state).unwrap();
    let before = bytes(&world);
    assert!(world.step(0.01, &mut ()).is_err());
    assert!(bytes(&world) == before);
    assert!(world.step(f64::NAN, &mut ()).is_err());
    assert!(bytes(&world) == before);
}

#[test]
fn without_bodies_the_liquid_moves_as_it_does_alone() {
    let tanks = || vec![tank([0.0; 2], [1.0; 2])];
    let mut world = Setup::new(32, tanks()).fill(|x: [f64; 2]| (x[0] - 0.3).max(x[1] - 0.6));
    let mut alone = Setup::new(32, tanks()).fill(|x: [f64; 2]| (x[0] - 0.3).max(x[1] - 0.6));
    let shape = alone.bodies().body(0).shape.clone();
    let solids =
        meniscus_shapes::Solids::new(vec![meniscus_shapes::ScriptedSolid::still("tank", shape)]);
    for _ in 0..20 {
        let dt = world.step_limit(0.02).dt;
        let limit = alone.liquid().step_limit(&solids, 0.02).dt;
        assert_eq!(dt.to_bits(), limit.to_bits());
        world.step(dt, &mut ()).unwrap();
        alone.liquid_mut().step(&solids, dt, &mut ()).unwrap();
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    world.liquid().state().write(&mut a).unwrap();
    alone.liquid().state().write(&mut b).unwrap();
    assert!(a == b);
}

#[test]
fn a_splash_gains_no_energy_and_loses_no_liquid() {
    let mut world = splash();
    let energy = |world: &Coupled<2>, bodies: &Bodies<2>| {
        let settings = world.liquid().settings();
        let mass = settings.physics.density * settings.dx.powi(2)
            / settings.physics.particles_per_cell as f64;
        let particles = world.liquid().particles();
        let liquid: f64 = particles
            .position
            .iter()
            .zip(&particles.velocity)
            .map(|(x, v)| {
                let square = v.iter().map(|&c| c as f64 * c as f64).sum::<f64>();
                mass * (0.5 * square + 9.81 * x[1] as f64)
            })
            .sum();
        liquid + bodies.energy()
    };
    let count = world.liquid().particles().len();
    let start = energy(&world, world.bodies());
    let spare = 9.81 * 0.1 / 32.0 * (500.0 + 40.0);
    for _ in 0..150 {
        let dt = world.step_limit(0.02).dt;
        let report = world.step(dt, &mut ()).unwrap();
        assert_eq!(report.liquid.particles, count);
        let now = energy(&world, world.bodies());
        assert!(
            now < start * 1.001 + spare,
            "{now} {start} at {}",
            world.time()
        );
        assert!(report.cycles <= 30, "{} cycles", report.cycles);
    }
}

/// A heap of nine boxes of random sizes, densities, places and velocities that fall into water, with strong friction.
fn heap(seed: u64) -> Coupled<2> {
    let mut state = seed * 7919 + 17;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let friction = 0.5 + 2.0 * random();
    let mut bodies = vec![tank([0.0; 2], [1.0; 2]).friction(friction)];
    for k in 0..9 {
        let (s, c) = (6.3 * random()).sin_cos();
        let at = [
            0.3 + 0.2 * (k % 3) as f64 + 0.06 * random(),
            0.12 + 0.19 * (k / 3) as f64,
        ];
        let density = 100.0 * 100f64.powf(random());
        let shape = block([0.08, 0.01 + 0.05 * random()]);
        let mut body = free("box", shape, density, at).friction(friction);
        body.pose.rotation = Rotation::from_matrix([[c, -s], [s, c]]).unwrap();
        body.twist.linear = [3.0 * random() - 1.5, -3.0 * random()];
        bodies.push(body);
    }
    Setup::new(32, bodies).fill(|x: [f64; 2]| x[1] - 0.4)
}

/// Friction and pressure depend on each other, and where boxes wedge, rounds between them need not settle. Such a step must not
/// be taken: velocities would be off by metres per second.
#[test]
fn steps_whose_friction_does_not_settle_fail_and_shorter_ones_succeed() {
    let mut failed = 0;
    for seed in [36, 41, 49] {
        let mut world = heap(seed);
        for _ in 0..60 {
            let mut dt = world.step_limit(0.02).dt;
            let mut retries = 0;
            let report = loop {
                match world.step(dt, &mut ()) {
                    Ok(report) => break report,
                    Err(StepError::Bodies(BodyError::Unsettled { velocity })) if retries < 3 => {
                        assert!(velocity * dt > 0.1 / 32.0, "{seed}: {velocity}");
                        retries += 1;
                        dt *= 0.5;
                    }
                    Err(error) => panic!("{seed}: {error}"),
                }
            };
            failed += retries;
            let way = report.unsettled * dt * 32.0;
            assert!(way <= 0.1, "{seed}: bodies are off by {way} cells");
        }
    }
    assert!(failed > 0, "the heaps are too easy");
}
