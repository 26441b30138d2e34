//! Speeds of the particles, for the length of a step.
//!
//! Where jets meet in a corner a few dozen particles in hundreds of thousands fly two or three times as fast as all
//! others. They are spray, and their way through the air is known whatever the step; if they limited it, a splash would take
//! twice as many steps for their sake. The CFL number therefore holds for all but a thousandth of the particles. The
//! others may cross a few cells more (see `particles/advection.rs` for how they move).

use rayon::prelude::*;

/// Share of the particles that may be faster than the step is meant for.
const SHARE: f64 = 1e-3;
/// How many times as fast they may be.
const FASTER: f64 = 2.5;
/// Classes of squared speeds up to the largest.
const CLASSES: usize = 256;
/// Particles that one thread looks at together.
const PART: usize = 8192;

/// Speeds of particles, in m/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speeds {
    /// The largest; not a number if one is not.
    pub fastest: f64,
    /// The one that limits the step.
    pub limiting: f64,
}

/// The largest speed of particles with these velocities; not a number if one is not.
pub fn fastest<const D: usize>(velocity: &[[f32; D]]) -> f64 {
    let larger = |a: f64, b: f64| match a.is_nan() || b.is_nan() {
        true => f64::NAN,
        false => a.max(b),
    };
    let largest_of = |part: &[[f32; D]]| part.iter().map(square).fold(0.0, larger);
    let parts = velocity.par_chunks(PART);
    parts.map(largest_of).reduce(|| 0.0, larger).sqrt()
}

fn square<const D: usize>(v: &[f32; D]) -> f64 {
    v.iter().map(|&c| c as f64 * c as f64).sum()
}

impl Speeds {
    /// Those of particles with these velocities.
    pub fn of<const D: usize>(velocity: &[[f32; D]]) -> Self {
        let fastest = fastest(velocity);
        let few = (SHARE * velocity.len() as f64) as usize;
        if few == 0 || !(fastest > 0.0 && fastest.is_finite()) {
            return Self {
                fastest,
                limiting: fastest,
            };
        }
        let per_class = CLASSES as f64 / (fastest * fastest);
        let count = |part: &[[f32; D]]| {
            let mut counts = [0usize; CLASSES];
            for v in part {
                counts[((square(v) * per_class) as usize).min(CLASSES - 1)] += 1;
            }
            counts
        };
        let add = |a: [usize; CLASSES], b: [usize; CLASSES]| std::array::from_fn(|k| a[k] + b[k]);
        let counts = velocity
            .par_chunks(PART)
            .map(count)
            .reduce(|| [0; CLASSES], add);
        let mut faster = 0;
        let class = counts.iter().rposition(|&count| {
            faster += count;
            faster > few
        });
        // The upper bound of the class of the first particle that is not among them.
        let bound = (class.map_or(CLASSES, |class| class + 1) as f64 / per_class).sqrt();
        Self {
            fastest,
            limiting: bound.clamp(fastest / FASTER, fastest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many particles at 1 m/s, and some at another speed.
    fn limiting(slow: usize, fast: usize, speed: f32) -> f64 {
        let mut velocity = vec![[0.6, 0.8]; slow];
        velocity.extend(vec![[0.0, speed]; fast]);
        let speeds = Speeds::of(&velocity);
        assert!((speeds.fastest - f64::from(speed)).abs() < 1e-6);
        speeds.limiting
    }

    #[test]
    fn a_thousandth_of_the_particles_may_be_faster_than_the_step_is_meant_for() {
        let close_to = |found: f64, wanted: f64| {
            assert!((wanted - 1e-6..1.02 * wanted).contains(&found), "{found}");
        };
        close_to(limiting(50_000, 40, 2.0), 1.0);
        close_to(limiting(50_000, 60, 2.0), 2.0);
        // By no more than this much.
        close_to(limiting(50_000, 40, 5.0), 2.0);
        // Of few particles none.
        close_to(limiting(900, 1, 2.0), 2.0);
    }

    #[test]
    fn a_velocity_that_is_no_number_is_seen() {
        let mut velocity = vec![[1.0, 0.0]; 20_000];
        velocity[12_345][1] = f32::NAN;
        assert!(Speeds::of(&velocity).fastest.is_nan());
        velocity[12_345][1] = f32::INFINITY;
        assert_eq!(Speeds::of(&velocity).fastest, f64::INFINITY);
        assert_eq!(Speeds::of::<2>(&[]).limiting, 0.0);
    }
}
