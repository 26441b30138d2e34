//! What is mended in meshes, and what is refused.

use super::*;
use crate::arbitrary;
use meniscus_shapes::MeshError;
use proptest::prelude::*;

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
