//! Parallel loops over chunks with fixed boundaries, so that results do not depend on the number of threads.

use std::ops::Range;

/// A range of unknowns of one colour, with what belongs to them.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Whether it belongs to a problem so large that threads stay awake for it.
    pub is_shared: bool,
    pub unknowns: Range<usize>,
    pub runs: Range<usize>,
    pub rows: Range<usize>,
}

/// Replaces counts of two kinds by how many come before, from `first` on; returns what comes next.
pub(super) fn count_up(counts: &mut [[u32; 2]], first: [u32; 2]) -> [u32; 2] {
    counts.iter_mut().fold(first, |next, count| {
        let [a, b] = std::mem::replace(count, next);
        [next[0] + a, next[1] + b]
    })
}

/// Fewer unknowns than this are faster done than handed to another thread, even to one that is awake.
const SERIAL: usize = 1024;
/// Problems with fewer unknowns than this are not worth keeping threads awake.
pub const SHARED: usize = 16 * SERIAL;

fn is_worth_sharing(chunks: &[Chunk]) -> bool {
    let unknowns = chunks.iter().map(|chunk| chunk.unknowns.len());
    chunks.iter().any(|chunk| chunk.is_shared) && unknowns.sum::<usize>() >= SERIAL
}

/// Calls `work(chunk, part)` for every chunk with its part of `data`, whose first entry belongs to the first unknown of
/// the first chunk, and combines the answers in an order that depends on the chunks only.
pub(super) fn fold<T: Send, R: Send>(
    chunks: &[Chunk],
    data: &mut [T],
    work: &(impl Fn(&Chunk, &mut [T]) -> R + Sync),
    combine: &(impl Fn(R, R) -> R + Sync),
) -> Option<R> {
    match chunks {
        [] => None,
        [chunk] => Some(work(chunk, &mut data[..chunk.unknowns.len()])),
        _ => {
            let (low, high) = chunks.split_at(chunks.len() / 2);
            let cut = high[0].unknowns.start - low[0].unknowns.start;
            let (low_data, high_data) = data.split_at_mut(cut);
            let mut on_low = || fold(low, low_data, work, combine);
            let mut on_high = || fold(high, high_data, work, combine);
            let (a, b) = if is_worth_sharing(chunks) {
                rayon::join(on_low, on_high)
            } else {
                (on_low(), on_high())
            };
            match (a, b) {
                (Some(a), Some(b)) => Some(combine(a, b)),
                (a, b) => a.or(b),
            }
        }
    }
}

/// The same without an answer.
pub(super) fn each<T: Send>(
    chunks: &[Chunk],
    data: &mut [T],
    work: &(impl Fn(&Chunk, &mut [T]) + Sync),
) {
    fold(chunks, data, work, &|(), ()| ());
}
