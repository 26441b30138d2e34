//! The numbers of a PLY file.

use super::super::bytes::number;
use super::header::Scalar;
use super::{Fault, Place};

/// A sequence of numbers.
pub(super) trait Numbers {
    /// The next number, of the given type.
    fn number(&mut self, scalar: Scalar) -> Result<f64, Fault>;

    /// Place of the next number.
    fn place(&self) -> Place;
}

/// Numbers as text.
pub(super) struct Text<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Text<'a> {
    pub fn new(bytes: &'a [u8], line: usize) -> Self {
        let mut text = Self { rest: bytes, line };
        text.skip_space();
        text
    }

    fn skip_space(&mut self) {
        while let [space, rest @ ..] = self.rest
            && space.is_ascii_whitespace()
        {
            self.line += usize::from(*space == b'\n');
            self.rest = rest;
        }
    }
}

impl Numbers for Text<'_> {
    fn number(&mut self, _scalar: Scalar) -> Result<f64, Fault> {
        let length = self.rest.iter().position(u8::is_ascii_whitespace);
        let (word, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        if word.is_empty() {
            return Err(Fault::at(self.place(), "the file ends too early"));
        }
        let place = self.place();
        self.rest = rest;
        self.skip_space();
        number(word, place)
    }

    fn place(&self) -> Place {
        Place::Line(self.line)
    }
}

/// Numbers as bytes.
pub(super) struct Binary<'a> {
    rest: &'a [u8],
    /// Offset of the rest in the file.
    at: usize,
    big_endian: bool,
}

impl<'a> Binary<'a> {
    pub fn new(bytes: &'a [u8], at: usize, big_endian: bool) -> Self {
        Self {
            rest: bytes,
            at,
            big_endian,
        }
    }

    /// The next bytes, in little-endian order.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let Some((first, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(Fault::at(self.place(), "the file ends too early"));
        };
        self.rest = rest;
        self.at += N;
        let mut bytes = *first;
        if self.big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }
}

impl Numbers for Binary<'_> {
    fn number(&mut self, scalar: Scalar) -> Result<f64, Fault> {
        Ok(match scalar {
            Scalar::I8 => f64::from(i8::from_le_bytes(self.take()?)),
            Scalar::U8 => f64::from(u8::from_le_bytes(self.take()?)),
            Scalar::I16 => f64::from(i16::from_le_bytes(self.take()?)),
            Scalar::U16 => f64::from(u16::from_le_bytes(self.take()?)),
            Scalar::I32 => f64::from(i32::from_le_bytes(self.take()?)),
            Scalar::U32 => f64::from(u32::from_le_bytes(self.take()?)),
            Scalar::F32 => f64::from(f32::from_le_bytes(self.take()?)),
            Scalar::F64 => f64::from_le_bytes(self.take()?),
        })
    }

    fn place(&self) -> Place {
        Place::Byte(self.at)
    }
}
