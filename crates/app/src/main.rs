//! The program `meniscus`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    meniscus_app::cli::main()
}
