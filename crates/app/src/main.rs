//! The program `meniscus`.

use std::process::ExitCode;

fn main() -> ExitCode {
    meniscus_app::cli::main()
}
