//! Sphere tracing of solids.

use super::camera::Box3;
use super::vector::{Vec3, along, dot, scale};
use meniscus_scene::Material;
use meniscus_shapes::{Bounds, Motion, PosedSolid, ScriptedSolid, Shape};
use std::array::from_fn;

/// Largest number of surfaces along a ray.
pub(super) const MOST_LAYERS: usize = 8;
const MOST_STEPS: usize = 160;
/// Smallest step in pixels: surfaces between two steps are found by their change of sign.
const LEAST_STEP: f32 = 0.9;
/// Distance from the surface, in pixels, within which distances must be exact: farther away they only set the step.
const EXACT_WITHIN: f32 = 4.0;

/// Intersection of a ray with a surface.
#[derive(Clone, Copy)]
pub(super) struct Layer {
    /// Distance from the eye.
    pub t: f32,
    /// Normal, toward the eye.
    pub normal: Vec3,
    /// Coverage of the pixel.
    pub alpha: f32,
    /// 1 on a crease, 0 a pixel away from it.
    pub crease: f32,
    pub material: Material,
    pub colour: Option<Vec3>,
}

/// Surfaces along one ray.
#[derive(Default)]
pub(super) struct Layers {
    layers: [Option<Layer>; MOST_LAYERS],
    count: usize,
}

impl Layers {
    pub fn push(&mut self, layer: Layer) {
        if self.count < MOST_LAYERS {
            self.layers[self.count] = Some(layer);
            self.count += 1;
            return;
        }
        // Among many solids the nearest surfaces are those that are seen.
        let t = |layer: &Option<Layer>| layer.map_or(f32::NEG_INFINITY, |layer| layer.t);
        let farthest =
            (0..MOST_LAYERS).max_by(|&a, &b| t(&self.layers[a]).total_cmp(&t(&self.layers[b])));
        if let Some(at) = farthest.filter(|&at| t(&self.layers[at]) > layer.t) {
            self.layers[at] = Some(layer);
        }
    }

    /// From the farthest to the nearest.
    pub fn sorted(mut self) -> impl Iterator<Item = Layer> {
        self.layers[..self.count].sort_by(|a, b| {
            let t = |l: &Option<Layer>| l.map_or(0.0, |l| l.t);
            t(b).total_cmp(&t(a))
        });
        self.layers.into_iter().flatten()
    }
}

/// Ray.
pub(super) struct Ray {
    pub from: Vec3,
    /// Unit direction.
    pub direction: Vec3,
    /// Width of a pixel per unit of distance.
    pub pixel: f32,
}

/// Appearance of a solid, independent of its pose.
#[derive(Clone, Copy, Debug)]
pub struct Appearance<const D: usize> {
    /// Whether liquid is inside it rather than around it: its inner surface is drawn.
    pub hollow: bool,
    /// Bounding box of the solid, or of its cavity, in body coordinates; none if it is unbounded.
    pub bounds: Option<Bounds<D>>,
}

/// Appearance of a solid; `None` for the domain's own box, which is drawn as edges, and for invisible ones.
pub fn appearance<const D: usize>(
    body: &ScriptedSolid<D>,
    t: f64,
    domain: [f32; 3],
) -> Option<Appearance<D>> {
    if is_domain_box(body, domain) || body.validate().is_err() {
        return None;
    }
    let posed = body.at(t);
    let at_corner = |corner: Vec3| posed.distance(from_fn(|i| f64::from(corner[i])));
    let corners = Box3 {
        low: [0.0; 3],
        high: domain,
    }
    .corners();
    let hollow = is_inverted(&body.shape) || corners.into_iter().all(|c| at_corner(c) <= 0.0);
    Some(Appearance {
        hollow,
        bounds: if hollow {
            hollow_bounds(&body.shape)
        } else {
            body.shape.bounds()
        },
    })
}

/// Solid ready for ray casting.
pub(super) struct Solid<'a, const D: usize> {
    body: PosedSolid<'a, D>,
    material: Material,
    colour: Option<Vec3>,
    /// A container is drawn as its cavity, whose distance is the negated one.
    sign: f64,
    /// Bounding box.
    pub low: Vec3,
    pub high: Vec3,
}

impl<'a, const D: usize> Solid<'a, D> {
    /// `None` for the domain's own box, which is drawn as edges, and for invisible solids.
    pub fn new(
        body: &'a ScriptedSolid<D>,
        (material, colour): (Material, Option<Vec3>),
        t: f64,
        domain: Vec3,
    ) -> Option<Self> {
        let appearance = appearance(body, t, domain)?;
        let pose = body.motion.world_from_body(t);
        let (mut low, mut high) = (domain.map(|d| 1e-4 * d), domain.map(|d| (1.0 - 1e-4) * d));
        let own = appearance.bounds.map(|own| own.placed(&pose));
        if let Some(bounds) = own.filter(|b| !b.is_empty()) {
            let margin = 0.02 * dot(domain, [1.0 / 3.0; 3]);
            for i in 0..D.min(3) {
                low[i] = bounds.low[i] as f32 - margin;
                high[i] = bounds.high[i] as f32 + margin;
            }
        }
        Some(Self {
            body: body.at(t),
            // Containers are transparent, whatever their material.
            material: if appearance.hollow {
                Material::Glass
            } else {
                material
            },
            colour,
            sign: if appearance.hollow { -1.0 } else { 1.0 },
            low,
            high,
        })
    }

    fn distance(&self, x: Vec3) -> f32 {
        (self.sign * self.body.distance(from_fn(|i| f64::from(x[i])))) as f32
    }

    fn normal(&self, x: Vec3) -> Vec3 {
        let n = self.body.normal(from_fn(|i| f64::from(x[i])));
        from_fn(|i| {
            if i < D {
                (self.sign * n[i]) as f32
            } else {
                0.0
            }
        })
    }

    /// Whether liquid is inside it rather than around it.
    pub fn is_container(&self) -> bool {
        self.sign < 0.0
    }

    /// Finds the surfaces of this solid along a ray, and returns the first of them and the distance of the last.
    pub fn trace(&self, ray: &Ray, layers: &mut Layers) -> Option<(Layer, f32)> {
        let (start, end, face) = box_span(ray, self.low, self.high)?;
        let at = |t: f32| along(ray.from, t, ray.direction);
        let in_f64 = |v: Vec3| from_fn(|i| f64::from(v[i]));
        let line = self.body.line(in_f64(ray.from), in_f64(ray.direction));
        // As exact as a ray needs it.
        let distance = |t: f32| {
            let band = EXACT_WITHIN * ray.pixel * t;
            (self.sign * line.distance_within(f64::from(t), f64::from(band))) as f32
        };
        let mut t = start;
        let mut here = distance(t);
        if here < 0.0 && self.material == Material::Stone {
            // The solid continues outside its bounding box: show the cut.
            let cut = Layer {
                t,
                normal: face,
                alpha: 1.0,
                crease: 0.0,
                material: self.material,
                colour: self.colour,
            };
            layers.push(cut);
            return Some((cut, t));
        }
        let (mut deepest, mut deepest_t) = (here, t);
        let mut crossings = [0.0; MOST_LAYERS];
        let mut count = 0;
        for _ in 0..MOST_STEPS {
            let next_t = t + here.abs().max(LEAST_STEP * ray.pixel * t);
            if next_t > end {
                break;
            }
            let next = distance(next_t);
            if (next < 0.0) != (here < 0.0) && count < MOST_LAYERS {
                crossings[count] = t + (next_t - t) * here / (here - next);
                count += 1;
                if self.material == Material::Stone {
                    deepest = f32::NEG_INFINITY;
                    break;
                }
            }
            if next < deepest {
                (deepest, deepest_t) = (next, next_t);
            }
            (t, here) = (next_t, next);
        }
        // A ray that just misses still covers part of its pixel.
        let alpha = (0.5 - deepest / (ray.pixel * deepest_t)).clamp(0.0, 1.0);
        if alpha == 0.0 {
            return None;
        }
        if count == 0 {
            crossings[0] = deepest_t;
            count = 1;
        }
        let mut first = None;
        for &t in &crossings[..count] {
            let x = at(t);
            let outward = self.normal(x);
            let facing = dot(outward, ray.direction);
            let layer = Layer {
                t,
                normal: if facing > 0.0 {
                    scale(outward, -1.0)
                } else {
                    outward
                },
                alpha,
                crease: self.crease(x, outward, ray.pixel * t),
                material: self.material,
                colour: self.colour,
            };
            layers.push(layer);
            first.get_or_insert(layer);
        }
        first.map(|first| (first, crossings[count - 1]))
    }

    /// Near a crease the distance slightly inside or outside the surface is less than the step
    /// that led there: it is then the distance to the other side of the crease.
    fn crease(&self, x: Vec3, outward: Vec3, pixel: f32) -> f32 {
        let step = 3.0 * pixel;
        let inner = -self.distance(along(x, -step, outward));
        let outer = self.distance(along(x, step, outward));
        let to_edge = inner.min(outer).max(0.0);
        (1.4 - to_edge / pixel).clamp(0.0, 1.0)
    }
}

/// Interval of a ray in a box, and the normal of the face where it enters.
pub(super) fn box_span(ray: &Ray, low: Vec3, high: Vec3) -> Option<(f32, f32, Vec3)> {
    let (mut start, mut end, mut face) = (1e-4, f32::INFINITY, scale(ray.direction, -1.0));
    for i in 0..3 {
        let d = ray.direction[i];
        let (a, b) = ((low[i] - ray.from[i]) / d, (high[i] - ray.from[i]) / d);
        let (near, far) = (a.min(b), a.max(b));
        if near > start {
            start = near;
            face = from_fn(|k| if k == i { -d.signum() } else { 0.0 });
        }
        end = end.min(far);
    }
    (start < end).then_some((start, end, face))
}

/// Whether the solid is the box around the whole domain, or around more where sides are open, at rest.
pub(super) fn is_domain_box<const D: usize>(body: &ScriptedSolid<D>, domain: Vec3) -> bool {
    let (Shape::Inverted(hollow), Motion::Still) = (&body.shape, &body.motion) else {
        return false;
    };
    let Shape::Box { low, high } = **hollow else {
        return false;
    };
    (0..D.min(3)).all(|i| {
        let side = f64::from(domain[i]);
        low[i] < 1e-6 * side && high[i] > (1.0 - 1e-6) * side
    })
}

pub(super) fn is_inverted<const D: usize>(shape: &Shape<D>) -> bool {
    match shape {
        Shape::Inverted(_) => true,
        Shape::Placed { shape, .. } => is_inverted(shape),
        _ => false,
    }
}

pub(super) fn hollow_bounds<const D: usize>(shape: &Shape<D>) -> Option<Bounds<D>> {
    match shape {
        Shape::Inverted(hollow) => hollow.bounds(),
        Shape::Placed { shape, pose } => hollow_bounds(shape).map(|b| b.placed(pose)),
        _ => None,
    }
}
