//! Definiteness of a matrix.

use crate::csr::Csr;
use crate::dense::Dense;
use crate::sparse_factor::least_pivot;

/// Number of rows up to which every entry of the symmetric part is stored and factorised, which decides.
const FACTORISED: usize = 400;
/// Number of rows above which that is done only where a sparse factorisation does not decide.
const FEW: usize = 60;
/// The same for a sparse factorisation.
const SPARSELY_FACTORISED: usize = 100_000;
/// Multiplications of a sparse factorisation at most.
const MOST_WORK: f64 = 3e9;
/// A pivot no larger than this part of the largest diagonal entry is what rounding leaves of zero.
const ZERO_PIVOT: f64 = 1e-11;

/// Definiteness of a matrix, which is that of its symmetric part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Definiteness {
    /// Positive for all `x` but zero.
    Positive,
    /// Never negative, and zero for some `x`, up to rounding; a large matrix with couplings of both signs may have none.
    Semidefinite,
    /// Negative for some `x`.
    Indefinite,
    /// Unknown: the matrix is too large, or rounding hides it.
    Unknown,
}

impl Definiteness {
    /// Whether `x'Ax` is known to be never negative.
    pub fn is_semidefinite(self) -> bool {
        matches!(self, Self::Positive | Self::Semidefinite)
    }
}

impl std::fmt::Display for Definiteness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Positive => "positive definite",
            Self::Semidefinite => "positive semidefinite",
            Self::Indefinite => "indefinite",
            Self::Unknown => "not known",
        })
    }
}

/// Of the symmetric part of a matrix.
pub(super) fn of(matrix: &Csr, symmetric: bool) -> Definiteness {
    match of_rows(matrix) {
        Some(told @ (Definiteness::Positive | Definiteness::Indefinite)) => told,
        _ if matrix.rows() <= FEW => by_factorisation(matrix),
        Some(told) if matrix.rows() > FACTORISED => told,
        // Methods for symmetric matrices do without.
        _ if symmetric && matrix.rows() > FACTORISED => Definiteness::Unknown,
        _ if matrix.rows() > SPARSELY_FACTORISED => Definiteness::Unknown,
        _ => match by_sparse_factorisation(matrix, symmetric) {
            Definiteness::Unknown if matrix.rows() <= FACTORISED => by_factorisation(matrix),
            told => told,
        },
    }
}

/// By a sparse factorisation of the symmetric part, slightly shifted.
fn by_sparse_factorisation(matrix: &Csr, symmetric: bool) -> Definiteness {
    if symmetric && (0..matrix.rows()).all(|row| matrix.row(row).1.iter().all(|v| *v != 0.0)) {
        return told_by(least_pivot(matrix, MOST_WORK));
    }
    let n = matrix.rows();
    let mut entries = Vec::with_capacity(2 * matrix.nonzeros());
    for row in 0..n {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            entries.push((row as u32, column, 0.5 * value));
            entries.push((column, row as u32, 0.5 * value));
        }
    }
    let Ok(part) = Csr::from_entries(n, entries) else {
        return Definiteness::Unknown;
    };
    // Halves of a skew pair cancel: they are no couplings.
    let kept = (0..n).flat_map(|row| {
        let (columns, values) = part.row(row);
        let places = columns.iter().zip(values);
        places.map(move |(&column, &value)| (row as u32, column, value))
    });
    let kept = kept.filter(|entry| entry.2 != 0.0).collect();
    let Ok(part) = Csr::from_entries(n, kept) else {
        return Definiteness::Unknown;
    };
    told_by(least_pivot(&part, MOST_WORK))
}

/// What the least pivot of a factorisation with a shift says.
fn told_by(least: Option<(f64, f64)>) -> Definiteness {
    match least {
        Some((pivot, shift)) if pivot > 100.0 * shift => Definiteness::Positive,
        Some((pivot, shift)) if pivot > 0.5 * shift => Definiteness::Semidefinite,
        Some((pivot, shift)) if pivot < -shift => Definiteness::Indefinite,
        _ => Definiteness::Unknown,
    }
}

/// Definiteness that follows from diagonal and row sums: a negative 1 by 1 or 2 by 2 block, or dominance.
pub(super) fn of_rows(matrix: &Csr) -> Option<Definiteness> {
    let n = matrix.rows();
    let diagonal: Vec<f64> = (0..n).map(|row| matrix.get(row, row)).collect();
    let mut strict = vec![false; n];
    let mut dominant = true;
    let mut coupled = Sets::new(n);
    // Sums over the symmetric part: half of every entry counts for its row, half for its column.
    let mut others = vec![0.0; n];
    for row in 0..n {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            let column = column as usize;
            if column == row || value == 0.0 {
                continue;
            }
            let mirrored = matrix.get(column, row);
            let half = 0.5 * (value + mirrored);
            // Once from each side; an entry whose mirror is not stored has only one.
            let sides = if mirrored == 0.0 { 1.0 } else { 0.5 };
            others[row] += sides * half.abs();
            others[column] += sides * half.abs();
            if half != 0.0 {
                coupled.join(row, column);
                let product = diagonal[row] * diagonal[column];
                if half * half > product * (1.0 + 1e-9) {
                    return Some(Definiteness::Indefinite);
                }
            }
        }
    }
    for row in 0..n {
        let diagonal = diagonal[row];
        if diagonal < 0.0 {
            return Some(Definiteness::Indefinite);
        }
        // Row sums that are zero are so up to rounding only.
        dominant &= diagonal >= others[row] * (1.0 - 1e-12);
        strict[row] = diagonal > others[row] * (1.0 + 1e-12);
    }
    if !dominant {
        return None;
    }
    // A dominant matrix is definite if every set of coupled rows has one that is strictly so.
    let mut held = vec![false; n];
    for row in 0..n {
        if strict[row] {
            held[coupled.of(row)] = true;
        }
    }
    let definite = (0..n).all(|row| held[coupled.of(row)]);
    Some(if definite {
        Definiteness::Positive
    } else {
        Definiteness::Semidefinite
    })
}

/// By elimination of the symmetric part, largest pivot first.
fn by_factorisation(matrix: &Csr) -> Definiteness {
    let n = matrix.rows();
    let mut s = Dense::from_fn(n, |i, j| 0.5 * matrix.get(i, j) + 0.5 * matrix.get(j, i));
    let largest = (0..n).fold(0.0, |l: f64, i| l.max(s.get(i, i)));
    let mut left: Vec<usize> = (0..n).collect();
    while !left.is_empty() {
        let at = (0..left.len())
            .max_by(|&a, &b| s.get(left[a], left[a]).total_cmp(&s.get(left[b], left[b])))
            .unwrap_or(0);
        let pivot = s.get(left[at], left[at]);
        if pivot <= ZERO_PIVOT * largest {
            // What is left has no positive diagonal: it must be zero altogether.
            let zero = |i: usize| {
                left.iter()
                    .all(|&j| s.get(i, j).abs() <= 10.0 * ZERO_PIVOT * largest)
            };
            return if left.iter().all(|&i| zero(i)) {
                Definiteness::Semidefinite
            } else {
                Definiteness::Indefinite
            };
        }
        let chosen = left.swap_remove(at);
        for &i in &left {
            let factor = s.get(i, chosen) / pivot;
            for &j in &left {
                let value = s.get(i, j) - factor * s.get(chosen, j);
                if !value.is_finite() {
                    return Definiteness::Unknown;
                }
                s.set(i, j, value);
            }
        }
    }
    Definiteness::Positive
}

/// Sets of rows that are coupled, directly or by way of others.
struct Sets(Vec<usize>);

impl Sets {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn of(&mut self, mut row: usize) -> usize {
        while self.0[row] != row {
            self.0[row] = self.0[self.0[row]];
            row = self.0[row];
        }
        row
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b)] = a.min(b);
    }
}
