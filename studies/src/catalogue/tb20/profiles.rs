//! Figure 12: time of pressure and contact, frame by frame, by scheme.

use super::runs::{COMPARED, INVISCID, from_start, paper_name};
use crate::prelude::*;
use crate::walls::one_thread;

/// The study.
pub struct Fig12;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along every side, as a share of the paper's
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    share: f64,
    /// Frames of each run
    #[arg(long, value_name = "N", default_value_t = 200)]
    frames: u32,
    /// CPU seconds of a run at most
    #[arg(long, value_name = "S", default_value_t = 3600.0)]
    limit: f64,
}

impl Study for Fig12 {
    const NAME: &'static str = "tb20-fig12";
    const SUMMARY: &'static str = "time of pressure and contact, frame by frame, by scheme";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
        let mut data = Table::columns("scene | scheme | frame | CPU s");
        let mut ends = Table::columns("scene | scheme | frames | mean CPU s a frame | end");
        let mut pictures = Vec::new();
        for (figure, name) in COMPARED.iter().zip(["fig2", "fig3"]) {
            let mut series = Vec::new();
            for scheme in INVISCID {
                let scene = figure.scene(options.share, scheme)?;
                let sums = pool.install(|| from_start(&scene, options.frames, options.limit))?;
                for &(frame, cpu) in &sums.profile {
                    data.push([
                        figure.label.into(),
                        paper_name(scheme).into(),
                        Cell::Whole(frame.into()),
                        Cell::Number(cpu, 4),
                    ]);
                }
                ends.push([
                    figure.label.into(),
                    paper_name(scheme).into(),
                    Cell::Whole(sums.frames.into()),
                    Cell::maybe(sums.a_frame(sums.cpu), 3),
                    sums.end.as_deref().unwrap_or("last frame").into(),
                ]);
                series.push(Series {
                    name: paper_name(scheme).into(),
                    points: (sums.profile.iter())
                        .map(|&(frame, cpu)| (f64::from(frame), cpu.max(1e-4)))
                        .collect(),
                });
            }
            let chart = Chart {
                title: format!("{}: pressure and contact", figure.label),
                x: Axis::linear("frame"),
                y: Axis::logarithmic("CPU s"),
                series,
            };
            pictures.push(Picture::chart(name, &chart));
        }
        let usual = options.share == 1.0 && options.frames == 200;
        let name = || format!("{}-{}-frames", options.share, options.frames);
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(name),
            setting: vec![
                format!(
                    "Every scheme from the start, {} frames or {} CPU seconds, one thread; cells along every side are {} times the \
                     paper's. In the paper unified takes as long as P-C and C-P, and a tenth of iterative.",
                    options.frames, options.limit, options.share
                ),
                machine::sentence(load),
            ],
            pictures,
            sections: vec![Section::table("Runs", ends)],
            data,
        })
    }
}
