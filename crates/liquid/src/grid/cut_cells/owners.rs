//! The solids that cover faces.

use rayon::prelude::*;

use super::CutCells;
use crate::grid::tiles::{Coord, TILE, Tiles};
use crate::particles::transfer::face_offset;
use crate::solids::{SolidField, SolidId};

/// Owner of every face of a tile that is not fully open.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OfTile {
    /// No face is covered.
    None,
    /// One solid covers all that is covered.
    One(SolidId),
    /// Several solids do; this is their block.
    Several(u32),
}

/// The solids that cover faces. Most tiles meet one solid only; the others have a block with the owner of every face.
#[derive(Clone, Debug, Default)]
pub struct Owners<const D: usize> {
    of_tile: Vec<OfTile>,
    /// By blocks, axis after axis.
    of_face: Vec<SolidId>,
}

impl<const D: usize> Owners<D> {
    /// Owner of a face that is not fully open.
    #[inline]
    pub fn of(&self, axis: usize, index: usize) -> Option<SolidId> {
        let cells = Tiles::<D>::CELLS;
        match self.of_tile[index / cells] {
            OfTile::None => None,
            OfTile::One(solid) => Some(solid),
            OfTile::Several(block) => {
                Some(self.of_face[(block as usize * D + axis) * cells + index % cells])
            }
        }
    }

    /// Finds the owners: the solid closest to the centre of a face.
    pub fn find(
        &mut self,
        tiles: &Tiles<D>,
        cut: &CutCells<D>,
        dx: f64,
        solids: &dyn SolidField<D>,
    ) {
        self.of_tile.clear();
        self.of_face.clear();
        let one = match solids.count() {
            0 => OfTile::None,
            _ => OfTile::One(SolidId(0)),
        };
        // The null tile is open.
        self.of_tile.resize(tiles.len() + 1, one);
        if solids.count() < 2 {
            return;
        }
        let found: Vec<(OfTile, Vec<SolidId>)> = (0..tiles.len())
            .into_par_iter()
            .map(|slot| match cut.is_open(slot) {
                true => (OfTile::None, Vec::new()),
                false => of_tile(tiles, cut, dx, solids, slot),
            })
            .collect();
        let mut blocks = 0;
        for (slot, (of_tile, owners)) in found.into_iter().enumerate() {
            self.of_tile[slot] = of_tile;
            if !owners.is_empty() {
                self.of_tile[slot] = OfTile::Several(blocks);
                self.of_face.extend(owners);
                blocks += 1;
            }
        }
    }
}

/// Owners in one tile, and those of all its faces if there are several.
fn of_tile<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    dx: f64,
    solids: &dyn SolidField<D>,
    slot: usize,
) -> (OfTile, Vec<SolidId>) {
    if let Some(solid) = only_close(tiles.base(slot), dx, solids) {
        return (OfTile::One(solid), Vec::new());
    }
    let cells = Tiles::<D>::CELLS;
    let mut owners: Vec<(usize, SolidId)> = Vec::new();
    for axis in 0..D {
        let offset: [f64; D] = face_offset(axis);
        for index in slot * cells..(slot + 1) * cells {
            if cut.open_face(axis, index) < 1.0 {
                let cell = tiles.coord(index);
                let x = std::array::from_fn(|a| (cell[a] as f64 + offset[a]) * dx);
                if let Some(solid) = solids.closest(x) {
                    owners.push((axis * cells + index % cells, solid));
                }
            }
        }
    }
    let Some(&(_, first)) = owners.first() else {
        return (OfTile::None, Vec::new());
    };
    if owners.iter().all(|&(_, owner)| owner == first) {
        return (OfTile::One(first), Vec::new());
    }
    let mut block = vec![first; D * cells];
    for (place, owner) in owners {
        block[place] = owner;
    }
    (OfTile::None, block)
}

/// The solid that is closest everywhere in a tile, if its centre tells: distances change by no more than the way.
fn only_close<const D: usize>(
    base: Coord<D>,
    dx: f64,
    solids: &dyn SolidField<D>,
) -> Option<SolidId> {
    let centre = base.map(|c| (c as f64 + 0.5 * TILE as f64) * dx);
    let reach = 0.5 * TILE as f64 * dx * (D as f64).sqrt();
    let (mut closest, mut first, mut second) = (None, f64::INFINITY, f64::INFINITY);
    for solid in (0..solids.count() as u32).map(SolidId) {
        let distance = solids.distance_to(solid, centre);
        if distance < first {
            (closest, second, first) = (Some(solid), first, distance);
        } else {
            second = second.min(distance);
        }
    }
    // A hair more, for rounding.
    closest.filter(|_| second - first > 2.01 * reach)
}
