//! One level of the full approximation scheme.

use crate::hierarchy::Hierarchy;
use crate::problem::BoxMlcp;
use crate::reduce;
use crate::rows::Rows;
use crate::split::for_each;
use crate::splitting::{Colours, Order, rows};

/// Vectors of a level.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// `l` on bounded rows, 0 elsewhere; only on the finest level.
    pub floor: Vec<f64>,
    pub p: Vec<f64>,
    /// `p` as it was when the level was entered.
    entered: Vec<f64>,
    pub b: Vec<f64>,
    pub f: Vec<f64>,
    pub d: Vec<f64>,
    pub bounded: Vec<bool>,
    /// `b - f`
    rhs: Vec<f64>,
    /// `f_i / d_i` on bounded rows.
    lower: Vec<f64>,
    upper: Vec<f64>,
    scratch: Vec<f64>,
    colours: Colours,
    /// Bounded rows and those coupled to them, rising.
    near_bounds: Vec<u32>,
}

impl Level {
    pub fn resize(&mut self, n: usize) {
        let Self {
            p,
            entered,
            b,
            f,
            d,
            rhs,
            lower,
            upper,
            scratch,
            ..
        } = self;
        for array in [p, entered, b, f, d, rhs, lower, upper, scratch] {
            array.resize(n, 0.0);
        }
        self.upper.fill(f64::INFINITY);
        self.bounded.resize(n, false);
    }

    pub fn colour(&mut self, matrix: &(impl Rows + ?Sized), order: Order) {
        if order == Order::Colours {
            self.colours.prepare(matrix);
        }
    }

    /// Lists the bounded rows and those coupled to them.
    pub fn find_bounds(&mut self, matrix: &(impl Rows + ?Sized)) {
        let mut near = self.bounded.clone();
        for row in (0..self.bounded.len()).filter(|&row| self.bounded[row]) {
            matrix.visit_row(row, &mut |column, value| near[column] |= value != 0.0);
        }
        self.near_bounds.clear();
        let rows = (0..near.len() as u32).filter(|&row| near[row as usize]);
        self.near_bounds.extend(rows);
    }

    /// `N(p) = f` as a box MLCP.
    fn pose(&mut self) {
        let Self {
            b,
            f,
            d,
            bounded,
            rhs,
            lower,
            ..
        } = self;
        for_each(
            (
                (&b[..], &f[..], &d[..]),
                &bounded[..],
                (&mut rhs[..], &mut lower[..]),
            ),
            &|_, ((b, f, d), bounded, (rhs, lower))| {
                for i in 0..b.len() {
                    rhs[i] = b[i] - f[i];
                    lower[i] = if bounded[i] {
                        f[i] / d[i]
                    } else {
                        f64::NEG_INFINITY
                    };
                }
            },
        );
    }

    /// Sweeps over `N(p) = f`, which must be posed: first over all rows, then over those near bounds.
    pub fn smooth(
        &mut self,
        matrix: &(impl Rows + ?Sized),
        order: Order,
        (everywhere, near_bounds): (usize, usize),
    ) {
        for _ in 0..everywhere {
            self.sweep(matrix, order, false);
        }
        let Self {
            p,
            d,
            rhs,
            lower,
            upper,
            near_bounds: few,
            ..
        } = self;
        let problem = BoxMlcp::unchecked(matrix, rhs, lower, upper);
        for _ in 0..near_bounds {
            rows(&problem, d, 1.0, few.iter().map(|&row| row as usize), p);
        }
    }

    fn sweep(&mut self, matrix: &(impl Rows + ?Sized), order: Order, backward: bool) -> f64 {
        let Self {
            p,
            d,
            rhs,
            lower,
            upper,
            colours,
            ..
        } = self;
        let problem = BoxMlcp::unchecked(matrix, rhs, lower, upper);
        let n = p.len();
        match order {
            Order::Natural if backward => rows(&problem, d, 1.0, (0..n).rev(), p),
            Order::Natural => rows(&problem, d, 1.0, 0..n, p),
            Order::Colours => colours.sweep(&problem, d, 1.0, backward, p),
        }
    }

    /// Smooths, and leaves `f - N(p)` in the scratch memory.
    pub fn descend(&mut self, matrix: &(impl Rows + ?Sized), order: Order, sweeps: (usize, usize)) {
        self.pose();
        self.smooth(matrix, order, sweeps);
        self.equation(matrix);
        let Self { f, scratch, .. } = self;
        for_each((&mut scratch[..], &f[..]), &|_, (n, f)| {
            for i in 0..n.len() {
                n[i] = f[i] - n[i];
            }
        });
    }

    /// Enters the level from the next finer one, which has descended. [Lai20 (4.7)-(4.9)]
    pub fn enter(&mut self, hierarchy: &(impl Hierarchy + ?Sized), level: usize, fine: &Self) {
        hierarchy.restrict(level, &fine.p, &mut self.p);
        hierarchy.restrict(level, &fine.scratch, &mut self.f);
        self.entered.copy_from_slice(&self.p);
        self.equation(hierarchy.matrix(level));
        crate::reduced_system::add(&mut self.f, 1.0, &self.scratch);
    }

    /// Solves on the coarsest level by alternating sweeps, until nothing moves.
    pub fn solve(&mut self, matrix: &(impl Rows + ?Sized), order: Order, sweeps: usize) {
        self.pose();
        for sweep in 0..sweeps {
            let moved = self.sweep(matrix, order, sweep % 2 == 1);
            if moved <= f64::EPSILON * reduce::largest(&self.p) {
                break;
            }
        }
    }

    /// `p <- p + P (q - p_H)`
    pub fn correct(
        &mut self,
        hierarchy: &(impl Hierarchy + ?Sized),
        level: usize,
        coarse: &mut Self,
    ) {
        let Self { p, entered, .. } = &mut *coarse;
        crate::reduced_system::add(p, -1.0, entered);
        hierarchy.prolongate(level, &coarse.p, &mut self.scratch);
        crate::reduced_system::add(&mut self.p, 1.0, &self.scratch);
    }

    /// Leaves `N(p)` in the scratch memory. [Lai20 (4.6)]
    fn equation(&mut self, matrix: &(impl Rows + ?Sized)) {
        let Self {
            p,
            b,
            d,
            bounded,
            scratch,
            ..
        } = self;
        matrix.apply(p, scratch);
        for_each(
            ((&mut scratch[..], &p[..]), (&b[..], &d[..]), &bounded[..]),
            &|_, ((n, p), (b, d), bounded)| {
                for i in 0..n.len() {
                    n[i] += b[i];
                    // Not `min`, which would hide NaN.
                    if bounded[i] && d[i] * p[i] < n[i] {
                        n[i] = d[i] * p[i];
                    }
                }
            },
        );
    }
}
