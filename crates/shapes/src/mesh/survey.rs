//! Survey of a mesh by a sample of its surface: thickness, and overlap with itself.

use super::tree::Tree;
use super::triangle::{centroid, doubled_area, longest_side};
use crate::vector::{add_scaled, direction_or, dot, norm, scale, up};

/// Faces that are looked at.
const SAMPLES: usize = 1000;
/// Two sides face away from each other if the cosine between their normals is below this.
const OPPOSITE: f64 = -0.7;
/// How far off a face its two sides are looked at, as a share of its longest side.
const OFF: f64 = 1e-3;

/// What the sample tells.
pub(crate) struct Survey {
    pub thickness: Option<f64>,
    pub buried_share: f64,
}

pub(crate) fn survey(tree: &Tree) -> Survey {
    let count = tree.triangles.len();
    let step = count.div_ceil(SAMPLES);
    let mut thickness: Option<f64> = None;
    let (mut buried, mut all) = (0.0, 0.0);
    for face in (0..count as u32).step_by(step) {
        let corners = tree.corners(face);
        let doubled = doubled_area(corners);
        let (normal, area) = (direction_or(doubled, up()), norm(doubled));
        let (at, off) = (centroid(corners), OFF * longest_side(corners));
        let inward = scale(normal, -1.0);

        if let Some((other, way)) = tree.first_crossing(at, inward, off) {
            let facing = direction_or(doubled_area(tree.corners(other)), up());
            if dot(facing, normal) < OPPOSITE && thickness.is_none_or(|least| way < least) {
                thickness = Some(way);
            }
        }

        // Outside it winds around nothing, inside once.
        let outer = tree.winding_number(add_scaled(at, off, normal));
        let inner = tree.winding_number(add_scaled(at, off, inward));
        all += area;
        if outer > 0.5 || inner > 1.5 {
            buried += area;
        }
    }
    Survey {
        thickness,
        buried_share: if all > 0.0 { buried / all } else { 0.0 },
    }
}
