//! `meniscus lcp solve`.

use super::super::output::{print_line, print_note};
use super::arguments::SolveArguments;
use super::files::{self, Problem, broken};
use super::friction::Friction;
use super::grid::{self, Grid, named};
use super::solve_timer::{Observation, SolveTimer};
use meniscus_lcp::registry::{self, Method, Options, Solution, accuracy};
use meniscus_lcp::{Report, Status};
use meniscus_render::plot::{Axis, Chart, Series};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::count;
use serde_json::{Value, json};
use std::fmt::Write;

/// Solves a problem and prints the result.
pub fn solve(arguments: &SolveArguments) -> Result<(), Error> {
    let given = Problem::read(&arguments.problem)?;
    let problem = given.problem()?;
    let folder = arguments.problem.problem.as_ref();
    if folder.is_some_and(|folder| folder.join("coupling.json").is_file()) {
        print_note(
            "note: the bodies of coupling.json are left out: only its sparse part is solved\n",
        );
    }
    let mut x = match &arguments.start {
        Some(path) => files::vector(path, problem.len())?,
        None => given.start(),
    };
    if let Some(friction) = Friction::beside(&arguments.problem, &given)? {
        return with_friction(arguments, &given, &friction, x);
    }
    let options = Options::default()
        .tolerance(arguments.stop.tolerance)
        .absolute(arguments.stop.absolute)
        .max_iterations(arguments.stop.max_iterations)
        .presolve(arguments.stop.first);
    let mut watch = SolveTimer::new(None);
    let is_auto = arguments.solver == Method::Auto.name();
    let names = (!is_auto).then(|| arguments.solver.clone());
    let grid = Grid::for_solvers(&arguments.problem, &given, names.as_slice())?;
    let registry = grid::registry(grid.as_ref());
    let (name, solver) = named(&arguments.solver, &registry)?;
    let solution = solver?
        .solve(&problem, &options, &mut x, &mut watch)
        .map_err(|fault| cannot_use(&name, &broken(&fault)))?;
    let seconds = watch.seconds();
    if let Some(path) = &arguments.out {
        files::write_vector(path, &x)?;
    }
    if let Some(path) = &arguments.trace {
        files::write_text(path, &csv(&watch.seen, &solution))?;
    }
    if let Some(path) = &arguments.plot {
        files::write_text(path, &chart(&watch.seen, &solution, &given.name).svg())?;
    }
    if arguments.json {
        let mut answer = answer(solution.solver, &solution.report, seconds, &given);
        let accuracy = accuracy(&problem, &x);
        answer["residual_relative"] = accuracy.relative.into();
        answer["residual_is_rounding"] = accuracy.rounding.into();
        if is_auto {
            answer["attempts"] = attempts(&solution);
        }
        print_line(format_args!("{answer}"));
    } else {
        print_result(is_auto, &solution, seconds, &given);
        explain(&solution, &given, &x)?;
    }
    if solution.report.status == Status::Converged {
        Ok(())
    } else {
        Err(Error::silent(Kind::Numerical))
    }
}

/// Solves a problem with friction and prints the result.
fn with_friction(
    arguments: &SolveArguments,
    given: &Problem,
    friction: &Friction,
    mut x: Vec<f64>,
) -> Result<(), Error> {
    let mut watch = SolveTimer::new(None);
    let stop = (arguments.stop.tolerance, arguments.stop.max_iterations);
    let solution = friction.solve(&arguments.solver, given, stop, &mut x, &mut watch)?;
    let seconds = watch.seconds();
    if let Some(path) = &arguments.out {
        files::write_vector(path, &x)?;
    }
    if let Some(path) = &arguments.trace {
        files::write_text(path, &csv(&watch.seen, &solution))?;
    }
    if let Some(path) = &arguments.plot {
        files::write_text(path, &chart(&watch.seen, &solution, &given.name).svg())?;
    }
    let is_auto = arguments.solver == Method::Auto.name();
    let report = &solution.report;
    if arguments.json {
        let mut answer = answer(solution.solver, report, seconds, given);
        if is_auto {
            answer["attempts"] = attempts(&solution);
        }
        print_line(format_args!("{answer}"));
    } else {
        print_result(is_auto, &solution, seconds, given);
        let rows = count(friction.rows() as u64, "row");
        print_line(format_args!("{rows} of friction"));
    }
    match report.status {
        Status::Converged => Ok(()),
        _ => Err(Error::silent(Kind::Numerical)),
    }
}

/// Error of a method that does not accept the problem.
pub fn cannot_use(name: &str, fault: &Error) -> Error {
    if name == Method::Auto.name() {
        // `auto` accepts every problem, so the fault is in another argument.
        return fault.clone();
    }
    Error::usage(format!("{name}: {}", fault.message()))
        .with_remedy("`meniscus lcp info` lists the applicable methods; --solver auto chooses one")
}

/// Result of a solve as JSON.
pub fn answer(solver: &str, report: &Report, seconds: f64, given: &Problem) -> Value {
    json!({
        "solver": solver,
        "status": report.status.word(),
        "iterations": report.iterations,
        "inner_iterations": report.inner_iterations,
        "residual_inf": report.residual,
        "seconds": seconds,
        "n": given.matrix.rows(),
        "nnz": given.matrix.nonzeros(),
    })
}

fn attempts(solution: &Solution) -> Value {
    let attempt = |attempt: &registry::Attempt| {
        json!({
            "solver": attempt.solver,
            "why": attempt.why,
            "status": attempt.report.status.word(),
            "residual_inf": attempt.report.residual,
        })
    };
    solution.attempts.iter().map(attempt).collect()
}

fn print_result(is_auto: bool, solution: &Solution, seconds: f64, given: &Problem) {
    if is_auto {
        for attempt in &solution.attempts {
            print_note(&format!(
                "auto chose {}: {} ({})",
                attempt.solver, attempt.why, attempt.report.status
            ));
        }
    }
    let report = &solution.report;
    let inner = match report.inner_iterations {
        0 => String::new(),
        inner => format!(" ({inner} inner)"),
    };
    let verdict = if report.status == Status::Converged {
        "solved"
    } else {
        "did NOT solve"
    };
    print_line(format_args!(
        "{verdict} a problem of {} by {}: {}, residual {:.3e}, {}{inner}, {seconds:.3} s",
        count(given.matrix.rows(), "row"),
        solution.solver,
        report.status,
        report.residual,
        count(report.iterations, "iteration"),
    ));
}

/// Prints a hint if the residual is rounding error and nevertheless above the tolerance, as an absolute one may ask for.
fn explain(solution: &Solution, given: &Problem, x: &[f64]) -> Result<(), Error> {
    if solution.report.status == Status::Converged {
        return Ok(());
    }
    if accuracy(&given.problem()?, x).rounding {
        print_note(&format!(
            "the residual is rounding error for values of this magnitude; --tolerance {:.0e} is attainable",
            2.0 * solution.report.residual
        ));
    }
    Ok(())
}

fn csv(seen: &[Observation], solution: &Solution) -> String {
    let mut out = String::from("solver,iteration,inner_iterations,residual_inf,merit,seconds\n");
    for seen in seen {
        let progress = &seen.progress;
        let _ = writeln!(
            out,
            "{},{},{},{:e},{:e},{:e}",
            name_of(seen.attempt, solution),
            progress.iteration,
            progress.inner_iterations,
            progress.residual,
            progress.merit,
            seen.seconds
        );
    }
    out
}

fn name_of(attempt: usize, solution: &Solution) -> &'static str {
    let tried = solution.attempts.get(attempt);
    tried.map_or(solution.solver, |tried| tried.solver)
}

fn chart(seen: &[Observation], solution: &Solution, name: &str) -> Chart {
    let attempts = seen.last().map_or(0, |seen| seen.attempt + 1);
    let series = (0..attempts).map(|attempt| Series {
        name: name_of(attempt, solution).into(),
        points: seen
            .iter()
            .filter(|seen| seen.attempt == attempt)
            .map(|seen| (seen.progress.iteration as f64, seen.progress.residual))
            .collect(),
    });
    let mut series: Vec<Series> = series.collect();
    if let Some(last) = series.last_mut() {
        // The last observed residual is not always that of the returned solution.
        let report = &solution.report;
        last.points
            .push((report.iterations as f64, report.residual));
    }
    Chart {
        title: format!("{name}, {}", solution.solver),
        x: Axis::linear("iteration"),
        y: Axis::logarithmic("largest entry of the natural residual"),
        series,
    }
}
