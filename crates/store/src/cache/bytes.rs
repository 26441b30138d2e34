//! Numbers and names in the payload of a section.

use super::CacheError;

/// Reader of a payload.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], CacheError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CacheError> {
        let bytes = self.take(N)?;
        Ok(std::array::from_fn(|i| bytes[i]))
    }

    pub fn u8(&mut self) -> Result<u8, CacheError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, CacheError> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, CacheError> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, CacheError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A finite number.
    pub fn f32(&mut self) -> Result<f32, CacheError> {
        let number = self.array().map(f32::from_le_bytes)?;
        number.is_finite().then_some(number).ok_or(NOT_FINITE)
    }

    /// A finite number.
    pub fn f64(&mut self) -> Result<f64, CacheError> {
        let number = self.array().map(f64::from_le_bytes)?;
        number.is_finite().then_some(number).ok_or(NOT_FINITE)
    }

    /// Finite numbers.
    pub fn vector<const N: usize>(&mut self) -> Result<[f64; N], CacheError> {
        let mut vector = [0.0; N];
        for number in &mut vector {
            *number = self.f64()?;
        }
        Ok(vector)
    }

    /// A name: its length, then UTF-8.
    pub fn name(&mut self) -> Result<String, CacheError> {
        let length = usize::from(self.u16()?);
        let bytes = self.take(length)?;
        let name = std::str::from_utf8(bytes);
        name.map(str::to_owned)
            .map_err(|_| CacheError::Payload("has a name that is not UTF-8"))
    }

    /// Checks that nothing is left.
    pub fn end(&self) -> Result<(), CacheError> {
        self.0.is_empty().then_some(()).ok_or(SHORT)
    }
}

pub(super) const SHORT: CacheError = CacheError::Payload("has the wrong length");
const NOT_FINITE: CacheError = CacheError::Payload("has a number that is not finite");

/// Writes a name: its length, then UTF-8.
pub(super) fn push_name(bytes: &mut Vec<u8>, name: &str) -> Result<(), CacheError> {
    let length =
        u16::try_from(name.len()).map_err(|_| CacheError::Unwritable("a name is too long"))?;
    bytes.extend(length.to_le_bytes());
    bytes.extend(name.as_bytes());
    Ok(())
}
