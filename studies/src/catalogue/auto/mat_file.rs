//! Reader of quadratic programs in MATLAB files (level 5): dense and sparse matrices of numbers, compressed or not.

use std::collections::BTreeMap;
use std::io::Read;

/// Entries of a matrix: row, column, value.
pub struct Matrix {
    pub rows: usize,
    pub entries: Vec<(usize, usize, f64)>,
}

impl Matrix {
    /// The matrix as one column.
    pub fn column(&self) -> Vec<f64> {
        let mut column = vec![0.0; self.rows];
        for &(row, _, value) in &self.entries {
            column[row] = value;
        }
        column
    }
}

/// All matrices of a file by name; `None` if it is not such a file.
pub fn read(bytes: &[u8]) -> Option<BTreeMap<String, Matrix>> {
    let mut found = BTreeMap::new();
    for (kind, data) in elements(bytes.get(128..)?)? {
        if kind == COMPRESSED {
            let mut plain = Vec::new();
            let mut reader = flate2::read::ZlibDecoder::new(data);
            reader.read_to_end(&mut plain).ok()?;
            for (kind, data) in elements(&plain)? {
                keep(kind, data, &mut found)?;
            }
        } else {
            keep(kind, data, &mut found)?;
        }
    }
    Some(found)
}

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const SPARSE: u32 = 5;

fn keep(kind: u32, data: &[u8], found: &mut BTreeMap<String, Matrix>) -> Option<()> {
    if kind == MATRIX {
        let (name, matrix) = matrix(data)?;
        found.insert(name, matrix);
    }
    Some(())
}

/// Type and content of each element.
fn elements(mut bytes: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let word =
        |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let mut found = Vec::new();
    while bytes.len() >= 8 {
        let tag = word(bytes, 0)?;
        let (kind, start, length) = match tag >> 16 {
            0 => (tag, 8, word(bytes, 4)? as usize),
            // A small element has its length in the same word.
            length => (tag & 0xffff, 4, length as usize),
        };
        found.push((kind, bytes.get(start..start + length)?));
        let end = match start {
            4 => 8,
            _ if kind == COMPRESSED => 8 + length,
            _ => 8 + length.next_multiple_of(8),
        };
        bytes = bytes.get(end..).unwrap_or_default();
    }
    Some(found)
}

fn matrix(bytes: &[u8]) -> Option<(String, Matrix)> {
    let parts = elements(bytes)?;
    let class = numbers(parts.first()?)?.first().copied()? as u32 & 255;
    let sizes = numbers(parts.get(1)?)?;
    let rows = *sizes.first()? as usize;
    let name = String::from_utf8(parts.get(2)?.1.to_vec()).ok()?;
    let values = |at: usize| parts.get(at).map_or(Some(Vec::new()), numbers);
    let mut entries = Vec::new();
    if class == SPARSE {
        let (places, starts, values) = (values(3)?, values(4)?, values(5)?);
        for (column, span) in starts.windows(2).enumerate() {
            for at in span[0] as usize..span[1] as usize {
                entries.push((*places.get(at)? as usize, column, *values.get(at)?));
            }
        }
    } else {
        for (at, value) in values(3)?.into_iter().enumerate() {
            entries.push((at % rows.max(1), at / rows.max(1), value));
        }
    }
    Some((name, Matrix { rows, entries }))
}

/// Numbers of any type.
fn numbers((kind, bytes): &(u32, &[u8])) -> Option<Vec<f64>> {
    macro_rules! of {
        ($type:ty) => {
            bytes
                .chunks_exact(size_of::<$type>())
                .map(|chunk| Some(<$type>::from_le_bytes(chunk.try_into().ok()?) as f64))
                .collect()
        };
    }
    match kind {
        1 => of!(i8),
        2 => of!(u8),
        3 => of!(i16),
        4 => of!(u16),
        5 => of!(i32),
        6 => of!(u32),
        7 => of!(f32),
        9 => of!(f64),
        _ => None,
    }
}
