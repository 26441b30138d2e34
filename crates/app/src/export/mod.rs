//! The frames of a run in formats that other programs read: one file per frame, or one for all of them.
//!
//! Files are `<layer>/<layer>_000000.<extension>`, counted from frame 0, the initial state, unless a [`NamePattern`] or
//! another first number is asked for. Particles and surfaces carry their velocity wherever the format has a place for it.
//! Lengths are in metres; [`Up`] is the axis that points up.

mod axes;
pub mod bgeo;
mod disk_space;
mod frames;
mod names;
pub mod npz;
pub mod obj;
pub mod ply;
pub mod usd;
pub mod vdb;
pub mod volume;
pub mod vtk;

pub use axes::Up;
pub use frames::{Exported, Plan, export, plan};
pub use names::NamePattern;

use clap::ValueEnum;
use meniscus_scene::SurfaceSettings;
use meniscus_store::FrameChoice;
use meniscus_store::error::Error;
use meniscus_store::layout::exports::FOLDER;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Particles, upright and turned as asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Positions in metres.
    pub positions: Vec<[f32; 3]>,
    /// Velocities in metres per second, one for each position.
    pub velocities: Vec<[f32; 3]>,
    /// Attributes, if the run kept them.
    pub attributes: Option<CloudAttributes>,
}

/// Attributes of particles, one of each for every particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CloudAttributes {
    /// Numbers that particles keep from birth to death.
    pub ids: Vec<u64>,
    /// Seconds since birth.
    pub ages: Vec<f32>,
    /// 0 for the liquid at the start, k for the k-th emitter.
    pub sources: Vec<i32>,
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
    pub settings: SurfaceSettings,
    /// Set by somebody else to stop after the current frame.
    pub stop: &'a AtomicBool,
}

/// Where a run's folder keeps its exports in a format.
pub fn folder(run: &Path, format: Format) -> PathBuf {
    run.join(FOLDER).join(format.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_store::layout::exports;

    #[test]
    fn formats_and_layers_have_the_names_that_the_run_folder_knows() {
        let formats = Format::value_variants().iter();
        let formats: Vec<_> = formats.map(|f| (f.name(), f.extension())).collect();
        assert_eq!(formats, exports::FORMATS);
        let layers = [Layer::Particles, Layer::Surface, Layer::Volume];
        assert_eq!(layers.map(Layer::name), exports::LAYERS);
    }
}
