//! `meniscus lcp compare`.

use super::super::say::{remark, say};
use super::arguments::CompareArguments;
use super::files::{self, Problem, broken};
use super::grid::Grid;
use super::solve::{answer, cannot_use};
use super::watch::{Seen, Watch};
use crate::error::{Error, Kind};
use crate::plot::{Axis, Chart, Series};
use meniscus_lcp::survey::survey;
use meniscus_lcp::toolbox::{self, Method, Options};
use meniscus_lcp::{Report, Status};
use meniscus_liquid::Solver;
use meniscus_liquid::solvers::Settings;
use std::fmt::Write;
use std::str::FromStr;
use std::time::Duration;

/// Seconds that one may have to wait, at most: thirty years.
const LONGEST: f64 = 1e9;

/// One method on the problem.
struct Tried {
    name: String,
    /// What auto picked.
    picked: Option<&'static str>,
    report: Report,
    seconds: f64,
    seen: Vec<Seen>,
    x: Vec<f64>,
}

/// A method that sees the matrix alone, or one that sees the grid, by its name.
enum Contender {
    Algebraic(Method),
    OnGrid(String, Settings),
}

/// Solves a problem by several methods and says how each went.
pub fn compare(arguments: &CompareArguments) -> Result<(), Error> {
    if !(arguments.seconds > 0.0 && arguments.seconds <= LONGEST) {
        return Err(Error::usage(format!(
            "--seconds must be positive and at most {LONGEST:e}"
        )));
    }
    let given = Problem::read(&arguments.problem)?;
    let (contenders, grid) = chosen(arguments, &given)?;
    let (mut tried, mut refused) = (Vec::new(), None);
    for contender in contenders {
        match attempt(&contender, arguments, &given, grid.as_ref()) {
            Ok(one) => {
                if arguments.json {
                    let mut line = answer(&one.name, &one.report, one.seconds, &given);
                    if let Some(picked) = one.picked {
                        line["picked"] = picked.into();
                    }
                    say(format_args!("{line}"));
                }
                tried.push(one);
            }
            // The others may take the problem.
            Err(fault) => {
                remark(&format!("left out {}", fault.message()));
                refused.get_or_insert(fault);
            }
        }
    }
    if let (true, Some(fault)) = (tried.is_empty(), refused) {
        return Err(fault);
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

fn attempt(
    contender: &Contender,
    arguments: &CompareArguments,
    given: &Problem,
    grid: Option<&Grid>,
) -> Result<Tried, Error> {
    let problem = given.problem()?;
    let mut x = given.start();
    let mut watch = Watch::new(Some(Duration::from_secs_f64(arguments.seconds)));
    let (name, picked, report) = match (contender, grid) {
        (Contender::OnGrid(name, settings), Some(grid)) => {
            let solution = grid.solve(&problem, settings, &arguments.stop, &mut x, &mut watch)?;
            let picked = (settings.solver == Solver::Auto).then_some(solution.solver);
            (name.clone(), picked, solution.report)
        }
        (Contender::OnGrid(name, _), None) => {
            return Err(
                Error::usage(format!("{name} needs the grid of the problem"))
                    .with_remedy("name a folder that holds grid.json with --problem DIR"),
            );
        }
        (&Contender::Algebraic(method), _) => {
            let options = Options::default()
                .tolerance(arguments.stop.tolerance)
                .max_iterations(arguments.stop.max_iterations)
                .prelude(arguments.stop.first);
            let solution = toolbox::solve(&problem, method, &options, &mut x, &mut watch)
                .map_err(|fault| cannot_use(method, &broken(&fault)))?;
            let picked = (method == Method::Auto).then_some(solution.method.name());
            (method.to_string(), picked, solution.report)
        }
    };
    Ok(Tried {
        name,
        picked,
        report,
        seconds: watch.seconds(),
        seen: watch.seen,
        x,
    })
}

/// What was asked for, or all that fit, and the grid if it is needed.
fn chosen(
    arguments: &CompareArguments,
    given: &Problem,
) -> Result<(Vec<Contender>, Option<Grid>), Error> {
    if !arguments.solvers.is_empty() {
        let names = arguments.solvers.iter();
        let wanted = names.clone().any(|name| on_grid(name));
        let grid = match wanted {
            true => Grid::beside(&arguments.problem, given)?,
            false => None,
        };
        let asked: Result<Vec<Contender>, Error> =
            names.map(|name| named(name, grid.is_some())).collect();
        return Ok((asked?, grid));
    }
    let grid = Grid::beside(&arguments.problem, given).unwrap_or_else(|fault| {
        remark(&format!(
            "left out tn-mg and all others that need the grid: {}",
            fault.message()
        ));
        None
    });
    let survey = survey(&given.problem()?);
    let mut fitting = Vec::new();
    for &method in Method::ALL {
        match method.fits(&survey) {
            _ if grid.is_some() && on_grid(method.name()) => {}
            Ok(()) => fitting.push(Contender::Algebraic(method)),
            Err(why) => remark(&format!("left out {method}: {why}")),
        }
    }
    if grid.is_some() {
        for &solver in Solver::ALL {
            if solver.is_linear() && !survey.bounds.is_linear() {
                remark(&format!("left out {solver}: some rows have bounds"));
                continue;
            }
            let settings = Settings {
                solver,
                ..Default::default()
            };
            fitting.push(Contender::OnGrid(solver.to_string(), settings));
        }
    }
    Ok((fitting, grid))
}

/// Whether a name is that of a method that sees the grid.
fn on_grid(name: &str) -> bool {
    let word = name.split(':').next().unwrap_or(name);
    Solver::from_str(word).is_ok()
}

/// A method by its name. Names that both know mean the same, and that of scenes where there is a grid.
fn named(name: &str, has_grid: bool) -> Result<Contender, Error> {
    let known = on_grid(name);
    match Method::from_str(name) {
        Ok(method) if !(has_grid && known) => Ok(Contender::Algebraic(method)),
        Err(why) if !known => Err(Error::usage(format!(
            "{why}; and, with a grid, {}",
            Solver::WORDS.join(", ")
        ))),
        _ => {
            let settings = Settings::named(name).map_err(Error::usage)?;
            Ok(Contender::OnGrid(name.to_owned(), settings))
        }
    }
}

impl Tried {
    /// With what auto picked.
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

/// The largest difference from the solution with the smallest residual, as a part of its largest entry.
fn differences(tried: &[Tried]) -> Vec<f64> {
    let best = tried.iter().filter(|one| one.converged()).min_by(|a, b| {
        let (a, b) = (a.report.residual, b.report.residual);
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
