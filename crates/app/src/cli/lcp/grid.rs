//! Problems that lie on a grid, for methods that use it.

use super::arguments::{ProblemFlags, StopFlags};
use super::files::{Problem, broken};
use super::watch::Watch;
use meniscus_lcp::{BoxMlcp, Csr, toolbox};
use meniscus_liquid::Coord;
use meniscus_liquid::solvers::{self, Settings, Solution};
use meniscus_store::error::{Error, Kind};
use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;

/// The cells of the rows.
pub enum Grid {
    Two(Vec<Coord<2>>),
    Three(Vec<Coord<3>>),
}

/// What is read of `grid.json`.
#[derive(Deserialize)]
struct Content {
    dimension: usize,
    cells: Vec<Vec<i32>>,
}

impl Grid {
    /// The grid beside a problem, if it has one.
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
        let what = "cells must have two or three whole numbers each, as many as the dimension";
        grid.map(Some).ok_or_else(|| unreadable(&what))
    }

    /// Solves the problem.
    pub fn solve(
        &self,
        problem: &BoxMlcp<'_, Csr>,
        chosen: &Settings,
        stop: &StopFlags,
        x: &mut [f64],
        watch: &mut Watch,
    ) -> Result<Solution, Error> {
        let mut settings = Settings {
            tolerance: stop.tolerance,
            ..*chosen
        };
        if let Some(limit) = stop.max_iterations {
            settings.max_iterations = limit;
            if settings.solver.is_krylov() {
                settings.max_inner_iterations = limit;
            }
        }
        if let Some(first) = stop.first {
            toolbox::improve(problem, first, stop.tolerance, x, watch)
                .map_err(|fault| broken(&fault))?;
        }
        let solved = match self {
            Self::Two(cells) => {
                solvers::solve(problem, cells, &settings, x, &mut Default::default(), watch)
            }
            Self::Three(cells) => {
                solvers::solve(problem, cells, &settings, x, &mut Default::default(), watch)
            }
        };
        solved.map_err(|fault| Error::usage(format!("{}: {fault}", settings.solver)))
    }
}

fn coordinates<const D: usize>(cells: &[Vec<i32>]) -> Option<Vec<Coord<D>>> {
    cells
        .iter()
        .map(|cell| cell.as_slice().try_into().ok())
        .collect()
}
