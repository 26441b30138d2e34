//! Pictures of a running simulation, drawn in software: no GPU, no display, the same pixels for any
//! number of threads.

mod blur;
mod camera;
mod film;
mod glyphs;
mod ground;
mod lettering;
mod light;
mod palette;
mod particles;
mod plane;
mod sights;
mod smooth;
pub(crate) mod solids;
mod space;
mod strokes;
mod vector;

#[cfg(test)]
mod tests;

pub use film::GifWriter;

use image::RgbImage;
use meniscus_shapes::Body;
use rayon::prelude::*;
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
    /// Solids; a container is drawn as glass around its hollow, the domain's own box as edges.
    pub bodies: &'a [Body<D>],
    /// In seconds; it decides where the bodies are.
    pub time: f64,
    /// The upper corner; the lower one is the origin.
    pub domain: [f64; D],
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

    fn sound_radius(&self) -> f64 {
        let longest = self.sound_domain().into_iter().fold(0.0, f64::max);
        if self.radius.is_finite() && self.radius > 0.0 {
            self.radius.clamp(1e-4 * longest, 0.1 * longest)
        } else {
            longest / 128.0
        }
    }
}

/// Draws a view of the given width and height, of a scene in the plane (`D` is 2) or in space (3). The
/// camera depends on the domain alone, so the pictures of one run fit together.
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
    picture
        .par_chunks_mut(3)
        .zip(colours.par_iter())
        .for_each(|(pixel, &colour)| pixel.copy_from_slice(&light::to_pixel(colour)));
    picture
}
