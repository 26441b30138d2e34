//! Ray marching of the liquid through its field.

use super::sphere_tracing::{Ray, box_span};
use super::vector::{Vec3, along, dot};
use super::volume::{Content, LEVEL, Volume};
use std::cmp::Ordering;

/// Step in cells of the field near its surface.
const STEP: f32 = 0.6;
/// Maximum number of steps of a ray.
const MOST_STEPS: usize = 2000;

/// Intersection of a ray with the liquid.
#[derive(Clone, Copy, Default)]
pub(super) struct Crossing {
    /// Coverage of the pixel; zero if there is no liquid.
    pub cover: f32,
    /// Distance from the eye to the first liquid.
    pub start: f32,
    /// Length of liquid along the ray, in metres.
    pub length: f32,
    /// Unit normal at the first liquid, toward the eye.
    pub normal: Vec3,
    /// Mean speed of the liquid there.
    pub speed: f32,
    /// Whether it starts at a wall, without a surface to air.
    pub from_wall: bool,
    /// Whether it ends at a wall, and not at a surface to air.
    pub to_wall: bool,
}

/// Part of a ray where liquid can be.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub start: f32,
    pub end: f32,
    /// Normal of the wall at the start, toward the eye.
    pub wall: Vec3,
}

/// Follows a ray through the liquid.
pub(super) fn march(volume: &Volume, ray: &Ray, span: Span) -> Crossing {
    let (low, high) = volume.bounds();
    let nothing = Crossing::default();
    let Some((enter, leave, _)) = box_span(ray, low, high) else {
        return nothing;
    };
    let (first, last) = (enter.max(span.start), leave.min(span.end));
    if first.partial_cmp(&last) != Some(Ordering::Less) {
        return nothing;
    }
    let at = |t: f32| along(ray.from, t, ray.direction);
    let mut found = nothing;
    // Highest value so far, and its position: a ray that just misses covers part of its pixel.
    let mut highest = (f32::NEG_INFINITY, first);
    let mut t = first;
    let mut here = volume.occupancy(at(t));
    let mut inside = here > LEVEL;
    let mut entered = inside;
    // Whether there is more liquid behind the first.
    let mut again = false;
    if inside {
        found.start = t;
        found.from_wall = first == span.start;
    }
    for _ in 0..MOST_STEPS {
        if t >= last {
            break;
        }
        let (content, block_low, block_high) = volume.block(at(t));
        let skips = match content {
            Content::Mixed => false,
            Content::Empty => !inside,
            Content::Full => inside,
        };
        let next_t = if skips {
            let beyond = box_span(ray, block_low, block_high).map_or(t, |(_, end, _)| end);
            (beyond.max(t) + 1e-3 * volume.spacing).min(last)
        } else {
            (t + STEP * volume.spacing).min(last)
        };
        let next = volume.occupancy(at(next_t));
        if next > highest.0 && (!entered || inside) {
            highest = (next, next_t);
        }
        let next_inside = next > LEVEL;
        if inside != next_inside {
            let share = ((LEVEL - here) / (next - here)).clamp(0.0, 1.0);
            let crossing = t + share * (next_t - t);
            if inside {
                found.length += crossing - t;
            } else {
                if !entered {
                    found.start = crossing;
                }
                again |= entered;
                entered = true;
                found.length += next_t - crossing;
            }
            inside = next_inside;
        } else if inside {
            found.length += next_t - t;
        }
        (t, here) = (next_t, next);
    }
    found.to_wall = inside && last == span.end;
    if !entered && highest.0 < LEVEL - 0.3 {
        return nothing;
    }
    found.cover = match highest.0 > LEVEL + 0.3 || found.from_wall || again {
        true => 1.0,
        false => {
            let slope = length(volume.gradient(at(highest.1)));
            let pixel = ray.pixel * highest.1;
            (0.5 + (highest.0 - LEVEL) / (slope * pixel).max(1e-6)).clamp(0.0, 1.0)
        }
    };
    if found.cover == 0.0 {
        return nothing;
    }
    if !entered {
        found.start = highest.1;
    }
    let place = at(found.start);
    found.normal = if found.from_wall {
        span.wall
    } else {
        volume.normal(place)
    };
    let facing = dot(found.normal, ray.direction);
    if facing > 0.0 {
        // Facing away only by rounding: the ray grazes the surface.
        found.normal = super::vector::normalize(along(found.normal, -1.01 * facing, ray.direction));
    }
    found.speed = volume.speed(along(place, volume.spacing, ray.direction));
    found
}

fn length(v: Vec3) -> f32 {
    dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball() -> Volume {
        let lattice = (0..8000).map(|k| [k % 20, k / 20 % 20, k / 400]);
        let particles: Vec<(Vec3, f32)> = lattice
            .map(|at| at.map(|c| (c as f32 + 0.5) * 0.05))
            .filter(|x| x.map(|c| (c - 0.5) * (c - 0.5)).iter().sum::<f32>() < 0.09)
            .map(|x| (x, 1.0))
            .collect();
        Volume::new::<3>(&particles, 0.1, 8.0, &[])
    }

    fn look(volume: &Volume, height: f32) -> Crossing {
        let ray = Ray {
            from: [-2.0, 0.5, height],
            direction: [1.0, 0.0, 0.0],
            pixel: 0.004,
        };
        let span = Span {
            start: 0.0,
            end: f32::INFINITY,
            wall: [-1.0, 0.0, 0.0],
        };
        march(volume, &ray, span)
    }

    #[test]
    fn a_ball_has_the_right_thickness_and_normals_and_a_smooth_outline() {
        let volume = ball();
        let middle = look(&volume, 0.5);
        assert!((middle.length - 0.62).abs() < 0.12, "{}", middle.length);
        assert!((middle.start - 2.19).abs() < 0.06, "{}", middle.start);
        assert!(middle.cover == 1.0 && middle.normal[0] < -0.95);
        assert!(!middle.from_wall && !middle.to_wall);
        assert_eq!(look(&volume, 0.95).cover, 0.0);
        // The coverage falls monotonically from one to zero between them.
        let covers: Vec<f32> = (0..400)
            .map(|k| look(&volume, 0.5 + 0.001 * k as f32).cover)
            .collect();
        assert!(
            covers.windows(2).all(|pair| pair[1] <= pair[0] + 0.05),
            "{covers:?}"
        );
        assert!(covers.iter().any(|&c| c > 0.2 && c < 0.8));
    }

    #[test]
    fn liquid_from_wall_to_wall_has_no_surface_to_air() {
        let volume = ball();
        let ray = Ray {
            from: [0.45, 0.5, 0.5],
            direction: [1.0, 0.0, 0.0],
            pixel: 0.004,
        };
        let wall = [-1.0, 0.0, 0.0];
        let found = march(
            &volume,
            &ray,
            Span {
                start: 0.02,
                end: 0.1,
                wall,
            },
        );
        assert!(found.from_wall && found.to_wall && found.normal == wall);
        assert!((found.length - 0.08).abs() < 1e-4);
    }
}
