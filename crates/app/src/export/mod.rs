//! Export of the frames of a run to common formats: one file per frame, or one for all of them.
//!
//! Files are `<layer>/<layer>_000000.<extension>`, counted from frame 0, the initial state; a [`NamePattern`] and another
//! first number are options. Particles and surfaces have velocities wherever the format supports them.
//! Lengths are in metres; [`Up`] is the up axis.

mod axes;
pub mod bgeo;
pub mod bodies;
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

#[cfg(feature = "cli")]
use clap::ValueEnum;
use meniscus_scene::SurfaceSettings;
use meniscus_store::FrameChoice;
use meniscus_store::error::Error;
use meniscus_store::layout::exports::FOLDER;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Particles, upright and with the requested up axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Positions in metres.
    pub positions: Vec<[f32; 3]>,
    /// Velocities in metres per second, one per position.
    pub velocities: Vec<[f32; 3]>,
    /// Attributes, if the run recorded them.
    pub attributes: Option<CloudAttributes>,
}

/// Attributes of particles, one value of each per particle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CloudAttributes {
    /// Ids, constant from birth to death.
    pub ids: Vec<u64>,
    /// Seconds since birth.
    pub ages: Vec<f32>,
    /// 0 for the initial liquid, k for the k-th emitter.
    pub sources: Vec<i32>,
}

/// File format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(ValueEnum))]
pub enum Format {
    /// Points or triangles with vx vy vz, binary; Blender, MeshLab
    Ply,
    /// Triangles with normals as text, surfaces and bodies only; without velocities
    Obj,
    /// VTP files with a .series for ParaView; velocities as vectors
    Vtk,
    /// One binary USD file with time samples, velocities, moving solids and rigid bodies with UsdPhysics; Blender, Houdini, Maya
    Usd,
    /// OpenVDB: signed distance and velocity on voxels; 3D only
    Vdb,
    /// Houdini's classic binary geometry with v (and N on surfaces)
    Bgeo,
    /// NumPy arrays
    Npz,
}

/// Content of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(ValueEnum))]
pub enum What {
    /// Particles
    Particles,
    /// Surface of the liquid, from `meniscus mesh` or reconstructed during the export
    Surface,
    /// Meshes of solids and rigid bodies at their poses; in npz files poses, velocities and forces
    Bodies,
    /// Everything that the format supports
    All,
}

/// Layer: a folder with one file per frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Particles.
    Particles,
    /// Triangles.
    Surface,
    /// Voxels.
    Volume,
    /// Solids and rigid bodies.
    Bodies,
}

impl Layer {
    /// Name of the folder and prefix of its file names.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Particles => "particles",
            Layer::Surface => "surface",
            Layer::Volume => "volume",
            Layer::Bodies => "bodies",
        }
    }
}

impl Format {
    /// Name of the folder of a format.
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

    /// Extension of file names.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Vtk => "vtp",
            Format::Usd => "usdc",
            other => other.name(),
        }
    }

    /// Default content of the export of a run with liquid, or of one of rigid bodies alone.
    pub fn usual(self, rigid: bool) -> What {
        match self {
            _ if rigid => What::All,
            Format::Obj => What::Surface,
            Format::Usd | Format::Vdb => What::All,
            _ => What::Particles,
        }
    }

    /// Default up axis: the one that importers of the format assume.
    pub fn usual_up(self) -> Up {
        match self {
            // Blender, Houdini and Maya import OBJ files as Y up, and the format can't specify it.
            Format::Obj => Up::Y,
            _ => Up::Z,
        }
    }

    /// Layers that are written.
    ///
    /// # Errors
    /// If the format does not support the content.
    fn layers(self, what: What, dimension: usize, rigid: bool) -> Result<Vec<Layer>, Error> {
        let refuse = |message: &str, remedy: &str| Err(Error::usage(message).with_remedy(remedy));
        match (self, what) {
            (Format::Vdb, _) if rigid => refuse(
                "OpenVDB files contain liquid, and the run has rigid bodies only",
                "choose another format, such as --to usd",
            ),
            (_, What::Particles | What::Surface) if rigid => refuse(
                "the run has rigid bodies and no liquid",
                "omit --what, or use --what bodies",
            ),
            (_, What::All) if rigid => Ok(vec![Layer::Bodies]),
            (Format::Vdb, _) if dimension == 2 => refuse(
                "OpenVDB files need a 3D run",
                "choose another format, such as --to vtk",
            ),
            (Format::Vdb, What::All) => Ok(vec![Layer::Volume]),
            (Format::Vdb, _) => refuse(
                "OpenVDB files contain the signed distance and velocity on voxels only",
                "omit --what, or choose another format",
            ),
            (_, What::Bodies) => Ok(vec![Layer::Bodies]),
            (Format::Obj, What::Particles) => refuse(
                "OBJ files support surfaces only",
                "use --what surface, or --to ply for particles",
            ),
            (_, What::Particles) => Ok(vec![Layer::Particles]),
            (_, What::Surface) | (Format::Obj, What::All) => Ok(vec![Layer::Surface]),
            (_, What::All) => Ok(vec![Layer::Particles, Layer::Surface]),
        }
    }
}

/// Options of an export.
#[derive(Debug)]
pub struct Options<'a> {
    /// Format.
    pub format: Format,
    /// Content. Default: that of the format.
    pub what: Option<What>,
    /// Frames.
    pub frames: FrameChoice,
    /// Up axis. Default: [`Format::usual_up`].
    pub up: Option<Up>,
    /// Number of frame 0, the initial state, in file names and time codes. Default: 0.
    pub first_frame: u32,
    /// Pattern of file names. Default: `{what}_{frame:06}`.
    pub name: Option<NamePattern>,
    /// Output folder. Default: a folder inside that of the run.
    pub out: Option<PathBuf>,
    /// Folder of the original scene file, if it refers to meshes.
    pub assets: Option<PathBuf>,
    /// Options of surfaces that are yet to be made.
    pub settings: SurfaceSettings,
    /// Set from another thread to stop after the current frame.
    pub stop: &'a AtomicBool,
}

/// Folder of the exports of a run in a format.
pub fn folder(run: &Path, format: Format) -> PathBuf {
    run.join(FOLDER).join(format.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_store::layout::exports;

    #[test]
    fn formats_and_layers_have_the_names_of_the_run_folder_layout() {
        let formats = Format::value_variants().iter();
        let formats: Vec<_> = formats.map(|f| (f.name(), f.extension())).collect();
        assert_eq!(formats, exports::FORMATS);
        let layers = [
            Layer::Particles,
            Layer::Surface,
            Layer::Volume,
            Layer::Bodies,
        ];
        assert_eq!(layers.map(Layer::name), exports::LAYERS);
    }
}
