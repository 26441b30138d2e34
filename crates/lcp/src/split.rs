//! Parallel loops and reductions whose splits depend on the number of rows alone.
//!
//! Every sum in this crate is added up in the tree that [`fold`] walks, and its leaves and branches are the same
//! for any number of threads. That is what makes results the same bits on one core and on sixty-four; the
//! reductions of rayon itself split where a thread happens to be idle.

use std::ops::Range;

use crate::blocks::Blocks;

/// Rows of a leaf: small enough to stay in the nearest cache, large enough to hide the cost of a branch.
pub(crate) const LEAF: usize = 4096;

/// Below this number of rows a branch is walked by one thread: waking another would take longer.
const SERIAL: usize = 16384;

/// Arrays of equal length that can be cut in two at a row.
pub(crate) trait Split: Send + Sized {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// The rows before `middle`, and those from it on.
    fn cut(self, middle: usize) -> (Self, Self);
}

impl<T: Sync> Split for &[T] {
    fn rows(&self) -> usize {
        self.len()
    }
    fn cut(self, middle: usize) -> (Self, Self) {
        self.split_at(middle)
    }
}

impl<T: Send> Split for &mut [T] {
    fn rows(&self) -> usize {
        self.len()
    }
    fn cut(self, middle: usize) -> (Self, Self) {
        self.split_at_mut(middle)
    }
}

macro_rules! split_tuple {
    ($($part:ident $index:tt),+) => {
        impl<$($part: Split),+> Split for ($($part,)+) {
            fn rows(&self) -> usize {
                $(debug_assert_eq!(self.0.rows(), self.$index.rows());)+
                self.0.rows()
            }
            fn cut(self, middle: usize) -> (Self, Self) {
                let parts = ($(self.$index.cut(middle),)+);
                (($(parts.$index.0,)+), ($(parts.$index.1,)+))
            }
        }
    };
}
split_tuple!(A 0, B 1);
split_tuple!(A 0, B 1, C 2);
split_tuple!(A 0, B 1, C 2, D 3);
split_tuple!(A 0, B 1, C 2, D 3, E 4);
split_tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
split_tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);

/// Calls `leaf` with the first row and the arrays of each leaf, and combines what the leaves return.
pub(crate) fn fold<S, T>(
    arrays: S,
    leaf: &(impl Fn(usize, S) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> T
where
    S: Split,
    T: Send,
{
    branch(0, arrays, leaf, combine)
}

fn branch<S, T>(
    first: usize,
    arrays: S,
    leaf: &(impl Fn(usize, S) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> T
where
    S: Split,
    T: Send,
{
    let rows = arrays.rows();
    if rows <= LEAF {
        return leaf(first, arrays);
    }
    let middle = rows.div_ceil(LEAF) / 2 * LEAF;
    let (low, high) = arrays.cut(middle);
    let (low, high) = if rows < SERIAL {
        (
            branch(first, low, leaf, combine),
            branch(first + middle, high, leaf, combine),
        )
    } else {
        rayon::join(
            || branch(first, low, leaf, combine),
            || branch(first + middle, high, leaf, combine),
        )
    };
    combine(low, high)
}

/// Calls `leaf` with the first row and the arrays of each leaf.
pub(crate) fn for_each<S: Split>(arrays: S, leaf: &(impl Fn(usize, S) + Sync)) {
    fold(arrays, leaf, &|(), ()| ());
}

/// The first row that `find` finds; it is given the first row and the arrays of a leaf, and counts from there.
pub(crate) fn first_row<S: Split>(
    arrays: S,
    find: &(impl Fn(usize, S) -> Option<usize> + Sync),
) -> Option<usize> {
    fold(
        arrays,
        &|first, arrays| find(first, arrays).map(|at| first + at),
        &|low, high| low.or(high),
    )
}

/// Calls `leaf` with each block of a range and its part of the arrays, and combines what the leaves return.
///
/// `cut` splits the arrays of a range of blocks before its block `middle`. An empty range gives nothing.
pub(crate) fn fold_blocks<S, T>(
    blocks: &Blocks,
    range: Range<usize>,
    arrays: S,
    cut: &(impl Fn(S, Range<usize>, usize) -> (S, S) + Sync),
    leaf: &(impl Fn(usize, S) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> Option<T>
where
    S: Send,
    T: Send,
{
    match range.len() {
        0 => return None,
        1 => return Some(leaf(range.start, arrays)),
        _ => {}
    }
    let rows = blocks.block(range.end - 1).end - blocks.block(range.start).start;
    let middle = range.start + range.len() / 2;
    let (low, high) = cut(arrays, range.clone(), middle);
    let low = || fold_blocks(blocks, range.start..middle, low, cut, leaf, combine);
    let high = || fold_blocks(blocks, middle..range.end, high, cut, leaf, combine);
    let (low, high) = if rows < SERIAL {
        (low(), high())
    } else {
        rayon::join(low, high)
    };
    Some(combine(low?, high?))
}
