//! What a shape must satisfy before it is used.

use crate::shape::Shape;
use crate::vector::{is_finite, norm, sub};
use std::error::Error;
use std::fmt;

/// Fault of a shape, and its place in the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeError {
    /// From the whole to the part, as in `union, part 2: sphere`.
    pub place: String,
    /// What is wrong there.
    pub fault: ShapeFault,
}

/// What is wrong with a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeFault {
    /// A number is infinite or not a number.
    NotFinite {
        /// Which one.
        what: &'static str,
    },
    /// A length must be greater than zero.
    NotPositive {
        /// Which one.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// A length must not be negative.
    Negative {
        /// Which one.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// The lower corner is not below the upper one.
    Crossed {
        /// On this axis.
        axis: usize,
        /// The lower corner.
        low: f64,
        /// The upper corner.
        high: f64,
    },
    /// A direction has no length.
    NoDirection {
        /// Which one.
        what: &'static str,
    },
    /// The two ends are the same point.
    NoLength,
    /// A combination of nothing.
    NoParts,
    /// A mesh in the plane.
    NotInSpace,
}

impl fmt::Display for ShapeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { what } => write!(f, "{what} must be finite"),
            Self::NotPositive { what, value } => {
                write!(f, "{what} is {value} but must be greater than zero")
            }
            Self::Negative { what, value } => {
                write!(f, "{what} is {value} but must not be negative")
            }
            Self::Crossed { axis, low, high } => write!(
                f,
                "low ({low}) must be less than high ({high}) along {}",
                ["x", "y", "z"].get(*axis).unwrap_or(&"an axis")
            ),
            Self::NoDirection { what } => write!(f, "{what} must not be zero"),
            Self::NoLength => write!(f, "from and to are the same point"),
            Self::NoParts => write!(f, "there are no parts"),
            Self::NotInSpace => write!(f, "meshes need three dimensions"),
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

impl Error for ShapeError {}

impl<const D: usize> Shape<D> {
    /// Whether every number is finite, every length sensible and every combination of something.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let name = self.name();
        let own = self.own_fault();
        let here = |place: String| {
            move |inner: ShapeError| ShapeError {
                place: format!("{place}: {}", inner.place),
                fault: inner.fault,
            }
        };
        if let Err(fault) = own {
            return Err(ShapeError {
                place: name.to_string(),
                fault,
            });
        }
        match self {
            Self::Union(parts) | Self::Intersection(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    part.validate()
                        .map_err(here(format!("{name}, part {}", i + 1)))?;
                }
            }
            Self::Difference(whole, parts) => {
                whole.validate().map_err(here(format!("{name}, whole")))?;
                for (i, part) in parts.iter().enumerate() {
                    part.validate()
                        .map_err(here(format!("{name}, part {}", i + 1)))?;
                }
            }
            Self::Inverted(shape)
            | Self::Shell { shape, .. }
            | Self::Rounded { shape, .. }
            | Self::Placed { shape, .. } => {
                shape.validate().map_err(here(name.to_string()))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Box { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Torus { .. } => "torus",
            Self::HalfSpace { .. } => "half space",
            Self::Mesh(_) => "mesh",
            Self::Union(_) => "union",
            Self::Intersection(_) => "intersection",
            Self::Difference(..) => "difference",
            Self::Inverted(_) => "inverted",
            Self::Shell { .. } => "shell",
            Self::Rounded { .. } => "rounded",
            Self::Placed { .. } => "placed",
        }
    }

    /// The first fault of this node, its children aside.
    fn own_fault(&self) -> Result<(), ShapeFault> {
        match self {
            Self::Sphere { center, radius } => {
                point("center", *center)?;
                positive("radius", *radius)
            }
            Self::Box { low, high } => {
                point("low", *low)?;
                point("high", *high)?;
                match (0..D).find(|&i| low[i] >= high[i]) {
                    Some(axis) => Err(ShapeFault::Crossed {
                        axis,
                        low: low[axis],
                        high: high[axis],
                    }),
                    None => Ok(()),
                }
            }
            Self::Capsule { from, to, radius } => {
                point("from", *from)?;
                point("to", *to)?;
                positive("radius", *radius)
            }
            Self::Cylinder { from, to, radius } => {
                segment(*from, *to)?;
                positive("radius", *radius)
            }
            Self::Cone {
                from,
                to,
                radius_from,
                radius_to,
            } => {
                segment(*from, *to)?;
                not_negative("radius_from", *radius_from)?;
                not_negative("radius_to", *radius_to)?;
                positive("the greater radius", radius_from.max(*radius_to))
            }
            Self::Torus {
                center,
                axis,
                major,
                minor,
            } => {
                point("center", *center)?;
                direction("axis", *axis)?;
                positive("major", *major)?;
                positive("minor", *minor)
            }
            Self::HalfSpace {
                point: on_plane,
                normal,
            } => {
                point("point", *on_plane)?;
                direction("normal", *normal)
            }
            // All else was checked when the mesh was made.
            Self::Mesh(_) if D != 3 => Err(ShapeFault::NotInSpace),
            Self::Mesh(_) => Ok(()),
            Self::Union(parts) | Self::Intersection(parts) | Self::Difference(_, parts) => {
                if parts.is_empty() {
                    return Err(ShapeFault::NoParts);
                }
                Ok(())
            }
            Self::Inverted(_) => Ok(()),
            Self::Shell { thickness, .. } => positive("thickness", *thickness),
            Self::Rounded { radius, .. } => not_negative("radius", *radius),
            Self::Placed { pose, .. } => {
                if pose.is_finite() {
                    Ok(())
                } else {
                    Err(ShapeFault::NotFinite { what: "the pose" })
                }
            }
        }
    }
}

fn point<const D: usize>(what: &'static str, x: [f64; D]) -> Result<(), ShapeFault> {
    if is_finite(x) {
        Ok(())
    } else {
        Err(ShapeFault::NotFinite { what })
    }
}

fn direction<const D: usize>(what: &'static str, x: [f64; D]) -> Result<(), ShapeFault> {
    point(what, x)?;
    let length = norm(x);
    if !length.is_finite() {
        Err(ShapeFault::NotFinite { what })
    } else if length > 0.0 {
        Ok(())
    } else {
        Err(ShapeFault::NoDirection { what })
    }
}

fn segment<const D: usize>(from: [f64; D], to: [f64; D]) -> Result<(), ShapeFault> {
    point("from", from)?;
    point("to", to)?;
    if norm(sub(to, from)) > 0.0 {
        Ok(())
    } else {
        Err(ShapeFault::NoLength)
    }
}

fn positive(what: &'static str, value: f64) -> Result<(), ShapeFault> {
    if !value.is_finite() {
        Err(ShapeFault::NotFinite { what })
    } else if value > 0.0 {
        Ok(())
    } else {
        Err(ShapeFault::NotPositive { what, value })
    }
}

fn not_negative(what: &'static str, value: f64) -> Result<(), ShapeFault> {
    if !value.is_finite() {
        Err(ShapeFault::NotFinite { what })
    } else if value < 0.0 {
        Err(ShapeFault::Negative { what, value })
    } else {
        Ok(())
    }
}
