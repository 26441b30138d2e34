//! Resource estimates of a scene, before anything is allocated.

mod forecast;

pub use forecast::{Forecast, FrameForecast};

use super::film;
use meniscus_liquid::Gradient;
use meniscus_scene::{AnyScene, Scene, meshes};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::{bytes, count};
use serde::Serialize;

/// Bytes per liquid cell at the peak of a step, without its particles: half as much in a deep liquid, a third more
/// in one that splashes throughout its domain.
const PER_CELL: f64 = 2400.0;
/// Upper bound on the same.
const MOST_PER_CELL: f64 = 5500.0;
/// The part of these that the pressure problem takes, and an upper bound on it.
const PER_ROW: f64 = 700.0;
const MOST_PER_ROW: f64 = 1500.0;
/// Bytes per cell of the tiles around the liquid, full or not, and an upper bound.
const PER_GRID_CELL: f64 = 110.0;
const MOST_PER_GRID_CELL: f64 = 150.0;
/// Fraction of all tiles that little liquid reaches when it splashes.
const SPLASHED: f64 = 0.5;
/// Cells of tiles per cell of liquid in such a splash, at most.
const MOST_SPLASHED: f64 = 100.0;
/// Bytes of the tile map per `8^D` cells of the domain, liquid or not.
const PER_TILE: f64 = 4.0;
const TILE_SIDE: f64 = 8.0;
/// Bytes of the program with its libraries.
const PROGRAM: f64 = 12e6;
/// Bytes per thread: stack and scratch memory.
const PER_THREAD: f64 = 1.5e6;
/// Bytes per pixel while a preview image is rendered, in 2D and 3D.
const PER_PIXEL: [f64; 2] = [35.0, 128.0];
/// Bytes per pixel of the preview, which is kept until the run ends.
const PER_KEPT_PIXEL: f64 = 0.35;
/// Bytes per triangle of a mesh with its search tree.
const PER_TRIANGLE: f64 = 300.0;
/// Safety factor on everything except the liquid.
const MARGIN: f64 = 1.3;
/// Upper bound on the number of seeded particles, as a multiple of the expected number.
const MOST_SEEDED: f64 = 1.1;
/// Speed-up by a second thread, as a fraction of the first.
const SECOND_THREAD: f64 = 0.7;
/// Bytes per particle in a frame.
const PER_KEPT_PARTICLE: f64 = 11.0;

/// Resource estimate of a scene.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Cells along each side of the domain.
    pub cells: Vec<usize>,
    /// Largest number of liquid cells.
    pub liquid_cells: u64,
    /// Largest number of particles.
    pub particles: u64,
    /// Upper bound on the number of particles.
    pub particles_most: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Upper bound on the bytes of memory.
    pub memory_most: u64,
    /// Bytes of available memory, if known.
    pub memory_free: Option<u64>,
    /// Bytes on disk.
    pub disk: u64,
    /// Number of steps.
    pub steps: u64,
    /// CPU seconds.
    pub cpu_seconds: f64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Number of threads.
    pub threads: usize,
}

/// Estimate of a scene.
pub fn of(scene: &AnyScene, threads: Option<usize>) -> Estimate {
    let threads = threads.unwrap_or_else(cores).max(1);
    match scene {
        AnyScene::Two(scene) => estimate(scene, threads),
        AnyScene::Three(scene) => estimate(scene, threads),
    }
}

/// Forecast of a scene of either dimension.
pub fn forecast(scene: &AnyScene) -> Forecast {
    match scene {
        AnyScene::Two(scene) => Forecast::of(scene),
        AnyScene::Three(scene) => Forecast::of(scene),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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

/// Refuses a scene that needs more memory than is available, or than the limit.
pub fn check<const D: usize>(scene: &Scene<D>, limit: Option<u64>) -> Result<(), Error> {
    let Some(allowed) = limit.or_else(available) else {
        return Ok(());
    };
    let forecast = Forecast::of(scene);
    let threads = rayon::current_num_threads();
    let memory = |scene: &Scene<D>| memory(scene, &forecast, threads);
    let needed = memory(scene);
    if needed <= allowed as f64 {
        return Ok(());
    }
    let mut smaller = scene.clone();
    while smaller.resolution > 1 && memory(&smaller) > allowed as f64 {
        smaller.resolution -= smaller.resolution.div_ceil(50).min(smaller.resolution - 1);
    }
    let whose = if limit.is_some() {
        "the limit is"
    } else {
        "available are"
    };
    let what = format!(
        "scene {} at {} needs about {} of memory, {whose} {}",
        scene.name,
        count(scene.resolution, "cell"),
        bytes(needed as u64),
        bytes(allowed)
    );
    let remedy = if memory(&smaller) <= allowed as f64 {
        format!("--resolution {} fits", smaller.resolution)
    } else {
        format!(
            "no resolution fits: {} are needed by the program, its threads, the preview (output.preview, output.preview_side) and meshes",
            bytes(fixed_memory(scene, threads) as u64)
        )
    };
    Err(Error::new(Kind::Resources, what).with_remedy(remedy))
}

fn estimate<const D: usize>(scene: &Scene<D>, threads: usize) -> Estimate {
    let forecast = Forecast::of(scene);
    let volume = forecast.volume();
    let cell = scene.dx().powi(D as i32);
    let liquid_cells = volume / cell;
    let particles = liquid_cells * scene.physics.particles_per_cell as f64;
    let most = MOST_SEEDED * forecast.most_volume / cell * scene.physics.particles_per_cell as f64;
    let steps = forecast.steps();
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
    let work = forecast.seconds();
    Estimate {
        cells: scene.cells().to_vec(),
        liquid_cells: liquid_cells.ceil() as u64,
        particles: particles.ceil() as u64,
        particles_most: most.ceil() as u64,
        memory: memory(scene, &forecast, threads).ceil() as u64,
        memory_most: most_memory(scene, forecast.most_volume, threads).ceil() as u64,
        memory_free: available(),
        disk: (particles * (kept * PER_KEPT_PARTICLE + states * per_state)
            + steps * 1000.0
            + pictures(scene) * 2e4) as u64,
        steps: steps.ceil() as u64,
        cpu_seconds: work,
        seconds: work / (1.0 + SECOND_THREAD * (threads - 1) as f64),
        threads,
    }
}

/// Number of preview images, that of frame 0 included.
fn pictures<const D: usize>(scene: &Scene<D>) -> f64 {
    match scene.output.preview {
        true => {
            f64::from(scene.frames / film::frames_per_picture(scene.frames, scene.frame_rate)) + 1.0
        }
        false => 0.0,
    }
}

/// Bytes of memory of a run.
///
/// In a pool the cells of tiles are in proportion to those of the liquid; a little liquid that splashes reaches tiles all over
/// its domain.
fn memory<const D: usize>(scene: &Scene<D>, forecast: &Forecast, threads: usize) -> f64 {
    let cells: f64 = scene.cells().iter().map(|&n| n as f64).product();
    let liquid = (forecast.volume() / scene.dx().powi(D as i32)).min(cells);
    let splashed = match forecast.falls {
        true => (SPLASHED * grid_cells(scene)).min(MOST_SPLASHED * liquid),
        false => 0.0,
    };
    let of_grid = (PER_CELL * liquid).max(PER_ROW * liquid + PER_GRID_CELL * splashed);
    let of_particles = liquid * scene.physics.particles_per_cell as f64 * particle_bytes::<D>();
    of_grid + of_particles + fixed_memory(scene, threads)
}

/// Upper bound on the bytes of memory of a run, with the largest possible amount of liquid.
fn most_memory<const D: usize>(scene: &Scene<D>, most_volume: f64, threads: usize) -> f64 {
    let liquid = MOST_SEEDED * most_volume / scene.dx().powi(D as i32);
    let particles = liquid * scene.physics.particles_per_cell as f64;
    // A particle reaches the tiles that meet at a corner.
    let reached = (2.0 * TILE_SIDE).powi(D as i32) * particles;
    let of_tiles = MOST_PER_GRID_CELL * grid_cells(scene).min(reached);
    let of_grid = (MOST_PER_CELL * liquid).max(MOST_PER_ROW * liquid + of_tiles);
    of_grid + MARGIN * (particles * particle_bytes::<D>() + fixed_memory(scene, threads))
}

/// Cells of all tiles that there may be: the domain's, and half a tile around it.
fn grid_cells<const D: usize>(scene: &Scene<D>) -> f64 {
    let along = |&cells: &usize| (cells as f64 / TILE_SIDE).ceil() * TILE_SIDE + TILE_SIDE;
    scene.cells().iter().map(along).product()
}

/// Bytes per particle: position, velocity and its gradient; a copy of one vector during sorting, position and order,
/// radius.
fn particle_bytes<const D: usize>() -> f64 {
    (4 * (2 * D + D + 3) + size_of::<Gradient<D>>()) as f64
}

/// Bytes that do not depend on the liquid: program, threads, preview, meshes, tile map.
fn fixed_memory<const D: usize>(scene: &Scene<D>, threads: usize) -> f64 {
    let cells: f64 = scene.cells().iter().map(|&n| n as f64).product();
    let pixels = match scene.output.preview {
        true => f64::from(scene.output.preview_side).powi(2),
        false => 0.0,
    };
    PROGRAM
        + PER_THREAD * threads as f64
        + pixels * (PER_PIXEL[D - 2] + PER_KEPT_PIXEL * pictures(scene))
        + PER_TRIANGLE * meshes::triangles(scene) as f64
        + cells * PER_TILE / TILE_SIDE.powi(D as i32)
}

/// Bytes that the system can provide without swapping, if known.
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
    use meniscus_scene::builtin;
    use meniscus_shapes::{Shape, TriangleMesh};

    fn dam_break(resolution: usize) -> Scene<3> {
        let AnyScene::Three(mut scene) = builtin::named("dam-break").unwrap() else {
            panic!("the dam break is 3D")
        };
        scene.resolution = resolution;
        scene
    }

    #[test]
    fn a_resolution_that_does_not_fit_is_refused_with_one_that_does() {
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

    /// Measured costs of `meniscus run` with two threads: peak memory in MB, CPU seconds, steps and particles.
    struct Measured {
        scene: &'static str,
        memory: f64,
        cpu: f64,
        steps: f64,
        particles: f64,
    }

    #[test]
    fn estimates_are_within_their_factors_of_recorded_measurements() {
        let measured = [
            Measured {
                scene: "dam-break",
                memory: 53.2,
                cpu: 11.0,
                steps: 251.0,
                particles: 39_016.0,
            },
            Measured {
                scene: "knot",
                memory: 112.9,
                cpu: 85.8,
                steps: 483.0,
                particles: 152_917.0,
            },
        ];
        for run in measured {
            let scene = builtin::named(run.scene).unwrap();
            let found = of(&scene, Some(2));
            let within = |estimate: f64, actual: f64, factor: f64| {
                (actual / factor..actual * factor).contains(&estimate)
            };
            let name = run.scene;
            assert!(
                within(found.memory as f64 / 1e6, run.memory, 1.5),
                "{name}: {found:?}"
            );
            assert!(within(found.cpu_seconds, run.cpu, 2.0), "{name}: {found:?}");
            assert!(
                within(found.steps as f64, run.steps, 2.0),
                "{name}: {found:?}"
            );
            assert!(
                within(found.particles as f64, run.particles, 1.05),
                "{name}: {found:?}"
            );
            assert!(
                found.memory_most as f64 / 1e6 > run.memory,
                "{name}: {found:?}"
            );
            assert!(
                found.particles_most as f64 > run.particles,
                "{name}: {found:?}"
            );
        }
    }

    #[test]
    fn a_glass_under_a_tap_retains_its_inflow_whichever_sides_are_open() {
        let text = "[domain]\nsize = [0.16, 0.16, 0.24]\nresolution = 80\n\
            open = [\"left\", \"right\", \"front\", \"back\"]\n[time]\nframes = 96\n\
            [[emitter]]\nshape = { cylinder = { from = [0.08, 0.08, 0.21], to = [0.08, 0.08, 0.23], radius = 0.008 } }\n\
            velocity = [0, 0, -0.8]\nto_frame = 72\n\
            [[solid]]\nshape = { difference = [\n\
            { cone = { from = [0.08, 0.08, 0.01], to = [0.08, 0.08, 0.15], radius_from = 0.03, radius_to = 0.04 } },\n\
            { cone = { from = [0.08, 0.08, 0.018], to = [0.08, 0.08, 0.1501], radius_from = 0.028, radius_to = 0.038 } },\n] }\n";
        let (scene, _) = meniscus_scene::text::load_alone(text).ready().unwrap();
        let AnyScene::Three(scene) = scene else {
            panic!("the glass is 3D")
        };
        let forecast = Forecast::of(&scene);
        let inflow = std::f64::consts::PI * 0.008f64.powi(2) * 0.8 * 3.0;
        let (last, most) = (forecast.frames[95].volume, forecast.most_volume);
        assert!((most / inflow - 1.0).abs() < 0.05, "{most} of {inflow}");
        assert!((last / inflow - 1.0).abs() < 0.15, "{last} of {inflow}");
        // The liquid grows, and so does the time per frame.
        let half = forecast.frames[35].volume;
        assert!((half / last - 0.5).abs() < 0.1, "{half} of {last}");
        let even = 60.0 / 36.0 * 10.0;
        let left = forecast.left(0, 36, 10.0);
        assert!(
            left > 1.3 * even,
            "{left} s left, {even} s if frames were alike"
        );
        // Without the glass everything runs off.
        let mut floor = scene.clone();
        floor.solids.clear();
        let gone = Forecast::of(&floor).volume();
        assert!(gone < 0.3 * inflow, "{gone} of {inflow}");
    }

    /// Measured: a torus of 1.26 litres falls onto a scanned mesh with a surface of 0.158 square metres and splashes through
    /// the whole domain: 57 MB at most, 30 CPU seconds, 142 steps. A cube of the same area stands for the scan.
    #[test]
    fn a_splash_on_a_solid_mesh_is_estimated_within_its_factors() {
        let text = "[domain]\nsize = [0.5, 0.5, 0.5]\nresolution = 48\n[time]\nframes = 24\n\
            [[liquid]]\nshape = { cylinder = { from = [0.25, 0.25, 0.384], to = [0.25, 0.25, 0.416], radius = 0.112 } }\n\
            [[solid]]\nshape = { box = { low = [0.17, 0.17, 0.07], high = [0.33, 0.33, 0.23] } }\n";
        let (scene, _) = meniscus_scene::text::load_alone(text).ready().unwrap();
        let AnyScene::Three(mut scene) = scene else {
            panic!("the scan is 3D")
        };
        let half = (0.158f64 / 24.0).sqrt();
        let corner =
            |k: usize| std::array::from_fn(|a| half * if k >> a & 1 == 1 { 1.0 } else { -1.0 });
        let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
        let sides = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles: Vec<[u32; 3]> = sides
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect();
        let (mesh, _) = TriangleMesh::new(&corners, &triangles).unwrap();
        assert!((mesh.area() - 0.158).abs() < 1e-9);
        scene.solids[0].shape = Shape::Mesh(std::sync::Arc::new(mesh));
        let found = estimate(&scene, 2);
        let within = |estimate: f64, actual: f64, factor: f64| {
            (actual / factor..actual * factor).contains(&estimate)
        };
        assert!(within(found.memory as f64, 57e6, 1.5), "{found:?}");
        assert!(found.memory_most as f64 > 57e6, "{found:?}");
        assert!(within(found.cpu_seconds, 30.0, 2.0), "{found:?}");
    }

    #[test]
    fn still_water_needs_few_steps() {
        let text = "[domain]\nsize = [0.5, 0.5, 0.5]\nresolution = 32\n\
            [[liquid]]\nshape = { half_space = { point = [0, 0, 0.22], normal = [0, 0, 1] } }\n\
            [[solid]]\nshape = { sphere = { center = [0.25, 0.25, 0.25], radius = 0.22 }, inverted = true }\n";
        let (scene, _) = meniscus_scene::text::load_alone(text).ready().unwrap();
        let steps = of(&scene, Some(1)).steps;
        assert!((100..160).contains(&steps), "{steps} steps for 100 frames");
    }

    #[test]
    fn huge_resolutions_are_estimated_immediately() {
        let estimate = estimate(&dam_break(60_000), 2);
        assert!(estimate.memory > 1 << 40);
    }
}
