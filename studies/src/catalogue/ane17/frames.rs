//! The frames that the figures show. [ANE17 fig. 3, fig. 4, fig. 5, fig. 6, fig. 7]

use crate::figures::{Figure, Look, findings};
use crate::prelude::*;

/// Defaults.
const USUAL: Look = Look {
    cells: [100, 100],
    side: 200,
};

/// The study.
pub struct Frames;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side
    #[arg(long, value_name = "N", default_value_t = USUAL.cells[0] as u16, value_parser = value_parser!(u16).range(8..=512))]
    size: u16,
    /// Pixels along a side of one picture
    #[arg(long, value_name = "N", default_value_t = USUAL.side as u16, value_parser = value_parser!(u16).range(16..=1080))]
    side: u16,
}

/// With the frames that the captions name.
const FIGURES: [Figure; 5] = [
    Figure::walls("fig3", "ane17-1", &[30, 90, 110, 160]),
    Figure::walls("fig4", "ane17-2", &[10, 20, 30, 40]),
    Figure::walls("fig5", "ane17-3", &[10, 50, 90, 130]),
    Figure::walls("fig6", "ane17-4", &[10, 50, 90, 130]),
    Figure::walls("fig7", "ane17-5", &[10, 50, 90, 130]),
];

impl Study for Frames {
    const NAME: &'static str = "ane17-frames";
    const SUMMARY: &'static str =
        "frames of figures 3 to 7, separating and slip walls side by side";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let look = Look {
            cells: [options.size.into(); 2],
            side: options.side.into(),
        };
        findings(Self::NAME, &FIGURES, look, USUAL)
    }
}
