//! Vectors that grow by a sixteenth instead of doubling.
//!
//! The liquid has a few cells more or less in every step. A vector that is too short by one doubles its room if it is left to
//! itself, and takes as much address space again that nobody uses.

/// For vectors that are about as long in every step.
pub(crate) trait Growth<T> {
    /// Reserves capacity for `length` entries, and a sixteenth more if it has to grow.
    fn make_room(&mut self, length: usize);

    /// `resize`, with no more room than that.
    fn resize_closely(&mut self, length: usize, value: T)
    where
        T: Clone;
}

impl<T> Growth<T> for Vec<T> {
    fn make_room(&mut self, length: usize) {
        if length > self.capacity() {
            self.reserve_exact(length + length / 16 - self.len());
        }
    }

    fn resize_closely(&mut self, length: usize, value: T)
    where
        T: Clone,
    {
        if self.capacity() == 0 {
            // Where the value is zero, memory of the system already is: threads that use it then touch it first, not this one.
            *self = vec![value; length];
        } else {
            self.make_room(length);
            self.resize(length, value);
        }
    }
}
