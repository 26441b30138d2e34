//! Tables 2 and 3: cost of the schemes for viscous liquid, with the profiles of figures 13 and 14.

use super::runs::{Figure, from_start, paper_name};
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_coupled::Scheme;

/// What the paper has of a run: seconds per frame, rounds, iterations of the whole solve, pressures, stresses, contacts. Iterations
/// of three solves in turn are their sum.
struct PaperRun(Scheme, f64, Option<f64>, f64, f64, f64, f64);

const TABLE2: [(Figure, &[PaperRun]); 2] = [
    (
        Figure {
            label: "Figure 4",
            scene: "wall-splat",
            cells: 128,
        },
        &[
            PaperRun(
                Scheme::PressureViscosityPressure,
                194.84,
                None,
                440.6,
                95.6e3,
                474.3e3,
                1.8,
            ),
            PaperRun(Scheme::Unified, 344.57, None, 942.0, 90.7e3, 451.8e3, 3.1),
        ],
    ),
    (
        Figure {
            label: "Figure 5",
            scene: "hemisphere",
            cells: 128,
        },
        &[
            PaperRun(
                Scheme::PressureViscosityPressure,
                304.84,
                None,
                2061.1,
                109.5e3,
                530.9e3,
                0.0,
            ),
            PaperRun(Scheme::Unified, 474.95, None, 1990.4, 107.0e3, 522.7e3, 0.0),
        ],
    ),
];
const TABLE3: [(Figure, &[PaperRun]); 2] = [
    (
        Figure {
            label: "Figure 6",
            scene: "goo-bowl",
            cells: 128,
        },
        &[
            PaperRun(
                Scheme::ViscousContact,
                95.66,
                None,
                702.5,
                21.0e3,
                97.6e3,
                4.0,
            ),
            PaperRun(
                Scheme::ContactViscous,
                382.83,
                None,
                747.2,
                118.2e3,
                568.6e3,
                1.9,
            ),
            PaperRun(
                Scheme::Iterative,
                719.49,
                Some(7.0),
                955.2,
                84.1e3,
                413.1e3,
                4.0,
            ),
            PaperRun(Scheme::Unified, 103.3, None, 183.7, 84.0e3, 413.4e3, 4.0),
        ],
    ),
    (
        Figure {
            label: "Figure 7",
            scene: "goo-pool",
            cells: 64,
        },
        &[
            PaperRun(
                Scheme::ViscousContact,
                338.09,
                None,
                5128.2,
                50.7e3,
                237.4e3,
                72.8,
            ),
            PaperRun(
                Scheme::ContactViscous,
                735.57,
                None,
                7382.5,
                55.8e3,
                262.8e3,
                68.8,
            ),
            PaperRun(
                Scheme::Iterative,
                3838.82,
                Some(9.0),
                895.5,
                53.5e3,
                252.0e3,
                22.3,
            ),
            PaperRun(
                Scheme::Unified,
                1177.49,
                None,
                4336.7,
                55.5e3,
                261.6e3,
                72.4,
            ),
        ],
    ),
];
/// CPU seconds of a frame by the unified scheme, as a share of the paper's wall time.
const MOST: f64 = 0.05;

/// The study of Table 2.
pub struct Table2;

/// The study of Table 3.
pub struct Table3;

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
    #[arg(long, value_name = "S", default_value_t = 3600.0)]
    limit: f64,
}

impl Study for Table2 {
    const NAME: &'static str = "tb20-table2";
    const SUMMARY: &'static str = "viscous liquid at once and in turn: cost beside the paper";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        compare(Self::NAME, &TABLE2, options)
    }
}

impl Study for Table3 {
    const NAME: &'static str = "tb20-table3";
    const SUMMARY: &'static str = "bowls and viscous liquid by four schemes: cost beside the paper";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        compare(Self::NAME, &TABLE3, options)
    }
}

fn compare(
    study: &'static str,
    figures: &[(Figure, &[PaperRun])],
    options: &Options,
) -> Result<Findings, Error> {
    let load = machine::load();
    let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
    let mut table = Table::columns(
        "scene | cells | particles | scheme | frames | CPU s a frame | paper: s a frame | rounds | paper: rounds | iterations a step | paper: iterations | \
         unknowns | paper: pressures | paper: stresses | contacts | paper: contacts | end",
    );
    let (mut targets, mut pictures) = (Vec::new(), Vec::new());
    for (figure, runs) in figures {
        let mut series = Vec::new();
        for PaperRun(scheme, seconds, rounds, iterations, pressures, stresses, contacts) in *runs {
            let scene = figure.scene(options.share, *scheme)?;
            let sums = pool.install(|| from_start(&scene, options.frames, options.limit))?;
            let a_frame = sums.a_frame(sums.cpu);
            table.push([
                figure.label.into(),
                Cell::Whole(figure.cells_at(options.share).into()),
                Cell::Whole(sums.particles as u64),
                paper_name(*scheme).into(),
                Cell::Whole(sums.frames.into()),
                Cell::maybe(a_frame, 2),
                Cell::Number(*seconds, 2),
                Cell::maybe(sums.a_step(sums.rounds), 1),
                Cell::maybe(*rounds, 1),
                Cell::maybe(sums.a_step(sums.cycles), 1),
                Cell::Number(*iterations, 1),
                Cell::maybe(sums.a_step(sums.unknowns), 0),
                Cell::Number(*pressures, 0),
                Cell::Number(*stresses, 0),
                Cell::maybe(sums.a_step(sums.contacts), 1),
                Cell::Number(*contacts, 1),
                sums.end.as_deref().unwrap_or("last frame").into(),
            ]);
            if *scheme == Scheme::Unified {
                targets.push(Target::new(
                    format!("{}: CPU s a frame, unified, paper's cells", figure.label),
                    Bound::AtMost(MOST * seconds),
                    "s",
                    a_frame.filter(|_| options.share == 1.0),
                    2,
                ));
            }
            series.push(Series {
                name: paper_name(*scheme).into(),
                points: (sums.profile.iter())
                    .map(|&(frame, cpu)| (f64::from(frame), cpu.max(1e-4)))
                    .collect(),
            });
        }
        let chart = Chart {
            title: format!("{}: pressure, viscosity and contact", figure.label),
            x: Axis::linear("frame"),
            y: Axis::logarithmic("CPU s"),
            series,
        };
        pictures.push(Picture::chart(figure.scene, &chart));
    }
    let usual = options.share == 1.0 && options.frames == 100;
    let name = || format!("{}-{}-frames", options.share, options.frames);
    Ok(Findings {
        study,
        variant: (!usual).then(name),
        setting: vec![
            format!(
                "Every scheme from the start, {} frames or {} CPU seconds, one thread; cells along every side are {} times the paper's. \
                 Times are CPU seconds of the phase of pressure, viscosity and contact, which the paper gives as wall time of 8 to 16 threads. \
                 Unknowns here are velocities and pressures, the paper's are pressures and stresses; its iterations of solves in turn are \
                 added up.",
                options.frames, options.limit, options.share
            ),
            machine::sentence(load),
        ],
        pictures,
        sections: vec![
            target::section(Vec::new(), &targets),
            Section::table("Runs", table.clone()),
        ],
        data: table,
    })
}
