//! Biconjugation: the unit vectors are made A-conjugate, one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{AinvPattern, AinvSettings};

/// A pivot smaller than this part of the diagonal entry is replaced by it.
const SMALLEST_PIVOT: f64 = 1e-10;

/// Sparse vectors, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Compressed {
    pub starts: Vec<usize>,
    pub entries: Vec<(u32, f64)>,
}

impl Compressed {
    fn vector(&self, index: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[index]..self.starts[index + 1]]
    }

    /// The inner product of a vector with a dense one.
    pub fn dot(&self, index: usize, x: impl Fn(usize) -> f64) -> f64 {
        let entries = self.vector(index).iter();
        entries.fold(0.0, |sum, &(at, value)| sum + value * x(at as usize))
    }

    pub fn transposed(&self) -> Self {
        let n = self.starts.len() - 1;
        let mut starts = vec![0; n + 1];
        for &(at, _) in &self.entries {
            starts[at as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for index in 0..n {
            for &(at, value) in self.vector(index) {
                entries[next[at as usize]] = (index as u32, value);
                next[at as usize] += 1;
            }
        }
        Self { starts, entries }
    }
}

/// The unit vectors on their way to being conjugate.
pub(super) struct Conjugation<'a> {
    matrix: &'a Compressed,
    settings: &'a AinvSettings,
    /// The columns of `Z` so far, and `D`.
    factor: Compressed,
    pivots: Vec<f64>,
    /// `A z_i` of the columns so far, and for each row the columns in which it has an entry.
    images: Compressed,
    images_with: Vec<Vec<u32>>,
    /// The column at hand: its values, the rows where it has one, and a mark for those.
    values: Vec<f64>,
    support: Vec<u32>,
    in_support: Vec<u32>,
    /// Columns that the one at hand may not be conjugate to, the first first, and a mark for those.
    queue: BinaryHeap<Reverse<u32>>,
    queued: Vec<u32>,
    /// A mark for rows where the image of the column has an entry.
    in_image: Vec<u32>,
    /// A mark for rows that the pattern allows.
    allowed: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a> Conjugation<'a> {
    pub fn new(matrix: &'a Compressed, settings: &'a AinvSettings) -> Self {
        let n = matrix.starts.len() - 1;
        let empty = || Compressed {
            starts: vec![0],
            entries: Vec::new(),
        };
        Self {
            matrix,
            settings,
            factor: empty(),
            pivots: Vec::with_capacity(n),
            images: empty(),
            images_with: vec![Vec::new(); n],
            values: vec![0.0; n],
            support: Vec::new(),
            in_support: vec![NONE; n],
            queue: BinaryHeap::new(),
            queued: vec![NONE; n],
            in_image: vec![NONE; n],
            allowed: vec![NONE; n],
        }
    }

    pub fn run(mut self) -> (Compressed, Vec<f64>) {
        for column in 0..self.values.len() as u32 {
            self.allow(column);
            self.support.clear();
            self.enter(column, column, 1.0, None);
            while let Some(Reverse(earlier)) = self.queue.pop() {
                self.conjugate(column, earlier);
            }
            self.keep(column);
        }
        (self.factor, self.pivots)
    }

    /// Marks the rows that the pattern allows, if it is one of the matrix.
    fn allow(&mut self, column: u32) {
        let AinvPattern::Power(power) = self.settings.pattern else {
            return;
        };
        self.allowed[column as usize] = column;
        let mut reached = vec![column];
        let mut first = 0;
        for _ in 0..power {
            let end = reached.len();
            for at in first..end {
                for &(row, _) in self.matrix.vector(reached[at] as usize) {
                    if self.allowed[row as usize] != column {
                        self.allowed[row as usize] = column;
                        reached.push(row);
                    }
                }
            }
            first = end;
        }
    }

    /// Gives the column at hand an entry in a new row; columns after `done` may then no longer be conjugate to it.
    fn enter(&mut self, column: u32, row: u32, value: f64, done: Option<u32>) {
        self.values[row as usize] = value;
        self.in_support[row as usize] = column;
        self.support.push(row);
        for &earlier in &self.images_with[row as usize] {
            if done.is_none_or(|done| earlier > done) && self.queued[earlier as usize] != column {
                self.queued[earlier as usize] = column;
                self.queue.push(Reverse(earlier));
            }
        }
    }

    /// `z <- z - (z_i'A z / D_i) z_i`
    fn conjugate(&mut self, column: u32, earlier: u32) {
        let e = earlier as usize;
        let (in_support, values) = (&self.in_support, &self.values);
        let product = self.images.dot(e, |row| {
            if in_support[row] == column {
                values[row]
            } else {
                0.0
            }
        });
        let factor = product / self.pivots[e];
        if factor == 0.0 || !factor.is_finite() {
            return;
        }
        for at in self.factor.starts[e]..self.factor.starts[e + 1] {
            let (row, value) = self.factor.entries[at];
            let change = -factor * value;
            if self.in_support[row as usize] == column {
                self.values[row as usize] += change;
            } else if change.abs() >= self.settings.tolerance && self.allows(column, row) {
                self.enter(column, row, change, Some(earlier));
            }
        }
    }

    fn allows(&self, column: u32, row: u32) -> bool {
        !matches!(self.settings.pattern, AinvPattern::Power(_))
            || self.allowed[row as usize] == column
    }

    /// Drops what is too small, and stores the column with its pivot and its image.
    fn keep(&mut self, column: u32) {
        let (tolerance, values) = (self.settings.tolerance, &self.values);
        self.support.retain(|&row| {
            let value = values[row as usize];
            row == column || (value.abs() >= tolerance && value.is_finite() && value != 0.0)
        });
        if let AinvPattern::Largest(count) = self.settings.pattern {
            self.support.sort_by(|&a, &b| {
                let size = |row: u32| {
                    if row == column {
                        f64::INFINITY
                    } else {
                        values[row as usize].abs()
                    }
                };
                size(b).total_cmp(&size(a)).then(a.cmp(&b))
            });
            self.support.truncate(count.saturating_add(1));
        }
        self.support.sort_unstable();
        let kept = self.support.iter().map(|&row| (row, values[row as usize]));
        self.factor.entries.extend(kept);
        self.factor.starts.push(self.factor.entries.len());

        // The image, in the memory of the column.
        let vector = self.factor.vector(column as usize);
        self.support.clear();
        for &(row, value) in vector {
            for &(other, entry) in self.matrix.vector(row as usize) {
                let o = other as usize;
                if self.in_image[o] != column {
                    self.in_image[o] = column;
                    self.values[o] = 0.0;
                    self.support.push(other);
                }
                self.values[o] += entry * value;
            }
        }
        let mut pivot = 0.0;
        for &(row, value) in vector {
            if self.in_image[row as usize] == column {
                pivot += value * self.values[row as usize];
            }
        }
        let own = self.matrix.vector(column as usize).iter();
        let diagonal = own
            .filter(|entry| entry.0 == column)
            .fold(0.0, |sum, entry| sum + entry.1);
        if pivot.is_nan() || pivot <= SMALLEST_PIVOT * diagonal || pivot.is_infinite() {
            pivot = if diagonal > 0.0 { diagonal } else { 1.0 };
        }
        self.pivots.push(pivot);
        for &row in &self.support {
            self.images_with[row as usize].push(column);
            self.images.entries.push((row, self.values[row as usize]));
        }
        self.images.starts.push(self.images.entries.len());
    }
}
