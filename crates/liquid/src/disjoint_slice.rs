//! Slice that several threads write to at disjoint places.

use std::marker::PhantomData;
use std::ops::AddAssign;

/// A field that several threads write to, each to entries no other thread touches at that time.
pub struct DisjointSlice<'a, T> {
    data: *mut T,
    len: usize,
    field: PhantomData<&'a mut [T]>,
}

// SAFETY: a `DisjointSlice` is only a place to write through `add` and `set`, whose caller keeps the threads apart.
unsafe impl<T: Send> Sync for DisjointSlice<'_, T> {}

impl<'a, T> DisjointSlice<'a, T> {
    /// Borrows the field for as long as the threads write.
    pub fn new(field: &'a mut [T]) -> Self {
        Self {
            data: field.as_mut_ptr(),
            len: field.len(),
            field: PhantomData,
        }
    }

    /// Writes an entry.
    ///
    /// # Safety
    /// No other thread may access the same entry at the same time.
    #[inline]
    pub unsafe fn set(&self, index: usize, value: T) {
        assert!(index < self.len);
        // SAFETY: the index is in range, and the caller promises that the entry is this thread's alone.
        unsafe { *self.data.add(index) = value };
    }

    /// Adds `value` to an entry.
    ///
    /// # Safety
    /// No other thread may access the same entry at the same time.
    #[inline]
    pub unsafe fn add(&self, index: usize, value: T)
    where
        T: AddAssign,
    {
        assert!(index < self.len);
        // SAFETY: the index is in range, and the caller promises that the entry is this thread's alone.
        unsafe { *self.data.add(index) += value };
    }
}
