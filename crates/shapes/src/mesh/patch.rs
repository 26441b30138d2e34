//! Patches of triangles: their bounds, and their winding number seen from afar.

use super::triangle::{Corners, centroid, doubled_area};
use crate::bounds::Bounds;
use crate::vector::{add, add_scaled, direction_or, dot, norm, scale, sub, up};

/// From this many times its reach away, a patch is seen as one dipole.
const FAR: f64 = 2.0;

/// What a patch looks like from afar: the first term of the expansion of its solid angle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dipole {
    pub center: [f64; 3],
    /// The sum of areas along normals.
    pub moment: [f64; 3],
    /// The square of the distance from which it is used.
    pub far: f64,
}

impl Dipole {
    pub const NONE: Dipole = Dipole {
        center: [0.0; 3],
        moment: [0.0; 3],
        far: 0.0,
    };
}

/// Some triangles.
pub(super) struct Patch {
    pub bounds: Bounds<3>,
    /// The axis of a cylinder around all, through the centre of the dipole.
    pub normal: [f64; 3],
    /// Its ends, from the centre along the normal.
    pub ends: [f64; 2],
    pub radius: f64,
    pub dipole: Dipole,
}

impl Patch {
    pub fn of(triangles: impl Iterator<Item = Corners> + Clone) -> Self {
        let mut bounds = Bounds::NOTHING;
        let (mut moment, mut area, mut center) = ([0.0; 3], 0.0, [0.0; 3]);
        for corners in triangles.clone() {
            for corner in corners {
                for i in 0..3 {
                    bounds.low[i] = bounds.low[i].min(corner[i]);
                    bounds.high[i] = bounds.high[i].max(corner[i]);
                }
            }
            let doubled = doubled_area(corners);
            let weight = 0.5 * norm(doubled);
            moment = add_scaled(moment, 0.5, doubled);
            center = add_scaled(center, weight, centroid(corners));
            area += weight;
        }
        center = if area > 0.0 {
            scale(center, 1.0 / area)
        } else {
            scale(add(bounds.low, bounds.high), 0.5)
        };
        let normal = direction_or(moment, up());
        let (mut ends, mut wide, mut reach) = ([f64::INFINITY, f64::NEG_INFINITY], 0.0, 0.0);
        for corner in triangles.flatten() {
            let way = sub(corner, center);
            let (along, square) = (dot(normal, way), dot(way, way));
            ends = [ends[0].min(along), ends[1].max(along)];
            wide = f64::max(wide, square - along * along);
            reach = f64::max(reach, square);
        }
        Patch {
            bounds,
            normal,
            ends,
            radius: wide.sqrt(),
            dipole: Dipole {
                center,
                moment,
                far: FAR * FAR * reach,
            },
        }
    }
}
