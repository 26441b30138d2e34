//! What is wrong with a scene, and where it is written.

use super::overrides::Override;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

/// Where something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file, from byte to byte.
    File(usize, usize),
    /// In the change of this number, from the command line.
    Override(usize),
    /// Nobody wrote it.
    Nowhere,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The scene can't be run.
    Error,
    /// It can be run, but hardly as intended.
    Warning,
}

/// What is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The scene's own text.
    Scene,
    /// A file that the scene refers to.
    Asset,
    /// A damaged file in the folder of a run.
    Storage,
}

/// Something wrong, with the key it concerns and what to write instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is written.
    pub place: Place,
    /// Path of the key, as in `solid[2].shape.sphere.radius`; empty for the whole file.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Whose fault it is.
    pub blame: Blame,
}

impl Problem {
    /// Something that keeps the scene from running.
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

    /// Something that is hardly intended.
    pub fn warning(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Problem {
            severity: Severity::Warning,
            ..Problem::error(place, path, message)
        }
    }

    /// The same with what to write instead.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same, blamed on a file that the scene refers to.
    pub fn of_asset(mut self) -> Self {
        self.blame = Blame::Asset;
        self
    }

    /// The same, blamed on a damaged file in the folder of a run.
    pub fn of_storage(mut self) -> Self {
        self.blame = Blame::Storage;
        self
    }

    /// Whether it keeps the scene from running.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A text that problems point into.
#[derive(Clone, Debug)]
pub struct Source {
    /// What it is called in messages: the path of the file.
    pub name: String,
    /// All of it.
    pub text: String,
    /// Changes from the command line.
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

    /// A problem as a person reads it: what, where, the line itself, what to write instead.
    pub fn draw(&self, problem: &Problem, colours: bool) -> String {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let message = match problem.path.as_str() {
            "" => problem.message.clone(),
            path => format!("{path}: {}", problem.message),
        };
        // A hostile text must not move the cursor of a terminal.
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

    /// The change from the command line that a problem is about, and the part of its argument to point at.
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

    /// A problem as a program reads it.
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

/// The part of a span that is on its first line: a whole table need not be shown.
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
