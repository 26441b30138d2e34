//! The cache of a run: its frames, compressed and hashed.
//!
//! A frame is one file, `particles/particles_000001.mpc`. [`container`] is the envelope (magic, version, lengths, hash,
//! tagged sections); [`points`] are point layers such as the particles of the liquid (positions to a two-thousandth of a
//! cell, velocities and scalars to a sixty-thousandth of the layer's largest), [`bodies`] poses of solids, [`loads`] forces on rigid bodies, [`meshes`]
//! vertices of cloth. The points of a
//! layer come back sorted by cell, which is what makes them small.

pub mod bodies;
pub(crate) mod bytes;
pub mod container;
pub mod loads;
pub mod meshes;
pub mod points;

pub use bodies::BodyState;
pub use container::{CacheError, Header};
pub use loads::{BodyLoad, LiquidLoad};
pub use meshes::DeformedMesh;
pub use points::{PointLayer, Precision, Scalar};

use crate::error::{Error, Kind};
use crate::quantity::count;
use crate::regular_file;
use container::Content;
use std::path::{Path, PathBuf};

/// Name of the layer that holds the particles of the liquid.
pub const LIQUID: &str = "liquid";
/// Name of the scalar that holds the pressure in pascal.
pub const PRESSURE: &str = "pressure";

/// One frame: points and poses of bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<const D: usize> {
    /// Number of the frame. Frame k is the state k frame intervals after the start; frame 0 is the initial state.
    pub number: u32,
    /// Simulated time in seconds.
    pub time: f64,
    /// Point layers.
    pub points: Vec<PointLayer<D>>,
    /// Solids, scripted ones included.
    pub bodies: Vec<BodyState<D>>,
    /// Forces on rigid bodies; none in scenes without.
    pub loads: Vec<BodyLoad<D>>,
    /// Meshes whose vertices move; none in scenes without cloth.
    pub meshes: Vec<DeformedMesh>,
}

impl<const D: usize> Frame<D> {
    /// The particles of the liquid, if the frame has any layer of that name.
    pub fn liquid(&self) -> Option<&PointLayer<D>> {
        self.points.iter().find(|layer| layer.name == LIQUID)
    }

    /// Width of a cell of the simulation in metres; 1 in a frame without liquid.
    pub fn spacing(&self) -> f64 {
        self.liquid().map_or(1.0, |layer| layer.spacing)
    }

    /// Positions of the liquid's particles.
    pub fn positions(&self) -> &[[f32; D]] {
        self.liquid().map_or(&[], |layer| &layer.positions)
    }

    /// Velocities of the liquid's particles, one for each position.
    pub fn velocities(&self) -> &[[f32; D]] {
        self.liquid().map_or(&[], |layer| &layer.velocities)
    }

    /// Pressures of the liquid's particles in pascal, one for each position; empty if the frame has none.
    pub fn pressures(&self) -> &[f32] {
        let pressures = self.liquid().and_then(|layer| layer.scalar(PRESSURE));
        pressures.unwrap_or(&[])
    }
}

/// The bytes of a frame's file.
///
/// # Errors
/// If a number is not finite, lists differ in length, or particles are too far apart to number the cells between them.
pub fn encode<const D: usize>(frame: &Frame<D>) -> Result<Vec<u8>, CacheError> {
    let header = Header {
        dimension: D as u32,
        number: frame.number,
        time: frame.time,
    };
    // Poses first: readers that need nothing else read the beginning of the file.
    let mut sections = vec![bodies::section(&frame.bodies)?];
    for layer in &frame.points {
        sections.push(points::section(layer)?);
    }
    if !frame.loads.is_empty() {
        sections.push(loads::section(&frame.loads)?);
        sections.extend(loads::liquid_section(&frame.loads)?);
    }
    if !frame.meshes.is_empty() {
        sections.push(meshes::section(&frame.meshes)?);
    }
    container::seal(Content::Frame, &header, &sections)
}

/// The frame in the bytes of a file.
///
/// # Errors
/// If the file is damaged; no bytes cause a panic.
pub fn decode<const D: usize>(bytes: &[u8]) -> Result<Frame<D>, CacheError> {
    let opened = container::open(Content::Frame, bytes)?;
    check_dimension::<D>(&opened.header)?;
    let mut found = Vec::new();
    for section in opened.with_tag(points::TAG) {
        let (head, payload) = section?;
        found.push(points::read(head.count, &payload)?);
    }
    let mut loads = Vec::new();
    for section in opened.with_tag(loads::TAG) {
        let (head, payload) = section?;
        loads.extend(loads::read(head.count, &payload)?);
    }
    for section in opened.with_tag(loads::LIQUID_TAG) {
        let (head, payload) = section?;
        loads::read_liquid(head.count, &payload, &mut loads)?;
    }
    let mut meshes = Vec::new();
    for section in opened.with_tag(meshes::TAG) {
        let (head, payload) = section?;
        meshes.extend(meshes::read(head.count, &payload)?);
    }
    let (head, payload) = opened.only(bodies::TAG)?;
    Ok(Frame {
        number: opened.header.number,
        time: opened.header.time,
        points: found,
        bodies: bodies::read(head.count, &payload)?,
        loads,
        meshes,
    })
}

fn check_dimension<const D: usize>(header: &Header) -> Result<(), CacheError> {
    match header.dimension {
        found if found as usize == D => Ok(()),
        found => Err(CacheError::Dimension {
            wanted: D as u32,
            found,
        }),
    }
}

/// The bodies of a frame's file, without its points.
///
/// # Errors
/// If the file can't be read, or the section is damaged. The hash of the file is not checked.
pub fn read_bodies<const D: usize>(path: &Path) -> Result<Vec<BodyState<D>>, Error> {
    let mut file = regular_file::open(path).map_err(|e| Error::io("read", path, &e))?;
    let mut attempt = || {
        let (header, sections) = container::peek(Content::Frame, &mut file)?;
        check_dimension::<D>(&header)?;
        let head = sections.iter().find(|head| head.tag == bodies::TAG);
        let head = head.ok_or(CacheError::Payload("lacks a section"))?;
        bodies::read(head.count, &container::read_section(&mut file, head)?)
    };
    attempt().map_err(|cause| damaged(path, &cause))
}

/// The forces on rigid bodies in a frame's file, without its points; none in scenes without.
///
/// # Errors
/// If the file can't be read, or a section is damaged. The hash of the file is not checked.
pub fn read_loads<const D: usize>(path: &Path) -> Result<Vec<BodyLoad<D>>, Error> {
    let mut file = regular_file::open(path).map_err(|e| Error::io("read", path, &e))?;
    let mut attempt = || {
        let (header, sections) = container::peek(Content::Frame, &mut file)?;
        check_dimension::<D>(&header)?;
        let mut loads = Vec::new();
        for head in sections.iter().filter(|head| head.tag == loads::TAG) {
            loads.extend(loads::read(
                head.count,
                &container::read_section(&mut file, head)?,
            )?);
        }
        for head in (sections.iter()).filter(|head| head.tag == loads::LIQUID_TAG) {
            let payload = container::read_section(&mut file, head)?;
            loads::read_liquid(head.count, &payload, &mut loads)?;
        }
        Ok(loads)
    };
    attempt().map_err(|cause| damaged(path, &cause))
}

/// Number of points in a frame's file, by the heads of its sections alone; `None` if it can't be read.
pub fn count_points(path: &Path) -> Option<u64> {
    let mut file = regular_file::open(path).ok()?;
    let (_, sections) = container::peek(Content::Frame, &mut file).ok()?;
    let points = sections.iter().filter(|head| head.tag == points::TAG);
    Some(points.map(|head| head.count).sum())
}

/// Folder of the frames inside a run's folder.
pub const FOLDER: &str = "particles";

/// Path of a frame inside a run's folder.
pub fn frame_path(run: &Path, number: u32) -> PathBuf {
    run.join(FOLDER).join(format!("particles_{number:06}.mpc"))
}

/// Frame number in the name of a frame's file; `None` for any other name.
pub fn frame_number(file_name: &str) -> Option<u32> {
    numbered(file_name, "particles_", ".mpc")
}

/// The number in `<prefix>NNNNNN<suffix>`, if `name` has that form.
pub fn numbered(name: &str, prefix: &str, suffix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let plain = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// Numbers of the frames in a run's folder, in ascending order.
///
/// # Errors
/// If the folder can't be read.
pub fn frames_in(run: &Path) -> Result<Vec<u32>, Error> {
    numbers_in(&run.join(FOLDER), frame_number)
}

/// Numbers in the names of the files of a folder, in ascending order; none if there is no such folder.
///
/// # Errors
/// If the folder exists and can't be read.
pub(crate) fn numbers_in(
    folder: &Path,
    number: fn(&str) -> Option<u32>,
) -> Result<Vec<u32>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| Error::io("read", folder, &e))?,
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", folder, &e))?;
        numbers.extend(entry.file_name().to_str().and_then(number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Content of a frame's file, not yet checked.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    regular_file::read(path).map_err(|e| Error::io("read", path, &e))
}

/// What is wrong with a frame's file, by its hash and header.
pub fn fault(run: &Path, number: u32, dimension: Option<usize>) -> Option<String> {
    let bytes = match regular_file::read(&frame_path(run, number)) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Some("it is missing".into()),
        Err(e) => return Some(e.to_string()),
    };
    match container::open(Content::Frame, &bytes) {
        Err(fault) => Some(fault.to_string()),
        Ok(opened) if opened.header.number != number => {
            Some(format!("it holds frame {}", opened.header.number))
        }
        Ok(opened) => {
            let wanted = dimension.map(|d| d as u32)?;
            let wrong = CacheError::Dimension {
                wanted,
                found: opened.header.dimension,
            };
            (wanted != opened.header.dimension).then(|| wrong.to_string())
        }
    }
}

/// Decodes the frame in a file.
///
/// # Errors
/// If it can't be read, or is damaged.
pub fn read<const D: usize>(path: &Path) -> Result<Frame<D>, Error> {
    decode(&read_bytes(path)?).map_err(|cause| damaged(path, &cause))
}

/// Checks that no frame was damaged in work on frames, after all others were done: `done` of them, as in "3 other images",
/// in a folder.
///
/// # Errors
/// The first fault, with the number of the others.
pub fn check_faults(faults: &[Error], done: &str, folder: &Path) -> Result<(), Error> {
    let Some(first) = faults.first() else {
        return Ok(());
    };
    let others = match faults.len() - 1 {
        0 => String::new(),
        n => format!(" ({} damaged)", count(n, "more frame")),
    };
    let message = format!("{}{others}", first.message());
    Err(Error::new(Kind::Storage, message).with_remedy(format!(
        "{done} in {}; run the scene again with --resume to repair the run",
        folder.display()
    )))
}

/// The error for a damaged file, with a remedy.
pub fn damaged(path: &Path, cause: &CacheError) -> Error {
    Error::new(
        Kind::Storage,
        format!("{} is damaged: {cause}", path.display()),
    )
    .with_remedy(
        "the other frames are not affected; run the scene again with --resume to replace this one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_frames() {
        assert_eq!(frame_number("particles_000012.mpc"), Some(12));
        assert_eq!(frame_number("particles_1234567.mpc"), Some(1_234_567));
        for other in [
            "particles_12.mpc",
            "particles_+00012.mpc",
            "particles_000012.ply",
            ".particles_000012.mpc.unfinished",
            "particles_99999999999999.mpc",
            "notes.txt",
        ] {
            assert_eq!(frame_number(other), None, "{other}");
        }
    }
}
