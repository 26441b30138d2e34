//! Connected parts: drops that are solved directly, and closed regions whose pressure is free up to a constant.

use super::direct::Places;
use super::level::Level;
use super::{edge_axes, edge_kinds};

/// Disjoint sets, each known by its smallest member.
struct Sets(Vec<u32>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] as usize != at {
            self.0[at] = self.0[self.0[at] as usize];
            at = self.0[at] as usize;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b) as u32;
    }
}

/// The unknowns of all connected parts with at most `most` unknowns.
///
/// Coarse levels merge drops that lie beside each other or beside other liquid; with drops inside the multigrid hierarchy the solve
/// stalls at high viscosity.
pub(crate) fn drops<const D: usize>(level: &Level<D, f64>, most: usize) -> Places {
    let tiles = &level.tiles;
    let length = tiles.field_len();
    let mut sets = Sets::new((D + 1) * length);
    let all = Places::all(level);
    let unknown = |axis: usize, index: usize| {
        level
            .is_unknown(axis, index)
            .then_some(axis * length + index)
    };
    let mut join_all = |members: &[Option<usize>]| {
        let mut known = members.iter().flatten();
        if let Some(&first) = known.next() {
            known.for_each(|&other| sets.join(first, other));
        }
    };
    for index in 0..tiles.cells() {
        if level.cell[index] > 0.0 || level.has_pressure(index) {
            let mut members = [None; 7];
            members[6] = level.has_pressure(index).then_some(D * length + index);
            for a in 0..D {
                members[2 * a] = unknown(a, index);
                members[2 * a + 1] = unknown(a, tiles.above(index, a));
            }
            join_all(&members);
        }
        for kind in 0..edge_kinds(D) {
            if level.edge[kind][index] > 0.0 {
                let (a, b) = edge_axes(kind);
                join_all(&[
                    unknown(a, index),
                    unknown(a, tiles.below(index, b)),
                    unknown(b, index),
                    unknown(b, tiles.below(index, a)),
                ]);
            }
        }
    }
    let face_id = |&(axis, index): &(u8, u32)| axis as usize * length + index as usize;
    let cell_id = |&index: &u32| D * length + index as usize;
    let mut sizes = vec![0u32; sets.0.len()];
    for id in all
        .faces
        .iter()
        .map(face_id)
        .chain(all.cells.iter().map(cell_id))
    {
        sizes[sets.root(id)] += 1;
    }
    let mut is_small = |id: usize| sizes[sets.root(id)] as usize <= most;
    Places {
        faces: all
            .faces
            .iter()
            .filter(|face| is_small(face_id(face)))
            .copied()
            .collect(),
        cells: all
            .cells
            .iter()
            .filter(|cell| is_small(cell_id(cell)))
            .copied()
            .collect(),
    }
}

/// Regions of cells with a pressure that no unknown face opens to a cell without one, each as the numbers of its
/// pressures.
///
/// There the pressure is free up to a constant, and the fluxes of the walls must sum to zero.
pub(crate) fn closed_regions<const D: usize>(
    level: &Level<D, f64>,
    cells: &[u32],
) -> Vec<Vec<u32>> {
    let tiles = &level.tiles;
    let mut number = vec![u32::MAX; tiles.field_len()];
    for (row, &cell) in cells.iter().enumerate() {
        number[cell as usize] = row as u32;
    }
    let mut sets = Sets::new(cells.len());
    let mut opens = vec![false; cells.len()];
    for (row, &cell) in cells.iter().enumerate() {
        let cell = cell as usize;
        for a in 0..D {
            let above = tiles.above(cell, a);
            for (face, beyond) in [(cell, tiles.below(cell, a)), (above, above)] {
                if level.is_unknown(a, face) {
                    match number[beyond] {
                        u32::MAX => opens[row] = true,
                        other => sets.join(row, other as usize),
                    }
                }
            }
        }
    }
    let mut open = vec![false; cells.len()];
    for row in (0..cells.len()).filter(|&row| opens[row]) {
        open[sets.root(row)] = true;
    }
    let mut regions: Vec<Vec<u32>> = Vec::new();
    let mut region_of = vec![usize::MAX; cells.len()];
    for row in 0..cells.len() {
        let root = sets.root(row);
        if !open[root] {
            if region_of[root] == usize::MAX {
                region_of[root] = regions.len();
                regions.push(Vec::new());
            }
            regions[region_of[root]].push(row as u32);
        }
    }
    regions
}
