//! Convergence curves of many solves.

use crate::prelude::*;
use crate::walls::{Outcome, Quartiles, thinned};

/// A value before the first iteration and after each, for every solve.
#[derive(Clone, Debug)]
pub struct Curves {
    pub curves: Vec<Vec<f64>>,
    /// Name of the quantity.
    measure: &'static str,
}

impl Curves {
    /// Merits of the outer iterations.
    pub fn of_merits(outcomes: &[Outcome]) -> Self {
        let merits = |outcome: &Outcome| outcome.outer_points.iter().map(|at| at.merit).collect();
        Curves {
            curves: outcomes.iter().map(merits).collect(),
            measure: "merit",
        }
    }

    /// Norms of the inner iterations, as parts of the first.
    pub fn of_norms(outcomes: &[Outcome]) -> Self {
        let norms = |outcome: &Outcome| {
            let norms: Vec<f64> = outcome.inner_points.iter().map(|at| at.norm).collect();
            let first = norms.first().copied().unwrap_or(1.0);
            norms.into_iter().map(|norm| norm / first).collect()
        };
        Curves {
            curves: outcomes.iter().map(norms).collect(),
            measure: "residual, as a part of the first",
        }
    }

    /// Iterations of the solves.
    pub fn lengths(&self) -> Option<Quartiles> {
        let lengths = self
            .curves
            .iter()
            .map(|curve| curve.len().saturating_sub(1) as f64);
        Quartiles::of(lengths)
    }

    /// For each iteration: how many solves came that far, and the quartiles of their values.
    pub fn quartiles(&self) -> Vec<(usize, usize, Quartiles)> {
        let longest = self.curves.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest)
            .filter_map(|at| {
                let values: Vec<f64> = self
                    .curves
                    .iter()
                    .filter_map(|c| c.get(at).copied())
                    .collect();
                let count = values.len();
                Some((at, count, Quartiles::of(values)?))
            })
            .collect()
    }

    /// The order of convergence at the end of each solve that has enough iterations, from its last three values.
    pub fn orders(&self) -> Vec<f64> {
        let order = |curve: &Vec<f64>| {
            let [.., a, b, c] = curve[..] else {
                return None;
            };
            let order = (c / b).ln() / (b / a).ln();
            order.is_finite().then_some(order)
        };
        self.curves.iter().filter_map(order).collect()
    }

    /// Every curve by itself.
    pub fn chart(&self, name: &'static str, title: &str, x: &str) -> Picture {
        let series = self.curves.iter().enumerate().map(|(index, curve)| Series {
            name: (index + 1).to_string(),
            points: points(curve.iter().copied().enumerate()),
        });
        self.drawn(name, title, x, series.collect())
    }

    /// The quartiles.
    pub fn quartile_picture(&self, name: &'static str, title: &str, x: &str) -> Picture {
        let quartiles = self.quartiles();
        let Some((_, _, first)) = quartiles.first() else {
            return self.drawn(name, title, x, Vec::new());
        };
        let series = first
            .named()
            .into_iter()
            .enumerate()
            .map(|(index, (label, _))| {
                let values = quartiles.iter().map(|(at, _, q)| (*at, q.named()[index].1));
                Series {
                    name: label.into(),
                    points: points(values),
                }
            });
        self.drawn(name, title, x, series.collect())
    }

    fn drawn(&self, name: &'static str, title: &str, x: &str, series: Vec<Series>) -> Picture {
        let chart = Chart {
            title: title.into(),
            x: Axis::linear(x),
            y: Axis::logarithmic(self.measure),
            series,
        };
        Picture::chart(name, &chart)
    }
}

fn points(values: impl Iterator<Item = (usize, f64)>) -> Vec<(f64, f64)> {
    thinned(values.map(|(at, value)| (at as f64, value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_quartiles_are_those_done_by_hand() {
        let curves = Curves {
            curves: vec![
                vec![1e-1, 1e-2, 1e-4],
                vec![1.0, 0.5, 0.25, 0.125],
                vec![1.0],
            ],
            measure: "merit",
        };
        let orders = curves.orders();
        assert!((orders[0] - 2.0).abs() < 1e-12 && (orders[1] - 1.0).abs() < 1e-12);
        assert_eq!(orders.len(), 2);
        let quartiles = curves.quartiles();
        assert_eq!((quartiles[0].1, quartiles[1].1, quartiles[3].1), (3, 2, 1));
        assert_eq!(quartiles[3].2.median, 0.125);
        assert_eq!(curves.lengths().unwrap().most, 3.0);
    }
}
