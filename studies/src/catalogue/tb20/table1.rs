//! Table 1: cost of the four schemes for pressure and contact.

use super::runs::{COMPARED, Figure, INVISCID, Sums, advance, paper_name};
use crate::prelude::*;
use crate::walls::one_thread;
use meniscus_app::runner::Simulation;
use meniscus_coupled::Scheme;
use std::fs;
use std::path::PathBuf;

/// States of a run by their frames.
type StoredStates = Vec<(u32, Vec<u8>)>;

/// States from which the other schemes start.
const STATES: u32 = 3;
/// How many times faster unified is than iterative in the paper, by figure.
const PAPER_GAIN: [f64; 2] = [10.0, 8.0];
/// CPU seconds of pressure and contact that a frame may take, by figure, at the paper's resolution.
const MOST_SECONDS: [f64; 2] = [3.0, 6.0];

/// Rows of the paper: total seconds per frame, rounds, iterations of the pressure and of both, unknowns, contacts.
type PaperRow = (
    f64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    f64,
    f64,
);
const PAPER: [[PaperRow; 4]; 2] = [
    [
        (5.43, None, Some(38.1), Some(3.3), None, 73_000.0, 2.4),
        (10.77, None, Some(68.8), Some(1.7), None, 143_600.0, 4.0),
        (
            115.87,
            Some(10.5),
            Some(71.6),
            Some(3.2),
            None,
            142_500.0,
            2.5,
        ),
        (11.59, None, None, None, Some(51.3), 142_500.0, 2.6),
    ],
    [
        (24.41, None, Some(161.6), Some(2.6), None, 357_000.0, 2.1),
        (37.82, None, Some(187.2), Some(4.7), None, 448_500.0, 4.2),
        (
            257.43,
            Some(21.5),
            Some(181.2),
            Some(2.6),
            None,
            417_800.0,
            3.3,
        ),
        (32.14, None, None, None, Some(108.1), 389_300.0, 2.3),
    ],
];

/// The study.
pub struct Table1;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along every side, as a share of the paper's
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    share: f64,
    /// Frames of the unified scheme [default: all of the scene]
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// Frames of the other schemes from each of three stored states
    #[arg(long, value_name = "N", default_value_t = 10)]
    window: u32,
    /// CPU seconds of a run at most
    #[arg(long, value_name = "S", default_value_t = 3600.0)]
    limit: f64,
    /// Folder in which states and finished runs are kept, so that an interrupted study continues
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
}

/// Where finished runs are kept.
struct Kept {
    folder: Option<PathBuf>,
    key: String,
}

impl Kept {
    fn path(&self, name: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.join(format!("{}-{name}", self.key)))
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)?).ok()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let Some(path) = self.path(name) else {
            return Ok(());
        };
        fs::write(&path, bytes)
            .map_err(|cause| Error::new(Kind::Resources, format!("{}: {cause}", path.display())))
    }

    fn sums(&self, scheme: Scheme) -> Option<Sums> {
        let text = String::from_utf8(self.read(scheme.word())?).ok()?;
        let mut lines = text.lines();
        let numbers: Vec<f64> = lines
            .next()?
            .split(' ')
            .map_while(|n| n.parse().ok())
            .collect();
        let &[
            frames,
            steps,
            cpu,
            total_cpu,
            cycles,
            solves,
            rounds,
            contacts,
            unknowns,
            particles,
        ] = numbers.as_slice()
        else {
            return None;
        };
        Some(Sums {
            frames: frames as u32,
            steps: steps as usize,
            cpu,
            total_cpu,
            cycles,
            solves,
            rounds,
            contacts,
            unknowns,
            particles: particles as usize,
            end: lines.next().map(Into::into),
            profile: Vec::new(),
        })
    }

    fn keep(&self, scheme: Scheme, sums: &Sums) -> Result<(), Error> {
        let numbers = [
            f64::from(sums.frames),
            sums.steps as f64,
            sums.cpu,
            sums.total_cpu,
            sums.cycles,
            sums.solves,
            sums.rounds,
            sums.contacts,
            sums.unknowns,
            sums.particles as f64,
        ];
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let end = sums
            .end
            .as_ref()
            .map_or(String::new(), |end| format!("\n{end}"));
        self.write(
            scheme.word(),
            format!("{}{end}", numbers.join(" ")).as_bytes(),
        )
    }
}

/// All frames by the unified scheme, with states on the way.
fn unified(figure: &Figure, options: &Options, kept: &Kept) -> Result<(Sums, StoredStates), Error> {
    let scene = figure.scene(options.share, Scheme::Unified)?;
    let frames = options.frames.unwrap_or(scene.frames);
    let at = |k: u32| 1 + k * frames / (STATES + 1);
    let name = |k: u32| format!("state-{k}");
    if let Some(sums) = kept.sums(Scheme::Unified) {
        let states = (1..=STATES).filter_map(|k| Some((at(k), kept.read(&name(k))?)));
        return Ok((sums, states.collect()));
    }
    let mut run = Simulation::new(&scene)?;
    let (mut sums, mut states) = (Sums::default(), Vec::new());
    for k in 1..=STATES + 1 {
        let until = if k > STATES { frames + 1 } else { at(k) };
        let left = until - run.frame();
        advance(&mut run, left, options.limit, &mut sums);
        if k <= STATES && sums.end.is_none() {
            let mut state = Vec::new();
            let written = run.world().state().write(&mut state);
            written.map_err(|cause| Error::new(Kind::Resources, cause.to_string()))?;
            kept.write(&name(k), &state)?;
            states.push((until, state));
        }
    }
    kept.keep(Scheme::Unified, &sums)?;
    Ok((sums, states))
}

/// Some frames by another scheme from each state.
fn other(
    figure: &Figure,
    scheme: Scheme,
    states: &[(u32, Vec<u8>)],
    options: &Options,
    kept: &Kept,
) -> Result<Sums, Error> {
    if let Some(sums) = kept.sums(scheme) {
        return Ok(sums);
    }
    let scene = figure.scene(options.share, scheme)?;
    let mut sums = Sums::default();
    let mut ends = Vec::new();
    for (frame, state) in states {
        let mut run = Simulation::restored(&scene, state, *frame)
            .map_err(|cause| Error::new(Kind::Resources, cause))?;
        let limit = sums.total_cpu + options.limit / states.len() as f64;
        advance(&mut run, options.window, limit, &mut sums);
        ends.extend(sums.end.take());
    }
    sums.end = (!ends.is_empty()).then(|| ends.join("; "));
    kept.keep(scheme, &sums)?;
    Ok(sums)
}

impl Study for Table1 {
    const NAME: &'static str = "tb20-table1";
    const SUMMARY: &'static str = "cost of four schemes for pressure and contact, beside the paper";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
        let mut table = Table::columns(
            "scene | cells | particles | scheme | frames | CPU s a frame | paper: s a frame | rounds | paper: rounds | cycles a solve | \
             paper: iterations | paper: of contacts | unknowns | paper: unknowns | contacts | paper: contacts | end",
        );
        let mut targets = Vec::new();
        for (at, figure) in COMPARED.iter().enumerate() {
            let frames = options.frames.map_or("all".into(), |n| n.to_string());
            let kept = Kept {
                folder: options.work.clone(),
                key: format!(
                    "{}-{}-{frames}-{}",
                    figure.scene,
                    figure.cells_at(options.share),
                    options.window
                ),
            };
            let (best, states) = pool.install(|| unified(figure, options, &kept))?;
            let mut iterative = None;
            for (scheme, paper) in INVISCID.into_iter().zip(PAPER[at]) {
                let sums = match scheme {
                    Scheme::Unified => best.clone(),
                    _ => pool.install(|| other(figure, scheme, &states, options, &kept))?,
                };
                if scheme == Scheme::Iterative {
                    iterative = sums.a_frame(sums.cpu);
                }
                let cycles =
                    (sums.solves > 0.0).then(|| sums.cycles / sums.solves.max(sums.rounds));
                table.push([
                    figure.label.into(),
                    Cell::Whole(figure.cells_at(options.share).into()),
                    Cell::Whole(sums.particles as u64),
                    paper_name(scheme).into(),
                    Cell::Whole(sums.frames.into()),
                    Cell::maybe(sums.a_frame(sums.cpu), 2),
                    Cell::Number(paper.0, 2),
                    Cell::maybe(sums.a_step(sums.rounds), 1),
                    Cell::maybe(paper.1, 1),
                    Cell::maybe(cycles, 1),
                    Cell::maybe(paper.2.or(paper.4), 1),
                    Cell::maybe(paper.3, 1),
                    Cell::maybe(sums.a_step(sums.unknowns), 0),
                    Cell::Number(paper.5, 0),
                    Cell::maybe(sums.a_step(sums.contacts), 1),
                    Cell::Number(paper.6, 1),
                    sums.end.as_deref().unwrap_or("last frame").into(),
                ]);
            }
            let gain = iterative.zip(best.a_frame(best.cpu)).map(|(a, b)| a / b);
            targets.push(Target::new(
                format!(
                    "{}: times the CPU time of unified that iterative takes",
                    figure.label
                ),
                Bound::AtLeast(PAPER_GAIN[at]),
                "times",
                gain,
                1,
            ));
            targets.push(Target::new(
                format!(
                    "{}: CPU s of pressure and contact a frame, unified, paper's cells",
                    figure.label
                ),
                Bound::AtMost(MOST_SECONDS[at]),
                "s",
                best.a_frame(best.cpu).filter(|_| options.share == 1.0),
                2,
            ));
        }
        let usual = options.share == 1.0 && options.frames.is_none() && options.window == 10;
        let name = || {
            let frames = options.frames.map_or("all".into(), |n| n.to_string());
            format!("{}-{frames}-{}", options.share, options.window)
        };
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(name),
            setting: vec![
                format!(
                    "Cells along every side are {} times the paper's. The unified scheme runs from the start, the others {} frames from \
                     each of three of its states, one thread. Times are CPU seconds of the phase of pressure and contact, which the paper \
                     gives as wall time of 8 threads; it includes contacts, which take less than what can be measured here. A run ends after {} \
                     CPU seconds. Rounds are those of pressure and contact in a step, 1 without them.",
                    options.share, options.window, options.limit
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::table("Table 1", table.clone()),
            ],
            data: table,
        })
    }
}
