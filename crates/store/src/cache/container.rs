//! Container of a cached frame, a surface or a checkpoint, version 2: a header and tagged sections. Little endian
//! throughout.
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 8 | magic, `89 'M' 'P' 'C' 0D 0A 1A 0A`, of a surface `89 'M' 'S' 'F' ...`, of a checkpoint `89 'M' 'S' 'T' ...`: a copy in text mode damages it visibly |
//! | 8 | 4 | version, 2 |
//! | 12 | 4 | dimension, 2 or 3 |
//! | 16 | 4 | number of the frame |
//! | 20 | 4 | number of sections |
//! | 24 | 8 | time in seconds, float |
//! | 32 | 8 | length of all sections in bytes |
//! | 40 | 32 | BLAKE3 of the 40 bytes before and all sections |
//! | 72 | | sections, one after the other |
//!
//! | offset | bytes | field of a section |
//! | --- | --- | --- |
//! | 0 | 4 | tag, four ASCII characters |
//! | 4 | 4 | packing of the payload: 0 as it is, 1 zstd |
//! | 8 | 8 | number of elements: particles, bodies, vertices |
//! | 16 | 8 | length of the payload in the file |
//! | 24 | 8 | length of the payload unpacked |
//! | 32 | | payload |
//!
//! Readers skip sections whose tag they don't know. Everything is checked before it is used, and allocations are in
//! proportion to the size of the file: a payload may unpack to at most [`MOST_EXPANSION`] times its
//! size.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// Content of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A frame: points and bodies.
    Frame,
    /// The surface of a frame.
    Surface,
    /// A checkpoint.
    State,
}

impl Content {
    fn magic(self) -> [u8; 8] {
        let name = match self {
            Content::Frame => *b"MPC",
            Content::Surface => *b"MSF",
            Content::State => *b"MST",
        };
        [0x89, name[0], name[1], name[2], 0x0d, 0x0a, 0x1a, 0x0a]
    }
}

const VERSION: u32 = 2;
/// Version of the container and of the program that wrote it, for containers that this program does not read.
const OLDER: [(u32, &str); 1] = [(1, "0.1")];
const HASHED: usize = 40;
/// Length of the header in bytes.
pub const HEADER: usize = HASHED + 32;
/// Length of the head of a section in bytes.
pub const SECTION_HEAD: usize = 32;
/// A payload may unpack to at most this many times its packed size; what would pack better is stored
/// as it is. So a small file can never ask for a large allocation.
pub const MOST_EXPANSION: u64 = 64;
const COMPRESSION_LEVEL: i32 = 3;
const STORED: u32 = 0;
const ZSTD: u32 = 1;

/// Tag of a section.
pub type Tag = [u8; 4];

/// Header of a container.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// 2 or 3.
    pub dimension: u32,
    /// Number of the frame; 0 is the initial state.
    pub number: u32,
    /// Simulated time in seconds.
    pub time: f64,
}

/// A section to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Tag.
    pub tag: Tag,
    /// Number of its elements.
    pub count: u64,
    /// Its bytes, not packed.
    pub payload: Vec<u8>,
}

/// Head of a section in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionHead {
    /// Tag.
    pub tag: Tag,
    /// Number of its elements.
    pub count: u64,
    /// Offset of its payload in the file.
    pub offset: usize,
    packing: u32,
    packed: u64,
    unpacked: u64,
}

/// Defect of a container.
#[derive(Clone, Debug, PartialEq)]
pub enum CacheError {
    /// It does not begin like one.
    NotACache,
    /// It was written by another version of the program.
    Version(u32),
    /// The file is too short or too long: bytes expected and found.
    Length {
        /// Bytes according to the header.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// The hash does not match: some byte was changed.
    Hash,
    /// A field of the header has an invalid value.
    Field(&'static str),
    /// A section does not match its head.
    Payload(&'static str),
    /// The frame was read as one of another dimension.
    Dimension {
        /// Requested dimension.
        wanted: u32,
        /// Dimension of the file.
        found: u32,
    },
    /// Values that can't be written: not finite, or too far away to be given a cell.
    Unwritable(&'static str),
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheError::NotACache => f.write_str("it does not begin like one of meniscus"),
            CacheError::Version(v) => {
                write!(f, "it has format version {v}")?;
                if let Some((_, program)) = OLDER.iter().find(|(version, _)| version == v) {
                    write!(f, ", which meniscus {program} reads")?;
                }
                write!(f, "; this program reads version {VERSION}")
            }
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

/// Bytes of a container.
///
/// # Errors
/// If compression fails.
pub fn seal(
    content: Content,
    header: &Header,
    sections: &[Section],
) -> Result<Vec<u8>, CacheError> {
    let mut bytes = vec![0; HEADER];
    for Section {
        tag,
        count,
        payload,
    } in sections
    {
        let packed = zstd::bulk::compress(payload, COMPRESSION_LEVEL)
            .map_err(|_| CacheError::Unwritable("compression failed"))?;
        let expansion = payload.len() as u64 / (packed.len() as u64).max(1);
        let worth_it = packed.len() < payload.len() && expansion < MOST_EXPANSION;
        let (packing, body) = match worth_it {
            true => (ZSTD, &packed),
            false => (STORED, payload),
        };
        push_section_head(&mut bytes, *tag, *count, packing, body.len(), payload.len());
        bytes.extend(body);
    }
    let length = bytes.len() - HEADER;
    let head = unhashed(content, header, sections.len(), length);
    let hash = hash_of(&head, &bytes[HEADER..]);
    bytes[..HASHED].copy_from_slice(&head);
    bytes[HASHED..HEADER].copy_from_slice(hash.as_bytes());
    Ok(bytes)
}

/// A last section that is written as a stream, so that a large one need not be in memory.
pub struct Stream<'a> {
    /// Tag.
    pub tag: Tag,
    /// Number of its elements.
    pub count: u64,
    /// Length of what `write` writes.
    pub length: usize,
    /// Writes the payload; called twice, for the hash and for the file.
    pub write: &'a (dyn Fn(&mut dyn io::Write) -> io::Result<()> + Sync),
}

/// Writes a container of small sections and a large one after them, none of them packed.
///
/// # Errors
/// If writing fails.
pub fn write_plain(
    content: Content,
    header: &Header,
    sections: &[Section],
    last: &Stream<'_>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut before = Vec::new();
    for Section {
        tag,
        count,
        payload,
    } in sections
    {
        let length = payload.len();
        push_section_head(&mut before, *tag, *count, STORED, length, length);
        before.extend(payload);
    }
    push_section_head(
        &mut before,
        last.tag,
        last.count,
        STORED,
        last.length,
        last.length,
    );
    let length = before.len() + last.length;
    let head = unhashed(content, header, sections.len() + 1, length);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&head).update(&before);
    (last.write)(&mut hasher)?;
    out.write_all(&head)?;
    out.write_all(hasher.finalize().as_bytes())?;
    out.write_all(&before)?;
    (last.write)(out)
}

fn push_section_head(
    bytes: &mut Vec<u8>,
    tag: Tag,
    count: u64,
    packing: u32,
    packed: usize,
    unpacked: usize,
) {
    bytes.extend(tag);
    bytes.extend(packing.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend((packed as u64).to_le_bytes());
    bytes.extend((unpacked as u64).to_le_bytes());
}

/// The header without its hash.
fn unhashed(content: Content, header: &Header, sections: usize, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HASHED);
    bytes.extend(content.magic());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(header.dimension.to_le_bytes());
    bytes.extend(header.number.to_le_bytes());
    bytes.extend((sections as u32).to_le_bytes());
    bytes.extend(header.time.to_le_bytes());
    bytes.extend((length as u64).to_le_bytes());
    debug_assert_eq!(bytes.len(), HASHED);
    bytes
}

/// A container whose hash and heads were checked.
#[derive(Clone, Debug)]
pub struct Opened<'a> {
    /// Its header.
    pub header: Header,
    /// Heads of its sections, in order.
    pub sections: Vec<SectionHead>,
    bytes: &'a [u8],
}

impl<'a> Opened<'a> {
    /// The sections with a tag, unpacked, in order.
    pub fn with_tag(
        &self,
        tag: Tag,
    ) -> impl Iterator<Item = Result<(SectionHead, Cow<'a, [u8]>), CacheError>> + '_ {
        let heads = self.sections.iter().filter(move |head| head.tag == tag);
        heads.map(|head| Ok((*head, unpacked(head, self.body(head))?)))
    }

    /// The only section with a tag, unpacked.
    ///
    /// # Errors
    /// If there is none, there are several, or it does not unpack.
    pub fn only(&self, tag: Tag) -> Result<(SectionHead, Cow<'a, [u8]>), CacheError> {
        let mut all = self.with_tag(tag);
        match (all.next(), all.next()) {
            (Some(only), None) => only,
            _ => Err(CacheError::Payload("lacks a section")),
        }
    }

    fn body(&self, head: &SectionHead) -> &'a [u8] {
        &self.bytes[head.offset..head.offset + head.packed as usize]
    }
}

fn unpacked<'a>(head: &SectionHead, body: &'a [u8]) -> Result<Cow<'a, [u8]>, CacheError> {
    let payload = match head.packing {
        STORED => Cow::Borrowed(body),
        _ => zstd::bulk::decompress(body, head.unpacked as usize)
            .map(Cow::Owned)
            .map_err(|_| CacheError::Payload("does not unpack"))?,
    };
    if payload.len() as u64 == head.unpacked {
        Ok(payload)
    } else {
        Err(CacheError::Payload("has the wrong length"))
    }
}

/// Checks the hash, the header and the heads of all sections.
///
/// # Errors
/// If anything is wrong with them; payloads are checked when they are unpacked.
pub fn open(content: Content, bytes: &[u8]) -> Result<Opened<'_>, CacheError> {
    let (header, count, length) = read_header(content, bytes)?;
    let expected = (HEADER as u64).saturating_add(length);
    if bytes.len() as u64 != expected {
        return Err(CacheError::Length {
            expected,
            found: bytes.len() as u64,
        });
    }
    if hash_of(&bytes[..HASHED], &bytes[HEADER..]).as_bytes()[..] != bytes[HASHED..HEADER] {
        return Err(CacheError::Hash);
    }
    let mut sections = Vec::new();
    let mut at = HEADER;
    for _ in 0..count {
        let head = bytes.get(at..at + SECTION_HEAD).ok_or(CUT)?;
        let head = section_head(head, at + SECTION_HEAD, bytes.len() as u64)?;
        at = head.offset + head.packed as usize;
        sections.push(head);
    }
    if at != bytes.len() {
        return Err(CacheError::Field("number of sections"));
    }
    Ok(Opened {
        header,
        sections,
        bytes,
    })
}

/// Header and heads of the sections of a file, whose hash and payloads are not checked.
///
/// # Errors
/// If they are invalid or can't be read.
pub fn peek(
    content: Content,
    file: &mut (impl Read + Seek),
) -> Result<(Header, Vec<SectionHead>), CacheError> {
    let unreadable = |_: io::Error| CacheError::Payload("can't be read");
    let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let mut start = Vec::new();
    file.take(HEADER as u64)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    let (header, count, _) = read_header(content, &start)?;
    let mut sections = Vec::new();
    let mut at = HEADER as u64;
    for _ in 0..count {
        file.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        let mut head = [0; SECTION_HEAD];
        file.read_exact(&mut head).map_err(|_| CUT)?;
        let head = section_head(&head, at as usize + SECTION_HEAD, length)?;
        at = head.offset as u64 + head.packed;
        sections.push(head);
    }
    Ok((header, sections))
}

/// The payload of a section of a file, unpacked, whose hash is not checked.
///
/// # Errors
/// If it can't be read or does not unpack.
pub fn read_section(
    file: &mut (impl Read + Seek),
    head: &SectionHead,
) -> Result<Vec<u8>, CacheError> {
    let unreadable = |_: io::Error| CacheError::Payload("can't be read");
    file.seek(SeekFrom::Start(head.offset as u64))
        .map_err(unreadable)?;
    let mut body = Vec::new();
    file.take(head.packed)
        .read_to_end(&mut body)
        .map_err(unreadable)?;
    if body.len() as u64 != head.packed {
        return Err(CUT);
    }
    unpacked(head, &body).map(Cow::into_owned)
}

const CUT: CacheError = CacheError::Payload("ends in the middle of a section");

fn section_head(bytes: &[u8], offset: usize, length: u64) -> Result<SectionHead, CacheError> {
    let at = Fields(bytes);
    let (packing, packed, unpacked) = (at.u32(4), at.u64(16), at.u64(24));
    match packing {
        STORED if packed == unpacked => {}
        ZSTD if unpacked <= packed.saturating_mul(MOST_EXPANSION) => {}
        STORED | ZSTD => return Err(CacheError::Field("unpacked length")),
        _ => return Err(CacheError::Field("packing")),
    }
    if (offset as u64).saturating_add(packed) > length {
        return Err(CUT);
    }
    Ok(SectionHead {
        tag: at.bytes(0),
        count: at.u64(8),
        offset,
        packing,
        packed,
        unpacked,
    })
}

/// The header with the number of sections and their length, its fields checked.
fn read_header(content: Content, bytes: &[u8]) -> Result<(Header, u32, u64), CacheError> {
    let too_short = || CacheError::Length {
        expected: HEADER as u64,
        found: bytes.len() as u64,
    };
    let magic = content.magic();
    if bytes.len() < 12 && magic.starts_with(&bytes[..bytes.len().min(8)]) {
        return Err(too_short());
    }
    if !bytes.starts_with(&magic) {
        return Err(CacheError::NotACache);
    }
    let at = Fields(bytes);
    if at.u32(8) != VERSION {
        return Err(CacheError::Version(at.u32(8)));
    }
    if bytes.len() < HEADER {
        return Err(too_short());
    }
    let header = Header {
        dimension: at.u32(12),
        number: at.u32(16),
        time: at.f64(24),
    };
    if header.dimension != 2 && header.dimension != 3 {
        return Err(CacheError::Field("dimension"));
    }
    if !header.time.is_finite() {
        return Err(CacheError::Field("time"));
    }
    Ok((header, at.u32(20), at.u64(32)))
}

fn hash_of(header: &[u8], body: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(header).update(body).finalize()
}

/// Numbers at byte offsets, which must be inside.
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
