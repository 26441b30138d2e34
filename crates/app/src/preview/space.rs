//! The picture of a scene in space.

use super::View;
use super::beads::{self, Beads};
use super::blur::{Field, raster};
use super::camera::{Box3, Camera};
use super::ground::Ground;
use super::legend::speed_colour;
use super::light::{backdrop, fresnel, key_direction, surroundings};
use super::particles::{Drop, Lumps, Sheet, Spot, sound_particles, spread};
use super::sights::{Sights, ray};
use super::smooth::smooth_depth;
use super::solids::{Solid, is_domain_box};
use super::strokes::stroke;
use super::vector::{
    Vec3, add, along, cross, dot, mix, normalize, reflect, scale, smoothstep, sub,
};
use super::veil::{Veil, shade};
use crate::scene::{Material, Style};
use rayon::prelude::*;
use std::array::from_fn;

/// What water swallows, per colour and mean side of the domain.
const SWALLOWED: Vec3 = [9.5, 3.9, 2.1];
/// How thick the thinnest liquid looks, in mean sides of the domain.
const LEAST_TINT: f32 = 0.04;
/// What it scatters back instead.
const SCATTERED: Vec3 = [0.008, 0.12, 0.31];
const FOAM: Vec3 = [0.62, 0.78, 0.86];
/// How large a bead is, in radii of the particles, so that single ones can be told apart.
const BEAD: f32 = 0.55;
const EDGE: Vec3 = [0.16, 0.20, 0.25];

/// A pixel without the liquid.
#[derive(Clone, Copy, Default)]
struct Bare {
    /// What is seen behind the liquid, or at all if there is none.
    behind: Vec3,
    /// What lies before the liquid.
    before: Veil,
}

/// Draws the scene: linear colours, row by row.
pub(super) fn draw<const D: usize>(view: &View<D>, size: (usize, usize)) -> Vec<Vec3> {
    let domain: Vec3 = from_fn(|i| view.sound_domain().get(i).map_or(1.0, |&d| d as f32));
    let frame = view.frame_in_space();
    let camera = Camera::new(&view.camera, &frame, size);
    let radius = view.sound_radius() as f32;
    let materials = view
        .materials
        .iter()
        .chain(std::iter::repeat(&Material::Stone));
    let solids: Vec<Solid<D>> = view
        .bodies
        .iter()
        .zip(materials)
        .filter_map(|(body, &material)| Solid::new(body, material, view.time, domain))
        .collect();

    let edges = view.bodies.iter().any(|body| is_domain_box(body, domain));
    let sights = Sights::new(&camera, size, &solids, domain, edges);

    let particles = sound_particles(view);
    let lumps = Lumps::new(&particles, 2.0 * radius);
    let (sheet, beads) = match view.style {
        Style::Surface => {
            let depth = dot(sub(frame.middle(), camera.eye), camera.forward);
            let zoom = camera.focal / depth.max(1e-3 * frame.mean_side());
            let drops = front_drops(&particles, &lumps, radius);
            let sheet = liquid_sheet(&drops, &lumps, &camera, &sights, (radius, zoom), size);
            (sheet, None)
        }
        Style::Particles => {
            let (sheet, beads) = bead_sheet(&particles, &camera, &sights, view, size);
            (sheet, Some(beads))
        }
    };

    let ground = Ground::new(&frame, &lumps, &solids);
    let [rear, front] = box_edges(&camera, domain, size, edges);

    let mut stage = Stage {
        camera,
        size,
        sights,
        ground,
        sheet,
        beads,
        normals: Vec::new(),
        mean: frame.mean_side(),
        radius,
        fast: (9.8 * frame.sides()[2]).sqrt(),
    };
    if stage.beads.is_none() {
        stage.normals = raster(size, |x, y| stage.normal(x, y));
    }
    let bare = raster(size, |x, y| stage.without_liquid(x, y, &rear));
    raster(size, |x, y| {
        let at = y * size.0 + x;
        let colour = bare[at].before.over(stage.with_liquid(x, y, &bare));
        mix(colour, EDGE, 0.55 * front.values[at])
    })
}

/// The particles that others don't hide.
fn front_drops(particles: &[(Vec3, f32)], lumps: &Lumps, radius: f32) -> Vec<Drop> {
    particles
        .par_iter()
        .filter(|(position, _)| !lumps.hides(*position))
        .map(|&(position, _)| Drop {
            position,
            radius: 1.3 * radius,
        })
        .collect()
}

/// Where the camera sees a point.
fn spot(camera: &Camera, p: Vec3) -> Option<Spot> {
    let ([x, y], depth) = camera.project(p)?;
    let zoom = camera.focal / depth;
    Some(Spot { x, y, depth, zoom })
}

/// Beads as the camera sees them, inside the outlines of their containers.
fn bead_sheet<const D: usize>(
    particles: &[(Vec3, f32)],
    camera: &Camera,
    sights: &Sights,
    view: &View<D>,
    size: (usize, usize),
) -> (Sheet, Beads) {
    let fastest = view.sound_fastest();
    let shaded = |[x, y, near]: Vec3, speed: f32| {
        let normal = camera.world_from_picture([x, y, near]);
        let light = 0.5 + 0.62 * dot(normal, key_direction()).max(0.0);
        scale(speed_colour(speed / fastest), light)
    };
    let radius = BEAD * view.sound_radius() as f32;
    let beads = beads::string(particles, radius, |p| spot(camera, p), shaded, size);
    let mut sheet = Sheet::empty(size);
    for y in 0..size.1 {
        for x in 0..size.0 {
            let at = y * size.0 + x;
            sheet.cover.values[at] = beads.cover.values[at].min(sights.window(x, y).open);
        }
    }
    sheet.depth = beads.depth.clone();
    (sheet, beads)
}

/// The liquid as the camera sees it: one smooth surface, cut off where its containers end. `zoom` is in pixels per
/// metre, about where the liquid is.
fn liquid_sheet(
    drops: &[Drop],
    lumps: &Lumps,
    camera: &Camera,
    sights: &Sights,
    (radius, zoom): (f32, f32),
    size: (usize, usize),
) -> Sheet {
    let mut sheet = spread(drops, lumps, |p| spot(camera, p), size);
    let radius_on_picture = radius * zoom;
    let blur = (0.7 * radius_on_picture).clamp(0.5, 12.0);
    sheet.thickness.blur(blur);
    sheet.flow.blur(blur);
    // Blurred and cut at one half, the outline of many drops becomes a smooth one.
    sheet.cover.blur(blur);
    let sharp = blur * (2.0 * std::f32::consts::PI).sqrt();
    let cut = raster(size, |x, y| {
        let at = y * size.0 + x;
        let window = sights.window(x, y);
        let cover = ((sheet.cover.values[at] - 0.5) * sharp + 0.5).clamp(0.0, window.open);
        let depth = if cover > 0.0 {
            // Drops at a wall reach through it, the liquid does not.
            let start = window.start * dot(ray(camera, x, y).direction, camera.forward);
            sheet.depth.values[at].max(start)
        } else {
            f32::INFINITY
        };
        (depth, cover)
    });
    (sheet.depth.values, sheet.cover.values) = cut.into_iter().unzip();
    let reach = (3.0 * radius_on_picture).round().clamp(2.0, 14.0) as usize;
    smooth_depth(&mut sheet.depth, reach, 3.0 * radius, 3);
    sheet
}

/// Coverage of the domain's rear and front edges.
fn box_edges(camera: &Camera, domain: Vec3, size: (usize, usize), wanted: bool) -> [Field; 2] {
    let mut cover = [(); 2].map(|()| Field::new(size.0, size.1, 0.0));
    if !wanted {
        return cover;
    }
    let half_width = (0.0016 * size.0.min(size.1) as f32).max(0.35);
    let corners = Box3 {
        low: [0.0; 3],
        high: domain,
    }
    .corners();
    // Whether the face of an axis, on the low (0) or high (1) side, is turned away from the camera.
    let away = |axis: usize, side: usize| {
        if side == 0 {
            camera.eye[axis] > 0.0
        } else {
            camera.eye[axis] < domain[axis]
        }
    };
    for a in 0..8_usize {
        for axis in 0..3 {
            let b = a | 1 << axis;
            if a == b {
                continue;
            }
            let hidden = (0..3)
                .filter(|&other| other != axis)
                .all(|other| away(other, a >> other & 1));
            if let (Some((from, _)), Some((to, _))) =
                (camera.project(corners[a]), camera.project(corners[b]))
            {
                stroke(&mut cover[usize::from(!hidden)], from, to, half_width);
            }
        }
    }
    cover
}

/// All that a pixel depends on.
struct Stage {
    camera: Camera,
    size: (usize, usize),
    sights: Sights,
    ground: Ground,
    sheet: Sheet,
    /// In place of a surface.
    beads: Option<Beads>,
    /// Of the liquid's front surface; zero where there is none.
    normals: Vec<Vec3>,
    mean: f32,
    radius: f32,
    /// A speed that counts as fast: that of a fall through the domain, nearly.
    fast: f32,
}

impl Stage {
    /// What a pixel shows behind and before the liquid.
    fn without_liquid(&self, x: usize, y: usize, rear: &Field) -> Bare {
        let ray = ray(&self.camera, x, y);
        let at = y * self.size.0 + x;
        let liquid_t = self.sheet.depth.values[at] / dot(ray.direction, self.camera.forward);

        let across = (x as f32 + 0.5) / self.size.0 as f32;
        let mut colour = backdrop(across, (y as f32 + 0.5) / self.size.1 as f32);
        let mut ground_t = f32::INFINITY;
        if ray.direction[2] < -1e-4 {
            ground_t = -ray.from[2] / ray.direction[2];
            let p = along(ray.from, ground_t, ray.direction);
            let (ground, fade) = self.ground.at(p[0], p[1]);
            colour = mix(ground, colour, fade);
        }
        colour = mix(colour, EDGE, 0.4 * rear.values[at]);

        let mut before = Veil::NONE;
        let start = self.sights.window(x, y).start;
        for layer in self.sights.layers(x, y) {
            if layer.t > ground_t {
                continue;
            }
            let veil = shade(layer, ray.direction);
            // Liquid is never before the wall through which one looks in, whatever smoothing did to it.
            if layer.t > liquid_t && layer.t > start * (1.0 + 1e-5) {
                colour = veil.over(colour);
            } else {
                before = before.behind(&veil);
            }
        }
        // Where there is no liquid its depth is infinite and everything is before it.
        Bare {
            behind: colour,
            before,
        }
    }

    /// The liquid over what is behind it.
    fn with_liquid(&self, x: usize, y: usize, picture: &[Bare]) -> Vec3 {
        let at = y * self.size.0 + x;
        let bare = picture[at].behind;
        let depth = self.sheet.depth.values[at];
        if depth == f32::INFINITY {
            return bare;
        }
        if let Some(beads) = &self.beads {
            return mix(bare, beads.colours[at], self.sheet.cover.values[at]);
        }
        let toward = self.camera.toward(x as f32 + 0.5, y as f32 + 0.5);
        let direction = normalize(toward);
        let normal = self.mean_normal(x, y);
        let thickness = self.sheet.thickness.values[at];
        let speed = if thickness > 0.0 {
            self.sheet.flow.values[at] / thickness
        } else {
            0.0
        };

        // What lies behind is seen displaced, the more so the thicker the liquid.
        let bend = 0.22 * thickness.min(0.4 * self.mean) * self.camera.focal / depth;
        let [right, down] = self.camera.on_picture(normal);
        let seen = self.blend(picture, x as f32 - bend * right, y as f32 - bend * down);

        // A little more than there is, or edges and drops would fade away.
        let swallowing = thickness / self.mean + LEAST_TINT;
        let clear = SWALLOWED.map(|s| (-s * swallowing).exp());
        let lit = 0.62 + 0.5 * dot(normal, key_direction()).max(0.0);
        let foam = 0.55 * smoothstep(0.45, 1.3, speed / self.fast);
        let scattered = scale(mix(SCATTERED, FOAM, foam), lit);
        let inside = from_fn(|i| clear[i] * seen[i] + (1.0 - clear[i]) * scattered[i]);
        // Against a wall there is no air to make a surface that shines.
        let gap = depth - self.sights.window(x, y).start * dot(direction, self.camera.forward);
        let free = smoothstep(0.0, 2.0 * self.radius, gap);
        let shine = free * fresnel(0.03, -dot(direction, normal)).min(0.55);
        let mirrored = surroundings(reflect(direction, normal)).map(|c| c.min(2.5));
        mix(
            bare,
            mix(inside, mirrored, shine),
            self.sheet.cover.values[at],
        )
    }

    /// The colour between the four nearest pixels.
    fn blend(&self, picture: &[Bare], x: f32, y: f32) -> Vec3 {
        let (width, height) = self.size;
        let (x, y) = (
            x.clamp(0.0, (width - 1) as f32),
            y.clamp(0.0, (height - 1) as f32),
        );
        let (i, j) = (x as usize, y as usize);
        let (fx, fy) = (x - i as f32, y - j as f32);
        let at = |i: usize, j: usize| picture[j.min(height - 1) * width + i.min(width - 1)].behind;
        mix(
            mix(at(i, j), at(i + 1, j), fx),
            mix(at(i, j + 1), at(i + 1, j + 1), fx),
            fy,
        )
    }

    /// The mean of the normals around a pixel: where surfaces meet, single ones are all over the place.
    fn mean_normal(&self, x: usize, y: usize) -> Vec3 {
        let mut sum = [0.0; 3];
        for j in y.saturating_sub(1)..(y + 2).min(self.size.1) {
            for i in x.saturating_sub(1)..(x + 2).min(self.size.0) {
                sum = add(sum, self.normals[j * self.size.0 + i]);
            }
        }
        normalize(sum)
    }

    /// The normal of the liquid's front surface, from the smaller of the steps to both sides.
    fn normal(&self, x: usize, y: usize) -> Vec3 {
        if self.sheet.depth.values[y * self.size.0 + x] == f32::INFINITY {
            return [0.0; 3];
        }
        let point = |x: usize, y: usize| {
            let depth = self.sheet.depth.values[y * self.size.0 + x];
            scale(self.camera.toward(x as f32 + 0.5, y as f32 + 0.5), depth)
        };
        let middle = point(x, y);
        let step = |low: Option<Vec3>, high: Option<Vec3>| {
            let steps = [low.map(|p| sub(middle, p)), high.map(|p| sub(p, middle))];
            let [low, high] = steps.map(|s| s.filter(|s| s.iter().all(|c| c.is_finite())));
            match (low, high) {
                (Some(a), Some(b)) => {
                    let depth_of = |s: Vec3| dot(s, self.camera.forward).abs();
                    let (da, db) = (depth_of(a), depth_of(b));
                    if da.max(db) < 3.0 * da.min(db) + 1e-3 * self.mean {
                        Some(add(a, b))
                    } else if da < db {
                        Some(a)
                    } else {
                        Some(b)
                    }
                }
                (one, other) => one.or(other),
            }
        };
        let across = step(
            x.checked_sub(1).map(|x| point(x, y)),
            (x + 1 < self.size.0).then(|| point(x + 1, y)),
        );
        let down = step(
            y.checked_sub(1).map(|y| point(x, y)),
            (y + 1 < self.size.1).then(|| point(x, y + 1)),
        );
        match (across, down) {
            (Some(across), Some(down)) => normalize(cross(down, across)),
            _ => scale(self.camera.forward, -1.0),
        }
    }
}
