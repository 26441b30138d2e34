//! Herschel-Bulkley liquids: a viscosity that depends on the shear rate, found by relaxed rounds.
//!
//! `eta(g) = K g^(r-1) + tau_y / g` [TB20 (27)] with `g = max(gamma, smallest rate)` and the shear rate `gamma = sqrt(2 E:E)`, which is
//! `|du/dy|` in simple shear: the liquid yields at the shear stress `tau_y`.
//!
//! DEVIATION [TB20 (27)]: the paper takes the Frobenius norm of `E`, which is `gamma/sqrt(2)`. Its `tau_0` and `k` are those of
//! this module divided by `sqrt(2)` and by `2^((1-r)/2)`.
//!
//! DEVIATION [TB20 (27)]: the paper alternates plainly between viscosity and velocity. At fixed stress that update has the factor `1 - r`: a 2-cycle at
//! `r = 2`. Here the logarithm of the viscosity moves by `1/max(1, r)` of the way.

use rayon::prelude::*;

use super::fractions::edge_low;
use super::kernels::Pair;
use super::level::FaceKind;
use super::system::{System, Viscosity};
use super::{EDGE_KINDS, edge_axes, edge_kinds};
use crate::compiled::Compiled;
use crate::particles::transfer::FaceField;

/// Least open share that strains are divided by.
const LEAST_OPEN: f64 = 0.02;
/// Strains of samples less open than this are not averaged.
const OPEN: f64 = 0.05;

/// A Newtonian or Herschel-Bulkley liquid. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rheology {
    /// Shear stress below which it does not flow, in Pa. Default: 0.
    pub yield_stress: f64,
    /// `K`, in Pa s^r; the viscosity of a Newtonian liquid. Default: 0.
    pub consistency: f64,
    /// `r`: below 1 shear thinning, above 1 shear thickening. Default: 1.
    pub flow_index: f64,
    /// Shear rate below which the viscosity no longer changes, in 1/s. Default: 1e-2.
    pub smallest_rate: f64,
}

impl Default for Rheology {
    fn default() -> Self {
        Self::newtonian(0.0)
    }
}

impl Rheology {
    /// A liquid of constant viscosity.
    pub fn newtonian(viscosity: f64) -> Self {
        Self {
            yield_stress: 0.0,
            consistency: viscosity,
            flow_index: 1.0,
            smallest_rate: 1e-2,
        }
    }

    /// Whether there is no viscosity at any shear rate.
    pub fn is_inviscid(&self) -> bool {
        self.yield_stress == 0.0 && self.consistency == 0.0
    }

    /// Whether all numbers are in range.
    pub fn is_sound(&self) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let amount = |x: f64| x >= 0.0 && x.is_finite();
        amount(self.yield_stress)
            && amount(self.consistency)
            && positive(self.flow_index)
            && positive(self.smallest_rate)
    }

    /// Whether the viscosity is constant.
    pub fn is_newtonian(&self) -> bool {
        self.yield_stress == 0.0 && self.flow_index == 1.0
    }

    /// Viscosity at a shear rate.
    // [TB20 (27)]
    pub fn viscosity(&self, rate: f64) -> f64 {
        let rate = rate.max(self.smallest_rate);
        self.consistency * rate.powf(self.flow_index - 1.0) + self.yield_stress / rate
    }

    /// Share of the way that the logarithm of the viscosity moves in one round.
    pub fn relaxation(&self) -> f64 {
        1.0 / self.flow_index.max(1.0)
    }

    /// Viscosity at shear rates on the grid.
    pub fn at(&self, rates: &Viscosity) -> Viscosity {
        rates.map(|rate| self.viscosity(rate))
    }

    /// The next round's viscosity, from the last one and the shear rates that it led to.
    pub fn relaxed(&self, last: &Viscosity, rates: &Viscosity) -> Viscosity {
        let theta = self.relaxation();
        let step = |last: f64, rate: f64| last.powf(1.0 - theta) * self.viscosity(rate).powf(theta);
        let pairs = |last: &[f64], rates: &[f64]| -> Vec<f64> {
            let pairs = last.par_iter().zip(rates).with_min_len(1024);
            pairs.map(|(&last, &rate)| step(last, rate)).collect()
        };
        Viscosity {
            cell: pairs(&last.cell, &rates.cell),
            edge: match (&last.edge, &rates.edge) {
                (Some(last), Some(rates)) => {
                    Some(std::array::from_fn(|kind| pairs(&last[kind], &rates[kind])))
                }
                _ => None,
            },
        }
    }
}

impl Viscosity {
    /// A value for every value.
    fn map(&self, value: impl Fn(f64) -> f64 + Sync) -> Self {
        let map = |field: &Vec<f64>| {
            field
                .par_iter()
                .with_min_len(1024)
                .map(|&v| value(v))
                .collect()
        };
        Self {
            cell: map(&self.cell),
            edge: self.edge.as_ref().map(|edge| edge.each_ref().map(map)),
        }
    }
}

/// A square of a strain, and whether it counts in means.
type Square = (f64, bool);

impl<const D: usize> System<D> {
    /// Shear rates `sqrt(2 E:E)` in cells and on edges, in the places of a viscosity, of the strains of the liquid's own velocity.
    pub fn shear_rates(&self, x: &[f64], solid: Option<&FaceField<D>>) -> Viscosity {
        (Compiled::get().stokes_rates)(self, x, solid)
    }

    pub(crate) fn shear_rates_impl(&self, x: &[f64], solid: Option<&FaceField<D>>) -> Viscosity {
        let tiles = &self.level.tiles;
        let mut flux = Pair::<D, f64>::zeros(tiles);
        self.scatter(x, &mut flux);
        if let Some(solid) = solid {
            for axis in 0..D {
                let kinds = &self.shares.kind[axis];
                for index in (0..tiles.cells()).filter(|&index| kinds[index] == FaceKind::Solid) {
                    flux.t[axis][index] = solid[axis][index];
                }
            }
        }
        let inverse_dx = 1.0 / self.medium.dx;
        let t = &flux.t;
        let open = |index: usize, low: usize| 1.0 - self.geometry.shares(index, low).1;
        let over = |acts: bool, index: usize, low: usize, square: &dyn Fn() -> f64| -> Square {
            if !acts || !tiles.exists(index) {
                return (0.0, false);
            }
            let open = open(index, low);
            let per_open = inverse_dx / open.max(LEAST_OPEN);
            (square() * per_open * per_open, open > OPEN)
        };
        let all = || (0..tiles.field_len()).into_par_iter().with_min_len(256);
        let stretch: Vec<Square> = all()
            .map(|index| {
                over(self.level.cell[index] > 0.0, index, 0, &|| {
                    let along = (0..D).map(|a| (t[a][tiles.above(index, a)] - t[a][index]).powi(2));
                    2.0 * along.sum::<f64>()
                })
            })
            .collect();
        let shear: [Vec<Square>; EDGE_KINDS] = std::array::from_fn(|kind| {
            if kind >= edge_kinds(D) {
                return Vec::new();
            }
            let (a, b) = edge_axes(kind);
            let edges = all().map(|i| {
                over(self.level.edge[kind][i] > 0.0, i, edge_low(a, b), &|| {
                    let along = t[a][i] - t[a][tiles.below(i, b)];
                    let across = t[b][i] - t[b][tiles.below(i, a)];
                    (along + across).powi(2)
                })
            });
            edges.collect()
        });
        let cell = all().map(|i| {
            let around = (0..edge_kinds(D)).map(|kind| {
                let (a, b) = edge_axes(kind);
                let above = tiles.above(i, a);
                let corners = [i, above, tiles.above(i, b), tiles.above(above, b)];
                mean(corners.map(|corner| shear[kind][corner]))
            });
            (stretch[i].0 + around.sum::<f64>()).sqrt()
        });
        let cell = cell.collect();
        let edge = std::array::from_fn(|kind| {
            if kind >= edge_kinds(D) {
                return Vec::new();
            }
            let (a, b) = edge_axes(kind);
            let edges = all().map(|i| {
                let below = tiles.below(i, a);
                let cells = [i, below, tiles.below(i, b), tiles.below(below, b)];
                let mut sum = shear[kind][i].0 + mean(cells.map(|cell| stretch[cell]));
                for other in (0..edge_kinds(D)).filter(|&other| other != kind) {
                    // The other kind shares one axis, on which both lie low.
                    let (c, d) = edge_axes(other);
                    let own = if a == c || a == d { b } else { a };
                    let new = if c == a || c == b { d } else { c };
                    let below = tiles.below(i, own);
                    let near = [i, below, tiles.above(i, new), tiles.above(below, new)];
                    sum += mean(near.map(|edge| shear[other][edge]));
                }
                sum.sqrt()
            });
            edges.collect()
        });
        Viscosity {
            cell,
            edge: Some(edge),
        }
    }
}

/// Mean of the squares that count.
fn mean(squares: [Square; 4]) -> f64 {
    let known = squares.iter().filter(|square| square.1);
    let (sum, count) = known.fold((0.0, 0), |(sum, count), square| (sum + square.0, count + 1));
    sum / count.max(1) as f64
}
