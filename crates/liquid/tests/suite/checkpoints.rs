//! A liquid that was saved and restored continues as if nothing had happened.

use crate::common::advance;
use crate::common::{still, tank};
use meniscus_liquid::{
    Liquid, Preconditioner, Settings, Solver, StateError, StepReport, Transfer, Walls,
};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape, Solids};

const FRAME: f64 = 1.0 / 24.0;

/// A column that breaks beside a block that moves through the tank.
fn scene<const D: usize>(settings: &Settings<D>) -> (Liquid<D>, Solids<D>) {
    let mut solids = tank(settings);
    let at = |x: f64| {
        let mut place = [0.5; D];
        place[0] = x;
        place
    };
    let key = |time: f64, x: f64| Keyframe {
        time,
        position: at(x),
        rotation: Rotation::IDENTITY,
    };
    solids.list.push(ScriptedSolid {
        motion: Motion::Keyframes {
            keys: vec![key(0.0, 0.8), key(0.5, 0.5)],
            ease: Ease::Smooth,
        },
        ..still(
            "block",
            Shape::Sphere {
                center: [0.0; D],
                radius: 0.1,
            },
        )
    });
    let mut liquid = Liquid::new(settings.clone()).unwrap();
    liquid.fill(
        &|x| (x[0] - 0.4).max(x[D - 1] - 0.8),
        &|_| [0.0; D],
        &solids,
    );
    (liquid, solids)
}

fn step<const D: usize>(liquid: &mut Liquid<D>, solids: &Solids<D>) -> StepReport {
    let frames = (liquid.time() / FRAME + 1e-9).floor() + 1.0;
    let left = frames * FRAME - liquid.time();
    advance(liquid, solids, left).unwrap()
}

fn saved<const D: usize>(liquid: &Liquid<D>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let state = liquid.state();
    state.write(&mut bytes).unwrap();
    assert_eq!(bytes.len(), state.len());
    bytes
}

/// Steps, saving and restoring on the way; the other one is never stopped.
fn assert_continues_to_the_same_bits<const D: usize>(settings: Settings<D>, steps: usize) {
    let (mut whole, solids) = scene(&settings);
    let (mut stopped, _) = scene(&settings);
    for i in 0..steps {
        let bytes = saved(&stopped);
        stopped = Liquid::restore(settings.clone(), &bytes).unwrap();
        assert!(
            saved(&stopped) == bytes,
            "what comes back is what was saved"
        );
        let (a, b) = (step(&mut whole, &solids), step(&mut stopped, &solids));
        assert_eq!(a, b, "step {i}");
        assert!(saved(&whole) == saved(&stopped), "step {i}");
    }
    let fastest = whole.particles().velocity.iter().flatten();
    assert!(
        fastest.fold(0.0, |m: f32, v| m.max(v.abs())) > 0.5,
        "it moves"
    );
}

#[test]
fn a_restored_liquid_continues_to_the_same_bits_in_2d() {
    let settings = Settings::<2>::new([24, 24], 1.0 / 24.0);
    assert_continues_to_the_same_bits(settings.clone(), 25);
    let mut flip = settings.clone();
    flip.physics.transfer = Transfer::Flip { pic: 0.05 };
    flip.physics.walls = Walls::Slip;
    flip.physics.pressure.preconditioner = Preconditioner::Jacobi;
    assert_continues_to_the_same_bits(flip, 25);
    let mut newton = settings;
    newton.physics.pressure.solver = Solver::Newton;
    assert_continues_to_the_same_bits(newton, 15);
}

#[test]
fn a_restored_liquid_continues_to_the_same_bits_in_3d() {
    let settings = Settings::<3>::new([16, 12, 16], 1.0 / 16.0);
    assert_continues_to_the_same_bits(settings, 12);
}

#[test]
fn the_pressure_before_is_part_of_the_state() {
    let settings = Settings::<2>::new([24, 24], 1.0 / 24.0);
    let (mut liquid, solids) = scene(&settings);
    for _ in 0..3 {
        step(&mut liquid, &solids);
    }
    let restored = Liquid::restore(settings, &saved(&liquid)).unwrap();
    let cells = (0..24).flat_map(|x| (0..24).map(move |y| [x, y]));
    let mut wet = 0;
    for cell in cells {
        assert_eq!(restored.pressure(cell), liquid.pressure(cell));
        wet += usize::from(liquid.pressure(cell).is_some());
    }
    assert!(wet > 50);
}

#[test]
fn bytes_that_are_no_state_are_refused() {
    let settings = Settings::<2>::new([24, 24], 1.0 / 24.0);
    let (mut liquid, solids) = scene(&settings);
    step(&mut liquid, &solids);
    let good = saved(&liquid);
    for keep in (0..good.len()).step_by(97).chain([good.len() - 1]) {
        let result = Liquid::restore(settings.clone(), &good[..keep]);
        assert!(matches!(result, Err(StateError::Malformed(_))), "{keep}");
    }
    let longer = [&good[..], &[0]].concat();
    assert!(Liquid::restore(settings.clone(), &longer).is_err());
    for place in [3, 7, 16, 17, 33, 39, 40] {
        let mut changed = good.clone();
        changed[place] = 0xff;
        // Some changes are harmless numbers; none may end in a panic or in a huge allocation.
        let _ = Liquid::restore(settings.clone(), &changed);
    }
    let small = Settings::<2>::new([4, 4], 1.0 / 24.0);
    assert!(Liquid::restore(small, &good).is_err());

    // Times, volume and drift come first, then positions and velocities; the first number of a gradient is its unit.
    let unit = 49 + 16 * liquid.particles().len() + 1;
    for bad in [f32::NAN, f32::INFINITY, -1.0, 1e29] {
        let mut changed = good.clone();
        changed[unit..unit + 4].copy_from_slice(&bad.to_le_bytes());
        assert!(Liquid::restore(settings.clone(), &changed).is_err());
    }
}

#[test]
fn the_cells_of_the_last_pressure_may_come_in_any_order_but_only_once() {
    let settings = Settings::<2>::new([24, 24], 1.0 / 24.0);
    let (mut liquid, solids) = scene(&settings);
    step(&mut liquid, &solids);
    let good = saved(&liquid);
    let cells = (0..24).flat_map(|x| (0..24).map(move |y| [x, y]));
    let wet = cells
        .filter(|&cell| liquid.pressure(cell).is_some())
        .count();
    // The cells, 8 bytes each, and then their pressures are the end of a state.
    let cell_at = |k: usize| good.len() - 16 * wet + 8 * k;
    let pressure_at = |k: usize| good.len() - 8 * wet + 8 * k;
    let copy = |bytes: &mut [u8], from: usize, to: usize| {
        bytes[to..to + 8].copy_from_slice(&good[from..from + 8]);
    };
    let mut twice = good.clone();
    copy(&mut twice, cell_at(0), cell_at(wet - 1));
    assert!(Liquid::restore(settings.clone(), &twice).is_err());

    let mut swapped = good.clone();
    for (from, to) in [(0, wet - 1), (wet - 1, 0)] {
        copy(&mut swapped, cell_at(from), cell_at(to));
        copy(&mut swapped, pressure_at(from), pressure_at(to));
    }
    assert_ne!(swapped, good);
    assert_eq!(saved(&Liquid::restore(settings, &swapped).unwrap()), good);
}

#[test]
fn time_passes_without_liquid_and_with_spray_alone() {
    let settings = Settings::<2>::new([24, 24], 1.0 / 24.0);
    let solids = tank(&settings);
    let mut nothing = Liquid::new(settings.clone()).unwrap();
    for _ in 0..5 {
        let report = step(&mut nothing, &solids);
        assert_eq!(
            (report.particles, report.unknowns, report.volume),
            (0, 0, 0.0)
        );
    }
    assert_eq!(
        saved(&Liquid::restore(settings.clone(), &saved(&nothing)).unwrap()),
        saved(&nothing)
    );
    let mut spray = Liquid::new(settings.clone()).unwrap();
    // A drop much smaller than a cell, so that few particles are seeded, or one.
    let mut radius = 0.004;
    while spray.particles().is_empty() {
        let r = radius;
        spray.fill(
            &|x| (x[0] - 0.5).hypot(x[1] - 0.8) - r,
            &|_| [0.3, 0.0],
            &solids,
        );
        radius *= 1.2;
    }
    assert!(spray.particles().len() < 9);
    for _ in 0..30 {
        match advance(&mut spray, &solids, FRAME) {
            Ok(report) => assert!(report.volume.is_finite()),
            Err(failure) => {
                panic!("{:?}: {failure}", failure.error)
            }
        }
        assert!(spray.particles().is_finite());
    }
}
