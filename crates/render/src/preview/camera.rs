//! Camera.

use super::vector::{Vec3, add, along, cross, dot, mix, normalize, scale, sub};

use std::array::from_fn;

/// Default azimuth and elevation in radians.
const AZIMUTH: f32 = 0.45;
const ELEVATION: f32 = 0.26;
/// Default field of view along the shorter side of the image, in degrees.
const FIELD_OF_VIEW: f64 = 27.0;
/// Margin on each side, as a fraction of the image.
const MARGIN: f32 = 0.06;

/// Pinhole camera.
pub(super) struct Camera {
    pub eye: Vec3,
    pub forward: Vec3,
    right: Vec3,
    up: Vec3,
    /// Focal length in pixels.
    pub focal: f32,
    centre: [f32; 2],
}

impl Camera {
    /// Camera with the requested properties, the others chosen so that it sees the whole box.
    pub fn new<const D: usize>(
        wish: &meniscus_scene::Camera<D>,
        box_: &Box3,
        size: (usize, usize),
    ) -> Self {
        let point = |p: [f64; D]| from_fn(|i| p.get(i).map_or(0.0, |&c| c as f32));
        let angle = wish.field_of_view.unwrap_or(FIELD_OF_VIEW).to_radians();
        let half_view = (0.5 * angle).tan() as f32;
        let (position, target) = (wish.position.map(point), wish.target.map(point));
        let toward_eye = match position {
            Some(position) => normalize(sub(position, target.unwrap_or(box_.middle()))),
            None => [
                AZIMUTH.sin() * ELEVATION.cos(),
                -AZIMUTH.cos() * ELEVATION.cos(),
                ELEVATION.sin(),
            ],
        };
        let mut camera = Self::framing(box_, toward_eye, half_view, size);
        let middle = [0.5 * size.0 as f32, 0.5 * size.1 as f32];
        match (position, target) {
            (Some(position), _) => {
                camera.eye = position;
                camera.centre = middle;
            }
            (None, Some(target)) => {
                let away = dot(sub(camera.eye, box_.middle()), toward_eye);
                camera.eye = along(target, away, toward_eye);
                camera.centre = middle;
            }
            (None, None) => {}
        }
        camera
    }

    /// Camera that sees the whole box from a direction.
    fn framing(box_: &Box3, toward_eye: Vec3, half_view: f32, size: (usize, usize)) -> Self {
        let (width, height) = (size.0 as f32, size.1 as f32);
        let forward = scale(toward_eye, -1.0);
        // Seen from straight above, north is up.
        let upright = if toward_eye[2].abs() > 0.999 {
            [0.0, 1.0, 0.0]
        } else {
            [0.0, 0.0, 1.0]
        };
        let right = normalize(cross(forward, upright));
        let up = cross(right, forward);
        let middle = box_.middle();
        let shorter = width.min(height);
        let focal = 0.5 * shorter / half_view;
        let mut camera = Self {
            eye: middle,
            forward,
            right,
            up,
            focal,
            centre: [0.5 * width, 0.5 * height],
        };
        // As close as every corner allows, as if each were to be centred; then shift the
        // image so that the margins are equal on both sides.
        let mut distance = 0.0_f32;
        let limits = [width, height].map(|side| (0.5 - MARGIN) * side / focal);
        for corner in box_.corners() {
            let offset = sub(corner, middle);
            for (axis, limit) in [right, up].into_iter().zip(limits) {
                let needed = dot(offset, axis).abs() / limit - dot(offset, forward);
                distance = distance.max(needed);
            }
        }
        camera.eye = along(middle, distance, toward_eye);
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for corner in box_.corners() {
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

    /// Pixel of a point in front of the camera, with pixel centres at halves, and its depth.
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

    /// Direction through a pixel, of depth one.
    pub fn toward(&self, x: f32, y: f32) -> Vec3 {
        let across = scale(self.right, (x - self.centre[0]) / self.focal);
        let upward = scale(self.up, (self.centre[1] - y) / self.focal);
        add(self.forward, add(across, upward))
    }

    /// World direction of one given as right, up and toward the eye.
    pub fn world_from_picture(&self, [right, up, near]: Vec3) -> Vec3 {
        let across = add(scale(self.right, right), scale(self.up, up));
        along(across, -near, self.forward)
    }

    /// Direction as rightward and downward in the image.
    pub fn on_picture(&self, v: Vec3) -> [f32; 2] {
        [dot(v, self.right), -dot(v, self.up)]
    }
}

/// Axis-aligned box.
#[derive(Clone, Copy)]
pub(super) struct Box3 {
    pub low: Vec3,
    pub high: Vec3,
}

impl Box3 {
    pub fn middle(&self) -> Vec3 {
        mix(self.low, self.high, 0.5)
    }

    pub fn sides(&self) -> Vec3 {
        sub(self.high, self.low)
    }

    /// Side of a cube of the same volume.
    pub fn mean_side(&self) -> f32 {
        let [x, y, z] = self.sides();
        (x * y * z).cbrt()
    }

    /// Bit k of the index is the side on axis k.
    pub fn corners(&self) -> [Vec3; 8] {
        from_fn(|c| {
            from_fn(|k| {
                if c >> k & 1 == 1 {
                    self.high[k]
                } else {
                    self.low[k]
                }
            })
        })
    }
}
