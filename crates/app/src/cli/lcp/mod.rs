//! `meniscus lcp`: complementarity problems as files.

mod arguments;
mod compare;
mod export;
mod files;
mod friction;
mod generate;
mod grid;
mod info;
mod solve;
mod solve_timer;
mod solvers;

pub use arguments::LcpCommand;

use meniscus_store::error::Error;

/// Runs a subcommand of `meniscus lcp`.
pub fn dispatch(command: &LcpCommand) -> Result<(), Error> {
    match command {
        LcpCommand::Solve(arguments) => solve::solve(arguments),
        LcpCommand::Compare(arguments) => compare::compare(arguments),
        LcpCommand::Info(arguments) => info::info(arguments),
        LcpCommand::Generate(what) => generate::generate(what),
        LcpCommand::Solvers => solvers::list(),
        LcpCommand::Export(arguments) => export::export(arguments),
    }
}
