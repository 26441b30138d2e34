//! The unknowns of the next coarser level and how they are connected, from the problem in which all rows are free.

use super::clusters::{Clusters, Crossing, crosses};
use super::finest::{end_spans, octant_of};
use super::level::{Level, NONE, Span};
use crate::tiles::Coord;

/// Levels smaller than this have no regular unknowns: looking for them is not worth it, and the direct solver wants rows.
pub(super) const ALL_ROWS: usize = 512;

/// Memory only.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch<const D: usize> {
    clusters: Clusters,
    /// Spans of the fine level by coarse line.
    order: Vec<u32>,
    /// What is left of the spans of one coarse line.
    open: Vec<Span<D>>,
    members: Vec<u32>,
    /// Every coarse unknown in order of cells.
    found: Vec<Cluster<D>>,
    place: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Cluster<const D: usize> {
    cell: Coord<D>,
    extra: bool,
}

impl<const D: usize> Cluster<D> {
    fn colour(&self) -> usize {
        (self.cell.iter().fold(0, |sum, c| sum ^ c) & 1) as usize
    }
}

fn half<const D: usize>(cell: Coord<D>) -> Coord<D> {
    cell.map(|c| c >> 1)
}

/// Makes `coarse` the level above `fine`, and tells `fine` about it.
pub(super) fn coarsen<const D: usize>(
    fine: &mut Level<D>,
    coarse: &mut Level<D>,
    scratch: &mut Scratch<D>,
) {
    gather(fine, scratch);
    number(fine, coarse, scratch);
    list_children(fine, coarse);
    connect(fine, coarse);
    coarse.full_weight = 0.25 * fine.full_weight;
}

/// Goes through the coarse cells and puts into each unknown's `parent` which cluster it is in, counted from the first.
fn gather<const D: usize>(fine: &mut Level<D>, scratch: &mut Scratch<D>) {
    fine.parent.clear();
    fine.parent.resize(fine.unknowns, NONE);
    scratch.found.clear();
    scratch.order.clear();
    scratch.order.extend(0..fine.spans.len() as u32);
    let line = |span: &u32| half(fine.spans[*span as usize].line);
    scratch.order.sort_unstable_by_key(|s| (line(s), *s));
    let mut parent = std::mem::take(&mut fine.parent);
    let order = std::mem::take(&mut scratch.order);
    for spans in order.chunk_by(|a, b| line(a) == line(b)) {
        let coarse_line = line(&spans[0]);
        scratch.open.clear();
        let open = spans.iter().map(|&s| fine.spans[s as usize]);
        scratch.open.extend(open);
        loop {
            let next = |s: &Span<D>| fine.along[s.first as usize] >> 1;
            let ends = |s: &&Span<D>| s.first < s.end;
            let Some(along) = scratch.open.iter().filter(ends).map(next).min() else {
                break;
            };
            scratch.members.clear();
            for span in &mut scratch.open {
                while span.first < span.end && fine.along[span.first as usize] >> 1 == along {
                    // An unknown without links is solved by one relaxation and needs no help from coarser levels.
                    let row = fine.row_of[span.first as usize];
                    if row == NONE || !fine.rows.links(row as usize).is_empty() {
                        scratch.members.push(span.first);
                    }
                    span.first += 1;
                }
            }
            let mut cell = coarse_line;
            cell[D - 1] = along;
            scratch.divide(fine, cell, &mut parent);
        }
    }
    (fine.parent, scratch.order) = (parent, order);
}

impl<const D: usize> Scratch<D> {
    /// Divides the members of a cell into clusters, the largest first.
    fn divide(&mut self, fine: &Level<D>, cell: Coord<D>, parent: &mut [u32]) {
        let Self {
            clusters,
            members,
            found,
            ..
        } = self;
        if members.is_empty() {
            return;
        }
        let regular = |&m: &u32| fine.row_of[m as usize] == NONE;
        if members.len() == 1 << D && members.iter().all(regular) {
            // In the bulk there is nothing between the children. A regular unknown shares its cell with no other.
            for &member in &*members {
                parent[member as usize] = found.len() as u32;
            }
            found.push(Cluster { cell, extra: false });
            return;
        }
        members.sort_unstable();
        clusters.find(fine, members);
        let label = &clusters.label;
        let count = |of: u32| label.iter().filter(|&&l| l == of).count();
        let mut largest = (0, 0);
        for k in (0..label.len() as u32).filter(|&k| label[k as usize] == k) {
            let size = count(k);
            if size > largest.0 {
                largest = (size, k);
            }
        }
        let mut take = |of: u32, extra: bool| {
            for (&member, _) in members.iter().zip(label).filter(|m| *m.1 == of) {
                parent[member as usize] = found.len() as u32;
            }
            found.push(Cluster { cell, extra });
        };
        take(largest.1, false);
        if largest.0 < members.len() {
            for k in (0..label.len() as u32).filter(|&k| label[k as usize] == k) {
                if k != largest.1 {
                    take(k, true);
                }
            }
        }
    }
}

/// Numbers the coarse unknowns by colour, second and later ones of a cell at the end of their colour.
fn number<const D: usize>(fine: &mut Level<D>, coarse: &mut Level<D>, scratch: &mut Scratch<D>) {
    let found = &scratch.found;
    let n = found.len();
    let red = found.iter().filter(|c| c.colour() == 0).count();
    (coarse.unknowns, coarse.red) = (n, red);
    scratch.place.clear();
    scratch.place.resize(n, 0);
    coarse.spans.clear();
    coarse.along.clear();
    coarse.along.resize(n, 0);
    coarse.octant.clear();
    coarse.octant.resize(n, 0);
    coarse.whole.clear();
    coarse.whole.resize(n, true);
    let mut next = [0, red as u32];
    for extra in [false, true] {
        let (mut line, mut begun) = (None, next);
        for (k, cluster) in found.iter().enumerate() {
            // A cell with several unknowns has no whole one.
            let shared = extra || found.get(k + 1).is_some_and(|c| c.extra);
            if cluster.extra != extra {
                continue;
            }
            let mut here = cluster.cell;
            here[D - 1] = 0;
            // Extras of one cell follow one another: a span for each keeps the order along the line.
            if line != Some(here) || extra {
                end_spans(&mut coarse.spans, line, &mut begun, next);
                line = Some(here);
            }
            let place = &mut next[cluster.colour()];
            let unknown = *place as usize;
            scratch.place[k] = *place;
            coarse.along[unknown] = cluster.cell[D - 1];
            coarse.octant[unknown] = octant_of(cluster.cell);
            coarse.whole[unknown] = !shared;
            *place += 1;
        }
        end_spans(&mut coarse.spans, line, &mut begun, next);
    }
    for parent in &mut fine.parent {
        *parent = match *parent {
            NONE => n as u32,
            cluster => scratch.place[cluster as usize],
        };
    }
}

fn list_children<const D: usize>(fine: &Level<D>, coarse: &mut Level<D>) {
    let n = coarse.unknowns;
    let start = &mut coarse.child_start;
    start.clear();
    // Two entries more: one for children without a parent, one to count ahead.
    start.resize(n + 3, 0);
    for &parent in &fine.parent {
        start[parent as usize + 2] += 1;
    }
    for k in 2..start.len() {
        start[k] += start[k - 1];
    }
    coarse.child.clear();
    coarse.child.resize(fine.unknowns, 0);
    for (unknown, &parent) in fine.parent.iter().enumerate() {
        let place = &mut start[parent as usize + 1];
        coarse.child[*place as usize] = unknown as u32;
        *place += 1;
    }
}

/// Finds out which coarse unknowns are regular, and with whom the others are linked.
fn connect<const D: usize>(fine: &Level<D>, coarse: &mut Level<D>) {
    let n = coarse.unknowns;
    let all = ((1u32 << (1 << D)) - 1) as u8;
    coarse.present.clear();
    for unknown in 0..n {
        let children = coarse.children(unknown);
        let corner = |&c: &u32| 1u8 << fine.octant[c as usize];
        let present = children.iter().fold(0, |mask, c| mask | corner(c));
        let whole = children.len() == 1 << D
            && present == all
            && children.iter().all(|&c| fine.whole[c as usize]);
        coarse.present.push(present);
        coarse.whole[unknown] &= whole;
    }
    coarse.free.clear();
    coarse.free.extend_from_slice(&coarse.present);
    coarse.near.clear();
    coarse.near.resize(n, [[NONE; 2]; D]);
    coarse.row_of.clear();
    coarse.rows.clear();
    for unknown in 0..n {
        if n >= ALL_ROWS
            && let Some(near) = regular_neighbours(fine, coarse, unknown)
        {
            coarse.near[unknown] = near;
            coarse.row_of.push(NONE);
            continue;
        }
        coarse.row_of.push(coarse.rows.len() as u32);
        coarse.rows.push(unknown as u32);
        let first = coarse.rows.link.len();
        for k in coarse.child_start[unknown]..coarse.child_start[unknown + 1] {
            let child = coarse.child[k as usize] as usize;
            let rows = &mut coarse.rows;
            for (target, _, side) in fine.links(child) {
                if crosses(fine.octant[child], side) == Crossing::Outside {
                    let parent = fine.parent[target as usize];
                    if rows.link[first..].iter().all(|l| l.target != parent) {
                        rows.push_link(parent, side, 0.0);
                    }
                }
            }
        }
    }
}

/// The neighbours of an unknown that is regular whatever rows are at their bounds: its children are regular, and its
/// neighbours have all theirs, so that every coarse face has its full weight.
fn regular_neighbours<const D: usize>(
    fine: &Level<D>,
    coarse: &Level<D>,
    unknown: usize,
) -> Option<[[u32; 2]; D]> {
    if !coarse.whole[unknown] {
        return None;
    }
    let mut near = [[NONE; 2]; D];
    for &child in coarse.children(unknown) {
        let child = child as usize;
        if fine.row_of[child] != NONE {
            return None;
        }
        for axis in 0..D {
            let side = (fine.octant[child] >> axis & 1) as usize;
            near[axis][side] = fine.parent[fine.near[child][axis][side] as usize];
        }
    }
    let whole = |&n: &u32| coarse.whole[n as usize];
    near.as_flattened().iter().all(whole).then_some(near)
}
