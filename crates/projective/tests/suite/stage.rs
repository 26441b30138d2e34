//! Liquids for tests.

use meniscus_projective::{Fluid, Real, Settings};
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};

/// The inside of a box.
pub fn tank<const D: usize>(high: [f64; D]) -> Vec<ScriptedSolid<D>> {
    let low = [0.0; D];
    let shape = Shape::Box { low, high }.inverted();
    vec![ScriptedSolid::still("tank", shape)]
}

/// A block of liquid at rest, from one corner to another.
pub fn block<const D: usize, R: Real>(
    settings: Settings<D>,
    solids: &[ScriptedSolid<D>],
    low: [f64; D],
    high: [f64; D],
) -> Fluid<D, R> {
    let mut fluid = Fluid::new(settings).expect("settings are in range");
    fluid.fill(&Bounds { low, high }, solids, &|_| Some(0), &|_| [0.0; D]);
    fluid
}

/// A block without walls, with random displacements and velocities of the given sizes, compressed by `scale`.
pub fn jittered<const D: usize, R: Real>(
    settings: Settings<D>,
    cells: usize,
    scale: f64,
    displacement: f64,
    speed: f64,
) -> Fluid<D, R> {
    let spacing = settings.spacing;
    let mut fluid = Fluid::new(settings).expect("settings are in range");
    let mut random = Random(7);
    for number in 0..cells.pow(D as u32) {
        let mut rest = number;
        let x = std::array::from_fn(|_| {
            let index = rest % cells;
            rest /= cells;
            (index as f64 + 0.5) * spacing * scale + displacement * (random.unit() - 0.5)
        });
        let v = std::array::from_fn(|_| speed * (random.unit() - 0.5));
        fluid.add(x, v, 0);
    }
    fluid
}

/// Total momentum over the mass of a particle, and the sum of all speeds.
pub fn momentum<const D: usize, R: Real>(fluid: &Fluid<D, R>) -> ([f64; 3], f64) {
    let (mut sum, mut speeds) = ([0.0; 3], 0.0);
    for v in &fluid.particles().velocity {
        for axis in 0..3 {
            sum[axis] += v.0[axis].wide();
        }
        speeds += v.dot(*v).wide().sqrt();
    }
    (sum, speeds)
}

/// Total angular momentum about the origin over the mass of a particle.
pub fn angular_momentum<const D: usize, R: Real>(fluid: &Fluid<D, R>) -> [f64; 3] {
    let mut sum = [0.0; 3];
    let particles = fluid.particles();
    for (x, v) in particles.position.iter().zip(&particles.velocity) {
        for axis in 0..3 {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            sum[axis] += x.0[b].wide() * v.0[c].wide() - x.0[c].wide() * v.0[b].wide();
        }
    }
    sum
}

/// Length of a difference.
pub fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// Pseudo-random numbers from 0 to 1.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
