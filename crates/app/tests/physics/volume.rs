//! Volume conservation, measured from the surface and in features below the grid's resolution.

use meniscus_app::runner::Simulation;
use meniscus_liquid::{Distance, Walls};
use meniscus_scene::Scene;

use crate::{Known, liquid_of, play, scene};

/// Largest drift over five seconds at 48 cells, which must stay below `bound`.
fn drift<const D: usize>(name: &str, walls: Walls, bound: f64)
where
    Scene<D>: Known,
{
    drift_with(name, walls, bound, |_: &mut Scene<D>| {});
}

/// The same with a change to the scene.
fn drift_with<const D: usize>(name: &str, walls: Walls, bound: f64, change: impl Fn(&mut Scene<D>))
where
    Scene<D>: Known,
{
    let mut scene = scene::<D>(name, walls);
    scene.resolution = 48;
    change(&mut scene);
    let simulation = Simulation::new(&scene).expect("a scene that makes sense");
    let positions = &liquid_of(&simulation).particles().position;
    let start = Distance::of_particles(scene.settings(), positions, &scene.solids_and_walls(), 0.0)
        .expect("settings in range")
        .volume();
    let frames = (5.0 * scene.frame_rate).ceil() as u32 + 1;
    let (mut worst, mut last) = (0.0f64, 0.0);
    play(
        &scene,
        frames,
        |report| {
            let measure = |name| report.measure(name).expect("a measure of every step");
            last = (measure("volume") + measure("thin_volume")) / start - 1.0;
            worst = worst.max(last.abs());
        },
        |_, _| {},
    );
    eprintln!("{name} {walls}: largest drift {worst:.4}, last {last:.4}");
    assert!(
        worst < bound,
        "{name} with {walls} walls: volume drifts by {worst}"
    );
}

#[test]
fn volume_is_conserved_in_a_dam_break_with_slip_walls() {
    drift::<3>("dam-break", Walls::Slip, 0.03);
}

#[test]
fn volume_is_conserved_in_a_dam_break_with_separating_walls() {
    drift::<3>("dam-break", Walls::Separating, 0.03);
}

/// Fewer than 300 cells of liquid, a third of them on the surface when the wave overturns: single steps deviate by
/// more than in larger scenes. By how much depends on where the particles happen to be.
#[test]
fn volume_is_conserved_in_a_dam_break_in_2d_wherever_its_particles_begin() {
    for seed in 1..=5 {
        for walls in [Walls::Slip, Walls::Separating] {
            drift_with::<2>("dam-break-2d", walls, 0.04, |scene| {
                scene.physics.seed = seed;
            });
        }
    }
}

#[test]
fn volume_is_conserved_in_a_circle() {
    drift::<2>("circle", Walls::Slip, 0.03);
    drift::<2>("circle", Walls::Separating, 0.03);
}

#[test]
fn volume_is_conserved_in_a_sphere_with_slip_walls() {
    drift::<3>("sphere", Walls::Slip, 0.03);
}

#[test]
fn volume_is_conserved_in_a_sphere_with_separating_walls() {
    drift::<3>("sphere", Walls::Separating, 0.03);
}
