//! The next coarser level.

use super::level::{Level, Link};
use super::settings::Boundaries;
use crate::grid::tiles::Coord;

/// Makes the coarser level; also says of which coarse unknown each fine one is a part.
pub(super) fn coarsen<const D: usize>(
    fine: &Level<D>,
    boundaries: Boundaries,
) -> (Level<D>, Vec<u32>) {
    let above = |cell: Coord<D>| cell.map(|c| c >> 1);
    let mut order: Vec<(Coord<D>, u32)> = Vec::with_capacity(fine.len());
    order.extend(
        fine.cells
            .iter()
            .enumerate()
            .map(|(i, &c)| (above(c), i as u32)),
    );
    order.sort_unstable();

    // Unknowns of one coarse cell that faces join are one unknown. With plain boundaries all of them are.
    let mut parts = Parts::new(fine.len());
    match boundaries {
        Boundaries::OneSided => {
            for i in 0..fine.len() {
                for link in fine.links(i) {
                    let j = link.to as usize;
                    if above(fine.cells[i]) == above(fine.cells[j]) {
                        parts.join(i as u32, link.to);
                    }
                }
            }
        }
        Boundaries::Plain => {
            for pair in order.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                parts.join(pair[0].1, pair[1].1);
            }
        }
    }
    const NONE: u32 = u32::MAX;
    let mut number = vec![NONE; fine.len()];
    let mut coarse = Level {
        starts: vec![0],
        full_weight: 0.25 * fine.full_weight,
        ..Level::default()
    };
    for &(cell, i) in &order {
        let number = &mut number[parts.root(i) as usize];
        if *number == NONE {
            *number = coarse.cells.len() as u32;
            coarse.cells.push(cell);
        }
    }
    let parent: Vec<u32> = (0..fine.len() as u32)
        .map(|i| number[parts.root(i) as usize])
        .collect();
    add_faces(fine, &mut coarse, &parent);
    (coarse, parent)
}

/// Faces of coarse unknowns, as if the equations were those of a grid of this width: their opening is the mean of those
/// inside, the air is half a fine cell farther away.
fn add_faces<const D: usize>(fine: &Level<D>, coarse: &mut Level<D>, parent: &[u32]) {
    let n = coarse.cells.len();
    let mut starts = vec![0usize; n + 1];
    for &k in parent {
        starts[k as usize + 1] += 1;
    }
    for k in 0..n {
        starts[k + 1] += starts[k];
    }
    let mut children = vec![0u32; parent.len()];
    let mut next = starts.clone();
    for (i, &k) in parent.iter().enumerate() {
        children[next[k as usize]] = i as u32;
        next[k as usize] += 1;
    }
    let of_face = 0.5f64.powi(D as i32 + 1);
    let of_cell = 0.5f64.powi(D as i32);
    for k in 0..n {
        let first = coarse.links.len();
        let mut dirichlet = 0.0;
        let (mut with_air, mut with_solid) = ([0usize; 8], [0usize; 8]);
        for &i in &children[starts[k]..starts[k + 1]] {
            let i = i as usize;
            let mut open = 0u8;
            for link in fine.links(i) {
                open |= 1 << link.side;
                let to = parent[link.to as usize];
                if to as usize == k {
                    continue;
                }
                let weight = of_face * link.weight;
                let there = coarse.links[first..]
                    .iter_mut()
                    .find(|l| l.to == to && l.side == link.side);
                match there {
                    Some(there) => there.weight += weight,
                    None => coarse.links.push(Link {
                        to,
                        weight,
                        ..*link
                    }),
                }
            }
            for side in (0..2 * D).filter(|side| open >> side & 1 == 0) {
                if fine.air[i] >> side & 1 == 1 {
                    with_air[side] += 1;
                } else {
                    with_solid[side] += 1;
                }
            }
            let d = fine.dirichlet[i];
            dirichlet += of_cell * d / (1.0 + 0.5 * d / fine.full_weight);
        }
        let linked = coarse.links[first..]
            .iter()
            .fold(0u8, |bits, l| bits | 1 << l.side);
        let is_air = |side: &usize| {
            linked >> side & 1 == 0 && with_air[*side] > 0 && with_air[*side] >= with_solid[*side]
        };
        let air = (0..2 * D)
            .filter(is_air)
            .fold(0u8, |bits, side| bits | 1 << side);
        coarse.air.push(air);
        coarse.dirichlet.push(dirichlet);
        coarse.starts.push(coarse.links.len());
    }
}

/// Sets that are joined.
struct Parts {
    parent: Vec<u32>,
}

impl Parts {
    fn new(n: usize) -> Self {
        Self {
            parent: (0..n as u32).collect(),
        }
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let above = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = above;
            i = above;
        }
        i
    }

    fn join(&mut self, i: u32, j: u32) {
        let (i, j) = (self.root(i), self.root(j));
        self.parent[i.max(j) as usize] = i.min(j);
    }
}
