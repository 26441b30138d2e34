//! Primary rays, and the layers of solids along them.

use super::camera::Camera;
use super::cloth::Drapes;
use super::ray_march::Span;
use super::sphere_tracing::{Layer, Layers, Ray, Solid, box_span};
use super::vector::{Vec3, dot, scale};
use meniscus_scene::Material;
use rayon::prelude::*;

/// Interval of a ray where liquid can be.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Inside all containers and in front of the first opaque solid.
    pub span: Span,
    /// Coverage of the pixel by their outlines.
    pub open: f32,
}

/// Layers of solids along all rays.
pub(super) struct SolidLayers {
    rows: Vec<Row>,
}

struct Row {
    /// Start of each pixel's layers in `layers`, and the end of the last.
    begins: Vec<usize>,
    /// Layers of each pixel, from the farthest to the nearest.
    layers: Vec<Layer>,
    windows: Vec<Window>,
}

impl SolidLayers {
    /// Intersects all primary rays with the solids; with `closed`, the domain's box is a container as well.
    pub fn new<const D: usize>(
        camera: &Camera,
        size: (usize, usize),
        solids: &[Solid<D>],
        drapes: &Drapes,
        domain: Vec3,
        closed: bool,
    ) -> Self {
        let look = |y: usize| {
            let mut row = Row {
                begins: vec![0],
                layers: Vec::new(),
                windows: Vec::with_capacity(size.0),
            };
            for x in 0..size.0 {
                let ray = ray(camera, x, y);
                let mut layers = Layers::default();
                let mut window = Window {
                    span: Span {
                        start: 0.0,
                        end: f32::INFINITY,
                        wall: scale(ray.direction, -1.0),
                    },
                    open: 1.0,
                };
                let span = &mut window.span;
                if closed {
                    match box_span(&ray, [0.0; 3], domain) {
                        Some((start, end, wall)) => *span = Span { start, end, wall },
                        None => window.open = 0.0,
                    }
                }
                for solid in solids {
                    let seen = solid.trace(&ray, &mut layers);
                    match seen {
                        Some((first, last)) if solid.is_container() => {
                            if first.t > span.start {
                                (span.start, span.wall) = (first.t, first.normal);
                            }
                            // A ray that only grazes the container does not pass through it.
                            span.end = span.end.min(last);
                            window.open = window.open.min(first.alpha);
                        }
                        Some((first, _))
                            if first.material == Material::Stone && first.alpha > 0.5 =>
                        {
                            span.end = span.end.min(first.t);
                        }
                        None if solid.is_container() => window.open = 0.0,
                        _ => {}
                    }
                }
                if let Some(cloth) = drapes.layer(x, y, ray.direction, camera) {
                    window.span.end = window.span.end.min(cloth.t);
                    layers.push(cloth);
                }
                row.layers.extend(layers.sorted());
                row.begins.push(row.layers.len());
                row.windows.push(window);
            }
            row
        };
        Self {
            rows: (0..size.1).into_par_iter().map(look).collect(),
        }
    }

    /// Layers of a pixel, from the farthest to the nearest.
    pub fn layers(&self, x: usize, y: usize) -> &[Layer] {
        let row = &self.rows[y];
        &row.layers[row.begins[x]..row.begins[x + 1]]
    }

    pub fn window(&self, x: usize, y: usize) -> Window {
        self.rows[y].windows[x]
    }
}

/// Ray through the centre of a pixel.
pub(super) fn ray(camera: &Camera, x: usize, y: usize) -> Ray {
    let toward = camera.toward(x as f32 + 0.5, y as f32 + 0.5);
    let stretch = dot(toward, toward).sqrt();
    Ray {
        from: camera.eye,
        direction: scale(toward, 1.0 / stretch),
        pixel: 1.0 / (camera.focal * stretch),
    }
}

/// Fraction of light that passes all solids along a ray, 0 to 1.
pub(super) fn passes<const D: usize>(solids: &[Solid<D>], ray: &Ray) -> f32 {
    let mut layers = Layers::default();
    for solid in solids {
        solid.trace(ray, &mut layers);
    }
    layers
        .sorted()
        .map(|layer| match layer.material {
            Material::Stone => 1.0 - layer.alpha,
            Material::Glass => {
                let grazing = 1.0 - dot(layer.normal, ray.direction).abs();
                1.0 - layer.alpha * (0.05 + 0.45 * grazing.powi(4))
            }
        })
        .product()
}
