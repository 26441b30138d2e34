//! The inner loops on the finest level that end in sums: the residual in double precision, and products for steps that use the
//! last one.

use super::chunks::Chunk;
use super::kernels::{LANES, beside, block};
use super::level::Level;
use super::simd::{Width, for_every_width};

/// The system on the finest grid, in double precision.
pub(super) struct Exact<'a, const D: usize> {
    pub level: &'a Level<D>,
    pub full_weight: f64,
    pub p: &'a [f64],
    pub b: &'a [f64],
    /// Of every row.
    pub diagonal: &'a [f64],
    /// Of every link.
    pub weight: &'a [f64],
    /// Of every row.
    pub lower: &'a [f64],
    /// One over the size of residuals.
    pub scale: f64,
}

/// What a pass over the equations finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Largest entry of the natural residual.
    pub residual: f64,
    /// `1/2 p'Ap + b'p`
    pub energy: f64,
    /// The size of the terms that the energy is a sum of.
    pub size: f64,
    /// Largest `-y` of a row at its bound: how much one wants to leave it.
    pub release: f64,
}

impl Found {
    pub const NOTHING: Self = Self {
        residual: 0.0,
        energy: 0.0,
        size: 0.0,
        release: 0.0,
    };

    pub fn and(self, other: Self) -> Self {
        Self {
            // Unlike `f64::max` this keeps a NaN.
            residual: if self.residual >= other.residual {
                self.residual
            } else {
                other.residual
            },
            energy: self.energy + other.energy,
            size: self.size + other.size,
            release: self.release.max(other.release),
        }
    }
}

for_every_width! {
    /// `r = -(A p + b)`, scaled, on a chunk, and what there is to know of it.
    pub fn measure(exact: &Exact<D>, chunk: &Chunk, r: &mut [f32]) -> Found {
        let level = exact.level;
        let first = chunk.unknowns.start;
        let (mut largest, mut energy, mut size) = ([0.0f64; LANES], [0.0f64; LANES], [0.0f64; LANES]);
        for run in &level.runs[chunk.runs.clone()] {
            let at = run.first as usize;
            let length = run.length as usize;
            let r = &mut r[at - first..][..length];
            let (p, b) = (&exact.p[at..][..length], &exact.b[at..][..length]);
            let near = beside(run, exact.p, 0);
            let whole = length - length % LANES;
            for k in (0..whole).step_by(LANES) {
                let mut y = block(p, k).map(|p| (2 * D) as f64 * p);
                for pair in &near {
                    let (low, high) = (block(pair[0], k), block(pair[1], k));
                    for l in 0..LANES {
                        y[l] -= low[l] + high[l];
                    }
                }
                let (p, b, r) = (block(p, k), block(b, k), &mut r[k..k + LANES]);
                for l in 0..LANES {
                    let y = exact.full_weight * y[l] + b[l];
                    r[l] = (-exact.scale * y) as f32;
                    // False for NaN, which `energy` keeps.
                    largest[l] = if y.abs() > largest[l] { y.abs() } else { largest[l] };
                    energy[l] += 0.5 * p[l] * (y + b[l]);
                    size[l] += (p[l] * b[l]).abs();
                }
            }
            for k in whole..length {
                let mut y = (2 * D) as f64 * p[k];
                for pair in &near {
                    y -= pair[0][k] + pair[1][k];
                }
                let y = exact.full_weight * y + b[k];
                r[k] = (-exact.scale * y) as f32;
                largest[0] = if y.abs() > largest[0] { y.abs() } else { largest[0] };
                energy[0] += 0.5 * p[k] * (y + b[k]);
                size[0] += (p[k] * b[k]).abs();
            }
        }
        let mut found = Found::NOTHING;
        for lane in 0..LANES {
            found = found.and(Found {
                residual: largest[lane],
                energy: energy[lane],
                size: size[lane],
                release: 0.0,
            });
        }
        for row in chunk.rows.clone() {
            let at = level.rows.row[row].unknown as usize;
            let (p, b, y) = exact.row(row, at);
            r[at - first] = (-exact.scale * y) as f32;
            let lower = exact.lower[row];
            let natural = if p - y <= lower { p - lower } else { y };
            let held = level.free[at] == 0 && lower == f64::NEG_INFINITY;
            found = found.and(Found {
                residual: if held { 0.0 } else { natural.abs() },
                energy: 0.5 * p * (y + b),
                size: (p * b).abs(),
                release: if p <= lower { -y } else { 0.0 },
            });
        }
        found
    }
}

impl<const D: usize> Exact<'_, D> {
    /// Value, right-hand side and `y = A p + b` of a row.
    #[inline(always)]
    pub fn row(&self, row: usize, at: usize) -> (f64, f64, f64) {
        let (p, b) = (self.p[at], self.b[at]);
        let mut y = self.diagonal[row] * p + b;
        let weights = &self.weight[self.level.rows.row[row].links()];
        for (link, weight) in self.level.rows.links(row).iter().zip(weights) {
            y -= weight * self.p[link.target as usize];
        }
        (p, b, y)
    }
}

for_every_width! {
    /// `product = A e` on a chunk; returns `e'Ae`, `e'q`, `r'e` and `r's` for another direction `s` and its image `q`.
    pub fn product(level: &Level<D>, e: &[f32], others: (&[f32], &[f32]), chunk: &Chunk, product: &mut [f32]) -> [f64; 4] {
        let first = chunk.unknowns.start;
        let (r, (s, q)) = (&level.r, others);
        for run in &level.runs[chunk.runs.clone()] {
            let at = run.first as usize;
            let product = &mut product[at - first..][..run.length as usize];
            let near = beside(run, e, 0);
            let e = &e[at..][..run.length as usize];
            for k in 0..product.len() {
                let mut sum = (2 * D) as f32 * e[k];
                for pair in &near {
                    sum -= pair[0][k] + pair[1][k];
                }
                product[k] = level.full_weight * sum;
            }
        }
        for row in &level.rows.row[chunk.rows.clone()] {
            let at = row.unknown as usize;
            product[at - first] = if row.inverse == 0.0 {
                0.0
            } else {
                let mut sum = e[at] / row.inverse;
                for link in &level.rows.link[row.links()] {
                    sum -= link.weight * e[link.target as usize];
                }
                sum
            };
        }
        let mut sums = [[0.0f64; LANES]; 4];
        let at = chunk.unknowns.clone();
        let (e, r, s, q) = (&e[at.clone()], &r[at.clone()], &s[at.clone()], &q[at]);
        let whole = product.len() - product.len() % LANES;
        for k in (0..whole).step_by(LANES) {
            let [e, r, s, q] = [e, r, s, q].map(|values| block(values, k).map(f64::from));
            let product = block(product, k).map(f64::from);
            for l in 0..LANES {
                sums[0][l] += e[l] * product[l];
                sums[1][l] += e[l] * q[l];
                sums[2][l] += r[l] * e[l];
                sums[3][l] += r[l] * s[l];
            }
        }
        for k in whole..product.len() {
            let [e, r, s, q] = [e, r, s, q].map(|values| f64::from(values[k]));
            let terms = [e * f64::from(product[k]), e * q, r * e, r * s];
            for (sums, term) in sums.iter_mut().zip(terms) {
                sums[0] += term;
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    }
}
