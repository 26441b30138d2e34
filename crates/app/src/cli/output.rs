//! Printing. A closed pipe, as in `meniscus scenes | head -1`, is not an error.

use meniscus_store::error::Error;
use std::fmt::Arguments;
use std::io::{Write, stderr, stdout};

/// Prints a line to standard output.
pub fn print_line(line: Arguments<'_>) {
    let _ = writeln!(stdout().lock(), "{line}");
}

/// Prints an error to standard error.
pub fn print_error(error: &Error) {
    if error.message().is_empty() {
        return;
    }
    let _ = if error.is_drawn() {
        writeln!(stderr().lock(), "{error}")
    } else {
        writeln!(stderr().lock(), "error: {error}")
    };
}

/// Prints a note to standard error.
pub fn print_note(words: &str) {
    let _ = writeln!(stderr().lock(), "{words}");
}
