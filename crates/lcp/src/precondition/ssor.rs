//! Symmetric successive over-relaxation, colour by colour.

use super::Preconditioner;
use super::level_schedule::{LevelSchedule, Scratch, Values};
use crate::colouring::Colouring;
use crate::error::{InputError, check_relaxation};
use crate::reduce;
use crate::rows::Rows;

settings! {
    /// The constants of [`Ssor`].
    pub struct SsorSettings {
        /// `omega`, between 0 and 2. With 1 it is symmetric Gauss-Seidel.
        pub relaxation: f64 = 1.0,
    }
}

impl SsorSettings {
    fn check(&self) -> Result<(), InputError> {
        check_relaxation("relaxation", self.relaxation)
    }
}

/// One sweep of SOR forwards and one backwards over a symmetric matrix, the identity on rows with a zero diagonal entry.
///
/// `M = (E + F) inv(E) (E + F') / (2 - omega)` with `E = diag(A) / omega` and `F` the part of `A` below the diagonal in
/// the order of the colours of [`Colouring::welsh_powell`]: rows of a colour are not coupled, and run in parallel. It is
/// positive definite whatever `F` is. Masked, it is that of the active part of the matrix.
///
/// ```
/// use meniscus_lcp::precondition::{Preconditioner, Ssor, SsorSettings};
/// use meniscus_lcp::Csr;
///
/// let matrix = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![2.0, -1.0, -1.0, 2.0])?;
/// let mut ssor = Ssor::new(SsorSettings::default())?;
/// ssor.rebuild(&matrix)?;
/// let mut z = [0.0; 2];
/// ssor.apply(&[0.0, 2.0], &mut z); // forwards to (0, 1), backwards to (1/2, 1)
/// assert_eq!(z, [0.5, 1.0]);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ssor {
    settings: SsorSettings,
    schedule: LevelSchedule,
    values: Values,
    restricted: Values,
    scratch: Scratch,
}

impl Ssor {
    /// A preconditioner without a matrix; call `rebuild` first.
    pub fn new(settings: SsorSettings) -> Result<Self, InputError> {
        settings.check()?;
        Ok(Self {
            settings,
            ..Self::default()
        })
    }

    /// Copies a matrix, which must be symmetric: an entry may be read on either side of the diagonal.
    ///
    /// A negative entry on the diagonal is an error. After an error, rebuild before the next use.
    pub fn rebuild(&mut self, matrix: &(impl Rows + ?Sized)) -> Result<(), InputError> {
        self.schedule = LevelSchedule::of_colours(matrix, &Colouring::welsh_powell(matrix));
        let Values { lower, inverse } = &mut self.values;
        self.schedule.read(matrix, lower, inverse);
        for (place, d) in inverse.iter_mut().enumerate() {
            let inverse = self.settings.relaxation / *d;
            if !d.is_finite() || *d < 0.0 {
                let row = self.schedule.row_at(place);
                return Err(InputError::Diagonal { row, value: *d });
            }
            *d = if inverse.is_finite() { inverse } else { 0.0 };
        }
        self.restricted.clone_from(&self.values);
        Ok(())
    }

    fn solve(&self, values: &Values, r: &[f64], z: &mut [f64]) -> f64 {
        let factor = 2.0 - self.settings.relaxation;
        self.schedule.solve(values, factor, r, z, &self.scratch);
        reduce::dot(r, z)
    }
}

impl Preconditioner for Ssor {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.solve(&self.values, r, z);
    }

    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.solve(&self.values, r, z)
    }

    fn apply_masked_dot(&self, active: &[bool], r: &[f64], z: &mut [f64]) -> f64 {
        assert_eq!(active.len(), z.len(), "the mask has the wrong length");
        self.solve(&self.restricted, r, z)
    }

    fn restrict(&mut self, active: &[bool]) {
        let n = self.schedule.len();
        assert_eq!(active.len(), n, "the mask has the wrong length");
        for (row, &active) in active.iter().enumerate() {
            let place = self.schedule.place(row);
            self.restricted.inverse[place] = if active {
                self.values.inverse[place]
            } else {
                0.0
            };
        }
    }
}
