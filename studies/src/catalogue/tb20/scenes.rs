//! Figures 15 to 17: a boat with boxes, 45 bodies in a pool, glass spheres.

use super::runs::{Figure, from_start};
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_coupled::Scheme;

/// Figures, with the seconds of a frame and the contacts of the paper.
const FIGURES: [(Figure, f64, Option<f64>); 3] = [
    (
        Figure {
            label: "Figure 15",
            scene: "boat",
            cells: 240,
        },
        242.0,
        Some(23.2),
    ),
    (
        Figure {
            label: "Figure 16",
            scene: "pool-45",
            cells: 225,
        },
        789.0,
        Some(105.9),
    ),
    (
        Figure {
            label: "Figure 17",
            scene: "glass-spheres",
            cells: 256,
        },
        81.0,
        None,
    ),
];
/// CPU seconds of a frame, as a share of the paper's wall time.
const MOST: f64 = 0.25;

/// The study.
pub struct Fig15To17;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along every side, as a share of the paper's
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    share: f64,
    /// Frames of each run
    #[arg(long, value_name = "N", default_value_t = 100)]
    frames: u32,
    /// CPU seconds of a run at most
    #[arg(long, value_name = "S", default_value_t = 7200.0)]
    limit: f64,
}

impl Study for Fig15To17 {
    const NAME: &'static str = "tb20-fig15-17";
    const SUMMARY: &'static str = "cost of the paper's boat, pool and glass spheres";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
        let mut table = Table::columns(
            "scene | cells | particles | frames | steps | CPU s a frame | of that pressure and contact | paper: s a frame | unknowns | \
             cycles a step | contacts | paper | end",
        );
        let mut targets = Vec::new();
        for (figure, seconds, contacts) in &FIGURES {
            let scene = figure.scene(options.share, Scheme::Unified)?;
            let sums = pool.install(|| from_start(&scene, options.frames, options.limit))?;
            table.push([
                format!("{} ({})", figure.label, figure.scene).into(),
                Cell::Whole(figure.cells_at(options.share).into()),
                Cell::Whole(sums.particles as u64),
                Cell::Whole(sums.frames.into()),
                Cell::Whole(sums.steps as u64),
                Cell::maybe(sums.a_frame(sums.total_cpu), 2),
                Cell::maybe(sums.a_frame(sums.cpu), 2),
                Cell::Number(*seconds, 0),
                Cell::maybe(sums.a_step(sums.unknowns), 0),
                Cell::maybe(sums.a_step(sums.cycles), 1),
                Cell::maybe(sums.a_step(sums.contacts), 1),
                Cell::maybe(*contacts, 1),
                sums.end.as_deref().unwrap_or("last frame").into(),
            ]);
            targets.push(Target::new(
                format!("{}: CPU s a frame at the paper's cells", figure.label),
                Bound::AtMost(MOST * seconds),
                "s",
                sums.a_frame(sums.total_cpu)
                    .filter(|_| options.share == 1.0),
                1,
            ));
        }
        let usual = options.share == 1.0 && options.frames == 100;
        let name = || format!("{}-{}-frames", options.share, options.frames);
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(name),
            setting: vec![
                format!(
                    "{} frames from the start, or {} CPU seconds, one thread, unified scheme; cells along every side are {} times the \
                     paper's, whose times are wall times of 8 threads.",
                    options.frames, options.limit, options.share
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("Runs", table.clone()),
            ],
            data: table,
        })
    }
}
