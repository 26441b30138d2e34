//! Contact sheets: the last frames of several runs in one image.

use super::reel::{DrawnFrame, open};
use super::{Options, check_size};
use crate::image::RgbImage;
use meniscus_store::atomic_file;
use meniscus_store::error::{Error, Kind};
use meniscus_store::opened_run::OpenedRun;
use std::path::Path;

/// Most runs in an image.
const MOST_RUNS: usize = 400;
/// Gap between images in pixels, and its colour.
const GAP: u32 = 4;
const PAPER: [u8; 3] = [255, 255, 255];

/// Writes an image of the last frames of runs as PNG, all seen by the same camera, row after row. `labels` are their captions:
/// what all runs have in common would leave no space for what they differ in.
///
/// # Errors
/// If there is no run, a folder is not one or has no frames, or the image can't be written.
pub fn contact_sheet(
    runs: &[&Path],
    labels: &[String],
    options: &Options<'_>,
    to: &Path,
) -> Result<(), Error> {
    check_size(options.size).map_err(Error::usage)?;
    if runs.is_empty() || runs.len() > MOST_RUNS {
        return Err(Error::usage(format!(
            "a contact sheet has from 1 to {MOST_RUNS} runs, not {}",
            runs.len()
        )));
    }
    let opened = runs.iter().map(|run| OpenedRun::open(run));
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let mut pictures = Vec::new();
    for (k, mut reel) in open(&opened, options)?.into_iter().enumerate() {
        if let Some(label) = labels.get(k) {
            reel.set_title(label);
        }
        let Some(&last) = reel.frames().last() else {
            continue;
        };
        match reel.draw(last, false)? {
            DrawnFrame::Picture(picture) => pictures.push(picture),
            DrawnFrame::Damaged(error) => return Err(error),
        }
    }
    let sheet = tiled(&pictures);
    let bytes = sheet.png().map_err(|e| {
        Error::new(
            Kind::Storage,
            format!("could not encode {}: {e}", to.display()),
        )
    })?;
    atomic_file::write(to, &bytes)
}

/// Images side by side, in about as many rows as columns.
fn tiled(pictures: &[RgbImage]) -> RgbImage {
    let columns = (1..).find(|n| n * n >= pictures.len()).unwrap_or(1).max(1);
    let rows = pictures.len().div_ceil(columns);
    let widest = |of: fn(&RgbImage) -> u32| pictures.iter().map(of).max().unwrap_or(0);
    let (width, height) = (widest(|p| p.dimensions().0), widest(|p| p.dimensions().1));
    let side = |count: usize, each: u32| count as u32 * (each + GAP) + GAP;
    let mut sheet = RgbImage::from_pixel(side(columns, width), side(rows, height), PAPER);
    for (k, picture) in pictures.iter().enumerate() {
        let (column, row) = ((k % columns) as u32, (k / columns) as u32);
        sheet.copy_from(
            picture,
            GAP + column * (width + GAP),
            GAP + row * (height + GAP),
        );
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_images_are_tiled_in_two_rows_of_three() {
        let picture = RgbImage::from_pixel(20, 10, [1, 2, 3]);
        let sheet = tiled(&vec![picture; 5]);
        assert_eq!(sheet.dimensions(), (3 * 24 + 4, 2 * 14 + 4));
        let is_paper = |x, y| *sheet.get_pixel(x, y) == PAPER;
        assert!(
            is_paper(0, 0)
                && !is_paper(4, 4)
                && !is_paper(4 + 24, 4 + 14)
                && is_paper(4 + 48, 4 + 14)
        );
    }
}
