use crate::image::RgbImage;
use crate::preview::GifWriter;
use gif::{ColorOutput, DecodeOptions};
use meniscus_store::error::Kind;
use std::fs::{self, File};
use std::path::Path;

const SIZE: (u32, u32) = (64, 48);

/// Gradient background with a moving square.
fn frame(step: u32) -> RgbImage {
    let colour = |x: u32, y: u32| {
        let square = (10 + 2 * step..22 + 2 * step).contains(&x) && (12..30).contains(&y);
        if square {
            [20, (90 + x) as u8, 200]
        } else {
            [(120 + y) as u8, (130 + y) as u8, (140 + x) as u8]
        }
    };
    let mut picture = RgbImage::new(SIZE.0, SIZE.1);
    for y in 0..SIZE.1 {
        for x in 0..SIZE.0 {
            picture.put_pixel(x, y, colour(x, y));
        }
    }
    picture
}

/// Frames as a player shows them, with their delays, and the number of repetitions.
fn play(path: &Path) -> (Vec<RgbImage>, Vec<u16>, gif::Repeat) {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    let mut decoder = options
        .read_info(File::open(path).expect("a file"))
        .expect("a GIF");
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let mut screen = RgbImage::new(width, height);
    let (mut shown, mut delays) = (Vec::new(), Vec::new());
    while let Some(part) = decoder.read_next_frame().expect("a frame") {
        for (k, pixel) in part.buffer.chunks_exact(4).enumerate() {
            if pixel[3] > 0 {
                let (x, y) = (
                    k as u32 % u32::from(part.width),
                    k as u32 / u32::from(part.width),
                );
                let place = (x + u32::from(part.left), y + u32::from(part.top));
                screen.put_pixel(place.0, place.1, [pixel[0], pixel[1], pixel[2]]);
            }
        }
        delays.push(part.delay);
        shown.push(screen.clone());
    }
    (shown, delays, decoder.repeat())
}

fn written(frames: &[RgbImage], frames_per_second: f64) -> (Vec<RgbImage>, Vec<u16>, gif::Repeat) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("preview.gif");
    let mut film = GifWriter::new(SIZE, frames_per_second).expect("a film");
    for frame in frames {
        film.push(frame).expect("a frame");
    }
    film.write(&path).expect("a file");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    play(&path)
}

#[test]
fn an_animation_shows_its_frames_and_repeats() {
    let frames: Vec<RgbImage> = (0..12).map(frame).collect();
    let (shown, delays, repeat) = written(&frames, 24.0);
    assert_eq!(repeat, gif::Repeat::Infinite);
    assert_eq!(delays.iter().sum::<u16>(), 50);
    assert!(delays.iter().all(|d| (4..=5).contains(d)), "{delays:?}");
    assert_eq!(shown.len(), frames.len());
    for (shown, frame) in shown.iter().zip(&frames) {
        let error: u64 = shown
            .as_raw()
            .iter()
            .zip(frame.as_raw())
            .map(|(a, b)| u64::from(a.abs_diff(*b)))
            .sum();
        let mean = error as f64 / frame.as_raw().len() as f64;
        assert!(mean < 3.0, "{mean}");
    }
}

#[test]
fn static_parts_do_not_flicker() {
    let frames: Vec<RgbImage> = (0..12).map(frame).collect();
    let (shown, ..) = written(&frames, 24.0);
    for k in 1..frames.len() {
        for (x, y, pixel) in frames[k].enumerate_pixels() {
            if frames[k - 1].get_pixel(x, y) == pixel {
                assert_eq!(shown[k - 1].get_pixel(x, y), shown[k].get_pixel(x, y));
            }
        }
    }
}

#[test]
fn frames_too_fast_for_a_gif_are_dropped() {
    let frames: Vec<RgbImage> = (0..10).map(frame).collect();
    let (shown, delays, _) = written(&frames, 100.0);
    assert_eq!(delays, [3, 3, 3, 3]);
    assert_eq!(shown.len(), 4);
    // A frame without changes still takes its time.
    let same = vec![frame(0); 3];
    assert_eq!(written(&same, 10.0).1, [10, 10, 10]);
}

#[test]
fn an_animation_is_written_atomically() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut film = GifWriter::new(SIZE, 24.0).expect("a film");
    let error = film
        .write(&folder.path().join("empty.gif"))
        .expect_err("no frames");
    assert_eq!(error.kind(), Kind::Usage);
    film.push(&frame(0)).expect("a frame");
    let nowhere = folder.path().join("missing").join("preview.gif");
    assert_eq!(
        film.write(&nowhere).expect_err("no folder").kind(),
        Kind::Storage
    );
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn invalid_animations_are_refused() {
    for size in [(0, 10), (10, 70_000)] {
        assert!(GifWriter::new(size, 24.0).is_err());
    }
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(GifWriter::new(SIZE, rate).is_err());
    }
    let mut film = GifWriter::new((10, 10), 24.0).expect("a film");
    assert!(film.push(&frame(0)).is_err());
    assert_eq!(film.frames(), 0);
}
