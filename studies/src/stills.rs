//! Frames of a run as pictures, and side by side.

use meniscus_app::runner::Simulation;
use meniscus_app::runner::film::{bodies, frame_of};
use meniscus_liquid::{Liquid, SolidField};
use meniscus_render::image::RgbImage;
use meniscus_render::preview::FrameRenderer;
use meniscus_scene::{Scene, Style};
use meniscus_shapes::Solids;
use meniscus_sim::{LiquidWorld, World};
use meniscus_store::cache::{Frame, PointLayer};
use meniscus_store::error::{Error, Kind};

/// A frame.
pub struct Still {
    pub frame: u32,
    pub picture: RgbImage,
    /// Share of the particles that hang: within a cell of a solid that is above them, which nothing presses them against.
    pub hanging: f64,
    /// Mean of the particles' places.
    pub centre: Vec<f64>,
}

/// A solid whose normal points down at least this much is above what touches it.
const ABOVE: f64 = -0.5;
/// White lines between pictures, in pixels.
const GAP: u32 = 4;

/// Runs a scene and draws some of its frames, in their order.
pub fn stills<const D: usize>(
    scene: &Scene<D>,
    frames: &[u32],
    side: u32,
    words: &str,
) -> Result<Vec<Still>, Error> {
    let mut run = Simulation::new(scene)?;
    let last = frames.iter().copied().max().unwrap_or(0);
    let mut found = Vec::new();
    while run.frame() <= last {
        let step = run
            .step(&mut ())
            .map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
        if step.completes_frame && frames.contains(&step.frame) {
            found.push(still(scene, &run, step.frame, side, words)?);
        }
    }
    Ok(found)
}

/// A picture of a world of any kind, `side` pixels wide.
pub fn picture_of_world<const D: usize>(
    scene: &Scene<D>,
    world: &dyn World,
    frame: u32,
    side: u32,
    caption: &str,
) -> Result<RgbImage, Error> {
    let shown = frame_of(scene, world, frame);
    FrameRenderer::new(scene, size(scene, side), Style::Surface).draw(&shown, caption)
}

/// Pixels of a picture, `side` along its longer side.
fn size<const D: usize>(scene: &Scene<D>, side: u32) -> (u32, u32) {
    let longest = scene.domain.iter().copied().fold(0.0, f64::max);
    let along = |axis: usize| (f64::from(side) * scene.domain[axis] / longest).round() as u32;
    match D {
        2 => (along(0), along(1)),
        _ => (side, side),
    }
}

fn still<const D: usize>(
    scene: &Scene<D>,
    run: &Simulation<'_, D>,
    frame: u32,
    side: u32,
    words: &str,
) -> Result<Still, Error> {
    let world = LiquidWorld::<D>::of(run.world()).expect("a world of liquid");
    let liquid = world.liquid();
    let particles = liquid.particles();
    let shown = Frame {
        number: frame,
        time: liquid.time(),
        points: vec![PointLayer::liquid(
            scene.dx(),
            particles.position.clone(),
            particles.velocity.clone(),
        )],
        bodies: bodies(run.world()),
        loads: Vec::new(),
        meshes: Vec::new(),
    };
    let mut centre = vec![0.0; D];
    for place in &particles.position {
        for (sum, x) in centre.iter_mut().zip(place) {
            *sum += f64::from(*x);
        }
    }
    let count = particles.len().max(1) as f64;
    Ok(Still {
        frame,
        picture: FrameRenderer::new(scene, size(scene, side), Style::Surface)
            .draw(&shown, &format!("{words}, frame {frame}"))?,
        hanging: hanging(&scene.solids_and_walls(), liquid) / count,
        centre: centre.into_iter().map(|sum| sum / count).collect(),
    })
}

/// How many particles hang. Liquid that is thrown against a wall above it does not: there is pressure in it.
fn hanging<const D: usize>(solids: &Solids<D>, liquid: &Liquid<D>) -> f64 {
    let posed = solids.over_step(liquid.time(), 0.0);
    let dx = liquid.settings().dx;
    let hangs = |place: &&[f32; D]| {
        let x = place.map(f64::from);
        SolidField::distance_within(&posed, x, dx) < dx
            && SolidField::normal(&posed, x)[D - 1] < ABOVE
            && liquid
                .pressure(x.map(|x| (x / dx).floor() as i32))
                .is_none_or(|p| p <= 0.0)
    };
    let positions = &liquid.particles().position;
    positions.iter().filter(hangs).count() as f64
}

/// Stills in rows, all of one size.
pub fn in_rows(rows: &[Vec<Still>]) -> RgbImage {
    let pictures = |row: &Vec<Still>| row.iter().map(|still| still.picture.clone()).collect();
    pictures_in_rows(&rows.iter().map(pictures).collect::<Vec<_>>())
}

/// Pictures in rows, all of one size.
pub fn pictures_in_rows(rows: &[Vec<RgbImage>]) -> RgbImage {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let (width, height) = rows
        .iter()
        .flatten()
        .next()
        .map_or((1, 1), RgbImage::dimensions);
    let whole = |count: u32, one: u32| (count * (one + GAP)).saturating_sub(GAP).max(1);
    let mut all = RgbImage::from_pixel(
        whole(columns, width),
        whole(rows.len() as u32, height),
        [255; 3],
    );
    for (row, pictures) in rows.iter().enumerate() {
        for (column, picture) in pictures.iter().enumerate() {
            let left = column as u32 * (width + GAP);
            let top = row as u32 * (height + GAP);
            all.copy_from(picture, left, top);
        }
    }
    all
}

/// A picture as the content of a file.
pub fn png(picture: &RgbImage) -> Result<Vec<u8>, Error> {
    picture
        .png()
        .map_err(|cause| Error::new(Kind::Storage, format!("a picture: {cause}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walls;
    use meniscus_liquid::Walls;
    use meniscus_scene::AnyScene;

    #[test]
    fn rows_of_pictures_have_their_places() {
        let AnyScene::Two(scene) = walls::scene("circle", 16, Walls::Slip).unwrap() else {
            panic!("the circle is flat");
        };
        let row = || stills(&scene, &[1, 3], 40, "slip").unwrap();
        let rows = [row(), row()];
        assert_eq!(rows[0].iter().map(|s| s.frame).collect::<Vec<_>>(), [1, 3]);
        // Half of the circle is full at the start, and half of that is below an overhang.
        assert!(rows[0][0].hanging > 0.0 && rows[0][0].centre[0] < 0.5);
        let all = in_rows(&rows);
        assert_eq!(all.dimensions(), (2 * 40 + GAP, 2 * 40 + GAP));
        assert_eq!(all.get_pixel(41, 41), &[255; 3]);
        assert_eq!(all.get_pixel(20, 20), rows[0][0].picture.get_pixel(20, 20));
        assert_eq!(&png(&all).unwrap()[1..4], b"PNG");
    }
}
