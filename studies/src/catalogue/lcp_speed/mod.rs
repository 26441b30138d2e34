//! The toolbox beside PETSc and Siconos, on the same files in the same run.

mod pressure;
mod small;

use crate::prelude::*;
use meniscus_lcp::registry::{self, Method, Options as Ask};
use meniscus_lcp::{BoxMlcp, Csr, Status};
use serde_json::Value;

/// The study.
pub struct LcpSpeed;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side of the sphere's pressure problems, separated by commas
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [64, 128], value_parser = value_parser!(u32).range(16..=256))]
    sizes: Vec<u32>,
    /// Frame of the sphere whose pressure problem is taken
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = value_parser!(u32).range(1..=100))]
    frame: u32,
    /// Seconds after which another program is ended
    #[arg(long, value_name = "S", default_value_t = 120)]
    patience: u64,
}

/// One solve, ours or another's.
#[derive(Clone, Debug)]
struct Solve {
    problem: String,
    rows: usize,
    program: String,
    method: String,
    converged: bool,
    iterations: u64,
    residual: f64,
    cpu: f64,
}

impl Solve {
    /// Result reported by a script.
    fn told(problem: &str, answer: &Value) -> Self {
        let text = |key: &str| answer[key].as_str().unwrap_or("").to_owned();
        Self {
            problem: problem.into(),
            rows: answer["n"].as_u64().unwrap_or(0) as usize,
            program: text("program"),
            method: text("method"),
            converged: answer["converged"].as_bool().unwrap_or(false),
            iterations: answer["iterations"].as_u64().unwrap_or(0),
            residual: answer["residual_inf"].as_f64().unwrap_or(f64::NAN),
            cpu: answer["cpu_seconds"].as_f64().unwrap_or(f64::NAN),
        }
    }

    /// Ours, set-up included; the quickest of a few.
    fn ours(
        name: &str,
        problem: &BoxMlcp<'_, Csr>,
        method: Method,
        tolerance: f64,
    ) -> Result<Self, Error> {
        let ask = Ask::default().absolute(true).tolerance(tolerance);
        let (mut best, mut spent) = (f64::INFINITY, 0.0);
        loop {
            let mut x = vec![0.0; problem.len()];
            let start = Moment::now();
            let solution = registry::solve(problem, method, &ask, &mut x, &mut ())
                .map_err(|fault| Error::new(Kind::Numerical, format!("{method}: {fault}")))?;
            let cpu = Moment::now().since(&start).cpu;
            best = f64::min(best, cpu);
            spent += cpu;
            if spent > 0.2 {
                let report = solution.report;
                return Ok(Self {
                    problem: name.into(),
                    rows: problem.len(),
                    program: "Meniscus".into(),
                    method: method.name().into(),
                    converged: report.status == Status::Converged,
                    iterations: report.iterations as u64,
                    residual: report.residual,
                    cpu: best,
                });
            }
        }
    }
}

/// Every solve in a row.
fn table(solves: &[Solve]) -> Table {
    let mut table = Table::columns(
        "problem | variables | program | method | solved | iterations | residual | CPU s",
    );
    for solve in solves {
        table.push([
            solve.problem.clone().into(),
            Cell::Whole(solve.rows as u64),
            solve.program.clone().into(),
            solve.method.clone().into(),
            Cell::from(solve.converged),
            Cell::Whole(solve.iterations),
            format!("{:.1e}", solve.residual).into(),
            Cell::Number(solve.cpu, 5),
        ]);
    }
    table
}

impl Study for LcpSpeed {
    const NAME: &'static str = "lcp-speed";
    const SUMMARY: &'static str =
        "the toolbox beside PETSc and Siconos, on the same problems in the same run";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let (large, first) = pressure::section(options)?;
        let (small, second) = small::section(options)?;
        let solves = [large, small].concat();
        let usual = options.sizes == [64, 128] && options.frame == 3;
        Ok(Findings {
            study: Self::NAME,
            variant: (!usual).then(|| format!("{:?}-{}", options.sizes, options.frame).replace(['[', ']', ' '], "")),
            setting: vec![
                "CPU seconds of one thread, set-up included, files not: the quickest of a few solves where they are quick. \
                 Residuals are recomputed from the problem, by the same rule for all."
                    .into(),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![first, second],
            data: table(&solves),
        })
    }
}

/// A section that lists what could not be measured.
fn section(heading: &str, mut words: Vec<String>, missing: Vec<String>, table: Table) -> Section {
    words.extend(
        missing
            .into_iter()
            .map(|why| format!("Not measured: {why}.")),
    );
    Section::new(heading, words, table)
}
