//! Divergence-free extrapolation: velocities beside the liquid that conserve the volume of the particles there.
//!
//! Particles at the surface lie up to a cell above the centres of liquid cells, and move farther within a step. With
//! constant extrapolation a column of liquid that becomes narrower would not become higher there: particles would gather where the
//! surface rises and part where it falls. The one is undone by the other half a period later, unless position
//! correction is quicker: it pushes the crest up late, in phase with its height, and so feeds the wave. Therefore the
//! faces of each layer of air cells that lead away from the liquid take up the divergence of their cell. Cells between
//! two fronts, in a gap that closes or a dip, keep their divergence: there air is displaced, not liquid.

use rayon::prelude::*;

use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::CutCells;
use crate::grid::extrapolate::FaceState;
use crate::grid::tiles::Tiles;
use crate::particles::transfer::FaceField;

/// Layers of air cells around the liquid that become free of divergence: as many as particles may cross in a step at the
/// default CFL number.
const LAYERS: usize = 2;

/// Largest change of a velocity, as a share of the largest one on the faces of its cell. In a corner of the surface one
/// face would have to take up what noise brings in through all the others.
const LARGEST_CHANGE: f64 = 0.5;

/// Makes the extrapolated velocity free of divergence in the air cells around the `liquid`, layer by layer.
pub fn remove_divergence<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    liquid: &CellSet,
    state: &[Vec<FaceState>; D],
    velocity: &mut FaceField<D>,
) {
    let mut outside = CellSet::of(tiles, |index| cut.open_cell(index) > 0.0);
    outside.remove(liquid);
    let mut behind = liquid.clone();
    let mut front = liquid.beside(tiles, &outside);
    let mut cells = Vec::new();
    for _ in 0..LAYERS {
        outside.remove(&front);
        front.list(&mut cells);
        let changes: Vec<[[f64; 2]; D]> = cells
            .par_iter()
            .with_min_len(256)
            .map(|&cell| {
                outward_changes(
                    tiles,
                    cut,
                    [&behind, &outside],
                    state,
                    velocity,
                    cell as usize,
                )
            })
            .collect();
        for (&cell, changes) in cells.iter().zip(&changes) {
            for axis in 0..D {
                velocity[axis][cell as usize] += changes[axis][0];
                velocity[axis][tiles.above(cell as usize, axis)] += changes[axis][1];
            }
        }
        behind.add(&front);
        front = front.beside(tiles, &outside);
    }
}

/// Changes of the velocity on the low and high faces of a cell that lead `outside`, equal in size, that make it free of
/// divergence. None if a face has no velocity, if none of them may change, or if two opposite faces lead back to the
/// liquid.
fn outward_changes<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    [behind, outside]: [&CellSet; 2],
    state: &[Vec<FaceState>; D],
    velocity: &FaceField<D>,
    cell: usize,
) -> [[f64; 2]; D] {
    let mut signs = [[0.0; 2]; D];
    let (mut divergence, mut largest, mut count) = (0.0, 0.0f64, 0);
    for axis in 0..D {
        let mut fronts = 0;
        let above = tiles.above(cell, axis);
        for (side, face, other) in [(0, cell, tiles.below(cell, axis)), (1, above, above)] {
            let outward = if side == 1 { 1.0 } else { -1.0 };
            if state[axis][face] == FaceState::Unknown {
                return [[0.0; 2]; D];
            }
            divergence += outward * velocity[axis][face];
            largest = largest.max(velocity[axis][face].abs());
            let open = cut.open_face(axis, face);
            if outside.has(other) {
                if state[axis][face] == FaceState::Extrapolated && open >= 1.0 {
                    signs[axis][side] = outward;
                    count += 1;
                }
            } else if open > 0.0 && behind.has(other) {
                fronts += 1;
            }
        }
        if fronts == 2 {
            return [[0.0; 2]; D];
        }
    }
    let change = if count > 0 {
        let most = LARGEST_CHANGE * largest;
        (-divergence / count as f64).clamp(-most, most)
    } else {
        0.0
    };
    signs.map(|sides| sides.map(|sign| sign * change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_shapes::Solids;

    /// Stagnation flow `(x, -y)` below a flat surface: constant extrapolation has its divergence in the air, this has none
    /// and is exact.
    #[test]
    fn a_linear_flow_is_continued_exactly_above_a_flat_surface() {
        let mut tiles = Tiles::<2>::new([32, 32]);
        tiles.cover([[16, 16]].par_iter().copied(), 8);
        let mut cut = CutCells::new();
        let solids = Solids::new(vec![]);
        cut.sample(&tiles, 1.0, &solids.over_step(0.0, 0.0));
        let is_liquid = |index: usize| tiles.coord(index)[1] < 16;
        let liquid = CellSet::of(&tiles, is_liquid);
        let exact = |axis: usize, index: usize| match (axis, tiles.coord(index)) {
            (0, [x, _]) => x as f64,
            (_, [_, y]) => -y as f64,
        };
        let mut velocity: FaceField<2> = std::array::from_fn(|_| Vec::new());
        let mut state: [Vec<FaceState>; 2] = std::array::from_fn(|_| Vec::new());
        for axis in 0..2 {
            tiles.reset(&mut velocity[axis], 0.0);
            tiles.reset(&mut state[axis], FaceState::Extrapolated);
            for index in 0..tiles.cells() {
                velocity[axis][index] = exact(axis, index);
                if axis == 1 && tiles.coord(index)[1] > 16 {
                    velocity[axis][index] = -16.0;
                }
                if is_liquid(index) || axis == 1 && tiles.coord(index)[1] == 16 {
                    state[axis][index] = FaceState::Known;
                }
            }
        }
        remove_divergence(&tiles, &cut, &liquid, &state, &mut velocity);
        for index in 0..tiles.cells() {
            let [x, y] = tiles.coord(index);
            if (12..20).contains(&x) && (10..20).contains(&y) {
                // Beyond the last layer the constant stands.
                let rise = if y > 16 + LAYERS as i32 { 16 } else { y };
                assert_eq!(velocity[0][index], x as f64, "{x} {y}");
                assert_eq!(velocity[1][index], -rise as f64, "{x} {y}");
            }
        }
    }
}
