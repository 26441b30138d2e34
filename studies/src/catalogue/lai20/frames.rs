//! The frames that the figures show.
//!
//! [Lai20 fig. 3.2, fig. 5.1, fig. 5.2, fig. 5.3, fig. 5.4]
//! [Lai20 fig. 5.6, fig. 5.7, fig. 5.8, fig. 5.9]

use crate::figures::{Figure, Look, Rows, findings};
use crate::prelude::*;

/// Defaults.
const USUAL: Look = Look {
    cells: [128, 40],
    side: 220,
};

/// The study.
pub struct Frames;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side of scenes in the plane
    #[arg(long, value_name = "N", default_value_t = USUAL.cells[0] as u16, value_parser = value_parser!(u16).range(8..=512))]
    flat: u16,
    /// Cells along a side of scenes in space
    #[arg(long, value_name = "N", default_value_t = USUAL.cells[1] as u16, value_parser = value_parser!(u16).range(8..=256))]
    deep: u16,
    /// Pixels along a side of one picture
    #[arg(long, value_name = "N", default_value_t = USUAL.side as u16, value_parser = value_parser!(u16).range(16..=1080))]
    side: u16,
}

/// The paper names the frames of figures 5.7 to 5.9; the others are ours, where the liquid is under the ceiling.
const FIGURES: [Figure; 7] = [
    Figure::walls("fig5.1", "circle", &[4, 8, 12, 16]),
    Figure::walls("fig5.2", "square", &[4, 8, 12, 16]),
    Figure::walls("fig5.3-5.4", "sphere", &[5, 10, 15, 20]),
    Figure {
        rows: Rows::Solvers(["fas-mg", "newton"]),
        ..Figure::walls("fig5.6", "maze", &[5, 10, 20, 30])
    },
    Figure::walls("fig5.7", "sphere", &[10]),
    Figure::walls("fig5.8", "sphere-cuboid", &[70]),
    Figure::walls("fig5.9", "double-sphere", &[10]),
];

impl Study for Frames {
    const NAME: &'static str = "lai20-frames";
    const SUMMARY: &'static str =
        "frames of figures 5.1 to 5.9, slip and separating walls side by side";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let look = Look {
            cells: [options.flat.into(), options.deep.into()],
            side: options.side.into(),
        };
        findings(Self::NAME, &FIGURES, look, USUAL)
    }
}
