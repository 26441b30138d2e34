//! Irregular rows of the finest level, with their links.

use meniscus_lcp::BoxMlcp;
use rayon::prelude::*;

use super::chunks::count_up;
use super::finest::Finest;
use super::level::{CHUNK, FEWEST, Level, Link, NONE, Row, inverse};
use crate::disjoint_slice::DisjointSlice;
use crate::growth::Growth;
use crate::stencil::{NO_NEIGHBOUR, Stencil};

/// Fewer rows than this are faster done than handed to another thread.
const SERIAL: usize = 1024;

impl Finest {
    /// Makes rows of all unknowns that are not regular.
    pub fn list_rows<const D: usize>(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        level: &mut Level<D>,
    ) {
        self.count(problem, level);
        let rows = &mut level.rows;
        let links = rows.row.last().map_or(0, |row| row.end as usize);
        let nothing = Link {
            target: 0,
            weight: 0.0,
        };
        rows.link.resize_closely(links, nothing);
        rows.side.resize_closely(links, 0);
        rows.dirichlet.resize_closely(rows.row.len(), 0.0);
        self.weight.resize_closely(links, 0.0);
        self.diagonal.resize_closely(rows.row.len(), 0.0);
        self.lower.resize_closely(rows.row.len(), 0.0);
        let listing = Listing {
            problem,
            unknown: &self.unknown,
            matrix_row: &self.matrix_row,
            unit: 1.0 / self.full_weight,
        };
        listing.write(Part {
            row: &mut rows.row,
            link: &mut rows.link,
            side: &mut rows.side,
            weight: &mut self.weight,
            dirichlet: &mut rows.dirichlet,
            diagonal: &mut self.diagonal,
            lower: &mut self.lower,
        });
    }

    /// Finds the rows and how many links each has.
    fn count<const D: usize>(&mut self, problem: &BoxMlcp<Stencil<D>>, level: &mut Level<D>) {
        let n = level.unknowns;
        level.rows.clear();
        self.diagonal.clear();
        self.lower.clear();
        self.weight.clear();
        for (values, value) in [(&mut level.free, 1), (&mut level.present, 1)] {
            values.clear();
            values.resize_closely(n, value);
        }
        level.whole.clear();
        level.whole.resize_closely(n, true);
        let (stencil, matrix_row) = (problem.matrix(), &self.matrix_row);
        let links_of = |unknown: usize| {
            let near = stencil.neighbours(matrix_row[unknown] as usize);
            let near = near.as_flattened().iter();
            near.filter(|&&row| row != NO_NEIGHBOUR).count() as u32
        };
        self.rows_before.clear();
        self.rows_before.resize_closely(n.div_ceil(CHUNK), [0; 2]);
        let counts = self.rows_before.par_iter_mut();
        let counts = counts.zip(level.row_of.par_chunks(CHUNK)).enumerate();
        counts
            .with_min_len(FEWEST)
            .for_each(|(chunk, (count, row_of))| {
                let rows = (chunk * CHUNK..).zip(row_of).filter(|row| *row.1 != NONE);
                for (unknown, _) in rows {
                    *count = [count[0] + 1, count[1] + links_of(unknown)];
                }
            });
        let [rows, _] = count_up(&mut self.rows_before, [0, 0]);
        let nothing = Row {
            unknown: 0,
            first: 0,
            end: 0,
            inverse: 0.0,
        };
        level.rows.row.resize_closely(rows as usize, nothing);
        let rows = DisjointSlice::new(&mut level.rows.row);
        let chunks = level.row_of.par_chunks_mut(CHUNK).zip(&self.rows_before);
        let chunks = chunks.zip(level.whole.par_chunks_mut(CHUNK));
        let chunks = chunks.zip(level.free.par_chunks_mut(CHUNK)).enumerate();
        chunks
            .with_min_len(FEWEST)
            .for_each(|(chunk, (((row_of, &before), whole), free))| {
                let [mut place, mut first] = before;
                for (k, row_of) in row_of.iter_mut().enumerate() {
                    if *row_of == NONE {
                        continue;
                    }
                    let unknown = chunk * CHUNK + k;
                    let at = matrix_row[unknown] as usize;
                    let (lower, upper) = (problem.lower()[at], problem.upper()[at]);
                    whole[k] = lower == f64::NEG_INFINITY;
                    free[k] = (lower != upper) as u8;
                    *row_of = place;
                    let end = first + links_of(unknown);
                    let row = Row {
                        unknown: unknown as u32,
                        first,
                        end,
                        inverse: 0.0,
                    };
                    // SAFETY: every row belongs to one unknown, and every unknown to one chunk.
                    unsafe { rows.set(place as usize, row) };
                    place += 1;
                    first = end;
                }
            });
    }
}

/// What rows are made from.
struct Listing<'a, const D: usize> {
    problem: &'a BoxMlcp<'a, Stencil<D>>,
    unknown: &'a [u32],
    matrix_row: &'a [u32],
    /// One over the weight of a full face.
    unit: f64,
}

/// Some of the rows, with what belongs to them.
struct Part<'a> {
    row: &'a mut [Row],
    link: &'a mut [Link],
    side: &'a mut [u8],
    weight: &'a mut [f64],
    dirichlet: &'a mut [f32],
    diagonal: &'a mut [f64],
    lower: &'a mut [f64],
}

impl<'a> Part<'a> {
    fn halves(self) -> (Self, Self) {
        let middle = self.row.len() / 2;
        let links = (self.row[middle].first - self.row[0].first) as usize;
        let row = self.row.split_at_mut(middle);
        let link = self.link.split_at_mut(links);
        let side = self.side.split_at_mut(links);
        let weight = self.weight.split_at_mut(links);
        let dirichlet = self.dirichlet.split_at_mut(middle);
        let diagonal = self.diagonal.split_at_mut(middle);
        let lower = self.lower.split_at_mut(middle);
        let low = Part {
            row: row.0,
            link: link.0,
            side: side.0,
            weight: weight.0,
            dirichlet: dirichlet.0,
            diagonal: diagonal.0,
            lower: lower.0,
        };
        let high = Part {
            row: row.1,
            link: link.1,
            side: side.1,
            weight: weight.1,
            dirichlet: dirichlet.1,
            diagonal: diagonal.1,
            lower: lower.1,
        };
        (low, high)
    }
}

impl<const D: usize> Listing<'_, D> {
    fn write(&self, part: Part) {
        if part.row.len() < SERIAL {
            return self.write_rows(part);
        }
        let (low, high) = part.halves();
        rayon::join(|| self.write(low), || self.write(high));
    }

    fn write_rows(&self, part: Part) {
        let begin = part.row.first().map_or(0, |row| row.first);
        for (k, row) in part.row.iter_mut().enumerate() {
            let at = self.matrix_row[row.unknown as usize] as usize;
            let (lower, upper) = (self.problem.lower()[at], self.problem.upper()[at]);
            let held = lower == upper;
            let own = self.problem.matrix().row(at);
            let first = (row.first - begin) as usize;
            let mut end = first;
            let mut sum = 0.0;
            let sides = own.neighbours.as_flattened().iter();
            for (side, (&near, &weight)) in sides.zip(own.weight.as_flattened()).enumerate() {
                if near == NO_NEIGHBOUR {
                    continue;
                }
                part.link[end] = Link {
                    target: self.unknown[near as usize],
                    weight: (weight * self.unit) as f32,
                };
                part.side[end] = side as u8;
                part.weight[end] = weight;
                sum += weight;
                end += 1;
            }
            let dirichlet = ((own.diagonal - sum).max(0.0) * self.unit) as f32;
            let weights = part.link[first..end].iter().map(|link| link.weight);
            row.inverse = inverse(weights, dirichlet, !held);
            part.dirichlet[k] = dirichlet;
            part.diagonal[k] = own.diagonal;
            part.lower[k] = if held { f64::NEG_INFINITY } else { lower };
        }
    }
}
