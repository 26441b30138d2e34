//! Compressed meshes for reports: the data of [`wire`](crate::viewer::wire), delta coded and split into byte planes,
//! then deflated (raw RFC 1951), which browsers can inflate.
//!
//! | bytes | content |
//! | --- | --- |
//! | 40 | the header of the mesh, as in [`wire`](crate::viewer::wire) |
//! | 6 per vertex | x, y, z: two byte planes each of the difference from the vertex before |
//! | 3 per vertex | normals: x of all of them, then y, then z, each as the difference from the vertex before |
//! | 12 per triangle | four byte planes of a difference for each corner |
//!
//! The first corner is stored as the difference from that of the triangle before, the others as that from the first corner.
//! Differences of positions and corners wrap around and are zigzag coded: 0, -1, 1, -2 become 0, 1, 2, 3.

use crate::surface::solids::Mesh;
use crate::viewer::wire::MESH_HEADER;
use miniz_oxide::deflate::compress_to_vec;

/// Quantisation of positions as a fraction of the distance between vertices: less is not visible.
const STEPS: f64 = 16.0;
/// Quantisation of normals.
const SHADES: f32 = 48.0;
const BEST: u8 = 9;

/// Bytes of a mesh with vertices about `spacing` apart; without quantisation if it is unknown.
pub fn packed(mesh: &Mesh, spacing: Option<f64>) -> Vec<u8> {
    let plain = match spacing {
        Some(spacing) => rounded(mesh).encode_in_steps((spacing / STEPS) as f32),
        None => mesh.encode(),
    };
    compress_to_vec(&reordered(&plain, mesh), BEST)
}

fn rounded(mesh: &Mesh) -> Mesh {
    let round = |x: f32| (x * SHADES).round() / SHADES;
    Mesh {
        normals: mesh.normals.iter().map(|n| n.map(round)).collect(),
        ..mesh.clone()
    }
}

fn reordered(plain: &[u8], mesh: &Mesh) -> Vec<u8> {
    let (header, body) = plain.split_at(MESH_HEADER);
    let (positions, body) = body.split_at(8 * mesh.positions.len());
    let normals = &body[..4 * mesh.normals.len()];
    let mut bytes = header.to_vec();
    for axis in 0..3 {
        let mut before = 0i16;
        let steps: Vec<[u8; 2]> = positions
            .chunks_exact(8)
            .map(|x| i16::from_le_bytes([x[2 * axis], x[2 * axis + 1]]))
            .map(|x| {
                let step = x.wrapping_sub(before);
                before = x;
                ((step << 1) ^ (step >> 15)).to_le_bytes()
            })
            .collect();
        push_planes(&mut bytes, &steps);
    }
    for axis in 0..3 {
        let mut before = 0u8;
        bytes.extend(normals.chunks_exact(4).map(|n| {
            let step = n[axis].wrapping_sub(before);
            before = n[axis];
            step
        }));
    }
    let mut before = 0;
    let firsts: Vec<[u8; 4]> = mesh
        .triangles
        .iter()
        .map(|t| {
            let step = difference(t[0], before);
            before = t[0];
            step
        })
        .collect();
    push_planes(&mut bytes, &firsts);
    for corner in 1..3 {
        let others = mesh.triangles.iter().map(|t| difference(t[corner], t[0]));
        push_planes(&mut bytes, &others.collect::<Vec<_>>());
    }
    bytes
}

fn difference(to: u32, from: u32) -> [u8; 4] {
    let step = to.wrapping_sub(from) as i32;
    ((step << 1) ^ (step >> 31)).to_le_bytes()
}

/// Splits numbers into byte planes: the first bytes of all, then the second bytes, and so on.
fn push_planes<const N: usize>(bytes: &mut Vec<u8>, numbers: &[[u8; N]]) {
    for plane in 0..N {
        bytes.extend(numbers.iter().map(|number| number[plane]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec;

    #[test]
    fn differences_are_small_and_split_into_byte_planes() {
        let mesh = Mesh {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.25]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            triangles: vec![[0, 1, 2], [2, 1, 0]],
        };
        let spacing = 0.5;
        let bytes = decompress_to_vec(&packed(&mesh, Some(spacing))).unwrap();
        assert_eq!(bytes.len(), 40 + 9 * 3 + 12 * 2);
        let header = [&b"MNVM"[..], &3u32.to_le_bytes(), &2u32.to_le_bytes()].concat();
        assert_eq!(bytes[..12], header);
        // A metre has 32 steps.
        assert_eq!(bytes[40..46], [0, 64, 63, 0, 0, 0], "x");
        assert_eq!(bytes[46..52], [0, 32, 32, 0, 0, 0], "y");
        assert_eq!(bytes[52..58], [0, 0, 16, 0, 0, 0], "z");
        assert_eq!(bytes[58..67], [0, 0, 0, 0, 0, 0, 127, 0, 0], "normals");
        let corners = |k: usize| &bytes[67 + 8 * k..69 + 8 * k];
        assert_eq!(
            [corners(0), corners(1), corners(2)],
            [[0, 4], [2, 1], [4, 3]]
        );
    }

    #[test]
    fn a_mesh_of_unknown_spacing_is_not_quantised() {
        let mesh = Mesh {
            positions: vec![[0.1, 0.2, 0.3], [0.7, 0.9, 0.4]],
            normals: vec![[0.0, 1.0, 0.0]; 2],
            triangles: Vec::new(),
        };
        let bytes = decompress_to_vec(&packed(&mesh, None)).unwrap();
        assert_eq!(bytes[..MESH_HEADER], mesh.encode()[..MESH_HEADER]);
        // From 0 to 65535 is one step back, by wrapping around.
        assert_eq!(bytes[40..44], [0, 1, 0, 0]);
        assert_eq!(
            decompress_to_vec(&packed(&Mesh::default(), None))
                .unwrap()
                .len(),
            40
        );
    }
}
