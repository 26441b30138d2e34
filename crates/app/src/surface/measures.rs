//! Statistics of surfaces.

use meniscus_store::atomic_file;
use meniscus_store::error::Error;
use meniscus_store::layout::surfaces::STATS;
use serde::Serialize;
use std::path::Path;

/// Measures of the surface of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Number of particles times the volume of each, in cubic metres; in the plane, area in square metres.
    pub particle_volume: f64,
    /// Volume that the surface encloses; in the plane, its area.
    pub volume: f64,
    /// Part of the particles' volume that is in sheets, filaments and drops thinner than about a cell; not measured for surfaces that
    /// are made by splashsurf.
    pub thin_volume: Option<f64>,
    /// Distance that the whole surface was moved to match the volume, in cells, outwards if positive.
    pub offset: f64,
    /// Number of connected pieces.
    pub pieces: u64,
}

impl Measures {
    /// How much the volume differs from that of the particles, as a share of it.
    pub fn error(&self) -> f64 {
        self.volume / self.particle_volume - 1.0
    }

    /// Part of the volume that is in thin features, as a share of it.
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
