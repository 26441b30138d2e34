//! A box MLCP as an LCP `w = M z + q`, `0 <= z`, `0 <= w`, `z'w = 0`.
//!
//! | row | becomes |
//! | --- | --- |
//! | `l = u` | a constant |
//! | `l <= x` | `z = x - l`, `w = y` |
//! | `x <= u` | `z = u - x`, `w = -y` |
//! | `l <= x <= u` | `z = x - l`, `w = y + v` and a second pair `v`, `u - l - z` |
//! | free | solved for and carried along; if the block of free rows is singular, what is left of it is split, `x = z - z'` |
//!
//! Every step keeps a positive semidefinite matrix positive semidefinite.

use super::scaled::Scaled;
use super::tableau::Tableau;

/// Mapping of a row of the problem to the LCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// `x` is constant.
    Constant(f64),
    /// `x = base + sign z`, the pair, and the pair of the upper bound.
    Bounded {
        pair: usize,
        base: f64,
        sign: f64,
        above: Option<Above>,
    },
    /// `x` follows from all `z`, in a row of its own.
    Follows(usize),
    /// `x = z - z'`, with the two pairs; the equation that came to belong to it is `y = w` of the first.
    Split(usize),
}

/// An upper bound, and its pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Above {
    pub pair: usize,
    pub bound: f64,
}

/// The LCP, and the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standard {
    /// Number of pairs.
    pub pairs: usize,
    /// `[M q]`, and below it the rows that follow.
    pub rows: Vec<f64>,
    /// Number of rows that follow.
    pub following: usize,
    pub roles: Vec<Role>,
    /// The row of `y` that each pair stands for; none for upper bounds.
    pub equation: Vec<Option<(usize, f64)>>,
    table: Tableau,
    kept: Vec<usize>,
    rows_left: Vec<usize>,
    columns_left: Vec<usize>,
    /// The kept row that was solved for each kept free row.
    solved_in: Vec<usize>,
    base: Vec<f64>,
    sign: Vec<f64>,
    shifted: Vec<f64>,
    /// A combination of equations in which no unknown is left, but a constant is.
    pub contradiction: Vec<f64>,
    /// Columns of the table for each pair, with their signs; none for upper bounds.
    column: Vec<Option<(usize, f64)>>,
}

/// A pivot below this is rounding; entries are at most about 1.
const ROUNDING: f64 = 1e-12;
/// A pivot on the diagonal is taken if it is at least this part of the largest: it keeps definiteness.
const DIAGONAL: f64 = 0.1;
const NONE: usize = usize::MAX;

impl Standard {
    /// Builds the LCP. False if free rows contradict each other: `contradiction` holds the direction that shows it.
    pub fn build(&mut self, scaled: &Scaled) -> bool {
        let n = scaled.len();
        for vector in [&mut self.base, &mut self.sign, &mut self.shifted] {
            vector.resize(n, 0.0);
        }
        self.kept.clear();
        for i in 0..n {
            let (l, u) = (scaled.lower[i], scaled.upper[i]);
            (self.base[i], self.sign[i]) = match (l.is_finite(), u.is_finite()) {
                (true, _) => (l, 1.0),
                (false, true) => (u, -1.0),
                (false, false) => (0.0, 1.0),
            };
            if l < u {
                self.kept.push(i);
            }
        }
        scaled.affine(&self.base, &mut self.shifted);
        let k = self.kept.len();
        self.table.reset(k, k + 1);
        for (a, &i) in self.kept.iter().enumerate() {
            let (from, to) = (scaled.row(i), self.table.row_mut(a));
            for (to, &j) in to.iter_mut().zip(&self.kept) {
                *to = self.sign[i] * from[j] * self.sign[j];
            }
            to[k] = self.sign[i] * self.shifted[i];
        }
        self.eliminate(scaled);
        let sound = self.check_left(scaled);
        self.assign(scaled);
        self.fill(scaled);
        sound
    }

    /// Solves free rows for free unknowns, as many as there are pivots.
    fn eliminate(&mut self, scaled: &Scaled) {
        self.rows_left.clear();
        let kept = &self.kept;
        self.rows_left
            .extend((0..kept.len()).filter(|&a| scaled.is_free(kept[a])));
        self.columns_left.clone_from(&self.rows_left);
        self.solved_in.clear();
        self.solved_in.resize(kept.len(), NONE);
        let mut mirrored = None;
        loop {
            let (mut best, mut diagonal) = ((0.0, 0, 0), (0.0, 0));
            for &a in &self.rows_left {
                let row = self.table.row(a);
                for &b in &self.columns_left {
                    let value = row[b].abs();
                    if value > best.0 {
                        best = (value, a, b);
                    }
                    if a == b && value > diagonal.0 {
                        diagonal = (value, a);
                    }
                }
            }
            let (mut value, mut a, mut b) = best;
            if diagonal.0 >= DIAGONAL * value {
                (value, a, b) = (diagonal.0, diagonal.1, diagonal.1);
            }
            // The second half of a pivot on two rows and the same two columns.
            if let Some((row, column)) = mirrored.take() {
                let half: f64 = self.table.get(row, column);
                if half.abs() >= DIAGONAL * value {
                    (value, a, b) = (half.abs(), row, column);
                }
            }
            if value <= ROUNDING {
                break;
            }
            self.table.exchange(a, b);
            self.solved_in[b] = a;
            self.rows_left.retain(|&row| row != a);
            self.columns_left.retain(|&column| column != b);
            if a != b && self.rows_left.contains(&b) && self.columns_left.contains(&a) {
                mirrored = Some((b, a));
            }
        }
    }

    /// Drops what rounding left of equations without unknowns. False if one of them says that a constant is zero that
    /// is not.
    fn check_left(&mut self, scaled: &Scaled) -> bool {
        let k = self.kept.len();
        self.contradiction.clear();
        self.contradiction.resize(scaled.len(), 0.0);
        let mut sound = true;
        for at in 0..self.rows_left.len() {
            let a = self.rows_left[at];
            let in_use = |b: usize| !scaled.is_free(self.kept[b]) || self.columns_left.contains(&b);
            let row = self.table.row(a);
            if (0..k).any(|b| in_use(b) && row[b].abs() > 10.0 * ROUNDING) {
                continue;
            }
            // y_a is a combination of equations that hold, plus a constant.
            if row[k].abs() > 10.0 * ROUNDING && sound {
                self.contradiction[self.kept[a]] = -row[k].signum();
                for b in (0..k).filter(|&b| self.solved_in[b] != NONE) {
                    let equation = self.solved_in[b];
                    self.contradiction[self.kept[equation]] = row[k].signum() * row[b];
                }
                sound = false;
            }
            self.table.row_mut(a).fill(0.0);
        }
        sound
    }

    /// Numbers the pairs and determines the role of every row.
    fn assign(&mut self, scaled: &Scaled) {
        self.roles.clear();
        self.roles
            .extend(self.base.iter().map(|&base| Role::Constant(base)));
        self.equation.clear();
        self.column.clear();
        self.following = 0;
        for (a, &i) in self.kept.iter().enumerate() {
            if scaled.is_free(i) {
                if self.solved_in[a] != NONE {
                    self.roles[i] = Role::Follows(self.following);
                    self.following += 1;
                }
                continue;
            }
            let pair = self.equation.len();
            self.equation.push(Some((a, 1.0)));
            self.column.push(Some((a, 1.0)));
            let boxed = scaled.lower[i].is_finite() && scaled.upper[i].is_finite();
            if boxed {
                self.equation.push(None);
                self.column.push(None);
            }
            self.roles[i] = Role::Bounded {
                pair,
                base: self.base[i],
                sign: self.sign[i],
                above: boxed.then_some(Above {
                    pair: pair + 1,
                    bound: scaled.upper[i],
                }),
            };
        }
        // Any equation that is left may go with any unknown that is left.
        for (&a, &b) in self.rows_left.iter().zip(&self.columns_left) {
            let unused = |value: f64| value.abs() <= 10.0 * ROUNDING;
            let k = self.kept.len();
            if (0..=k).all(|c| unused(self.table.get(a, c)))
                && (0..k).all(|c| unused(self.table.get(c, b)))
            {
                continue; // nothing depends on it: it stays at zero
            }
            self.roles[self.kept[b]] = Role::Split(self.equation.len());
            for sign in [1.0, -1.0] {
                self.equation.push(Some((a, sign)));
                self.column.push(Some((b, sign)));
            }
        }
        self.pairs = self.equation.len();
    }

    /// Writes the combination of the rows of the problem that a combination of the rows of `M` is.
    pub fn combine(&self, factor: impl Fn(usize) -> f64, out: &mut [f64]) {
        out.fill(0.0);
        for (pair, equation) in self.equation.iter().enumerate() {
            let Some((i, sign)) = *equation else { continue };
            let factor = factor(pair);
            if factor == 0.0 {
                continue;
            }
            out[i] += sign * factor;
            // What was solved for went into the row with the equations it was solved from.
            let Ok(a) = self.kept.binary_search(&i) else {
                continue;
            };
            let of_row = sign * self.sign[i] * factor;
            for (b, &solved_in) in self.solved_in.iter().enumerate() {
                if solved_in != NONE {
                    out[self.kept[solved_in]] -= of_row * self.table.get(a, b);
                }
            }
        }
    }

    /// Writes `[M q]` and the rows that follow.
    fn fill(&mut self, scaled: &Scaled) {
        let (m, k) = (self.pairs, self.kept.len());
        self.rows.clear();
        self.rows.resize((m + self.following) * (m + 1), 0.0);
        let copy = |row: &[f64], sign: f64, out: &mut [f64]| {
            for (out, column) in out.iter_mut().zip(&self.column) {
                if let Some((b, of_column)) = column {
                    *out = sign * of_column * row[*b];
                }
            }
            out[m] = sign * row[k];
        };
        for (pair, out) in self.rows.chunks_exact_mut(m + 1).take(m).enumerate() {
            if let Some((a, sign)) = self.equation[pair] {
                copy(self.table.row(a), sign, out);
            }
        }
        for &i in &self.kept {
            if let Role::Bounded {
                pair,
                above: Some(Above { pair: above, .. }),
                ..
            } = self.roles[i]
            {
                self.rows[pair * (m + 1) + above] = 1.0;
                self.rows[above * (m + 1) + pair] = -1.0;
                self.rows[above * (m + 1) + m] = scaled.upper[i] - scaled.lower[i];
            }
        }
        for (a, &i) in self.kept.iter().enumerate() {
            if let Role::Follows(at) = self.roles[i] {
                let start = (m + at) * (m + 1);
                copy(
                    self.table.row(self.solved_in[a]),
                    1.0,
                    &mut self.rows[start..start + m + 1],
                );
            }
        }
        // From here on equations are known by the rows of the problem, with their signs.
        for equation in self.equation.iter_mut().flatten() {
            let i = self.kept[equation.0];
            *equation = (i, equation.1 * self.sign[i]);
        }
    }
}
