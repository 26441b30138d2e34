//! The inner loops, compiled for several widths of vectors.
//!
//! They are plain loops over slices. On x86-64 each is compiled three times, and the processor is asked once which copy
//! it can run. No copy may fuse a product with a sum, so all give the same bits.

use super::chunks::Chunk;
use super::level::{Level, Run};

/// How wide vectors may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// What every processor of the target has.
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    /// The widest that this processor has.
    pub fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2");
            if avx2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                return Self::Avx512;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Plain
    }

    /// The widest, and those below it.
    #[cfg(test)]
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        return match Self::widest() {
            Self::Avx512 => vec![Self::Plain, Self::Avx2, Self::Avx512],
            Self::Avx2 => vec![Self::Plain, Self::Avx2],
            Self::Plain => vec![Self::Plain],
        };
        #[cfg(not(target_arch = "x86_64"))]
        vec![Self::Plain]
    }
}

/// Compiles a function for every width, and makes one of its name that takes the width first.
macro_rules! for_every_width {
    ($(#[$doc:meta])* pub fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(super) fn $name<const D: usize>(width: Width, $($argument: $type),*) $(-> $answer)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<const D: usize>($($argument: $type),*) $(-> $answer)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            #[allow(clippy::too_many_arguments)]
            fn avx2<const D: usize>($($argument: $type),*) $(-> $answer)? {
                body::<D>($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512vl")]
            #[allow(clippy::too_many_arguments)]
            fn avx512<const D: usize>($($argument: $type),*) $(-> $answer)? {
                body::<D>($($argument),*)
            }

            match width {
                Width::Plain => body::<D>($($argument),*),
                // SAFETY: `Width::widest` found the feature on this processor.
                #[cfg(target_arch = "x86_64")]
                Width::Avx2 => unsafe { avx2::<D>($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Width::Avx512 => unsafe { avx512::<D>($($argument),*) },
            }
        }
    };
}

/// The neighbours of a run, side by side, in an array whose first entry belongs to unknown `first`.
#[inline(always)]
fn beside<'a, T, const D: usize>(run: &Run<D>, other: &'a [T], first: usize) -> [[&'a [T]; 2]; D] {
    let part = |at: u32| {
        let at = at as usize - first;
        &other[at..at + run.length as usize]
    };
    run.near.map(|pair| pair.map(part))
}

/// Entries that are worked on side by side. The last block of a run may overlap the one before: it says the same again, and
/// there is no remainder to do one by one, of which short runs would mostly consist.
const LANES: usize = 8;

#[inline(always)]
fn block<T: Copy + Default>(values: &[T], at: usize) -> [T; LANES] {
    let mut block = [T::default(); LANES];
    block.copy_from_slice(&values[at..at + LANES]);
    block
}

#[inline(always)]
fn add(sum: &mut [f32; LANES], low: [f32; LANES], high: [f32; LANES]) {
    for l in 0..LANES {
        sum[l] += low[l] + high[l];
    }
}

for_every_width! {
    /// Solves every equation of a chunk for its unknown: `e` is its part of the correction, `other` that of the other colour, from
    /// unknown `first_other` on.
    pub fn relax(level: &Level<D>, r: &[f32], chunk: &Chunk, e: &mut [f32], other: &[f32], first_other: usize) {
        let first = chunk.unknowns.start;
        let scale = 1.0 / level.full_weight;
        let share = 1.0 / (2 * D) as f32;
        for run in &level.runs[chunk.runs.clone()] {
            let at = run.first as usize;
            let length = run.length as usize;
            let e = &mut e[at - first..][..length];
            let r = &r[at..][..length];
            let near = beside(run, other, first_other);
            if length < LANES {
                for k in 0..length {
                    let mut sum = scale * r[k];
                    for pair in &near {
                        sum += pair[0][k] + pair[1][k];
                    }
                    e[k] = share * sum;
                }
                continue;
            }
            for k in 0..length.div_ceil(LANES) {
                let k = (LANES * k).min(length - LANES);
                let mut sum = block(r, k).map(|r| scale * r);
                for pair in &near {
                    add(&mut sum, block(pair[0], k), block(pair[1], k));
                }
                e[k..k + LANES].copy_from_slice(&sum.map(|sum| share * sum));
            }
        }
        for row in &level.rows.row[chunk.rows.clone()] {
            let at = row.unknown as usize;
            let mut sum = r[at];
            for link in &level.rows.link[row.links()] {
                sum += link.weight * other[link.target as usize - first_other];
            }
            e[at - first] = sum * row.inverse;
        }
    }
}

for_every_width! {
    /// The same where the other colour is zero.
    pub fn relax_alone(level: &Level<D>, r: &[f32], chunk: &Chunk, e: &mut [f32]) {
        let first = chunk.unknowns.start;
        let scale = 1.0 / ((2 * D) as f32 * level.full_weight);
        // Rows are overwritten below; regular ones are nearly all.
        for (e, r) in e.iter_mut().zip(&r[first..]) {
            *e = scale * r;
        }
        for row in &level.rows.row[chunk.rows.clone()] {
            let at = row.unknown as usize;
            e[at - first] = r[at] * row.inverse;
        }
    }
}

for_every_width! {
    /// `left = r - A e` on the red unknowns of a chunk.
    pub fn residual(level: &Level<D>, chunk: &Chunk, left: &mut [f32]) {
        let first = chunk.unknowns.start;
        let (r, (red, black)) = (&level.r, level.e.split_at(level.red));
        for run in &level.runs[chunk.runs.clone()] {
            let at = run.first as usize;
            let length = run.length as usize;
            let left = &mut left[at - first..][..length];
            let (e, r) = (&red[at..][..length], &r[at..][..length]);
            let near = beside(run, black, level.red);
            let (own, weight) = (-((2 * D) as f32), level.full_weight);
            if length < LANES {
                for k in 0..length {
                    let mut sum = own * e[k];
                    for pair in &near {
                        sum += pair[0][k] + pair[1][k];
                    }
                    left[k] = r[k] + weight * sum;
                }
                continue;
            }
            for k in 0..length.div_ceil(LANES) {
                let k = (LANES * k).min(length - LANES);
                let mut sum = block(e, k).map(|e| own * e);
                for pair in &near {
                    add(&mut sum, block(pair[0], k), block(pair[1], k));
                }
                let r = block(r, k);
                for l in 0..LANES {
                    sum[l] = r[l] + weight * sum[l];
                }
                left[k..k + LANES].copy_from_slice(&sum);
            }
        }
        for row in &level.rows.row[chunk.rows.clone()] {
            let at = row.unknown as usize;
            if row.inverse == 0.0 {
                left[at - first] = 0.0;
                continue;
            }
            let mut sum = r[at];
            for link in &level.rows.link[row.links()] {
                sum += link.weight * black[link.target as usize - level.red];
            }
            left[at - first] = sum - red[at] / row.inverse;
        }
    }
}

for_every_width! {
    /// The mean of what is left over the children of a chunk of coarse unknowns: black ones have nothing left.
    pub fn restrict(coarse: &Level<D>, left: &[f32], chunk: &Chunk, r: &mut [f32]) {
        let first = chunk.unknowns.start;
        let share = 1.0 / (1 << D) as f32;
        for run in &coarse.runs[chunk.runs.clone()] {
            let length = run.length as usize;
            let r = &mut r[run.first as usize - first..][..length];
            for (k, r) in r.iter_mut().enumerate() {
                let mut sum = 0.0;
                for &child in &run.children[..1 << (D - 1)] {
                    sum += left[child as usize + 2 * k];
                }
                *r = share * sum;
            }
        }
        for row in &coarse.rows.row[chunk.rows.clone()] {
            let unknown = row.unknown as usize;
            let red = coarse.children(unknown).iter().map(|&c| c as usize);
            let sum: f32 = red.take_while(|&c| c < left.len()).map(|c| left[c]).sum();
            r[unknown - first] = share * sum;
        }
    }
}

for_every_width! {
    /// Adds to a chunk of red unknowns the correction of their parents. Black ones need none: the first sweep on the way up
    /// starts with them, and does not ask for what they were.
    pub fn prolong(level: &Level<D>, parents: &[f32], chunk: &Chunk, e: &mut [f32]) {
        let first = chunk.unknowns.start;
        for (e, &parent) in e.iter_mut().zip(&level.parent[first..]) {
            *e += parents[parent as usize];
        }
        for row in &level.rows.row[chunk.rows.clone()] {
            if row.inverse == 0.0 {
                e[row.unknown as usize - first] = 0.0;
            }
        }
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
