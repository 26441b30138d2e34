//! Contacts between bodies.

/// A contact point between two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<const D: usize> {
    /// Index of the first body.
    pub a: usize,
    /// Index of the second body.
    pub b: usize,
    /// Point between the two surfaces, in the world.
    pub point: [f64; D],
    /// Unit vector from the second body to the first.
    pub normal: [f64; D],
    /// Distance between the surfaces along the normal, negative where they overlap.
    pub gap: f64,
    /// Features of the two surfaces, the same from step to step.
    pub id: u64,
    /// Gap at rest.
    pub resting_gap: f64,
    /// Coulomb coefficient of the pair.
    pub friction: f64,
    /// Restitution of the pair.
    pub restitution: f64,
}

/// A contact with the impulse that a step found for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadedContact<const D: usize> {
    /// The contact at the start of the step.
    pub contact: Contact<D>,
    /// Impulse on the first body, in N s, in world axes; the second body has its negative. Of several contacts under one
    /// body only sums are determined.
    pub impulse: [f64; D],
}

/// Contact point as the narrow phase finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Touch<const D: usize> {
    pub point: [f64; D],
    /// From the second part to the first.
    pub normal: [f64; D],
    pub gap: f64,
    pub id: u64,
}

impl<const D: usize> Touch<D> {
    /// The same contact with the parts exchanged.
    pub fn reversed(self) -> Self {
        Self {
            normal: self.normal.map(|n| -n),
            ..self
        }
    }
}
