//! Where the picture is taken from.

use super::vector::{Vec3, add, along, cross, dot, normalize, scale, sub};

/// How far around the up axis the camera stands, and how far above the horizon, in radians.
const AZIMUTH: f32 = 0.45;
const ELEVATION: f32 = 0.26;
/// Half of the angle seen along the shorter side of the picture, as a tangent: a long lens flatters.
const HALF_VIEW: f32 = 0.24;
/// Part of the picture left free on each side.
const MARGIN: f32 = 0.06;

/// A pinhole camera.
pub(super) struct Camera {
    pub eye: Vec3,
    pub forward: Vec3,
    right: Vec3,
    up: Vec3,
    /// Pixels per unit of tangent.
    pub focal: f32,
    centre: [f32; 2],
}

impl Camera {
    /// The camera that sees the whole box from the origin to `domain`, the same for every frame.
    pub fn framing(domain: Vec3, size: (usize, usize)) -> Self {
        let (width, height) = (size.0 as f32, size.1 as f32);
        let toward_eye = [
            AZIMUTH.sin() * ELEVATION.cos(),
            -AZIMUTH.cos() * ELEVATION.cos(),
            ELEVATION.sin(),
        ];
        let forward = scale(toward_eye, -1.0);
        let right = normalize(cross(forward, [0.0, 0.0, 1.0]));
        let up = cross(right, forward);
        let middle = scale(domain, 0.5);
        let shorter = width.min(height);
        let focal = 0.5 * shorter / HALF_VIEW;
        let mut camera = Self {
            eye: middle,
            forward,
            right,
            up,
            focal,
            centre: [0.5 * width, 0.5 * height],
        };
        // Near enough that every corner just fits, as if each were to be centred; then shift the
        // picture so that what is free is free on both sides.
        let mut distance = 0.0_f32;
        let limits = [width, height].map(|side| (0.5 - MARGIN) * side / focal);
        for corner in corners(domain) {
            let offset = sub(corner, middle);
            for (axis, limit) in [right, up].into_iter().zip(limits) {
                let needed = dot(offset, axis).abs() / limit - dot(offset, forward);
                distance = distance.max(needed);
            }
        }
        camera.eye = along(middle, distance, toward_eye);
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for corner in corners(domain) {
            if let Some((at, _)) = camera.project(corner) {
                for i in 0..2 {
                    low[i] = low[i].min(at[i]);
                    high[i] = high[i].max(at[i]);
                }
            }
        }
        for (i, side) in [width, height].into_iter().enumerate() {
            let shift = 0.5 * side - 0.5 * (low[i] + high[i]);
            if shift.is_finite() {
                camera.centre[i] += shift;
            }
        }
        camera
    }

    /// The pixel, with pixel centres at halves, and the depth along the view of a point before the camera.
    pub fn project(&self, p: Vec3) -> Option<([f32; 2], f32)> {
        let offset = sub(p, self.eye);
        let depth = dot(offset, self.forward);
        if !depth.is_finite() || depth <= 0.0 {
            return None;
        }
        let zoom = self.focal / depth;
        let at = [
            self.centre[0] + zoom * dot(offset, self.right),
            self.centre[1] - zoom * dot(offset, self.up),
        ];
        Some((at, depth))
    }

    /// The direction seen at a pixel, of depth one.
    pub fn toward(&self, x: f32, y: f32) -> Vec3 {
        let across = scale(self.right, (x - self.centre[0]) / self.focal);
        let upward = scale(self.up, (self.centre[1] - y) / self.focal);
        add(self.forward, add(across, upward))
    }

    /// A direction as rightward and downward on the picture.
    pub fn on_picture(&self, v: Vec3) -> [f32; 2] {
        [dot(v, self.right), -dot(v, self.up)]
    }
}

/// The corners of the box from the origin to `domain`; bit k of the index is the side on axis k.
pub(super) fn corners(domain: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|c| std::array::from_fn(|k| if c >> k & 1 == 1 { domain[k] } else { 0.0 }))
}
