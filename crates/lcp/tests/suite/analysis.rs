//! Analysis of a problem: symmetry, definiteness, bounds.

use crate::gallery::{Domain, chain, dense, from_rows};
use meniscus_lcp::analysis::{Definiteness, analyse};
use meniscus_lcp::gallery::{Random, contact_cone as cone, dense as dense_instance};
use meniscus_lcp::{BoxMlcp, Csr};

fn definiteness(matrix: &Csr) -> Definiteness {
    let n = matrix.rows();
    let problem = BoxMlcp::new(
        matrix,
        &vec![0.0; n],
        &vec![0.0; n],
        &vec![f64::INFINITY; n],
    )
    .map(|problem| analyse(&problem).definiteness);
    problem.expect("the matrix is a problem")
}

#[test]
fn definiteness_is_that_of_known_matrices() {
    use Definiteness::*;
    let mut random = Random::new(5);
    let spread = |null| dense_instance(40, null, 0.5, &mut Random::new(5)).matrix;
    for (matrix, expected) in [
        (chain(50, 0.0), Positive),
        (chain(50, -0.5), Indefinite),
        (dense([[1.0, -1.0], [-1.0, 1.0]]), Semidefinite),
        (dense([[1.0, 2.0], [-2.0, 1.0]]), Positive),
        (dense([[0.0, 1.0], [1.0, 0.0]]), Indefinite),
        (dense([[0.0, 1.0], [-1.0, 0.0]]), Semidefinite),
        (dense([[-1.0]]), Indefinite),
        (dense([[0.0]]), Semidefinite),
        (from_rows(Vec::new()), Positive),
        (spread(0.0), Positive),
        (spread(0.3), Semidefinite),
        (cone(10, &mut random).matrix, Indefinite),
        (
            Domain::closed([9, 9, 9]).laplacian(&mut random).matrix,
            Semidefinite,
        ),
    ] {
        assert_eq!(definiteness(&matrix), expected, "{matrix:?}");
    }
}

#[test]
fn every_kind_of_row_is_counted() {
    let inf = f64::INFINITY;
    let matrix = chain(6, 0.0);
    let lower = [-inf, 0.0, -inf, 0.0, 1.0, 0.0];
    let upper = [inf, inf, 3.0, 2.0, 1.0, inf];
    let problem = BoxMlcp::new(&matrix, &[0.0; 6], &lower, &upper).unwrap();
    let analysis = analyse(&problem);
    let bounds = analysis.bounds;
    assert_eq!(
        (bounds.free, bounds.lower_only, bounds.upper_only),
        (1, 2, 1)
    );
    assert_eq!((bounds.both, bounds.fixed), (1, 1));
    assert!(analysis.symmetric && analysis.dominant && analysis.no_positive_couplings);
    assert_eq!((analysis.bandwidth, analysis.entries), (1, 16));
    assert_eq!(analysis.magnitudes, [1.0, 2.0]);
}
