//! Rendering of 2D scenes.

use super::View;
use super::blur::raster;
use super::colours::{self, linear};
use super::legend::speed_colour;
use super::particle_sprites;
use super::particles::{Drop, Spot, VolumeCells, spread, valid_particles};
use super::vector::{Vec3, mix, scale, smoothstep};
use meniscus_scene::{Camera, Style};
use meniscus_shapes::{Bounds, PosedSolid};
use std::array::from_fn;

/// Margin around the domain; below, there is space for a caption.
const MARGIN: f32 = 0.045;
const MARGIN_BELOW: f32 = 0.10;
/// Radius of a sprite, in radii of the particles, so that single ones can be distinguished.
const SPRITE_RADIUS: f32 = 0.5;
const AIR: [Vec3; 2] = [[0.80, 0.85, 0.89], [0.90, 0.92, 0.93]];
const WALL: Vec3 = [0.42, 0.46, 0.50];
/// Background behind the walls of a container, and thickness of those walls as a fraction of the image.
const PAPER: Vec3 = [0.80, 0.82, 0.83];
const THICK: f32 = 0.022;
const OUTLINE: Vec3 = [0.07, 0.09, 0.12];

/// Mapping of the plane to the image.
struct Layout {
    /// Pixels per metre.
    zoom: f32,
    /// Pixel of the origin.
    corner: [f32; 2],
}

impl Layout {
    fn new<const D: usize>(camera: &Camera<D>, frame: &Bounds<D>, size: (usize, usize)) -> Self {
        let (width, height) = (size.0 as f32, size.1 as f32);
        let side = width.min(height);
        let (margin, below) = (MARGIN * side, MARGIN_BELOW * side);
        let sides: [f32; 2] = from_fn(|i| (frame.high[i] - frame.low[i]) as f32);
        let whole = ((width - 2.0 * margin) / sides[0]).min((height - margin - below) / sides[1]);
        let zoom = camera.height.map_or(whole, |metres| height / metres as f32);
        let zoom = zoom.max(f32::MIN_POSITIVE);
        let middle = camera
            .target
            .unwrap_or_else(|| from_fn(|i| 0.5 * (frame.low[i] + frame.high[i])));
        // A caption needs space below, unless the camera sets the centre.
        let lift = match camera.target {
            Some(_) => 0.0,
            None => 0.5 * (below - margin),
        };
        Self {
            zoom,
            corner: [
                0.5 * width - zoom * middle[0] as f32,
                0.5 * height - lift + zoom * middle[1] as f32,
            ],
        }
    }

    fn spot(&self, p: Vec3) -> Spot {
        Spot {
            x: self.corner[0] + self.zoom * p[0],
            y: self.corner[1] - self.zoom * p[1],
            depth: 0.0,
            zoom: self.zoom,
        }
    }

    fn world(&self, x: f32, y: f32) -> [f64; 2] {
        [
            f64::from((x - self.corner[0]) / self.zoom),
            f64::from((self.corner[1] - y) / self.zoom),
        ]
    }
}

/// Renders the scene: linear colours, row by row.
pub(super) fn draw<const D: usize>(view: &View<D>, size: (usize, usize)) -> Vec<Vec3> {
    let (width, height) = size;
    let frame = view.valid_frame();
    let layout = Layout::new(&view.camera, &frame, size);
    let radius = view.valid_radius() as f32;

    let particles = valid_particles(view);
    let sprites = (view.style == Style::Particles).then(|| {
        let fastest = view.valid_fastest();
        let shaded =
            |[_, up, _]: Vec3, speed: f32| scale(speed_colour(speed / fastest), 0.95 + 0.25 * up);
        let place = |p| Some(layout.spot(p));
        particle_sprites::string(&particles, SPRITE_RADIUS * radius, place, shaded, size)
    });
    let volume_cells = VolumeCells::new(&particles, 2.0 * radius);
    let drops: Vec<Drop> = match sprites {
        Some(_) => Vec::new(),
        None => particles
            .iter()
            .map(|&(position, _)| Drop {
                position,
                radius: 1.5 * radius,
            })
            .collect(),
    };
    let mut sheet = spread(&drops, &volume_cells, |p| Some(layout.spot(p)), size);
    // Blurred and thresholded at one half, the union of the drops becomes one smooth body of liquid.
    let blur = (radius * layout.zoom).clamp(0.7, 20.0);
    sheet.cover.blur(blur);
    sheet.thickness.blur(blur);
    sheet.flow.blur(blur);

    // Containers are unbounded outside, obstacles are not.
    let solid_colours = view.colours.iter().chain(std::iter::repeat(&None));
    let bodies: Vec<(PosedSolid<D>, bool, Vec3)> = view
        .bodies
        .iter()
        .zip(solid_colours)
        .filter(|(body, _)| body.validate().is_ok())
        .map(|(body, colour)| {
            let endless = body.shape.bounds().is_none();
            (body.at(view.time), endless, colour.map_or(WALL, linear))
        })
        .collect();
    let colours = colours::flat(view.liquid_colour);
    let thick = THICK * width.min(height) as f32;
    let fast = (9.8 * (frame.high[1] - frame.low[1])).sqrt() as f32;
    raster(size, |x, y| {
        let at = y * width + x;
        let world = layout.world(x as f32 + 0.5, y as f32 + 0.5);
        let point = from_fn(|i| world.get(i).copied().unwrap_or(0.0));
        // Distances in pixels to the obstacles and to the containers.
        let mut distances = [f32::INFINITY; 2];
        let mut own_colour = WALL;
        for (body, endless, colour) in &bodies {
            let distance = body.distance(point) as f32 * layout.zoom;
            if distance < distances[0].min(distances[1]) {
                own_colour = *colour;
            }
            let nearest = &mut distances[usize::from(*endless)];
            *nearest = nearest.min(distance);
        }
        let wall = distances[0].min(distances[1]);
        let mut colour = mix(AIR[0], AIR[1], y as f32 / height as f32);
        colour = scale(colour, 1.0 - 0.14 * (-wall.max(0.0) / 5.0).exp());

        let cover = sheet.cover.values[at];
        // Slope of a blurred edge, so that the threshold is one pixel wide.
        let sharp = blur * (2.0 * std::f32::consts::PI).sqrt();
        let wet = ((cover - 0.5) * sharp + 0.5).clamp(0.0, 1.0);
        if wet > 0.0 {
            let amount = sheet.thickness.values[at].max(f32::MIN_POSITIVE);
            let speed = sheet.flow.values[at] / amount / fast;
            let mut liquid = tint(&colours, speed);
            // Bright line along the free surface.
            let edge = 1.0 - smoothstep(0.5, 0.86, cover);
            let free = smoothstep(1.0, 2.5, wall / blur);
            liquid = mix(liquid, colours[2], 0.45 * edge * free);
            colour = mix(colour, liquid, wet);
        }
        if let Some(sprites) = &sprites {
            colour = mix(colour, sprites.colours[at], sprites.cover.values[at]);
        }
        let solid = (0.5 - wall).clamp(0.0, 1.0);
        let line = (1.6 - (wall + 1.0).abs()).clamp(0.0, 1.0);
        // Containers are drawn as an outline only, without anything that protrudes from them.
        let beyond = (-distances[1] - thick + 0.5).clamp(0.0, 1.0);
        let stone = mix(own_colour, PAPER, beyond);
        mix(mix(colour, stone, solid), OUTLINE, 0.85 * line)
    })
}

fn tint([rest, moving, fast]: &[Vec3; 3], speed: f32) -> Vec3 {
    let moving = mix(*rest, *moving, smoothstep(0.0, 0.5, speed));
    mix(moving, *fast, smoothstep(0.35, 1.15, speed))
}
