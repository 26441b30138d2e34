//! Pictures of a simulation, drawn in software: no GPU, no display, the same pixels for any number of
//! threads.

mod beside;
mod blur;
mod camera;
mod colours;
mod compositing;
mod droplets;
mod film;
mod frame_renderer;
pub mod framing;
mod glyphs;
mod ground;
mod legend;
mod lettering;
mod light;
mod march;
mod materials;
mod palette;
mod particle_sprites;
mod particles;
mod plane;
mod solid_layers;
pub mod solids;
mod space;
mod strokes;
mod vector;
mod volume;

#[cfg(test)]
mod tests;

pub use beside::beside;
pub use film::{FASTEST, GifWriter};
pub use frame_renderer::FrameRenderer;
pub use materials::{material_of, materials_of};

use crate::image::RgbImage;
use camera::Box3;
use meniscus_scene::{Camera, Color, Material, Style};
use meniscus_shapes::{Bounds, ScriptedSolid};
use std::array::from_fn;

/// What there is to see at one time.
#[derive(Clone, Copy)]
pub struct View<'a, const D: usize> {
    /// Where the particles are; those that are nowhere (not finite) or far outside are left out.
    pub positions: &'a [[f32; D]],
    /// How they move; missing ones count as resting.
    pub velocities: &'a [[f32; D]],
    /// Of a particle in metres, about half a cell.
    pub radius: f64,
    /// Solids; a container is drawn around its hollow, the domain's own box as edges.
    pub bodies: &'a [ScriptedSolid<D>],
    /// What they are made of; stone where nothing is said.
    pub materials: &'a [Material],
    /// Their colours; that of their material where nothing is said.
    pub colours: &'a [Option<Color>],
    /// Colour of the liquid. Default: that of water.
    pub liquid_colour: Option<Color>,
    /// Particles in a cell of twice the radius that is full of liquid.
    pub per_cell: f64,
    /// In seconds; it decides where the bodies are.
    pub time: f64,
    /// The upper corner; the lower one is the origin.
    pub domain: [f64; D],
    /// The part of space that matters: the camera sees all of it.
    pub frame: Bounds<D>,
    /// Where the camera is to be instead.
    pub camera: Camera<D>,
    /// How the liquid is drawn.
    pub style: Style,
    /// The speed, in metres a second, that has the last colour where colours show speeds.
    pub fastest: f64,
    /// A line of text in the lower left corner.
    pub caption: Option<&'a str>,
}

impl<const D: usize> View<'_, D> {
    /// The domain with one metre in place of what can't be a length.
    fn sound_domain(&self) -> [f64; D] {
        from_fn(|i| {
            let side = self.domain[i];
            if side.is_finite() && side > 0.0 {
                side
            } else {
                1.0
            }
        })
    }

    /// The part of space that matters, or the domain in place of what can't be one; thin ones are thickened.
    fn sound_frame(&self) -> Bounds<D> {
        let domain = Bounds {
            low: [0.0; D],
            high: self.sound_domain(),
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

    /// The same in space; a flat one is one metre deep.
    fn frame_in_space(&self) -> Box3 {
        let frame = self.sound_frame();
        Box3 {
            low: from_fn(|i| frame.low.get(i).map_or(0.0, |&c| c as f32)),
            high: from_fn(|i| frame.high.get(i).map_or(1.0, |&c| c as f32)),
        }
    }

    fn sound_fastest(&self) -> f32 {
        if self.fastest.is_finite() && self.fastest > 0.0 {
            self.fastest as f32
        } else {
            1.0
        }
    }

    /// Particles in a full cell, at least one.
    fn sound_per_cell(&self) -> f32 {
        if self.per_cell.is_finite() && self.per_cell >= 1.0 {
            self.per_cell as f32
        } else {
            1.0
        }
    }

    fn sound_radius(&self) -> f64 {
        let frame = self.sound_frame();
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

/// Draws a view of the given width and height, of a scene in the plane (`D` is 2) or in space (3). The
/// camera depends on the frame and on wishes alone, so the pictures of one run fit together.
pub fn draw<const D: usize>(view: &View<D>, size: (u32, u32)) -> RgbImage {
    let (width, height) = (size.0 as usize, size.1 as usize);
    let mut picture = RgbImage::new(size.0, size.1);
    if width == 0 || height == 0 {
        return picture;
    }
    let mut colours = match D {
        2 => plane::draw(view, (width, height)),
        3 => space::draw(view, (width, height)),
        _ => return picture,
    };
    if let Some(caption) = view.caption {
        lettering::write(&mut colours, (width, height), caption);
    }
    if view.style == Style::Particles {
        let fastest = view.sound_fastest();
        let speed = |v: &[f32; D]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
        let exceeded = view.velocities.iter().any(|v| speed(v) > fastest);
        legend::draw(&mut colours, (width, height), fastest, exceeded);
    }
    light::expose(&colours, &mut picture);
    picture
}
