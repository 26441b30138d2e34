//! Header of a PLY file.

use super::super::bytes::{lines, shown, words};
use super::{Fault, Place};

/// Most lines of a header.
const MOST_LINES: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn named(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar(Scalar),
    List { count: Scalar, item: Scalar },
}

#[derive(Clone, Debug)]
pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
    /// Its line in the header.
    pub line: usize,
}

impl Element {
    /// Least number of bytes of one element.
    pub fn least_bytes(&self, encoding: Encoding) -> u64 {
        let least = |property: &Property| match (encoding, property.kind) {
            // A digit, and what parts it from the next, which the last one of all may lack.
            (Encoding::Text, _) => 1,
            (_, Kind::Scalar(scalar) | Kind::List { count: scalar, .. }) => scalar.bytes() as u64,
        };
        self.properties.iter().map(least).sum()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Lines and bytes of the header.
    pub lines: usize,
    pub length: usize,
}

impl Header {
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut length = 0;
        for (line, text) in lines(bytes).take(MOST_LINES) {
            length += text.len() + 1 + usize::from(bytes.get(length + text.len()) == Some(&b'\r'));
            let place = Place::Line(line);
            let unclear = || Fault::at(place, format!("{} is not clear", shown(text)));
            let words: Vec<&[u8]> = words(text).take(6).collect();
            match words.as_slice() {
                [b"ply"] if line == 1 => {}
                _ if line == 1 => return Err(Fault::at(place, "does not begin with 'ply'")),
                [b"format", word, b"1.0"] => {
                    let named = match *word {
                        b"ascii" => Encoding::Text,
                        b"binary_little_endian" => Encoding::LittleEndian,
                        b"binary_big_endian" => Encoding::BigEndian,
                        _ => return Err(unclear()),
                    };
                    if encoding.replace(named).is_some() {
                        return Err(Fault::at(place, "the format is there twice"));
                    }
                }
                [b"element", name, count] => {
                    let count = std::str::from_utf8(count).ok().and_then(|c| c.parse().ok());
                    let name = String::from_utf8_lossy(name).into_owned();
                    if elements.iter().any(|element| element.name == name) {
                        return Err(Fault::at(place, format!("element '{name}' is there twice")));
                    }
                    elements.push(Element {
                        name,
                        count: count.ok_or_else(unclear)?,
                        properties: Vec::new(),
                        line,
                    });
                }
                [b"property", b"list", count, item, name] => {
                    let (Some(count), Some(item)) = (Scalar::named(count), Scalar::named(item))
                    else {
                        return Err(unclear());
                    };
                    let kind = Kind::List { count, item };
                    add(&mut elements, name, kind).ok_or_else(unclear)?;
                }
                [b"property", scalar, name] => {
                    let kind = Kind::Scalar(Scalar::named(scalar).ok_or_else(unclear)?);
                    add(&mut elements, name, kind).ok_or_else(unclear)?;
                }
                [b"end_header"] => {
                    return Ok(Header {
                        encoding: encoding
                            .ok_or_else(|| Fault::whole("the header has no format"))?,
                        elements,
                        lines: line,
                        length: length.min(bytes.len()),
                    });
                }
                [] | [b"comment" | b"obj_info", ..] => {}
                _ => return Err(unclear()),
            }
        }
        Err(Fault::whole("the header has no end"))
    }
}

fn add(elements: &mut [Element], name: &[u8], kind: Kind) -> Option<()> {
    let name = String::from_utf8_lossy(name).into_owned();
    elements
        .last_mut()?
        .properties
        .push(Property { name, kind });
    Some(())
}
