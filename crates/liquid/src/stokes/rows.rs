//! Rows of eight cells along the last axis and the rows around them.

use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use crate::grid::tiles::{TILE, Tiles};

/// Cells in a row.
pub(crate) const WIDE: usize = TILE as usize;

/// Numbers that kernels compute with.
pub(crate) trait Real:
    Copy
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + SubAssign
{
}

impl Real for f32 {}
impl Real for f64 {}

/// Numbers of a row.
pub(crate) type Wide<T> = [T; WIDE];

/// Something with a number for every cell of the grid.
pub(crate) trait Source<T> {
    /// The number of a cell.
    fn one(&self, index: usize) -> T;
    /// Those of the row that begins at a cell.
    fn row(&self, first: usize) -> Wide<T>;
}

impl<T: Copy> Source<T> for &[T] {
    #[inline(always)]
    fn one(&self, index: usize) -> T {
        self[index]
    }
    #[inline(always)]
    fn row(&self, first: usize) -> Wide<T> {
        match self[first..].first_chunk() {
            Some(row) => *row,
            None => unreachable!("fields are made of whole rows"),
        }
    }
}

/// A field that a sweep reads and writes at once, by tiles that do not touch.
pub(crate) struct Swept<'a, T> {
    data: *mut T,
    len: usize,
    field: PhantomData<&'a mut [T]>,
}

// SAFETY: reads and writes go through `Source` and `set`, whose callers sweep tiles of one parity at a time: a tile writes
// its own cells only, and reads those of itself and of the tiles around it, which have other parities.
unsafe impl<T: Send> Sync for Swept<'_, T> {}

impl<'a, T: Copy> Swept<'a, T> {
    /// Borrows the field for a sweep.
    ///
    /// # Safety
    /// While several threads use it, each may write to one tile, and read that tile and those around it; tiles that are
    /// written at the same time must not touch.
    pub unsafe fn new(field: &'a mut [T]) -> Self {
        Self {
            data: field.as_mut_ptr(),
            len: field.len(),
            field: PhantomData,
        }
    }

    /// Writes a number.
    #[inline(always)]
    pub fn set(&self, index: usize, value: T) {
        assert!(index < self.len);
        // SAFETY: the index is in range; no other thread accesses this tile, as promised to `new`.
        unsafe { *self.data.add(index) = value };
    }
}

impl<T: Copy> Source<T> for Swept<'_, T> {
    #[inline(always)]
    fn one(&self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: the index is in range; no other thread writes this tile, as promised to `new`.
        unsafe { *self.data.add(index) }
    }
    #[inline(always)]
    fn row(&self, first: usize) -> Wide<T> {
        assert!(first + WIDE <= self.len);
        // SAFETY: the row is in range; no other thread writes this tile, as promised to `new`.
        unsafe { *self.data.add(first).cast::<Wide<T>>() }
    }
}

/// A place relative to a row: one of the rows around it, and a shift along it.
#[derive(Clone, Copy)]
pub(crate) struct At {
    row: usize,
    shift: i32,
}

impl At {
    /// The row itself.
    #[inline(always)]
    pub const fn own<const D: usize>() -> Self {
        Self {
            row: if D == 2 { 1 } else { 4 },
            shift: 0,
        }
    }

    #[inline(always)]
    const fn rows<const D: usize>(axis: usize) -> usize {
        if D == 3 && axis == 0 { 3 } else { 1 }
    }

    /// One cell up along an axis.
    #[inline(always)]
    pub const fn up<const D: usize>(self, axis: usize) -> Self {
        if axis == D - 1 {
            Self {
                row: self.row,
                shift: self.shift + 1,
            }
        } else {
            Self {
                row: self.row + Self::rows::<D>(axis),
                shift: self.shift,
            }
        }
    }

    /// One cell down along an axis.
    #[inline(always)]
    pub const fn down<const D: usize>(self, axis: usize) -> Self {
        if axis == D - 1 {
            Self {
                row: self.row,
                shift: self.shift - 1,
            }
        } else {
            Self {
                row: self.row - Self::rows::<D>(axis),
                shift: self.shift,
            }
        }
    }
}

/// Indices of a row of a tile and of the `3^(D-1)` rows around it.
pub(crate) struct Around {
    /// First cell of every row.
    first: [usize; 9],
    /// The cell before it and the one after its end.
    ends: [[usize; 2]; 9],
    /// Parity of the coordinates of its first cell.
    pub parity: usize,
}

impl Around {
    /// Rows of a tile.
    pub const fn count<const D: usize>() -> usize {
        WIDE.pow(D as u32 - 1)
    }

    /// Around the row with this number in a tile.
    #[inline(always)]
    pub fn new<const D: usize>(tiles: &Tiles<D>, slot: usize, row: usize) -> Self {
        let slots = tiles.around_tile(slot);
        let cells = Tiles::<D>::CELLS;
        // For every other axis and step: which tile, and the place in it.
        let local = |axis: usize| row / WIDE.pow((D - 2 - axis) as u32) % WIDE;
        let to = |axis: usize, step: usize| {
            let from = local(axis) + WIDE - 1 + step;
            let tile = from / WIDE * 3usize.pow((D - 1 - axis) as u32);
            (tile, from % WIDE * Tiles::<D>::stride(axis))
        };
        let mut around = Self {
            first: [0; 9],
            ends: [[0; 2]; 9],
            parity: (0..D - 1).map(local).sum::<usize>() & 1,
        };
        for k in 0..3usize.pow(D as u32 - 1) {
            let (mut tile, mut offset) = (0, 0);
            for axis in 0..D - 1 {
                let step = k / 3usize.pow((D - 2 - axis) as u32) % 3;
                let (t, o) = to(axis, step);
                tile += t;
                offset += o;
            }
            around.first[k] = slots[tile + 1] as usize * cells + offset;
            around.ends[k] = [
                slots[tile] as usize * cells + offset + WIDE - 1,
                slots[tile + 2] as usize * cells + offset,
            ];
        }
        around
    }

    /// First cell of the row itself.
    #[inline(always)]
    pub fn own<const D: usize>(&self) -> usize {
        self.first[At::own::<D>().row]
    }

    /// The numbers of a field at a place.
    #[inline(always)]
    pub fn load<T: Copy>(&self, field: &impl Source<T>, at: At) -> Wide<T> {
        let row = field.row(self.first[at.row]);
        match at.shift {
            0 => row,
            1 => {
                let end = field.one(self.ends[at.row][1]);
                std::array::from_fn(|i| {
                    if i + 1 < WIDE {
                        row[(i + 1) % WIDE]
                    } else {
                        end
                    }
                })
            }
            _ => {
                let end = field.one(self.ends[at.row][0]);
                std::array::from_fn(|i| {
                    if i > 0 {
                        row[(i + WIDE - 1) % WIDE]
                    } else {
                        end
                    }
                })
            }
        }
    }
}

/// A number from each of two rows.
#[inline(always)]
pub(crate) fn zip<T: Copy>(a: Wide<T>, b: Wide<T>, f: impl Fn(T, T) -> T) -> Wide<T> {
    std::array::from_fn(|i| f(a[i], b[i]))
}

/// `a - b`
#[inline(always)]
pub(crate) fn sub<T: Real>(a: Wide<T>, b: Wide<T>) -> Wide<T> {
    zip(a, b, |a, b| a - b)
}

/// `a + b`
#[inline(always)]
pub(crate) fn add<T: Real>(a: Wide<T>, b: Wide<T>) -> Wide<T> {
    zip(a, b, |a, b| a + b)
}

/// `sum + a b`
#[inline(always)]
pub(crate) fn add_product<T: Real>(sum: Wide<T>, a: Wide<T>, b: Wide<T>) -> Wide<T> {
    std::array::from_fn(|i| sum[i] + a[i] * b[i])
}

/// `sum - a b`
#[inline(always)]
pub(crate) fn sub_product<T: Real>(sum: Wide<T>, a: Wide<T>, b: Wide<T>) -> Wide<T> {
    std::array::from_fn(|i| sum[i] - a[i] * b[i])
}
