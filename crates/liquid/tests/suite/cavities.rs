//! Cavities of a few cells, which overturning waves and walls enclose, are air: their volume is not gained.

use crate::common::tank;
use meniscus_liquid::{Distance, Liquid, Settings};
use meniscus_shapes::Shape;

/// Cells whose centres lie farther than this from the boundary of a cavity are air, in cells.
const DEEP: f64 = 0.25;

fn cavity_is_air<const D: usize>(low: [f64; D], high: [f64; D]) {
    for seed in 1..=4 {
        let mut settings = Settings::<D>::new([16; D], 1.0);
        settings.physics.seed = seed;
        let solids = tank(&settings);
        let mut liquid = Liquid::new(settings.clone()).unwrap();
        let cavity = Shape::Box { low, high };
        let surface = |x: [f64; D]| (x[D - 1] - 11.5).max(-cavity.distance(x));
        liquid.fill(&surface, &|_| [0.0; D], &solids);
        let positions = &liquid.particles().position;
        let distance = Distance::of_particles(settings, positions, &solids, 0.0).unwrap();
        let mut cells = 0;
        for k in 0..16usize.pow(D as u32) {
            let cell: [i32; D] = std::array::from_fn(|a| (k / 16usize.pow(a as u32) % 16) as i32);
            if cavity.distance(cell.map(|c| c as f64 + 0.5)) < -DEEP {
                let phi = distance.at(cell);
                assert!(
                    phi >= 0.0,
                    "{low:?} to {high:?}, seed {seed}, {cell:?}: {phi}"
                );
                cells += 1;
            }
        }
        assert!(cells > 0);
    }
}

#[test]
fn cavities_of_a_few_cells_are_air_in_2d() {
    cavity_is_air([6.0, 5.0], [8.0, 7.0]);
    cavity_is_air([6.0, 5.3], [8.0, 7.3]);
    cavity_is_air([6.4, 0.0], [8.4, 2.0]);
}

#[test]
fn cavities_of_a_few_cells_are_air_in_3d() {
    cavity_is_air([6.0, 5.0, 5.0], [8.0, 7.0, 7.0]);
    cavity_is_air([6.0, 5.3, 0.0], [8.0, 7.3, 2.0]);
}
