//! Mass, centre of mass and inertia.

use std::fmt;

use meniscus_shapes::{Moments, MomentsError, Shape};

use crate::linear::{Matrix3, apply3, cross3, eigen3, is_finite, lift};

/// Share of the largest principal moment by which the triangle inequality may be missed through rounding.
const ROUNDING: f64 = 1e-9;

/// Mass properties of a body in the frame of its shape.
///
/// In two dimensions mass is per metre of depth, and of the inertia only the last entry counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass<const D: usize> {
    /// Mass in kg.
    pub mass: f64,
    /// Centre of mass.
    pub center: [f64; D],
    /// Inertia about the centre of mass, in kg m2.
    pub inertia: Matrix3,
}

impl<const D: usize> Mass<D> {
    /// Mass properties of a solid of uniform density.
    pub fn of_density(shape: &Shape<D>, density: f64) -> Result<Self, MassError> {
        Self::of_density_and_moments(density, shape.moments())
    }

    /// Mass properties of a solid of uniform density with these moments.
    pub fn of_density_and_moments(
        density: f64,
        moments: Result<Moments<D>, MomentsError>,
    ) -> Result<Self, MassError> {
        if !(density > 0.0 && density.is_finite()) {
            return Err(MassError::Density(density));
        }
        Self::of_moments(&moments.map_err(MassError::Moments)?.scaled(density)).validated()
    }

    /// Mass properties of a solid of uniform density and the given mass.
    pub fn of_mass(shape: &Shape<D>, mass: f64) -> Result<Self, MassError> {
        Self::of_mass_and_moments(mass, shape.moments())
    }

    /// Mass properties of a solid of uniform density and the given mass with these moments.
    pub fn of_mass_and_moments(
        mass: f64,
        moments: Result<Moments<D>, MomentsError>,
    ) -> Result<Self, MassError> {
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(MassError::Mass(mass));
        }
        let moments = moments.map_err(MassError::Moments)?;
        Self::of_moments(&moments.scaled(mass / moments.volume)).validated()
    }

    fn of_moments(moments: &Moments<D>) -> Self {
        let trace: f64 = (0..D).map(|i| moments.second[i][i]).sum();
        let second = |i: usize, j: usize| {
            if i < D && j < D {
                moments.second[i][j]
            } else {
                0.0
            }
        };
        Self {
            mass: moments.volume,
            center: moments.centroid,
            inertia: std::array::from_fn(|i| {
                std::array::from_fn(|j| if i == j { trace } else { 0.0 } - second(i, j))
            }),
        }
    }

    /// The same mass and inertia about another centre of mass.
    #[must_use]
    pub fn with_center(mut self, center: [f64; D]) -> Self {
        self.center = center;
        self
    }

    /// The same mass with a given inertia about the centre of mass. In two dimensions only its last entry counts.
    #[must_use]
    pub fn with_inertia(mut self, inertia: Matrix3) -> Self {
        self.inertia = inertia;
        self
    }

    /// Principal moments, rising; in two dimensions the last is the one about the axis of the plane.
    pub fn principal_moments(&self) -> [f64; 3] {
        if D == 2 {
            return [0.0, 0.0, self.inertia[2][2]];
        }
        eigen3(&self.inertia).0
    }

    /// Principal moments, rising, and their axes in the frame of the shape; in two dimensions the last is that of the plane.
    pub fn principal_axes(&self) -> ([f64; 3], Matrix3) {
        let (moments, axes) = eigen3(&self.inertia);
        match D {
            2 => (self.principal_moments(), eigen3(&[[0.0; 3]; 3]).1),
            _ => (moments, axes),
        }
    }

    /// Checks that mass and inertia are positive and that the principal moments keep the triangle inequality.
    pub fn validated(self) -> Result<Self, MassError> {
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return Err(MassError::Mass(self.mass));
        }
        if !is_finite(self.center) {
            return Err(MassError::Center);
        }
        let [a, b, c] = self.principal_moments();
        if D == 2 {
            return if c > 0.0 && c.is_finite() {
                Ok(self)
            } else {
                Err(MassError::Inertia([a, b, c]))
            };
        }
        let m = &self.inertia;
        let symmetric = (0..3).all(|i| (0..3).all(|j| (m[i][j] - m[j][i]).abs() <= ROUNDING * c));
        if symmetric && a > 0.0 && c.is_finite() && c <= (a + b) * (1.0 + ROUNDING) {
            Ok(self)
        } else {
            Err(MassError::Inertia([a, b, c]))
        }
    }

    /// Angular momentum about the origin of a body at rest but for the turn `w` and the velocity `v` of its centre at `x`.
    pub(crate) fn angular_momentum(
        mass: f64,
        inertia: &Matrix3,
        x: [f64; D],
        v: [f64; D],
        w: [f64; 3],
    ) -> [f64; 3] {
        let orbital = cross3(lift(x), lift(v));
        let own = apply3(inertia, w);
        std::array::from_fn(|i| mass * orbital[i] + own[i])
    }
}

/// Invalid mass properties.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MassError {
    /// Density that is not positive and finite.
    Density(f64),
    /// Mass that is not positive and finite.
    Mass(f64),
    /// Centre of mass that is not finite.
    Center,
    /// Principal moments that no body has: not positive, or one larger than the sum of the others.
    Inertia([f64; 3]),
    /// Solid without volume or without end.
    Moments(MomentsError),
}

impl fmt::Display for MassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Density(value) => {
                write!(f, "the density is {value}, it must be positive and finite")
            }
            Self::Mass(value) => write!(f, "the mass is {value}, it must be positive and finite"),
            Self::Center => f.write_str("the centre of mass is not finite"),
            Self::Inertia([a, b, c]) => write!(
                f,
                "no body has the principal moments {a}, {b}, {c}: each must be positive and at most the sum of the others"
            ),
            Self::Moments(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MassError {}
