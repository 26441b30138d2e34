//! Rendering of 3D scenes.

use super::View;
use super::blur::{Field, raster};
use super::camera::{Box3, Camera};
use super::cloth::Drapes;
use super::colours::{Tint, linear};
use super::compositing::{Composite, shade};
use super::droplets::{self, Droplet};
use super::ground::Ground;
use super::legend::speed_colour;
use super::light::{backdrop, fresnel, key_direction, surroundings};
use super::lines::stroke;
use super::particle_sprites::{self, Sprites};
use super::particles::{Spot, valid_particles};
use super::ray_march::{Crossing, march};
use super::solid_layers::{SolidLayers, ray};
use super::sphere_tracing::{Solid, is_domain_box};
use super::vector::{Vec3, along, dot, mix, mul, normalize, reflect, scale, smoothstep};
use super::volume::Volume;
use meniscus_scene::{Material, Style};
use meniscus_shapes::PosedSolid;
use std::array::from_fn;

/// Apparent thickness of the thinnest liquid, in mean sides of the domain.
const LEAST_TINT: f32 = 0.04;
/// Smallest path of light through liquid that ends at a wall, in mean sides of the domain.
const REFLECTED: f32 = 0.24;
/// Radius of a sprite, in radii of the particles, so that single ones can be distinguished.
const SPRITE_RADIUS: f32 = 0.55;
const EDGE: Vec3 = [0.16, 0.20, 0.25];

/// Pixel without the liquid.
#[derive(Clone, Copy, Default)]
struct Background {
    /// Background of the liquid, or the whole if there is none.
    behind: Vec3,
    /// Layers in front of the liquid.
    before: Composite,
}

/// Renders the scene: linear colours, row by row.
pub(super) fn draw<const D: usize>(view: &View<D>, size: (usize, usize)) -> Vec<Vec3> {
    let domain: Vec3 = from_fn(|i| view.valid_domain().get(i).map_or(1.0, |&d| d as f32));
    let frame = view.frame_in_space();
    let camera = Camera::new(&view.camera, &frame, size);
    let radius = view.valid_radius() as f32;
    let materials = view
        .materials
        .iter()
        .chain(std::iter::repeat(&Material::Stone));
    let colours = view.colours.iter().chain(std::iter::repeat(&None));
    let solids: Vec<Solid<D>> = view
        .bodies
        .iter()
        .zip(materials.zip(colours))
        .filter_map(|(body, (&material, colour))| {
            Solid::new(body, (material, colour.map(linear)), view.time, domain)
        })
        .collect();

    let edges = view.bodies.iter().any(|body| is_domain_box(body, domain));
    let drapes = Drapes::new(view.cloth, &camera, size);
    let layers = SolidLayers::new(&camera, size, &solids, &drapes, domain, edges);

    let particles = valid_particles(view);
    let posed: Vec<PosedSolid<D>> = view
        .bodies
        .iter()
        .filter(|body| body.validate().is_ok())
        .map(|body| body.at(view.time))
        .collect();
    let volume = Volume::new(&particles, 2.0 * radius, view.valid_per_cell(), &posed);
    let liquid = match view.style {
        Style::Surface => {
            let crossings = raster(size, |x, y| {
                let window = layers.window(x, y);
                let mut found = match window.open > 0.0 {
                    true => march(&volume, &ray(&camera, x, y), window.span),
                    false => Crossing::default(),
                };
                found.cover = found.cover.min(window.open);
                found
            });
            let droplets = droplets::draw(&particles, &volume, |p| spot(&camera, p), size);
            Liquid::Surface {
                crossings,
                droplets,
            }
        }
        Style::Particles => Liquid::Sprites(draw_sprites(&particles, &camera, &layers, view, size)),
    };

    let ground = Ground::new(&frame, &volume, &solids);
    let [rear, front] = box_edges(&camera, domain, size, edges);

    let stage = Stage {
        camera,
        size,
        layers,
        ground,
        liquid,
        tint: Tint::new(view.liquid_colour),
        mean: frame.mean_side(),
        spacing: volume.spacing,
        fast: (9.8 * frame.sides()[2]).sqrt(),
    };
    let bare = raster(size, |x, y| stage.without_liquid(x, y, &rear));
    raster(size, |x, y| {
        let at = y * size.0 + x;
        let colour = bare[at].before.over(stage.with_liquid(x, y, &bare));
        mix(colour, EDGE, 0.55 * front.values[at])
    })
}

/// Projection of a point.
fn spot(camera: &Camera, p: Vec3) -> Option<Spot> {
    let ([x, y], depth) = camera.project(p)?;
    let zoom = camera.focal / depth;
    Some(Spot { x, y, depth, zoom })
}

/// Particle sprites inside the outlines of their containers.
fn draw_sprites<const D: usize>(
    particles: &[(Vec3, f32)],
    camera: &Camera,
    layers: &SolidLayers,
    view: &View<D>,
    size: (usize, usize),
) -> Sprites {
    let fastest = view.valid_fastest();
    let shaded = |[x, y, near]: Vec3, speed: f32| {
        let normal = camera.world_from_picture([x, y, near]);
        let light = 0.5 + 0.62 * dot(normal, key_direction()).max(0.0);
        scale(speed_colour(speed / fastest), light)
    };
    let radius = SPRITE_RADIUS * view.valid_radius() as f32;
    let mut sprites =
        particle_sprites::string(particles, radius, |p| spot(camera, p), shaded, size);
    for y in 0..size.1 {
        for x in 0..size.0 {
            let cover = &mut sprites.cover.values[y * size.0 + x];
            *cover = cover.min(layers.window(x, y).open);
        }
    }
    sprites
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
    // Whether the face of an axis, on the low (0) or high (1) side, faces away from the camera.
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

/// Representation of the liquid.
enum Liquid {
    /// A surface, and spray.
    Surface {
        crossings: Vec<Crossing>,
        droplets: Vec<Droplet>,
    },
    /// Particles.
    Sprites(Sprites),
}

/// Inputs of a pixel.
struct Stage {
    camera: Camera,
    size: (usize, usize),
    layers: SolidLayers,
    ground: Ground,
    liquid: Liquid,
    tint: Tint,
    mean: f32,
    /// Spacing of the liquid's field.
    spacing: f32,
    /// Speed that counts as fast: nearly that of a fall through the domain.
    fast: f32,
}

impl Stage {
    /// Distance from the eye to the liquid, in a direction.
    fn liquid_start(&self, at: usize, direction: Vec3) -> f32 {
        let stretch = 1.0 / dot(direction, self.camera.forward);
        match &self.liquid {
            Liquid::Surface {
                crossings,
                droplets,
            } => {
                let surface = &crossings[at];
                let surface = if surface.cover > 0.0 {
                    surface.start
                } else {
                    f32::INFINITY
                };
                surface.min(
                    droplets
                        .get(at)
                        .map_or(f32::INFINITY, |d| d.depth * stretch),
                )
            }
            Liquid::Sprites(sprites) => sprites.depth.values[at] * stretch,
        }
    }

    /// Background and foreground of a pixel.
    fn without_liquid(&self, x: usize, y: usize, rear: &Field) -> Background {
        let ray = ray(&self.camera, x, y);
        let at = y * self.size.0 + x;
        let liquid_t = self.liquid_start(at, ray.direction);

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

        let mut before = Composite::NONE;
        let start = self.layers.window(x, y).span.start;
        for layer in self.layers.layers(x, y) {
            if layer.t > ground_t {
                continue;
            }
            let composite = shade(layer, ray.direction);
            // Liquid is never in front of the wall through which it is seen.
            if layer.t > liquid_t && layer.t > start * (1.0 + 1e-5) {
                colour = composite.over(colour);
            } else {
                before = before.behind(&composite);
            }
        }
        // Without liquid its distance is infinite and everything is in front of it.
        Background {
            behind: colour,
            before,
        }
    }

    /// Composites the liquid over the background.
    fn with_liquid(&self, x: usize, y: usize, picture: &[Background]) -> Vec3 {
        let at = y * self.size.0 + x;
        let bare = picture[at].behind;
        match &self.liquid {
            Liquid::Sprites(sprites) => mix(bare, sprites.colours[at], sprites.cover.values[at]),
            Liquid::Surface {
                crossings,
                droplets,
            } => {
                let found = &crossings[at];
                let droplet = droplets.get(at).unwrap_or(&Droplet::NONE);
                if found.cover == 0.0 && droplet.cover == 0.0 {
                    return bare;
                }
                let direction = normalize(self.camera.toward(x as f32 + 0.5, y as f32 + 0.5));
                let mut colour = bare;
                if found.cover > 0.0 {
                    colour = mix(
                        bare,
                        self.surface(x, y, found, direction, picture),
                        found.cover,
                    );
                }
                let depth = found.start * dot(direction, self.camera.forward);
                if droplet.cover > 0.0 && (found.cover < 0.5 || droplet.depth < depth) {
                    let open = self.layers.window(x, y).open;
                    let drop = self.droplet(droplet, direction, colour);
                    colour = mix(colour, drop, droplet.cover.min(open));
                }
                colour
            }
        }
    }

    /// Colour of the liquid's body.
    fn surface(
        &self,
        x: usize,
        y: usize,
        found: &Crossing,
        direction: Vec3,
        picture: &[Background],
    ) -> Vec3 {
        let normal = found.normal;
        // Refraction displaces the background, more so for thicker liquid, but not through a flat wall.
        let seen = if found.from_wall {
            picture[y * self.size.0 + x].behind
        } else {
            let bend = 0.22 * found.length.min(0.4 * self.mean) * self.camera.focal / found.start;
            let [right, down] = self.camera.on_picture(normal);
            self.blend(picture, x as f32 - bend * right, y as f32 - bend * down)
        };
        // Light leaving at a grazing angle is reflected inside the container, which lengthens its path.
        let length = found.length / self.mean;
        let way = if found.to_wall {
            length.hypot(REFLECTED)
        } else {
            length
        };
        let clear = self.tint.swallowed.map(|s| (-s * (way + LEAST_TINT)).exp());
        let lit = 0.62 + 0.5 * dot(normal, key_direction()).max(0.0);
        let foam = 0.55 * smoothstep(0.45, 1.3, found.speed / self.fast);
        let scattered = scale(mix(self.tint.scattered, self.tint.foam, foam), lit);
        let inside = from_fn(|i| clear[i] * seen[i] + (1.0 - clear[i]) * scattered[i]);
        if found.from_wall {
            // There is no surface to air that could reflect.
            return inside;
        }
        let gap = found.start - self.layers.window(x, y).span.start;
        let free = smoothstep(0.0, self.spacing, gap);
        mix(
            inside,
            self.mirrored(direction, normal),
            free * self.shine(direction, normal),
        )
    }

    /// Composites a droplet over the background.
    fn droplet(&self, droplet: &Droplet, direction: Vec3, behind: Vec3) -> Vec3 {
        let normal = normalize(self.camera.world_from_picture(droplet.facing));
        let way = droplet.thickness / self.mean + LEAST_TINT;
        let clear = self.tint.swallowed.map(|s| (-s * way).exp());
        let lit = 0.62 + 0.5 * dot(normal, key_direction()).max(0.0);
        let scattered = scale(mix(self.tint.scattered, self.tint.foam, 0.25), lit);
        let inside = from_fn(|i| clear[i] * behind[i] + (1.0 - clear[i]) * scattered[i]);
        mix(
            inside,
            self.mirrored(direction, normal),
            0.5 * self.shine(direction, normal),
        )
    }

    fn shine(&self, direction: Vec3, normal: Vec3) -> f32 {
        fresnel(0.03, -dot(direction, normal)).min(0.5)
    }

    /// Environment for reflections of liquid: grey walls would look purple on blue.
    fn mirrored(&self, direction: Vec3, normal: Vec3) -> Vec3 {
        // Lights are reflected where the surface faces the eye; along its outline they would be white dashes.
        let facing = -dot(direction, normal);
        let brightest = 0.8 + 2.0 * smoothstep(0.15, 0.5, facing);
        let seen = surroundings(reflect(direction, normal)).map(|c| c.min(brightest));
        mul(seen, [0.82, 0.97, 1.0])
    }

    /// Bilinear interpolation of the colour.
    fn blend(&self, picture: &[Background], x: f32, y: f32) -> Vec3 {
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
}
