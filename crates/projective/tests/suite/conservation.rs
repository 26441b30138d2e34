//! Conservation laws and exact motion.

use meniscus_projective::{Fluid, Real, Settings};

use crate::stage::{angular_momentum, apart, block, jittered, momentum};

fn free_fall<R: Real>() -> f64 {
    let spacing = 0.05;
    let mut fluid: Fluid<3, R> = block(Settings::new(spacing), &[], [0.0; 3], [0.3; 3]);
    let start: Vec<[f64; 3]> = (fluid.particles().position.iter())
        .map(|x| x.point())
        .collect();
    for step in 0..50 {
        let dt = [0.002, 0.005, 0.001, 0.003][step % 4];
        let report = fluid.step(&[], dt, &mut |_| ()).unwrap();
        assert_eq!(report.solve.rounds, 0, "nothing is compressed");
    }
    let fall = 0.5 * 9.81 * fluid.time() * fluid.time();
    let particles = fluid.particles();
    let moved = particles.position.iter().zip(&particles.id);
    let errors = moved.map(|(x, &id)| {
        let (x, from) = (x.point::<3>(), start[id as usize]);
        apart(x, [from[0], from[1], from[2] - fall])
    });
    errors.fold(0.0, f64::max) / spacing
}

#[test]
fn free_fall_is_exact_for_any_sequence_of_steps() {
    assert!(free_fall::<f32>() < 1e-3);
    assert!(free_fall::<f64>() < 1e-11);
}

/// Changes of momentum and angular momentum over 20 steps of a compressed block, relative to the sum of all speeds.
fn changes<const D: usize, R: Real>() -> (f64, f64) {
    let mut settings = Settings::<D>::new(0.05);
    settings.gravity = [0.0; D];
    (settings.xsph, settings.filter) = (0.0, 0.0);
    let mut fluid: Fluid<D, R> = jittered(settings, 10, 0.97, 0.01, 1.0);
    let (before, scale) = momentum(&fluid);
    let turning = angular_momentum(&fluid);
    for _ in 0..20 {
        fluid.step(&[], 0.002, &mut |_| ()).unwrap();
    }
    let change = apart(momentum(&fluid).0, before) / scale;
    (
        change,
        apart(angular_momentum(&fluid), turning) / (0.25 * scale),
    )
}

#[test]
fn momentum_is_conserved_without_walls() {
    assert!(changes::<3, f32>().0 < 1e-5);
    assert!(changes::<3, f64>().0 < 1e-13);
    assert!(changes::<2, f64>().0 < 1e-13);
}

#[test]
fn angular_momentum_changes_by_less_than_half_a_per_cent() {
    let (plane, space) = (changes::<2, f64>().1, changes::<3, f64>().1);
    assert!(plane < 5e-3 && space < 5e-3, "{plane} {space}");
}

#[test]
fn a_compressed_lattice_expands_within_one_step() {
    let mut settings = Settings::<3>::new(0.05);
    settings.gravity = [0.0; 3];
    let mut fluid: Fluid<3, f32> = jittered(settings, 12, 0.99, 0.0, 0.0);
    let report = fluid.step(&[], 0.002, &mut |_| ()).unwrap();
    assert!(report.solve.rounds <= 10 && report.solve.max_error < 1e-3);
}
