//! Output files of images.

use super::mp4::Movie;
use super::{Filmed, Options};
use crate::image::RgbImage;
use crate::preview::FASTEST;
use crate::preview::GifWriter;
use meniscus_store::atomic_file;
use meniscus_store::error::Error;
use meniscus_store::layout::pictures::{GIF, MP4, picture_name};
use std::fs;
use std::path::{Path, PathBuf};

/// Output files.
pub(super) struct Sinks {
    filmed: Filmed,
    png: bool,
    png_bytes: u64,
    gif: Option<GifWriter>,
    movie: Option<Movie>,
    /// Frame rates of the GIF and of the MP4.
    rates: (f64, f64),
    wants: (bool, bool),
}

impl Sinks {
    pub fn open(folder: PathBuf, options: &Options<'_>, rate: f64) -> Result<Self, Error> {
        if options.mp4 {
            Movie::find()?;
        }
        fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, &e))?;
        Ok(Sinks {
            filmed: Filmed {
                folder,
                pictures: 0,
                files: Vec::new(),
            },
            png: options.png,
            png_bytes: 0,
            gif: None,
            movie: None,
            // An MP4 has the frame rate of the scene; GIF players don't keep up with high ones.
            rates: match options.slow {
                Some(slow) => (rate / slow, rate / slow),
                None => (rate.min(FASTEST), rate),
            },
            wants: (options.gif, options.mp4),
        })
    }

    pub fn take(&mut self, frame: u32, picture: &RgbImage, is_new: bool) -> Result<(), Error> {
        let size = picture.dimensions();
        if is_new {
            self.filmed.pictures += 1;
            if self.png {
                let path = self.filmed.folder.join(picture_name(frame));
                self.png_bytes += write_png(&path, picture)?;
            }
        }
        if self.wants.0 && self.gif.is_none() {
            self.gif = Some(GifWriter::new(size, self.rates.0)?);
        }
        if self.wants.1 && self.movie.is_none() {
            let path = self.filmed.folder.join(MP4);
            self.movie = Some(Movie::begin(&path, size, self.rates.1)?);
        }
        if let Some(gif) = &mut self.gif {
            gif.push(picture)?;
        }
        match &mut self.movie {
            Some(movie) => movie.push(picture),
            None => Ok(()),
        }
    }

    pub fn close(mut self) -> Result<Filmed, Error> {
        let folder = &self.filmed.folder;
        if self.png && self.png_bytes > 0 {
            let pictures = ("preview_*.png".into(), self.png_bytes);
            self.filmed.files.push(pictures);
        }
        if let Some(gif) = &self.gif {
            let path = folder.join(GIF);
            gif.write(&path)?;
            self.filmed.files.push((GIF.into(), size_of(&path)));
        }
        if let Some(movie) = self.movie.take() {
            movie.finish()?;
            let size = size_of(&folder.join(MP4));
            self.filmed.files.push((MP4.into(), size));
        }
        Ok(self.filmed)
    }
}

fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

/// Writes an image atomically and returns its size in bytes.
fn write_png(path: &Path, picture: &RgbImage) -> Result<u64, Error> {
    let bytes = picture.png().map_err(|e| Error::io("write", path, &e))?;
    atomic_file::write(path, &bytes)?;
    Ok(bytes.len() as u64)
}
