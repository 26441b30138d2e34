//! Meshes in few bytes, for a file that holds hundreds: what [`wire`](crate::viewer::wire) has for a graphics card, in
//! an order in which neighbours resemble each other, then deflated (RFC 1951, without a header), which browsers inflate.
//!
//! | bytes | what |
//! | --- | --- |
//! | 40 | the header of the mesh, as in [`wire`](crate::viewer::wire) |
//! | 6 for each vertex | x, y, z: for each two planes of bytes of the difference from the vertex before |
//! | 3 for each vertex | normals: x of all of them, then y, then z, each as the difference from the vertex before |
//! | 12 for each triangle | for each corner four planes of bytes of a difference |
//!
//! The difference of a first corner is that from the triangle before, those of the others are from the first corner.
//! Differences of positions and corners wrap around, and their sign is in the lowest bit: 0, -1, 1, -2 are 0, 1, 2, 3.

use crate::viewer::wire::{MESH_HEADER, WireMesh};
use miniz_oxide::deflate::compress_to_vec;

/// Positions are rounded to this part of the distance between vertices: less can't be seen.
const STEPS: f64 = 16.0;
/// Normals are rounded to this part of one.
const SHADES: f32 = 48.0;
const BEST: u8 = 9;

/// The bytes of a mesh whose vertices are about this far apart; if it is not known, as they are.
pub fn packed(mesh: &WireMesh, spacing: Option<f64>) -> Vec<u8> {
    let plain = match spacing {
        Some(spacing) => rounded(mesh).encode_in_steps((spacing / STEPS) as f32),
        None => mesh.encode(),
    };
    compress_to_vec(&reordered(&plain, mesh), BEST)
}

fn rounded(mesh: &WireMesh) -> WireMesh {
    let round = |x: f32| (x * SHADES).round() / SHADES;
    WireMesh {
        normals: mesh.normals.iter().map(|n| n.map(round)).collect(),
        ..mesh.clone()
    }
}

fn reordered(plain: &[u8], mesh: &WireMesh) -> Vec<u8> {
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

/// The first bytes of all numbers, then the second ones, and so on.
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
    fn neighbours_become_small_numbers_and_planes_follow_each_other() {
        let mesh = WireMesh {
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
    fn a_mesh_whose_spacing_is_not_known_keeps_all_its_digits() {
        let mesh = WireMesh {
            positions: vec![[0.1, 0.2, 0.3], [0.7, 0.9, 0.4]],
            normals: vec![[0.0, 1.0, 0.0]; 2],
            triangles: Vec::new(),
        };
        let bytes = decompress_to_vec(&packed(&mesh, None)).unwrap();
        assert_eq!(bytes[..MESH_HEADER], mesh.encode()[..MESH_HEADER]);
        // From 0 to 65535 is one step back, around the end.
        assert_eq!(bytes[40..44], [0, 1, 0, 0]);
        assert_eq!(
            decompress_to_vec(&packed(&WireMesh::default(), None))
                .unwrap()
                .len(),
            40
        );
    }
}
