//! Steps of a liquid with viscosity.

use meniscus_liquid::stokes::{Rheology, StokesProjection, StressWalls};
use meniscus_liquid::{Liquid, Settings};
use meniscus_shapes::{Motion, ScriptedSolid, Shape, Solids};

fn tank<const D: usize>(settings: &Settings<D>) -> Solids<D> {
    let low = [0.0; D];
    let high = settings.domain();
    Solids::new(vec![ScriptedSolid {
        name: "tank".into(),
        shape: Shape::Box { low, high }.inverted(),
        motion: Motion::Still,
    }])
}

/// Fills a liquid, makes so many steps of `dt`, and returns it.
fn run<const D: usize>(
    n: usize,
    viscosity: f64,
    volume: &(dyn Fn([f64; D]) -> f64 + Sync),
    velocity: [f64; D],
    steps: usize,
    dt: f64,
) -> Liquid<D> {
    let settings = Settings::<D>::new([n; D], 1.0 / n as f64);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(volume, &|_| velocity, &solids);
    let mut projection = StokesProjection::new(Rheology::newtonian(viscosity), StressWalls::Stick);
    for _ in 0..steps {
        liquid
            .step_with(&mut projection, &solids, dt, &mut ())
            .unwrap();
        let report = projection.report().unwrap();
        assert!(report.iterations <= 25, "{report:?}");
    }
    liquid
}

fn kinetic_energy<const D: usize>(liquid: &Liquid<D>) -> f64 {
    let squares = liquid
        .particles()
        .velocity
        .iter()
        .map(|v| v.iter().map(|&c| (c as f64).powi(2)).sum::<f64>());
    squares.sum::<f64>() / liquid.particles().len() as f64
}

#[test]
fn viscous_liquid_at_rest_stays_at_rest() {
    for viscosity in [1.0, 1e4] {
        let liquid = run::<2>(24, viscosity, &|x| x[1] - 0.4, [0.0; 2], 20, 1.0 / 48.0);
        let energy = kinetic_energy(&liquid);
        println!("{viscosity:e}: {energy:e}");
        assert!(energy < 1e-4, "{viscosity:e}: {energy:e}");
    }
}

#[test]
fn a_viscous_column_slumps_more_slowly_than_a_thin_one() {
    let front = |viscosity: f64| {
        let liquid = run::<2>(
            24,
            viscosity,
            &|x| (x[0] - 0.3).max(x[1] - 0.6),
            [0.0; 2],
            24,
            1.0 / 96.0,
        );
        liquid
            .particles()
            .position
            .iter()
            .fold(0.0_f32, |m, x| m.max(x[0]))
    };
    let (thin, thick, solid) = (front(1.0), front(1e2), front(1e5));
    println!("{thin} {thick} {solid}");
    assert!(
        thin > thick + 0.05 && thick > solid + 0.05,
        "{thin} {thick} {solid}"
    );
    assert!(solid < 0.34, "{solid}");
}

#[test]
fn liquid_in_free_flight_falls_with_gravity_whatever_its_viscosity() {
    for viscosity in [1.0, 1e5] {
        let ball = |x: [f64; 3]| x.iter().map(|x| (x - 0.55).powi(2)).sum::<f64>().sqrt() - 0.2;
        let dt = 0.02;
        let liquid = run::<3>(16, viscosity, &ball, [0.3, 0.0, 0.0], 6, dt);
        let count = liquid.particles().len() as f64;
        let mean: Vec<f64> = (0..3)
            .map(|a| {
                liquid
                    .particles()
                    .velocity
                    .iter()
                    .map(|v| v[a] as f64)
                    .sum::<f64>()
                    / count
            })
            .collect();
        // Velocities belong to the middle of a step.
        let expected = [0.3, 0.0, -9.81 * 5.5 * dt];
        for a in 0..3 {
            assert!(
                (mean[a] - expected[a]).abs() < 2e-3,
                "{viscosity:e}: {mean:?} {expected:?}"
            );
        }
    }
}
