//! Precision: the method is written once for `f32` and `f64`.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A floating-point number of either precision.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Bytes of a number in a saved state.
    const BYTES: usize;

    /// The nearest number.
    fn of(value: f64) -> Self;
    /// The same number in double precision.
    fn wide(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// Appends the bytes of the number, least significant first.
    fn write(self, out: &mut Vec<u8>);
    /// The number of [`Real::BYTES`] bytes.
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! real {
    ($type:ty, $bytes:literal) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const BYTES: usize = $bytes;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            // Unlike that of the standard library, a single instruction: operands are never NaN where it matters.
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; $bytes];
                own.copy_from_slice(&bytes[..$bytes]);
                Self::from_le_bytes(own)
            }
        }
    };
}

real!(f32, 4);
real!(f64, 8);

/// Four numbers: the coordinates of a point (the third is zero in 2D) and a spare one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct Vec4<R>(pub [R; 4]);

impl<R: Real> Vec4<R> {
    /// The origin.
    pub const ZERO: Self = Self([R::ZERO; 4]);

    /// A point of `D` dimensions.
    #[inline]
    pub fn of<const D: usize>(x: [f64; D]) -> Self {
        let mut point = Self::ZERO;
        for axis in 0..D {
            point.0[axis] = R::of(x[axis]);
        }
        point
    }

    /// The point in `D` dimensions.
    #[inline]
    pub fn point<const D: usize>(self) -> [f64; D] {
        std::array::from_fn(|axis| self.0[axis].wide())
    }

    /// The vector with a spare number of zero.
    #[inline(always)]
    pub fn xyz(self) -> Self {
        Self([self.0[0], self.0[1], self.0[2], R::ZERO])
    }

    /// Scalar product of the first three numbers.
    #[inline(always)]
    pub fn dot(self, other: Self) -> R {
        (self.0[0] * other.0[0] + self.0[1] * other.0[1]) + self.0[2] * other.0[2]
    }

    /// `self + factor * other`, in all four numbers.
    #[inline(always)]
    pub fn plus(self, factor: R, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + factor * other.0[k]))
    }

    /// Product number by number.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] * other.0[k]))
    }

    /// All four numbers times `factor`.
    #[inline(always)]
    pub fn scaled(self, factor: R) -> Self {
        Self(self.0.map(|value| value * factor))
    }
}

impl<R: Real> Add for Vec4<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + other.0[k]))
    }
}

impl<R: Real> Sub for Vec4<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] - other.0[k]))
    }
}
