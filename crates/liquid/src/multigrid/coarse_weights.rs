//! The weights of coarse levels, and keeping them up to date when rows come to their bounds or leave them.
//!
//! Unknowns at a bound are Dirichlet cells of the cycle. A coarse face is `2^-D` of the sum over its pairs of free
//! children of `a_ij / (1 + 1/2 [the cell behind i is free] + 1/2 [the cell behind j is free])`: one over the distance of
//! centroids, 1/2 in the bulk and 1 in thin layers. The Dirichlet part is `2^-D` of the sum over free children of theirs, and
//! of `g a_ij` over neighbours `j` that are not free, both weaker the farther away the centroid is.

use super::clusters::{Crossing, crosses};
use super::level::{Level, NONE, inverse};

/// `g` across a coarse face if there is a free cell behind: the centroid is half a cell farther from `j`.
const FARTHER: f32 = 2.0 / 3.0;

/// One over the distance of the centroids of two coarse cells, by how many of them have a free cell behind.
const NEARNESS: [f32; 3] = [1.0, 2.0 / 3.0, 0.5];

/// Fewer rows than this are faster done than handed to another thread.
const SERIAL: usize = 1024;

/// Memory only.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Of the links of the rows that are computed, and what else there is to know of these.
    weight: Vec<f32>,
    found: Vec<Found>,
    /// Unknowns whose part of the operator changed, of the level at hand and of the next.
    pub changed: Vec<u32>,
    next: Vec<u32>,
    /// Rows to be computed anew.
    rows: Vec<u32>,
    marked: Vec<bool>,
}

/// A row, but for the weights of its links.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    dirichlet: f32,
    /// One over the diagonal, zero if the unknown is not free.
    inverse: f32,
    /// Whether its weights are others than before.
    differs: bool,
}

/// Computes every row of `coarse`.
pub(super) fn compute_all<const D: usize>(
    fine: &Level<D>,
    coarse: &mut Level<D>,
    scratch: &mut Scratch,
) {
    scratch.rows.clear();
    scratch.rows.extend(0..coarse.rows.len() as u32);
    scratch.next.clear();
    compute(fine, coarse, scratch);
}

/// Brings `coarse` up to date with what changed in `fine`; what changed in `coarse` takes its place.
pub(super) fn update<const D: usize>(
    fine: &Level<D>,
    coarse: &mut Level<D>,
    scratch: &mut Scratch,
) {
    scratch.marked.clear();
    scratch.marked.resize(coarse.rows.len(), false);
    scratch.rows.clear();
    for &unknown in &scratch.changed {
        let unknown = unknown as usize;
        let mut mark_parent = |parent: u32| {
            // A regular parent has regular children, and they do not change.
            if let Some(&row) = coarse.row_of.get(parent as usize) {
                mark(&mut scratch.marked, &mut scratch.rows, row);
            }
        };
        mark_parent(fine.parent[unknown]);
        // What else shares the coarse cell is not linked with it there.
        for (target, _, side) in fine.links(unknown) {
            if crosses(fine.octant[unknown], side) == Crossing::Inside {
                mark_parent(fine.parent[target as usize]);
            }
        }
    }
    let own = scratch.rows.len();
    scratch.next.clear();
    for k in 0..own {
        let unknown = coarse.rows.row[scratch.rows[k] as usize].unknown;
        let mut free = 0;
        for &child in coarse.children(unknown as usize) {
            if fine.is_free(child) {
                free |= 1 << fine.octant[child as usize];
            }
        }
        let children = coarse.children(unknown as usize).len();
        let places = coarse.present[unknown as usize].count_ones() as usize;
        if coarse.free[unknown as usize] != free {
            coarse.free[unknown as usize] = free;
            scratch.next.push(unknown);
        } else if children == places {
            // Only weights of children changed: those beside them were told themselves.
            continue;
        }
        // Links of neighbours depend on what is free here.
        for link in coarse.rows.links(scratch.rows[k] as usize) {
            let row = coarse.row_of[link.target as usize];
            mark(&mut scratch.marked, &mut scratch.rows, row);
        }
    }
    compute(fine, coarse, scratch);
    // Not swapped: the smaller of the two would grow again in the next solve.
    scratch.changed.clear();
    scratch.changed.extend_from_slice(&scratch.next);
}

fn mark(marked: &mut [bool], rows: &mut Vec<u32>, row: u32) {
    if row != NONE && !marked[row as usize] {
        marked[row as usize] = true;
        rows.push(row);
    }
}

/// Computes the listed rows of `coarse`, and adds those that are others now to the next list (perhaps for the second time,
/// which is no harm).
fn compute<const D: usize>(fine: &Level<D>, coarse: &mut Level<D>, scratch: &mut Scratch) {
    let Scratch {
        weight,
        found,
        rows,
        next,
        ..
    } = scratch;
    let links = rows.iter().map(|&r| coarse.rows.links(r as usize).len());
    weight.clear();
    weight.resize(links.sum(), 0.0);
    found.clear();
    found.resize(rows.len(), Found::default());
    evaluate_all(fine, coarse, rows, weight, found);
    let mut rest = &weight[..];
    for (&row, found) in rows.iter().zip(&*found) {
        let row = row as usize;
        let links = coarse.rows.row[row].links();
        let (own, others) = rest.split_at(links.len());
        rest = others;
        coarse.rows.row[row].inverse = found.inverse;
        if found.differs {
            coarse.rows.dirichlet[row] = found.dirichlet;
            for (link, &weight) in coarse.rows.link[links].iter_mut().zip(own) {
                link.weight = weight;
            }
            next.push(coarse.rows.row[row].unknown);
        }
    }
}

/// Finds the weights of all links of the listed rows, one row after the other, and what else there is to know of these.
fn evaluate_all<const D: usize>(
    fine: &Level<D>,
    coarse: &Level<D>,
    rows: &[u32],
    weight: &mut [f32],
    found: &mut [Found],
) {
    let count = |rows: &[u32]| -> usize {
        let links = rows.iter().map(|&r| coarse.rows.links(r as usize).len());
        links.sum()
    };
    if rows.len() < SERIAL {
        let mut rest = weight;
        for (&row, found) in rows.iter().zip(found) {
            let row = row as usize;
            let links = coarse.rows.links(row);
            let own = rest.split_off_mut(..links.len()).unwrap_or_default();
            let dirichlet = evaluate(fine, coarse, row, own);
            let free = coarse.is_free(coarse.rows.row[row].unknown);
            let mut pairs = links.iter().zip(&*own);
            *found = Found {
                dirichlet,
                inverse: inverse(own.iter().copied(), dirichlet, free),
                differs: coarse.rows.dirichlet[row] != dirichlet
                    || pairs.any(|(link, &weight)| link.weight != weight),
            };
        }
        return;
    }
    let (low, high) = rows.split_at(rows.len() / 2);
    let (low_weight, high_weight) = weight.split_at_mut(count(low));
    let (low_found, high_found) = found.split_at_mut(low.len());
    rayon::join(
        || evaluate_all(fine, coarse, low, low_weight, low_found),
        || evaluate_all(fine, coarse, high, high_weight, high_found),
    );
}

/// Writes the weights of the links of a row, and returns its Dirichlet part.
fn evaluate<const D: usize>(
    fine: &Level<D>,
    coarse: &Level<D>,
    row: usize,
    weight: &mut [f32],
) -> f32 {
    let unknown = coarse.rows.row[row].unknown as usize;
    let links = coarse.rows.links(row);
    let share = 1.0 / (1 << D) as f32;
    let free = coarse.free[unknown];
    let is_full = free as u32 == (1 << (1 << D)) - 1;
    let sides = Sides::of(coarse, row);
    let mut dirichlet = 0.0;
    for &child in coarse.children(unknown) {
        if !fine.is_free(child) {
            continue;
        }
        let i = child as usize;
        let octant = fine.octant[i];
        let mut add = |target: u32, a: f32, side: u8, dirichlet: &mut f32| {
            let bit = 1 << (side / 2);
            let outside = crosses(octant, side) == Crossing::Outside;
            if !outside && is_full {
                return;
            }
            let behind = free >> (octant ^ bit) & 1 == 1;
            if !fine.is_free(target) {
                let farther = outside && behind && is_connected(fine, i, side ^ 1, unknown);
                *dirichlet += if farther { FARTHER * a } else { a };
            } else if outside {
                // Links between the clusters of one cell are dropped: they are weak, or there would be one cluster.
                let (slot, beyond) = match sides.only[side as usize] {
                    SEVERAL => {
                        let parent = fine.parent[target as usize];
                        let Some(slot) = links.iter().position(|l| l.target == parent) else {
                            return;
                        };
                        (slot, coarse.free[parent as usize])
                    }
                    slot => (slot as usize, sides.free[side as usize]),
                };
                // The target's corner is the mirror image of this one, and behind it is this one again.
                let beyond = beyond >> octant & 1 == 1;
                weight[slot] += NEARNESS[behind as usize + beyond as usize] * a;
            }
        };
        let fine_row = fine.row_of[i];
        if fine_row == NONE && is_full {
            // Of the links of a regular child only those count that lead out of the cell: one along each axis.
            for (axis, near) in fine.near[i].iter().enumerate() {
                let high = octant >> axis & 1;
                let side = 2 * axis as u8 + high;
                add(near[high as usize], fine.full_weight, side, &mut dirichlet);
            }
            continue;
        }
        if fine_row != NONE {
            let d = fine.rows.dirichlet[fine_row as usize];
            // From the centre of a full cell the surface is half a child farther than from the child's.
            dirichlet += if is_full {
                d / (1.0 + d / (2.0 * fine.full_weight))
            } else {
                d
            };
        }
        for (target, a, side) in fine.links(i) {
            add(target, a, side, &mut dirichlet);
        }
    }
    weight.iter_mut().for_each(|w| *w *= share);
    share * dirichlet
}

/// More than one link leaves through a side.
const SEVERAL: u8 = u8::MAX;

/// What lies beyond each side of a coarse unknown: as a rule one other, and its children's links need no look at their parents.
struct Sides {
    /// Which link leaves through a side, or [`SEVERAL`].
    only: [u8; 6],
    /// Which children are free there.
    free: [u8; 6],
}

impl Sides {
    #[inline(always)]
    fn of<const D: usize>(coarse: &Level<D>, row: usize) -> Self {
        let mut sides = Sides {
            only: [SEVERAL; 6],
            free: [0; 6],
        };
        let links = coarse.rows.row[row].links();
        if links.len() > 2 * D {
            return sides;
        }
        let mut seen = 0u8;
        let list = coarse.rows.link[links.clone()].iter();
        for (slot, (link, &side)) in list.zip(&coarse.rows.side[links]).enumerate() {
            let (bit, side) = (1 << side, side as usize);
            sides.only[side] = if seen & bit == 0 { slot as u8 } else { SEVERAL };
            sides.free[side] = coarse.free[link.target as usize];
            seen |= bit;
        }
        sides
    }
}

/// Whether a child is linked through this side with a free child of the same parent.
fn is_connected<const D: usize>(fine: &Level<D>, i: usize, side: u8, parent: usize) -> bool {
    fine.links(i).any(|(target, a, s)| {
        s == side
            && a > 0.0
            && fine.is_free(target)
            && fine.parent[target as usize] as usize == parent
    })
}
