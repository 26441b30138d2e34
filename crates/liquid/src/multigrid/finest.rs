//! The finest level: the unknowns of a stencil, numbered by colour and line.

use meniscus_lcp::{BoxMlcp, InputError};
use rayon::prelude::*;

use super::chunks::count_up;
use super::coarsen::ALL_ROWS;
use super::level::{CHUNK, ENTRIES, FEWEST, Level, NONE, Span, nobody};
use crate::disjoint_slice::DisjointSlice;
use crate::grid::tiles::Coord;
use crate::growth::Growth;
use crate::stencil::Stencil;

/// Cells along an axis, from the first to the last that is used.
const MOST_CELLS: i64 = 1 << 24;

/// What the finest level knows beyond the others, in the numbering of its unknowns.
#[derive(Clone, Debug, Default)]
pub(super) struct Finest {
    /// Weight of a full face, which all other levels take as their unit.
    pub full_weight: f64,
    /// Unknown of every row of the matrix.
    pub unknown: Vec<u32>,
    pub b: Vec<f64>,
    /// Of every row of the level.
    pub diagonal: Vec<f64>,
    /// Lower bound of every row of the level; minus infinity of rows that have none or are held.
    pub lower: Vec<f64>,
    /// Of every link of a row.
    pub weight: Vec<f64>,
    /// Rows of the matrix, line by line; only while the level is read.
    order: Vec<u32>,
    /// Room to sort them.
    sorted: Vec<u32>,
    counts: Vec<u32>,
    /// The first unknown of each colour in every chunk of that order.
    cuts: Vec<[u32; 2]>,
    /// Where lines begin in every chunk of that order: a place in it, and the next unknown of each colour there.
    lines: Vec<Vec<[u32; 3]>>,
    /// How many rows of the level there are before each chunk of unknowns, and how many links they have.
    pub(super) rows_before: Vec<[u32; 2]>,
    /// Row of the matrix of every unknown.
    pub matrix_row: Vec<u32>,
}

/// The lowest coordinates and the number of cells along every axis.
fn bounding_box<const D: usize>(cells: &[Coord<D>]) -> Result<(Coord<D>, [usize; D]), InputError> {
    let first = cells.first().copied().unwrap_or([0; D]);
    type Ends<const D: usize> = (Coord<D>, Coord<D>);
    let widen = |(mut low, mut high): Ends<D>, (other_low, other_high): Ends<D>| {
        for a in 0..D {
            low[a] = low[a].min(other_low[a]);
            high[a] = high[a].max(other_high[a]);
        }
        (low, high)
    };
    let of_part = |part: &[Coord<D>]| {
        let cells = part.iter();
        cells.fold((first, first), |ends, &cell| widen(ends, (cell, cell)))
    };
    // Smallest and largest have no order.
    let parts = cells.par_chunks(CHUNK).with_min_len(FEWEST).map(of_part);
    let (low, high) = parts.reduce(|| (first, first), widen);
    let extent: [i64; D] = std::array::from_fn(|a| high[a] as i64 - low[a] as i64 + 1);
    if extent.iter().any(|&e| e > MOST_CELLS) {
        return Err(InputError::Structure {
            row: 0,
            why: "there are more than 2^24 cells between the first and the last",
        });
    }
    Ok((low, extent.map(|e| e as usize)))
}

/// A value for each entry of a list of rows.
pub(super) fn gather(rows: &[u32], values: &mut Vec<f64>, value: impl Fn(usize) -> f64 + Sync) {
    values.resize_closely(rows.len(), 0.0);
    let parts = values.par_chunks_mut(CHUNK).zip(rows.par_chunks(CHUNK));
    parts.with_min_len(FEWEST).for_each(|(values, rows)| {
        for (v, &row) in values.iter_mut().zip(rows) {
            *v = value(row as usize);
        }
    });
}

/// The last axis: rows of our problems follow one another along it.
fn line_of<const D: usize>(mut cell: Coord<D>) -> Coord<D> {
    cell[D - 1] = 0;
    cell
}

fn is_black<const D: usize>(cell: Coord<D>) -> bool {
    cell.iter().fold(0, |sum, c| sum ^ c) & 1 == 1
}

/// Which corner of a cell of twice the size this cell is.
pub(super) fn octant_of<const D: usize>(cell: Coord<D>) -> u8 {
    (0..D).map(|a| ((cell[a] & 1) as u8) << a).sum()
}

impl Finest {
    /// Numbers the unknowns and lists the rows of those that are not regular.
    pub fn read<const D: usize>(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        level: &mut Level<D>,
    ) -> Result<(), InputError> {
        check_bounds(problem)?;
        let cells = problem.matrix().cells();
        let (low, extent) = bounding_box(cells)?;
        // What the level will know only later has room for the order now.
        self.order = std::mem::take(&mut level.parent);
        self.sorted = std::mem::take(&mut level.row_of);
        self.sort(cells, low, extent);
        level.row_of = std::mem::take(&mut self.sorted);
        let numbered = self.number(cells, low, level);
        if numbered.is_ok() {
            self.find_regular(problem, level);
        }
        level.parent = std::mem::take(&mut self.order);
        numbered?;
        self.list_rows(problem, level);
        level.full_weight = 1.0;
        level.child.clear();
        level.child_start.clear();
        Ok(())
    }

    pub fn take_rhs<const D: usize>(&mut self, problem: &BoxMlcp<Stencil<D>>) {
        let rhs = problem.rhs();
        gather(&self.matrix_row, &mut self.b, |row| rhs[row]);
    }

    /// Brings the rows of the matrix into the order of their cells, by counting: along the last axis, and then by lines. Where
    /// there would be many more lines than rows, axis by axis, so that memory stays in proportion to the number of rows however
    /// far apart they are.
    fn sort<const D: usize>(&mut self, cells: &[Coord<D>], low: Coord<D>, extent: [usize; D]) {
        self.order.clear();
        self.order.make_room(cells.len());
        self.order.extend(0..cells.len() as u32);
        if cells.is_sorted() {
            return;
        }
        self.sorted.clear();
        self.sorted.resize_closely(cells.len(), 0);
        let along = |axis: usize| move |cell: &Coord<D>| (cell[axis] - low[axis]) as usize;
        self.sort_by(cells, extent[D - 1], along(D - 1));
        let lines = extent[..D - 1].iter().map(|&e| e as u128).product::<u128>();
        if lines <= 2 * cells.len() as u128 + 4096 {
            self.sort_by(cells, lines as usize, |cell| {
                (0..D - 1).fold(0, |line, axis| line * extent[axis] + along(axis)(cell))
            });
        } else {
            for axis in (0..D - 1).rev() {
                self.sort_by(cells, extent[axis], along(axis));
            }
        }
    }

    /// Sorts the rows by a key below `keys`; equal ones keep their order.
    fn sort_by<const D: usize>(
        &mut self,
        cells: &[Coord<D>],
        keys: usize,
        key: impl Fn(&Coord<D>) -> usize,
    ) {
        let counts = &mut self.counts;
        counts.clear();
        counts.resize(keys + 1, 0);
        for cell in cells {
            counts[key(cell) + 1] += 1;
        }
        for k in 1..counts.len() {
            counts[k] += counts[k - 1];
        }
        for &row in &self.order {
            let place = &mut counts[key(&cells[row as usize])];
            self.sorted[*place as usize] = row;
            *place += 1;
        }
        std::mem::swap(&mut self.order, &mut self.sorted);
    }

    /// Numbers the unknowns by colour, each in the order of the cells.
    fn number<const D: usize>(
        &mut self,
        cells: &[Coord<D>],
        low: Coord<D>,
        level: &mut Level<D>,
    ) -> Result<(), InputError> {
        let n = cells.len();
        let order = &self.order;
        // Counted from the first cell: halved for ever, coordinates of either sign never meet.
        let cell_at = |k: usize| -> Coord<D> {
            let cell = cells[order[k] as usize];
            std::array::from_fn(|a| cell[a] - low[a])
        };
        let of_chunk = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(n);
        self.cuts.clear();
        self.cuts.resize_closely(n.div_ceil(CHUNK), [0; 2]);
        let cuts = self.cuts.par_iter_mut().enumerate().with_min_len(FEWEST);
        cuts.for_each(|(chunk, count)| {
            for k in of_chunk(chunk) {
                count[is_black(cell_at(k)) as usize] += 1;
            }
        });
        let red = self.cuts.iter().map(|count| count[0]).sum();
        let next = count_up(&mut self.cuts, [0, red]);
        (level.unknowns, level.red) = (n, red as usize);
        for values in [&mut self.unknown, &mut self.matrix_row] {
            values.clear();
            values.resize_closely(n, 0);
        }
        level.along.clear();
        level.along.resize_closely(n, 0);
        level.octant.clear();
        level.octant.resize_closely(n, 0);
        let chunks = self.cuts.len();
        self.lines
            .resize_with(chunks.max(self.lines.len()), Vec::new);

        let unknown_of = DisjointSlice::new(&mut self.unknown);
        let row_of = DisjointSlice::new(&mut self.matrix_row);
        let along_of = DisjointSlice::new(&mut level.along);
        let octant_of_unknown = DisjointSlice::new(&mut level.octant);
        let lines = self.lines.par_iter_mut().zip(&self.cuts).enumerate();
        let second = lines.with_min_len(FEWEST).map(|(chunk, (lines, &cut))| {
            lines.clear();
            let mut next = cut;
            let mut second = None;
            let mut last = (chunk * CHUNK).checked_sub(1).map(cell_at);
            for k in of_chunk(chunk) {
                let cell = cell_at(k);
                if last == Some(cell) && second.is_none() {
                    second = Some(k);
                }
                if last.map(line_of) != Some(line_of(cell)) {
                    lines.push([k as u32, next[0], next[1]]);
                }
                last = Some(cell);
                let place = &mut next[is_black(cell) as usize];
                let unknown = *place as usize;
                // SAFETY: no two places in the order have the same row or get the same number.
                unsafe {
                    unknown_of.set(order[k] as usize, *place);
                    row_of.set(unknown, order[k]);
                    along_of.set(unknown, cell[D - 1]);
                    octant_of_unknown.set(unknown, octant_of(cell));
                }
                *place += 1;
            }
            second
        });
        if let Some(k) = second.flatten().min() {
            return Err(InputError::Structure {
                row: order[k] as usize,
                why: "its cell is that of another row",
            });
        }
        level.spans.clear();
        let mut begun = [0, red];
        let mut line = None;
        for &[k, red, black] in self.lines[..chunks].iter().flatten() {
            end_spans(&mut level.spans, line, &mut begun, [red, black]);
            line = Some(line_of(cell_at(k as usize)));
        }
        end_spans(&mut level.spans, line, &mut begun, next);
        Ok(())
    }

    /// Finds the regular unknowns: those that have `near`, and no row.
    fn find_regular<const D: usize>(
        &mut self,
        problem: &BoxMlcp<Stencil<D>>,
        level: &mut Level<D>,
    ) {
        let stencil = problem.matrix();
        let (lower, upper) = (problem.lower(), problem.upper());
        self.full_weight = stencil.full_weight();
        // All of both is written below.
        level.near.resize_closely(level.unknowns, nobody());
        level.row_of.resize_closely(level.unknowns, 0);
        let near_of = DisjointSlice::new(&mut level.near);
        let row_of = DisjointSlice::new(&mut level.row_of);
        let (unknown, many) = (&self.unknown, level.unknowns >= ALL_ROWS);
        let rows = self.order.par_chunks(CHUNK).with_min_len(FEWEST);
        rows.flatten_iter().for_each(|&row| {
            let row = row as usize;
            let unbounded = lower[row] == f64::NEG_INFINITY && upper[row] == f64::INFINITY;
            let found = if many && unbounded && stencil.is_regular(row) {
                let near = stencil.neighbours(row);
                (near.map(|pair| pair.map(|n| unknown[n as usize])), NONE)
            } else {
                (nobody(), 0)
            };
            // SAFETY: no two rows are the same unknown.
            unsafe {
                near_of.set(unknown[row] as usize, found.0);
                row_of.set(unknown[row] as usize, found.1);
            }
        });
    }
}

/// Rows may have a lower bound or be held.
fn check_bounds<const D: usize>(problem: &BoxMlcp<Stencil<D>>) -> Result<(), InputError> {
    let rows = problem.lower().par_iter().zip(problem.upper());
    let impossible = |(lower, upper): (&f64, &f64)| lower != upper && *upper != f64::INFINITY;
    match rows.with_min_len(ENTRIES).position_first(impossible) {
        Some(row) => Err(InputError::Structure {
            row,
            why: "it has an upper bound and is not held",
        }),
        None => Ok(()),
    }
}

/// Both colours of a line end here.
pub(super) fn end_spans<const D: usize>(
    spans: &mut Vec<Span<D>>,
    line: Option<Coord<D>>,
    begun: &mut [u32; 2],
    next: [u32; 2],
) {
    let Some(line) = line else { return };
    for colour in 0..2 {
        if begun[colour] < next[colour] {
            spans.push(Span {
                line,
                first: begun[colour],
                end: next[colour],
            });
        }
    }
    *begun = next;
}
