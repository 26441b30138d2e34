//! Binary encoding of particles (8 bytes each) and triangle meshes for the page. Little endian throughout.
//!
//! Particles in either dimension (in 2D the third coordinate is zero):
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | `MNVP` |
//! | 4 | 4 | number of the frame |
//! | 8 | 4 | particles that follow |
//! | 12 | 4 | particles in the frame: more, if some were omitted |
//! | 16 | 4 | number of visible particles, which come first; the rest is occluded |
//! | 20 | 4 | time in seconds, float |
//! | 24 | 4 | speed of value 255 in m/s, float |
//! | 28 | 12 | lower corner of the bounding box of positions, three floats |
//! | 40 | 12 | its upper corner, three floats |
//! | 52 | 8 | pressures of values 0 and 255 in pascal, two floats; both zero if unknown |
//! | 60 | 8 each | x, y and z in 16 bits each, 65535 is the upper corner; pressure and speed, one byte each |
//!
//! A mesh:
//!
//! | offset | bytes | field |
//! | --- | --- | --- |
//! | 0 | 4 | `MNVM` |
//! | 4 | 4 | vertices |
//! | 8 | 4 | triangles |
//! | 12 | 4 | zero |
//! | 16 | 12 | lower corner of the bounding box of positions, three floats |
//! | 28 | 12 | its upper corner, three floats |
//! | 40 | 8 each | x, y, z of the vertices, 16 bits each, and two bytes of zero |
//! | then | 4 each | normals, signed bytes, 127 is one; and one byte of zero |
//! | then | 12 each | triangles, three vertex indices, counter-clockwise from outside |
//!
//! Both bodies are uploaded to the GPU without conversion.

use super::occlusion_cull::hidden;
use crate::surface::solids::Mesh;
use meniscus_store::cache::Frame;

/// Bytes of the header of particles.
pub const PARTICLES_HEADER: usize = 60;
/// Bytes per particle.
pub const PARTICLE: usize = 8;
/// Bytes of the header of a mesh.
pub const MESH_HEADER: usize = 40;

/// Largest 16-bit value.
const FULL: f64 = 65535.0;

impl Mesh {
    /// Encodes the mesh.
    pub fn encode(&self) -> Vec<u8> {
        let (low, high) = box_around(&self.positions);
        self.encode_in(low, high)
    }

    /// Encodes the mesh with positions rounded to multiples of a length, as far as 16 bits allow.
    pub fn encode_in_steps(&self, step: f32) -> Vec<u8> {
        let (low, high) = box_around(&self.positions);
        let reach = step * FULL as f32;
        let wide = std::array::from_fn(|axis| high[axis].max(low[axis] + reach));
        self.encode_in(low, wide)
    }

    fn encode_in(&self, low: [f32; 3], high: [f32; 3]) -> Vec<u8> {
        let vertices = self.positions.len();
        let size = MESH_HEADER + 12 * vertices + 12 * self.triangles.len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend(b"MNVM");
        for count in [vertices as u32, self.triangles.len() as u32, 0] {
            bytes.extend(count.to_le_bytes());
        }
        bytes.extend(low.iter().chain(&high).flat_map(|x| x.to_le_bytes()));
        for position in &self.positions {
            for axis in 0..3 {
                let fraction = fraction(position[axis], low[axis], high[axis]);
                bytes.extend(fraction.to_le_bytes());
            }
            bytes.extend([0; 2]);
        }
        for normal in &self.normals {
            bytes.extend(normal.map(|x| (x.clamp(-1.0, 1.0) * 127.0).round() as i8 as u8));
            bytes.push(0);
        }
        let corners = self.triangles.iter().flatten();
        bytes.extend(corners.flat_map(|corner| corner.to_le_bytes()));
        bytes
    }
}

/// Encodes the particles of a frame, every `every`-th of them.
pub fn encode_particles<const D: usize>(
    frame: &Frame<D>,
    domain: [f64; D],
    every: usize,
) -> Vec<u8> {
    let every = every.max(1);
    let (low, high) = frame_box(frame, domain);
    let speed = |v: &[f32; D]| {
        let square: f64 = v.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
        square.sqrt() as f32
    };
    let (positions, velocities) = (frame.positions(), frame.velocities());
    let pressures = frame.pressures();
    let fastest = velocities.iter().map(speed).fold(0.0f32, f32::max);
    // Zero, the pressure of air, is always included.
    let (least, most) = pressures
        .iter()
        .fold((0.0f32, 0.0f32), |(l, m), &p| (l.min(p), m.max(p)));
    let total = positions.len();
    let hidden = hidden(frame);
    let (behind, seen): (Vec<usize>, Vec<usize>) =
        (0..total).step_by(every).partition(|&i| hidden[i]);
    let sent = seen.len() + behind.len();
    let mut bytes = Vec::with_capacity(PARTICLES_HEADER + PARTICLE * sent);
    bytes.extend(b"MNVP");
    for count in [frame.number, sent as u32, total as u32, seen.len() as u32] {
        bytes.extend(count.to_le_bytes());
    }
    bytes.extend((frame.time as f32).to_le_bytes());
    bytes.extend(fastest.to_le_bytes());
    bytes.extend(low.iter().chain(&high).flat_map(|x| x.to_le_bytes()));
    bytes.extend([least, most].iter().flat_map(|p| p.to_le_bytes()));
    for i in seen.into_iter().chain(behind) {
        let (position, velocity) = (&positions[i], &velocities[i]);
        for axis in 0..3 {
            let along = match axis {
                axis if axis < D => fraction(position[axis], low[axis], high[axis]),
                _ => 0,
            };
            bytes.extend(along.to_le_bytes());
        }
        let pressure = pressures.get(i).copied().unwrap_or(0.0);
        bytes.push(shade(pressure, least, most));
        bytes.push(shade(speed(velocity), 0.0, fastest));
    }
    bytes
}

/// Quantises a number between two others to 8 bits: enough for a colour.
fn shade(x: f32, low: f32, high: f32) -> u8 {
    ((u32::from(fraction(x, low, high)) + 128) / 257) as u8
}

/// Bounding box of the domain and the particles, which may leave through open sides.
fn frame_box<const D: usize>(frame: &Frame<D>, domain: [f64; D]) -> ([f32; 3], [f32; 3]) {
    let (mut low, mut high) = ([0.0f32; 3], [0.0f32; 3]);
    for axis in 0..D {
        high[axis] = domain[axis] as f32;
        for position in frame.positions() {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
    }
    (low, high)
}

fn box_around(positions: &[[f32; 3]]) -> ([f32; 3], [f32; 3]) {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for position in positions {
        for axis in 0..3 {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
    }
    if positions.is_empty() {
        ([0.0; 3], [0.0; 3])
    } else {
        (low, high)
    }
}

/// Quantises a number between two others to 16 bits.
fn fraction(x: f32, low: f32, high: f32) -> u16 {
    let (x, low, high) = (f64::from(x), f64::from(low), f64::from(high));
    let width = high - low;
    if width > 0.0 {
        // Values out of range, and NaN, are clamped.
        ((x - low) / width * FULL).round() as u16
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_store::cache::{self, PointLayer, Precision, Scalar};

    fn number(bytes: &[u8], offset: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| bytes[offset + i]))
    }

    fn short(bytes: &[u8], offset: usize) -> f32 {
        f32::from(u16::from_le_bytes([bytes[offset], bytes[offset + 1]])) / 65535.0
    }

    fn some_frame<const D: usize>(count: usize) -> Frame<D> {
        let place = |i: usize, axis: usize| ((i * 37 + axis * 11) % 101) as f32 / 101.0;
        let vectors = |first: usize| -> Vec<[f32; D]> {
            (0..count)
                .map(|i| std::array::from_fn(|a| place(i, a + first)))
                .collect()
        };
        let mut layer = PointLayer::liquid(0.1, vectors(0), vectors(3));
        layer.scalars.push(Scalar {
            name: cache::PRESSURE.into(),
            precision: Precision::Exact,
            values: (0..count).map(|i| 300.0 * place(i, 7) - 20.0).collect(),
        });
        Frame {
            number: 7,
            time: 0.25,
            points: vec![layer],
            bodies: Vec::new(),
            loads: Vec::new(),
            meshes: Vec::new(),
        }
    }

    fn a_particle_takes_eight_bytes<const D: usize>() {
        for count in [0, 1, 1000] {
            let frame = some_frame::<D>(count);
            let bytes = encode_particles(&frame, [1.0; D], 1);
            assert_eq!(bytes.len(), 60 + 8 * count);
            assert_eq!(number(&bytes, 4), 7);
            assert_eq!(number(&bytes, 8) as usize, count);
            assert_eq!(number(&bytes, 12) as usize, count);
            assert!(number(&bytes, 16) as usize <= count);
            let fastest = f32::from_bits(number(&bytes, 24));
            let [least, most] = [52, 56].map(|offset| f32::from_bits(number(&bytes, offset)));
            for (i, (x, v)) in frame.positions().iter().zip(frame.velocities()).enumerate() {
                for axis in 0..D {
                    let found = short(&bytes, 60 + 8 * i + 2 * axis);
                    assert!((found - x[axis]).abs() <= 1.0 / 65535.0);
                }
                let speed = v.iter().map(|c| c * c).sum::<f32>().sqrt();
                let byte = |offset: usize| f32::from(bytes[60 + 8 * i + offset]) / 255.0;
                assert!((byte(7) * fastest - speed).abs() <= fastest / 500.0);
                let pressure = least + byte(6) * (most - least);
                assert!((pressure - frame.pressures()[i]).abs() <= (most - least) / 500.0);
            }
        }
    }

    #[test]
    fn a_particle_takes_eight_bytes_in_2d() {
        a_particle_takes_eight_bytes::<2>();
    }

    #[test]
    fn a_particle_takes_eight_bytes_in_3d() {
        a_particle_takes_eight_bytes::<3>();
    }

    #[test]
    fn omitted_particles_are_counted() {
        let bytes = encode_particles(&some_frame::<3>(10), [1.0; 3], 4);
        assert_eq!(bytes.len(), 60 + 8 * 3);
        assert_eq!((number(&bytes, 8), number(&bytes, 12)), (3, 10));
    }

    #[test]
    fn particles_outside_the_domain_keep_their_positions() {
        let mut frame = some_frame::<2>(2);
        frame.points[0].positions = vec![[-0.5, 0.25], [1.5, 0.75]];
        let bytes = encode_particles(&frame, [1.0; 2], 1);
        let corner = |axis: usize| f32::from_bits(number(&bytes, 28 + 4 * axis));
        assert_eq!(
            [corner(0), corner(1), corner(3), corner(4)],
            [-0.5, 0.0, 1.5, 1.0]
        );
        assert_eq!([short(&bytes, 60), short(&bytes, 68)], [0.0, 1.0]);
    }

    #[test]
    fn a_mesh_survives_encoding_and_decoding() {
        let mesh = Mesh {
            positions: vec![[0.0, 1.0, 2.0], [4.0, 1.0, 3.0], [1.0, 1.0, 2.5]],
            normals: vec![[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [0.6, 0.8, 0.0]],
            triangles: vec![[0, 1, 2]],
        };
        let bytes = mesh.encode();
        assert_eq!(bytes.len(), 40 + 3 * 12 + 12);
        assert_eq!((number(&bytes, 4), number(&bytes, 8)), (3, 1));
        let second = 40 + 8;
        assert_eq!(
            [short(&bytes, second), short(&bytes, second + 4)],
            [1.0, 1.0]
        );
        let normals = 40 + 3 * 8;
        assert_eq!(bytes[normals + 2], 127);
        assert_eq!(bytes[normals + 5] as i8, -127);
        assert_eq!(number(&bytes, normals + 12 + 4), 1);
        assert_eq!(Mesh::default().encode().len(), 40);
    }
}
