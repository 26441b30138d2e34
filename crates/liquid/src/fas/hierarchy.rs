//! All levels of a problem.

use meniscus_lcp::{Csr, Hierarchy, InputError, Transfer};

use super::coarsen::coarsen;
use super::direct::discretise;
use super::level::Level;
use super::settings::{Coarse, Settings};
use super::transfer::transfer;
use crate::compiled::Compiled;
use crate::grid::tiles::Coord;
use crate::stencil::Stencil;

/// Unknowns that need no coarser level.
const FEW: usize = 8;

/// Levels of a pressure problem, and the ways between them.
#[derive(Clone, Debug)]
pub struct Levels<const D: usize> {
    finest: usize,
    transfers: Vec<Transfer>,
    matrices: Vec<Csr>,
    cells: Vec<Vec<Coord<D>>>,
}

impl<const D: usize> Levels<D> {
    /// Levels above a matrix that couples cells that share a face.
    pub fn new(stencil: &Stencil<D>, settings: &Settings) -> Result<Self, InputError> {
        (Compiled::get().fas_levels)(stencil, settings)
    }

    pub(crate) fn new_impl(stencil: &Stencil<D>, settings: &Settings) -> Result<Self, InputError> {
        let mut fine = Level::finest(stencil);
        let mut levels = Self {
            finest: stencil.rows(),
            transfers: Vec::new(),
            matrices: Vec::new(),
            cells: Vec::new(),
        };
        while fine.len() > FEW && !fine.links.is_empty() {
            let (coarse, parent) = coarsen(&fine, settings.boundaries);
            let transfer = transfer(
                &fine,
                &coarse,
                &parent,
                settings.interpolation,
                settings.boundaries,
            )?;
            let next = match settings.coarse {
                Coarse::Galerkin => {
                    let matrix = levels.matrices.last();
                    transfer.galerkin(matrix.unwrap_or_else(|| stencil.matrix()))?
                }
                Coarse::Direct => discretise(&coarse)?,
            };
            levels.transfers.push(transfer);
            levels.matrices.push(next);
            levels.cells.push(coarse.cells.clone());
            fine = coarse;
        }
        Ok(levels)
    }

    /// The way between a level, from 1 on, and the next finer one.
    pub fn transfer(&self, level: usize) -> &Transfer {
        &self.transfers[level - 1]
    }

    /// Cells of the unknowns of a level from 1 on, counted from the lowest one.
    pub fn cells(&self, level: usize) -> &[Coord<D>] {
        &self.cells[level - 1]
    }
}

impl<const D: usize> Hierarchy for Levels<D> {
    type Matrix = Csr;

    fn finest(&self) -> usize {
        self.finest
    }

    fn coarser(&self) -> usize {
        self.matrices.len()
    }

    fn matrix(&self, level: usize) -> &Csr {
        &self.matrices[level - 1]
    }

    fn restrict(&self, level: usize, fine: &[f64], coarse: &mut [f64]) {
        self.transfers[level - 1].restrict(fine, coarse);
    }

    fn prolongate(&self, level: usize, coarse: &[f64], fine: &mut [f64]) {
        self.transfers[level - 1].prolongate(coarse, fine);
    }

    fn bounded(&self, level: usize, fine: &[bool], coarse: &mut [bool]) {
        self.transfers[level - 1].joined(fine, coarse);
    }
}
