//! debug
use meniscus_rigid::{Bodies, Body, Mass, Settings};
use meniscus_shapes::{Pose, Shape};
fn main() {
    for rows in [3, 8, 20] {
        let mut bodies = Bodies::<3>::new(Settings::default().tolerance(1e-6)).unwrap();
        let floor = Shape::Box {
            low: [-20.0, -20.0, -1.0],
            high: [20.0, 20.0, 0.0],
        };
        bodies.add(Body::fixed("floor", floor)).unwrap();
        for row in 0..rows {
            for k in 0..10 {
                let x = 0.402 * k as f64 + if row % 2 == 0 { 0.0 } else { 0.2 };
                let shape = Shape::Box {
                    low: [-0.2, -0.1, -0.05],
                    high: [0.2, 0.1, 0.05],
                };
                let mass = Mass::of_density(&shape, 1800.0).unwrap();
                bodies
                    .add(Body::free("b", shape, mass).at(Pose::translated([
                        x,
                        0.0,
                        0.0502 + 0.1002 * row as f64,
                    ])))
                    .unwrap();
            }
        }
        for step in 0..4 {
            let r = bodies.step(1.0 / 60.0).unwrap();
            for s in &r.solves {
                println!(
                    "rows {rows} step {step}: {} contacts {} rows {} rounds {} sweeps {} sets {} residual {:.1e} tol {:.1e} perr {:.1e}",
                    s.status,
                    s.contacts,
                    s.rows,
                    s.rounds,
                    s.sweeps,
                    s.active_sets,
                    s.residual,
                    s.tolerance,
                    r.position_error
                );
                for n in s.normal.iter().take(3) {
                    println!(
                        "     normal {} {} {:.1e}",
                        n.status, n.iterations, n.residual
                    );
                }
            }
        }
    }
}
