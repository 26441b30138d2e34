//! Settings of a simulation of rigid bodies.

use std::fmt;

/// Friction cone in the contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cone {
    /// `|z| <= mu lambda`, isotropic.
    Disc,
    /// `|z_1| <= mu lambda` and `|z_2| <= mu lambda`, one tangent along the sliding direction.
    Pyramid,
}

/// Method for the contact problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Normal problem exact, then Gauss-Seidel sweeps with bounds updated from the normal impulses, alternated.
    Hybrid,
    /// Projected Gauss-Seidel sweeps on all rows.
    Pgs,
    /// Staggered projections: normal and friction problems solved in turn. Friction by pyramid.
    Staggered,
    /// Fischer-Newton on a polyhedral cone with four directions.
    FischerNewton,
    /// Lemke's method on a polyhedral cone with four directions.
    Lemke,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 5] = [
        Self::Hybrid,
        Self::Pgs,
        Self::Staggered,
        Self::FischerNewton,
        Self::Lemke,
    ];

    /// Name in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Pgs => "pgs",
            Self::Staggered => "staggered",
            Self::FischerNewton => "fischer-newton",
            Self::Lemke => "lemke",
        }
    }
}

/// Settings of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings<const D: usize> {
    /// Acceleration of gravity. Default: 9.81 down the last axis.
    pub gravity: [f64; D],
    /// Gap between bodies at rest, in metres. Default: `None`, 0.002 of the smaller body of a pair.
    pub resting_gap: Option<f64>,
    /// Method for the contact problem. Default: hybrid.
    pub method: Method,
    /// Friction cone. Default: disc.
    pub cone: Cone,
    /// Bound on the residual of the contact problem, relative to the largest velocity in its right-hand side.
    /// Default: 1e-9.
    pub tolerance: f64,
    /// Bound on the residual of the contact problem of a large island, relative to the speed that gravity gives in a step.
    /// The larger of the two bounds counts. Default: 0.01.
    pub coarse_tolerance: f64,
    /// Rows from which an island is large: three for each contact, two in two dimensions. Default: 1,000.
    pub coarse_rows: usize,
    /// Limit on rounds of the hybrid method or of staggering. Default: 50.
    pub max_rounds: usize,
    /// Limit on sweeps in one round of the hybrid method, or in all by Gauss-Seidel. Default: 100.
    pub max_sweeps: usize,
    /// Share of an overlap that one step corrects. Gaps that are merely below the one at rest are corrected faster; zero
    /// corrects nothing. Default: 0.2.
    pub position_correction: f64,
    /// Whether the gyroscopic term is integrated by one implicit Euler step, which loses energy, instead of the
    /// midpoint rule, which conserves it. Default: false.
    pub implicit_gyroscopic: bool,
    /// Whether islands at rest fall asleep. Default: false.
    pub sleeping: bool,
}

impl<const D: usize> Default for Settings<D> {
    fn default() -> Self {
        Self {
            gravity: std::array::from_fn(|i| if i == D - 1 { -9.81 } else { 0.0 }),
            resting_gap: None,
            method: Method::Hybrid,
            cone: Cone::Disc,
            tolerance: 1e-9,
            coarse_tolerance: 0.01,
            coarse_rows: 1000,
            max_rounds: 50,
            max_sweeps: 100,
            position_correction: 0.2,
            implicit_gyroscopic: false,
            sleeping: false,
        }
    }
}

macro_rules! setters {
    ($($field:ident: $type:ty,)+) => {
        impl<const D: usize> Settings<D> {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

setters! {
    gravity: [f64; D],
    resting_gap: Option<f64>,
    method: Method,
    cone: Cone,
    tolerance: f64,
    coarse_tolerance: f64,
    coarse_rows: usize,
    max_rounds: usize,
    max_sweeps: usize,
    position_correction: f64,
    implicit_gyroscopic: bool,
    sleeping: bool,
}

/// A setting out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// Name of the setting.
    pub name: &'static str,
    /// Requirement that it does not meet.
    pub must: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be {}", self.name, self.must)
    }
}

impl std::error::Error for SettingsError {}

impl<const D: usize> Settings<D> {
    /// Bound on the residual of an island's problem, in m/s; `scale` is the largest velocity in its right-hand side.
    pub(crate) fn tolerance_of(&self, rows: usize, scale: f64, dt: f64) -> f64 {
        let exact = self.tolerance * scale;
        if rows < self.coarse_rows {
            return exact;
        }
        exact.max(self.coarse_tolerance_of(dt))
    }

    /// Bound on the residual of a large island, in m/s.
    pub(crate) fn coarse_tolerance_of(&self, dt: f64) -> f64 {
        self.coarse_tolerance * crate::linear::norm(self.gravity) * dt
    }

    /// Checks that all values are in range.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let require = |holds: bool, name, must| {
            if holds {
                Ok(())
            } else {
                Err(SettingsError { name, must })
            }
        };
        require(crate::linear::is_finite(self.gravity), "gravity", "finite")?;
        let gap = self.resting_gap.unwrap_or(1.0);
        require(
            gap > 0.0 && gap.is_finite(),
            "resting_gap",
            "positive and finite",
        )?;
        require(
            self.tolerance > 0.0 && self.tolerance < 1.0,
            "tolerance",
            "between 0 and 1",
        )?;
        require(
            (0.0..=1.0).contains(&self.coarse_tolerance),
            "coarse_tolerance",
            "from 0 to 1",
        )?;
        require(self.max_rounds > 0, "max_rounds", "at least 1")?;
        require(self.max_sweeps > 0, "max_sweeps", "at least 1")?;
        require(
            (0.0..=1.0).contains(&self.position_correction),
            "position_correction",
            "from 0 to 1",
        )
    }
}
