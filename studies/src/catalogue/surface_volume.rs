//! How well surfaces keep the volume of the particles.

use crate::prelude::*;
use meniscus_app::runner::Simulation;
use meniscus_app::runner::film::encoded;
use meniscus_app::surface::{self, Measures};
use meniscus_scene::text::{Override, load};
use meniscus_scene::{AnyScene, Scene, SurfaceSettings, SurfaceSource};
use meniscus_store::cache;

/// Largest difference from the volume of the particles, in per cent.
const MOST_ERROR: f64 = 5.0;
/// Largest change of volume from one frame to the next where no liquid enters or leaves, in per cent.
const MOST_CHANGE: f64 = 2.0;
/// Largest displacement to match the volume, in cells.
const MOST_OFFSET: f64 = 0.5;

/// The study.
pub struct SurfaceVolume;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Built-in scenes, or files
    #[arg(value_name = "SCENE", default_values_t = ["knot".to_string(), "dam-break".to_string()])]
    scenes: Vec<String>,
    /// Cells along the longest side of the domain [default: each scene's own]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(8..=512))]
    resolution: Option<u32>,
    /// Frames of each scene [default: each scene's own]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    frames: Option<u32>,
    /// What surfaces are made from
    #[arg(long, value_name = "SOURCE", default_value = "level-set")]
    from: SurfaceSource,
}

impl Study for SurfaceVolume {
    const NAME: &'static str = "surface-volume";
    const SUMMARY: &'static str =
        "how well surfaces keep the volume of the particles, frame by frame";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load_before = machine::load();
        let mut table = Table::columns(
            "scene | frame | particles | particle volume, l | surface volume, l | error, % | \
            change, % | offset, cells | thin, % | pieces | CPU s",
        );
        let mut targets = Vec::new();
        for name in &options.scenes {
            let mut changes = Vec::new();
            if let Some(resolution) = options.resolution {
                changes.push(Override::short(
                    "--resolution",
                    "domain.resolution",
                    resolution,
                ));
            }
            if let Some(frames) = options.frames {
                changes.push(Override::short("--frames", "time.frames", frames));
            }
            let (scene, _) = load(name, &changes, false)?.ready()?;
            let AnyScene::Three(scene) = scene else {
                return Err(Error::usage(format!("{name} is in the plane")));
            };
            let frames = measure(&scene, options.from)?;
            targets.extend(judge(&scene.name, &frames));
            for (number, frame) in (1..).zip(&frames) {
                table.push(row(&scene.name, number, frame));
            }
        }
        let variant = [
            options.resolution.map(|n| n.to_string()),
            (options.from != SurfaceSource::default()).then(|| options.from.to_string()),
        ];
        let variant: Vec<String> = variant.into_iter().flatten().collect();
        Ok(Findings {
            study: Self::NAME,
            variant: (!variant.is_empty()).then(|| variant.join("-")),
            setting: vec![
                format!(
                    "Surfaces from {} with the usual settings, of every frame. Their volume is by the divergence theorem; that of \
                     the particles is their number times the volume of each. The offset is the distance by which the whole \
                     surface was moved to match; thin is the part of the liquid in features thinner than about a cell. CPU \
                     seconds are those of making the surface from the particles.",
                    options.from
                ),
                machine::sentence(load_before),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("Frames", table.clone()),
            ],
            data: table,
        })
    }
}

/// A frame and its surface.
struct Measured {
    particles: usize,
    measures: Measures,
    /// Change of volume since the frame before, as a share; none if particles have come or gone.
    change: Option<f64>,
    cpu: f64,
}

fn measure(scene: &Scene<3>, source: SurfaceSource) -> Result<Vec<Measured>, Error> {
    let settings = SurfaceSettings {
        source,
        ..SurfaceSettings::default()
    };
    let mut all: Vec<Measured> = Vec::new();
    let mut simulation = Simulation::new(scene)?;
    for number in 1..=scene.frames {
        while simulation.frame() == number {
            let step = simulation.step(&mut ());
            step.map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
        }
        let frame = cache::decode::<3>(&encoded(scene, simulation.world(), number)?)
            .map_err(|e| Error::new(Kind::Storage, format!("a frame is damaged: {e}")))?;
        let start = Moment::now();
        let (_, measures) = surface::measured(scene, &frame, &settings)?;
        let cpu = Moment::now().since(&start).cpu;
        let particles = frame.positions().len();
        let before = all.last().filter(|before| before.particles == particles);
        all.push(Measured {
            particles,
            measures,
            change: before.map(|before| measures.volume / before.measures.volume - 1.0),
            cpu,
        });
    }
    Ok(all)
}

/// The targets for the frames of a scene.
fn judge(scene: &str, frames: &[Measured]) -> Vec<Target> {
    let liquid = || frames.iter().filter(|f| f.particles > 0);
    let most = |values: &mut dyn Iterator<Item = f64>| values.map(f64::abs).reduce(f64::max);
    let target = |what: &str, bound, unit, measured, decimals| {
        Target::new(
            format!("{scene}: {what}"),
            Bound::AtMost(bound),
            unit,
            measured,
            decimals,
        )
    };
    vec![
        target(
            "volume of the surface, off that of the particles",
            MOST_ERROR,
            "%",
            most(&mut liquid().map(|f| 100.0 * f.measures.error())),
            2,
        ),
        target(
            "change of volume from frame to frame",
            MOST_CHANGE,
            "%",
            most(&mut liquid().filter_map(|f| Some(100.0 * f.change?))),
            2,
        ),
        target(
            "displacement to match the volume",
            MOST_OFFSET,
            "cells",
            most(&mut liquid().map(|f| f.measures.offset)),
            3,
        ),
    ]
}

fn row(scene: &str, number: u32, frame: &Measured) -> [Cell; 11] {
    let measures = &frame.measures;
    [
        scene.into(),
        Cell::Whole(number.into()),
        Cell::Whole(frame.particles as u64),
        Cell::Number(1e3 * measures.particle_volume, 3),
        Cell::Number(1e3 * measures.volume, 3),
        Cell::maybe((frame.particles > 0).then(|| 100.0 * measures.error()), 2),
        Cell::maybe(frame.change.map(|c| 100.0 * c), 2),
        Cell::Number(measures.offset, 3),
        Cell::maybe(measures.thin_share().map(|s| 100.0 * s), 1),
        Cell::Whole(measures.pieces),
        Cell::Number(frame.cpu, 3),
    ]
}
