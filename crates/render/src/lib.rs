//! Pictures: the software renderer of previews, films of runs and charts.
//!
//! [`preview`] draws one frame, [`filming`] the frames of a run or of two side by side, [`plot`] charts as SVG.

pub mod filming;
pub mod image;
pub mod plot;
pub mod preview;
