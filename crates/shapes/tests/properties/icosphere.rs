//! A ball of triangles, for all tests of meshes.

use std::collections::HashMap;

/// Vertices and triangles of a ball: an icosahedron whose faces are divided in four so many times.
pub fn icosphere(center: [f64; 3], radius: f64, times: usize) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for a in [-1.0, 1.0] {
        for b in [-golden, golden] {
            vertices.extend([[0.0, a, b], [a, b, 0.0], [b, 0.0, a]]);
        }
    }
    let square = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                let [p, q, r] = [a, b, c].map(|v| vertices[v]);
                // The sides of the icosahedron with these corners are two long.
                if [square(p, q), square(q, r), square(r, p)]
                    .iter()
                    .all(|s| (s - 4.0).abs() < 1e-9)
                {
                    let across = p[0] * (q[1] * r[2] - q[2] * r[1])
                        + p[1] * (q[2] * r[0] - q[0] * r[2])
                        + p[2] * (q[0] * r[1] - q[1] * r[0]);
                    let [a, b, c] = [a, b, c].map(|v| v as u32);
                    triangles.push(if across > 0.0 { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    for _ in 0..times {
        let mut middles = HashMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let [p, q] = [a, b].map(|v| vertices[v as usize]);
                    // Out to the sphere: both ends are as far from the middle as all corners.
                    let sum = [p[0] + q[0], p[1] + q[1], p[2] + q[2]];
                    let longer = (square(p, [0.0; 3]) / square(sum, [0.0; 3])).sqrt();
                    vertices.push(sum.map(|c| c * longer));
                    vertices.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    for vertex in &mut vertices {
        let length = vertex.iter().map(|c| c * c).sum::<f64>().sqrt();
        *vertex = [0, 1, 2].map(|i| center[i] + radius * vertex[i] / length);
    }
    (vertices, triangles)
}
