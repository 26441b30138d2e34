//! A small linear programme: is there a `v >= 0` with `E v + e = 0` and `C v + c >= 0`, and how far can one go from
//! it?
//!
//! Rows as a dictionary. The equations are solved first, with the largest pivot each time, so that only what they
//! leave open is left to the simplex method: phase one with an artificial variable, Bland's rule throughout, so that
//! it ends.

use super::tableau::Tableau;

/// The constraints, then the dictionary of a vertex that satisfies them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programme {
    equations: usize,
    rows: usize,
    columns: usize,
    most_pivots: usize,
    /// Columns: the variables, the artificial one, the constant. The last row is what is to be made large.
    table: Tableau,
    /// Variables in the rows and columns: `v` from 0, the artificial one, then the slacks of the rows.
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
}

/// An entry below this is rounding.
const ROUNDING: f64 = 1e-11;
/// By how much constraints may be violated; they have entries near 1.
const FEASIBLE: f64 = 1e-10;
/// Limit on pivots, against rounding: Bland's rule ends without one.
const MOST_PIVOTS: usize = 10_000;

impl Programme {
    /// Begins with no more than names: all coefficients are zero. Equations are the first rows.
    pub fn reset(&mut self, equations: usize, rows: usize, columns: usize) {
        self.equations = equations;
        self.rows = rows;
        self.columns = columns;
        self.most_pivots = MOST_PIVOTS;
        self.table.reset(rows + 1, columns + 2);
        self.nonbasic.clear();
        self.nonbasic.extend(0..=columns);
        self.basic.clear();
        self.basic.extend((0..rows).map(|row| columns + 1 + row));
    }

    /// Allows no more pivots than this for the search of a vertex.
    pub fn limit(&mut self, most_pivots: usize) {
        self.most_pivots = most_pivots.min(MOST_PIVOTS);
    }

    /// Sets the coefficient of a variable in a row.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.table.row_mut(row)[column] = value;
    }

    /// Sets the constant of a row.
    pub fn set_constant(&mut self, row: usize, value: f64) {
        self.table.row_mut(row)[self.columns + 1] = value;
    }

    fn constant(&self, row: usize) -> f64 {
        self.table.get(row, self.columns + 1)
    }

    fn exchange(&mut self, row: usize, column: usize) {
        self.table.exchange(row, column);
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
    }

    /// Solves the equations; false if they contradict each other.
    fn solve_equations(&mut self) -> bool {
        let mut left = self.equations;
        while left > 0 {
            let mut best = (0.0, 0, 0);
            for row in 0..left {
                for column in 0..self.columns {
                    let value = self.table.get(row, column).abs();
                    if value > best.0 {
                        best = (value, row, column);
                    }
                }
            }
            let (value, row, column) = best;
            if value <= ROUNDING {
                break;
            }
            self.exchange(row, column);
            self.remove(column);
            // Rows still to solve come first.
            left -= 1;
            self.table.swap_rows(row, left);
            self.basic.swap(row, left);
        }
        // What is left says that a constant is zero.
        for row in 0..left {
            if self.constant(row).abs() > FEASIBLE {
                return false;
            }
            self.table.row_mut(row).fill(0.0);
        }
        true
    }

    /// Keeps the variable of a column at zero.
    fn remove(&mut self, column: usize) {
        for row in 0..=self.rows {
            self.table.row_mut(row)[column] = 0.0;
        }
    }

    /// Finds a vertex; false if there is none.
    pub fn is_feasible(&mut self) -> bool {
        if !self.solve_equations() {
            return false;
        }
        let artificial = self.columns;
        let worst = (0..self.rows).fold(None, |worst: Option<usize>, row| {
            let value = self.constant(row);
            if value < 0.0 && worst.is_none_or(|worst| value < self.constant(worst)) {
                Some(row)
            } else {
                worst
            }
        });
        if let Some(worst) = worst {
            for row in 0..self.rows {
                self.table.row_mut(row)[artificial] = 1.0;
            }
            // What is to be made large: less of the artificial variable.
            self.table.row_mut(self.rows)[artificial] = -1.0;
            self.exchange(worst, artificial);
            self.climb();
            if self.constant(self.rows) < -FEASIBLE {
                return false;
            }
            if let Some(row) = self.basic.iter().position(|&v| v == artificial) {
                // It is zero there: any entry will do to get rid of it, best the largest.
                let of = |column: usize| self.table.get(row, column).abs();
                let column = (0..=self.columns)
                    .max_by(|&a, &b| of(a).total_cmp(&of(b)))
                    .filter(|&column| of(column) > ROUNDING);
                let Some(column) = column else { return false };
                self.exchange(row, column);
            }
        }
        // The artificial variable stays out.
        let column = self.nonbasic.iter().position(|&v| v == artificial);
        if let Some(column) = column {
            self.remove(column);
        }
        true
    }

    /// Maximises the last row; returns whether it is bounded.
    fn climb(&mut self) -> bool {
        for _ in 0..self.most_pivots {
            // Bland: of all columns that help, the variable that comes first.
            let entering = (0..=self.columns)
                .filter(|&column| self.table.get(self.rows, column) > ROUNDING)
                .min_by_key(|&column| self.nonbasic[column]);
            let Some(column) = entering else { return true };
            let mut leaving: Option<(f64, usize)> = None;
            for row in 0..self.rows {
                let falls = -self.table.get(row, column);
                if falls > ROUNDING {
                    let step = self.constant(row).max(0.0) / falls;
                    let first = leaving.is_none_or(|(least, at)| {
                        step < least || (step == least && self.basic[row] < self.basic[at])
                    });
                    if first {
                        leaving = Some((step, row));
                    }
                }
            }
            let Some((_, row)) = leaving else {
                return false;
            };
            self.exchange(row, column);
        }
        true
    }

    /// The value of a variable.
    pub fn value(&self, variable: usize) -> f64 {
        let row = self.basic.iter().position(|&v| v == variable);
        row.map_or(0.0, |row| self.constant(row).max(0.0))
    }

    /// Weight of each row in the proof that there is no vertex, after [`is_feasible`](Self::is_feasible) found
    /// none.
    ///
    /// The artificial variable cannot get smaller, since what is to be made large falls with every variable that
    /// could enter; by how much with the slack of a row is the factor of that row.
    pub fn factor(&self, row: usize) -> f64 {
        let slack = self.columns + 1 + row;
        let column = self.nonbasic.iter().position(|&v| v == slack);
        column.map_or(0.0, |column| -self.table.get(self.rows, column).min(0.0))
    }

    /// Maximises `sum_k f_k v_k` from a vertex; none if it is unbounded.
    pub fn largest(&mut self, objective: impl Iterator<Item = (usize, f64)>) -> Option<f64> {
        self.table.row_mut(self.rows).fill(0.0);
        for (variable, factor) in objective {
            if let Some(column) = self.nonbasic.iter().position(|&v| v == variable) {
                self.table.row_mut(self.rows)[column] += factor;
            } else if let Some(row) = self.basic.iter().position(|&v| v == variable) {
                for column in 0..self.columns + 2 {
                    let value = self.table.get(row, column);
                    self.table.row_mut(self.rows)[column] += factor * value;
                }
            }
        }
        self.climb().then(|| self.constant(self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::Programme;

    fn programme(rows: &[[f64; 3]]) -> Programme {
        let mut programme = Programme::default();
        programme.reset(0, rows.len(), 2);
        for (row, [a, b, c]) in rows.iter().enumerate() {
            programme.set(row, 0, *a);
            programme.set(row, 1, *b);
            programme.set_constant(row, *c);
        }
        programme
    }

    #[test]
    fn a_triangle_has_a_vertex_and_an_end_in_every_direction() {
        // v + w >= 1, v + 2 w <= 4
        let mut triangle = programme(&[[1.0, 1.0, -1.0], [-1.0, -2.0, 4.0]]);
        assert!(triangle.is_feasible());
        let at = [triangle.value(0), triangle.value(1)];
        assert!(at[0] + at[1] >= 1.0 - 1e-12 && at[0] + 2.0 * at[1] <= 4.0 + 1e-12);
        assert_eq!(triangle.largest([(0, 1.0)].into_iter()), Some(4.0));
        assert_eq!(triangle.largest([(1, 1.0)].into_iter()), Some(2.0));
        assert_eq!(
            triangle.largest([(0, -1.0), (1, -1.0)].into_iter()),
            Some(-1.0)
        );
    }

    #[test]
    fn what_has_no_end_and_what_is_empty_is_told() {
        let mut wedge = programme(&[[1.0, -1.0, 0.0]]);
        assert!(wedge.is_feasible());
        assert_eq!(wedge.largest([(0, 1.0)].into_iter()), None);
        assert!(!programme(&[[1.0, 1.0, -2.0], [-1.0, -1.0, 1.0]]).is_feasible());
    }

    #[test]
    fn equations_are_kept_and_contradictions_found() {
        // v + w = 1 twice, v <= 3/4
        let rows = [[1.0, 1.0, -1.0], [2.0, 2.0, -2.0], [-1.0, 0.0, 0.75]];
        let mut segment = programme(&rows);
        segment.equations = 2;
        assert!(segment.is_feasible());
        assert_eq!(segment.value(0) + segment.value(1), 1.0);
        assert_eq!(segment.largest([(0, 1.0)].into_iter()), Some(0.75));
        assert_eq!(segment.largest([(1, 1.0)].into_iter()), Some(1.0));
        let mut parallel = programme(&[[1.0, 1.0, -1.0], [1.0, 1.0, -2.0]]);
        parallel.equations = 2;
        assert!(!parallel.is_feasible());
    }
}
