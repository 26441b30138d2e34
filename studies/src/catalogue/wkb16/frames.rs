//! Frames of the paper's scenes.

use super::runs::{SCENES, scene};
use crate::prelude::*;
use crate::stills::{picture_of_world, pictures_in_rows, png};
use meniscus_app::runner::Simulation;

/// Frames that are shown of every scene.
const SHOWN: [u32; 4] = [8, 20, 36, 60];

/// The study.
pub struct Frames;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Particles, as a share of the paper's
    #[arg(long, value_name = "X", default_value_t = 0.25)]
    share: f64,
    /// Pixels along a side of one picture
    #[arg(long, value_name = "N", default_value_t = 240, value_parser = value_parser!(u16).range(16..=1080))]
    side: u16,
}

impl Study for Frames {
    const NAME: &'static str = "wkb16-frames";
    const SUMMARY: &'static str = "frames of figures 1 to 4, by the default method";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let mut rows = Vec::new();
        let mut table = Table::columns("scene | particles | frames | steps");
        for paper in &SCENES {
            // The largest scene is shown with as many particles as the others.
            let particles = options.share * paper.particles.min(240_000.0);
            let scene = scene(paper.scene, particles, &[])?;
            let mut run = Simulation::new(&scene)?;
            let (mut stills, mut steps, mut count) = (Vec::new(), 0, 0.0);
            while stills.len() < SHOWN.len() && run.frame() <= scene.frames {
                let step = run
                    .step(&mut ())
                    .map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
                steps += 1;
                count = step.report.measure("particles").unwrap_or(0.0);
                if step.completes_frame && SHOWN.contains(&step.frame) {
                    let words = format!("{}, frame {}", paper.label, step.frame);
                    let side = options.side.into();
                    let world = run.world();
                    stills.push(picture_of_world(&scene, world, step.frame, side, &words)?);
                }
            }
            table.push([
                paper.label.into(),
                Cell::Number(count, 0),
                Cell::Whole(u64::from(run.frame() - 1)),
                Cell::Whole(steps),
            ]);
            rows.push(stills);
        }
        let usual = options.share == 0.25 && options.side == 240;
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{}-{}", options.share, options.side)),
            setting: vec![
                format!(
                    "Particles are {} times the paper's, and at most {} times 240,000; frames {SHOWN:?}.",
                    options.share, options.share
                ),
                machine::sentence(load),
            ],
            pictures: vec![Picture {
                name: "frames",
                caption: "the scenes of the paper".into(),
                content: Content::Png(png(&pictures_in_rows(&rows))?),
            }],
            sections: vec![Section::table("Runs", table.clone())],
            data: table,
        })
    }
}
