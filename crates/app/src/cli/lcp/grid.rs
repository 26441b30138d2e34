//! Problems on a grid, for methods that use it.

use super::arguments::ProblemFlags;
use super::files::Problem;
use meniscus_lcp::registry::Registry;
use meniscus_liquid::Coord;
use meniscus_liquid::solvers;
use meniscus_store::error::{Error, Kind};
use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;

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

    /// Registers the methods that use the grid.
    pub fn register<'a>(&'a self, registry: &mut Registry<'a>) {
        match self {
            Self::Two(cells) => solvers::register(registry, cells),
            Self::Three(cells) => solvers::register(registry, cells),
        }
    }
}

fn coordinates<const D: usize>(cells: &[Vec<i32>]) -> Option<Vec<Coord<D>>> {
    cells
        .iter()
        .map(|cell| cell.as_slice().try_into().ok())
        .collect()
}
