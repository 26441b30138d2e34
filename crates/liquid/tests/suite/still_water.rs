//! Water at rest stays at rest, and its pressure is the weight of the water above.

use crate::common::{run, speeds, tank};
use meniscus_liquid::{Liquid, Settings, Walls};

const DEPTH: f64 = 0.523;

fn still_water<const D: usize>(cells: [usize; D], dx: f64, walls: Walls) {
    let mut settings = Settings::<D>::new(cells, dx);
    settings.physics.walls = walls;
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[D - 1] - DEPTH, &|_| [0.0; D], &solids);
    let wave = (9.81f64 * DEPTH).sqrt();
    let (mut mean_sum, mut steps, mut largest) = (0.0, 0, 0.0f64);
    run(&mut liquid, &solids, 2.0, |liquid, report| {
        if report.time > 0.5 {
            let (mean, max) = speeds(liquid);
            mean_sum += mean;
            steps += 1;
            largest = largest.max(max);
        }
    });
    let mean = mean_sum / steps as f64;
    eprintln!(
        "{D}D {walls}: mean {:.5}, largest {:.5} of sqrt(g H)",
        mean / wave,
        largest / wave
    );
    assert!(
        mean < 0.001 * wave,
        "mean speed {} of sqrt(g H)",
        mean / wave
    );
    assert!(
        largest < 0.02 * wave,
        "largest speed {} of sqrt(g H)",
        largest / wave
    );
    let full = 1000.0 * 9.81 * DEPTH;
    let mut worst = 0.0f64;
    for up in 0..((DEPTH / dx) as i32 - 1) {
        let mut cell: [i32; D] = std::array::from_fn(|a| cells[a] as i32 / 3);
        cell[D - 1] = up;
        let expected = 1000.0 * 9.81 * (DEPTH - (up as f64 + 0.5) * dx);
        let pressure = liquid.pressure(cell).expect("liquid at this depth");
        worst = worst.max((pressure - expected).abs() / full);
    }
    eprintln!("{D}D {walls}: pressure off by {worst:.5} of the largest");
    assert!(worst < 0.01, "pressure off by {worst} of the largest");
}

#[test]
fn still_water_stays_still_in_2d_with_slip_walls() {
    still_water([32, 32], 1.0 / 32.0, Walls::Slip);
}

#[test]
fn still_water_stays_still_in_2d_with_separating_walls() {
    still_water([32, 32], 1.0 / 32.0, Walls::Separating);
}

#[test]
fn still_water_stays_still_in_3d_with_slip_walls() {
    still_water([20, 20, 32], 1.0 / 32.0, Walls::Slip);
}

#[test]
fn still_water_stays_still_in_3d_with_separating_walls() {
    still_water([20, 20, 32], 1.0 / 32.0, Walls::Separating);
}
