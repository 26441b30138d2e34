//! The almost complementary path of Lemke's method, from vertex to vertex.

use std::collections::HashSet;

use super::programme::Programme;
use super::standard::{Role, Standard};
use super::tableau::Tableau;

/// Paths that are followed before a ray without proof is believed, and how many of them start from `z = 0`.
pub(crate) const PATHS: usize = 24;
const FROM_ZERO: usize = 4;

/// A basis as a point of the problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub active: Vec<bool>,
    pub scratch: Vec<f64>,
    programme: Programme,
}

impl Point {
    /// Looks for a combination of rows that no `z` can satisfy, and puts it in the place of `x`.
    pub fn prove(&mut self, standard: &Standard, most_pivots: usize) {
        let m = standard.pairs;
        self.programme.reset(0, m, m);
        self.programme.limit(most_pivots);
        for (row, from) in standard.rows.chunks_exact(m + 1).take(m).enumerate() {
            for (column, &value) in from[..m].iter().enumerate() {
                self.programme.set(row, column, value);
            }
            self.programme.set_constant(row, from[m]);
        }
        let programme = &mut self.programme;
        if programme.is_feasible() {
            self.x.fill(0.0);
        } else {
            standard.combine(|pair| programme.factor(pair), &mut self.x);
        }
    }

    pub fn resize(&mut self, n: usize) {
        for vector in [&mut self.x, &mut self.y, &mut self.scratch] {
            vector.resize(n, 0.0);
        }
        self.active.resize(n, false);
    }
}

/// Place of a variable: basic or nonbasic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Row(usize),
    Column(usize),
}

/// The almost complementary path.
///
/// Variables are numbered: `w` from 0, `z` from `m`, and `z0` is `2 m`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    m: usize,
    /// Rows of the `m` basic variables and of those that follow; columns of the `m + 1` others and of the constant.
    table: Tableau,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    place: Vec<Place>,
    cover: Vec<f64>,
    /// The variable that was basic in each row at the start, and is covered.
    start: Vec<usize>,
    /// Constants that differ by this part are equal.
    same: f64,
    /// The basis as a number, and those before it.
    basis: u64,
    seen: HashSet<u64>,
}

/// Constants that differ by this part are equal, on the first path and on those after it. Too small a part takes for different
/// what only rounding has parted, and a basis may come twice; too large a part takes for equal what is not.
const SAME: [f64; 4] = [1e-13, 1e-12, 1e-11, 1e-10];

/// A number for a variable, without pattern: sums of them tell sets apart.
fn mixed(variable: usize) -> u64 {
    let mut mixed = (variable as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 27)
}

/// Smallest pivot by which the start of a further path may differ.
const LARGE_PIVOT: f64 = 0.05;
/// An entry below this part of the largest in its column is not pivoted on.
const SMALLEST_PIVOT: f64 = 1e-11;
/// An entry below this is rounding.
const ROUNDING: f64 = 1e-12;
/// A constant above the negative of this may be rounding: whether it is, the residual decides.
const NEARLY_ZERO: f64 = 1e-13;

impl Path {
    /// The dictionary `w = M z + d z0 + q`; later paths have other covering vectors, and some `z` in place of their
    /// `w`.
    pub fn begin(&mut self, standard: &Standard, number: usize) {
        let m = standard.pairs;
        self.m = m;
        self.cover.clear();
        // An upper bound is never violated at z = 0. Left uncovered it holds z wherever z0 goes; where every row has
        // two bounds there is no ray then, and the path leads to a solution, whatever the matrix.
        let is_covered = |i: usize| number >= FROM_ZERO || standard.equation[i].is_some();
        self.cover.extend((0..m).map(|i| {
            if is_covered(i) {
                covering(i, number)
            } else {
                0.0
            }
        }));
        self.table.reset(m + standard.following, m + 2);
        for (row, from) in standard.rows.chunks_exact(m + 1).enumerate() {
            let to = self.table.row_mut(row);
            to[..m].copy_from_slice(&from[..m]);
            to[m + 1] = from[m];
        }
        self.basic.clear();
        self.basic.extend(0..m);
        self.nonbasic.clear();
        self.nonbasic.extend(m..=2 * m);
        self.place.clear();
        self.place.extend((0..m).map(Place::Row));
        self.place.extend((0..=m).map(Place::Column));
        if number >= FROM_ZERO {
            self.turn(number);
        }
        for row in 0..m {
            self.table.row_mut(row)[m] = self.cover[row];
        }
        self.start.clone_from(&self.basic);
        self.same = SAME[number.min(SAME.len() - 1)];
        self.basis = 0;
        self.seen.clear();
    }

    /// Exchanges about half of the pairs, one or two at a time, by pivots that are not small.
    fn turn(&mut self, number: usize) {
        let m = self.m;
        for k in 0..m {
            let is_turned = self.basic[k] != k;
            if is_turned || spread(k, number + PATHS) < 0.5 {
                continue;
            }
            if self.table.get(k, k).abs() > LARGE_PIVOT {
                self.turn_one(k);
                continue;
            }
            // Both entries off the diagonal, and what is left of the second after the first exchange.
            let pivot = |l: usize| {
                let of = |i: usize, j: usize| self.table.get(i, j);
                let left = of(l, k) - of(l, l) * of(k, k) / of(k, l);
                of(k, l).abs().min(left.abs())
            };
            // Not always the same partner: the search begins somewhere behind.
            let shift = (spread(k, number) * m as f64) as usize;
            let partner = (0..m)
                .map(|l| (l + shift) % m)
                .find(|&l| l != k && self.basic[l] == l && pivot(l) > LARGE_PIVOT);
            if let Some(l) = partner {
                // Row k gets the variable of l and row l that of k: swapped back.
                self.table.exchange(k, l);
                self.table.exchange(l, k);
                self.table.swap(k, l);
                self.note_turn(k);
                self.note_turn(l);
            }
        }
    }

    fn turn_one(&mut self, k: usize) {
        self.table.exchange(k, k);
        self.note_turn(k);
    }

    fn note_turn(&mut self, k: usize) {
        let (w, z) = (k, self.m + k);
        self.basic[k] = z;
        self.nonbasic[k] = w;
        self.place[z] = Place::Row(k);
        self.place[w] = Place::Column(k);
    }

    fn constant(&self, row: usize) -> f64 {
        self.table.get(row, self.m + 1)
    }

    /// Brings `z0` into the basis, as large as it must be; none if `z = 0` is a solution.
    pub fn cover(&mut self) -> Option<usize> {
        let m = self.m;
        let mut most: Option<(f64, usize)> = None;
        for row in 0..m {
            let needed = -self.constant(row) / self.cover[row];
            // Lexicographically, of equals the last one.
            if self.constant(row) < -NEARLY_ZERO
                && most.is_none_or(|(largest, _)| needed >= largest)
            {
                most = Some((needed, row));
            }
        }
        let (_, row) = most?;
        self.exchange(row, 2 * m)
    }

    /// Whether so little of `z0` is left that it may be rounding.
    pub fn is_nearly_uncovered(&self) -> bool {
        let largest = (0..self.m).fold(1.0, |largest: f64, row| {
            largest.max(self.constant(row).abs())
        });
        self.value(2 * self.m) <= 1e-9 * largest
    }

    /// Exchanges the variable of a row with an entering one; returns the one that must enter next, unless `z0` left.
    pub fn exchange(&mut self, row: usize, entering: usize) -> Option<usize> {
        let Place::Column(column) = self.place[entering] else {
            unreachable!("a variable that enters is not in the basis");
        };
        let leaving = self.basic[row];
        let change = mixed(entering).wrapping_sub(mixed(leaving));
        self.basis = self.basis.wrapping_add(change);
        self.table.exchange(row, column);
        self.basic[row] = entering;
        self.nonbasic[column] = leaving;
        self.place[entering] = Place::Row(row);
        self.place[leaving] = Place::Column(column);
        let m = self.m;
        match leaving {
            z0 if z0 == 2 * m => None,
            w if w < m => Some(w + m),
            z => Some(z - m),
        }
    }

    /// Whether the basis came before: rounding has led the path in a circle.
    pub fn is_back(&mut self) -> bool {
        !self.seen.insert(self.basis)
    }

    /// The row whose variable reaches zero first while a variable enters; none if none does.
    pub fn blocking(&self, entering: usize) -> Option<usize> {
        let Place::Column(column) = self.place[entering] else {
            unreachable!("a variable that enters is not in the basis");
        };
        let m = self.m;
        let largest = (0..m).fold(0.0, |largest: f64, row| {
            largest.max(self.table.get(row, column).abs())
        });
        let least = ROUNDING.max(SMALLEST_PIVOT * largest);
        let falls = |row: usize| -self.table.get(row, column);
        let value = |row: usize| self.constant(row).max(0.0);
        let step = (0..m)
            .filter(|&row| falls(row) > least)
            .map(|row| value(row) / falls(row))
            .fold(f64::INFINITY, f64::min);
        if step == f64::INFINITY {
            return None;
        }
        let mut first: Option<usize> = None;
        for row in (0..m).filter(|&row| falls(row) > least) {
            let left = value(row) - step * falls(row);
            if left > self.same * (1.0 + value(row)) {
                continue;
            }
            if self.basic[row] == 2 * m {
                return Some(row); // a solution, whoever else is at zero
            }
            if first.is_none_or(|first| self.is_before((row, falls(row)), (first, falls(first)))) {
                first = Some(row);
            }
        }
        first
    }

    /// Whether a row comes lexicographically before another one, both with how fast they fall.
    ///
    /// The constants are thought of as `q + (e, e^2, e^3, ...)` with a tiny `e`, for which there are never two at
    /// once. What becomes of the powers stands in the columns of the variables of the start, with the opposite sign,
    /// and is 1 in the row of one that is basic.
    fn is_before(&self, (a, falls_a): (usize, f64), (b, falls_b): (usize, f64)) -> bool {
        for &variable in &self.start {
            let of = |row: usize| match self.place[variable] {
                Place::Row(at) => f64::from(u8::from(at == row)),
                Place::Column(column) => -self.table.get(row, column),
            };
            let (of_a, of_b) = (of(a) / falls_a, of(b) / falls_b);
            if (of_a - of_b).abs() > 1e-12 * of_a.abs().max(of_b.abs()).max(1.0) {
                return of_a < of_b;
            }
        }
        falls_a > falls_b
    }

    /// The value of a variable.
    fn value(&self, variable: usize) -> f64 {
        match self.place[variable] {
            Place::Row(row) => self.constant(row),
            Place::Column(_) => 0.0,
        }
    }

    /// Covering coefficient of a variable.
    fn covered(&self, variable: usize) -> f64 {
        let pair = variable % self.m;
        if self.start[pair] == variable {
            self.cover[pair]
        } else {
            0.0
        }
    }

    /// The value of a variable without its cover: with these the equations `w = M z + q` hold at every vertex.
    fn uncovered(&self, variable: usize) -> f64 {
        self.value(variable) - self.covered(variable) * self.value(2 * self.m)
    }

    /// Writes `x` and `y` of the problem, and which rows are active.
    pub fn point(&self, standard: &Standard, point: &mut Point) {
        let m = self.m;
        let is_basic = |variable: usize| matches!(self.place[variable], Place::Row(_));
        point.y.fill(0.0);
        for (i, role) in standard.roles.iter().enumerate() {
            (point.x[i], point.active[i]) = match *role {
                Role::Constant(x) => (x, false),
                Role::Bounded {
                    pair,
                    base,
                    sign,
                    above,
                } => {
                    // Exactly at the bound, whatever the rounding of z says.
                    let held_above = above.filter(|above| !is_basic(above.pair));
                    let x = held_above
                        .map_or(base + sign * self.uncovered(m + pair), |above| above.bound);
                    (x, is_basic(m + pair) && held_above.is_none())
                }
                Role::Follows(at) => (self.constant(m + at), true),
                Role::Split(pair) => (
                    self.uncovered(m + pair) - self.uncovered(m + pair + 1),
                    is_basic(m + pair) || is_basic(m + pair + 1),
                ),
            };
            if let Role::Bounded { pair, above, .. } = *role {
                let held = above.map_or(0.0, |above| self.uncovered(m + above.pair));
                let w = self.uncovered(pair) - held;
                if let Some((row, sign)) = standard.equation[pair] {
                    point.y[row] = sign * w;
                }
            } else if let Role::Split(pair) = *role
                && let Some((row, sign)) = standard.equation[pair]
            {
                point.y[row] = sign * self.uncovered(pair);
            }
        }
    }

    /// Writes the direction in which `x` goes while a variable enters that nothing limits.
    pub fn ray(&self, standard: &Standard, entering: usize, out: &mut [f64]) {
        let m = self.m;
        let Place::Column(column) = self.place[entering] else {
            unreachable!("a variable that enters is not in the basis");
        };
        let rate = |variable: usize| match self.place[variable] {
            Place::Row(row) => self.table.get(row, column),
            Place::Column(at) => f64::from(u8::from(at == column)),
        };
        let of_z0 = rate(2 * m);
        let rate = |variable: usize| rate(variable) - self.covered(variable) * of_z0;
        for (out, role) in out.iter_mut().zip(&standard.roles) {
            *out = match *role {
                Role::Constant(_) => 0.0,
                Role::Bounded { pair, sign, .. } => sign * rate(m + pair),
                Role::Follows(at) => self.table.get(m + at, column),
                Role::Split(pair) => rate(m + pair) - rate(m + pair + 1),
            };
        }
    }
}

/// An entry of a covering vector: first all ones, then numbers from 1/16 to 16 without a pattern.
fn covering(entry: usize, number: usize) -> f64 {
    if number == 0 {
        1.0
    } else {
        (8.0 * spread(entry, number) - 4.0).exp2()
    }
}

/// Numbers between 0 and 1 without a pattern.
fn spread(entry: usize, number: usize) -> f64 {
    // The bits of a product with an odd number look like chance, the highest ones most.
    let product = (entry as u64 + 1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add((number as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
    let mixed = (product ^ (product >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}
