//! Triangle meshes: distances, what is mended, what is refused.

use crate::arbitrary;
use crate::icosphere::icosphere;

use meniscus_shapes::{MeshError, MeshReport, Shape, ShapeFault, TriangleMesh};
use proptest::prelude::*;
use std::array::from_fn;
use std::f64::consts::PI;
use std::sync::Arc;

type Soup = (Vec<[f64; 3]>, Vec<[u32; 3]>);

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    from_fn(|i| a[i] - b[i])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn made(soup: &Soup) -> (TriangleMesh, MeshReport) {
    TriangleMesh::new(&soup.0, &soup.1).expect("a sound mesh")
}

fn together(a: Soup, b: Soup) -> Soup {
    let (mut vertices, mut triangles) = a;
    let shift = vertices.len() as u32;
    vertices.extend(b.0);
    triangles.extend(b.1.iter().map(|t| t.map(|v| v + shift)));
    (vertices, triangles)
}

fn inside_out(soup: Soup) -> Soup {
    (
        soup.0,
        soup.1.into_iter().map(|[a, b, c]| [a, c, b]).collect(),
    )
}

fn cube() -> Soup {
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
fn distance_to_triangle(x: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> f64 {
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
fn distance_by_brute_force(mesh: &TriangleMesh, x: [f64; 3]) -> f64 {
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
fn bumpy(times: usize, bump: f64) -> Soup {
    let (mut vertices, triangles) = icosphere([0.0; 3], 1.0, times);
    for v in &mut vertices {
        let r = 0.6 + bump * (5.0 * v[0]).sin() * (7.0 * v[1] + 1.0).cos() * (4.0 * v[2]).cos();
        *v = [1.1 * r * v[0] + 0.1, 0.8 * r * v[1], r * v[2] - 0.2];
    }
    (vertices, triangles)
}

/// Points all over the place, and many near the surface.
fn places(mesh: &TriangleMesh) -> Vec<[f64; 3]> {
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

fn agrees_with_brute_force(soup: &Soup) {
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

#[test]
fn distances_to_meshes_are_those_of_brute_force() {
    for soup in [
        cube(),
        bumpy(4, 0.1),
        // Two balls into each other, one with a hollow.
        together(
            together(icosphere([0.2; 3], 0.5, 3), icosphere([-0.2; 3], 0.5, 3)),
            inside_out(icosphere([-0.25; 3], 0.1, 2)),
        ),
        // A flat plate and a thin rod, far from being as long as wide.
        (
            cube()
                .0
                .iter()
                .map(|v| [v[0], v[1], 0.003 * v[2]])
                .collect(),
            cube().1,
        ),
        (
            cube()
                .0
                .iter()
                .map(|v| [0.01 * v[0], v[1], 0.02 * v[2]])
                .collect(),
            cube().1,
        ),
    ] {
        agrees_with_brute_force(&soup);
    }
}

#[test]
fn distances_within_a_band_are_exact_and_beyond_it_on_the_safe_side() {
    let overlapping = together(icosphere([0.2; 3], 0.5, 3), icosphere([-0.2; 3], 0.5, 3));
    for soup in [cube(), bumpy(4, 0.1), overlapping] {
        let (mesh, _) = made(&soup);
        let mut beyond = 0;
        for x in places(&mesh) {
            for band in [0.0, 0.03, 0.2, 9.0] {
                let (exact, banded) = (mesh.distance(x), mesh.distance_within(x, band));
                if exact.abs() <= band {
                    assert_eq!(exact, banded);
                } else {
                    beyond += 1;
                    let span = band - 1e-12..=exact.abs() + 1e-12;
                    assert!(span.contains(&banded.abs()), "{banded} for {exact}, {band}");
                    assert!(exact * banded >= 0.0);
                }
            }
        }
        assert!(beyond > 500);
    }
}

#[test]
fn a_ball_of_triangles_has_the_distance_of_the_ball_up_to_its_facets() {
    let (center, radius) = ([0.1, -0.2, 0.3], 0.7);
    let (mesh, report) = made(&icosphere(center, radius, 5));
    // How far the middle of a facet is below the sphere.
    let facet = 2e-3 * radius;
    for x in places(&mesh) {
        let exact = length(minus(x, center)) - radius;
        let distance = mesh.distance(x);
        assert!((distance - exact).abs() < facet, "{distance} {exact}");
        if length(minus(x, center)) > 0.1 {
            let normal = mesh.gradient(x);
            let outward = minus(x, center).map(|c| c / length(minus(x, center)));
            assert!(
                length(minus(normal, outward)) < 0.1,
                "{normal:?} {outward:?}"
            );
        }
    }
    assert_eq!(report.warnings(), Vec::<String>::new());
    assert_eq!(
        (report.components, report.open_edges, report.merged_vertices),
        (1, 0, 0)
    );
    assert!((report.volume / (4.0 / 3.0 * PI * radius.powi(3)) - 1.0).abs() < 5e-3);
    assert!((report.thickness.unwrap() - 2.0 * radius).abs() < facet);
    assert_eq!(report.finer_than(0.69 * radius), None);
    assert!((report.finer_than(1.2 * radius).unwrap() - radius).abs() < facet);
}

#[test]
fn a_hole_is_closed_and_inside_stays_inside() {
    let (vertices, mut triangles) = icosphere([0.0; 3], 1.0, 4);
    let whole = triangles.len();
    triangles.retain(|t| !t.iter().all(|&v| vertices[v as usize][2] > 0.97));
    assert!(triangles.len() < whole - 30);
    let (mesh, report) = made(&(vertices, triangles));
    assert!(
        report.open_edges > 10 && report.closed_holes == 1,
        "{report:?}"
    );
    assert!(report.closed_share > 0.0 && report.closed_share < 0.02);
    assert!(
        report.warnings().iter().any(|w| w.contains("open")),
        "{:?}",
        report.warnings()
    );
    for k in 0..200 {
        let z = -2.0 + 0.02 * f64::from(k);
        let x = [0.013, -0.007, z];
        assert_eq!(
            mesh.distance(x) < 0.0,
            z.abs() < 0.97 || z < 0.0 && z > -0.999,
            "{z}"
        );
    }
    // The distance does not jump where the surface was missing.
    let along = |k: usize| mesh.distance([0.013, -0.007, 0.8 + 1e-3 * k as f64]);
    for k in 0..400 {
        assert!((along(k + 1) - along(k)).abs() <= 1e-3 + 1e-12, "at {k}");
    }
}

#[test]
fn overlapping_balls_are_one_solid() {
    let soup = together(
        icosphere([-0.3, 0.0, 0.0], 0.5, 3),
        icosphere([0.3, 0.0, 0.0], 0.5, 3),
    );
    let (mesh, report) = made(&soup);
    assert_eq!(
        (report.components, report.turned_components, report.cavities),
        (2, 0, 0)
    );
    assert!(
        report.buried_share > 0.05 && report.buried_share < 0.4,
        "{report:?}"
    );
    assert!(
        report
            .warnings()
            .iter()
            .any(|w| w.contains("inside other parts"))
    );
    for k in 0..150 {
        let x = -1.5 + 0.02 * f64::from(k) + 1e-3;
        assert_eq!(mesh.distance([x, 0.01, 0.02]) < 0.0, x.abs() < 0.798, "{x}");
    }
    assert!(mesh.winding_number([0.0; 3]) > 1.9);
}

#[test]
fn a_mesh_that_is_inside_out_is_turned_and_said() {
    let (mesh, report) = made(&inside_out(icosphere([0.0; 3], 1.0, 2)));
    assert_eq!((report.turned_components, report.turned_faces), (1, 0));
    assert!(report.warnings()[0].contains("inside out"));
    assert!(report.volume > 0.0 && mesh.distance([0.0; 3]) < 0.0 && mesh.distance([2.0; 3]) > 0.0);
    let normal = mesh.gradient([1.2, 0.0, 0.0]);
    assert!(normal[0] > 0.9);
}

#[test]
fn single_faces_that_are_the_wrong_way_round_are_turned() {
    let (vertices, mut triangles) = icosphere([0.0; 3], 1.0, 3);
    for face in [3, 100, 101, 500] {
        triangles[face].swap(0, 1);
    }
    let (mesh, report) = made(&(vertices, triangles));
    assert_eq!((report.turned_faces, report.turned_components), (4, 0));
    assert_eq!(report.closed_holes, 0);
    assert!(
        places(&mesh)
            .iter()
            .all(|&x| (mesh.distance(x) < 0.0) == (distance_by_brute_force(&mesh, x) < 0.0))
    );
}

#[test]
fn a_hollow_stays_one_even_if_the_whole_mesh_is_inside_out() {
    let shell = together(
        icosphere([0.0; 3], 1.0, 3),
        inside_out(icosphere([0.1; 3], 0.5, 2)),
    );
    for (soup, turned) in [(shell.clone(), 0), (inside_out(shell), 2)] {
        let (mesh, report) = made(&soup);
        assert_eq!(
            (report.components, report.cavities, report.turned_components),
            (2, 1, turned)
        );
        assert!(mesh.distance([0.1; 3]) > 0.4, "the hollow is outside");
        assert!(mesh.distance([0.75, 0.0, 0.0]) < 0.0);
    }
    // Side by side each is turned on its own.
    let pair = together(
        icosphere([0.0; 3], 1.0, 2),
        inside_out(icosphere([3.0; 3], 1.0, 2)),
    );
    let (mesh, report) = made(&pair);
    assert_eq!((report.turned_components, report.cavities), (1, 0));
    assert!(mesh.distance([3.0; 3]) < 0.0 && mesh.distance([0.0; 3]) < 0.0);
}

#[test]
fn vertices_are_merged_and_faces_without_area_dropped_and_both_counted() {
    let (vertices, triangles) = cube();
    // A soup as STL has it, with rounding, plus faces that are a point, a line, and a needle.
    let mut soup: Vec<[f64; 3]> = triangles
        .iter()
        .flatten()
        .map(|&v| vertices[v as usize])
        .collect();
    for (k, v) in soup.iter_mut().enumerate() {
        v[k % 3] += 1e-8 * (k % 5) as f64;
    }
    let mut faces: Vec<[u32; 3]> = (0..12).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let first = soup.len() as u32;
    soup.extend([[0.2, 0.2, 0.0], [0.4, 0.4, 0.0], [0.6, 0.6, 0.0]]);
    faces.extend([[0, 0, 0], [0, 1, 1], [first, first + 1, first + 2]]);
    let (mesh, report) = made(&(soup, faces));
    assert_eq!((report.merged_vertices, report.degenerate_faces), (28, 3));
    assert_eq!(
        (report.vertices, report.triangles, report.components.min(1)),
        (8, 12, 1)
    );
    assert!((mesh.distance([0.5; 3]) + 0.5).abs() < 1e-6);
    assert!((report.volume - 1.0).abs() < 1e-6);
    assert!(report.warnings()[0].starts_with("3 faces have no area"));
}

#[test]
fn what_cannot_be_a_solid_is_refused_with_its_reason() {
    let refused = |vertices: &[[f64; 3]], triangles: &[[u32; 3]]| {
        let error = TriangleMesh::new(vertices, triangles).expect_err("refused");
        assert!(!error.remedy().is_empty());
        error
    };
    let (vertices, triangles) = cube();
    for (bad, expected) in [
        (f64::NAN, MeshError::NotFinite { vertex: 5 }),
        (f64::INFINITY, MeshError::NotFinite { vertex: 5 }),
        (
            1e30,
            MeshError::TooFar {
                vertex: 5,
                value: 1e30,
            },
        ),
        (
            -1.1e6,
            MeshError::TooFar {
                vertex: 5,
                value: -1.1e6,
            },
        ),
    ] {
        let mut vertices = vertices.clone();
        vertices[5][1] = bad;
        let error = refused(&vertices, &triangles);
        assert_eq!(error, expected);
        assert!(error.to_string().contains("vertex 6"), "{error}");
    }
    let mut beyond = triangles.clone();
    beyond[7][2] = 8;
    let error = refused(&vertices, &beyond);
    assert_eq!(
        error,
        MeshError::NoSuchVertex {
            face: 7,
            index: 8,
            vertices: 8
        }
    );
    assert!(error.to_string().contains("face 8"), "{error}");

    assert_eq!(refused(&[], &[]), MeshError::NoFaces { degenerate: 0 });
    assert_eq!(
        refused(&vertices, &[]),
        MeshError::NoFaces { degenerate: 0 }
    );
    assert_eq!(
        refused(&vertices, &[[1, 1, 2], [0, 7, 0]]),
        MeshError::NoFaces { degenerate: 2 }
    );
    assert_eq!(
        refused(&[[1.0; 3]; 3], &[[0, 1, 2]]),
        MeshError::NoFaces { degenerate: 1 }
    );

    // A sheet, a box without its lid, a tube, and a soup whose faces don't touch.
    let sheet = refused(&vertices, &triangles[..2]);
    assert!(
        matches!(sheet, MeshError::Open { open_edges: 4, .. }),
        "{sheet}"
    );
    assert!(sheet.to_string().contains("4 open edges"), "{sheet}");
    assert!(matches!(
        refused(&vertices, &triangles[2..]),
        MeshError::Open { open_edges: 4, .. }
    ));
    assert!(matches!(
        refused(&vertices, &triangles[4..]),
        MeshError::Open { open_edges: 8, .. }
    ));
    // Both sides of a sheet: closed, and nothing inside.
    let both: Vec<[u32; 3]> = triangles[..2]
        .iter()
        .flat_map(|&[a, b, c]| [[a, b, c], [c, b, a]])
        .collect();
    assert!(matches!(
        refused(&vertices, &both),
        MeshError::NoInside | MeshError::Open { .. }
    ));
}

#[test]
fn edges_that_many_faces_share_are_counted_and_tolerated() {
    // Two cubes that share an edge.
    let (vertices, triangles) = cube();
    let moved = vertices
        .iter()
        .map(|v| [v[0] + 1.0, v[1] + 1.0, v[2]])
        .collect();
    let (mesh, report) = made(&together((vertices, triangles.clone()), (moved, triangles)));
    assert_eq!((report.non_manifold_edges, report.merged_vertices), (1, 2));
    assert!(mesh.distance([0.5; 3]) < 0.0 && mesh.distance([1.5, 1.5, 0.5]) < 0.0);
    assert!(mesh.distance([1.5, 0.5, 0.5]) > 0.0 && mesh.distance([0.5, 1.5, 0.5]) > 0.0);
}

#[test]
fn meshes_need_three_dimensions() {
    let mesh = Arc::new(made(&cube()).0);
    let flat = Shape::<2>::Mesh(mesh.clone()).inverted();
    let error = flat.validate().unwrap_err();
    assert_eq!(error.fault, ShapeFault::NotInSpace);
    assert_eq!(
        error.to_string(),
        "inverted: mesh: meshes need three dimensions"
    );
    let solid = Shape::<3>::Mesh(mesh.clone());
    assert_eq!(solid.validate(), Ok(()));
    assert_eq!(solid.bounds(), Some(mesh.bounds()));
    assert_eq!(solid, solid.clone());
    assert!(format!("{solid:?}").len() < 300, "{solid:?}");
}

#[test]
fn questions_without_sense_get_an_answer() {
    let (mesh, _) = made(&cube());
    assert!(mesh.distance([f64::INFINITY, 0.0, 0.0]) > 0.0);
    assert!(mesh.distance([1e200; 3]) > 0.0);
    let _ = mesh.distance([f64::NAN; 3]);
    for x in [
        [f64::NAN; 3],
        [0.5; 3],
        [0.0; 3],
        [0.5, 0.5, 0.0],
        [1e100; 3],
    ] {
        assert!((length(mesh.gradient(x)) - 1.0).abs() < 1e-12, "{x:?}");
    }
    assert_eq!(mesh.distance([0.25, 0.25, 0.0]), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_triangles_make_the_checks_panic(
        vertices in prop::collection::vec(arbitrary::point::<3>(1.0), 1..12),
        faces in prop::collection::vec((0u32..12, 0u32..12, 0u32..12), 0..40),
        x in arbitrary::point::<3>(2.0), y in arbitrary::point::<3>(2.0),
    ) {
        let faces: Vec<[u32; 3]> = faces.into_iter().map(|(a, b, c)| [a, b, c]).collect();
        if let Ok((mesh, report)) = TriangleMesh::new(&vertices, &faces) {
            prop_assert!(report.volume > 0.0 && report.closed_share <= 0.1);
            let change = (mesh.distance(x) - mesh.distance(y)).abs();
            prop_assert!(change <= length(minus(x, y)) + 1e-12);
        }
    }
}
