//! Listing the rows of the finest level that are not regular, with their links.

use meniscus_lcp::{BoxMlcp, Csr, InputError};

use super::finest::Finest;
use super::level::{Level, Link, NONE, Row, inverse};
use super::stencil::Stencil;
use crate::room::Room;
use crate::tiles::Coord;

/// Fewer rows than this are faster done than handed to another thread.
const SERIAL: usize = 1024;

impl Finest {
    /// Makes rows of all unknowns that are not regular.
    pub fn list_rows<const D: usize>(
        &mut self,
        problem: &BoxMlcp<Csr>,
        cells: &[Coord<D>],
        level: &mut Level<D>,
    ) -> Result<(), InputError> {
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
            cells,
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
        })
    }

    /// Finds the rows and how many links each has.
    fn count<const D: usize>(&mut self, problem: &BoxMlcp<Csr>, level: &mut Level<D>) {
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
        level.row_of.clear();
        level.row_of.resize_closely(n, NONE);
        let mut first = 0;
        for unknown in 0..n {
            if level.near[unknown][0][0] != NONE {
                continue;
            }
            let row = self.matrix_row[unknown] as usize;
            let (lower, upper) = (problem.lower()[row], problem.upper()[row]);
            level.whole[unknown] = lower == f64::NEG_INFINITY;
            level.free[unknown] = (lower != upper) as u8;
            level.row_of[unknown] = level.rows.row.len() as u32;
            let (columns, values) = problem.matrix().row(row);
            let couplings = columns.iter().zip(values);
            let links = couplings.filter(|&(&c, &v)| v < 0.0 && c as usize != row);
            let end = first + links.count() as u32;
            level.rows.row.push(Row {
                unknown: unknown as u32,
                first,
                end,
                inverse: 0.0,
            });
            first = end;
        }
    }
}

/// What rows are made from.
struct Listing<'a, const D: usize> {
    problem: &'a BoxMlcp<'a, Csr>,
    cells: &'a [Coord<D>],
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
    fn write(&self, part: Part) -> Result<(), InputError> {
        if part.row.len() < SERIAL {
            return self.write_rows(part);
        }
        let (low, high) = part.halves();
        let (low, high) = rayon::join(|| self.write(low), || self.write(high));
        low.and(high)
    }

    fn write_rows(&self, part: Part) -> Result<(), InputError> {
        let begin = part.row.first().map_or(0, |row| row.first);
        for (k, row) in part.row.iter_mut().enumerate() {
            let at = self.matrix_row[row.unknown as usize] as usize;
            let (lower, upper) = (self.problem.lower()[at], self.problem.upper()[at]);
            let held = lower == upper;
            let stencil = Stencil::read(self.problem.matrix(), self.cells, self.unknown, at)?;
            let first = (row.first - begin) as usize;
            let mut end = first;
            let mut sum = 0.0;
            for (side, (&target, &weight)) in stencil.sides().enumerate() {
                if weight > 0.0 {
                    part.link[end] = Link {
                        target,
                        weight: (weight * self.unit) as f32,
                    };
                    part.side[end] = side as u8;
                    part.weight[end] = weight;
                    sum += weight;
                    end += 1;
                }
            }
            let dirichlet = ((stencil.diagonal - sum).max(0.0) * self.unit) as f32;
            row.inverse = inverse(&part.link[first..end], dirichlet, !held);
            part.dirichlet[k] = dirichlet;
            part.diagonal[k] = stencil.diagonal;
            part.lower[k] = if held { f64::NEG_INFINITY } else { lower };
        }
        Ok(())
    }
}
