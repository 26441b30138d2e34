//! NumPy's `.npz`: an uncompressed zip archive of arrays.

use super::Cloud;
use crate::surface::Surface;
use meniscus_store::cache::BodyState;
use std::io::{self, Write};

/// Writes particles: `positions` and `velocities`, and `ids`, `ages` and `sources` if there are any, with `time` and `dx`.
/// Frames of scenes with rigid bodies have `body_names`, and `body_positions`, `body_rotations` (world from body),
/// `body_velocities` (of the body's origin) and `body_angular_velocities`, in the axes of the scene.
pub fn write_cloud<const D: usize>(
    out: &mut dyn Write,
    cloud: &Cloud,
    bodies: &[BodyState<D>],
    time: f64,
    dx: f64,
) -> io::Result<()> {
    let mut archive = Archive::default();
    archive.vectors("positions", &cloud.positions);
    archive.vectors("velocities", &cloud.velocities);
    if let Some(kept) = &cloud.attributes {
        let shape = format!("({},)", kept.ids.len());
        let ids = kept.ids.iter().flat_map(|id| id.to_le_bytes());
        archive.array("ids", "<u8", &shape, ids.collect());
        let ages = kept.ages.iter().flat_map(|age| age.to_le_bytes());
        archive.array("ages", "<f4", &shape, ages.collect());
        let sources = kept.sources.iter().flat_map(|source| source.to_le_bytes());
        archive.array("sources", "<i4", &shape, sources.collect());
    }
    if !bodies.is_empty() {
        archive.bodies(bodies);
    }
    archive.number("time", time);
    archive.number("dx", dx);
    archive.write(out)
}

/// Writes a surface: `positions`, `normals`, `velocities` and `triangles`, with `time` and `dx`.
pub fn write_surface(out: &mut dyn Write, surface: &Surface, time: f64, dx: f64) -> io::Result<()> {
    let mut archive = Archive::default();
    archive.vectors("positions", &surface.positions);
    archive.vectors("normals", &surface.normals);
    archive.vectors("velocities", &surface.velocities);
    let corners = surface.triangles.iter().flatten();
    let bytes = corners.flat_map(|v| v.to_le_bytes()).collect();
    let shape = format!("({}, 3)", surface.triangles.len());
    archive.array("triangles", "<u4", &shape, bytes);
    archive.number("time", time);
    archive.number("dx", dx);
    archive.write(out)
}

/// Members of an archive.
#[derive(Default)]
struct Archive {
    members: Vec<(String, Vec<u8>)>,
}

impl Archive {
    fn vectors(&mut self, name: &str, values: &[[f32; 3]]) {
        let bytes = values
            .iter()
            .flatten()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        self.array(name, "<f4", &format!("({}, 3)", values.len()), bytes);
    }

    fn bodies<const D: usize>(&mut self, bodies: &[BodyState<D>]) {
        let longest = bodies.iter().map(|body| body.name.chars().count());
        let longest = longest.max().unwrap_or(0).max(1);
        let names = bodies.iter().flat_map(|body| {
            let padding = std::iter::repeat(0u32);
            let letters = body.name.chars().map(u32::from).chain(padding);
            letters.take(longest).flat_map(u32::to_le_bytes)
        });
        let count = bodies.len();
        let kind = format!("<U{longest}");
        self.array("body_names", &kind, &format!("({count},)"), names.collect());
        let mut numbers = |name: &str, shape: String, of: fn(&BodyState<D>) -> Vec<f64>| {
            let bytes = bodies.iter().flat_map(of).flat_map(f64::to_le_bytes);
            self.array(name, "<f8", &shape, bytes.collect());
        };
        let vectors = format!("({count}, {D})");
        numbers("body_positions", vectors.clone(), |b| {
            b.translation.to_vec()
        });
        numbers("body_rotations", format!("({count}, {D}, {D})"), |b| {
            b.rotation.as_flattened().to_vec()
        });
        numbers("body_velocities", vectors, |b| b.velocity.to_vec());
        numbers("body_angular_velocities", format!("({count}, 3)"), |b| {
            b.angular_velocity.to_vec()
        });
    }

    fn number(&mut self, name: &str, value: f64) {
        self.array(name, "<f8", "()", value.to_le_bytes().into());
    }

    /// Adds an array as a `.npy` file, with a header padded to a multiple of 64 bytes.
    fn array(&mut self, name: &str, kind: &str, shape: &str, bytes: Vec<u8>) {
        let mut header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
        let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((length as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(bytes);
        self.members.push((format!("{name}.npy"), file));
    }

    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let too_large = || io::Error::other("a frame has more than 4 GB, the limit of npz");
        let mut directory = Vec::new();
        let mut offset = 0u32;
        for (name, bytes) in &self.members {
            let size = u32::try_from(bytes.len()).map_err(|_| too_large())?;
            // Version, flags, no compression, the earliest date of the format, checksum, size twice, lengths.
            let mut common = Vec::new();
            for number in [20u16, 0, 0, 0, 33] {
                common.extend(number.to_le_bytes());
            }
            for number in [checksum(bytes), size, size] {
                common.extend(number.to_le_bytes());
            }
            common.extend((name.len() as u16).to_le_bytes());
            common.extend(0u16.to_le_bytes());
            let mut local = b"PK\x03\x04".to_vec();
            local.extend(&common);
            local.extend(name.as_bytes());
            out.write_all(&local)?;
            out.write_all(bytes)?;
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
            offset = (local.len() as u32)
                .checked_add(size)
                .and_then(|n| offset.checked_add(n))
                .ok_or_else(too_large)?;
        }
        out.write_all(&directory)?;
        let count = (self.members.len() as u16).to_le_bytes();
        out.write_all(b"PK\x05\x06\0\0\0\0")?;
        out.write_all(&count)?;
        out.write_all(&count)?;
        out.write_all(&(directory.len() as u32).to_le_bytes())?;
        out.write_all(&offset.to_le_bytes())?;
        out.write_all(&[0; 2])
    }
}

/// CRC-32 of the zip format.
fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut n = 0;
        while n < 256 {
            let mut value = n as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 {
                    0xedb8_8320 ^ value >> 1
                } else {
                    value >> 1
                };
                bit += 1;
            }
            table[n] = value;
            n += 1;
        }
        table
    };
    !bytes.iter().fold(!0u32, |crc, &byte| {
        TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_matches_the_standard_crc32_check_value() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }
}
