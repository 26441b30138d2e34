//! Triangle meshes: distances, what is mended, what is refused.

mod checks;
mod distances;

use crate::icosphere::icosphere;

use meniscus_shapes::{MeshReport, TriangleMesh};
use std::array::from_fn;
use std::f64::consts::PI;

pub type Soup = (Vec<[f64; 3]>, Vec<[u32; 3]>);

pub fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    from_fn(|i| a[i] - b[i])
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

pub fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

pub fn made(soup: &Soup) -> (TriangleMesh, MeshReport) {
    TriangleMesh::new(&soup.0, &soup.1).expect("a sound mesh")
}

pub fn together(a: Soup, b: Soup) -> Soup {
    let (mut vertices, mut triangles) = a;
    let shift = vertices.len() as u32;
    vertices.extend(b.0);
    triangles.extend(b.1.iter().map(|t| t.map(|v| v + shift)));
    (vertices, triangles)
}

pub fn inside_out(soup: Soup) -> Soup {
    (
        soup.0,
        soup.1.into_iter().map(|[a, b, c]| [a, c, b]).collect(),
    )
}

pub fn cube() -> Soup {
    let vertices = (0..8).map(|k| from_fn(|i| f64::from(k >> i & 1))).collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    (vertices, triangles.collect())
}

/// The nearest point of a triangle by looking at its sides and its inside one after the other, in other words than
/// those of the crate.
pub fn distance_to_triangle(x: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> f64 {
    let to_segment = |p: [f64; 3], q: [f64; 3]| {
        let along = minus(q, p);
        let s = (dot(minus(x, p), along) / dot(along, along)).clamp(0.0, 1.0);
        length(minus(x, from_fn(|i| p[i] + s * along[i])))
    };
    let mut least = to_segment(a, b).min(to_segment(b, c)).min(to_segment(c, a));
    // Barycentric coordinates of the foot.
    let (e, f, g) = (minus(b, a), minus(c, a), minus(x, a));
    let (ee, ef, ff, eg, fg) = (dot(e, e), dot(e, f), dot(f, f), dot(e, g), dot(f, g));
    let whole = ee * ff - ef * ef;
    let (s, t) = ((ff * eg - ef * fg) / whole, (ee * fg - ef * eg) / whole);
    if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
        least = least.min(length(minus(g, from_fn(|i| s * e[i] + t * f[i]))));
    }
    least
}

/// Distance by all triangles, sign by adding up all solid angles.
pub fn distance_by_brute_force(mesh: &TriangleMesh, x: [f64; 3]) -> f64 {
    let (mut least, mut angle) = (f64::INFINITY, 0.0);
    for triangle in mesh.triangles() {
        let corners = triangle.map(|v| mesh.vertices()[v as usize]);
        least = least.min(distance_to_triangle(x, corners));
        let [a, b, c] = corners.map(|corner| minus(corner, x));
        let (la, lb, lc) = (length(a), length(b), length(c));
        let along = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        angle += 2.0 * dot(a, cross(b, c)).atan2(along);
    }
    if angle > 2.0 * PI { -least } else { least }
}

/// A ball with bumps, stretched, so that nothing is symmetric.
pub fn bumpy(times: usize, bump: f64) -> Soup {
    let (mut vertices, triangles) = icosphere([0.0; 3], 1.0, times);
    for v in &mut vertices {
        let r = 0.6 + bump * (5.0 * v[0]).sin() * (7.0 * v[1] + 1.0).cos() * (4.0 * v[2]).cos();
        *v = [1.1 * r * v[0] + 0.1, 0.8 * r * v[1], r * v[2] - 0.2];
    }
    (vertices, triangles)
}

/// Points all over the place, and many near the surface.
pub fn places(mesh: &TriangleMesh) -> Vec<[f64; 3]> {
    let mut seed = 1u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut places: Vec<[f64; 3]> = (0..400)
        .map(|_| [3.0 * random(), 3.0 * random(), 3.0 * random()])
        .collect();
    for v in mesh
        .vertices()
        .iter()
        .step_by(1 + mesh.vertices().len() / 400)
    {
        for reach in [0.2, 0.02, 1e-4] {
            places.push(v.map(|c| c + reach * random()));
        }
    }
    places
}

pub fn agrees_with_brute_force(soup: &Soup) {
    let (mesh, report) = made(soup);
    assert_eq!(report.triangles, mesh.triangles().len());
    for x in places(&mesh) {
        let (distance, brute) = (mesh.distance(x), distance_by_brute_force(&mesh, x));
        assert!(
            (distance - brute).abs() < 1e-12,
            "{distance} but {brute} at {x:?}"
        );
    }
}
