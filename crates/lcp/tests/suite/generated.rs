//! Properties of the gallery: known solutions, symmetry, spectrum; and colourings.

use crate::gallery;
use meniscus_lcp::gallery::{Random, banded, contact_cone as cone, dense};
use meniscus_lcp::{Colouring, Csr, Operator, Rows};
use proptest::prelude::*;

proptest! {
    #![proptest_config(gallery::cases(32))]

    #[test]
    fn every_generated_problem_is_solved_by_its_known_solution(seed: u64, n in 0_usize..80) {
        for instance in [
            banded(n, 3, 0.5, &mut Random::new(seed)),
            dense(n, 0.3, 0.5, &mut Random::new(seed)),
            cone(n / 4, &mut Random::new(seed)),
        ] {
            prop_assert!(instance.problem().residual_inf(&instance.solution) < 1e-12);
        }
    }

    #[test]
    fn no_colour_holds_two_coupled_rows_and_every_row_has_one(seed: u64) {
        let laplacian = gallery::Domain::cube(6).laplacian(&mut Random::new(seed)).matrix;
        let cone = cone(12, &mut Random::new(seed)).matrix;
        for matrix in [laplacian, cone] {
            let colouring = Colouring::welsh_powell(&matrix);
            let mut colour_of = vec![None; matrix.rows()];
            for (colour, rows) in colouring.colours().enumerate() {
                for &row in rows {
                    prop_assert_eq!(colour_of[row as usize].replace(colour), None);
                }
            }
            prop_assert!(colour_of.iter().all(Option::is_some));
            for row in 0..matrix.rows() {
                for &column in matrix.row(row).0 {
                    let other = column as usize;
                    prop_assert!(other == row || colour_of[row] != colour_of[other]);
                }
            }
        }
    }

    #[test]
    fn a_transposed_product_is_that_of_the_transposed_matrix(seed: u64) {
        let matrix = cone(5, &mut Random::new(seed)).matrix;
        let full = matrix.to_dense();
        let mut random = Random::new(seed ^ 1);
        let x: Vec<f64> = (0..matrix.rows()).map(|_| random.between(-1.0, 1.0)).collect();
        let (mut sparse, mut of_dense) = (x.clone(), x.clone());
        matrix.apply_transposed(&x, &mut sparse);
        full.apply_transposed(&x, &mut of_dense);
        for row in 0..x.len() {
            let expected: f64 = (0..x.len()).map(|i| matrix.get(i, row) * x[i]).sum();
            prop_assert!((sparse[row] - expected).abs() < 1e-12);
            prop_assert!((of_dense[row] - expected).abs() < 1e-12);
        }
    }
}

/// `x'Ax / x'x` at its largest and smallest over a few hundred steps of the power method.
fn extreme_eigenvalues(matrix: &Csr) -> (f64, f64) {
    let n = matrix.rows();
    let power = |shift: f64| {
        let mut random = Random::new(3);
        let mut x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        let mut y = vec![0.0; n];
        let mut quotient = 0.0;
        for _ in 0..4000 {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter_mut().for_each(|x| *x /= norm);
            matrix.apply(&x, &mut y);
            quotient = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            y.iter_mut().zip(&x).for_each(|(y, x)| *y -= shift * x);
            std::mem::swap(&mut x, &mut y);
        }
        quotient
    };
    let largest = power(0.0);
    (power(largest), largest)
}

#[test]
fn banded_matrices_have_a_smallest_eigenvalue_of_a_half_when_they_are_large() {
    let (smallest, _) = extreme_eigenvalues(&banded(400, 3, 0.5, &mut Random::new(7)).matrix);
    assert!((0.5..0.51).contains(&smallest), "{smallest}");
}

#[test]
fn dense_matrices_have_the_spectrum_that_was_asked_for() {
    for (null_share, expected) in [(0.0, 1.0 / 60.0), (0.5, 0.0)] {
        let matrix = dense(60, null_share, 0.5, &mut Random::new(7)).matrix;
        assert!(matrix.is_symmetric(1e-14));
        let (smallest, largest) = extreme_eigenvalues(&matrix);
        assert!((smallest - expected).abs() < 2e-3, "{smallest}");
        assert!((largest - 1.0).abs() < 1e-3, "{largest}");
    }
}

#[test]
fn a_cone_matrix_is_not_symmetric_and_has_zeros_on_its_diagonal() {
    let matrix = cone(30, &mut Random::new(7)).matrix;
    let mut diagonal = vec![0.0; matrix.rows()];
    matrix.diagonal(&mut diagonal);
    assert!(!matrix.is_symmetric(1e-3));
    assert_eq!(diagonal.iter().filter(|&&d| d == 0.0).count(), 30);
    assert!(diagonal.iter().all(|&d| d >= 0.0));
}

#[test]
fn the_same_seed_gives_the_same_problem() {
    for (a, b) in [(1, 1), (1, 2)] {
        let make = |seed| cone(10, &mut Random::new(seed));
        assert_eq!(make(a) == make(b), a == b);
    }
}

#[test]
fn entries_at_one_place_are_added_up() {
    let matrix = Csr::from_entries(2, vec![(1, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)]).unwrap();
    assert_eq!(matrix.to_dense().row(1), [4.0, 0.0]);
    assert!(Csr::from_entries(1, vec![(1, 0, 1.0)]).is_err());
    assert!(Csr::from_entries(1, vec![(0, 1, 1.0)]).is_err());
}
