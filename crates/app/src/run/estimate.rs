//! What a scene will take, before anything is allocated.

use super::film;
use crate::error::{Error, Kind};
use crate::quantity::{bytes, count};
use crate::scene::{AnyScene, Scene, measure};
use meniscus_liquid::Gradient;
use serde::Serialize;

/// What a liquid cell takes at the peak of a step, its particles apart, in bytes: little more than half of it
/// for a deep liquid, all of it for one that is spread out a few cells thin, by `cargo study step-speed`.
const PER_CELL: f64 = 1250.0;
/// What the tiles' map takes per cell of the domain, liquid or not: four bytes for every `8^D` cells.
const PER_TILE: f64 = 4.0;
const TILE_SIDE: f64 = 8.0;
/// Seconds that a step takes for a particle, by `cargo study step-speed`, between a deep liquid and a thin one.
const PER_PARTICLE_STEP: f64 = 1.8e-6;
/// Seconds of CPU time that a picture of the preview takes.
const PER_PICTURE: f64 = 0.06;
/// What a second thread brings, as a share of the first.
const PER_THREAD: f64 = 0.7;
/// Bytes of a particle in a frame.
const PER_KEPT_PARTICLE: f64 = 11.0;

/// What a scene will take, roughly.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Cells along each side of the domain.
    pub cells: Vec<usize>,
    /// Cells that are liquid, at the most.
    pub liquid_cells: u64,
    /// Particles, at the most.
    pub particles: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory that the machine has left, where it tells.
    pub memory_free: Option<u64>,
    /// Bytes on disk.
    pub disk: u64,
    /// Steps.
    pub steps: u64,
    /// Seconds by the clock on the wall.
    pub seconds: f64,
    /// With so many threads.
    pub threads: usize,
}

/// The estimate for a scene.
pub fn of(scene: &AnyScene, threads: Option<usize>) -> Estimate {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or(cores).max(1);
    match scene {
        AnyScene::Two(scene) => estimate(scene, threads),
        AnyScene::Three(scene) => estimate(scene, threads),
    }
}

/// As [`check`], for a scene of either dimension.
///
/// # Errors
/// As [`check`].
pub fn check_any(scene: &AnyScene, limit: Option<u64>) -> Result<(), Error> {
    match scene {
        AnyScene::Two(scene) => check(scene, limit),
        AnyScene::Three(scene) => check(scene, limit),
    }
}

/// Refuses a scene that needs more memory than there is, or than the limit.
pub fn check<const D: usize>(scene: &Scene<D>, limit: Option<u64>) -> Result<(), Error> {
    let Some(allowed) = limit.or_else(available) else {
        return Ok(());
    };
    let volume = largest_volume(scene);
    let needed = memory(scene, volume);
    if needed <= allowed as f64 {
        return Ok(());
    }
    let mut smaller = scene.clone();
    while smaller.resolution > 1 && memory(&smaller, volume) > allowed as f64 {
        smaller.resolution -= smaller.resolution.div_ceil(50).min(smaller.resolution - 1);
    }
    let whose = if limit.is_some() {
        "the limit is"
    } else {
        "free are"
    };
    let what = format!(
        "scene {} at {} needs about {} of memory, {whose} {}",
        scene.name,
        count(scene.resolution, "cell"),
        bytes(needed as u64),
        bytes(allowed)
    );
    Err(Error::new(Kind::Resources, what)
        .with_remedy(format!("--resolution {} fits", smaller.resolution)))
}

fn estimate<const D: usize>(scene: &Scene<D>, threads: usize) -> Estimate {
    let volume = largest_volume(scene);
    let liquid_cells = volume / scene.dx().powi(D as i32);
    let particles = liquid_cells * scene.particles_per_cell as f64;
    let steps = steps(scene);
    let frames = f64::from(scene.frames);
    let output = &scene.output;
    // Frame 0, the initial state, is one more.
    let kept = (frames / f64::from(output.particles_every)).floor() + 1.0;
    let milestones = match output.milestone_every {
        0 => 0.0,
        every => (frames / f64::from(every)).floor(),
    };
    let states = milestones + f64::from(output.keep_checkpoints);
    let per_state = (4 * 2 * D + Gradient::<D>::BYTES) as f64;
    let pictures = match output.preview {
        true => (frames / f64::from(film::frames_per_picture(scene.frame_rate))).floor() + 1.0,
        false => 0.0,
    };
    let work = particles * steps * PER_PARTICLE_STEP + pictures * PER_PICTURE;
    Estimate {
        cells: scene.cells().to_vec(),
        liquid_cells: liquid_cells.ceil() as u64,
        particles: particles.ceil() as u64,
        memory: memory(scene, volume).ceil() as u64,
        memory_free: available(),
        disk: (particles * (kept * PER_KEPT_PARTICLE + states * per_state)
            + steps * 1000.0
            + pictures * 2e4) as u64,
        steps: steps.ceil() as u64,
        seconds: work / (1.0 + PER_THREAD * (threads - 1) as f64),
        threads,
    }
}

/// Bytes that a run takes, roughly.
fn memory<const D: usize>(scene: &Scene<D>, liquid_volume: f64) -> f64 {
    let cells: f64 = scene.cells().iter().map(|&n| n as f64).product();
    let liquid = (liquid_volume / scene.dx().powi(D as i32)).min(cells);
    // Position, velocity and its gradient; a copy of one vector while they are sorted, place and order, radius.
    let per_particle = (4 * (2 * D + D + 3) + size_of::<Gradient<D>>()) as f64;
    let per_liquid_cell = PER_CELL + per_particle * scene.particles_per_cell as f64;
    liquid * per_liquid_cell + cells * PER_TILE / TILE_SIDE.powi(D as i32)
}

/// The most liquid there can be: what is there at the start and all that comes in.
fn largest_volume<const D: usize>(scene: &Scene<D>) -> f64 {
    let whole: f64 = scene.domain.iter().product();
    (measure::liquid_volume(scene) + measure::emitted_volume(scene)).min(whole)
}

/// Steps to the last frame, at the speed of a fall through the whole scene.
fn steps<const D: usize>(scene: &Scene<D>) -> f64 {
    let square = |v: &[f64; D]| v.iter().map(|c| c * c).sum::<f64>();
    let gravity = square(&scene.gravity).sqrt();
    let height = measure::highest_liquid(scene);
    let thrown = scene.liquids.iter().map(|volume| square(&volume.velocity));
    let emitted = scene.emitters.iter().map(|e| square(&e.velocity));
    let fastest = thrown.chain(emitted).fold(0.0, f64::max);
    let fall = (fastest + 2.0 * gravity * height).sqrt();
    let reach = scene.cfl * scene.dx();
    let speed = fall + (gravity * reach).sqrt();
    let frame = 1.0 / scene.frame_rate;
    let scenery = scene.scenery();
    let domain = meniscus_shapes::Bounds {
        low: [0.0; D],
        high: scene.domain,
    };
    (0..scene.frames)
        .map(|k| {
            let solids = scenery.max_speed(scene.time_of_frame(k), frame, &domain);
            let step = (reach / speed.max(solids)).min(scene.max_step).min(frame);
            (frame / step).ceil()
        })
        .sum()
}

/// Bytes that the system can give without swapping, where it tells.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::builtin;

    fn dam_break(resolution: usize) -> Scene<3> {
        let AnyScene::Three(mut scene) = builtin::named("dam-break").unwrap() else {
            panic!("the dam break is in space")
        };
        scene.resolution = resolution;
        scene
    }

    #[test]
    fn a_resolution_that_can_not_fit_is_refused_with_one_that_does() {
        let limit = Some(8 << 30);
        let error = check(&dam_break(20_000), limit).unwrap_err();
        assert_eq!(error.kind(), Kind::Resources);
        let remedy = error.remedy().unwrap();
        let fits = remedy
            .split_whitespace()
            .find_map(|word| word.parse::<usize>().ok())
            .unwrap();
        assert!((64..20_000).contains(&fits), "{remedy}");
        check(&dam_break(fits), limit).unwrap();
        check(&dam_break(64), limit).unwrap();
    }

    #[test]
    fn the_dam_break_takes_what_was_measured() {
        let estimate = estimate(&dam_break(128), 1);
        // Measured: 312,066 particles, 39,194 liquid cells, 62 MB, 120 steps for 24 frames.
        assert!((estimate.particles as f64 / 312_066.0 - 1.0).abs() < 0.05);
        assert!((estimate.memory as f64 / 62e6) < 2.0 && estimate.memory as f64 > 62e6);
        let steps = estimate.steps as f64 / 100.0;
        assert!((3.0..8.0).contains(&steps), "{steps} steps a frame");
    }

    #[test]
    fn absurd_resolutions_are_estimated_at_once() {
        let estimate = estimate(&dam_break(60_000), 2);
        assert!(estimate.memory > 1 << 40);
    }
}
