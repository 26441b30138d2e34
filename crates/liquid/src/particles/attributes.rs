//! Attributes that particles keep from birth to death: a number, the time of birth, the source.

use crate::particles::Particles;

/// Attributes of all particles, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// Number of each particle, never given twice.
    pub id: Vec<u64>,
    /// Time at which it came into being, in seconds.
    pub birth: Vec<f32>,
    /// Where it came from: 0 for the liquid at the start, `k + 1` for the emitter `k`.
    pub source: Vec<u32>,
    /// The number that the next particle gets.
    pub next_id: u64,
}

impl<const D: usize> Particles<D> {
    /// Gives attributes to the particles that have none yet, if attributes are kept, and a material if there are several.
    pub(crate) fn attribute_new(&mut self, time: f64, source: u32, of: u8) {
        let count = self.position.len();
        if let Some(material) = &mut self.material {
            material.resize(count, of);
        }
        if let Some(attributes) = &mut self.attributes {
            let new = count - attributes.id.len();
            let last = attributes.next_id + new as u64;
            attributes.id.extend(attributes.next_id..last);
            attributes.next_id = last;
            attributes.birth.resize(count, time as f32);
            attributes.source.resize(count, source);
        }
    }
}
