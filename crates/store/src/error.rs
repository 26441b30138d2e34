//! What the program says when it cannot go on: one message, a remedy, an exit code.

use std::fmt;
use std::io;
use std::path::Path;

/// Whose trouble it is. Each kind has its own exit code, so that scripts can tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two things that were compared are not the same; nothing went wrong.
    Difference,
    /// The command line or the scene asks for something that makes no sense.
    Usage,
    /// A file that a scene refers to is missing or broken.
    Asset,
    /// The machine has too little of something: memory, threads.
    Resources,
    /// The simulation failed: a solve did not converge, a number became infinite.
    Numerical,
    /// A file or folder could not be read or written, or holds damaged data.
    Storage,
    /// Somebody stopped the run.
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

/// Why a command ended early, and what the person at the keyboard can do about it.
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    remedy: Option<String>,
    drawn: bool,
}

impl Error {
    /// An error of the given kind; the message names the thing that went wrong.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            remedy: None,
            drawn: false,
        }
    }

    /// Errors that were drawn into the text they are about, and say themselves that they are errors.
    pub fn drawn(kind: Kind, picture: impl Into<String>) -> Self {
        Error {
            drawn: true,
            ..Error::new(kind, picture)
        }
    }

    /// All is said already; only the exit code is left to tell.
    pub fn silent(kind: Kind) -> Self {
        Error::drawn(kind, "")
    }

    /// Whether the message shows the text it is about and needs no introduction.
    pub fn is_drawn(&self) -> bool {
        self.drawn
    }

    /// A mistake on the command line or in a scene.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(Kind::Usage, message)
    }

    /// An operation on a file that the system refused; `doing` completes "could not ...".
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
                "make room on the disk and try again (a run goes on with --resume), or choose another one with --out DIR",
            ),
            _ => error,
        }
    }

    /// The same error with a sentence on what to do next.
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Whose trouble it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What went wrong, without the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do next, if there is something to say.
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
