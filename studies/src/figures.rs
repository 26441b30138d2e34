//! Figures of a paper that show frames: two runs of a scene, one above the other.

use crate::findings::{Content, Findings, Picture, Section};
use crate::stills::{Still, in_rows, png, stills};
use crate::table::{Cell, Table};
use crate::target::{self, Bound, Target};
use crate::walls;
use meniscus_liquid::{Solver, Walls};
use meniscus_scene::AnyScene;
use meniscus_store::error::Error;

/// A figure.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its number, also a part of the file's name.
    pub name: &'static str,
    pub scene: &'static str,
    pub frames: &'static [u32],
    /// Parameter of the rows.
    pub rows: Rows,
}

impl Figure {
    /// A figure that compares separating with slip walls.
    pub const fn walls(name: &'static str, scene: &'static str, frames: &'static [u32]) -> Self {
        Figure {
            name,
            scene,
            frames,
            rows: Rows::Walls,
        }
    }
}

/// Parameter that differs between rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Separating walls above slip walls.
    Walls,
    /// Two solvers, with separating walls.
    Solvers([&'static str; 2]),
}

/// Where the frames are drawn, and at which resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Cells along a side, in the plane and in space.
    pub cells: [usize; 2],
    /// Pixels along a side of one picture.
    pub side: u32,
}

/// Frames at which two solvers are compared differ by rounding that grows: centres this far apart look the same, in
/// cells.
const SAME: f64 = 2.0;

/// All figures of a paper.
///
/// `usual` is how they look in the study's usual run.
pub fn findings(
    study: &'static str,
    figures: &[Figure],
    look: Look,
    usual: Look,
) -> Result<Findings, Error> {
    let mut data =
        Table::columns("figure | scene | cells | row | frame | hanging | centre x | centre up");
    let (mut pictures, mut targets) = (Vec::new(), Vec::new());
    for figure in figures {
        let labels = match figure.rows {
            Rows::Walls => ["separating", "slip"],
            Rows::Solvers(words) => words,
        };
        let mut rows = Vec::new();
        let mut cells = 0;
        for label in labels {
            let row;
            (row, cells) = run(figure, label, look)?;
            for still in &row {
                data.push([
                    figure.name.into(),
                    figure.scene.into(),
                    Cell::Whole(cells as u64),
                    label.into(),
                    Cell::Whole(still.frame.into()),
                    Cell::Number(still.hanging, 4),
                    Cell::Number(still.centre[0], 4),
                    Cell::maybe(still.centre.last().copied(), 4),
                ]);
            }
            rows.push(row);
        }
        targets.push(claim(figure, &rows, cells));
        pictures.push(Picture {
            name: figure.name,
            caption: format!("{}: {} above, {} below", figure.scene, labels[0], labels[1]),
            content: Content::Png(png(&in_rows(&rows))?),
        });
    }
    let [flat, deep] = look.cells;
    Ok(Findings {
        study,
        variant: (look != usual).then(|| format!("{flat}-{deep}-cells-{}-pixels", look.side)),
        setting: vec![format!(
            "Scenes in the plane at {flat} cells along a side, in space at {deep}. A particle hangs if it is within a cell of a \
             solid that is above it, and the pressure of its cell does not press it there."
        )],
        pictures,
        sections: vec![
            Section::new(
                "What the paper finds, here",
                [
                    "Liquid hangs below slip walls and falls from separating ones: over the frames of a figure, fewer particles \
                     hang. Solvers do not show.",
                ],
                target::table(&targets),
            ),
            Section::new(
                "Beside the paper",
                [
                    "Frames with the numbers of the figures, where the text gives them; the length of a frame is not always \
                     given.",
                ],
                data.clone(),
            ),
        ],
        data,
    })
}

fn run(figure: &Figure, label: &str, look: Look) -> Result<(Vec<Still>, usize), Error> {
    let wall = if figure.rows == Rows::Walls && label == "slip" {
        Walls::Slip
    } else {
        Walls::Separating
    };
    let [flat, deep] = look.cells;
    let solver: Option<Solver> = match figure.rows {
        Rows::Walls => None,
        Rows::Solvers(_) => Some(label.parse().map_err(Error::usage)?),
    };
    let frames = figure.frames;
    Ok(match walls::scene(figure.scene, flat, wall)? {
        AnyScene::Two(mut scene) => {
            scene.physics.pressure.solver = solver.unwrap_or(scene.physics.pressure.solver);
            (stills(&scene, frames, look.side, label)?, flat)
        }
        AnyScene::Three(mut scene) => {
            scene.physics.pressure.solver = solver.unwrap_or(scene.physics.pressure.solver);
            scene.resolution = deep;
            (stills(&scene, frames, look.side, label)?, deep)
        }
    })
}

fn claim(figure: &Figure, rows: &[Vec<Still>], cells: usize) -> Target {
    let name = figure.name.replace('-', " ");
    match figure.rows {
        Rows::Walls => {
            let sum = |row: &[Still]| row.iter().map(|still| still.hanging).sum::<f64>();
            Target::new(
                format!("{name}: hanging particles, separating as a part of slip"),
                Bound::AtMost(1.0),
                "times",
                Some(sum(&rows[0]) / sum(&rows[1])).filter(|share| share.is_finite()),
                2,
            )
        }
        Rows::Solvers([one, other]) => {
            let apart = |a: &Still, b: &Still| {
                let squares = a.centre.iter().zip(&b.centre).map(|(a, b)| (a - b).powi(2));
                squares.sum::<f64>().sqrt() * cells as f64
            };
            let pairs = rows[0].iter().zip(&rows[1]);
            Target::new(
                format!("{name}: how far the centres of {one} and {other} are apart at most"),
                Bound::AtMost(SAME),
                "cells",
                pairs.map(|(a, b)| apart(a, b)).reduce(f64::max),
                2,
            )
        }
    }
}
