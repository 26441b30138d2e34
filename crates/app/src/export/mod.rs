//! The frames of a run in formats that other programs read: one file per frame, or one for all of them.
//!
//! Files are `<layer>/<layer>_000000.<extension>`, counted from frame 0, the initial state, unless a [`NamePattern`] or
//! another first number is asked for. Particles and surfaces carry their velocity wherever the format has a place for it.
//! Lengths are in metres; [`Up`] is the axis that points up.

mod axes;
pub mod bgeo;
mod frames;
mod manifest;
mod names;
pub mod npz;
pub mod obj;
pub mod ply;
mod room;
pub mod usd;
pub mod vdb;
pub mod volume;
pub mod vtk;

pub use axes::Up;
pub use frames::{Exported, Plan, export, plan};
pub use manifest::{Manifest, NAME as MANIFEST};
pub use names::NamePattern;

use crate::cache;
use crate::error::Error;
use crate::run::FrameChoice;
use crate::surface;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Folder of the exports inside a run's folder.
pub const FOLDER: &str = "export";

/// Particles, upright and turned as asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Positions in metres.
    pub positions: Vec<[f32; 3]>,
    /// Velocities in metres a second, one for each position.
    pub velocities: Vec<[f32; 3]>,
}

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Points or triangles with vx vy vz, binary; Blender, MeshLab
    Ply,
    /// Triangles with normals as text, surfaces only; has no place for velocities
    Obj,
    /// VTP files with a .series for ParaView; velocities as vectors
    Vtk,
    /// One binary USD file with time samples, velocities and moving solids; Blender, Houdini, Maya
    Usd,
    /// OpenVDB: distance to the liquid and its velocity on voxels; in space only
    Vdb,
    /// Houdini's classic binary geometry with v (and N on surfaces)
    Bgeo,
    /// NumPy arrays
    Npz,
}

/// What of a run is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The particles
    Particles,
    /// The liquid's surface, from `meniscus mesh` or made on the way
    Surface,
    /// All that the format holds
    All,
}

/// A folder of files, one a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Particles.
    Particles,
    /// Triangles.
    Surface,
    /// Voxels.
    Volume,
}

impl Layer {
    const ALL: [Layer; 3] = [Layer::Particles, Layer::Surface, Layer::Volume];

    /// The name of its folder, and what its files' names begin with.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Particles => "particles",
            Layer::Surface => "surface",
            Layer::Volume => "volume",
        }
    }
}

impl Format {
    /// The name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Format::Ply => "ply",
            Format::Obj => "obj",
            Format::Vtk => "vtk",
            Format::Usd => "usd",
            Format::Vdb => "vdb",
            Format::Bgeo => "bgeo",
            Format::Npz => "npz",
        }
    }

    /// How its files' names end.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Vtk => "vtp",
            Format::Usd => "usdc",
            other => other.name(),
        }
    }

    /// What is exported if nobody says what.
    pub fn usual(self) -> What {
        match self {
            Format::Obj => What::Surface,
            Format::Usd | Format::Vdb => What::All,
            _ => What::Particles,
        }
    }

    /// The axis that is up by default: what importers of the format assume.
    pub fn usual_up(self) -> Up {
        match self {
            // Blender, Houdini and Maya all take an OBJ file as Y up, and the format can't say otherwise.
            Format::Obj => Up::Y,
            _ => Up::Z,
        }
    }

    /// The layers that are written.
    ///
    /// # Errors
    /// If the format holds nothing of the kind.
    fn layers(self, what: What, dimension: usize) -> Result<Vec<Layer>, Error> {
        let refuse = |message: &str, remedy: &str| Err(Error::usage(message).with_remedy(remedy));
        match (self, what) {
            (Format::Vdb, _) if dimension == 2 => refuse(
                "a run in the plane has no volume for OpenVDB",
                "choose another format, such as --to vtk",
            ),
            (Format::Vdb, What::All) => Ok(vec![Layer::Volume]),
            (Format::Vdb, _) => refuse(
                "OpenVDB files hold distance and velocity on voxels, and nothing else here",
                "leave out --what, or choose another format",
            ),
            (Format::Obj, What::Particles) => refuse(
                "OBJ files hold surfaces only",
                "use --what surface, or --to ply for particles",
            ),
            (_, What::Particles) => Ok(vec![Layer::Particles]),
            (_, What::Surface) | (Format::Obj, What::All) => Ok(vec![Layer::Surface]),
            (_, What::All) => Ok(vec![Layer::Particles, Layer::Surface]),
        }
    }
}

/// What is exported, and how.
#[derive(Debug)]
pub struct Options<'a> {
    /// Into which format.
    pub format: Format,
    /// What of it; what is usual for the format if it is not said.
    pub what: Option<What>,
    /// Which frames.
    pub frames: FrameChoice,
    /// Axis that points up. Default: [`Format::usual_up`].
    pub up: Option<Up>,
    /// Number of frame 0, the initial state, in file names and time codes. Default: 0.
    pub first_frame: u32,
    /// Pattern of file names. Default: `{what}_{frame:06}`.
    pub name: Option<NamePattern>,
    /// Where to; a folder inside that of the run if it is not said.
    pub out: Option<PathBuf>,
    /// Folder of the scene's file, if it refers to meshes of its own.
    pub assets: Option<PathBuf>,
    /// How surfaces are made that are not there yet.
    pub settings: surface::Settings,
    /// Set by somebody else to stop after the current frame.
    pub stop: &'a AtomicBool,
}

/// Where a run's folder keeps its exports in a format.
pub fn folder(run: &Path, format: Format) -> PathBuf {
    run.join(FOLDER).join(format.name())
}

/// The folders of exports that a run's folder may have.
pub fn folders(run: &Path) -> Vec<PathBuf> {
    let mut all = vec![run.join(FOLDER)];
    for &format in Format::value_variants() {
        let of_format = folder(run, format);
        all.extend(Layer::ALL.map(|layer| of_format.join(layer.name())));
        all.push(of_format);
    }
    all
}

/// The number of the frame in the name of an exported file, if it is one of ours.
pub fn frame_number(file_name: &str) -> Option<u32> {
    let (stem, extension) = file_name.split_once('.')?;
    let known = Format::value_variants()
        .iter()
        .any(|f| f.extension() == extension);
    let of_layer = |layer: Layer| cache::numbered(stem, &format!("{}_", layer.name()), "");
    Layer::ALL.into_iter().find_map(of_layer).filter(|_| known)
}

/// Whether a name is that of a file of ours that holds or lists many frames.
pub fn holds_many(file_name: &str) -> bool {
    let layers = || Layer::ALL.into_iter().map(Layer::name);
    layers().any(|layer| file_name == format!("{layer}.vtp.series")) || file_name == ALL_FRAMES
}

/// The file that holds all frames of a run.
const ALL_FRAMES: &str = "meniscus.usdc";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_exports() {
        assert_eq!(frame_number("particles_000012.ply"), Some(12));
        assert_eq!(frame_number("surface_000001.vtp"), Some(1));
        assert_eq!(frame_number("volume_000007.vdb"), Some(7));
        for other in [
            "particles_12.ply",
            "surface_000001.txt",
            "cat.ply",
            "surface_000001.bgeo.gz",
        ] {
            assert_eq!(frame_number(other), None, "{other}");
        }
        assert!(holds_many("surface.vtp.series") && holds_many("meniscus.usdc"));
        assert!(!holds_many("other.usdc"));
    }
}
