//! Whether a scene fits into this machine, asked before anything is allocated.

use crate::error::{Error, Kind};
use crate::scene::{Emitter, Scene};

/// Points along a side of the lattice on which the liquid is measured.
const LATTICE: usize = 48;
/// What a liquid cell takes at the peak of a step, its particles apart, in bytes: half of it for a deep liquid, a
/// third more for one that is spread out a few cells thin, by `cargo study step-speed`.
const PER_CELL: f64 = 1500.0;
/// What the tiles' map takes per cell of the domain, liquid or not: four bytes for every `8^D` cells.
const PER_TILE: f64 = 4.0;
const TILE_SIDE: f64 = 8.0;

/// Refuses a scene that needs more memory than the machine has left.
pub fn check<const D: usize>(scene: &Scene<D>) -> Result<(), Error> {
    let Some(available) = available() else {
        return Ok(());
    };
    let share = most_liquid(scene);
    let needed = estimate(scene, share);
    if needed <= available {
        return Ok(());
    }
    let mut smaller = scene.clone();
    while smaller.resolution > 1 && estimate(&smaller, share) > available {
        smaller.resolution -= smaller.resolution.div_ceil(50).min(smaller.resolution - 1);
    }
    Err(Error::new(
        Kind::Resources,
        format!(
            "scene {} at {} cells needs about {:.1} GB of memory, {:.1} GB are free",
            scene.name,
            scene.resolution,
            needed / 1e9,
            available / 1e9
        ),
    )
    .with_remedy(format!("--resolution {} fits", smaller.resolution)))
}

/// Bytes that a run takes, roughly.
fn estimate<const D: usize>(scene: &Scene<D>, liquid_share: f64) -> f64 {
    let cells: f64 = scene.cells().iter().map(|&n| n as f64).product();
    // Position, velocity and its gradient; a copy of one vector while they are sorted, place and order, radius.
    let per_particle = 4.0 * (2 * D + D * D + D + 3) as f64;
    let per_liquid_cell = PER_CELL + per_particle * scene.particles_per_cell as f64;
    cells * (liquid_share * per_liquid_cell + PER_TILE / TILE_SIDE.powi(D as i32))
}

/// The share of the domain that is liquid when it is most, roughly: what there is at the start and what emitters add, but no
/// more than has room. Where liquid can leave it is taken to do so once it has crossed the domain.
fn most_liquid<const D: usize>(scene: &Scene<D>) -> f64 {
    let (liquid, room) = shares(scene);
    let longest = scene.domain.iter().copied().fold(0.0, f64::max);
    let gravity = scene.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let end = scene.time_of_frame(scene.frames);
    let added = |emitter: &Emitter<D>| -> f64 {
        let Some(bounds) = emitter.shape.bounds() else {
            return 0.0;
        };
        let active = emitter.frames.seconds(scene.frame_rate);
        let mut seconds = (active.end.min(end) - active.start).max(0.0);
        if scene.has_a_way_out() {
            let crossing = longest / emitter.speed();
            let fall = (2.0 * longest / gravity.max(f64::MIN_POSITIVE)).sqrt();
            seconds = seconds.min(crossing.max(fall));
        }
        // Area of the box around the shape as seen along the velocity, times the speed.
        let flow: f64 = (0..D)
            .map(|a| {
                let others = (0..D).filter(|&b| b != a);
                let face: f64 = others.map(|b| bounds.high[b] - bounds.low[b]).product();
                emitter.velocity[a].abs() * face
            })
            .sum();
        flow * seconds
    };
    let emitted: f64 = scene.emitters.iter().map(added).sum();
    let domain: f64 = scene.domain.iter().product();
    (liquid + emitted / domain).min(room)
}

/// The shares of the domain that are liquid at the start, and that are not solid.
fn shares<const D: usize>(scene: &Scene<D>) -> (f64, f64) {
    let scenery = scene.scenery();
    let solids = scenery.during(0.0, 0.0);
    let points = LATTICE.pow(D as u32);
    let (mut liquid, mut room) = (0, 0);
    for point in 0..points {
        let x = std::array::from_fn(|axis| {
            let step = point / LATTICE.pow(axis as u32) % LATTICE;
            scene.domain[axis] * (step as f64 + 0.5) / LATTICE as f64
        });
        if solids.distance(x) > 0.0 {
            room += 1;
            liquid += usize::from(scene.liquid_distance(x) < 0.0);
        }
    }
    (liquid as f64 / points as f64, room as f64 / points as f64)
}

/// Bytes that the system can give without swapping, where it tells.
fn available() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{AnyScene, FrameRange, builtin};
    use meniscus_shapes::Shape;
    use std::f64::consts::PI;

    #[test]
    fn a_resolution_that_can_not_fit_is_refused_with_one_that_does() {
        let AnyScene::Three(mut scene) = builtin::named("dam-break").unwrap() else {
            panic!("the dam break is in space")
        };
        scene.resolution = 20_000;
        if available().is_none() {
            return;
        }
        let error = check(&scene).unwrap_err();
        assert_eq!(error.kind(), Kind::Resources);
        let remedy = error.remedy().unwrap();
        let fits = remedy
            .split_whitespace()
            .find_map(|word| word.parse::<usize>().ok())
            .unwrap();
        assert!((64..20_000).contains(&fits), "{remedy}");
        scene.resolution = 64;
        check(&scene).unwrap();
    }

    #[test]
    fn the_liquid_is_measured() {
        let AnyScene::Three(scene) = builtin::named("ceiling-ball").unwrap() else {
            panic!("the ball is in space")
        };
        let (share, room) = shares(&scene);
        assert_eq!(room, 1.0, "there are no solids");
        // A ball of radius 0.5 in a cube of side 2.
        let exact = PI / 6.0 / 8.0;
        assert!(
            (share - exact).abs() < 0.02 * exact,
            "{share} instead of {exact}"
        );
    }

    #[test]
    fn what_emitters_add_counts_until_the_domain_is_full_or_it_has_left() {
        let mut scene = Scene::<3>::new("filling", "a box is filled", [2.0, 1.0, 1.0], 32);
        scene.emitters.push(Emitter {
            name: "tap".into(),
            shape: Shape::Box {
                low: [0.5, 0.5, 0.8],
                high: [0.7, 0.6, 0.9],
            },
            velocity: [0.0, 0.0, -2.0],
            frames: FrameRange {
                from: 12,
                to: Some(36),
            },
        });
        // For a second, 0.02 square metres at 2 m/s, in 2 cubic metres.
        assert!((most_liquid(&scene) - 0.02).abs() < 1e-9);
        scene.frames = 24;
        assert!((most_liquid(&scene) - 0.01).abs() < 1e-9);
        scene.frames = 100_000;
        scene.emitters[0].frames.to = None;
        assert_eq!(most_liquid(&scene), 1.0);
        scene.open[2][0] = true;
        let share = most_liquid(&scene);
        assert!((0.01..0.05).contains(&share), "{share}");
    }
}
