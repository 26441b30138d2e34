//! Errors of the program: a message, a remedy and an exit code.

use std::fmt;
use std::io;
use std::path::Path;

/// Kind of an error. Each has its own exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two compared runs differ; not a failure.
    Difference,
    /// The command line or the scene is invalid.
    Usage,
    /// A file that a scene refers to is missing or broken.
    Asset,
    /// The machine has too little memory or too few threads.
    Resources,
    /// The simulation failed: a solve did not converge, or a number is not finite.
    Numerical,
    /// A file or folder could not be read or written, or holds damaged data.
    Storage,
    /// The user stopped the run.
    Interrupted,
}

impl Kind {
    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Difference => 1,
            Kind::Usage => 2,
            Kind::Asset => 3,
            Kind::Resources => 4,
            Kind::Numerical => 5,
            Kind::Storage => 6,
            Kind::Interrupted => 130,
        }
    }
}

/// Why a command failed, and what the user can do about it.
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    remedy: Option<String>,
    drawn: bool,
}

impl Error {
    /// An error of a kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            remedy: None,
            drawn: false,
        }
    }

    /// Errors that were rendered with the text they are about.
    pub fn drawn(kind: Kind, picture: impl Into<String>) -> Self {
        Error {
            drawn: true,
            ..Error::new(kind, picture)
        }
    }

    /// An error without a message, for its exit code.
    pub fn silent(kind: Kind) -> Self {
        Error::drawn(kind, "")
    }

    /// Whether the message shows the text it is about and needs no introduction.
    pub fn is_drawn(&self) -> bool {
        self.drawn
    }

    /// An error on the command line or in a scene.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(Kind::Usage, message)
    }

    /// An operation on a file that failed; `doing` completes "could not ...".
    pub fn io(doing: &str, path: &Path, cause: &io::Error) -> Self {
        let error = Error::new(
            Kind::Storage,
            format!("could not {doing} {}: {cause}", path.display()),
        );
        match cause.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                error.with_remedy("choose a folder you may write to with --out DIR")
            }
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => error.with_remedy(
                "make room on the disk and try again (a run continues with --resume), or choose another one with --out DIR",
            ),
            _ => error,
        }
    }

    /// The error with a remedy.
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Message without the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Remedy, if there is one.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
