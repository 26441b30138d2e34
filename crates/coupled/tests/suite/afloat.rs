//! Heave, tilt and loads of floating bodies on an exact surface: the liquid is at rest before each solve.

use meniscus_coupled::Scheme;
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

/// A platform that floats with a stack of three boxes on it, at a height of its center; and their masses.
fn loaded_platform(height: f64) -> (Pool, Vec<f64>) {
    let (n, dx) = (48, 1.0 / 48.0);
    let mut bodies = vec![free("platform", block([0.3, 0.08]), 200.0, [0.5, height]).friction(0.0)];
    for k in 0..3 {
        let at = height + 0.08 + 0.04 + 0.02 * dx + k as f64 * (0.08 + 0.02 * dx);
        bodies.push(free("box", block([0.06, 0.04]), 1000.0, [0.5, at]).friction(0.0));
    }
    let masses = bodies.iter().map(|body| body.mass.unwrap().mass).collect();
    let mut pool = Pool::new(n, 0.5, bodies);
    pool.stage.liquid.physics.pressure.tolerance = 1e-11;
    (pool, masses)
}

#[test]
fn a_platform_sinks_by_the_weight_of_its_stack() {
    let rises = |height: f64| {
        let (mut pool, _) = loaded_platform(height);
        pool.step(0.0).outcome.wet[0].twist.linear[1]
    };
    // Liquid at rest before every step brakes more than any damping: the height at which nothing moves, by the secant rule.
    let (mut a, mut b) = (0.5, 0.4999);
    let (mut at_a, mut at_b) = (rises(a), rises(b));
    for _ in 0..12 {
        if at_b.abs() < 1e-11 || at_a == at_b {
            break;
        }
        let next = b - at_b * (b - a) / (at_b - at_a);
        (a, at_a) = (b, at_b);
        (b, at_b) = (next, rises(next));
    }
    let (mut pool, masses) = loaded_platform(b);
    let draft = masses.iter().sum::<f64>() / (1000.0 * 0.6);
    let found = 0.5 - (b - 0.08);
    assert!((found / draft - 1.0).abs() < 0.01, "{found} {draft}");
    let solved = pool.step(0.0);
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
        let weight = masses[above + 1..].iter().sum::<f64>() * G;
        assert!(
            (force / weight - 1.0).abs() < 1e-6,
            "{above}: {force} {weight}"
        );
    }
}

#[test]
fn a_box_comes_to_rest_at_its_draft_and_stays() {
    let n = 32;
    let settle = |density: f64, level: f64, corrected: bool| {
        let height = level + 0.1 - density / 1000.0 * 0.2;
        let body = free("box", block([0.2, 0.1]), density, [0.5, height]);
        let mut pool = Pool::new(n, level, vec![body]);
        pool.stage.settings.mass_correction = corrected;
        let mut off = Vec::new();
        for _ in 0..1000 {
            pool.step(0.05);
            off.push((pool.stage.bodies.pose(0).translation[1] - height) * n as f64);
        }
        off
    };
    let mut without = 0.0f64;
    for (density, level) in [(300.0, 0.5), (500.0, 0.5), (450.0, 0.513), (500.0, 0.507)] {
        let off = settle(density, level, true);
        let last = off[999];
        assert!(last.abs() < 0.02, "{density} {level}: {last}");
        assert!((last - off[800]).abs() < 0.01, "{density} {level}: {off:?}");
        without = without.max(settle(density, level, false)[999].abs());
    }
    assert!((0.1..0.5).contains(&without), "{without}");
}

/// Boxes in a tank, by kind.
fn crowd<const D: usize>(kind: &str, n: usize, density: f64, throw: f64) -> Stage<D> {
    let dx = 1.0 / n as f64;
    let floor = 2.0 * dx;
    let along = |across: f64, up: f64| -> [f64; D] {
        std::array::from_fn(|a| if a == D - 1 { up } else { across })
    };
    let place = |across: f64, height: f64| -> [f64; D] {
        std::array::from_fn(|a| match a {
            0 => across,
            _ if a == D - 1 => height,
            _ => 0.5,
        })
    };
    let box_at = |half: [f64; 2], at: [f64; D]| {
        let mut speed = [0.0; D];
        (speed[0], speed[D - 1]) = (0.1, 0.2 - throw);
        free("box", block(along(half[0], half[1])), density, at)
            .friction(0.0)
            .moving(speed, [0.0, 0.0, 0.3])
    };
    let mut bodies = match kind {
        "one" => vec![box_at([0.18, 0.1], place(0.47, 0.4))],
        "ground" => vec![box_at([0.18, 0.12], place(0.47, floor + 0.12 + 0.02 * dx))],
        _ => vec![
            box_at([0.3, 0.1], place(0.5, floor + 0.1 + 0.02 * dx)),
            box_at([0.12, 0.1], place(0.45, floor + 0.3 + 0.04 * dx)),
        ],
    };
    bodies.push(tank([floor; D], [1.0 - floor; D]));
    let gravity: [f64; D] = along(0.0, -G);
    let mut stage = Stage::new([n; D], dx, bodies).gravity(gravity);
    stage.liquid.physics.walls = Walls::Separating;
    stage.liquid.physics.pressure.tolerance = 1e-6 * 4.0 / dx;
    stage.settings.mass_correction = false;
    stage
}

/// Cycles of a cold start, and of the next step.
fn cycles<const D: usize>(
    scheme: Scheme,
    (kind, throw): (&str, f64),
    n: usize,
    density: f64,
) -> (usize, usize) {
    let mut stage = crowd::<D>(kind, n, density, throw);
    stage.settings.scheme = scheme;
    let flow = |x: [f64; D]| {
        let mut u = [0.0; D];
        u[0] = (6.0 * x[D - 1]).sin();
        u[D - 1] = -(6.0 * x[0]).cos() + throw - G * 0.01;
        u
    };
    stage.flow(|x| x[D - 1] - 0.75, flow);
    let before: Vec<_> = (0..stage.bodies.len())
        .map(|b| stage.bodies.twist(b))
        .collect();
    let cold = stage.solve().outcome.cycles;
    // Moved by a step, with the same velocities.
    stage.accept();
    for (body, twist) in before.into_iter().enumerate() {
        stage.bodies.set_twist(body, twist);
    }
    stage.flow(|x| x[D - 1] - 0.75, flow);
    (cold, stage.solve().outcome.cycles)
}

/// Cases with more cycles than there may be.
fn too_many<const D: usize>(n: usize, densities: &[f64]) -> Vec<String> {
    let mut missed = Vec::new();
    for (kind, throw) in [
        ("one", 0.0),
        ("ground", 0.0),
        ("stack", 0.0),
        ("stack", 2.0),
    ] {
        for &density in densities {
            // The pressure alone, without contacts.
            let (alone, _) = cycles::<D>(Scheme::PressureContact, (kind, throw), n, density);
            let (cold, warm) = cycles::<D>(Scheme::Unified, (kind, throw), n, density);
            let most = 1.3 * alone as f64 + 2.0;
            if cold > 12 || warm > 12 || cold as f64 > most {
                missed.push(format!(
                    "{D}D {n} {density} {kind} {throw}: {cold} cold, {warm} warm, {alone} of the pressure alone"
                ));
            }
        }
    }
    missed
}

#[test]
fn cycles_are_few_for_all_densities() {
    let densities = [10.0, 100.0, 1000.0, 10_000.0, 100_000.0];
    let mut missed = Vec::new();
    for n in [32, 64, 128] {
        missed.extend(too_many::<2>(n, &densities));
    }
    missed.extend(too_many::<3>(32, &densities));
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
