//! Flows with known behaviour.

use meniscus_projective::{Boundary, Fluid, Settings};
use meniscus_shapes::Bounds;

use crate::stage::{block, tank};

/// Front of the collapsing column of Martin and Moyce (1952), `n² = 2`: time `T = t sqrt(2 g / a)` at which the front has
/// reached `Z` widths `a`, from the experiment's table.
const MARTIN_MOYCE: [(f64, f64); 3] = [(2.29, 2.0), (3.0, 2.55), (4.13, 3.35)];

#[test]
fn the_front_of_a_collapsing_column_moves_as_measured() {
    let a = 0.5;
    let spacing = a / 20.0;
    let size = [5.0 * a, 4.0 * a];
    let solids = tank(size);
    let bounds = Bounds {
        low: [0.0; 2],
        high: size,
    };
    let mut fluid: Fluid<2, f32> = block(Settings::new(spacing), &solids, [0.0; 2], [a, 2.0 * a]);
    let mut front = Vec::new();
    let mut highest_energy: f64 = 0.0;
    let start = 800.0 * fluid.settings().particle_mass() * 9.81 * a;
    while front.len() < 400 {
        let (dt, _) = fluid.step_limit(&solids, &bounds);
        let report = fluid.step(&solids, dt, &mut |_| ()).unwrap();
        highest_energy = highest_energy.max(report.kinetic_energy + report.potential_energy);
        let mut xs: Vec<f64> = (fluid.particles().position.iter())
            .map(|x| x.0[0].into())
            .collect();
        xs.sort_by(f64::total_cmp);
        let z = (xs[xs.len() - 4] + 0.5 * spacing) / a;
        front.push((fluid.time() * (2.0 * 9.81 / a).sqrt(), z));
        if z > 4.2 {
            break;
        }
    }
    assert!(highest_energy < 1.02 * start, "{highest_energy} {start}");
    let reached = |z: f64| front.iter().find(|(_, own)| *own >= z).expect("front").0;
    // Speed of the front between two stations of the table.
    for pair in MARTIN_MOYCE.windows(2) {
        let ((z0, t0), (z1, t1)) = (pair[0], pair[1]);
        let measured = (z1 - z0) / (t1 - t0);
        let here = (z1 - z0) / (reached(z1) - reached(z0));
        assert!((here / measured - 1.0).abs() < 0.15, "{here} {measured}");
    }
}

#[test]
fn a_dam_break_keeps_its_density_and_gains_no_energy() {
    let size = [2.0, 1.5];
    let (solids, bounds) = (
        tank(size),
        Bounds {
            low: [0.0; 2],
            high: size,
        },
    );
    let mut fluid: Fluid<2, f32> = block(Settings::new(0.02), &solids, [0.0, 0.04], [0.5, 1.04]);
    let mut errors = Vec::new();
    let mut start = None;
    while fluid.time() < 2.0 {
        let (dt, _) = fluid.step_limit(&solids, &bounds);
        let report = fluid.step(&solids, dt, &mut |_| ()).unwrap();
        let energy = report.kinetic_energy + report.potential_energy;
        let start = *start.get_or_insert(energy);
        assert!(energy < 1.02 * start, "{energy} {start} at {}", report.time);
        errors.push((report.solve.max_error, report.solve.mean_error));
    }
    let kept = errors
        .iter()
        .filter(|(max, mean)| *max <= 1e-3 && *mean <= 1e-4)
        .count();
    let worst = errors
        .iter()
        .fold(0.0, |worst: f64, (max, _)| worst.max(*max));
    assert!(
        kept as f64 >= 0.95 * errors.len() as f64,
        "{kept} of {}",
        errors.len()
    );
    assert!(worst <= 2e-3, "{worst}");
    let is_inside = |x: [f64; 2]| (0..2).all(|k| x[k] >= 0.0 && x[k] <= size[k]);
    let positions = &fluid.particles().position;
    assert!(positions.iter().all(|x| is_inside(x.point())));
}

#[test]
fn a_column_at_rest_stays_and_its_weight_is_on_the_floor() {
    let (spacing, layers) = (0.05, 20);
    let height = spacing * f64::from(layers);
    let solids = tank([0.5, 3.0]);
    let mut fluid: Fluid<2, f32> = block(Settings::new(spacing), &solids, [0.0; 2], [0.5, height]);
    let weight = fluid.particles().len() as f64 * fluid.settings().particle_mass() * 9.81;
    let (mut force, mut late_steps, mut fastest, mut worst) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    for step in 0..800 {
        let report = fluid.step(&solids, 0.005, &mut |_| ()).unwrap();
        if step >= 600 {
            force -= report.wall_force[1];
            late_steps += 1.0;
            fastest = fastest.max(report.max_speed);
            worst = worst.max(report.solve.max_error);
        }
    }
    println!(
        "force/weight {}, fastest {fastest}, worst {worst}",
        force / late_steps / weight
    );
    assert!(
        (force / late_steps / weight - 1.0).abs() < 0.02,
        "{}",
        force / late_steps / weight
    );
    assert!(worst < 1e-3, "{worst}");
    assert!(fastest < 0.02 * (9.81 * height).sqrt(), "{fastest}");
}

#[test]
fn particles_on_the_walls_hold_a_pool() {
    let spacing = 0.05;
    let mut settings = Settings::new(spacing);
    settings.boundary = Boundary::Particles;
    let solids = tank([0.6, 0.4, 1.0]);
    let mut fluid: Fluid<3, f32> = block(settings, &solids, [0.0; 3], [0.6, 0.4, 0.4]);
    let weight = fluid.particles().len() as f64 * fluid.settings().particle_mass() * 9.81;
    let (mut force, mut count, mut converged) = (0.0, 0.0, 0);
    for step in 0..400 {
        let report = fluid.step(&solids, 0.005, &mut |_| ()).unwrap();
        converged += usize::from(report.solve.has_converged);
        if step >= 200 {
            force += report.wall_force[2];
            count += 1.0;
        }
    }
    assert!(converged >= 380, "{converged}");
    let share = -force / count / weight;
    assert!((share - 1.0).abs() < 0.02, "{share}");
    let heights = fluid.particles().position.iter().map(|x| f64::from(x.0[2]));
    let mean = heights.sum::<f64>() / fluid.particles().len() as f64;
    assert!((mean / 0.2 - 1.0).abs() < 0.06, "{mean}");
}
