//! The trait of a study, and its entry in the catalogue.

use crate::findings::Findings;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use meniscus_store::error::Error;
use serde_json::Value;

/// A study: one command that produces one set of results.
pub trait Study {
    /// Name on the command line and of the result files.
    const NAME: &'static str;
    /// Description, in one line.
    const SUMMARY: &'static str;
    /// Whether `--json` prints a line for each row of the data, instead of everything at once.
    const LINES: bool = false;
    /// Command-line options.
    type Options: Args;

    /// Runs the study.
    fn run(options: &Self::Options) -> Result<Findings, Error>;

    /// Does a part of the work that wants a process of its own; see [`crate::subprocess`].
    fn part(_part: Value) -> Result<Value, Error> {
        Err(Error::usage(format!(
            "{} has no parts to run in a subprocess",
            Self::NAME
        )))
    }
}

/// Entry of the catalogue.
pub struct Entry {
    /// [`Study::NAME`].
    pub name: &'static str,
    /// [`Study::SUMMARY`].
    pub summary: &'static str,
    /// [`Study::LINES`].
    pub lines: bool,
    /// Adds the options of the study to its command.
    pub with_options: fn(Command) -> Command,
    /// [`Study::run`] with the options that were typed.
    pub run: fn(&ArgMatches) -> Result<Findings, Error>,
    /// [`Study::part`].
    pub part: fn(Value) -> Result<Value, Error>,
}

impl Entry {
    /// The entry of a study.
    pub const fn of<S: Study>() -> Self {
        Entry {
            name: S::NAME,
            summary: S::SUMMARY,
            lines: S::LINES,
            with_options: S::Options::augment_args,
            run: run::<S>,
            part: S::part,
        }
    }
}

fn run<S: Study>(matches: &ArgMatches) -> Result<Findings, Error> {
    let options =
        S::Options::from_arg_matches(matches).map_err(|fault| Error::usage(fault.to_string()))?;
    S::run(&options)
}
