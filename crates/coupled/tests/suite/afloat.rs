//! Heave, tilt and loads of floating bodies on an exact surface: the liquid is at rest before each solve.

use meniscus_liquid::Walls;
use meniscus_rigid::{Body, Twist};
use meniscus_shapes::{Pose, Rotation};

use crate::scene::{block, free, tank};
use crate::stage::Stage;

const G: f64 = 9.81;

/// Bodies in a tank with a level surface.
struct Pool {
    stage: Stage<2>,
    level: f64,
}

impl Pool {
    fn new(n: usize, level: f64, bodies: Vec<Body<2>>) -> Self {
        let dx = 1.0 / n as f64;
        let mut bodies = bodies;
        bodies.push(tank([2.0 * dx; 2], [1.0 - 2.0 * dx; 2]));
        let mut stage = Stage::new([n, n], dx, bodies).gravity([0.0, -G]);
        stage.liquid.physics.walls = Walls::Separating;
        Self { stage, level }
    }

    /// A step in which velocities are damped by a share.
    fn step(&mut self, damping: f64) -> crate::stage::Solved<2> {
        let (level, fall) = (self.level, -G * self.stage.dt);
        self.stage.flow(|x| x[1] - level, |_| [0.0, fall]);
        let solved = self.stage.solve();
        for body in 0..self.stage.bodies.len() - 1 {
            let Twist { linear, angular } = self.stage.bodies.twist(body);
            let twist = Twist {
                linear: linear.map(|v| v * (1.0 - damping)),
                angular: angular.map(|w| w * (1.0 - damping)),
            };
            self.stage.bodies.set_twist(body, twist);
        }
        solved
    }
}

#[test]
fn a_broad_box_rights_itself_and_a_tall_one_capsizes() {
    for (half, stable) in [([0.2, 0.08], true), ([0.08, 0.2], false)] {
        let angle = 10f64.to_radians();
        let body = free("box", block(half), 500.0, [0.5, 0.5]).at(Pose {
            rotation: Rotation::from_angle(angle),
            translation: [0.5, 0.5],
        });
        let mut pool = Pool::new(48, 0.5, vec![body]);
        let turn = pool.step(0.0).outcome.wet[0].twist.angular[2];
        assert_eq!(turn < 0.0, stable, "{half:?}: {turn}");
        (0..150).for_each(|_| drop(pool.step(0.05)));
        let angle = pool.stage.bodies.pose(0).rotation.angle().to_degrees();
        assert_eq!(angle < 2.0, stable, "{half:?}: {angle}");
        assert!(stable || angle > 45.0, "{half:?}: {angle}");
    }
}

#[test]
fn a_platform_sinks_by_the_weight_of_its_stack() {
    let (n, dx) = (48, 1.0 / 48.0);
    let mut bodies = vec![free("platform", block([0.3, 0.08]), 200.0, [0.5, 0.5]).friction(0.0)];
    let mut masses = Vec::new();
    for k in 0..3 {
        let height = 0.5 + 0.08 + 0.04 + 0.02 * dx + k as f64 * (0.08 + 0.02 * dx);
        let cube = free("box", block([0.06, 0.04]), 1000.0, [0.5, height]).friction(0.0);
        masses.push(cube.mass.unwrap().mass);
        bodies.push(cube);
    }
    let total = bodies[0].mass.unwrap().mass + masses.iter().sum::<f64>();
    let draft = total / (1000.0 * 0.6);
    let mut pool = Pool::new(n, 0.5, bodies);
    (0..600).for_each(|_| drop(pool.step(0.1)));
    let solved = pool.step(0.1);
    let found = 0.5 - (pool.stage.bodies.pose(0).translation[1] - 0.08);
    assert!((found / draft - 1.0).abs() < 0.01, "{found} {draft}");
    for above in 0..3 {
        // Impulses on the upper body of each contact.
        let force: f64 = solved
            .outcome
            .bodies
            .contacts
            .iter()
            .filter(|c| {
                c.contact.a.max(c.contact.b) == above + 1 && c.contact.a.min(c.contact.b) == above
            })
            .map(|c| c.impulse[1].abs() / pool.stage.dt)
            .sum();
        // It still creeps a little.
        let weight = masses[above..].iter().sum::<f64>() * G;
        assert!(
            (force / weight - 1.0).abs() < 1e-3,
            "{above}: {force} {weight}"
        );
    }
}

#[test]
fn cycles_are_few_for_all_densities_from_a_cold_start() {
    let mut missed = Vec::new();
    for n in [32, 64] {
        for density in [10.0, 100.0, 1000.0, 10_000.0, 100_000.0] {
            for (kind, throw) in [
                ("one", 0.0),
                ("ground", 0.0),
                ("stack", 0.0),
                ("stack", 2.0),
            ] {
                let dx = 1.0 / n as f64;
                let floor = 2.0 * dx;
                let box_at = |half: [f64; 2], at: [f64; 2]| {
                    free("box", block(half), density, at)
                        .friction(0.0)
                        .moving([0.1, 0.2 - throw], [0.0, 0.0, 0.3])
                };
                let bodies = match kind {
                    "one" => vec![box_at([0.18, 0.1], [0.47, 0.4])],
                    "ground" => vec![box_at([0.18, 0.12], [0.47, floor + 0.12 + 0.02 * dx])],
                    _ => vec![
                        box_at([0.3, 0.1], [0.5, floor + 0.1 + 0.02 * dx]),
                        box_at([0.12, 0.1], [0.45, floor + 0.3 + 0.04 * dx]),
                    ],
                };
                let mut pool = Pool::new(n, 0.75, bodies);
                let flow =
                    |x: [f64; 2]| [(6.0 * x[1]).sin(), -(6.0 * x[0]).cos() + throw - G * 0.01];
                pool.stage.liquid.physics.pressure.tolerance = 1e-6 * 4.0 / dx;
                pool.stage.settings.mass_correction = false;
                pool.stage.flow(|x| x[1] - 0.75, flow);
                let cold = pool.stage.solve().outcome.cycles;
                if cold > 12 {
                    missed.push(format!("{n} {density} {kind} {throw}: {cold}"));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
