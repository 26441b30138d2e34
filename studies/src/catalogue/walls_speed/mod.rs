//! How fast the pressure problem with separating walls is solved, from a cold start, on the analytic sphere.

mod bandwidth;
mod part;
mod solver_case;
mod targets;

use self::part::{Answer, Part};
use self::solver_case::SolverCase;
use crate::peer;
use crate::prelude::*;
use crate::subprocess;
use clap::ValueEnum;
use meniscus_app::problem_files;
use serde_json::Value;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The study.
pub struct WallsSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side, separated by commas
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [32, 64, 128], value_parser = value_parser!(u32).range(8..=512))]
    sizes: Vec<u32>,
    /// Solvers, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values = SolverCase::USUAL, value_parser = SolverCase::from_str)]
    solvers: Vec<SolverCase>,
    /// Threads; several numbers, separated by commas, are compared
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1], value_parser = value_parser!(u16).range(1..=256))]
    threads: Vec<u16>,
    /// Solves of each problem: the quickest counts
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Where the liquid ends: with a wave, or flat
    #[arg(long, value_name = "KIND", default_value = "flat")]
    surface: SurfaceName,
    /// Put a plate and a shell with a hole into the liquid, one cell thick
    #[arg(long)]
    thin: bool,
    /// Write the pressure of the last solve, with separating walls unless all solvers are linear ones
    #[arg(long, value_name = "FILE.mtx")]
    pressure_out: Option<PathBuf>,
    /// Seconds after which another program is ended; 0 leaves them out
    #[arg(long, value_name = "S", default_value_t = 120)]
    patience: u64,
}

/// Kinds of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SurfaceName {
    Flat,
    Wave,
}

/// `||r||_inf` as a part of `||b||_inf`: the rule that others are measured by.
const RELATIVE_TOLERANCE: f64 = 1e-6;
/// Bytes a cycle has to move for an unknown, at least.
const BYTES_A_CYCLE: f64 = 230.0;

/// Solves of one process, the first of which has to find its memory.
const A_TURN: u32 = 2;

/// Every solver at every size with every number of threads.
fn parts(options: &Options, repeat: u32) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_told = |solver: &SolverCase| {
        !solver.is_linear() || options.solvers.iter().all(SolverCase::is_linear)
    };
    for &size in &options.sizes {
        for solver in &options.solvers {
            for &threads in &options.threads {
                parts.push(Part {
                    size,
                    solver: solver.clone(),
                    threads,
                    repeat,
                    wave: options.has_wave(),
                    thin: options.thin,
                    pressure_out: options.pressure_out.clone().filter(|_| is_told(solver)),
                });
            }
        }
    }
    parts
}

impl Study for WallsSpeed {
    const NAME: &'static str = "walls-speed";
    const SUMMARY: &'static str =
        "CPU time of the wall problem from a cold start, by size and solver, beside PETSc";
    const LINES: bool = true;
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let triad = bandwidth::triad();
        let mut answers = Vec::new();
        // All take turns: what else the machine does at one time then slows none of them more than the others.
        let mut left = options.repeat;
        while left > 0 {
            let repeat = left.min(A_TURN);
            left -= repeat;
            for (k, part) in parts(options, repeat).into_iter().enumerate() {
                let answer: Answer = subprocess::run(Self::NAME, &part)?;
                match answers.get_mut(k) {
                    None => answers.push(answer),
                    Some(best) if answer.seconds() < best.seconds() => *best = answer,
                    Some(_) => {}
                }
            }
        }
        let (others, missing) = others(options)?;
        let plain = !options.has_wave() && !options.thin;
        let usual = options.sizes == [32, 64, 128] && options.threads == [1] && plain;
        let usual = usual && options.has_usual_solvers();
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| variant(options)),
            setting: vec![
                format!(
                    "The analytic sphere problem ({}), from zero, to a natural residual of {RELATIVE_TOLERANCE:e} of the largest \
                     entry of b; threads: {}; the quickest of {}. Set-up starts from the assembled stencil; solvers that need the entries of its matrix make them in their first solve. `mg` and `cg` \
                     solve the linear problem of slip walls.",
                    if plain {
                        "flat surface"
                    } else {
                        "harder variant"
                    },
                    joined(&options.threads, ", "),
                    options.repeat
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                targets::section(&answers, plain, options.thin),
                speeds(&answers, &others, missing, triad),
            ],
            data: data(&answers),
        })
    }

    fn part(part: Value) -> Result<Value, Error> {
        let part: Part = serde_json::from_value(part)
            .map_err(|fault| Error::usage(format!("not a part of walls-speed: {fault}")))?;
        let answer = part.run()?;
        serde_json::to_value(answer).map_err(|fault| Error::new(Kind::Resources, fault.to_string()))
    }
}

impl Options {
    fn has_wave(&self) -> bool {
        self.surface == SurfaceName::Wave
    }

    fn has_usual_solvers(&self) -> bool {
        let names = self.solvers.iter().map(ToString::to_string);
        names.eq(SolverCase::USUAL)
    }
}

fn joined(numbers: &[impl ToString], between: &str) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(between)
}

fn variant(options: &Options) -> String {
    let threads = format!("{}-threads", joined(&options.threads, "-"));
    let mut words = vec![joined(&options.sizes, "-"), threads];
    words.extend(options.has_wave().then(|| "wave".into()));
    words.extend(options.thin.then(|| "thin".into()));
    if !options.has_usual_solvers() {
        words.push(joined(&options.solvers, "-").replace(':', "-"));
    }
    words.join("-")
}

/// Result of another program: the size, the largest entry of b, and its output.
struct Other {
    size: u32,
    largest: f64,
    answer: Value,
}

/// Results of other programs, and reasons for missing ones.
type Others = (Vec<Other>, Vec<String>);

/// Cells along a side up to which others are asked: of larger problems the files alone would be hundreds of megabytes.
const MOST_ASKED: u32 = 128;
/// Scripts for the whole problem and for the linear one.
const SCRIPTS: [&str; 2] = ["petsc_vi.py", "petsc_linear.py"];

/// PETSc on the same problems, and on those of slip walls.
fn others(options: &Options) -> Result<Others, Error> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    if options.patience == 0 {
        return Ok((found, missing));
    }
    for &size in &options.sizes {
        if size > MOST_ASKED {
            missing.push(format!(
                "{size} cells by other programs, which are asked up to {MOST_ASKED}"
            ));
            continue;
        }
        let sphere = part::sphere(size, options.has_wave(), options.thin);
        let problem = sphere
            .problem::<3>()
            .map_err(|fault| Error::new(Kind::Numerical, fault.to_string()))?;
        let largest = problem.rhs.iter().fold(0.0, |l: f64, b| l.max(b.abs()));
        let folder = tempfile::tempdir()
            .map_err(|cause| Error::new(Kind::Storage, format!("no temporary folder: {cause}")))?;
        problem_files::write(folder.path(), &problem)?;
        let path = folder.path().to_string_lossy().into_owned();
        let tolerance = (RELATIVE_TOLERANCE * largest).to_string();
        let limit = Duration::from_secs(options.patience);
        for script in SCRIPTS {
            match peer::ask(script, &[&path, &tolerance], limit) {
                Ok(answers) => found.extend(answers.into_iter().map(|answer| Other {
                    size,
                    largest,
                    answer,
                })),
                Err(why) => missing.push(format!("{size} cells: {why}")),
            }
        }
    }
    Ok((found, missing))
}

fn speeds(answers: &[Answer], others: &[Other], missing: Vec<String>, triad: f64) -> Section {
    let mut table = Table::columns(
        "size | solver | threads | solved | cycles | CPU s, set-up | CPU s, solve | wall s | \
            residual | GB/s | peak MB",
    );
    for answer in answers {
        // What a cycle must move, over the time it takes: for cycles of multigrid only.
        let moved = BYTES_A_CYCLE * answer.unknowns as f64 * answer.cycles as f64;
        let reached = answer
            .solver
            .cycles()
            .then_some(moved / answer.solve_wall_s / 1e9);
        table.push([
            Cell::Whole(answer.size.into()),
            answer.solver.to_string().into(),
            Cell::Whole(answer.threads.into()),
            Cell::from(answer.converged),
            Cell::Whole(answer.cycles),
            Cell::Number(answer.setup_cpu_s, 4),
            Cell::Number(answer.solve_cpu_s, 4),
            Cell::Number(answer.wall_clock_s, 4),
            format!("{:.1e}", answer.residual).into(),
            Cell::maybe(reached, 2),
            Cell::maybe(answer.peak_bytes.map(|bytes| bytes as f64 / 1e6), 0),
        ]);
    }
    for Other {
        size,
        largest,
        answer,
    } in others
    {
        let text = |key: &str| answer[key].as_str().unwrap_or("-");
        table.push([
            Cell::Whole((*size).into()),
            format!("{}, {}", text("program"), text("method")).into(),
            Cell::Whole(1),
            Cell::from(answer["converged"] == true),
            Cell::Whole(answer["iterations"].as_u64().unwrap_or(0)),
            Cell::Missing,
            Cell::maybe(answer["cpu_seconds"].as_f64(), 4),
            Cell::Missing,
            format!(
                "{:.1e}",
                answer["residual_inf"].as_f64().unwrap_or(f64::NAN) / largest
            )
            .into(),
            Cell::Missing,
            Cell::Missing,
        ]);
    }
    let mut words = vec![format!(
        "Residuals are parts of the largest entry of b, recomputed from the problem; PETSc's time includes its set-up. GB/s: {BYTES_A_CYCLE} bytes an unknown and cycle, over the time of the solve; the machine moves \
         {triad:.1} GB/s (triad, one thread). Peak memory includes the problem."
    )];
    words.extend(
        missing
            .into_iter()
            .map(|why| format!("Not measured: {why}.")),
    );
    Section::new("Speed", words, table)
}

fn data(answers: &[Answer]) -> Table {
    let mut table = Table::columns(
        "size | unknowns | wall_rows | separated_rows | solver | threads | converged | \
            cycles | setup_cpu_s | solve_cpu_s | wall_clock_s | residual | peak_bytes",
    );
    for answer in answers {
        table.push([
            Cell::Whole(answer.size.into()),
            Cell::Whole(answer.unknowns),
            Cell::Whole(answer.wall_rows),
            Cell::Whole(answer.separated_rows),
            answer.solver.to_string().into(),
            Cell::Whole(answer.threads.into()),
            Cell::from(answer.converged),
            Cell::Whole(answer.cycles),
            Cell::Number(answer.setup_cpu_s, 6),
            Cell::Number(answer.solve_cpu_s, 6),
            Cell::Number(answer.wall_clock_s, 6),
            Cell::Number(answer.residual, 12),
            answer.peak_bytes.map_or(Cell::Missing, Cell::Whole),
        ]);
    }
    table
}
