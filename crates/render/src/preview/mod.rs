//! Software renderer of previews: no GPU, no display, the same pixels for any number of
//! threads.

mod blur;
mod camera;
mod captions;
mod cloth;
mod colours;
mod compositing;
mod droplets;
mod frame_renderer;
pub mod framing;
mod gif;
mod glyphs;
mod ground;
mod legend;
mod light;
mod lines;
mod materials;
mod palette;
mod particle_sprites;
mod particles;
mod perspective;
mod planar;
mod ray_march;
mod side_by_side;
mod solid_layers;
pub mod sphere_tracing;
mod vector;
mod volume;

#[cfg(test)]
mod tests;

pub use cloth::Drape;
pub use frame_renderer::FrameRenderer;
pub use gif::{FASTEST, GifWriter};
pub use materials::{material_of, materials_of};
pub use side_by_side::side_by_side;

use crate::image::RgbImage;
use camera::Box3;
use meniscus_scene::{Camera, Color, Material, Style};
use meniscus_shapes::{Bounds, ScriptedSolid};
use std::array::from_fn;

/// Scene content at one time.
#[derive(Clone, Copy)]
pub struct View<'a, const D: usize> {
    /// Positions of the particles; those that are not finite or far outside are ignored.
    pub positions: &'a [[f32; D]],
    /// Velocities; missing ones count as zero.
    pub velocities: &'a [[f32; D]],
    /// Radius of a particle in metres, about half a cell.
    pub radius: f64,
    /// Solids; a container is drawn as its inner surface, the domain's own box as edges.
    pub bodies: &'a [ScriptedSolid<D>],
    /// Materials of the solids; stone where missing.
    pub materials: &'a [Material],
    /// Colours of the solids; that of their material where missing.
    pub colours: &'a [Option<Color>],
    /// Cloth; drawn in 3D only.
    pub cloth: &'a [Drape],
    /// Colour of the liquid. Default: that of water.
    pub liquid_colour: Option<Color>,
    /// Number of particles in a full cell of twice the radius.
    pub per_cell: f64,
    /// Time in seconds, which determines the poses of the solids.
    pub time: f64,
    /// Upper corner of the domain; the lower one is the origin.
    pub domain: [f64; D],
    /// Region of interest, which the camera sees completely.
    pub frame: Bounds<D>,
    /// Overrides of the camera.
    pub camera: Camera<D>,
    /// Rendering style of the liquid.
    pub style: Style,
    /// Speed in metres per second of the last colour, where colours show speeds.
    pub fastest: f64,
    /// Caption in the lower left corner.
    pub caption: Option<&'a str>,
}

impl<const D: usize> View<'_, D> {
    /// Domain, with one metre in place of invalid lengths.
    fn valid_domain(&self) -> [f64; D] {
        from_fn(|i| {
            let side = self.domain[i];
            if side.is_finite() && side > 0.0 {
                side
            } else {
                1.0
            }
        })
    }

    /// Region of interest, or the domain if it is invalid; thin ones are thickened.
    fn valid_frame(&self) -> Bounds<D> {
        let domain = Bounds {
            low: [0.0; D],
            high: self.valid_domain(),
        };
        let frame = match self.frame.is_finite() && !self.frame.is_empty() {
            true => self.frame,
            false => domain,
        };
        let longest = (0..D)
            .map(|i| frame.high[i] - frame.low[i])
            .fold(0.0, f64::max);
        match longest > 0.0 {
            true => Bounds {
                low: from_fn(|i| frame.low[i].min(frame.high[i] - 0.02 * longest)),
                high: frame.high,
            },
            false => domain,
        }
    }

    /// The same in 3D; a 2D one is one metre deep.
    fn frame_in_space(&self) -> Box3 {
        let frame = self.valid_frame();
        Box3 {
            low: from_fn(|i| frame.low.get(i).map_or(0.0, |&c| c as f32)),
            high: from_fn(|i| frame.high.get(i).map_or(1.0, |&c| c as f32)),
        }
    }

    fn valid_fastest(&self) -> f32 {
        if self.fastest.is_finite() && self.fastest > 0.0 {
            self.fastest as f32
        } else {
            1.0
        }
    }

    /// Particles in a full cell, at least one.
    fn valid_per_cell(&self) -> f32 {
        if self.per_cell.is_finite() && self.per_cell >= 1.0 {
            self.per_cell as f32
        } else {
            1.0
        }
    }

    fn valid_radius(&self) -> f64 {
        let frame = self.valid_frame();
        let longest = (0..D)
            .map(|i| frame.high[i] - frame.low[i])
            .fold(0.0, f64::max);
        if self.radius.is_finite() && self.radius > 0.0 {
            self.radius.clamp(1e-4 * longest, 0.1 * longest)
        } else {
            longest / 128.0
        }
    }
}

/// Renders a view of the given width and height, of a 2D or 3D scene. The
/// camera depends only on the region and the overrides, so the images of one run fit together.
pub fn draw<const D: usize>(view: &View<D>, size: (u32, u32)) -> RgbImage {
    let (width, height) = (size.0 as usize, size.1 as usize);
    let mut picture = RgbImage::new(size.0, size.1);
    if width == 0 || height == 0 {
        return picture;
    }
    let mut colours = match D {
        2 => planar::draw(view, (width, height)),
        3 => perspective::draw(view, (width, height)),
        _ => return picture,
    };
    if let Some(caption) = view.caption {
        captions::write(&mut colours, (width, height), caption);
    }
    if view.style == Style::Particles {
        let fastest = view.valid_fastest();
        let speed = |v: &[f32; D]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
        let exceeded = view.velocities.iter().any(|v| speed(v) > fastest);
        legend::draw(&mut colours, (width, height), fastest, exceeded);
    }
    light::expose(&colours, &mut picture);
    picture
}
