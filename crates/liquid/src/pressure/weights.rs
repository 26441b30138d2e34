//! Part one of the pressure step: how much of every face is open, where the free surface cuts it, and which cells
//! are unknowns.

use crate::grid::cut_cells::CutCells;
use crate::grid::tiles::Tiles;
use crate::particles::transfer::Stencil;
use crate::settings::Settings;

/// The free surface is kept this far from a liquid cell's centre, as a share of the distance between centres.
const LEAST_THETA: f64 = 0.01;
/// Least open share at the free surface, as a share of the face's own: no cell may lose its only way to the air.
const LEAST_AT_SURFACE: f64 = 0.01;

/// What lies beyond a face of a liquid cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaceNeighbour {
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
    pub fn beyond(&self, index: usize, axis: usize, high: bool) -> FaceNeighbour {
        if self.open(axis, self.face(index, axis, high)) == 0.0 {
            return FaceNeighbour::Solid;
        }
        let other = if high {
            self.tiles.above(index, axis)
        } else {
            self.tiles.below(index, axis)
        };
        if self.phi[other] < 0.0 {
            // An open face makes the neighbour an unknown, too.
            FaceNeighbour::Liquid
        } else {
            FaceNeighbour::Air {
                theta: self.theta(index, other),
            }
        }
    }

    /// Open share that the flow out of an unknown through a face has: the face's own, or that of the free surface beyond
    /// it if that is smaller.
    ///
    /// What leaves through a face into air raises the free surface, which has to be open. Below a sloping ceiling the
    /// face may be open where the surface already touches the ceiling: with the face's share nothing would keep more
    /// liquid from being pressed into a cell that is full.
    #[inline]
    pub fn open_to(&self, beyond: FaceNeighbour, index: usize, axis: usize, high: bool) -> f64 {
        let open = self.open(axis, self.face(index, axis, high));
        match beyond {
            FaceNeighbour::Air { theta } if !self.cut.far[index / Tiles::<D>::CELLS] => {
                let at_surface =
                    self.open_at_surface(index, axis, if high { theta } else { -theta });
                at_surface.clamp(LEAST_AT_SURFACE * open, open)
            }
            _ => open,
        }
    }

    /// Open share of the cross-section of a cell's column along `axis`, `theta` cells beyond its centre.
    fn open_at_surface(&self, index: usize, axis: usize, theta: f64) -> f64 {
        let mut x = self.tiles.coord(index).map(|c| c as f64 + 0.5);
        x[axis] += theta;
        let (distance, gradient) =
            Stencil::new(self.tiles, x, [0.0; D]).value_and_gradient(&self.cut.node);
        let across = (0..D).filter(|&a| a != axis).map(|a| gradient[a].powi(2));
        let across = across.sum::<f64>().sqrt();
        if distance >= 0.5 * across {
            1.0
        } else if distance <= -0.5 * across {
            0.0
        } else {
            0.5 + distance / across
        }
    }

    /// Least pressure of a row at a separating wall: zero at the cell's centre, or at the wall where the free surface meets
    /// it.
    ///
    /// DEVIATION [Lai20 (3.7)]: the paper bounds the pressure at the cell's centre by zero. Where the centre lies a distance
    /// `d` inside a ceiling, the pressure of liquid at rest there is `rho g d` less than at the wall: beside air, where
    /// the pressure at the wall is about zero, a bound of zero would pull the liquid off the ceiling.
    pub fn least_pressure(&self, index: usize, settings: &Settings<D>) -> f64 {
        let cell = self.tiles.coord(index);
        let distance = self.cut.centre(self.tiles, cell);
        if distance >= 0.0 || !self.is_beside_air(index) {
            return 0.0;
        }
        let normal = self.cut.normal(self.tiles, cell.map(|c| c as f64 + 0.5));
        let fall: f64 = (0..D)
            .map(|a| normal[a] * settings.physics.gravity[a])
            .sum();
        settings.physics.density * distance * fall.max(0.0)
    }

    fn is_beside_air(&self, index: usize) -> bool {
        let is_air =
            |axis, high| matches!(self.beyond(index, axis, high), FaceNeighbour::Air { .. });
        (0..D).any(|axis| is_air(axis, false) || is_air(axis, true))
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
