//! `cargo study refresh`: runs studies again whose results are older than what they measure.

use crate::digest::{self, Studied};
use clap::{Arg, ArgAction, ArgMatches, Command};
use meniscus_store::error::{Error, Kind};
use std::io::{Write, stderr, stdout};
use std::path::Path;

/// The command.
pub const COMMAND: &str = "refresh";

const DRY_RUN: &str = "dry-run";
const LIMIT: &str = "limit";

/// Its description and options.
pub fn command() -> Command {
    let dry_run = Arg::new(DRY_RUN)
        .long(DRY_RUN)
        .action(ArgAction::SetTrue)
        .help("List the studies instead of running them");
    let limit = Arg::new(LIMIT)
        .long(LIMIT)
        .value_name("SECONDS")
        .value_parser(clap::value_parser!(f64))
        .help("Leave out studies that took more CPU time, and those whose time is not known");
    Command::new(COMMAND)
        .about("runs the studies again whose results are older than what they measure, cheapest first")
        .long_about(
            "Runs the studies again whose results are older than what they measure, cheapest first, each in a process of its \
             own with its default options. Interrupted, it continues with what is left: results of finished studies are no \
             longer old. Results of runs with other options are listed, not run.",
        )
        .args([dry_run, limit])
}

/// Runs it.
pub fn run(folder: &Path, options: &ArgMatches) -> Result<(), Error> {
    let limit = options.get_one::<f64>(LIMIT).copied();
    let all = digest::results(folder)?;
    let (usual, variants): (Vec<Studied>, Vec<Studied>) = all
        .into_iter()
        .filter(|one| one.changes != Some(0))
        .partition(|one| one.name == one.entry.name);
    let stale = cheapest_first(usual, limit);
    for one in &variants {
        let _ = writeln!(
            stderr().lock(),
            "{}: run it by hand, with its options",
            one.name
        );
    }
    if options.get_flag(DRY_RUN) {
        for one in &stale {
            // A reader that has gone away is no error.
            let _ = writeln!(stdout().lock(), "{:24} {}", one.name, age_and_cost(one));
        }
        return Ok(());
    }
    let mut failed = Vec::new();
    for (k, one) in stale.iter().enumerate() {
        let place = format!("[{}/{}]", k + 1, stale.len());
        let _ = writeln!(
            stderr().lock(),
            "{place} {}: {}",
            one.name,
            age_and_cost(one)
        );
        if !is_run(one.entry.name)? {
            failed.push(one.name.as_str());
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let message = format!("these studies failed: {}", failed.join(", "));
    Err(Error::new(Kind::Numerical, message))
}

/// Those that may be run, by the CPU time that they took; those whose time is not known come last.
fn cheapest_first(mut stale: Vec<Studied>, limit: Option<f64>) -> Vec<Studied> {
    stale.retain(|one| limit.is_none_or(|limit| cost(one) <= limit));
    stale.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    stale
}

fn cost(one: &Studied) -> f64 {
    let made = one.provenance.as_ref();
    made.map_or(f64::INFINITY, |made| made.cpu)
}

fn age_and_cost(one: &Studied) -> String {
    let age = match one.changes {
        Some(1) => "1 change since".into(),
        Some(changes) => format!("{changes} changes since"),
        None => "made at a commit that is not known here".into(),
    };
    match cost(one) {
        cost if cost.is_finite() => format!("{age}, {cost:.0} CPU s"),
        _ => age,
    }
}

/// Runs a study in a process of its own, whose caches end with it; returns whether it succeeded.
fn is_run(study: &str) -> Result<bool, Error> {
    let trouble = |cause| Error::new(Kind::Resources, format!("could not start {study}: {cause}"));
    let program = std::env::current_exe().map_err(trouble)?;
    let mut command = std::process::Command::new(program);
    let status = command.arg(study).status().map_err(trouble)?;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(folder: &Path, costs: &[(&str, Option<f64>)]) {
        for (name, cost) in costs {
            let made = cost.map_or(String::new(), |cost| {
                format!("Made on 2026-11-18 at commit ffffffffff in {cost:.0} CPU s.\n")
            });
            std::fs::write(
                folder.join(format!("{name}.md")),
                format!("# {name}\n\n{made}"),
            )
            .unwrap();
        }
    }

    #[test]
    fn the_cheapest_comes_first_and_what_costs_too_much_or_unknown_time_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        documents(
            folder.path(),
            &[
                ("lai20-table1", Some(700.0)),
                ("erl13-fig1", Some(3.0)),
                ("step-speed", None),
            ],
        );
        let names = |limit| -> Vec<String> {
            let found = digest::results(folder.path()).unwrap();
            assert!(found.iter().all(|one| one.changes.is_none()));
            let stale = cheapest_first(found, limit);
            stale.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names(None), ["erl13-fig1", "lai20-table1", "step-speed"]);
        assert_eq!(names(Some(100.0)), ["erl13-fig1"]);
    }
}
