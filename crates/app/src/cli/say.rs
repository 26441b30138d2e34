//! Words on the terminal. A reader that has gone away, as in `meniscus scenes | head -1`, is no error.

use crate::error::Error;
use std::fmt::Arguments;
use std::io::{Write, stderr, stdout};

/// A line on standard output.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(stdout().lock(), "{line}");
}

/// An error on standard error.
pub fn complain(error: &Error) {
    let _ = writeln!(stderr().lock(), "error: {error}");
}
