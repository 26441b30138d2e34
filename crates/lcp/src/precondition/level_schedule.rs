//! Level scheduling of triangular solves: the rows of a level depend on earlier levels only, so they run in parallel.
//!
//! The triangular solves are with `M = (E + F) inv(E) (E + F')`, with `F` strictly lower in the order of the stages and `E`
//! diagonal. A row whose entry of `inv(E)` is zero is no part of it: it has no say in any sum, and keeps its `r`.

use std::sync::Mutex;

use crate::colouring::Colouring;
use crate::rows::Rows;
use crate::split::for_each;

/// Rows in the order of their levels, with their couplings to earlier and later levels.
#[derive(Clone, Debug, Default)]
pub(super) struct LevelSchedule {
    /// First row of each level, and the end.
    starts: Vec<usize>,
    /// The number a row has in the matrix, by its place in the order.
    rows: Vec<u32>,
    /// The place of a row in the order.
    places: Vec<u32>,
    /// By rows: places before, rising.
    lower_starts: Vec<usize>,
    lower: Vec<u32>,
    /// By rows: places after, rising, and where the entry is in `lower`.
    upper_starts: Vec<usize>,
    upper: Vec<(u32, u32)>,
}

/// Numbers for the pattern of [`LevelSchedule`], by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// The entries of `F`, row by row.
    pub lower: Vec<f64>,
    /// `inv(E)`
    pub inverse: Vec<f64>,
}

impl LevelSchedule {
    /// One level per colour.
    pub fn of_colours(matrix: &(impl Rows + ?Sized), colouring: &Colouring) -> Self {
        let mut schedule = Self::default();
        schedule.starts.push(0);
        for colour in colouring.colours() {
            schedule.rows.extend_from_slice(colour);
            schedule.starts.push(schedule.rows.len());
        }
        schedule.connect(matrix);
        schedule
    }

    /// Rows as early as the order they have allows.
    pub fn of_levels(matrix: &(impl Rows + ?Sized)) -> Self {
        let n = matrix.len();
        let mut levels = vec![0_u32; n];
        let mut count = 0;
        for row in 0..n {
            let mut level = 0;
            matrix.visit_row(row, &mut |column, _| {
                if column < row {
                    level = level.max(levels[column] + 1);
                }
            });
            levels[row] = level;
            count = count.max(level + 1);
        }
        let mut schedule = Self {
            rows: (0..n as u32).collect(),
            starts: vec![0; if n == 0 { 1 } else { count as usize + 1 }],
            ..Self::default()
        };
        schedule.rows.sort_by_key(|&row| levels[row as usize]);
        for &level in &levels {
            schedule.starts[level as usize + 1] += 1;
        }
        for stage in 1..schedule.starts.len() {
            schedule.starts[stage] += schedule.starts[stage - 1];
        }
        schedule.connect(matrix);
        schedule
    }

    /// Finds the couplings. The matrix must be symmetric: they are read from the row that comes later.
    fn connect(&mut self, matrix: &(impl Rows + ?Sized)) {
        let n = self.rows.len();
        self.places = vec![0; n];
        for (place, &row) in self.rows.iter().enumerate() {
            self.places[row as usize] = place as u32;
        }
        self.lower_starts = vec![0];
        self.upper_starts = vec![0; n + 1];
        for (place, &row) in self.rows.iter().enumerate() {
            let first = self.lower.len();
            matrix.visit_row(row as usize, &mut |column, _| {
                let before = self.places[column];
                if (before as usize) < place {
                    self.lower.push(before);
                    self.upper_starts[before as usize + 1] += 1;
                }
            });
            self.lower[first..].sort_unstable();
            self.lower_starts.push(self.lower.len());
        }
        for place in 0..n {
            self.upper_starts[place + 1] += self.upper_starts[place];
        }
        let mut next = self.upper_starts.clone();
        self.upper = vec![(0, 0); self.lower.len()];
        for place in 0..n {
            for at in self.lower_starts[place]..self.lower_starts[place + 1] {
                let before = self.lower[at] as usize;
                self.upper[next[before]] = (place as u32, at as u32);
                next[before] += 1;
            }
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a row in the order.
    pub fn place(&self, row: usize) -> usize {
        self.places[row] as usize
    }

    /// The row at a place.
    pub fn row_at(&self, place: usize) -> usize {
        self.rows[place] as usize
    }

    /// Places that a row is coupled with and that come before its own, and where their entries are.
    pub fn before(&self, place: usize) -> (&[u32], usize) {
        let entries = self.lower_starts[place]..self.lower_starts[place + 1];
        (&self.lower[entries.clone()], entries.start)
    }

    /// Reads the entries of a matrix, and its diagonal.
    pub fn read(
        &self,
        matrix: &(impl Rows + ?Sized),
        lower: &mut Vec<f64>,
        diagonal: &mut Vec<f64>,
    ) {
        lower.clear();
        lower.resize(self.lower.len(), 0.0);
        diagonal.clear();
        diagonal.resize(self.len(), 0.0);
        for place in 0..self.len() {
            let (before, first) = self.before(place);
            matrix.visit_row(self.row_at(place), &mut |column, value| {
                let other = self.places[column];
                if other as usize == place {
                    diagonal[place] = value;
                } else if let Ok(at) = before.binary_search(&other) {
                    lower[first + at] = value;
                }
            });
        }
    }

    /// `z = factor inv(M) r` on the rows of `M`, `z = r` on all others.
    pub fn solve(&self, values: &Values, factor: f64, r: &[f64], z: &mut [f64], scratch: &Scratch) {
        assert_eq!(r.len(), self.len(), "r has the wrong length");
        assert_eq!(z.len(), self.len(), "z has the wrong length");
        scratch.with(self.len(), |w| {
            for stage in self.starts.windows(2) {
                let (done, rest) = w.split_at_mut(stage[0]);
                self.forward(values, r, done, &mut rest[..stage[1] - stage[0]]);
            }
            for stage in self.starts.windows(2).rev() {
                let (rest, later) = w.split_at_mut(stage[1]);
                self.backward(values, later, &mut rest[stage[0]..]);
            }
            for_each((z, r, &self.places[..]), &|_,
                                                 (z, r, places): (
                &mut [f64],
                &[f64],
                &[u32],
            )| {
                for i in 0..z.len() {
                    let place = places[i] as usize;
                    z[i] = if values.inverse[place] == 0.0 {
                        r[i]
                    } else {
                        factor * w[place]
                    };
                }
            });
        });
    }

    /// `w = inv(E + F) r` on a level, given `w` on earlier ones.
    fn forward(&self, values: &Values, r: &[f64], done: &[f64], w: &mut [f64]) {
        for_each(w, &|first, w: &mut [f64]| {
            for (i, w) in w.iter_mut().enumerate() {
                let place = done.len() + first + i;
                let (before, start) = self.before(place);
                let known = before
                    .iter()
                    .zip(&values.lower[start..])
                    .fold(0.0, |sum, (&before, value)| {
                        sum + value * done[before as usize]
                    });
                *w = values.inverse[place] * (r[self.row_at(place)] - known);
            }
        });
    }

    /// `z = inv(E + F') E w` on a level, in place, given `z` on later ones.
    fn backward(&self, values: &Values, later: &[f64], w: &mut [f64]) {
        let end = self.len() - later.len();
        let start = end - w.len();
        for_each(w, &|first, w: &mut [f64]| {
            for (i, w) in w.iter_mut().enumerate() {
                let place = start + first + i;
                let after = &self.upper[self.upper_starts[place]..self.upper_starts[place + 1]];
                let known = after.iter().fold(0.0, |sum, &(after, at)| {
                    sum + values.lower[at as usize] * later[after as usize - end]
                });
                *w -= values.inverse[place] * known;
            }
        });
    }
}

/// A vector for the middle of an application, which has to do with a shared reference.
#[derive(Debug, Default)]
pub(super) struct Scratch(Mutex<Vec<f64>>);

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Scratch {
    /// Calls `work` with a scratch vector of `n` entries.
    pub fn with<T>(&self, n: usize, work: impl FnOnce(&mut [f64]) -> T) -> T {
        // Never waits: while this thread waits for others it may be handed work that comes here again.
        match self.0.try_lock() {
            Ok(mut vector) => {
                vector.resize(n, 0.0);
                work(&mut vector)
            }
            Err(_) => work(&mut vec![0.0; n]),
        }
    }
}
