//! The inner loops of the cycle.

use super::chunks::Chunk;
use super::level::{Level, Run};
use super::simd::{Width, for_every_width};

/// The neighbours of a run, side by side, in an array whose first entry belongs to unknown `first`.
#[inline(always)]
pub(super) fn beside<'a, T, const D: usize>(
    run: &Run<D>,
    other: &'a [T],
    first: usize,
) -> [[&'a [T]; 2]; D] {
    let part = |at: u32| {
        let at = at as usize - first;
        &other[at..at + run.length as usize]
    };
    run.near.map(|pair| pair.map(part))
}

/// Entries that are worked on side by side. The last block of a run may overlap the one before: it says the same again, and
/// there is no remainder to do one by one, of which short runs would mostly consist.
pub(super) const LANES: usize = 8;

#[inline(always)]
pub(super) fn block<T: Copy + Default>(values: &[T], at: usize) -> [T; LANES] {
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
