//! Particles as PLY point clouds: binary little endian, x y z and vx vy vz as floats.
//!
//! Frames in the plane stand upright: their second axis becomes z, and y is zero.

use crate::cache::{self, Frame, container};
use crate::error::{Error, Kind};
use crate::run::record::Record;
use crate::whole_file;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a run's folder keeps its PLY frames.
pub fn folder(run: &Path) -> PathBuf {
    run.join(super::FOLDER).join("ply").join(cache::FOLDER)
}

/// The number in a PLY frame's file name, if it is one of ours.
pub fn frame_number(file_name: &str) -> Option<u32> {
    cache::numbered(file_name, "particles_", ".ply")
}

/// What was exported.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Where the frames are.
    pub folder: PathBuf,
    /// How many.
    pub frames: usize,
    /// Bytes in all.
    pub bytes: u64,
}

/// Exports every frame of a run, into its own folder or the one given.
///
/// # Errors
/// If the folder is no run, or a file can't be written. Damaged frames are left out and named in the
/// error, after all the others have been exported.
pub fn export(run: &Path, to: Option<&Path>) -> Result<Exported, Error> {
    if Record::read(run)?.is_none() {
        return Err(Error::new(
            Kind::Storage,
            format!(
                "{} holds no run of meniscus: there is no run.json",
                run.display()
            ),
        )
        .with_remedy("name the folder that a run has written, such as out/thrown-sphere"));
    }
    let numbers = cache::frames_in(run)?;
    if numbers.is_empty() {
        return Err(Error::new(
            Kind::Storage,
            format!("{} has no frames yet", run.display()),
        ));
    }
    let folder = to.map_or_else(|| folder(run), Path::to_path_buf);
    fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, &e))?;
    let mut exported = Exported {
        folder,
        frames: 0,
        bytes: 0,
    };
    let mut damaged = Vec::new();
    for number in numbers {
        let target = exported.folder.join(format!("particles_{number:06}.ply"));
        match export_frame(&cache::frame_path(run, number), &target)? {
            Ok(bytes) => {
                exported.frames += 1;
                exported.bytes += bytes;
            }
            Err(error) => damaged.push(error),
        }
    }
    match damaged.first() {
        None => Ok(exported),
        Some(first) => {
            let others = match damaged.len() - 1 {
                0 => String::new(),
                n => format!(" ({n} more frames are damaged)"),
            };
            let message = format!("{}{others}", first.message());
            Err(Error::new(Kind::Storage, message).with_remedy(format!(
                "{} other frames were exported to {}; run the scene again to replace the damaged ones",
                exported.frames,
                exported.folder.display()
            )))
        }
    }
}

/// Exports one frame. The outer error ends the export; the inner one says that this frame is damaged.
fn export_frame(source: &Path, target: &Path) -> Result<Result<u64, Error>, Error> {
    let bytes = cache::read_bytes(source)?;
    let written = match container::peek(&bytes).map(|header| header.dimension) {
        Ok(2) => cache::decode::<2>(&bytes).map(|frame| write(target, &frame)),
        Ok(_) => cache::decode::<3>(&bytes).map(|frame| write(target, &frame)),
        Err(e) => Err(e),
    };
    match written {
        Ok(done) => done.map(Ok),
        Err(cause) => Ok(Err(cache::damaged(source, &cause))),
    }
}

/// Writes one frame and says how many bytes it took.
pub fn write<const D: usize>(path: &Path, frame: &Frame<D>) -> Result<u64, Error> {
    whole_file::write_with(path, |out| write_to(out, frame))?;
    fs::metadata(path)
        .map(|data| data.len())
        .map_err(|e| Error::io("read", path, &e))
}

fn write_to<const D: usize>(out: &mut dyn Write, frame: &Frame<D>) -> io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment meniscus frame {} at {} s\nelement vertex {}\n",
        frame.number,
        frame.time,
        frame.positions.len()
    )?;
    for property in ["x", "y", "z", "vx", "vy", "vz"] {
        writeln!(out, "property float {property}")?;
    }
    writeln!(out, "end_header")?;
    for (position, velocity) in frame.positions.iter().zip(&frame.velocities) {
        for number in upright(position).into_iter().chain(upright(velocity)) {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(())
}

/// A vector in space: up stays up.
fn upright<const D: usize>(vector: &[f32; D]) -> [f32; 3] {
    let mut spatial = [0.0; 3];
    spatial[..D - 1].copy_from_slice(&vector[..D - 1]);
    spatial[2] = vector[D - 1];
    spatial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_in_the_plane_stands_upright() {
        assert_eq!(upright(&[1.0, 2.0]), [1.0, 0.0, 2.0]);
        assert_eq!(upright(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn the_body_is_six_floats_a_particle_after_a_text_header() {
        let frame = Frame::<3> {
            number: 4,
            time: 0.5,
            dx: 0.1,
            positions: vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            velocities: vec![[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]],
        };
        let mut bytes = Vec::new();
        write_to(&mut bytes, &frame).unwrap();
        let end = b"end_header\n";
        let body = bytes.windows(end.len()).position(|w| w == end).unwrap() + end.len();
        let header = std::str::from_utf8(&bytes[..body]).unwrap();
        assert!(header.starts_with("ply\nformat binary_little_endian 1.0\n"));
        assert!(header.contains("element vertex 2\n"));
        let numbers: Vec<f32> = bytes[body..]
            .chunks(4)
            .map(|c| f32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        let expected = [
            1.0, 2.0, 3.0, -1.0, -2.0, -3.0, 4.0, 5.0, 6.0, -4.0, -5.0, -6.0,
        ];
        assert_eq!(numbers, expected);
    }
}
