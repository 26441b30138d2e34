//! Part one of the pressure step: how much of every face is open, where the free surface cuts it, and which cells
//! are unknowns.

use crate::cut_cells::CutCells;
use crate::tiles::Tiles;

/// The free surface is kept this far from a liquid cell's centre, as a share of the distance between centres.
const LEAST_THETA: f64 = 0.01;

/// What lies beyond a face of a liquid cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beyond {
    /// Another unknown.
    Liquid,
    /// Air, with the surface at this share of the way to the neighbour's centre.
    Air {
        /// From the cell's centre to the surface, as a share of a cell.
        theta: f64,
    },
    /// A closed face.
    Solid,
}

/// The geometry of a pressure step.
#[derive(Clone, Copy)]
pub struct Weights<'a, const D: usize> {
    /// The cells there are.
    pub tiles: &'a Tiles<D>,
    /// Open fractions.
    pub cut: &'a CutCells<D>,
    /// The liquid's distance at the centres of cells.
    pub phi: &'a [f32],
    /// Width of a cell.
    pub dx: f64,
}

impl<const D: usize> Weights<'_, D> {
    /// Index of the face of a cell along `axis`, on its high or low side.
    #[inline]
    pub fn face(&self, index: usize, axis: usize, high: bool) -> usize {
        if high {
            self.tiles.above(index, axis)
        } else {
            index
        }
    }

    /// Open share of a face, by its index.
    #[inline]
    pub fn open(&self, axis: usize, face: usize) -> f64 {
        self.cut.open_face(axis, face) as f64
    }

    /// A liquid cell with an open face.
    #[inline]
    pub fn is_unknown(&self, index: usize) -> bool {
        self.phi[index] < 0.0
            && (0..D).any(|a| {
                self.open(a, index) > 0.0 || self.open(a, self.tiles.above(index, a)) > 0.0
            })
    }

    /// What an unknown's face leads to.
    #[inline]
    pub fn beyond(&self, index: usize, axis: usize, high: bool) -> Beyond {
        if self.open(axis, self.face(index, axis, high)) == 0.0 {
            return Beyond::Solid;
        }
        let other = if high {
            self.tiles.above(index, axis)
        } else {
            self.tiles.below(index, axis)
        };
        if self.phi[other] < 0.0 {
            // An open face makes the neighbour an unknown, too.
            Beyond::Liquid
        } else {
            Beyond::Air {
                theta: self.theta(index, other),
            }
        }
    }

    /// Share of the way from a liquid cell's centre to an air cell's at which the surface lies.
    #[inline]
    pub fn theta(&self, liquid: usize, air: usize) -> f64 {
        let (inside, outside) = (self.phi[liquid] as f64, self.phi[air] as f64);
        // A distance changes by no more than a cell from one centre to the next; far from the particles the estimate
        // of the air's is rough, and often does.
        let across = (outside - inside).min(self.dx);
        (-inside / across).clamp(LEAST_THETA, 1.0)
    }
}
