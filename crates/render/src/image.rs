//! RGB images and their PNG files.

use std::io::{self, BufRead, Seek};

/// Colour of a pixel: red, green, blue.
pub type Rgb = [u8; 3];

/// Image of eight bits per channel, in rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbImage {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl RgbImage {
    /// A black image.
    pub fn new(width: u32, height: u32) -> Self {
        Self::from_pixel(width, height, [0; 3])
    }

    /// An image of one colour.
    pub fn from_pixel(width: u32, height: u32, colour: Rgb) -> Self {
        Self {
            width,
            height,
            pixels: vec![colour; width as usize * height as usize],
        }
    }

    /// Width and height in pixels.
    pub fn dimensions(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    /// All pixels, row by row.
    pub fn pixels_mut(&mut self) -> &mut [Rgb] {
        &mut self.pixels
    }

    /// All pixels with their column and row.
    pub fn enumerate_pixels(&self) -> impl Iterator<Item = (u32, u32, &Rgb)> {
        let width = self.width as usize;
        let numbered = self.pixels.iter().enumerate();
        numbered.map(move |(k, pixel)| ((k % width) as u32, (k / width) as u32, pixel))
    }

    /// The pixel of a column and row.
    ///
    /// # Panics
    /// If it is outside.
    pub fn get_pixel(&self, x: u32, y: u32) -> &Rgb {
        &self.pixels[self.index(x, y)]
    }

    /// Sets a pixel.
    ///
    /// # Panics
    /// If it is outside.
    pub fn put_pixel(&mut self, x: u32, y: u32, colour: Rgb) {
        let index = self.index(x, y);
        self.pixels[index] = colour;
    }

    fn index(&self, x: u32, y: u32) -> usize {
        assert!(x < self.width, "column {x} of {}", self.width);
        y as usize * self.width as usize + x as usize
    }

    /// Channels of all pixels, row by row.
    pub fn as_raw(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Copies another image to a column and row; what does not fit is cut off.
    pub fn copy_from(&mut self, other: &Self, x: u32, y: u32) {
        let (width, height) = self.dimensions();
        for (column, row, colour) in other.enumerate_pixels() {
            if x + column < width && y + row < height {
                self.put_pixel(x + column, y + row, *colour);
            }
        }
    }

    /// The file of the image in the format PNG.
    ///
    /// # Errors
    /// If the image has no pixels.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let (width, height) = self.dimensions();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        encoder.set_filter(png::Filter::Adaptive);
        encoder.write_header()?.write_image_data(self.as_raw())?;
        Ok(bytes)
    }

    /// Reads a PNG file of eight bits per channel without transparency.
    ///
    /// # Errors
    /// If it is not one.
    pub fn read_png(file: impl BufRead + Seek) -> io::Result<Self> {
        let mut reader = png::Decoder::new(file).read_info()?;
        let info = reader.info();
        let (width, height) = (info.width, info.height);
        if (info.color_type, info.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
            return Err(io::Error::other(
                "not an RGB image of eight bits per channel",
            ));
        }
        let size = reader.output_buffer_size();
        let mut bytes = vec![0; size.ok_or_else(|| io::Error::other("too large"))?];
        reader.next_frame(&mut bytes)?;
        let (pixels, _) = bytes.as_chunks::<3>();
        Ok(Self {
            width,
            height,
            pixels: pixels.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn a_png_file_reads_back_as_the_same_image() {
        let mut image = RgbImage::from_pixel(7, 5, [200, 10, 90]);
        image.put_pixel(6, 4, [1, 2, 3]);
        let read = RgbImage::read_png(Cursor::new(image.png().unwrap())).unwrap();
        assert_eq!((read.dimensions(), &read), ((7, 5), &image));
        assert!(RgbImage::read_png(Cursor::new(b"not a PNG file")).is_err());
        let empty = RgbImage::new(0, 5);
        assert!(empty.dimensions() == (0, 5) && empty.png().is_err());
    }

    #[test]
    fn a_copy_that_does_not_fit_is_cut_off() {
        let mut image = RgbImage::new(3, 3);
        image.copy_from(&RgbImage::from_pixel(2, 2, [9; 3]), 2, 1);
        let set: Vec<(u32, u32)> = image
            .enumerate_pixels()
            .filter(|(.., pixel)| **pixel == [9; 3])
            .map(|(x, y, _)| (x, y))
            .collect();
        assert_eq!(set, [(2, 1), (2, 2)]);
    }
}
