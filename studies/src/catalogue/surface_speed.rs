//! Cost of the surface of a frame relative to its simulation.

use crate::prelude::*;
use meniscus_app::runner::Simulation;
use meniscus_app::runner::film::encoded;
use meniscus_app::surface::SurfaceEncoder;
use meniscus_scene::text::{Override, load};
use meniscus_scene::{AnyScene, Scene, SurfaceSettings, SurfaceSource};
use meniscus_store::atomic_file;
use meniscus_store::cache;

/// CPU time of surfacing and writing a frame, as a share of that of simulating it.
const MOST_SHARE: f64 = 1.0;

/// The study.
pub struct SurfaceSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along the channel of the dam break; 150 have half a million particles
    #[arg(long, value_name = "N", default_value_t = 150, value_parser = value_parser!(u32).range(16..=512))]
    resolution: u32,
    /// Frames, the last two of which are measured
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u32).range(2..=1000))]
    frames: u32,
}

impl Study for SurfaceSpeed {
    const NAME: &'static str = "surface-speed";
    const SUMMARY: &'static str = "what the surface of a frame costs beside simulating it";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load_before = machine::load();
        let changes = [
            Override::short("--resolution", "domain.resolution", options.resolution),
            Override::short("--frames", "time.frames", options.frames),
        ];
        let (scene, _) = load("dam-break", &changes, false)?.ready()?;
        let AnyScene::Three(scene) = scene else {
            return Err(Error::usage("the dam break is in space"));
        };
        let measured = measure(&scene, options.frames)?;
        let mut table =
            Table::columns("made from | vertices | kB | CPU s a frame | of simulating it");
        let targets: Vec<Target> = measured
            .surfaces
            .iter()
            .map(|one| {
                let share = one.cpu / measured.simulation;
                table.push([
                    one.source.to_string().as_str().into(),
                    Cell::maybe(Some(one.vertices as f64), 0),
                    Cell::maybe(Some(one.bytes as f64 / 1e3), 0),
                    Cell::maybe(Some(one.cpu), 3),
                    Cell::maybe(Some(share), 3),
                ]);
                Target::new(
                    format!(
                        "surface and file of a frame from {}, of simulating it",
                        one.source
                    ),
                    Bound::AtMost(MOST_SHARE),
                    "",
                    Some(share),
                    3,
                )
            })
            .collect();
        Ok(Findings {
            study: Self::NAME,
            variant: None,
            setting: vec![
                format!(
                    "The dam break at {} cells, {} particles. Simulating its last two frames took {:.2} CPU seconds a \
                     frame; their surfaces are made and written with the usual settings, in the same process.",
                    options.resolution, measured.particles, measured.simulation
                ),
                machine::sentence(load_before),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("Surfaces", table.clone()),
            ],
            data: table,
        })
    }
}

struct Measured {
    particles: usize,
    /// CPU seconds a frame.
    simulation: f64,
    surfaces: Vec<Made>,
}

/// Surfaces from one source.
struct Made {
    source: SurfaceSource,
    vertices: u64,
    bytes: u64,
    /// CPU seconds a frame.
    cpu: f64,
}

fn measure(scene: &Scene<3>, frames: u32) -> Result<Measured, Error> {
    const SAMPLES: u32 = 2;
    let sources = [SurfaceSource::LevelSet, SurfaceSource::Particles];
    let mut measured = Measured {
        particles: 0,
        simulation: 0.0,
        surfaces: Vec::new(),
    };
    measured.surfaces.extend(sources.map(|source| Made {
        source,
        vertices: 0,
        bytes: 0,
        cpu: 0.0,
    }));
    let mut simulation = Simulation::new(scene)?;
    for frame in 1..=frames {
        let start = Moment::now();
        while simulation.frame() == frame {
            let step = simulation.step(&mut ());
            step.map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
        }
        if frame + SAMPLES <= frames {
            continue;
        }
        measured.simulation += Moment::now().since(&start).cpu / f64::from(SAMPLES);
        measured.particles = simulation.world().cost().points;
        let bytes = encoded(scene, simulation.world(), frame)?;
        for one in &mut measured.surfaces {
            let settings = SurfaceSettings {
                source: one.source,
                ..SurfaceSettings::default()
            };
            surface(scene, &bytes, settings, one, 1.0 / f64::from(SAMPLES))?;
        }
    }
    Ok(measured)
}

/// Makes a surface from the bytes of its frame's file and writes it, as `meniscus mesh` does.
fn surface(
    scene: &Scene<3>,
    particles: &[u8],
    settings: SurfaceSettings,
    made: &mut Made,
    share: f64,
) -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("meniscus-surface-speed-{}", std::process::id()));
    let start = Moment::now();
    let frame = cache::decode::<3>(particles)
        .map_err(|e| Error::new(Kind::Storage, format!("a frame is damaged: {e}")))?;
    let (bytes, _) = SurfaceEncoder::new(scene, "", settings).file(particles, &frame)?;
    let written = atomic_file::write(&path, &bytes);
    made.cpu += share * Moment::now().since(&start).cpu;
    made.bytes = bytes.len() as u64;
    made.vertices = meniscus_app::surface::file::decode(&bytes)
        .map_or(0, |sealed| sealed.surface.positions.len() as u64);
    // What is left of it is no result.
    let _ = std::fs::remove_file(&path);
    written
}
