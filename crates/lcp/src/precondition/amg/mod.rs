//! Algebraic multigrid by aggregation.

mod aggregate;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use self::aggregate::{aggregates, divisors, nearly_null, transfer};
use super::Preconditioner;
use crate::csr::Csr;
use crate::error::{InputError, check_fraction};
use crate::factor::Lu;
use crate::hierarchy::Transfer;
use crate::reduce;
use crate::split::for_each;

settings! {
    /// The constants of [`Amg`].
    pub struct AmgSettings {
        /// Part of the geometric mean of two diagonal entries that a strong coupling between their rows exceeds.
        pub strength: f64 = 0.08,
        /// Whether the transfers are smoothed: coarse matrices approximate better and have more entries.
        pub smoothed: bool = true,
        /// Number of rows up to which a matrix is factorised.
        pub coarsest: usize = 100,
        /// Jacobi sweeps before and after a coarse correction.
        pub sweeps: usize = 2,
        /// Corrections by the next coarser level: 1 for a V-cycle, 2 for a W-cycle. Where rows are left out it is a V-cycle.
        pub corrections: usize = 1,
    }
}

impl AmgSettings {
    fn check(&self) -> Result<(), InputError> {
        check_fraction("strength", self.strength)?;
        crate::error::check_at_least_1("sweeps", self.sweeps)?;
        crate::error::check_at_least_1("corrections", self.corrections)
    }
}

/// Levels at most, and the part of a level's rows that the next one may have.
const LEVELS: usize = 30;
const COARSENED: f64 = 0.8;
/// A coarsest matrix with more than so many times the rows that it should have is not factorised.
const FACTORISED: usize = 5;
/// Part that is added to the diagonal of the coarsest matrix, which may be singular.
const SHIFT: f64 = 1e-10;

/// A level and the transfer to it from the next coarser one.
#[derive(Clone, Debug)]
struct Level {
    /// The matrix; none on the finest level, which is the caller's.
    matrix: Option<Csr>,
    divisors: Vec<f64>,
    transfer: Transfer,
    /// What is added to the diagonal of the matrix.
    shift: Vec<f64>,
    /// Rows of the masked applications.
    active: Vec<bool>,
    /// Rows of the next coarser level that an active one is joined to.
    coarse_active: Vec<bool>,
}

/// Vectors of a level.
#[derive(Clone, Debug, Default)]
struct Vectors {
    r: Vec<f64>,
    coarse_r: Vec<f64>,
    coarse_z: Vec<f64>,
}

/// A multigrid cycle over a hierarchy of aggregates, for symmetric positive semidefinite matrices with couplings between
/// neighbours, without a grid. [Vanek, Mandel and Brezina 1996]
///
/// The hierarchy is made once. Masked, the cycle is filtered: on every level it sweeps over the rows that are joined to an active
/// one, and the others stay at zero, which keeps it symmetric and positive definite. [Takahashi and Batty 2023]
///
/// ```
/// use meniscus_lcp::precondition::{Amg, AmgSettings, Preconditioner};
/// use meniscus_lcp::Csr;
///
/// // Small enough to be factorised.
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let amg = Amg::new(&matrix, AmgSettings::default())?;
/// let mut z = [0.0; 2];
/// amg.apply(&[0.0, 3.0], &mut z);
/// assert!((z[0] - 1.0).abs() < 1e-9 && (z[1] - 2.0).abs() < 1e-9);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Debug)]
pub struct Amg<'a> {
    settings: AmgSettings,
    matrix: Cow<'a, Csr>,
    levels: Vec<Level>,
    coarsest: Coarsest,
    /// Whether some rows are not active.
    filtered: bool,
    scratch: Mutex<Vec<Vectors>>,
}

/// The coarsest matrix and its factors.
#[derive(Clone, Debug, Default)]
struct Coarsest {
    /// None if the finest level is the coarsest.
    matrix: Option<Csr>,
    shift: Vec<f64>,
    lu: Lu,
    /// For a Jacobi sweep if there are too many rows to factorise: where nothing is strongly coupled.
    divisors: Option<Vec<f64>>,
}

impl Coarsest {
    fn prepare(&mut self, finest: &Csr, most: usize) {
        let matrix = self.matrix.as_ref().unwrap_or(finest);
        let n = matrix.rows();
        let shift = &self.shift;
        if n > most {
            let each = divisors(matrix).into_iter().zip(shift);
            self.divisors = Some(each.map(|(divisor, shift)| divisor + shift).collect());
            return;
        }
        let largest = (0..n).fold(0.0_f64, |l, i| l.max(matrix.get(i, i).abs() + shift[i]));
        self.lu.factorise(n, |row, out| {
            out.fill(0.0);
            let (columns, values) = matrix.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                out[column as usize] += value;
            }
            out[row] += shift[row] + SHIFT * if largest > 0.0 { largest } else { 1.0 };
        });
    }

    fn solve(&self, z: &mut [f64]) {
        match &self.divisors {
            Some(divisors) => (z.iter_mut().zip(divisors)).for_each(|(z, divisor)| *z /= divisor),
            None => self.lu.solve(z),
        }
    }
}

impl<'a> Amg<'a> {
    /// The preconditioner of a matrix. An error if an entry of its diagonal is negative.
    pub fn new(matrix: &'a Csr, settings: AmgSettings) -> Result<Self, InputError> {
        Self::of(Cow::Borrowed(matrix), settings)
    }

    pub(crate) fn of(matrix: Cow<'a, Csr>, settings: AmgSettings) -> Result<Self, InputError> {
        settings.check()?;
        let negative = (0..matrix.rows()).find(|&row| matrix.get(row, row) < 0.0);
        if let Some(row) = negative {
            let value = matrix.get(row, row);
            return Err(InputError::Diagonal { row, value });
        }
        let mut amg = Self {
            settings,
            matrix,
            levels: Vec::new(),
            coarsest: Coarsest::default(),
            filtered: false,
            scratch: Mutex::default(),
        };
        amg.build()?;
        Ok(amg)
    }

    fn build(&mut self) -> Result<(), InputError> {
        let AmgSettings {
            smoothed, coarsest, ..
        } = self.settings;
        let mut own: Option<Csr> = None;
        let mut null = vec![1.0; self.matrix.rows()];
        let mut strength = self.settings.strength;
        loop {
            let matrix = own.as_ref().unwrap_or(&self.matrix);
            let n = matrix.rows();
            if n <= coarsest || self.levels.len() >= LEVELS {
                break;
            }
            let divisors = divisors(matrix);
            if self.levels.is_empty() {
                null = nearly_null(matrix, &divisors, null);
            }
            let (of, count) = aggregates(matrix, strength);
            if count == 0 || count as f64 > COARSENED * n as f64 {
                break;
            }
            let (transfer, lengths) =
                transfer(matrix, (&of, count), &null, smoothed.then_some(strength))?;
            let coarse = transfer.galerkin(matrix)?;
            self.levels.push(Level {
                matrix: own.replace(coarse),
                divisors,
                transfer,
                shift: vec![0.0; n],
                active: vec![true; n],
                coarse_active: vec![true; count],
            });
            null = lengths;
            strength *= 0.5;
        }
        let rows = own.as_ref().map_or(self.matrix.rows(), Csr::rows);
        self.coarsest.shift = vec![0.0; rows];
        self.coarsest.matrix = own;
        self.coarsest.prepare(&self.matrix, FACTORISED * coarsest);
        let empty = vec![Vectors::default(); self.levels.len()];
        *self.scratch.lock().unwrap_or_else(PoisonError::into_inner) = empty;
        Ok(())
    }

    /// Numbers of rows of all levels, finest first.
    pub fn sizes(&self) -> Vec<usize> {
        let finer = self.levels.iter().map(|level| level.transfer.fine());
        finer.chain([self.coarsest.shift.len()]).collect()
    }

    /// The matrix.
    pub(crate) fn finest(&self) -> &Csr {
        &self.matrix
    }

    /// The matrix of a level.
    fn matrix_of(&self, level: usize) -> &Csr {
        self.levels[level].matrix.as_ref().unwrap_or(&self.matrix)
    }

    /// Becomes the preconditioner of `A + diag(shift)`, shifts not negative. The hierarchy stays, and the shifts of coarse matrices are those
    /// of aggregates, exactly if the transfers are not smoothed.
    pub(crate) fn set_shift(&mut self, shift: &[f64]) {
        let mut shift = shift.to_vec();
        for level in 0..self.levels.len() {
            let mut divisors = divisors(self.matrix_of(level));
            let own = &mut self.levels[level];
            let mut coarse = vec![0.0; own.transfer.coarse()];
            for (row, shift) in shift.iter().enumerate() {
                divisors[row] += shift;
                let (columns, weights) = own.transfer.weights(row);
                for (&column, weight) in columns.iter().zip(weights) {
                    coarse[column as usize] += weight * weight * shift;
                }
            }
            own.divisors = divisors;
            own.shift = std::mem::replace(&mut shift, coarse);
        }
        self.coarsest.shift = shift;
        let most = FACTORISED * self.settings.coarsest;
        self.coarsest.prepare(&self.matrix, most);
    }

    /// `r -= (A + shift) z` on a level.
    fn subtract(&self, level: usize, z: &[f64], r: &mut [f64]) {
        let matrix = self.matrix_of(level);
        let shift = &self.levels[level].shift;
        for_each(r, &|first, r: &mut [f64]| {
            for (i, r) in r.iter_mut().enumerate() {
                let row = first + i;
                let (columns, values) = matrix.row(row);
                let terms = columns.iter().zip(values);
                let y = terms.fold(shift[row] * z[row], |y, (&j, value)| {
                    y + value * z[j as usize]
                });
                *r -= y;
            }
        });
    }

    /// One cycle on a level, `z = P r`.
    fn cycle(&self, level: usize, masked: bool, r: &[f64], z: &mut [f64], scratch: &mut [Vectors]) {
        let Some(own) = self.levels.get(level) else {
            z.copy_from_slice(r);
            self.coarsest.solve(z);
            return;
        };
        let (mine, coarser) = scratch.split_at_mut(1);
        let vectors = &mut mine[0];
        vectors.r.resize(r.len(), 0.0);
        vectors.coarse_r.resize(own.transfer.coarse(), 0.0);
        vectors.coarse_z.resize(own.transfer.coarse(), 0.0);
        z.fill(0.0);
        let active = masked.then_some(&own.active[..]);
        vectors.r.copy_from_slice(r);
        for sweep in 0..self.settings.sweeps {
            if sweep > 0 {
                self.residual(level, r, z, &mut vectors.r);
            }
            relax(z, &vectors.r, &own.divisors, active);
        }
        // Of a coarse matrix that is not the product of the rows that are left, a second correction may overshoot.
        let corrections = match masked && self.filtered {
            true => 1,
            false => self.settings.corrections,
        };
        for _ in 0..corrections {
            self.residual(level, r, z, &mut vectors.r);
            if let Some(active) = active {
                keep(&mut vectors.r, active);
            }
            own.transfer.restrict(&vectors.r, &mut vectors.coarse_r);
            if masked {
                keep(&mut vectors.coarse_r, &own.coarse_active);
            }
            self.cycle(
                level + 1,
                masked,
                &vectors.coarse_r,
                &mut vectors.coarse_z,
                coarser,
            );
            if masked {
                keep(&mut vectors.coarse_z, &own.coarse_active);
            }
            own.transfer.prolongate(&vectors.coarse_z, &mut vectors.r);
            if let Some(active) = active {
                keep(&mut vectors.r, active);
            }
            crate::reduced_system::add(z, 1.0, &vectors.r);
        }
        for _ in 0..self.settings.sweeps {
            self.residual(level, r, z, &mut vectors.r);
            relax(z, &vectors.r, &own.divisors, active);
        }
    }

    fn residual(&self, level: usize, r: &[f64], z: &[f64], out: &mut [f64]) {
        out.copy_from_slice(r);
        self.subtract(level, z, out);
    }

    fn apply_with(&self, masked: bool, r: &[f64], z: &mut [f64]) {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        self.cycle(0, masked, r, z, &mut scratch);
    }
}

/// `z += r / d` on the active rows.
fn relax(z: &mut [f64], r: &[f64], divisors: &[f64], active: Option<&[bool]>) {
    match active {
        None => for_each((z, r, divisors), &|_, (z, r, d)| {
            for i in 0..z.len() {
                z[i] += r[i] / d[i];
            }
        }),
        Some(active) => for_each((z, r, divisors, active), &|_, (z, r, d, active)| {
            for i in 0..z.len() {
                if active[i] {
                    z[i] += r[i] / d[i];
                }
            }
        }),
    }
}

/// Zero on the rows that are not active.
fn keep(vector: &mut [f64], active: &[bool]) {
    for (value, &active) in vector.iter_mut().zip(active) {
        if !active {
            *value = 0.0;
        }
    }
}

impl Preconditioner for Amg<'_> {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.apply_with(false, r, z);
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        if self.levels.is_empty() {
            // Nothing is known of a part of a matrix that is factorised as a whole but this.
            self.apply_to_part(active, r, z);
        } else {
            let mut own = r.to_vec();
            keep(&mut own, active);
            self.apply_with(true, &own, z);
        }
        for ((z, &r), &active) in z.iter_mut().zip(r).zip(active) {
            if !active {
                *z = r;
            }
        }
        reduce::dot(r, z)
    }

    fn restrict(&mut self, active: &[bool]) {
        self.filtered = active.contains(&false);
        let mut active = active.to_vec();
        for level in &mut self.levels {
            level.transfer.joined(&active, &mut level.coarse_active);
            level.active = std::mem::replace(&mut active, level.coarse_active.clone());
        }
    }
}

impl Amg<'_> {
    fn apply_to_part(&self, active: &[bool], r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
        keep(z, active);
        self.coarsest.solve(z);
    }
}
