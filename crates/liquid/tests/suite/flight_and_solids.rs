//! Free flight, pistons, and solids that liquid cannot enter.

use crate::common::{mean, run, still, tank};
use meniscus_liquid::{Liquid, Settings, Transfer, Walls};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape};

#[test]
fn a_block_in_free_flight_keeps_its_momentum_to_rounding_and_its_shape_to_a_cell() {
    for transfer in [Transfer::Apic, Transfer::Flip { pic: 0.05 }] {
        let dx = 1.0 / 32.0;
        let mut settings = Settings::<3>::new([32; 3], dx);
        settings.physics.transfer = transfer;
        let solids = tank(&settings);
        let mut liquid = Liquid::new(settings).unwrap();
        let block = Shape::Box {
            low: [0.21, 0.23, 0.52],
            high: [0.53, 0.57, 0.81],
        };
        let velocity = [0.8, 0.3, 1.0];
        liquid.fill(&|x| block.distance(x), &|_| velocity, &solids);
        let start: [f64; 3] = std::array::from_fn(|a| mean(&liquid.particles().position, a));
        let spread = |liquid: &Liquid<3>| -> [(f32, f32); 3] {
            std::array::from_fn(|a| {
                let along = liquid.particles().position.iter().map(|x| x[a]);
                along.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), x| {
                    (l.min(x), h.max(x))
                })
            })
        };
        let before = spread(&liquid);
        let seconds = 0.25;
        run(&mut liquid, &solids, seconds, |_, _| {});
        for a in 0..3 {
            let gravity = if a == 2 { -9.81 } else { 0.0 };
            // The first kick of gravity is half a step, so velocities lag half a step behind.
            let moved = mean(&liquid.particles().position, a) - start[a];
            let expected = velocity[a] * seconds + 0.5 * gravity * seconds * seconds;
            assert!(
                (moved - expected).abs() < 1e-5,
                "axis {a}: moved {moved}, expected {expected}"
            );
            if a < 2 {
                let drift = mean(&liquid.particles().velocity, a) - velocity[a];
                assert!(drift.abs() < 1e-6, "axis {a}: momentum changed by {drift}");
            }
            let after = spread(&liquid)[a];
            let grown = (after.1 - after.0) - (before[a].1 - before[a].0);
            assert!((grown as f64).abs() < dx, "axis {a}: grew by {grown}");
        }
    }
}

#[test]
fn drops_smaller_than_a_cell_fly_like_stones() {
    let dx = 1.0 / 32.0;
    let settings = Settings::<3>::new([32; 3], dx);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    let velocity = [0.5, -0.3, 0.2];
    for k in 0..8 {
        let center: [f64; 3] = std::array::from_fn(|a| [0.31, 0.63][k >> a & 1]);
        let drop = Shape::Sphere {
            center: [center[0], center[1], center[2] + 0.2],
            radius: 0.45 * dx,
        };
        liquid.fill(&|x| drop.distance(x), &|_| velocity, &solids);
    }
    assert!(liquid.particles().len() < 64, "drops, not balls");
    let mut unknowns = 0;
    let place = |liquid: &Liquid<3>, a| mean(&liquid.particles().position, a);
    let before: [f64; 3] = std::array::from_fn(|a| place(&liquid, a));
    let seconds = 0.25;
    run(&mut liquid, &solids, seconds, |_, report| {
        unknowns = unknowns.max(report.unknowns);
    });
    assert!(
        unknowns < 32,
        "most of the drops are too small for the grid"
    );
    for a in 0..3 {
        let gravity = if a == 2 { -9.81 } else { 0.0 };
        let expected = velocity[a] * seconds + 0.5 * gravity * seconds * seconds;
        let moved = place(&liquid, a) - before[a];
        assert!(
            (moved - expected).abs() < 0.02 * expected.abs(),
            "axis {a}: moved {moved}, expected {expected}"
        );
    }
}

fn moving<const D: usize>(shape: Shape<D>, by: [f64; D], seconds: f64) -> ScriptedSolid<D> {
    let key = |time, position| Keyframe {
        time,
        position,
        rotation: Rotation::IDENTITY,
    };
    let keys = vec![key(0.0, [0.0; D]), key(seconds, by)];
    ScriptedSolid {
        name: "mover".into(),
        shape,
        motion: Motion::Keyframes {
            keys,
            ease: Ease::Linear,
        },
    }
}

#[test]
fn a_piston_that_pushes_into_a_tank_raises_the_surface_by_the_right_amount() {
    for walls in [Walls::Slip, Walls::Separating] {
        let dx = 1.0 / 40.0;
        let mut settings = Settings::<2>::new([40, 40], dx);
        settings.physics.walls = walls;
        let mut solids = tank(&settings);
        // Slides in from the left, below the surface and above it.
        let piston = Shape::Box {
            low: [-0.5, -0.5],
            high: [0.013, 1.5],
        };
        solids.list.push(moving(piston, [0.25, 0.0], 2.0));
        let mut liquid = Liquid::new(settings).unwrap();
        liquid.fill(&|x| x[1] - 0.412, &|_| [0.0; 2], &solids);
        let before = liquid.volume(&solids);
        let height = |liquid: &Liquid<2>| 2.0 * mean(&liquid.particles().position, 1);
        let low = height(&liquid);
        run(&mut liquid, &solids, 3.0, |liquid, _| {
            let t = liquid.time();
            for &x in &liquid.particles().position {
                let depth = -solids.distance(x.map(|x| x as f64), t);
                assert!(
                    depth < 0.1 * dx,
                    "a particle is {depth} m inside a solid at {t} s"
                );
            }
        });
        let raised = height(&liquid) / low;
        let expected = (1.0 - 0.013) / (1.0 - 0.263);
        eprintln!("{walls}: raised {raised:.4}, expected {expected:.4}");
        assert!(
            (raised / expected - 1.0).abs() < 0.02,
            "{walls}: raised by {raised}, expected {expected}"
        );
        let after = liquid.volume(&solids);
        eprintln!("{walls}: volume {before:.5} to {after:.5}");
        assert!(
            (after / before - 1.0).abs() < 0.03,
            "{walls}: volume {before} became {after}"
        );
    }
}

#[test]
fn no_particle_passes_a_wall_two_cells_thick_that_moves_at_the_speed_of_the_cfl_limit() {
    let dx = 1.0 / 32.0;
    let mut settings = Settings::<2>::new([64, 32], dx);
    settings.physics.max_step = 1.0 / 60.0;
    let limit = settings.physics.cfl * dx / settings.physics.max_step;
    let mut solids = tank(&settings);
    solids.list.push(moving(
        Shape::Box {
            low: [0.103, -1.0],
            high: [0.103 + 2.0 * dx, 2.0],
        },
        [1.2, 0.0],
        1.2 / limit,
    ));
    let mut liquid = Liquid::new(settings).unwrap();
    let pool = Shape::Box {
        low: [0.22, 0.0],
        high: [0.91, 0.38],
    };
    liquid.fill(&|x| pool.distance(x), &|_| [0.0; 2], &solids);
    let count = liquid.particles().len();
    run(&mut liquid, &solids, 0.6, |liquid, _| {
        let t = liquid.time();
        let wall = 0.103 + 2.0 * dx + (limit * t).min(1.2);
        for &x in &liquid.particles().position {
            let depth = -solids.distance(x.map(|x| x as f64), t);
            assert!(
                depth < 0.1 * dx,
                "a particle is {depth} m inside a solid at {t} s"
            );
            assert!(
                x[0] as f64 > wall - 0.1 * dx,
                "a particle at {} is behind the wall at {wall}",
                x[0]
            );
        }
    });
    assert_eq!(liquid.particles().len(), count);
}

#[test]
fn liquid_thrown_at_a_thin_plate_stays_on_its_side() {
    let dx = 1.0 / 32.0;
    let settings = Settings::<3>::new([32, 16, 32], dx);
    let mut solids = tank(&settings);
    solids.list.push(still(
        "plate",
        Shape::Box {
            low: [-1.0, -1.0, 0.31],
            high: [2.0, 2.0, 0.31 + 2.0 * dx],
        },
    ));
    let mut liquid = Liquid::new(settings).unwrap();
    let ball = Shape::Sphere {
        center: [0.5, 0.25, 0.62],
        radius: 0.17,
    };
    liquid.fill(&|x| ball.distance(x), &|_| [0.0, 0.0, -6.0], &solids);
    run(&mut liquid, &solids, 0.5, |liquid, _| {
        let top = 0.31 + 1.9 * dx;
        assert!(
            liquid
                .particles()
                .position
                .iter()
                .all(|x| x[2] as f64 > top)
        );
    });
}
