//! Distances to meshes.

use super::*;
use meniscus_shapes::{Shape, ShapeFault};
use std::sync::Arc;

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
