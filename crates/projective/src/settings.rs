//! Settings of the particle method.

use std::fmt;

use crate::boundary::Boundary;

/// Method that solves the density constraints of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Projective dynamics with the constraints' own normals, solved in the dual by conjugate gradients with an active set.
    #[default]
    Dual,
    /// Projected Jacobi iteration in the dual, as in IISPH and DFSPH.
    Jacobi,
    /// The paper's local and global steps with `D = P = I`.
    Paper,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Dual, Self::Jacobi, Self::Paper];

    /// Name in scene files and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dual => "dual",
            Self::Jacobi => "jacobi",
            Self::Paper => "paper",
        }
    }
}

/// Coordinates of the constraints of [`Method::Paper`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Positions: the global matrix is diagonal.
    #[default]
    Absolute,
    /// Positions relative to the mean of those of the constraint.
    Differential,
}

impl Coordinates {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Absolute, Self::Differential];

    /// Name in scene files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Differential => "differential",
        }
    }
}

/// Settings of a liquid of particles.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings<const D: usize> {
    /// Distance between neighbours at rest, in metres.
    pub spacing: f64,
    /// Density at rest, in kg/m³. Default: 1000.
    pub density: f64,
    /// Acceleration of gravity, in m/s². Default: 9.81 along the last axis, downward.
    pub gravity: [f64; D],
    /// Bulk modulus, in Pa: pressure over relative compression. Default: 1e9.
    pub bulk_modulus: f64,
    /// Method that solves the constraints.
    pub method: Method,
    /// Coordinates of the constraints of [`Method::Paper`].
    pub coordinates: Coordinates,
    /// How solids take part in the density.
    pub boundary: Boundary,
    /// Largest number of rounds of a step. Default: 40; most steps need 2 to 5, an impact on a floor many more.
    pub rounds: usize,
    /// Iterations of conjugate gradients per round. Default: 4.
    pub inner_iterations: usize,
    /// Largest relative excess of density that ends the rounds. Default: 1e-3.
    pub max_error: f64,
    /// Mean relative excess of density that ends the rounds. Default: 1e-4.
    pub mean_error: f64,
    /// Share of the last step's pressures that the rounds begin with. Default: 0.9.
    pub warm_start: f64,
    /// Share of the difference to their neighbours' mean velocity that particles lose in a step (XSPH). Default: 0.02.
    pub xsph: f64,
    /// Share of what changes from particle to particle that velocities lose in a step, to second order. Default: 0.3.
    pub filter: f64,
    /// Largest movement of nearly all particles per step, in spacings. Default: 0.5.
    pub cfl: f64,
    /// Longest step, in seconds. Default: 0.005.
    pub max_step: f64,
}

impl<const D: usize> Settings<D> {
    /// Default settings of particles at a distance of `spacing`.
    pub fn new(spacing: f64) -> Self {
        let mut gravity = [0.0; D];
        gravity[D - 1] = -9.81;
        Self {
            spacing,
            density: 1000.0,
            gravity,
            bulk_modulus: 1e9,
            method: Method::Dual,
            coordinates: Coordinates::Absolute,
            boundary: Boundary::Maps,
            rounds: 40,
            inner_iterations: 4,
            max_error: 1e-3,
            mean_error: 1e-4,
            warm_start: 0.9,
            xsph: 0.02,
            filter: 0.3,
            cfl: 0.5,
            max_step: 5e-3,
        }
    }

    /// Volume of a particle, in m³ (m² in 2D).
    pub fn particle_volume(&self) -> f64 {
        self.spacing.powi(D as i32)
    }

    /// Mass of a particle, in kg (kg per metre of depth in 2D).
    pub fn particle_mass(&self) -> f64 {
        self.density * self.particle_volume()
    }

    /// Checks that all values are in range.
    ///
    /// # Errors
    /// The first value that is not.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let positive = [
            ("spacing", self.spacing),
            ("density", self.density),
            ("bulk_modulus", self.bulk_modulus),
            ("max_error", self.max_error),
            ("mean_error", self.mean_error),
            ("cfl", self.cfl),
            ("max_step", self.max_step),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(SettingsError {
                    name,
                    value,
                    needs: "is positive and finite",
                });
            }
        }
        let shares = [
            ("warm_start", self.warm_start),
            ("xsph", self.xsph),
            ("filter", self.filter),
        ];
        for (name, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return Err(SettingsError {
                    name,
                    value,
                    needs: "is from 0 to 1",
                });
            }
        }
        for value in self.gravity {
            if !value.is_finite() {
                return Err(SettingsError {
                    name: "gravity",
                    value,
                    needs: "is finite",
                });
            }
        }
        for (name, value) in [
            ("rounds", self.rounds),
            ("inner_iterations", self.inner_iterations),
        ] {
            if value == 0 {
                return Err(SettingsError {
                    name,
                    value: 0.0,
                    needs: "is at least 1",
                });
            }
        }
        Ok(())
    }
}

/// A setting out of range.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsError {
    /// Name of the setting.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// What it has to be.
    needs: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, not {}", self.name, self.needs, self.value)
    }
}

impl std::error::Error for SettingsError {}
