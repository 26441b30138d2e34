//! The unknowns of the next coarser level and how they are connected, from the problem in which all rows are free.

use std::ops::Range;

use rayon::prelude::*;

use super::clusters::{Clusters, Crossing, crosses};
use super::finest::{end_spans, octant_of};
use super::level::{Level, NONE, Rows, Span, nobody};
use crate::disjoint_slice::DisjointSlice;
use crate::grid::tiles::Coord;
use crate::growth::Growth;

/// Levels smaller than this have no regular unknowns: looking for them is not worth it, and the direct solver wants rows.
pub(super) const ALL_ROWS: usize = 512;

/// Spans of the fine level that one task divides into coarse unknowns, or a few more: it continues to the end of a line.
const SPANS: usize = 1024;
/// Unknowns of the coarse level that are looked at together, and how many times that one task does at least.
const CELLS: usize = 2048;
const FEWEST: usize = 8;

/// Memory only.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch<const D: usize> {
    /// Spans of the fine level by coarse line.
    order: Vec<u32>,
    /// What was found in each part of that order. Only the first so many are in use.
    parts: Vec<Part<D>>,
    in_use: usize,
    /// Rows of each part of the coarse unknowns.
    rows: Vec<Rows>,
}

/// Some coarse lines.
#[derive(Clone, Debug, Default)]
struct Part<const D: usize> {
    /// Their spans, in the order by coarse line.
    spans: Range<usize>,
    /// Every coarse unknown in order of cells.
    found: Vec<Cluster<D>>,
    /// Their members, one unknown after the other.
    list: Vec<u32>,
    /// What is left of the spans of one line, and the members of one cell.
    open: Vec<Span<D>>,
    members: Vec<u32>,
    clusters: Clusters,
}

#[derive(Clone, Copy, Debug)]
struct Cluster<const D: usize> {
    cell: Coord<D>,
    size: u32,
    place: u32,
    /// Whether it is not the first of its cell.
    extra: bool,
    /// Whether its cell has others.
    shared: bool,
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
    number(coarse, scratch);
    list_children(fine, coarse, scratch);
    connect(fine, coarse, &mut scratch.rows);
    coarse.full_weight = 0.25 * fine.full_weight;
}

/// Goes through the coarse cells and finds out what unknowns they have.
fn gather<const D: usize>(fine: &Level<D>, scratch: &mut Scratch<D>) {
    let Scratch {
        order,
        parts,
        in_use,
        ..
    } = scratch;
    order.clear();
    order.extend(0..fine.spans.len() as u32);
    let line = |span: &u32| half(fine.spans[*span as usize].line);
    order.par_sort_unstable_by_key(|s| (line(s), *s));
    *in_use = 0;
    let mut first = 0;
    while first < order.len() {
        let mut end = (first + SPANS).min(order.len());
        while end < order.len() && line(&order[end]) == line(&order[end - 1]) {
            end += 1;
        }
        if parts.len() == *in_use {
            parts.push(Part::default());
        }
        parts[*in_use].spans = first..end;
        *in_use += 1;
        first = end;
    }
    let order = &*order;
    let work = |part: &mut Part<D>| part.gather(fine, &order[part.spans.clone()]);
    let parts = parts[..*in_use].par_iter_mut().with_min_len(2);
    parts.for_each(work);
}

impl<const D: usize> Part<D> {
    fn gather(&mut self, fine: &Level<D>, order: &[u32]) {
        self.found.clear();
        self.list.clear();
        let line = |span: &u32| half(fine.spans[*span as usize].line);
        for spans in order.chunk_by(|a, b| line(a) == line(b)) {
            let coarse_line = line(&spans[0]);
            self.open.clear();
            let open = spans.iter().map(|&s| fine.spans[s as usize]);
            self.open.extend(open);
            loop {
                if self.take_bulk(fine, coarse_line) {
                    continue;
                }
                let next = |s: &Span<D>| fine.along[s.first as usize] >> 1;
                let ends = |s: &&Span<D>| s.first < s.end;
                let Some(along) = self.open.iter().filter(ends).map(next).min() else {
                    break;
                };
                self.members.clear();
                for span in &mut self.open {
                    while span.first < span.end && fine.along[span.first as usize] >> 1 == along {
                        // An unknown without links is solved by one relaxation and needs no help from coarser levels.
                        let row = fine.row_of[span.first as usize];
                        if row == NONE || !fine.rows.links(row as usize).is_empty() {
                            self.members.push(span.first);
                        }
                        span.first += 1;
                    }
                }
                let mut cell = coarse_line;
                cell[D - 1] = along;
                self.divide(fine, cell);
            }
        }
    }

    /// Takes the next cell of the line if it is one of the bulk, where every span has a regular child and nothing is between
    /// them: a regular unknown shares its cell with no other.
    #[inline]
    fn take_bulk(&mut self, fine: &Level<D>, coarse_line: Coord<D>) -> bool {
        let open = &mut self.open[..];
        if open.len() != 1 << D {
            return false;
        }
        let along = |s: &Span<D>| fine.along[s.first as usize] >> 1;
        let Some(cell) = open.first().filter(|s| s.first < s.end).map(along) else {
            return false;
        };
        // Cells of one colour follow every other cell of a line: each span has one at most.
        let is_bulk = |s: &Span<D>| {
            s.first < s.end && along(s) == cell && fine.row_of[s.first as usize] == NONE
        };
        if !open.iter().all(is_bulk) {
            return false;
        }
        // Spans come line by line, the red one first; unknowns in rising order.
        let before = self.list.len();
        for colour in 0..2 {
            let spans = open.iter_mut().skip(colour).step_by(2);
            self.list.extend(spans.map(|span| {
                span.first += 1;
                span.first - 1
            }));
        }
        debug_assert!(self.list[before..].is_sorted());
        let mut place = coarse_line;
        place[D - 1] = cell;
        self.found.push(Cluster {
            cell: place,
            size: 1 << D,
            place: 0,
            extra: false,
            shared: false,
        });
        true
    }

    /// Divides the members of a cell into clusters, the largest first.
    fn divide(&mut self, fine: &Level<D>, cell: Coord<D>) {
        let Self {
            clusters,
            members,
            found,
            list,
            ..
        } = self;
        if members.is_empty() {
            return;
        }
        members.sort_unstable();
        let mut cluster = Cluster {
            cell,
            size: members.len() as u32,
            place: 0,
            extra: false,
            shared: false,
        };
        let regular = |&m: &u32| fine.row_of[m as usize] == NONE;
        if members.len() == 1 << D && members.iter().all(regular) {
            // In the bulk there is nothing between the children: a regular unknown shares its cell with no other.
            list.extend_from_slice(members);
            found.push(cluster);
            return;
        }
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
        cluster.shared = largest.0 < members.len();
        let mut take = |of: u32, extra: bool| {
            let before = list.len();
            let own = members.iter().zip(label).filter(|m| *m.1 == of);
            list.extend(own.map(|(&member, _)| member));
            let size = (list.len() - before) as u32;
            found.push(Cluster {
                size,
                extra,
                ..cluster
            });
        };
        take(largest.1, false);
        if cluster.shared {
            for k in (0..label.len() as u32).filter(|&k| label[k as usize] == k) {
                if k != largest.1 {
                    take(k, true);
                }
            }
        }
    }
}

/// Numbers the coarse unknowns by colour, second and later ones of a cell at the end of their colour.
fn number<const D: usize>(coarse: &mut Level<D>, scratch: &mut Scratch<D>) {
    let parts = &mut scratch.parts[..scratch.in_use];
    let n = parts.iter().map(|part| part.found.len()).sum();
    let found = parts.iter().flat_map(|part| &part.found);
    let red = found.filter(|c| c.colour() == 0).count();
    (coarse.unknowns, coarse.red) = (n, red);
    coarse.spans.clear();
    coarse.along.clear();
    coarse.along.resize_closely(n, 0);
    coarse.octant.clear();
    coarse.octant.resize_closely(n, 0);
    coarse.whole.clear();
    coarse.whole.resize_closely(n, true);
    coarse.child_start.clear();
    coarse.child_start.resize_closely(n + 1, 0);
    let mut next = [0, red as u32];
    for extra in [false, true] {
        let (mut line, mut begun) = (None, next);
        for cluster in parts.iter_mut().flat_map(|part| &mut part.found) {
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
            cluster.place = *place;
            coarse.along[unknown] = cluster.cell[D - 1];
            coarse.octant[unknown] = octant_of(cluster.cell);
            // A cell with several unknowns has no whole one.
            coarse.whole[unknown] = !cluster.shared;
            coarse.child_start[unknown + 1] = cluster.size;
            *place += 1;
        }
        end_spans(&mut coarse.spans, line, &mut begun, next);
    }
}

/// Tells parents and children about each other.
fn list_children<const D: usize>(fine: &mut Level<D>, coarse: &mut Level<D>, scratch: &Scratch<D>) {
    let n = coarse.unknowns;
    let start = &mut coarse.child_start;
    for k in 1..=n {
        start[k] += start[k - 1];
    }
    coarse.child.clear();
    coarse.child.resize_closely(start[n] as usize, 0);
    fine.parent.clear();
    fine.parent.resize_closely(fine.unknowns, n as u32);
    let child = DisjointSlice::new(&mut coarse.child);
    let parent = DisjointSlice::new(&mut fine.parent);
    let parts = scratch.parts[..scratch.in_use].par_iter();
    parts.with_min_len(2).for_each(|part| {
        let mut list = &part.list[..];
        for cluster in &part.found {
            let (own, rest) = list.split_at(cluster.size as usize);
            list = rest;
            let place = start[cluster.place as usize] as usize;
            for (k, &own) in own.iter().enumerate() {
                // SAFETY: a coarse unknown belongs to one part, and a fine one to one coarse one.
                unsafe {
                    child.set(place + k, own);
                    parent.set(own as usize, cluster.place);
                }
            }
        }
    });
}

/// Finds out which coarse unknowns are regular, and with whom the others are linked.
fn connect<const D: usize>(fine: &Level<D>, coarse: &mut Level<D>, rows_of: &mut Vec<Rows>) {
    let n = coarse.unknowns;
    let all = ((1u32 << (1 << D)) - 1) as u8;
    let (mut present, mut whole) = (
        std::mem::take(&mut coarse.present),
        std::mem::take(&mut coarse.whole),
    );
    present.clear();
    present.resize_closely(n, 0);
    let cells = present.par_chunks_mut(CELLS);
    let cells = cells.zip(whole.par_chunks_mut(CELLS)).enumerate();
    cells
        .with_min_len(FEWEST)
        .for_each(|(part, (present, whole))| {
            for (k, (present, whole)) in present.iter_mut().zip(whole).enumerate() {
                let children = coarse.children(part * CELLS + k);
                let corner = |&c: &u32| 1u8 << fine.octant[c as usize];
                *present = children.iter().fold(0, |mask, c| mask | corner(c));
                *whole &= children.len() == 1 << D
                    && *present == all
                    && children.iter().all(|&c| fine.whole[c as usize]);
            }
        });
    (coarse.present, coarse.whole) = (present, whole);
    coarse.free.clear();
    coarse.free.extend_from_slice(&coarse.present);
    let mut near = std::mem::take(&mut coarse.near);
    // All of both is written below.
    near.resize_closely(n, nobody());
    coarse.row_of.resize_closely(n, 0);
    let mut row_of = std::mem::take(&mut coarse.row_of);
    rows_of.resize_with(rows_of.len().max(n.div_ceil(CELLS)), Rows::default);
    let found = rows_of.par_iter_mut().zip(near.par_chunks_mut(CELLS));
    let found = found.zip(row_of.par_chunks_mut(CELLS)).enumerate();
    found
        .with_min_len(FEWEST)
        .for_each(|(part, ((rows, near), row_of))| {
            rows.clear();
            for (k, (near, row_of)) in near.iter_mut().zip(row_of).enumerate() {
                let unknown = part * CELLS + k;
                let regular = match n >= ALL_ROWS {
                    true => regular_neighbours(fine, coarse, unknown),
                    false => None,
                };
                *near = regular.unwrap_or(nobody());
                *row_of = match regular {
                    Some(_) => NONE,
                    None => rows.len() as u32,
                };
                if regular.is_none() {
                    link(fine, coarse, unknown, rows);
                }
            }
        });
    (coarse.near, coarse.row_of) = (near, row_of);
    coarse.rows.clear();
    let rows_of = &rows_of[..n.div_ceil(CELLS)];
    for (rows, row_of) in rows_of.iter().zip(coarse.row_of.chunks_mut(CELLS)) {
        let before = coarse.rows.append(rows);
        if before > 0 && rows.len() > 0 {
            let listed = row_of.iter_mut().filter(|row| **row != NONE);
            listed.for_each(|row| *row += before);
        }
    }
}

/// Begins the row of an unknown that is not regular, with its links.
fn link<const D: usize>(fine: &Level<D>, coarse: &Level<D>, unknown: usize, rows: &mut Rows) {
    rows.push(unknown as u32);
    let first = rows.link.len();
    for &child in coarse.children(unknown) {
        let child = child as usize;
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
        // One child a side is enough: if what is beside the others has another parent, none of these is whole.
        let octant = fine.octant[child] as usize;
        let side = match octant {
            0 => 0,
            octant if octant == (1 << D) - 1 => 1,
            _ => continue,
        };
        for axis in 0..D {
            near[axis][side] = fine.parent[fine.near[child][axis][side] as usize];
        }
    }
    let whole = |&n: &u32| coarse.whole[n as usize];
    near.as_flattened().iter().all(whole).then_some(near)
}
