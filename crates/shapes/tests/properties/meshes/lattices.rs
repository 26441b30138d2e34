//! Distances to meshes at the points of a lattice.

use super::*;
use meniscus_shapes::PointLattice;
use proptest::prelude::*;

/// Compares the distances on a lattice with those by brute force at some of its points, and all with those of points
/// alone.
fn is_exact(mesh: &TriangleMesh, lattice: &PointLattice, every: usize) {
    let [width, depth, layers] = lattice.size;
    let distances = mesh.distances(lattice).all();
    assert_eq!(distances.len(), width * depth * layers);
    for (k, &distance) in distances.iter().enumerate() {
        let x = lattice.point([k % width, k / width % depth, k / (width * depth)]);
        let alone = mesh.distance(x);
        assert!((distance - alone).abs() < 1e-12, "{distance} {alone} {x:?}");
        if k % every == 0 {
            let brute = distance_by_brute_force(mesh, x);
            assert!((distance - brute).abs() < 1e-12, "{distance} {brute} {x:?}");
        }
    }
}

/// A lattice around the unit cube and somewhat more.
fn around(size: [usize; 3]) -> PointLattice {
    PointLattice {
        first: [-1.31, -1.23, -1.17],
        spacing: size.map(|n| 2.5 / n as f64),
        size,
    }
}

/// Without some of its triangles: open.
fn torn(soup: Soup, from: usize, count: usize) -> Soup {
    let (vertices, mut triangles) = soup;
    triangles.drain(from..from + count);
    (vertices, triangles)
}

/// Wedges to a point and slivers: a cube with sides so unequal that triangles are a thousand times longer than wide.
fn needle(thin: f64) -> Soup {
    let (vertices, triangles) = cube();
    let turned = |[x, y, z]: [f64; 3]| {
        let [x, y, z] = [thin * x, y, 0.3 * thin * z];
        [
            0.8 * x - 0.6 * y,
            0.48 * x + 0.64 * y - 0.6 * z,
            0.36 * x + 0.48 * y + 0.8 * z,
        ]
    };
    (vertices.into_iter().map(turned).collect(), triangles)
}

#[test]
fn distances_on_lattices_are_those_of_brute_force() {
    let crossing = together(icosphere([0.2; 3], 0.5, 3), icosphere([-0.2; 3], 0.5, 3));
    let hollow = inside_out(icosphere([-0.25; 3], 0.1, 2));
    for soup in [
        cube(),
        bumpy(4, 0.1),
        together(crossing, hollow),
        torn(bumpy(3, 0.1), 100, 9),
        needle(1e-2),
        needle(1e-4),
        together(needle(1e-3), bumpy(2, 0.05)),
    ] {
        let (mesh, _) = made(&soup);
        is_exact(&mesh, &around([24, 21, 35]), 29);
    }
}

#[test]
fn points_on_the_surface_and_mirrored_across_it_have_their_sides() {
    // Faces, sides and corners of the cube are points of the lattice, its middle is one that all faces are nearest to.
    let (mesh, _) = made(&cube());
    for (first, spacing, size) in [(-0.5, 0.25, 9), (-0.375, 0.25, 8), (0.5, 0.5, 2)] {
        let lattice = PointLattice {
            first: [first; 3],
            spacing: [spacing; 3],
            size: [size; 3],
        };
        is_exact(&mesh, &lattice, 1);
        for (k, distance) in mesh.distances(&lattice).all().into_iter().enumerate() {
            let x = lattice.point([k % size, k / size % size, k / (size * size)]);
            let is_inside = x.iter().all(|&c| c > 0.0 && c < 1.0);
            assert_eq!(distance < 0.0, is_inside, "{distance} {x:?}");
        }
    }
}

#[test]
fn slabs_one_after_the_other_are_the_lattice() {
    let (mesh, _) = made(&bumpy(3, 0.1));
    for layers in [0, 1, 15, 16, 17, 40] {
        let distances = mesh.distances(&around([5, 3, layers]));
        let all = distances.all();
        assert_eq!(all.len(), 15 * layers);
        // From the last to the first, so that none can depend on what was asked before.
        let mut backward: Vec<Vec<f64>> = (0..distances.slabs())
            .rev()
            .map(|number| distances.slab(number))
            .collect();
        backward.reverse();
        assert_eq!(backward.concat(), all);
        assert_eq!(distances.slab(distances.slabs()), []);
        assert_eq!(distances.slab(usize::MAX), []);
    }
}

#[test]
fn lattices_without_sense_get_an_answer() {
    let (mesh, _) = made(&cube());
    for value in [0.0, -0.3, 1e200, f64::INFINITY, f64::NAN] {
        let lattice = PointLattice {
            first: [0.3; 3],
            spacing: [value, 0.1, 0.1],
            size: [3; 3],
        };
        let distances = mesh.distances(&lattice).all();
        assert_eq!(distances.len(), 27);
        if value.is_finite() {
            assert!(
                (distances[0] + 0.3).abs() < 1e-12,
                "{value}: {}",
                distances[0]
            );
        }
    }
    is_exact(
        &mesh,
        &PointLattice {
            first: [1.4, 0.6, -0.3],
            spacing: [-0.11, 0.0, 0.07],
            size: [20, 3, 18],
        },
        1,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn lattices_anywhere_around_random_meshes_are_exact(
        corners in prop::collection::vec(prop::array::uniform3(-0.7..0.7), 9..30),
        faces in prop::collection::vec(prop::array::uniform3(0_u32..9), 4..40),
        first in prop::array::uniform3(-1.5..0.5),
        spacing in prop::array::uniform3(0.01..0.3),
        far in prop_oneof![Just(0.0), Just(1e3)],
    ) {
        // Triangles all through each other, with a ball that gives them an inside.
        let ball = icosphere([0.1; 3], 0.6, 2);
        let soup = together(ball, (corners, faces));
        let soup: Soup = (soup.0.iter().map(|v| v.map(|c| c + far)).collect(), soup.1);
        if let Ok((mesh, _)) = TriangleMesh::new(&soup.0, &soup.1) {
            let lattice = PointLattice {
                first: first.map(|c| c + far),
                spacing,
                size: [9, 6, 7],
            };
            let [width, depth, _] = lattice.size;
            for (k, distance) in mesh.distances(&lattice).all().into_iter().enumerate() {
                let x = lattice.point([k % width, k / width % depth, k / (width * depth)]);
                let brute = distance_by_brute_force(&mesh, x);
                let rounding = 1e-12 * (1.0 + far);
                prop_assert!((distance.abs() - brute.abs()).abs() < rounding, "{} {}", distance, brute);
                prop_assert_eq!(distance, distance.abs().copysign(mesh.distance(x)));
            }
        }
    }
}
