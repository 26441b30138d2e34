//! Errors and warnings with their places.

use super::overrides::Override;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

/// Place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file: range of bytes.
    File(usize, usize),
    /// In an override from the command line, by its index.
    Override(usize),
    /// In neither.
    Nowhere,
}

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The scene can't be run.
    Error,
    /// The scene can be run, but probably not as intended.
    Warning,
}

/// Origin of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The scene's own text.
    Scene,
    /// A file that the scene refers to.
    Asset,
    /// A damaged file in the folder of a run.
    Storage,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Severity.
    pub severity: Severity,
    /// Place.
    pub place: Place,
    /// Path of the key, as in `solid[2].shape.sphere.radius`; empty for the whole file.
    pub path: String,
    /// Message.
    pub message: String,
    /// Suggestion.
    pub help: Option<String>,
    /// Origin.
    pub blame: Blame,
}

impl Problem {
    /// An error.
    pub fn error(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Problem {
            severity: Severity::Error,
            place,
            path: path.into(),
            message: message.into(),
            help: None,
            blame: Blame::Scene,
        }
    }

    /// A warning.
    pub fn warning(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Problem {
            severity: Severity::Warning,
            ..Problem::error(place, path, message)
        }
    }

    /// The problem with a suggestion.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The problem as one of a file that the scene refers to.
    pub fn of_asset(mut self) -> Self {
        self.blame = Blame::Asset;
        self
    }

    /// The problem as one of a damaged file in the folder of a run.
    pub fn of_storage(mut self) -> Self {
        self.blame = Blame::Storage;
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A text that problems point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name in messages: the path of the file.
    pub name: String,
    /// Text.
    pub text: String,
    /// Overrides from the command line.
    pub overrides: Vec<Override>,
}

/// A problem for programs, as in `check --json`.
#[derive(Debug, Serialize)]
pub struct ProblemLine<'a> {
    severity: Severity,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    key: &'a str,
    message: &'a str,
    help: Option<&'a str>,
}

impl Source {
    /// Line and column of a place in the file, both from 1; columns count characters.
    pub fn line_and_column(&self, place: Place) -> Option<(usize, usize)> {
        let Place::File(start, _) = place else {
            return None;
        };
        let before = self.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        Some((line, before[line_start..].chars().count() + 1))
    }

    /// A problem as text: message, place, line, suggestion.
    pub fn draw(&self, problem: &Problem, colours: bool) -> String {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let message = match problem.path.as_str() {
            "" => problem.message.clone(),
            path => format!("{path}: {}", problem.message),
        };
        // Text from a file must not control the terminal.
        let message = printable(&message);
        let (name, text, span) = match problem.place {
            Place::File(start, end) => (self.name.as_str(), self.text.as_str(), start..end),
            Place::Override(_) | Place::Nowhere => ("", "", 0..0),
        };
        let (name, text, span) = match self.change_behind(problem) {
            Some((change, part)) => (change.flag(), change.argument(), part),
            None => (name, text, span),
        };
        let mut group = Group::with_title(level.primary_title(message));
        if name.is_empty() {
            group = group.element(annotate_snippets::Origin::path(self.name.as_str()));
        } else {
            let snippet = Snippet::source(text)
                .path(name)
                .annotation(AnnotationKind::Primary.span(first_line(text, span)));
            group = group.element(snippet);
        }
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(printable(help)));
        }
        let renderer = if colours {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.render(&[group])
    }

    /// The override that a problem is about, and the part of its argument to mark.
    ///
    /// A value from the command line may also be at fault where a table of the file is: the file then shows another
    /// value than the one that was used.
    fn change_behind(&self, problem: &Problem) -> Option<(&Override, std::ops::Range<usize>)> {
        let within = |inner: &str, outer: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let path = problem.path.as_str();
        match problem.place {
            Place::Override(index) => {
                let change = self.overrides.get(index)?;
                let of_value = within(path, &change.path);
                Some((
                    change,
                    if of_value {
                        change.value_span()
                    } else {
                        change.key_span()
                    },
                ))
            }
            Place::File(..) | Place::Nowhere if !path.is_empty() => {
                let touches = |c: &&Override| {
                    within(path, &c.path) || problem.is_error() && within(&c.path, path)
                };
                let change = self.overrides.iter().rev().find(touches)?;
                Some((change, change.value_span()))
            }
            Place::File(..) | Place::Nowhere => None,
        }
    }

    /// A problem as a line of JSON.
    pub fn line<'a>(&'a self, problem: &'a Problem) -> ProblemLine<'a> {
        let (line, column) = self.line_and_column(problem.place).unzip();
        ProblemLine {
            severity: problem.severity,
            file: &self.name,
            line,
            column,
            key: &problem.path,
            message: &problem.message,
            help: problem.help.as_deref(),
        }
    }
}

/// The part of a span that is on its first line.
fn first_line(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let Some(part) = text.get(span.clone()) else {
        return 0..0;
    };
    let end = part.find('\n').unwrap_or(part.len());
    span.start..span.start + end.max(usize::from(!part.is_empty() && end == 0))
}

fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}
