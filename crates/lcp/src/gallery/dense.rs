//! Dense symmetric matrices with a known spectrum.

use super::{Instance, Random};
use crate::csr::Csr;
use crate::reduce;

/// `n` rows, eigenvalues `1/n, 2/n, ..., 1` of which the smallest are replaced by zeros until their share is
/// `null_share`, in a random basis; a share of the entries of the solution is zero.
pub fn dense(n: usize, null_share: f64, zeros: f64, random: &mut Random) -> Instance {
    let null = (n as f64 * null_share.clamp(0.0, 1.0)).round() as usize;
    let mut a = vec![0.0; n * n];
    for i in null..n {
        a[i * n + i] = (i + 1) as f64 / n as f64;
    }
    // A product of n random reflections H = I - 2 v v' is an orthogonal basis: A <- H A H.
    let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..n {
        v.fill_with(|| random.between(-1.0, 1.0) + random.between(-1.0, 1.0));
        let norm = reduce::sum_of_squares(&v).sqrt();
        if norm == 0.0 {
            continue;
        }
        for v in &mut v {
            *v /= norm;
        }
        for (w, row) in w.iter_mut().zip(a.chunks_exact(n)) {
            *w = reduce::dot(row, &v);
        }
        // H A H = A - 2 v w' - 2 w v' + 4 (v'w) v v' with w = A v
        let middle = reduce::dot(&v, &w);
        for (i, row) in a.chunks_exact_mut(n).enumerate() {
            for (j, a) in row.iter_mut().enumerate() {
                *a += 4.0 * middle * v[i] * v[j] - 2.0 * (v[i] * w[j] + w[i] * v[j]);
            }
        }
    }
    let row_starts = (0..=n).map(|row| row * n).collect();
    let columns = (0..n).flat_map(|_| 0..n as u32).collect();
    let matrix = Csr::new(n, row_starts, columns, a).expect("a full matrix has its rows in order");
    Instance::with_zeros(matrix, zeros, random)
}
