//! Connected parts: drops that are solved directly, and closed regions whose pressure is free up to a constant.

use super::bodies::BodyFaces;
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
///
/// Parts that touch a face of `bodies` move with them and are none.
pub(crate) fn drops<const D: usize>(
    level: &Level<D, f64>,
    most: usize,
    bodies: &BodyFaces,
) -> Places {
    let tiles = &level.tiles;
    let length = tiles.field_len();
    let mut sets = Sets::new((D + 1) * length);
    let all = Places::all(level);
    let unknown = |axis: usize, index: usize| {
        level
            .is_unknown(axis, index)
            .then_some(axis * length + index)
    };
    let mut moved: Vec<usize> = bodies
        .places()
        .map(|(axis, index)| axis * length + index)
        .collect();
    moved.sort_unstable();
    let is_moved = |id: usize| moved.binary_search(&id).is_ok();
    // One member of every sample that bodies move.
    let mut held: Vec<usize> = Vec::new();
    let mut join_all = |members: &[Option<usize>], faces: &[usize]| {
        let mut known = members.iter().flatten();
        if let Some(&first) = known.next() {
            known.for_each(|&other| sets.join(first, other));
            if !moved.is_empty() && faces.iter().any(|&face| is_moved(face)) {
                held.push(first);
            }
        }
    };
    for index in 0..tiles.cells() {
        if level.cell[index] > 0.0 || level.has_pressure(index) {
            let mut members = [None; 7];
            let mut faces = [0; 6];
            members[6] = level.has_pressure(index).then_some(D * length + index);
            for a in 0..D {
                members[2 * a] = unknown(a, index);
                members[2 * a + 1] = unknown(a, tiles.above(index, a));
                faces[2 * a] = a * length + index;
                faces[2 * a + 1] = a * length + tiles.above(index, a);
            }
            join_all(&members, &faces[..2 * D]);
        }
        for kind in 0..edge_kinds(D) {
            if level.edge[kind][index] > 0.0 {
                let (a, b) = edge_axes(kind);
                let (below, beside) = (tiles.below(index, b), tiles.below(index, a));
                let members = [
                    unknown(a, index),
                    unknown(a, below),
                    unknown(b, index),
                    unknown(b, beside),
                ];
                let id = |axis: usize, face: usize| axis * length + face;
                join_all(
                    &members,
                    &[id(a, index), id(a, below), id(b, index), id(b, beside)],
                );
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
    for id in held {
        sizes[sets.root(id)] = u32::MAX;
    }
    // A face alone is at a surface: nothing acts on it, and its liquid is that of others.
    let mut is_small = |id: usize| (2..=most).contains(&(sizes[sets.root(id)] as usize));
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
