//! `cargo study`: lists the studies, runs one, writes what it found.

use crate::catalogue::{self, STUDIES};
use crate::digest;
use crate::findings::Findings;
use crate::provenance::{self, Provenance};
use crate::refresh;
use crate::subprocess::PART;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};
use meniscus_store::error::{Error, Kind};
use std::ffi::OsString;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const LIST: &str = "list";
const JSON: &str = "json";
const RESULTS: &str = "results";
const STUDY: &str = "study";
const OUTPUT: &str = "output";
const SEVERAL: &str = "several";
const NAMES: &str = "names";

/// Runs the command line and returns the exit code, with the meaning that `meniscus` gives it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome = match command().try_get_matches_from(arguments) {
        Ok(matches) => dispatch(&matches),
        Err(fault) => match unknown_study(&fault) {
            Some(error) => Err(error),
            // Help goes to standard output with exit code 0, wrong usage to standard error with 2.
            None => fault.exit(),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(stderr().lock(), "error: {error}");
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn command() -> Command {
    let list = Arg::new(LIST)
        .long(LIST)
        .action(ArgAction::SetTrue)
        .help("List the studies, a line each");
    let root = Command::new("cargo study")
        .bin_name("cargo study")
        .about("Measurements, and tables and figures of the papers")
        .after_help("`cargo study STUDY --help` explains the options of one.")
        .arg_required_else_help(true)
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommand_value_name("STUDY")
        .subcommand_help_heading("Studies")
        .arg(list)
        .subcommand(
            Command::new(digest::COMMAND)
                .about("makes docs/results.md of what is in studies/results")
                .arg(
                    Arg::new(OUTPUT)
                        .long(OUTPUT)
                        .value_name("FILE")
                        .value_parser(clap::value_parser!(PathBuf))
                        .help("Where to write it [default: docs/results.md]"),
                ),
        )
        .subcommand(refresh::command())
        .subcommand(
            Command::new(SEVERAL)
                .about("runs several studies in one process: they share the solves they have in common")
                .arg(
                    Arg::new(NAMES)
                        .value_name("STUDY")
                        .num_args(1..)
                        .required(true),
                ),
        )
        .subcommand(
            Command::new(PART)
                .hide(true)
                .arg(Arg::new(STUDY).required(true)),
        );
    STUDIES.iter().fold(root, |root, study| {
        let own = (study.with_options)(Command::new(study.name));
        // Last, because the options bring the description of their struct along.
        root.subcommand(own.about(study.summary).args(output_options()))
    })
}

/// Options of all studies.
fn output_options() -> [Arg; 2] {
    let json = Arg::new(JSON)
        .long(JSON)
        .action(ArgAction::SetTrue)
        .help("Print JSON instead of text");
    let results = Arg::new(RESULTS)
        .long(RESULTS)
        .value_name("DIR")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Folder for the Markdown and CSV files [default: studies/results]");
    [json, results]
}

fn dispatch(matches: &ArgMatches) -> Result<(), Error> {
    if matches.get_flag(LIST) {
        list();
        return Ok(());
    }
    let Some((name, options)) = matches.subcommand() else {
        return Err(
            Error::usage("no study is named").with_remedy("`cargo study --list` lists them")
        );
    };
    if name == PART {
        let name = options.get_one::<String>(STUDY);
        return crate::subprocess::answer(name.map_or("", String::as_str));
    }
    if name == digest::COMMAND {
        let page = digest::compose(&results_folder())?;
        let path = options.get_one::<PathBuf>(OUTPUT).cloned();
        let path = path.unwrap_or_else(digest::usual_path);
        return std::fs::write(&path, page).map_err(|cause| Error::io("write", &path, &cause));
    }
    if name == refresh::COMMAND {
        return refresh::run(&results_folder(), options);
    }
    if name == SEVERAL {
        let mut names = options.get_many::<String>(NAMES).into_iter().flatten();
        return names.try_for_each(|name| run_as_usual(name));
    }
    run_study(name, options)
}

/// A study without options.
fn run_as_usual(name: &str) -> Result<(), Error> {
    catalogue::named(name).ok_or_else(|| no_study(name, None))?;
    let matches = command()
        .try_get_matches_from(["cargo study", name])
        .map_err(|fault| Error::usage(fault.to_string()))?;
    let Some((name, options)) = matches.subcommand() else {
        return Err(no_study(name, None));
    };
    run_study(name, options)
}

fn run_study(name: &str, options: &ArgMatches) -> Result<(), Error> {
    let study = catalogue::named(name).ok_or_else(|| no_study(name, None))?;
    let folder = options
        .get_one::<PathBuf>(RESULTS)
        .cloned()
        .unwrap_or_else(results_folder);
    // Hours of work are not to be lost to a folder that cannot be made.
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Error::io("make the folder", &folder, &cause))?;
    let before = provenance::cpu_seconds().unwrap_or(0.0);
    let mut findings = (study.run)(options)?;
    let cpu = provenance::cpu_seconds().unwrap_or(0.0) - before;
    let made = provenance::root().ok();
    let made = made.and_then(|root| Provenance::of_a_run(&root, cpu));
    findings.setting.extend(made.map(|made| made.sentence()));
    show(&findings, options.get_flag(JSON), study.lines);
    let written = findings.write(&folder)?;
    for path in written {
        let _ = writeln!(stderr().lock(), "wrote {}", path.display());
    }
    Ok(())
}

fn list() {
    let widest = STUDIES
        .iter()
        .map(|study| study.name.len())
        .max()
        .unwrap_or(0);
    let mut out = stdout().lock();
    for study in STUDIES {
        // A reader that has gone away is no error.
        let _ = writeln!(out, "{:widest$}  {}", study.name, study.summary);
    }
}

fn show(findings: &Findings, as_json: bool, in_lines: bool) {
    let mut out = stdout().lock();
    let _ = if as_json && in_lines {
        let rows = findings.data.json();
        let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
        rows.iter().try_for_each(|row| writeln!(out, "{row}"))
    } else if as_json {
        writeln!(out, "{:#}", findings.json())
    } else {
        write!(out, "{}", findings.text())
    };
}

/// Error for an unknown study; clap reports other errors itself.
fn unknown_study(fault: &clap::Error) -> Option<Error> {
    if fault.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(typed)) = fault.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let guess = match fault.get(ContextKind::SuggestedSubcommand) {
        // The most similar one comes last.
        Some(ContextValue::Strings(similar)) => similar.iter().rfind(|word| *word != PART),
        Some(ContextValue::String(similar)) => Some(similar),
        _ => None,
    };
    Some(no_study(typed, guess.map(String::as_str)))
}

fn no_study(typed: &str, guess: Option<&str>) -> Error {
    const ALL: &str = "`cargo study --list` lists them all";
    let remedy = match guess {
        Some(guess) => format!("did you mean {guess}? {ALL}"),
        None => ALL.into(),
    };
    Error::new(Kind::Usage, format!("there is no study named {typed:?}")).with_remedy(remedy)
}

/// `studies/results` of the workspace, whatever the current folder is.
fn results_folder() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR");
    let own = own.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    Path::new(&own).join("results")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(words: &[&str]) -> clap::Error {
        let arguments = ["cargo study"].iter().chain(words);
        command().try_get_matches_from(arguments).unwrap_err()
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn help_shows_the_summary_of_every_study() {
        let help = command().render_help().to_string();
        for study in STUDIES {
            assert!(help.contains(study.summary), "{help}");
        }
    }

    #[test]
    fn a_misspelt_study_gets_a_suggestion_and_a_strange_one_does_not() {
        let error = unknown_study(&mistake(&["step-sped"])).unwrap();
        assert_eq!(error.kind().exit_code(), 2);
        assert!(
            error.remedy().unwrap().contains("did you mean step-speed?"),
            "{error}"
        );
        let error = unknown_study(&mistake(&["zzz"])).unwrap();
        assert!(!error.to_string().contains("did you mean"), "{error}");
        assert!(error.to_string().contains("--list"), "{error}");
    }

    #[test]
    fn the_hidden_command_is_never_suggested() {
        let error = unknown_study(&mistake(&["par"])).unwrap();
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    #[test]
    fn no_study_has_the_name_of_another_command() {
        assert!(catalogue::named(PART).is_none());
        assert!(catalogue::named(SEVERAL).is_none());
        assert!(catalogue::named(digest::COMMAND).is_none());
        assert!(catalogue::named(refresh::COMMAND).is_none());
    }

    #[test]
    fn a_wrong_option_is_wrong_usage_and_no_unknown_study() {
        let fault = mistake(&["step-speed", "--frame", "3"]);
        assert!(unknown_study(&fault).is_none());
        assert_eq!(fault.exit_code(), 2);
        assert!(fault.to_string().contains("--frames"), "{fault}");
    }
}
