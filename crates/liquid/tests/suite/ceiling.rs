//! A slab of liquid under a ceiling falls from separating walls, and hangs there from slip walls; without gravity it leaves a
//! wall at the speed one asks for.

use crate::common::{mean, run, still, tank};
use meniscus_liquid::{Liquid, Settings, Walls};
use meniscus_shapes::{Shape, Solids};

fn slab<const D: usize>(cells: [usize; D], walls: Walls) -> (f64, f64) {
    let dx = 1.0 / cells[D - 1] as f64;
    let mut settings = Settings::<D>::new(cells, dx);
    settings.physics.walls = walls;
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| 0.807 - x[D - 1], &|_| [0.0; D], &solids);
    let before = mean(&liquid.particles().position, D - 1);
    run(&mut liquid, &solids, 0.25, |_, _| {});
    (
        before - mean(&liquid.particles().position, D - 1),
        0.5 * 9.81 * 0.25 * 0.25,
    )
}

fn falls<const D: usize>(cells: [usize; D]) {
    let (fallen, expected) = slab(cells, Walls::Separating);
    eprintln!("{D}D fell {fallen:.5}, free fall {expected:.5}");
    assert!(
        (fallen / expected - 1.0).abs() < 0.01,
        "fell {fallen}, free fall {expected}"
    );
}

/// The ceiling lies below the centres of the cells that it cuts.
#[test]
fn a_slab_under_a_ceiling_off_the_grid_falls_freely_with_separating_walls() {
    for above in [0.55, 0.7, 0.9] {
        let dx = 1.0 / 48.0;
        let mut settings = Settings::<2>::new([32, 48], dx);
        settings.physics.walls = Walls::Separating;
        let mut high = settings.domain();
        high[1] -= above * dx;
        let hollow = Shape::Box {
            low: [0.0; 2],
            high,
        };
        let solids = Solids::new(vec![still("tank", hollow.inverted())]);
        let mut liquid = Liquid::new(settings).unwrap();
        liquid.fill(&|x| 0.807 - x[1], &|_| [0.0; 2], &solids);
        let before = mean(&liquid.particles().position, 1);
        run(&mut liquid, &solids, 0.25, |_, _| {});
        let fallen = before - mean(&liquid.particles().position, 1);
        let expected = 0.5 * 9.81 * 0.25 * 0.25;
        eprintln!("{above} cells off the grid: fell {fallen:.5}, free fall {expected:.5}");
        assert!(
            (fallen / expected - 1.0).abs() < 0.02,
            "{above} cells off the grid: fell {fallen}, free fall {expected}"
        );
    }
}

fn hangs<const D: usize>(cells: [usize; D]) {
    let (fallen, expected) = slab(cells, Walls::Slip);
    eprintln!("{D}D slip fell {fallen:.5}, free fall {expected:.5}");
    assert!(
        fallen < 0.1 * expected,
        "fell {fallen}, free fall {expected}"
    );
}

#[test]
fn a_slab_under_a_ceiling_falls_freely_in_2d_with_separating_walls() {
    falls([32, 48]);
}

#[test]
fn a_slab_under_a_ceiling_falls_freely_in_3d_with_separating_walls() {
    falls([16, 18, 32]);
}

#[test]
fn a_slab_under_a_ceiling_hangs_in_2d_with_slip_walls() {
    hangs([32, 48]);
}

#[test]
fn a_slab_under_a_ceiling_hangs_in_3d_with_slip_walls() {
    hangs([16, 18, 32]);
}

/// Distance between a wall and the nearest particle of a block that rested on it, without gravity, after `seconds`.
fn gap(walls: Walls, separation: f64, seconds: f64) -> f64 {
    let mut settings = Settings::<2>::new([32; 2], 1.0 / 32.0);
    settings.physics.walls = walls;
    settings.physics.separation = separation;
    settings.physics.gravity = [0.0; 2];
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    let block = |x: [f64; 2]| (x[0] - 0.31).max((x[1] - 0.5).abs() - 0.23);
    liquid.fill(&block, &|_| [0.0; 2], &solids);
    run(&mut liquid, &solids, seconds, |_, _| {});
    let places = liquid.particles().position.iter().map(|x| x[0] as f64);
    places.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_block_leaves_a_separating_wall_at_the_desired_speed() {
    let (speed, seconds) = (0.5, 1.0 / 12.0);
    let asked = gap(Walls::Separating, speed, seconds);
    eprintln!("asked for {}, {asked} m from the wall", speed * seconds);
    // The rest of the block slows down what leaves first.
    assert!(asked > 0.75 * speed * seconds, "{asked} m from the wall");
    for (walls, speed) in [(Walls::Separating, 0.0), (Walls::Slip, speed)] {
        let stays = gap(walls, speed, seconds);
        assert!(stays < 0.2 * speed.max(0.5) * seconds, "{walls}: {stays}");
    }
}
