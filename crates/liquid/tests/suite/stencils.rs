//! A stencil, its matrix and the way back.

use meniscus_lcp::{Csr, InputError, Operator};

use meniscus_liquid::Coord;
use meniscus_liquid::analytic::{Sphere, Surface};
use meniscus_liquid::stencil::{NO_NEIGHBOUR, Stencil};

fn sphere<const D: usize>(cells: usize) -> Stencil<D> {
    let sphere = Sphere {
        cells,
        surface: Surface::Wave,
        thin: true,
    };
    sphere.stencil_problem().unwrap().stencil
}

fn check<const D: usize>(cells: usize) {
    let stencil = sphere::<D>(cells);
    let matrix = stencil.matrix();
    let regular = (0..stencil.rows()).filter(|&row| stencil.is_regular(row));
    assert!(regular.clone().count() > 0 && regular.count() < stencil.rows());
    // The formulas are evaluated on both sides of a face.
    assert!(matrix.is_symmetric(1e-12));

    // As operators.
    let x: Vec<f64> = (0..stencil.rows())
        .map(|k| (0.7 * k as f64).sin())
        .collect();
    let (mut by_stencil, mut by_matrix) = (x.clone(), x.clone());
    stencil.apply(&x, &mut by_stencil);
    matrix.apply(&x, &mut by_matrix);
    assert!(by_stencil == by_matrix);

    // The way back has the same rows, but for the sides of the air, which a matrix does not tell.
    let again = Stencil::from_matrix(matrix, stencil.cells()).unwrap();
    assert_eq!(again.full_weight(), stencil.full_weight());
    assert!(!again.is(&stencil) && stencil.clone().is(&stencil));
    for row in 0..stencil.rows() {
        let (own, other) = (stencil.row(row), again.row(row));
        assert_eq!(own.neighbours, other.neighbours);
        assert_eq!(own.weight, other.weight);
        assert_eq!(own.diagonal, other.diagonal);
        // Air is where no neighbour is, and adds to the diagonal: nothing that a matrix shows if the face is a sliver.
        let shows_air = own.dirichlet() > 0.0;
        assert_eq!(shows_air, other.air != 0, "row {row}: {own:?}");
        assert!(own.air != 0 || !shows_air, "row {row}: {own:?}");
        let with_air = (0..2 * D).filter(|side| own.air >> side & 1 == 1);
        assert!(with_air.clone().all(|side| !own.is_linked(side)));
    }
    for row in 0..stencil.rows() {
        assert_eq!(again.matrix().row(row), matrix.row(row));
    }
}

#[test]
fn a_stencil_and_its_matrix_are_the_same_and_each_makes_the_other() {
    check::<2>(40);
    check::<3>(20);
}

#[test]
fn an_exported_problem_has_the_air_where_the_assembly_put_it() {
    let sphere = Sphere {
        cells: 24,
        surface: Surface::Wave,
        thin: true,
    };
    let (own, exported) = (
        sphere.stencil_problem::<3>().unwrap(),
        sphere.problem::<3>().unwrap(),
    );
    let again = exported.stencil_problem().unwrap();
    for row in 0..own.len() {
        assert_eq!(again.stencil.row(row), own.stencil.row(row));
    }
    assert!(again.rhs == own.rhs && again.lower == own.lower);
}

#[test]
fn neighbours_are_mutual() {
    let stencil = sphere::<3>(16);
    for row in 0..stencil.rows() {
        for (axis, pair) in stencil.neighbours(row).iter().enumerate() {
            for (side, &near) in pair.iter().enumerate() {
                if near != NO_NEIGHBOUR {
                    let back = stencil.neighbours(near as usize)[axis][1 - side];
                    assert_eq!(back as usize, row);
                }
            }
        }
    }
}

#[test]
fn what_is_no_stencil_is_refused_with_its_row() {
    let chain = |couplings: [f64; 2]| {
        let [a, b] = couplings;
        let entries = vec![
            (0, 0, 2.0),
            (0, 1, a),
            (1, 0, a),
            (1, 1, 2.0),
            (1, 2, b),
            (2, 1, b),
            (2, 2, 2.0),
        ];
        Csr::from_entries(3, entries).unwrap()
    };
    let line: [Coord<2>; 3] = [[0, 0], [1, 0], [2, 0]];
    let refused = |matrix: &Csr, cells: &[Coord<2>]| Stencil::from_matrix(matrix, cells).err();
    assert!(refused(&chain([-1.0, -0.5]), &line).is_none());
    assert!(matches!(
        refused(&chain([-1.0, -0.5]), &line[1..]),
        Some(InputError::Length { what: "cells", .. })
    ));
    assert!(matches!(
        refused(&chain([-1.0, 0.5]), &line),
        Some(InputError::Structure { row: 1, .. })
    ));
    let apart = [[0, 0], [1, 0], [2, 1]];
    assert!(matches!(
        refused(&chain([-1.0, -0.5]), &apart),
        Some(InputError::Structure { row: 1, .. })
    ));
    let shared = [[0, 0], [1, 0], [0, 0]];
    assert!(matches!(
        refused(&chain([-1.0, -0.5]), &shared),
        Some(InputError::Structure { row: 1, .. })
    ));
    let negative = Csr::from_entries(1, vec![(0, 0, -1.0)]).unwrap();
    assert!(matches!(
        refused(&negative, &line[..1]),
        Some(InputError::Diagonal { row: 0, .. })
    ));
}

#[test]
fn rows_without_couplings_have_a_unit() {
    let matrix = Csr::from_entries(2, vec![(0, 0, 3.0), (1, 1, 5.0)]).unwrap();
    let stencil = Stencil::<2>::from_matrix(&matrix, &[[0, 0], [4, 4]]).unwrap();
    assert_eq!(stencil.full_weight(), 5.0);
    assert_eq!(stencil.row(0).diagonal, 3.0);
    let empty = Stencil::<2>::from_matrix(&Csr::default(), &[]).unwrap();
    assert_eq!((empty.rows(), empty.matrix().rows()), (0, 0));
}
