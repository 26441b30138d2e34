//! Writes the mesh of the built-in scene `knot`: a tube along a trefoil, a metre across, as binary PLY.
//!
//! `cargo run --example knot -- crates/scene/scenes/knot.ply`

use std::f64::consts::TAU;

/// Points along the tube and around it.
const ALONG: u32 = 160;
const AROUND: u32 = 16;
const TUBE: f64 = 0.11;

type Vector = [f64; 3];

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "knot.ply".into());
    let vertices: Vec<Vector> = (0..ALONG)
        .flat_map(|i| (0..AROUND).map(move |j| point(i, j)))
        .collect();
    let index = |i: u32, j: u32| (i % ALONG) * AROUND + j % AROUND;
    let faces: Vec<[u32; 3]> = (0..ALONG)
        .flat_map(|i| (0..AROUND).map(move |j| (i, j)))
        .flat_map(|(i, j)| {
            let (a, b) = (index(i, j), index(i + 1, j));
            let (c, d) = (index(i + 1, j + 1), index(i, j + 1));
            [[a, c, b], [a, d, c]]
        })
        .collect();
    std::fs::write(path, ply(&vertices, &faces))
}

/// Trefoil knot: three times around the axis, twice around the ring.
fn trefoil(t: f64) -> Vector {
    let ring = 2.0 + (3.0 * t).cos();
    let scale = 0.39 / 3.0;
    [
        scale * ring * (2.0 * t).cos(),
        scale * ring * (2.0 * t).sin(),
        scale * 1.6 * (3.0 * t).sin(),
    ]
}

/// Point `j` around the tube at position `i` along it.
fn point(i: u32, j: u32) -> Vector {
    let t = TAU * f64::from(i) / f64::from(ALONG);
    let center = trefoil(t);
    let ahead = sub(trefoil(t + 1e-4), trefoil(t - 1e-4));
    // The direction away from the axis of the knot is never tangential.
    let outward = [center[0], center[1], 0.0];
    let side = unit(cross(ahead, outward));
    let up = unit(cross(side, ahead));
    let angle = TAU * f64::from(j) / f64::from(AROUND);
    let (sine, cosine) = angle.sin_cos();
    std::array::from_fn(|k| center[k] + TUBE * (cosine * up[k] + sine * side[k]))
}

fn sub(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] - b[k])
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn unit(a: Vector) -> Vector {
    let length = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    a.map(|x| x / length)
}

fn ply(vertices: &[Vector], faces: &[[u32; 3]]) -> Vec<u8> {
    let mut bytes = format!(
        "ply\nformat binary_little_endian 1.0\ncomment a trefoil knot, by meniscus\n\
         element vertex {}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        vertices.len(),
        faces.len()
    )
    .into_bytes();
    for x in vertices.iter().flatten() {
        bytes.extend((*x as f32).to_le_bytes());
    }
    for face in faces {
        bytes.push(3);
        for corner in face {
            bytes.extend(corner.to_le_bytes());
        }
    }
    bytes
}
