//! Writes the mesh of the hare in built-in scenes, the stand-in for the bunny of [TB20]: a smooth union of ellipsoids and
//! capsules with the volume of the unit ball, its centroid at the origin, as binary PLY.
//!
//! `cargo run --example hare -- crates/scene/scenes/hare.ply`

use std::array::from_fn;
use std::collections::BTreeMap;

/// Radius of the blend between parts.
const BLEND: f64 = 0.15;
/// Cells of the lattice in a unit of length.
const CELLS: f64 = 11.0;
/// Half the side of the lattice, in cells.
const REACH: i32 = 30;

type Vector = [f64; 3];
type Cell = [i32; 3];

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "hare.ply".into());
    let (mut vertices, faces) = surface();
    let (volume, centroid) = volume_and_centroid(&vertices, &faces);
    let scale = (4.0 / 3.0 * std::f64::consts::PI / volume).cbrt();
    for x in &mut vertices {
        *x = from_fn(|k| scale * (x[k] - centroid[k]));
    }
    std::fs::write(path, ply(&vertices, &faces))
}

/// Level set of the hare: its zero is the surface, and its sign is that of the distance.
fn level(x: Vector) -> f64 {
    let mirrored = [x[0], -x[1], x[2]];
    let ear = |x| capsule(x, [0.85, 0.18, 1.0], [0.6, 0.3, 1.75], 0.14);
    let foot = |x| ellipsoid(x, [0.5, 0.45, -0.65], [0.45, 0.2, 0.18]);
    let parts = [
        ellipsoid(x, [0.0; 3], [1.0, 0.75, 0.8]),
        ellipsoid(x, [0.85, 0.0, 0.65], [0.45; 3]),
        ear(x),
        ear(mirrored),
        ellipsoid(x, [-1.0, 0.0, 0.1], [0.25; 3]),
        foot(x),
        foot(mirrored),
    ];
    let all = parts.into_iter().reduce(smooth_minimum);
    // Cut flat, so that it stands, with a round edge that the lattice resolves.
    -smooth_minimum(-all.unwrap_or(f64::INFINITY), 0.75 + x[2])
}

fn smooth_minimum(a: f64, b: f64) -> f64 {
    let h = (BLEND - (a - b).abs()).max(0.0);
    a.min(b) - h * h / (4.0 * BLEND)
}

/// Distance to an ellipsoid to first order.
fn ellipsoid(x: Vector, center: Vector, axes: Vector) -> f64 {
    let scaled: Vector = from_fn(|k| (x[k] - center[k]) / axes[k]);
    let gradient: Vector = from_fn(|k| scaled[k] / axes[k]);
    let (r, slope) = (norm(scaled), norm(gradient));
    match slope > 0.0 {
        true => r * (r - 1.0) / slope,
        false => -axes.into_iter().fold(f64::INFINITY, f64::min),
    }
}

fn capsule(x: Vector, from: Vector, to: Vector, radius: f64) -> f64 {
    let (axis, arm): (Vector, Vector) = (from_fn(|k| to[k] - from[k]), from_fn(|k| x[k] - from[k]));
    let t = (dot(axis, arm) / dot(axis, axis)).clamp(0.0, 1.0);
    norm(from_fn(|k| arm[k] - t * axis[k])) - radius
}

/// Surface nets: one vertex for every cell that the surface crosses, one quadrangle for every edge that it crosses.
fn surface() -> (Vec<Vector>, Vec<[u32; 3]>) {
    let corner = |cell: Cell| -> Vector { cell.map(|c| (f64::from(c) + 0.37) / CELLS) };
    let inside = |cell: Cell| level(corner(cell)) < 0.0;
    let (mut vertices, mut index) = (Vec::new(), BTreeMap::new());
    let mut faces = Vec::new();
    let range = -REACH..REACH;
    let cells = range.clone().flat_map(|i| {
        let range = range.clone();
        range
            .clone()
            .flat_map(move |j| range.clone().map(move |k| [i, j, k]))
    });
    let cells: Vec<Cell> = cells.collect();
    for &cell in &cells {
        let corners: [bool; 8] =
            from_fn(|c| inside(from_fn(|axis| cell[axis] + (c as i32 >> axis & 1))));
        if corners.iter().any(|&c| c != corners[0]) {
            index.insert(cell, vertices.len() as u32);
            let middle = from_fn(|axis| corner(cell)[axis] + 0.5 / CELLS);
            vertices.push(on_surface(middle));
        }
    }
    for &cell in &cells {
        for axis in 0..3 {
            let mut next = cell;
            next[axis] += 1;
            let (here, there) = (inside(cell), inside(next));
            if here == there {
                continue;
            }
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let around = [[0, 0], [-1, 0], [-1, -1], [0, -1]].map(|[a, b]| {
                let mut beside = cell;
                beside[u] += a;
                beside[v] += b;
                index[&beside]
            });
            let [a, b, c, d] = around;
            match here {
                true => faces.extend([[a, b, c], [a, c, d]]),
                false => faces.extend([[a, c, b], [a, d, c]]),
            }
        }
    }
    (vertices, faces)
}

/// The point of the surface near `x`, at most half a cell away along each axis.
fn on_surface(start: Vector) -> Vector {
    let mut x = start;
    for _ in 0..8 {
        let value = level(x);
        let step = 1e-5;
        let slope: Vector = from_fn(|k| {
            let mut ahead = x;
            ahead[k] += step;
            (level(ahead) - value) / step
        });
        let square = dot(slope, slope).max(1e-6);
        x = from_fn(|k| {
            let moved = x[k] - value * slope[k] / square;
            moved.clamp(start[k] - 0.5 / CELLS, start[k] + 0.5 / CELLS)
        });
    }
    x
}

fn volume_and_centroid(vertices: &[Vector], faces: &[[u32; 3]]) -> (f64, Vector) {
    let (mut volume, mut first) = (0.0, [0.0; 3]);
    for face in faces {
        let [a, b, c] = face.map(|corner| vertices[corner as usize]);
        let own = dot(a, cross(b, c)) / 6.0;
        volume += own;
        first = from_fn(|k| first[k] + own * (a[k] + b[k] + c[k]) / 4.0);
    }
    (volume, first.map(|x| x / volume))
}

fn dot(a: Vector, b: Vector) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: Vector, b: Vector) -> Vector {
    from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i] * b[j] - a[j] * b[i]
    })
}

fn ply(vertices: &[Vector], faces: &[[u32; 3]]) -> Vec<u8> {
    let mut bytes = format!(
        "ply\nformat binary_little_endian 1.0\ncomment a hare, by meniscus\n\
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
