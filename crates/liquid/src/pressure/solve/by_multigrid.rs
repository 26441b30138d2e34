//! The methods that need the cells of rows.

use meniscus_lcp::{BoxMlcp, Csr, InputError, Report};
use rayon::prelude::*;

use super::System;
use crate::multigrid::{self, Cycle};
use crate::tiles::{Coord, Tiles};

/// Sweeps of the cycle that preconditions conjugate gradients.
const SWEEPS: usize = 2;

/// Multigrid with its memory.
#[derive(Default)]
pub(super) struct ByMultigrid<const D: usize> {
    cells: Vec<Coord<D>>,
    workspace: multigrid::Workspace<D>,
    pub cycle: Cycle<D>,
}

impl<const D: usize> ByMultigrid<D> {
    /// Looks up where the rows are.
    pub fn place(&mut self, tiles: &Tiles<D>, system: &System) {
        self.cells.clear();
        let cells = system.cells.par_iter().with_min_len(4096);
        self.cells
            .par_extend(cells.map(|&cell| tiles.coord(cell as usize)));
    }

    pub fn solve(
        &mut self,
        problem: &BoxMlcp<Csr>,
        tolerance: f64,
        max_iterations: usize,
        x: &mut [f64],
    ) -> Result<Report, InputError> {
        let settings = multigrid::Settings {
            tolerance,
            max_iterations,
            ..Default::default()
        };
        let workspace = &mut self.workspace;
        multigrid::solve(problem, &self.cells, &settings, x, workspace, &mut ())
    }

    /// Solves another problem with the matrix of the last, with its levels.
    pub fn solve_again(
        &mut self,
        problem: &BoxMlcp<Csr>,
        tolerance: f64,
        max_iterations: usize,
        x: &mut [f64],
    ) -> Result<Report, InputError> {
        let settings = multigrid::Settings {
            tolerance,
            max_iterations,
            ..Default::default()
        };
        let workspace = &mut self.workspace;
        multigrid::solve_again(problem, &self.cells, &settings, x, workspace, &mut ())
    }

    pub fn rebuild_cycle(&mut self, problem: &BoxMlcp<Csr>) -> Result<(), InputError> {
        self.cycle.rebuild(problem, &self.cells, SWEEPS)
    }
}
