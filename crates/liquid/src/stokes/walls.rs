//! What single solids do to viscous liquid, and walls that let go.
//!
//! A wall cell of a separating solid whose pressure falls below minus the adhesion is released: for the rest of the step there is
//! air in place of the solid in it. This is no complementarity problem, so nothing is taken back within a step, and
//! there are few rounds. What was released sticks again in the next step if it is still at the wall and pressed onto it.

use rayon::prelude::*;

use super::fractions::Geometry;
use super::system::System;
use crate::grid::cut_cells::CutCells;
use crate::grid::tiles::Tiles;
use crate::projection::Faces;
use crate::settings::Walls;
use crate::solids::{SolidField, SolidId};

/// Rounds in which walls let go.
pub(crate) const RELEASES: usize = 3;
/// Open shares above this are whole.
const OPEN: f64 = 1.0 - 1e-6;

/// Boundary condition of viscous liquid at one solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidWall {
    /// Kind of wall.
    pub kind: Walls,
    /// Suction in Pa that a separating wall bears before the liquid leaves it.
    pub adhesion: f64,
}

/// Boundary conditions at all cells beside walls.
pub(crate) struct WallCells {
    /// Suction in Pa at which the wall of a cell lets go; empty if none does.
    pub bears: Vec<f32>,
}

impl WallCells {
    /// Finds the solids of wall cells; those that the liquid slides along are flagged in the geometry.
    pub fn of<const D: usize>(faces: &Faces<'_, D>, geometry: &mut Geometry<D>) -> Self {
        let physics = &faces.settings.physics;
        let usual = SolidWall {
            kind: physics.walls,
            adhesion: physics.adhesion,
        };
        let own = |solid: SolidId| {
            let own = physics.solid_walls.get(solid.0 as usize);
            own.copied().unwrap_or(usual)
        };
        let is = |kind: Walls| {
            usual.kind == kind || physics.solid_walls.iter().any(|wall| wall.kind == kind)
        };
        let (slips, separates) = (is(Walls::Slip), is(Walls::Separating));
        let (tiles, cut, solids) = (faces.tiles, faces.cut, faces.solids);
        let dx = faces.settings.dx;
        let wall_of = |index: usize| -> Option<SolidWall> {
            if index >= tiles.cells() || geometry.shares(index, 0).1 == 0.0 {
                return None;
            }
            Some(owner(tiles, cut, solids, dx, index).map_or(usual, own))
        };
        let all = || (0..tiles.field_len()).into_par_iter().with_min_len(256);
        let bears = match separates {
            true => all()
                .map(|index| match wall_of(index) {
                    Some(wall) if wall.kind == Walls::Separating => wall.adhesion as f32,
                    _ => f32::INFINITY,
                })
                .collect(),
            false => Vec::new(),
        };
        let flags = match slips {
            true => all()
                .map(|index| wall_of(index).is_some_and(|wall| wall.kind == Walls::Slip))
                .collect(),
            false => Vec::new(),
        };
        geometry.slips = flags;
        Self { bears }
    }

    /// Wall cells that are pulled at too hard.
    pub fn pulled<const D: usize>(&self, system: &System<D>, x: &[f64]) -> Vec<usize> {
        if self.bears.is_empty() {
            return Vec::new();
        }
        let unit = system.pressure_unit();
        let pressures = system.cells().zip(&x[system.velocities()..]);
        let pulled = pressures.filter(|&(index, &q)| {
            let (liquid, solid) = system.geometry.shares(index, 0);
            solid > 1.0 - OPEN && q * unit / liquid < -f64::from(self.bears[index])
        });
        pulled.map(|(index, _)| index).collect()
    }
}

/// The solid at a wall cell.
fn owner<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    solids: &dyn SolidField<D>,
    dx: f64,
    index: usize,
) -> Option<SolidId> {
    let beside = (0..D).flat_map(|axis| [(axis, index), (axis, tiles.above(index, axis))]);
    let closed = beside
        .filter(|&(axis, face)| cut.open_face(axis, face) < 1.0)
        .find_map(|(axis, face)| cut.owner(axis, face));
    closed.or_else(|| {
        let coord = tiles.coord(index);
        let x = coord.map(|c| (c as f64 + 0.5) * dx);
        solids.closest(x)
    })
}
