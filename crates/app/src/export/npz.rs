//! NumPy's `.npz`: an uncompressed zip archive of arrays.

use super::bodies::{Part, lifted_axis, spin};
use super::{Cloud, Up};
use crate::surface::{Surface, solids, upright};
use meniscus_store::cache::{BodyLoad, Frame};
use std::io::{self, Write};

/// Writes particles: `positions` and `velocities`, and `ids`, `ages` and `sources` if there are any, with `time` and `dx`.
pub fn write_cloud(out: &mut dyn Write, cloud: &Cloud, time: f64, dx: f64) -> io::Result<()> {
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

/// Writes the solids and bodies of a frame, one entry per body: `names`; poses as `positions` and `rotations` (world from
/// body) with `velocities` of the body's origin and `angular_velocities`; and of rigid bodies `centers` of mass,
/// `center_velocities`, `contact_forces` and `contact_torques`, `joint_forces` and `joint_torques` about the centre of mass,
/// `kinetic_energies`, `contacts` and `penetrations`, in scenes with liquid also `liquid_forces`, `liquid_torques`,
/// `submerged_volumes` and `waterline_areas`, all of which are not a number for solids. Cloth follows: `cloth_names`, and for
/// the first piece `cloth1_positions`, `cloth1_velocities`, `cloth1_normals`, `cloth1_triangles`, `cloth1_texture` and
/// `cloth1_texture_triangles`, parts of
/// `surface`. SI units.
pub fn write_bodies<const D: usize>(
    out: &mut dyn Write,
    frame: &Frame<D>,
    up: Up,
    surface: &Surface,
    cloth: &[Part],
) -> io::Result<()> {
    let count = frame.bodies.len();
    let names: Vec<&str> = frame.bodies.iter().map(|body| &body.name[..]).collect();
    let loads: Vec<Option<&BodyLoad<D>>> = (frame.bodies.iter())
        .map(|body| frame.loads.iter().find(|load| load.name == body.name))
        .collect();
    let mut archive = Archive::default();
    archive.names("names", &names);
    let poses = frame.bodies.iter().map(|body| {
        let (rotation, translation) = solids::pose(body);
        up.pose(rotation, translation)
    });
    let (rotations, positions): (Vec<_>, Vec<_>) = poses.unzip();
    archive.doubles("positions", count, " 3", positions.as_flattened());
    let rotations = rotations.as_flattened().as_flattened();
    archive.doubles("rotations", count, " 3, 3", rotations);
    let mut vectors = |name: &str, values: Vec<[f64; 3]>| {
        let values: Vec<[f64; 3]> = values.into_iter().map(|v| up.exact(v)).collect();
        archive.doubles(name, count, " 3", values.as_flattened());
    };
    let bodies = frame.bodies.iter();
    vectors(
        "velocities",
        bodies.clone().map(|b| upright(b.velocity)).collect(),
    );
    vectors("angular_velocities", bodies.map(spin).collect());
    let of_loads = |of: fn(&BodyLoad<D>) -> [f64; 3]| -> Vec<[f64; 3]> {
        loads
            .iter()
            .map(|load| load.map_or([f64::NAN; 3], of))
            .collect()
    };
    vectors("centers", of_loads(|load| upright(load.center)));
    vectors("center_velocities", of_loads(|load| upright(load.velocity)));
    vectors(
        "contact_forces",
        of_loads(|load| upright(load.contact_force)),
    );
    vectors(
        "contact_torques",
        of_loads(|load| lifted_axis::<D>(load.contact_torque)),
    );
    vectors("joint_forces", of_loads(|load| upright(load.joint_force)));
    vectors(
        "joint_torques",
        of_loads(|load| lifted_axis::<D>(load.joint_torque)),
    );
    let wet = frame.loads.iter().any(|load| load.liquid.is_some());
    if wet {
        let force = |load: &BodyLoad<D>| load.liquid.map_or([f64::NAN; 3], |l| upright(l.force));
        vectors("liquid_forces", of_loads(force));
        let torque = |load: &BodyLoad<D>| {
            let torque = load.liquid.map(|liquid| liquid.torque);
            torque.map_or([f64::NAN; 3], lifted_axis::<D>)
        };
        vectors("liquid_torques", of_loads(torque));
    }
    let mut numbers = |name: &str, of: fn(&BodyLoad<D>) -> f64| {
        let values: Vec<f64> = loads.iter().map(|load| load.map_or(f64::NAN, of)).collect();
        archive.doubles(name, count, "", &values);
    };
    numbers("kinetic_energies", |load| load.kinetic_energy);
    numbers("contacts", |load| load.contacts as f64);
    numbers("penetrations", |load| load.penetration);
    if wet {
        numbers("submerged_volumes", |load| {
            load.liquid.map_or(f64::NAN, |l| l.submerged_volume)
        });
        numbers("waterline_areas", |load| {
            load.liquid.map_or(f64::NAN, |l| l.waterline_area)
        });
    }
    if !cloth.is_empty() {
        let names: Vec<&str> = cloth.iter().map(|part| &part.name[..]).collect();
        archive.names("cloth_names", &names);
    }
    for (k, part) in cloth.iter().enumerate() {
        archive.cloth(k + 1, surface, part);
    }
    archive.number("time", frame.time);
    archive.write(out)
}

/// Members of an archive.
#[derive(Default)]
struct Archive {
    members: Vec<(String, Vec<u8>)>,
}

impl Archive {
    /// Adds a piece of cloth, part of a surface.
    fn cloth(&mut self, number: usize, surface: &Surface, part: &Part) {
        let range = part.vertices.clone();
        for (name, values) in [
            ("positions", &surface.positions),
            ("velocities", &surface.velocities),
            ("normals", &surface.normals),
        ] {
            self.vectors(&format!("cloth{number}_{name}"), &values[range.clone()]);
        }
        let corners = surface.triangles[part.triangles.clone()].iter().flatten();
        let bytes = corners.flat_map(|v| (v - range.start as u32).to_le_bytes());
        let shape = format!("({}, 3)", part.triangles.len());
        let name = format!("cloth{number}_triangles");
        self.array(&name, "<u4", &shape, bytes.collect());
        let texture = &part.texture;
        let pairs = texture.coordinates.iter().flatten();
        let bytes = pairs.flat_map(|x| x.to_le_bytes()).collect();
        let shape = format!("({}, 2)", texture.coordinates.len());
        self.array(&format!("cloth{number}_texture"), "<f4", &shape, bytes);
        let corners = texture.triangles.iter().flatten();
        let bytes = corners.flat_map(|v| v.to_le_bytes()).collect();
        let shape = format!("({}, 3)", texture.triangles.len());
        let name = format!("cloth{number}_texture_triangles");
        self.array(&name, "<u4", &shape, bytes);
    }

    fn vectors(&mut self, name: &str, values: &[[f32; 3]]) {
        let bytes = values
            .iter()
            .flatten()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        self.array(name, "<f4", &format!("({}, 3)", values.len()), bytes);
    }

    fn names(&mut self, name: &str, names: &[&str]) {
        let longest = names.iter().map(|name| name.chars().count());
        let longest = longest.max().unwrap_or(0).max(1);
        let letters = names.iter().flat_map(|name| {
            let padding = std::iter::repeat(0u32);
            let letters = name.chars().map(u32::from).chain(padding);
            letters.take(longest).flat_map(u32::to_le_bytes)
        });
        let bytes = letters.collect();
        self.array(
            name,
            &format!("<U{longest}"),
            &format!("({},)", names.len()),
            bytes,
        );
    }

    /// Adds an array of double precision, `count` entries of a shape such as `, 3`.
    fn doubles(&mut self, name: &str, count: usize, each: &str, values: &[f64]) {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.array(name, "<f8", &format!("({count},{each})"), bytes);
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
