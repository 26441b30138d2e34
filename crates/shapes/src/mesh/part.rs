//! Parts of a mesh: connected faces.

use super::triangle::{Corners, cross};
use crate::bounds::Bounds;
use crate::vector::{dot, norm, sub};

/// Faces that are connected.
pub(crate) struct Part {
    pub faces: Vec<u32>,
    pub bounds: Bounds<3>,
    /// Negative if the part is inside out.
    pub volume: f64,
}

impl Part {
    pub fn diagonal(&self) -> f64 {
        norm(sub(self.bounds.high, self.bounds.low))
    }
}

/// The parts, given the part of each face and how many there are.
pub(crate) fn parts(part_of: &[u32], count: usize, corners: impl Fn(u32) -> Corners) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..count)
        .map(|_| Part {
            faces: Vec::new(),
            bounds: Bounds::NOTHING,
            volume: 0.0,
        })
        .collect();
    for (face, &part) in part_of.iter().enumerate() {
        let part = &mut parts[part as usize];
        part.faces.push(face as u32);
        for corner in corners(face as u32) {
            for i in 0..3 {
                part.bounds.low[i] = part.bounds.low[i].min(corner[i]);
                part.bounds.high[i] = part.bounds.high[i].max(corner[i]);
            }
        }
    }
    for part in &mut parts {
        // From a corner of its own box: far from the origin, digits would be lost.
        let origin = part.bounds.low;
        for &face in &part.faces {
            let [a, b, c] = corners(face).map(|corner| sub(corner, origin));
            part.volume += dot(a, cross(b, c)) / 6.0;
        }
    }
    parts
}
