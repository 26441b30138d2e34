//! Problems on a grid, for methods that use it.

use super::super::output::print_note;
use super::arguments::ProblemFlags;
use super::files::Problem;
use meniscus_lcp::registry::{NamedSolver, Registry};
use meniscus_liquid::solvers::{self, Settings};
use meniscus_liquid::{Coord, Solver};
use meniscus_store::error::{Error, Kind};
use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;
use std::str::FromStr;

/// Cells of the rows.
pub enum Grid {
    Two(Vec<Coord<2>>),
    Three(Vec<Coord<3>>),
}

/// Fields of `grid.json` that are read.
#[derive(Deserialize)]
struct Content {
    dimension: usize,
    cells: Vec<Vec<i32>>,
}

impl Grid {
    /// Grid of a problem, if it has one.
    pub fn beside(flags: &ProblemFlags, given: &Problem) -> Result<Option<Self>, Error> {
        let Some(path) = flags
            .problem
            .as_ref()
            .map(|folder| folder.join("grid.json"))
        else {
            return Ok(None);
        };
        if !path.is_file() {
            return Ok(None);
        }
        let unreadable = |why: &dyn std::fmt::Display| {
            Error::new(Kind::Asset, format!("{}: {why}", path.display()))
        };
        let file = File::open(&path).map_err(|cause| unreadable(&cause))?;
        let read: Content =
            serde_json::from_reader(BufReader::new(file)).map_err(|fault| unreadable(&fault))?;
        let rows = given.matrix.rows();
        if read.cells.len() != rows {
            return Err(Error::usage(format!(
                "{} has {} cells, but the matrix has {rows} rows",
                path.display(),
                read.cells.len()
            )));
        }
        let grid = match read.dimension {
            2 => coordinates(&read.cells).map(Self::Two),
            3 => coordinates(&read.cells).map(Self::Three),
            _ => None,
        };
        let what = "cells must have two or three integers each, matching the dimension";
        grid.map(Some).ok_or_else(|| unreadable(&what))
    }

    /// Grid of a problem, if one of these solvers may need it. Without names all may, and a grid that cannot be read is ignored
    /// with a note.
    pub fn for_solvers(
        flags: &ProblemFlags,
        given: &Problem,
        names: &[String],
    ) -> Result<Option<Self>, Error> {
        if names.is_empty() {
            return Ok(Self::beside(flags, given).unwrap_or_else(|fault| {
                print_note(&format!(
                    "skipped tn-mg and all other methods that need the grid: {}",
                    fault.message()
                ));
                None
            }));
        }
        match names.iter().any(|name| uses_grid(name)) {
            true => Self::beside(flags, given),
            false => Ok(None),
        }
    }

    /// Registers the methods that use the grid.
    pub fn register<'a>(&'a self, registry: &mut Registry<'a>) {
        match self {
            Self::Two(cells) => solvers::register(registry, cells),
            Self::Three(cells) => solvers::register(registry, cells),
        }
    }
}

/// All solvers: those of matrices, and with a grid those of scenes, which take precedence.
pub fn registry(grid: Option<&Grid>) -> Registry<'_> {
    let mut registry = Registry::default();
    if let Some(grid) = grid {
        grid.register(&mut registry);
    }
    registry
}

/// Whether a name is that of a solver that uses the grid.
fn uses_grid(name: &str) -> bool {
    let word = name.split(':').next().unwrap_or(name);
    Solver::from_str(word).is_ok()
}

/// Solver with its listed name, or the reason why it is not applicable.
pub type Candidate<'a> = (String, Result<Box<dyn NamedSolver + 'a>, Error>);

/// Solver by name; with a grid, names shared with the solvers of scenes mean the latter.
pub fn named<'a>(name: &str, registry: &'a Registry<'_>) -> Result<Candidate<'a>, Error> {
    let has_grid = registry
        .solvers()
        .any(|solver| solver.name() == Solver::TnMg.name());
    let solver = match registry.find(name) {
        Ok(solver) => Ok(solver),
        Err(why) if has_grid => return Err(Error::usage(why)),
        Err(_) if uses_grid(name) => {
            Settings::named(name).map_err(Error::usage)?;
            Err(
                Error::usage(format!("{name} needs the grid of the problem"))
                    .with_remedy("pass a folder with grid.json as --problem DIR"),
            )
        }
        Err(why) => {
            let words = Solver::WORDS.join(", ");
            return Err(Error::usage(format!("{why}; and, with a grid, {words}")));
        }
    };
    Ok((name.to_owned(), solver))
}

fn coordinates<const D: usize>(cells: &[Vec<i32>]) -> Option<Vec<Coord<D>>> {
    cells
        .iter()
        .map(|cell| cell.as_slice().try_into().ok())
        .collect()
}
