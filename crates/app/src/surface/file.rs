//! Surface files: a container of [`container`] with one section, `SURF`, of the vertices and triangles,
//! split into byte planes for better compression.
//!
//! | bytes of the payload | content |
//! | --- | --- |
//! | 32 | fingerprint: BLAKE3 hash of all inputs of the surface |
//! | 8 | number of triangles |
//! | 8 | width of a cell in metres, float |
//! | 40 | volumes of the particles, of the surface and of thin features, offset in cells, number of pieces |
//! | 36 per vertex | position, normal, velocity: four byte planes for each of nine numbers |
//! | 12 per triangle | three vertices, each as the difference from the one before, four byte planes |

use super::{Measures, Surface};
use meniscus_store::cache::CacheError;
use meniscus_store::cache::Header;
use meniscus_store::cache::container::{self, Content, Section, Tag};
use meniscus_store::regular_file;
use std::path::Path;

/// Surface with the metadata of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceFile {
    /// Number of the frame, from 0.
    pub number: u32,
    /// Simulated time in seconds.
    pub time: f64,
    /// Width of a cell of the simulation in metres.
    pub dx: f64,
    /// Dimension of the scene, 2 or 3.
    pub dimension: u32,
    /// Hash of all inputs.
    pub fingerprint: [u8; 32],
    /// Measures.
    pub measures: Measures,
    /// Surface.
    pub surface: Surface,
}

const TAG: Tag = *b"SURF";
const HEAD: usize = 88;
const PER_VERTEX: usize = 36;
const PER_TRIANGLE: usize = 12;

/// Encodes a surface file.
///
/// # Errors
/// If the surface is invalid: lists of different length, or indices out of range.
pub fn encode(sealed: &SurfaceFile) -> Result<Vec<u8>, CacheError> {
    let surface = &sealed.surface;
    let count = surface.positions.len();
    if surface.normals.len() != count || surface.velocities.len() != count {
        return Err(CacheError::Unwritable("vertex lists differ in length"));
    }
    let columns = [&surface.positions, &surface.normals, &surface.velocities];
    if columns
        .iter()
        .any(|c| c.iter().flatten().any(|x| !x.is_finite()))
    {
        return Err(CacheError::Unwritable("a value is not finite"));
    }
    if surface
        .triangles
        .iter()
        .flatten()
        .any(|&v| v as usize >= count)
    {
        return Err(CacheError::Unwritable("a vertex index is out of range"));
    }
    let triangles = surface.triangles.len();
    let mut payload = Vec::with_capacity(HEAD + PER_VERTEX * count + PER_TRIANGLE * triangles);
    payload.extend(sealed.fingerprint);
    payload.extend((triangles as u64).to_le_bytes());
    payload.extend(sealed.dx.to_le_bytes());
    payload.extend(measure_bytes(&sealed.measures));
    for column in columns {
        for axis in 0..3 {
            push_planes(&mut payload, column.iter().map(|x| x[axis].to_le_bytes()));
        }
    }
    for corner in 0..3 {
        let mut before = 0u32;
        let differences = surface.triangles.iter().map(|t| {
            let difference = t[corner].wrapping_sub(before) as i32;
            before = t[corner];
            zigzag(difference).to_le_bytes()
        });
        push_planes(&mut payload, differences);
    }
    let header = Header {
        dimension: sealed.dimension,
        number: sealed.number,
        time: sealed.time,
    };
    let section = Section {
        tag: TAG,
        count: count as u64,
        payload,
    };
    container::seal(Content::Surface, &header, &[section])
}

/// Number of vertices in a surface file, from the header of its section; `None` if it can't be read.
pub fn count_vertices(path: &Path) -> Option<u64> {
    let mut file = regular_file::open(path).ok()?;
    let (_, sections) = container::peek(Content::Surface, &mut file).ok()?;
    let found = sections.iter().find(|head| head.tag == TAG);
    found.map(|head| head.count)
}

/// Decodes a surface file.
///
/// # Errors
/// A damaged file is an error that names the fault, never a panic, whatever the bytes.
pub fn decode(bytes: &[u8]) -> Result<SurfaceFile, CacheError> {
    let opened = container::open(Content::Surface, bytes)?;
    let (section, payload) = opened.only(TAG)?;
    let header = opened.header;
    let too_short = CacheError::Payload("has the wrong length");
    let (head, rest) = payload.split_at_checked(HEAD).ok_or(too_short.clone())?;
    let fingerprint = std::array::from_fn(|i| head[i]);
    let triangles = u64::from_le_bytes(std::array::from_fn(|i| head[32 + i]));
    let dx = f64::from_le_bytes(std::array::from_fn(|i| head[40 + i]));
    if !(dx.is_finite() && dx > 0.0) {
        return Err(CacheError::Field("cell width"));
    }
    let measures = measures_in(head);
    let expected = u128::from(section.count) * PER_VERTEX as u128
        + u128::from(triangles) * PER_TRIANGLE as u128;
    if rest.len() as u128 != expected {
        return Err(too_short);
    }
    let (count, triangles) = (section.count as usize, triangles as usize);
    let (vertices, corners) = rest.split_at(PER_VERTEX * count);
    let vectors = |first: usize| -> Vec<[f32; 3]> {
        let number =
            |column: usize, i: usize| f32::from_le_bytes(plane_bytes(vertices, column, count, i));
        (0..count)
            .map(|i| std::array::from_fn(|axis| number(first + axis, i)))
            .collect()
    };
    let surface_vectors = [vectors(0), vectors(3), vectors(6)];
    if surface_vectors
        .iter()
        .flatten()
        .flatten()
        .any(|x| !x.is_finite())
    {
        return Err(CacheError::Payload("has a value that is not finite"));
    }
    let mut list = vec![[0u32; 3]; triangles];
    for corner in 0..3 {
        let mut before = 0u32;
        for (i, triangle) in list.iter_mut().enumerate() {
            let step = u32::from_le_bytes(plane_bytes(corners, corner, triangles, i));
            before = before.wrapping_add(unzigzag(step) as u32);
            if before as usize >= count {
                return Err(CacheError::Payload("has a vertex index out of range"));
            }
            triangle[corner] = before;
        }
    }
    let [positions, normals, velocities] = surface_vectors;
    Ok(SurfaceFile {
        number: header.number,
        time: header.time,
        dx,
        dimension: header.dimension,
        fingerprint,
        measures,
        surface: Surface {
            positions,
            normals,
            velocities,
            triangles: list,
        },
    })
}

/// Fingerprint and measures of an intact file, without its vertices.
///
/// # Errors
/// As [`decode`], except for faults in single values.
pub fn fingerprint(bytes: &[u8]) -> Result<([u8; 32], Measures), CacheError> {
    let (_, payload) = container::open(Content::Surface, bytes)?.only(TAG)?;
    let head = payload.get(..HEAD);
    let head = head.ok_or(CacheError::Payload("has the wrong length"))?;
    Ok((std::array::from_fn(|i| head[i]), measures_in(head)))
}

fn measure_bytes(measures: &Measures) -> [u8; 40] {
    let numbers = [
        measures.particle_volume.to_le_bytes(),
        measures.volume.to_le_bytes(),
        measures.thin_volume.unwrap_or(f64::NAN).to_le_bytes(),
        measures.offset.to_le_bytes(),
        measures.pieces.to_le_bytes(),
    ];
    std::array::from_fn(|i| numbers[i / 8][i % 8])
}

/// Measures in the first bytes of a payload.
fn measures_in(head: &[u8]) -> Measures {
    let bytes = |k: usize| std::array::from_fn(|i| head[48 + 8 * k + i]);
    let number = |k: usize| f64::from_le_bytes(bytes(k));
    Measures {
        particle_volume: number(0),
        volume: number(1),
        thin_volume: Some(number(2)).filter(|v| !v.is_nan()),
        offset: number(3),
        pieces: u64::from_le_bytes(bytes(4)),
    }
}

/// Splits numbers into byte planes: the first bytes of all, then the second bytes, and so on.
fn push_planes(bytes: &mut Vec<u8>, numbers: impl Iterator<Item = [u8; 4]>) {
    let numbers: Vec<[u8; 4]> = numbers.collect();
    for plane in 0..4 {
        bytes.extend(numbers.iter().map(|n| n[plane]));
    }
}

fn plane_bytes(bytes: &[u8], column: usize, count: usize, i: usize) -> [u8; 4] {
    std::array::from_fn(|plane| bytes[(4 * column + plane) * count + i])
}

fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

fn unzigzag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> SurfaceFile {
        SurfaceFile {
            number: 3,
            time: 0.5,
            dx: 0.1,
            dimension: 3,
            fingerprint: [7; 32],
            measures: Measures {
                particle_volume: 2.0,
                volume: 1.9,
                thin_volume: None,
                offset: -0.05,
                pieces: 3,
            },
            surface: Surface {
                positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, -2.5], [0.0, 1.0, 3e-9]],
                normals: vec![[0.0, 0.0, 1.0]; 3],
                velocities: vec![[1.0, 2.0, 3.0]; 3],
                triangles: vec![[0, 1, 2], [2, 1, 0]],
            },
        }
    }

    #[test]
    fn a_surface_survives_encoding_and_decoding() {
        let bytes = encode(&sample()).unwrap();
        assert_eq!(decode(&bytes).unwrap(), sample());
        assert_eq!(fingerprint(&bytes).unwrap(), ([7; 32], sample().measures));
        let mut empty = sample();
        empty.surface = Surface::default();
        assert_eq!(decode(&encode(&empty).unwrap()).unwrap(), empty);
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_of_a_surface_is_detected() {
        let bytes = encode(&sample()).unwrap();
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << (position % 8);
            assert!(decode(&damaged).is_err(), "byte {position}");
            assert!(decode(&bytes[..position]).is_err(), "length {position}");
        }
    }

    #[test]
    fn malicious_surfaces_with_a_valid_hash_are_refused() {
        let sealed = |count, payload: &[u8]| {
            let header = Header {
                dimension: 3,
                number: 1,
                time: 0.0,
            };
            let section = Section {
                tag: TAG,
                count,
                payload: payload.to_vec(),
            };
            container::seal(Content::Surface, &header, &[section]).unwrap()
        };
        let mut payload = vec![0; HEAD];
        payload[40..48].copy_from_slice(&0.1f64.to_le_bytes());
        assert!(decode(&sealed(0, &payload)).is_ok());
        for (count, triangles) in [(u64::MAX, 0), (0, u64::MAX), (1, 0), (0, 1)] {
            payload[32..40].copy_from_slice(&u64::to_le_bytes(triangles));
            assert!(
                decode(&sealed(count, &payload)).is_err(),
                "{count} {triangles}"
            );
        }
        // A triangle with indices out of range.
        payload.resize(HEAD + PER_TRIANGLE, 0);
        payload[32..40].copy_from_slice(&1u64.to_le_bytes());
        assert!(decode(&sealed(0, &payload)).is_err());
        let mut wrong = sample();
        wrong.surface.triangles.push([0, 1, 3]);
        assert!(encode(&wrong).is_err());
        wrong = sample();
        wrong.surface.velocities[1][0] = f32::NAN;
        assert!(encode(&wrong).is_err());
    }
}
