//! A slab of liquid under a ceiling falls if walls let go, and hangs there if they don't.

mod common;

use common::{mean, run, tank};
use meniscus_liquid::{Liquid, Settings, Walls};

fn slab<const D: usize>(cells: [usize; D], walls: Walls) -> (f64, f64) {
    let dx = 1.0 / cells[D - 1] as f64;
    let mut settings = Settings::<D>::new(cells, dx);
    settings.walls = walls;
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
