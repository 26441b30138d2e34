//! `meniscus lcp compare`.

use super::super::say::{remark, say};
use super::arguments::CompareArguments;
use super::files::{self, Problem, broken};
use super::solve::{answer, cannot_use};
use super::watch::{Seen, Watch};
use crate::error::{Error, Kind};
use crate::plot::{Axis, Chart, Series};
use meniscus_lcp::Status;
use meniscus_lcp::survey::survey;
use meniscus_lcp::toolbox::{self, Method, Options, Solution};
use std::fmt::Write;
use std::time::Duration;

/// One method on the problem.
struct Tried {
    /// As it was asked for.
    name: String,
    solution: Solution,
    seconds: f64,
    seen: Vec<Seen>,
    x: Vec<f64>,
}

/// Solves a problem by several methods and says how each went.
pub fn compare(arguments: &CompareArguments) -> Result<(), Error> {
    if !(arguments.seconds > 0.0 && arguments.seconds.is_finite()) {
        return Err(Error::usage("--seconds must be positive"));
    }
    let given = Problem::read(&arguments.problem)?;
    let problem = given.problem()?;
    let methods = chosen(arguments, &given)?;
    let options = Options {
        tolerance: arguments.stop.tolerance,
        max_iterations: arguments.stop.max_iterations,
        prelude: arguments.stop.first,
    };
    let mut tried = Vec::new();
    for method in methods {
        let mut x = given.start();
        let mut watch = Watch::new(Some(Duration::from_secs_f64(arguments.seconds)));
        let solution = toolbox::solve(&problem, method, &options, &mut x, &mut watch)
            .map_err(|fault| cannot_use(method, &broken(&fault)))?;
        let seconds = watch.seconds();
        if arguments.json {
            say(format_args!("{}", answer(&solution, seconds, &given)));
        }
        let name = match method {
            Method::Auto => format!("auto ({})", solution.method),
            method => method.to_string(),
        };
        tried.push(Tried {
            name,
            solution,
            seconds,
            seen: watch.seen,
            x,
        });
    }
    if !arguments.json {
        say(format_args!("{}", table(&tried)));
    }
    if let Some(path) = &arguments.csv {
        files::write_text(path, &csv(&tried))?;
    }
    if let Some(path) = &arguments.plot {
        files::write_text(path, &chart(&tried, &given.name).svg())?;
    }
    if tried.iter().any(Tried::converged) {
        Ok(())
    } else {
        Err(Error::new(Kind::Numerical, "no method solved the problem"))
    }
}

fn chosen(arguments: &CompareArguments, given: &Problem) -> Result<Vec<Method>, Error> {
    if !arguments.solvers.is_empty() {
        return Ok(arguments.solvers.clone());
    }
    let survey = survey(&given.problem()?);
    let mut fitting = Vec::new();
    for &method in Method::ALL {
        match method.fits(&survey) {
            Ok(()) => fitting.push(method),
            Err(why) => remark(&format!("left out {method}: {why}")),
        }
    }
    Ok(fitting)
}

impl Tried {
    fn converged(&self) -> bool {
        self.solution.report.status == Status::Converged
    }
}

/// The largest difference from the solution with the smallest residual, as a part of its largest entry.
fn differences(tried: &[Tried]) -> Vec<f64> {
    let best = tried.iter().filter(|one| one.converged()).min_by(|a, b| {
        let (a, b) = (a.solution.report.residual, b.solution.report.residual);
        a.total_cmp(&b)
    });
    let Some(best) = best else {
        return vec![f64::NAN; tried.len()];
    };
    let largest = best.x.iter().fold(0.0, |l: f64, x| l.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let apart = |one: &Tried| {
        let pairs = one.x.iter().zip(&best.x);
        pairs.fold(0.0, |l: f64, (a, b)| l.max((a - b).abs())) / scale
    };
    tried.iter().map(apart).collect()
}

const COLUMNS: [&str; 7] = [
    "solver",
    "status",
    "iterations",
    "inner",
    "residual",
    "seconds",
    "apart",
];

fn rows(tried: &[Tried]) -> Vec<[String; 7]> {
    let row = |(one, apart): (&Tried, f64)| {
        let report = &one.solution.report;
        [
            one.name.clone(),
            report.status.to_string(),
            report.iterations.to_string(),
            report.inner_iterations.to_string(),
            format!("{:.2e}", report.residual),
            format!("{:.4}", one.seconds),
            format!("{apart:.1e}"),
        ]
    };
    tried.iter().zip(differences(tried)).map(row).collect()
}

fn table(tried: &[Tried]) -> String {
    let rows = rows(tried);
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].len());
        cells.max().unwrap_or(0).max(COLUMNS[column].len())
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut out = String::new();
    let mut line = |cells: &[&str]| {
        for (column, cell) in cells.iter().enumerate() {
            let width = widths[column];
            // Words to the left, numbers to the right.
            let _ = if column < 2 {
                write!(out, "{cell:width$}  ")
            } else {
                write!(out, "{cell:>width$}  ")
            };
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    };
    line(&COLUMNS);
    for row in &rows {
        line(&row.each_ref().map(String::as_str));
    }
    out + "\nresidual: largest entry of the natural residual; apart: largest difference from the best solution,\nas a part of its largest entry (problems with several solutions have several answers)"
}

fn csv(tried: &[Tried]) -> String {
    let mut out = COLUMNS.join(",") + "\n";
    for row in rows(tried) {
        let _ = writeln!(out, "{}", row.join(","));
    }
    out
}

fn chart(tried: &[Tried], name: &str) -> Chart {
    let series = tried.iter().map(|one| {
        let mut points: Vec<(f64, f64)> = one
            .seen
            .iter()
            .map(|seen| (seen.seconds, seen.progress.residual))
            .collect();
        points.push((one.seconds, one.solution.report.residual));
        Series {
            name: one.name.clone(),
            points,
        }
    });
    Chart {
        title: name.into(),
        x: Axis::logarithmic("seconds"),
        y: Axis::logarithmic("largest entry of the natural residual"),
        series: series.collect(),
    }
}
