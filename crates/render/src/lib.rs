//! Rendering: previews in software, videos of runs, and charts.
//!
//! [`preview`] renders one frame, [`filming`] the frames of one run or of two side by side, [`plot`] charts as SVG.

#![forbid(unsafe_code)]

pub mod filming;
pub mod image;
pub mod plot;
pub mod preview;
