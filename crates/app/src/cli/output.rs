//! Words on the terminal. A reader that has gone away, as in `meniscus scenes | head -1`, is no error.

use meniscus_store::error::Error;
use std::fmt::Arguments;
use std::io::{Write, stderr, stdout};

/// A line on standard output.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(stdout().lock(), "{line}");
}

/// An error on standard error.
pub fn complain(error: &Error) {
    if error.message().is_empty() {
        return;
    }
    let _ = if error.is_drawn() {
        writeln!(stderr().lock(), "{error}")
    } else {
        writeln!(stderr().lock(), "error: {error}")
    };
}

/// Words on standard error that are no error.
pub fn remark(words: &str) {
    let _ = writeln!(stderr().lock(), "{words}");
}
