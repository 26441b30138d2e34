//! Statistics of surfaces.

use meniscus_store::atomic_file;
use meniscus_store::error::Error;
use meniscus_store::layout::surfaces::STATS;
use serde::Serialize;
use std::path::Path;

/// Measures of the surface of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Number of particles times the volume of each, in cubic metres; in 2D, area in square metres.
    pub particle_volume: f64,
    /// Volume enclosed by the surface; in 2D, its area.
    pub volume: f64,
    /// Part of the particles' volume in sheets, filaments and drops thinner than about a cell; not measured for surfaces
    /// by splashsurf.
    pub thin_volume: Option<f64>,
    /// Offset of the whole surface to match the volume, in cells, positive outwards.
    pub offset: f64,
    /// Number of connected pieces.
    pub pieces: u64,
}

impl Measures {
    /// Relative difference of the volume from that of the particles.
    pub fn error(&self) -> f64 {
        self.volume / self.particle_volume - 1.0
    }

    /// Fraction of the volume in thin features.
    pub fn thin_share(&self) -> Option<f64> {
        self.thin_volume.map(|thin| thin / self.particle_volume)
    }
}

#[derive(Serialize)]
struct Line<'a> {
    frame: u32,
    #[serde(flatten)]
    measures: &'a Measures,
}

/// Writes the statistics of frames into the folder of the surfaces.
///
/// # Errors
/// If they can't be written.
pub fn write(folder: &Path, all: &[(u32, Measures)]) -> Result<(), Error> {
    let mut text = String::new();
    for (frame, measures) in all {
        let line = Line {
            frame: *frame,
            measures,
        };
        let line = serde_json::to_string(&line).map_err(|e| Error::usage(e.to_string()))?;
        text += &line;
        text.push('\n');
    }
    atomic_file::write(&folder.join(STATS), text.as_bytes())
}
