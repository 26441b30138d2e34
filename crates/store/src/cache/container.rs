//! The envelope of a cached frame, a surface or a checkpoint, version 1. Little endian throughout.
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 8 | magic, `89 'M' 'P' 'C' 0D 0A 1A 0A`, of a surface `89 'M' 'S' 'F' ...`, of a checkpoint `89 'M' 'S' 'T' ...`: a copy in text mode damages it visibly |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | length of the header, 152 |
//! | 16 | 4 | dimension, 2 or 3 |
//! | 20 | 4 | packing of the payload: 0 as it is, 1 zstd |
//! | 24 | 4 | number of the frame |
//! | 28 | 4 | largest pressure in pascal, float; zero if the frame says nothing of pressure |
//! | 32 | 8 | particles, or vertices |
//! | 40 | 8 | length of the payload as it is in the file |
//! | 48 | 8 | length of the payload unpacked |
//! | 56 | 8 | time in seconds, float |
//! | 64 | 8 | width of a cell in metres, float |
//! | 72 | 12 | lowest cell that holds a particle, three signed integers |
//! | 84 | 12 | cells from there to the highest one, both counted, three integers |
//! | 96 | 24 | largest speed along each axis, three floats |
//! | 120 | 32 | BLAKE3 of the 120 bytes before and the payload |
//!
//! A surface or a checkpoint says nothing of cells, speeds and pressures: lowest cell and the others are zero, the cells counted are one.
//!
//! Nothing is believed before it is checked, and nothing is allocated before its size is known to be
//! in proportion to the file: a payload may unpack to at most [`MOST_EXPANSION`] times its size.

use std::borrow::Cow;
use std::fmt;
use std::io;

/// What an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The particles of a frame.
    Particles,
    /// The surface of a frame.
    Surface,
    /// Everything that a run needs to go on.
    State,
}

impl Content {
    fn magic(self) -> [u8; 8] {
        let name = match self {
            Content::Particles => *b"MPC",
            Content::Surface => *b"MSF",
            Content::State => *b"MST",
        };
        [0x89, name[0], name[1], name[2], 0x0d, 0x0a, 0x1a, 0x0a]
    }
}

const VERSION: u32 = 1;
const HASHED: usize = 120;
/// Length of the header in bytes.
pub const HEADER: usize = HASHED + 32;
/// A payload may unpack to at most this many times its packed size; what would pack better is stored
/// as it is. So a small file can never ask for a large allocation.
pub const MOST_EXPANSION: u64 = 64;
/// More cells than this between the lowest and the highest particle can't be numbered.
pub const MOST_CELLS: u128 = 1 << 62;
const COMPRESSION_LEVEL: i32 = 3;

/// What a cached frame says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// 2 or 3.
    pub dimension: u32,
    /// Number of the frame, from 1.
    pub number: u32,
    /// The largest pressure, the unit of the stored ones; zero if there are none.
    pub pressure: f32,
    /// How many particles it holds.
    pub count: u64,
    /// Simulated time in seconds.
    pub time: f64,
    /// Width of a cell in metres.
    pub dx: f64,
    /// The lowest cell that holds a particle; zero along axes beyond the dimension.
    pub lowest: [i32; 3],
    /// How many cells lie between the lowest and the highest, both counted; one beyond the dimension.
    pub extent: [u32; 3],
    /// The largest speed along each axis, the unit of the stored velocities.
    pub fastest: [f64; 3],
}

/// What is wrong with a cached frame.
#[derive(Clone, Debug, PartialEq)]
pub enum CacheError {
    /// It does not begin like one.
    NotACache,
    /// It was written by a newer program.
    Version(u32),
    /// The file ends early or goes on after the end: bytes expected and found.
    Length {
        /// Bytes that the header announces.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The hash does not match: some byte was changed.
    Hash,
    /// A field of the header has a value that no writer of ours writes.
    Field(&'static str),
    /// The payload does not unpack to what the header announces.
    Payload(&'static str),
    /// The frame was read as one of another dimension.
    Dimension {
        /// What the reader asked for.
        wanted: u32,
        /// What the file holds.
        found: u32,
    },
    /// Particles that can't be written: not finite, or too far away to be given a cell.
    Unwritable(&'static str),
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheError::NotACache => f.write_str("it does not begin like one of meniscus"),
            CacheError::Version(v) => write!(
                f,
                "it has format version {v}, this program reads version {VERSION}"
            ),
            CacheError::Length { expected, found } => {
                write!(f, "it should have {expected} bytes and has {found}")
            }
            CacheError::Hash => f.write_str("its content does not match its hash"),
            CacheError::Field(name) => write!(f, "its header has an impossible {name}"),
            CacheError::Payload(what) => write!(f, "its payload {what}"),
            CacheError::Dimension { wanted, found } => {
                write!(f, "it holds {found}D particles where {wanted}D ones belong")
            }
            CacheError::Unwritable(what) => write!(f, "its particles can't be written: {what}"),
        }
    }
}

impl std::error::Error for CacheError {}

/// Puts the payload of a frame into its envelope.
pub fn seal(header: &Header, payload: &[u8]) -> Result<Vec<u8>, CacheError> {
    seal_as(Content::Particles, header, payload)
}

/// The same for any content.
pub fn seal_as(content: Content, header: &Header, payload: &[u8]) -> Result<Vec<u8>, CacheError> {
    let packed = zstd::bulk::compress(payload, COMPRESSION_LEVEL)
        .map_err(|_| CacheError::Unwritable("compression failed"))?;
    let expansion = payload.len() as u64 / (packed.len() as u64).max(1);
    let worth_it = packed.len() < payload.len() && expansion < MOST_EXPANSION;
    let (packing, body) = if worth_it {
        (1u32, packed.as_slice())
    } else {
        (0, payload)
    };
    let (packed, unpacked) = (body.len(), payload.len());
    let mut bytes = unsigned(content, header, packing, packed, unpacked);
    bytes.reserve_exact(HEADER - HASHED + packed);
    let hash = hash_of(&bytes, body);
    bytes.extend(hash.as_bytes());
    bytes.extend(body);
    Ok(bytes)
}

/// The envelope of a payload of so many bytes that is stored as it is, to be written before it. The payload is told to
/// the hash piece by piece, so that a large one need not be in memory.
pub fn head_of_plain(
    content: Content,
    header: &Header,
    length: usize,
    payload: impl FnOnce(&mut blake3::Hasher) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut bytes = unsigned(content, header, 0, length, length);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes);
    payload(&mut hasher)?;
    bytes.extend(hasher.finalize().as_bytes());
    Ok(bytes)
}

/// The header without its hash.
fn unsigned(
    content: Content,
    header: &Header,
    packing: u32,
    packed: usize,
    unpacked: usize,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER);
    bytes.extend(content.magic());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((HEADER as u32).to_le_bytes());
    bytes.extend(header.dimension.to_le_bytes());
    bytes.extend(packing.to_le_bytes());
    bytes.extend(header.number.to_le_bytes());
    bytes.extend(header.pressure.to_le_bytes());
    bytes.extend(header.count.to_le_bytes());
    bytes.extend((packed as u64).to_le_bytes());
    bytes.extend((unpacked as u64).to_le_bytes());
    bytes.extend(header.time.to_le_bytes());
    bytes.extend(header.dx.to_le_bytes());
    bytes.extend(header.lowest.iter().flat_map(|v| v.to_le_bytes()));
    bytes.extend(header.extent.iter().flat_map(|v| v.to_le_bytes()));
    bytes.extend(header.fastest.iter().flat_map(|v| v.to_le_bytes()));
    debug_assert_eq!(bytes.len(), HASHED);
    bytes
}

/// Checks everything about a frame's envelope and returns its header and its payload, unpacked.
pub fn open(bytes: &[u8]) -> Result<(Header, Vec<u8>), CacheError> {
    let (header, payload) = open_as(Content::Particles, bytes)?;
    Ok((header, payload.into_owned()))
}

/// The same of an envelope with any content.
pub fn open_as(content: Content, bytes: &[u8]) -> Result<(Header, Cow<'_, [u8]>), CacheError> {
    let header = peek_as(content, bytes)?;
    let at = Fields(bytes);
    let (packing, packed, unpacked) = (at.u32(20), at.u64(40), at.u64(48));
    let expected = (HEADER as u64).saturating_add(packed);
    if bytes.len() as u64 != expected {
        return Err(CacheError::Length {
            expected,
            found: bytes.len() as u64,
        });
    }
    let body = &bytes[HEADER..];
    if hash_of(&bytes[..HASHED], body).as_bytes()[..] != bytes[HASHED..HEADER] {
        return Err(CacheError::Hash);
    }
    if unpacked > packed.saturating_mul(MOST_EXPANSION) {
        return Err(CacheError::Field("unpacked length"));
    }
    let payload = match packing {
        0 if packed == unpacked => Cow::Borrowed(body),
        1 => zstd::bulk::decompress(body, unpacked as usize)
            .map(Cow::Owned)
            .map_err(|_| CacheError::Payload("does not unpack"))?,
        _ => return Err(CacheError::Field("packing")),
    };
    if payload.len() as u64 != unpacked {
        return Err(CacheError::Payload("has the wrong length"));
    }
    Ok((header, payload))
}

/// The header of a frame alone, its fields checked, the payload and the hash not looked at.
pub fn peek(bytes: &[u8]) -> Result<Header, CacheError> {
    peek_as(Content::Particles, bytes)
}

/// The same of an envelope with any content.
pub fn peek_as(content: Content, bytes: &[u8]) -> Result<Header, CacheError> {
    let magic = content.magic();
    if bytes.len() < 12 && magic.starts_with(&bytes[..bytes.len().min(8)]) {
        return Err(CacheError::Length {
            expected: HEADER as u64,
            found: bytes.len() as u64,
        });
    }
    if !bytes.starts_with(&magic) {
        return Err(CacheError::NotACache);
    }
    let at = Fields(bytes);
    if at.u32(8) != VERSION {
        return Err(CacheError::Version(at.u32(8)));
    }
    if bytes.len() < HEADER {
        return Err(CacheError::Length {
            expected: HEADER as u64,
            found: bytes.len() as u64,
        });
    }
    if at.u32(12) as usize != HEADER {
        return Err(CacheError::Field("header length"));
    }
    let header = Header {
        dimension: at.u32(16),
        number: at.u32(24),
        pressure: f32::from_bits(at.u32(28)),
        count: at.u64(32),
        time: at.f64(56),
        dx: at.f64(64),
        lowest: [72, 76, 80].map(|o| at.u32(o) as i32),
        extent: [84, 88, 92].map(|o| at.u32(o)),
        fastest: [96, 104, 112].map(|o| at.f64(o)),
    };
    check(&header).map(|()| header)
}

fn check(header: &Header) -> Result<(), CacheError> {
    if header.dimension != 2 && header.dimension != 3 {
        return Err(CacheError::Field("dimension"));
    }
    if !header.time.is_finite() {
        return Err(CacheError::Field("time"));
    }
    if !(header.dx.is_finite() && header.dx > 0.0) {
        return Err(CacheError::Field("cell width"));
    }
    if !(header.pressure.is_finite() && header.pressure >= 0.0) {
        return Err(CacheError::Field("pressure"));
    }
    if !header.fastest.iter().all(|v| v.is_finite() && *v >= 0.0) {
        return Err(CacheError::Field("speed"));
    }
    let cells: u128 = header.extent.iter().map(|&n| u128::from(n)).product();
    let top = |axis: usize| i64::from(header.lowest[axis]) + i64::from(header.extent[axis]);
    let sound = cells > 0 && cells <= MOST_CELLS && (0..3).all(|a| top(a) <= i64::from(i32::MAX));
    if sound {
        Ok(())
    } else {
        Err(CacheError::Field("extent"))
    }
}

fn hash_of(header: &[u8], body: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(header).update(body).finalize()
}

/// Numbers at byte offsets that are known to lie inside.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, offset: usize) -> [u8; N] {
        std::array::from_fn(|i| self.0[offset + i])
    }
    fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.bytes(offset))
    }
    fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.bytes(offset))
    }
    fn f64(&self, offset: usize) -> f64 {
        f64::from_le_bytes(self.bytes(offset))
    }
}
