//! Complementary cones: the place of every row, and the points that belong to it. [Erl13 (36)-(40)]

use super::programme::Programme;
use super::scaled::Scaled;
use crate::factor::Lu;

/// Points nearer to each other than this, relative to their size, are one.
pub(crate) const SAME: f64 = 1e-7;

/// A block whose pivots lie within this ratio is regular.
const REGULAR: f64 = 1e-6;

/// Place of `x` of a row: at a bound or between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
    Between,
}

/// A complementary cone, and memory to look into it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cone {
    sides: Vec<Side>,
    between: Vec<usize>,
    /// The point, in the units of [`Scaled`].
    pub x: Vec<f64>,
    /// Scratch vector.
    pub y: Vec<f64>,
    /// Memory for the point in the units of the problem.
    pub point: Vec<f64>,
    change: Vec<f64>,
    /// The variables of the programme that make up an `x` between its bounds.
    variables: Vec<(usize, f64, Option<usize>)>,
    lu: Lu,
    programme: Programme,
}

impl Cone {
    /// The first cone: every row at a bound, if it has one.
    pub fn begin(&mut self, scaled: &Scaled) {
        let n = scaled.len();
        self.sides.clear();
        self.sides.extend((0..n).map(|i| first_side(scaled, i)));
        for vector in [&mut self.x, &mut self.y, &mut self.point] {
            vector.resize(n, 0.0);
        }
    }

    /// The next cone, as the next number of a counter; false after the last one.
    pub fn next(&mut self, scaled: &Scaled) -> bool {
        for (i, side) in self.sides.iter_mut().enumerate() {
            let next = match *side {
                _ if scaled.is_fixed(i) => None,
                Side::Lower if scaled.upper[i].is_finite() => Some(Side::Upper),
                Side::Lower | Side::Upper => Some(Side::Between),
                Side::Between => None,
            };
            if let Some(next) = next {
                *side = next;
                return true;
            }
            *side = first_side(scaled, i);
        }
        false
    }

    /// A point of the cone in question, and whether the cone holds more; none if it certainly holds none.
    pub fn solve(&mut self, scaled: &Scaled) -> Option<bool> {
        self.between.clear();
        for (i, &side) in self.sides.iter().enumerate() {
            self.x[i] = match side {
                Side::Lower => scaled.lower[i],
                Side::Upper => scaled.upper[i],
                Side::Between => {
                    self.between.push(i);
                    0.0
                }
            };
        }
        scaled.affine(&self.x, &mut self.y);
        let between = &self.between;
        self.lu.factorise(between.len(), |a, out| {
            let row = scaled.row(between[a]);
            for (out, &j) in out.iter_mut().zip(between) {
                *out = row[j];
            }
        });
        // A pivot that is small without a search over the columns may stand for a smaller one: the programme
        // searches.
        if self.lu.pivot_ratio() < REGULAR {
            return self.solve_singular(scaled);
        }
        self.change.resize(between.len(), 0.0);
        for _ in 0..2 {
            for (change, &i) in self.change.iter_mut().zip(between) {
                *change = -self.y[i];
            }
            self.lu.solve(&mut self.change);
            for (change, &i) in self.change.iter().zip(between) {
                self.x[i] += change;
            }
            scaled.affine(&self.x, &mut self.y);
        }
        self.x.iter().all(|x| x.is_finite()).then_some(false)
    }

    /// The same by a linear programme, for cones whose point may not be unique.
    fn solve_singular(&mut self, scaled: &Scaled) -> Option<bool> {
        // Each x between its bounds is base + sign v, or v - v' without bounds.
        self.variables.clear();
        let mut columns = 0;
        let mut boxed = 0;
        for &i in &self.between {
            let (l, u) = (scaled.lower[i], scaled.upper[i]);
            let (base, sign) = match (l.is_finite(), u.is_finite()) {
                (true, _) => (l, 1.0),
                (false, true) => (u, -1.0),
                (false, false) => (0.0, 1.0),
            };
            boxed += usize::from(l.is_finite() && u.is_finite());
            let second = scaled.is_free(i).then_some(columns + 1);
            self.variables.push((columns, sign, second));
            columns += 1 + usize::from(second.is_some());
            self.x[i] = base;
        }
        scaled.affine(&self.x, &mut self.y);
        let held = |i: &usize| self.sides[*i] != Side::Between && !scaled.is_fixed(*i);
        let count = (0..scaled.len()).filter(held).count();
        let equations = self.between.len();
        self.programme
            .reset(equations, equations + count + boxed, columns);
        let mut row = 0;
        let rows = self.between.iter().copied();
        for i in rows.chain((0..scaled.len()).filter(held)) {
            let of_row = if self.sides[i] == Side::Upper {
                -1.0
            } else {
                1.0
            };
            for (&j, &(v, sign, second)) in self.between.iter().zip(&self.variables) {
                let value = of_row * sign * scaled.row(i)[j];
                self.programme.set(row, v, value);
                if let Some(second) = second {
                    self.programme.set(row, second, -value);
                }
            }
            self.programme.set_constant(row, of_row * self.y[i]);
            row += 1;
        }
        for (&i, &(v, ..)) in self.between.iter().zip(&self.variables) {
            if scaled.lower[i].is_finite() && scaled.upper[i].is_finite() {
                self.programme.set(row, v, -1.0);
                self.programme
                    .set_constant(row, scaled.upper[i] - scaled.lower[i]);
                row += 1;
            }
        }
        if !self.programme.is_feasible() {
            return None;
        }
        for (&i, &(v, sign, second)) in self.between.iter().zip(&self.variables) {
            let second = second.map_or(0.0, |second| self.programme.value(second));
            self.x[i] += sign * (self.programme.value(v) - second);
        }
        Some(self.is_face())
    }

    /// Whether an unknown can take two values among the points of the programme.
    fn is_face(&mut self) -> bool {
        let programme = &mut self.programme;
        self.variables.iter().any(|&(v, _, second)| {
            let of = |sign: f64| {
                let second = second.map(|second| (second, -sign));
                [(v, sign)].into_iter().chain(second)
            };
            match (programme.largest(of(1.0)), programme.largest(of(-1.0))) {
                (Some(largest), Some(smallest)) => {
                    largest + smallest > SAME * (1.0 + largest.abs())
                }
                _ => true,
            }
        })
    }
}

fn first_side(scaled: &Scaled, i: usize) -> Side {
    if scaled.lower[i].is_finite() {
        Side::Lower
    } else if scaled.upper[i].is_finite() {
        Side::Upper
    } else {
        Side::Between
    }
}
