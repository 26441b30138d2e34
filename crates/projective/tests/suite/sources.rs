//! Emitters and drains.

use meniscus_projective::{Drain, Emitter, Fluid, Settings, Sources};
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};

use crate::stage::tank;

fn pipe() -> Emitter<3> {
    Emitter {
        shape: Shape::Cylinder {
            from: [0.2, 0.5, 0.5],
            to: [0.4, 0.5, 0.5],
            radius: 0.1,
        },
        velocity: [1.5, 0.0, 0.0],
        active: 0.1..0.5,
    }
}

fn run(steps: usize, sources: &Sources<3>, solids: &[ScriptedSolid<3>]) -> (Fluid<3>, usize) {
    let mut settings = Settings::new(0.02);
    settings.gravity = [0.0; 3];
    let mut fluid = Fluid::new(settings).unwrap();
    let (mut emitted, dt) = (0, 0.6 / steps as f64);
    for _ in 0..steps {
        let start = fluid.time();
        fluid.step(solids, dt, &mut |_| ()).unwrap();
        let end = fluid.time();
        emitted += sources.exchange(&mut fluid, solids, &(start..end)).emitted;
    }
    (fluid, emitted)
}

#[test]
fn an_emitter_adds_area_times_speed_times_time_whatever_the_steps() {
    let sources = Sources {
        emitters: vec![pipe()],
        ..Sources::default()
    };
    let solids = tank([4.0, 1.0, 1.0]);
    let volume = std::f64::consts::PI * 0.01 * 1.5 * 0.4;
    for steps in [60, 150] {
        let (fluid, emitted) = run(steps, &sources, &solids);
        assert_eq!(fluid.particles().len(), emitted);
        let share = emitted as f64 * fluid.settings().particle_volume() / volume;
        assert!((share - 1.0).abs() < 0.06, "{share}");
        assert!(fluid.particles().source.iter().all(|&source| source == 1));
    }
    assert_eq!(run(60, &sources, &solids).1, run(150, &sources, &solids).1);
}

#[test]
fn an_emitter_that_begins_at_a_wall_emits_as_much() {
    // Its first points are closer to the wall than particles may be.
    let mut emitter = pipe();
    emitter.shape = Shape::Cylinder {
        from: [0.001, 0.5, 0.5],
        to: [0.201, 0.5, 0.5],
        radius: 0.1,
    };
    let sources = Sources {
        emitters: vec![emitter],
        ..Sources::default()
    };
    let apart = Sources {
        emitters: vec![pipe()],
        ..Sources::default()
    };
    let solids = tank([4.0, 1.0, 1.0]);
    let (at_wall, off_wall) = (run(60, &sources, &solids).1, run(60, &apart, &solids).1);
    let layer = off_wall as f64 / 30.0;
    assert!(
        (at_wall as f64 - off_wall as f64).abs() <= 1.01 * layer,
        "{at_wall} {off_wall}"
    );
    assert_eq!(at_wall, run(150, &sources, &solids).1);
}

#[test]
fn drains_and_the_end_of_the_domain_take_particles() {
    let sources = Sources::<2> {
        emitters: Vec::new(),
        drains: vec![Drain {
            shape: Shape::Sphere {
                center: [0.5, 0.5],
                radius: 0.1,
            },
            active: 0.0..0.05,
        }],
        domain: Some(Bounds {
            low: [0.0; 2],
            high: [1.0; 2],
        }),
    };
    let mut fluid = Fluid::<2>::new(Settings::new(0.02)).unwrap();
    for x in [[0.5, 0.5], [0.55, 0.5], [0.9, 0.1], [1.1, 0.5]] {
        fluid.add(x, [0.0; 2], 0);
    }
    let exchanged = sources.exchange(&mut fluid, &[], &(0.0..0.01));
    assert_eq!((exchanged.drained, fluid.particles().len()), (3, 1));
    assert_eq!(fluid.particles().id, [2]);
    fluid.add([0.5, 0.5], [0.0; 2], 0);
    assert_eq!(sources.exchange(&mut fluid, &[], &(0.06..0.07)).drained, 0);
}
