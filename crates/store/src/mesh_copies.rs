//! Copies of mesh files in the folder of a run, named by their content: `meshes/HASH.stl`.
//!
//! A run that has them can be drawn, exported and resumed without the files that its scene was written with.

use crate::atomic_file;
use crate::error::{Error, Kind};
use crate::regular_file;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folder of the copies inside a run's folder.
pub const FOLDER: &str = "meshes";

/// Digits of a BLAKE3 hash in hexadecimal.
const HASH_DIGITS: usize = 64;

/// Format of a mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ; normals, textures and materials are ignored.
    Obj,
    /// Stanford PLY, text or binary of either byte order.
    Ply,
    /// Stereolithography, text or binary.
    Stl,
}

impl Format {
    /// The format of a file, by its extension, in upper or lower case.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        [("obj", Self::Obj), ("ply", Self::Ply), ("stl", Self::Stl)]
            .into_iter()
            .find_map(|(word, format)| extension.eq_ignore_ascii_case(word).then_some(format))
    }

    /// The usual extension of such files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Obj => "obj",
            Format::Ply => "ply",
            Format::Stl => "stl",
        }
    }
}

/// A mesh file that a scene refers to, and where its bytes can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshSource {
    /// BLAKE3 of the file, in hexadecimal.
    pub hash: String,
    /// Format of the file.
    pub format: Format,
    /// Where its bytes are.
    pub origin: Origin,
}

/// Where the bytes of a mesh file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In a file.
    File(PathBuf),
    /// In the program: meshes of built-in scenes.
    Program(&'static [u8]),
}

/// State of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Its bytes, whose hash is right.
    Sound(Vec<u8>),
    /// It can't be read, or its hash is wrong.
    Damaged,
    /// There is none.
    Missing,
}

impl MeshSource {
    /// File name of the copy.
    pub fn copy_name(&self) -> String {
        name(&self.hash, self.format)
    }

    /// The bytes, checked against the hash: the file may have changed since the scene was loaded.
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let path = match &self.origin {
            Origin::Program(bytes) => return Ok(bytes.to_vec()),
            Origin::File(path) => path,
        };
        let bytes = regular_file::read(path).map_err(|e| {
            let message = format!("mesh {}: could not be read: {e}", path.display());
            Error::new(Kind::Asset, message)
                .with_remedy("check the path and the rights to the file")
        })?;
        if hash(&bytes) == self.hash {
            return Ok(bytes);
        }
        Err(Error::new(
            Kind::Asset,
            format!(
                "mesh {}: it has changed since the scene was loaded",
                path.display()
            ),
        )
        .with_remedy("start again when it no longer changes"))
    }
}

/// File name of the copy of a file.
fn name(hash: &str, format: Format) -> String {
    format!("{hash}.{}", format.extension())
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Whether a file name is that of a copy.
pub fn is_copy(file_name: &str) -> bool {
    file_name.split_once('.').is_some_and(|(stem, extension)| {
        stem.len() == HASH_DIGITS
            && stem.bytes().all(|b| b.is_ascii_hexdigit())
            && Format::of(Path::new(file_name)).is_some_and(|f| f.extension() == extension)
    })
}

/// Path of the copy of a file in the folder of a run.
pub fn path(run: &Path, hash: &str, format: Format) -> PathBuf {
    run.join(FOLDER).join(name(hash, format))
}

/// Reads the copy of a file from the folder of a run.
pub fn read(run: &Path, wanted: &str, format: Format) -> Copy {
    read_file(&path(run, wanted, format), wanted)
}

/// What is wrong with a copy, in a sentence that begins with "it"; `None` if it is sound.
pub fn fault(run: &Path, file_name: &str) -> Option<&'static str> {
    let stem = file_name.split('.').next().unwrap_or("");
    match read_file(&run.join(FOLDER).join(file_name), stem) {
        Copy::Sound(_) => None,
        Copy::Damaged => Some("its content does not match its hash"),
        Copy::Missing => Some("it is missing"),
    }
}

fn read_file(path: &Path, wanted: &str) -> Copy {
    match regular_file::read(path) {
        Ok(bytes) if hash(&bytes) == wanted => Copy::Sound(bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Copy::Missing,
        _ => Copy::Damaged,
    }
}

/// Copies mesh files into the folder of a run; sound copies stay as they are.
///
/// # Errors
/// If a file can't be read any more, or nothing can be written.
pub fn write(run: &Path, meshes: &[MeshSource]) -> Result<(), Error> {
    if meshes.is_empty() {
        return Ok(());
    }
    let folder = run.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, &e))?;
    for mesh in meshes {
        let path = path(run, &mesh.hash, mesh.format);
        if !matches!(read_file(&path, &mesh.hash), Copy::Sound(_)) {
            atomic_file::write(&path, &mesh.bytes()?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_verified_and_written_anew_once_it_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("a b.STL");
        fs::write(&original, "solid").unwrap();
        let mesh = MeshSource {
            hash: hash(b"solid"),
            format: Format::Stl,
            origin: Origin::File(original.clone()),
        };
        let run = folder.path().join("run");
        let kept = mesh.copy_name();
        assert!(is_copy(&kept) && !is_copy("notes.stl") && !is_copy(&format!("{kept}.bak")));
        assert_eq!(fault(&run, &kept), Some("it is missing"));
        write(&run, std::slice::from_ref(&mesh)).unwrap();
        assert_eq!(fault(&run, &kept), None);
        let copy = path(&run, &mesh.hash, Format::Stl);
        fs::write(&copy, "solie").unwrap();
        assert_eq!(read(&run, &mesh.hash, Format::Stl), Copy::Damaged);
        write(&run, std::slice::from_ref(&mesh)).unwrap();
        assert_eq!(
            read(&run, &mesh.hash, Format::Stl),
            Copy::Sound(b"solid".to_vec())
        );
        fs::write(&original, "other").unwrap();
        fs::remove_file(&copy).unwrap();
        assert_eq!(write(&run, &[mesh]).unwrap_err().kind(), Kind::Asset);
    }
}
