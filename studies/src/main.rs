//! Studies: commands that measure Meniscus or repeat a table or figure of a paper, each with results that can be
//! read, plotted and compared. Run as `cargo study NAME`.
//!
//! A study is a file in [`catalogue`] that implements [`study::Study`]: options in, [`findings::Findings`] out. Everything
//! around it, from the command line to the files in `studies/results/`, is the same for all.

#![forbid(unsafe_code)]

mod catalogue;
mod command_line;
mod digest;
mod figures;
mod findings;
mod machine;
mod options;
mod peer;
mod phase_timer;
mod prelude;
mod provenance;
mod refresh;
mod stills;
mod study;
mod subprocess;
mod table;
mod target;
mod walls;

use std::process::ExitCode;

fn main() -> ExitCode {
    command_line::run(std::env::args_os())
}
