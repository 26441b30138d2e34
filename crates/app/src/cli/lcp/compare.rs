//! `meniscus lcp compare`.

use super::super::output::{print_line, print_note};
use super::arguments::CompareArguments;
use super::files::{self, Problem, broken};
use super::friction::Friction;
use super::grid::{self, Candidate, Grid, named};
use super::solve::{answer, cannot_use};
use super::solve_timer::{Observation, SolveTimer};
use meniscus_lcp::analysis::analyse;
use meniscus_lcp::registry::{Method, NamedSolver, Options, Registry};
use meniscus_lcp::{Report, Status};
use meniscus_render::plot::{Axis, Chart, Series};
use meniscus_store::error::{Error, Kind};
use std::fmt::Write;
use std::time::Duration;

/// Largest time limit in seconds: thirty years.
const LONGEST: f64 = 1e9;

/// Result of one method.
struct MethodResult {
    name: String,
    /// Method that `auto` chose.
    picked: Option<&'static str>,
    report: Report,
    seconds: f64,
    seen: Vec<Observation>,
    x: Vec<f64>,
}

/// Solves a problem with several methods and prints a table of the results.
pub fn compare(arguments: &CompareArguments) -> Result<(), Error> {
    if !(arguments.seconds > 0.0 && arguments.seconds <= LONGEST) {
        return Err(Error::usage(format!(
            "--seconds must be positive and at most {LONGEST:e}"
        )));
    }
    let given = Problem::read(&arguments.problem)?;
    if let Some(friction) = Friction::beside(&arguments.problem, &given)? {
        let tried = with_friction(arguments, &given, &friction)?;
        return finish(arguments, &given, &tried);
    }
    let grid = Grid::for_solvers(&arguments.problem, &given, &arguments.solvers)?;
    let registry = grid::registry(grid.as_ref());
    let (mut tried, mut refused) = (Vec::new(), None);
    for (name, solver) in chosen(arguments, &given, &registry)? {
        match solver.and_then(|solver| attempt(name, &*solver, arguments, &given)) {
            Ok(one) => {
                if arguments.json {
                    let mut line = answer(&one.name, &one.report, one.seconds, &given);
                    if let Some(picked) = one.picked {
                        line["picked"] = picked.into();
                    }
                    print_line(format_args!("{line}"));
                }
                tried.push(one);
            }
            // Other methods may accept the problem.
            Err(fault) => {
                print_note(&format!("skipped {}", fault.message()));
                refused.get_or_insert(fault);
            }
        }
    }
    if let (true, Some(fault)) = (tried.is_empty(), refused) {
        return Err(fault);
    }
    finish(arguments, &given, &tried)
}

/// Solves a problem with friction by all solvers that take it, or those that were asked for.
fn with_friction(
    arguments: &CompareArguments,
    given: &Problem,
    friction: &Friction,
) -> Result<Vec<MethodResult>, Error> {
    let asked: Vec<String> = match arguments.solvers.is_empty() {
        true => friction
            .solvers(given)?
            .into_iter()
            .map(String::from)
            .collect(),
        false => arguments.solvers.clone(),
    };
    let mut tried = Vec::new();
    for name in asked {
        let mut watch = SolveTimer::new(Some(Duration::from_secs_f64(arguments.seconds)));
        let mut x = given.start();
        let stop = (arguments.stop.tolerance, arguments.stop.max_iterations);
        let solution = friction.solve(&name, given, stop, &mut x, &mut watch)?;
        let auto = name == Method::Auto.name();
        let one = MethodResult {
            name,
            picked: auto.then_some(solution.solver),
            report: solution.report,
            seconds: watch.seconds(),
            seen: watch.seen,
            x,
        };
        if arguments.json {
            let line = answer(&one.name, &one.report, one.seconds, given);
            print_line(format_args!("{line}"));
        }
        tried.push(one);
    }
    Ok(tried)
}

/// Prints and writes the results.
fn finish(
    arguments: &CompareArguments,
    given: &Problem,
    tried: &[MethodResult],
) -> Result<(), Error> {
    if !arguments.json {
        print_line(format_args!("{}", table(tried)));
    }
    if let Some(path) = &arguments.csv {
        files::write_text(path, &csv(tried))?;
    }
    if let Some(path) = &arguments.plot {
        files::write_text(path, &chart(tried, &given.name).svg())?;
    }
    if tried.iter().any(MethodResult::converged) {
        Ok(())
    } else {
        Err(Error::new(Kind::Numerical, "no method solved the problem"))
    }
}

fn attempt(
    name: String,
    solver: &dyn NamedSolver,
    arguments: &CompareArguments,
    given: &Problem,
) -> Result<MethodResult, Error> {
    let problem = given.problem()?;
    let mut x = given.start();
    let mut watch = SolveTimer::new(Some(Duration::from_secs_f64(arguments.seconds)));
    let options = Options::default()
        .tolerance(arguments.stop.tolerance)
        .absolute(arguments.stop.absolute)
        .max_iterations(arguments.stop.max_iterations)
        .presolve(arguments.stop.first);
    let solution = solver
        .solve(&problem, &options, &mut x, &mut watch)
        .map_err(|fault| cannot_use(&name, &broken(&fault)))?;
    let auto = solver.name() == Method::Auto.name();
    Ok(MethodResult {
        name,
        picked: auto.then_some(solution.solver),
        report: solution.report,
        seconds: watch.seconds(),
        seen: watch.seen,
        x,
    })
}

/// Requested solvers, or all that are applicable.
fn chosen<'a>(
    arguments: &CompareArguments,
    given: &Problem,
    registry: &'a Registry<'_>,
) -> Result<Vec<Candidate<'a>>, Error> {
    if !arguments.solvers.is_empty() {
        return arguments
            .solvers
            .iter()
            .map(|name| named(name, registry))
            .collect();
    }
    let analysis = analyse(&given.problem()?);
    let mut fitting: Vec<Candidate> = Vec::new();
    for solver in registry.solvers() {
        match solver.fits(&analysis) {
            Ok(()) => fitting.push((solver.name().to_owned(), Ok(Box::new(solver)))),
            Err(why) => print_note(&format!("skipped {}: {why}", solver.name())),
        }
    }
    Ok(fitting)
}

impl MethodResult {
    /// Name with the choice of `auto`.
    fn title(&self) -> String {
        match self.picked {
            Some(picked) => format!("{} ({picked})", self.name),
            None => self.name.clone(),
        }
    }

    fn converged(&self) -> bool {
        self.report.status == Status::Converged
    }
}

/// Largest difference from the solution with the smallest residual, relative to its largest entry.
fn differences(tried: &[MethodResult]) -> Vec<f64> {
    let best = tried.iter().filter(|one| one.converged()).min_by(|a, b| {
        let (a, b) = (a.report.residual, b.report.residual);
        a.total_cmp(&b)
    });
    let Some(best) = best else {
        return vec![f64::NAN; tried.len()];
    };
    let largest = best.x.iter().fold(0.0, |l: f64, x| l.max(x.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let apart = |one: &MethodResult| {
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

fn rows(tried: &[MethodResult]) -> Vec<[String; 7]> {
    let row = |(one, apart): (&MethodResult, f64)| {
        let report = &one.report;
        [
            one.title(),
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

fn table(tried: &[MethodResult]) -> String {
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
            // Text is left-aligned, numbers are right-aligned.
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
    out + "\nresidual: largest entry of the natural residual; apart: largest difference from the best solution,\nrelative to its largest entry (a problem may have several solutions)"
}

fn csv(tried: &[MethodResult]) -> String {
    let mut out = COLUMNS.join(",") + "\n";
    for row in rows(tried) {
        let _ = writeln!(out, "{}", row.join(","));
    }
    out
}

fn chart(tried: &[MethodResult], name: &str) -> Chart {
    let series = tried.iter().map(|one| {
        let mut points: Vec<(f64, f64)> = one
            .seen
            .iter()
            .map(|seen| (seen.seconds, seen.progress.residual))
            .collect();
        points.push((one.seconds, one.report.residual));
        Series {
            name: one.title(),
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
