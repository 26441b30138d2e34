//! Ratio test of a drive: the row that blocks.

use super::Drive;

/// Reason for the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    /// `y` is zero.
    Zero,
    /// `x` is at a bound.
    Bound(f64),
    /// `y` is where a row waits that is violated and would be more so without end.
    Aside,
}

/// Event of a row that ends a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    pub row: usize,
    /// The step `t`.
    pub step: f64,
    /// Event that ends the step, and its row.
    pub end: End,
    rate: f64,
}

impl Drive {
    /// The row that ends the step first. [Erl13 (42), (43)]
    pub(super) fn first_block(
        &self,
        j: usize,
        sigma: f64,
        zero: f64,
        careful: bool,
    ) -> Option<Block> {
        let scaled = &self.course.scaled;
        let noise = self.noise();
        let (l, u) = (scaled.lower[j], scaled.upper[j]);
        let far = if sigma > 0.0 { u } else { l };
        let rate = self.rates[j];
        // The driven row itself: y at zero, x at the far bound. One of the two is what is driven, the other follows.
        let following = |distance: f64| {
            if rate > zero {
                distance / rate
            } else {
                f64::INFINITY
            }
        };
        let (y_left, x_left) = (self.y[j].abs(), (far - self.x[j]).abs());
        let (to_zero, to_bound) = if self.active[j] {
            (y_left, following(x_left))
        } else {
            (following(y_left), x_left)
        };
        let mut best: Option<Block> = None;
        if to_zero < f64::INFINITY && to_zero <= to_bound {
            best = Some(Block {
                row: j,
                step: to_zero,
                end: End::Zero,
                rate: f64::INFINITY,
            });
        } else if to_bound < f64::INFINITY {
            best = Some(Block {
                row: j,
                step: to_bound,
                end: End::Bound(far),
                rate: f64::INFINITY,
            });
        }
        for i in 0..self.x.len() {
            let rate = sigma * self.rates[i];
            if i == j || rate.abs() <= zero {
                continue;
            }
            let (room, end) = if self.active[i] {
                let bound = if rate > 0.0 {
                    scaled.upper[i]
                } else {
                    scaled.lower[i]
                };
                ((bound - self.x[i]) / rate, End::Bound(bound))
            } else if scaled.is_fixed(i) {
                continue; // any y will do
            } else if scaled.is_free(i) {
                if self.violation(i) <= noise {
                    (0.0, End::Zero)
                } else if rate * self.y[i] < 0.0 {
                    (-self.y[i] / rate, End::Zero)
                } else {
                    continue;
                }
            } else if self.violation(i) > noise {
                continue; // its turn comes later
            } else if (self.x[i] == scaled.lower[i]) == (rate < 0.0) {
                (-self.y[i] / rate, End::Zero)
            } else {
                continue;
            };
            if room == f64::INFINITY {
                continue;
            }
            let block = Block {
                row: i,
                step: room.max(0.0),
                end,
                rate: rate.abs(),
            };
            if best.is_none_or(|best| block.comes_before(&best, careful)) {
                best = Some(block);
            }
        }
        best
    }

    /// Where nothing else ends the step, the violated row that gets worse the fastest: it becomes active with the `y`
    /// it has, which waits for a drive of its own.
    ///
    /// Without it a step could have no end although there is a solution: only a step that leaves every violated row
    /// as it is, or makes it better, proves anything.
    pub(super) fn first_to_put_aside(&self, j: usize, sigma: f64, zero: f64) -> Option<Block> {
        let scaled = &self.course.scaled;
        let n = self.x.len();
        let worst = (0..n).fold(1.0, |worst: f64, i| worst.max(self.violation(i)));
        let mut best: Option<Block> = None;
        for i in (0..n).filter(|&i| i != j && !self.active[i] && !scaled.is_fixed(i)) {
            let rate = sigma * self.rates[i];
            // Satisfied rows were asked before.
            if self.violation(i) <= 0.0 || rate.abs() <= zero || rate * self.y[i] <= 0.0 {
                continue;
            }
            let block = Block {
                row: i,
                step: (2.0 * worst - self.violation(i)) / rate.abs(),
                end: End::Aside,
                rate: rate.abs(),
            };
            if best.is_none_or(|best| block.comes_before(&best, false)) {
                best = Some(block);
            }
        }
        best
    }
}

impl Block {
    /// Whether this one is to be taken rather than another.
    ///
    /// Of those that block at the same step the driven row wins, since it ends the drive; then the largest rate,
    /// which gives the best pivot; or, where many steps had no length, the first row, so that the drive cannot go
    /// round in a circle.
    fn comes_before(&self, other: &Self, careful: bool) -> bool {
        let tie = 1e-13 * (self.step.abs().max(other.step.abs()));
        if (self.step - other.step).abs() > tie {
            self.step < other.step
        } else if other.rate == f64::INFINITY {
            false
        } else if careful {
            self.row < other.row
        } else {
            self.rate > other.rate
        }
    }
}
