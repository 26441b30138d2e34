//! Triangle meshes from files of others: OBJ, PLY and STL, as text or binary.
//!
//! The files are not trusted. What a header promises is checked against the size of the file and the limits before
//! anything is allocated; a fault is told with its line or byte. [`read`] gives a mesh that was checked and mended,
//! [`read_faces`] what the file holds, for those who scale it first, and [`parse`] does without a file.

mod bytes;
mod faces;
mod obj;
mod ply;
mod stl;
#[cfg(test)]
mod tests;

pub use faces::{Faces, Limits};
pub use meniscus_store::mesh_copies::Format;

use meniscus_shapes::{MeshReport, TriangleMesh};
use meniscus_store::error::{Error, Kind};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// What is wrong in a file, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Where it is, if it is somewhere.
    pub place: Option<Place>,
    /// What is wrong there.
    pub what: String,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of text, counted from one.
    Line(usize),
    /// A byte, counted from zero.
    Byte(usize),
}

impl Fault {
    fn at(place: Place, what: impl Into<String>) -> Self {
        Fault {
            place: Some(place),
            what: what.into(),
        }
    }

    fn whole(what: impl Into<String>) -> Self {
        Fault {
            place: None,
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place::Line(line)) => write!(f, "line {line}: {}", self.what),
            Some(Place::Byte(byte)) => write!(f, "byte {byte}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// The faces that the bytes of a file describe, polygons cut into triangles.
pub fn parse(format: Format, bytes: &[u8], limits: &Limits) -> Result<Faces, Fault> {
    match format {
        Format::Obj => obj::parse(bytes, limits),
        Format::Ply => ply::parse(bytes, limits),
        Format::Stl => stl::parse(bytes, limits),
    }
}

/// Reads a file and makes a solid of it: checked, mended, ready to be asked for distances.
///
/// # Errors
/// Of kind [`Kind::Asset`] for everything that is wrong with the file, with its name, the place and what to do.
pub fn read(path: &Path, limits: &Limits) -> Result<(TriangleMesh, MeshReport), Error> {
    let faces = read_faces(path, limits)?;
    TriangleMesh::new(&faces.vertices, &faces.triangles)
        .map_err(|fault| wrong(path, &fault.to_string()).with_remedy(fault.remedy()))
}

/// Reads a file as it is.
///
/// # Errors
/// As [`read`].
pub fn read_faces(path: &Path, limits: &Limits) -> Result<Faces, Error> {
    let Some(format) = Format::of(path) else {
        return Err(wrong(path, "its name does not end in .obj, .ply or .stl")
            .with_remedy("export the mesh as OBJ, PLY or STL"));
    };
    let bytes = read_bytes(path, limits)?;
    parse(format, &bytes, limits).map_err(|fault| {
        wrong(path, &fault.to_string())
            .with_remedy("the file may be damaged: export the mesh again")
    })
}

fn wrong(path: &Path, what: &str) -> Error {
    Error::new(Kind::Asset, format!("mesh {}: {what}", path.display()))
}

/// The whole file, if it is one and not too large.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: &Path, limits: &Limits) -> Result<Vec<u8>, Error> {
    let refused = |cause: io::Error| {
        wrong(path, &format!("could not be read: {cause}"))
            .with_remedy("check the path and the rights to the file")
    };
    // Before it is opened: to open a pipe waits for somebody to write to it.
    let metadata = fs::metadata(path).map_err(refused)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() {
            "is a folder, not a file"
        } else {
            "is a device or a pipe, not a file"
        };
        return Err(wrong(path, what).with_remedy("name a file"));
    }
    let too_large = || {
        let limit = limits.bytes;
        wrong(path, &format!("is larger than {limit} bytes"))
            .with_remedy("simplify the mesh, or export it in a binary format")
    };
    if metadata.len() > limits.bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let length = usize::try_from(metadata.len()).map_err(|_| too_large())?;
    bytes.try_reserve_exact(length).map_err(|_| {
        Error::new(
            Kind::Resources,
            format!("mesh {}: no memory for its {length} bytes", path.display()),
        )
        .with_remedy("simplify the mesh")
    })?;
    // The file may have grown since.
    let file = File::open(path).map_err(refused)?;
    file.take(limits.bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(refused)?;
    if bytes.len() as u64 > limits.bytes {
        return Err(too_large());
    }
    Ok(bytes)
}
