//! Bodies that float.

use crate::scene::{Setup, block, free, tank};

#[test]
fn a_box_at_its_draft_stays_there() {
    let (n, level) = (32, 0.5);
    for density in [100.0, 500.0, 900.0] {
        let draft = density / 1000.0 * 0.2;
        let body = free(
            "box",
            block([0.2, 0.1]),
            density,
            [0.5, level + 0.1 - draft],
        );
        let setup = Setup::new(n, vec![tank([0.0; 2], [1.0; 2]), body]);
        let mut world = setup.fill(|x: [f64; 2]| x[1] - level);
        let start = world.bodies().pose(1);
        let weight = density * 0.08 * 9.81;
        let (mut time, mut impulse) = (0.0, 0.0);
        while time < 1.5 {
            let dt = world.step_limit(0.02).dt;
            let report = world.step(dt, &mut ()).unwrap();
            time += dt;
            impulse += dt * report.loads[1].liquid.force[1];
            let pose = world.bodies().pose(1);
            let sunk = (pose.translation[1] - start.translation[1]) * n as f64;
            assert!(sunk.abs() < 0.2, "{density}: {sunk} cells after {time} s");
            assert!(pose.rotation.angle().to_degrees() < 0.5);
            assert!(report.cycles <= 8, "{} cycles", report.cycles);
            let load = report.loads[1];
            assert!((load.submerged_volume / (0.4 * draft) - 1.0).abs() < 0.15);
            assert!((load.waterline_area - 0.4).abs() < 1e-4);
        }
        assert!((impulse / (weight * time) - 1.0).abs() < 0.01);
    }
}
