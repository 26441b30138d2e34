//! Triangle meshes from OBJ, PLY and STL files, text or binary.
//!
//! Files are not trusted: counts in a header are checked against the size of the file and the limits before anything is
//! allocated, and errors have a line or byte. [`read`] returns a mesh that was checked and repaired, [`read_faces`] the
//! content of the file, and [`parse`] that of bytes in memory.

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
use meniscus_store::regular_file;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// An error in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its place, if it has one.
    pub place: Option<Place>,
    /// Description.
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

/// Reads a file as a solid, checked and repaired.
///
/// # Errors
/// Of kind [`Kind::Asset`], with the name of the file, the place and a remedy.
pub fn read(path: &Path, limits: &Limits) -> Result<(TriangleMesh, MeshReport), Error> {
    let faces = read_faces(path, limits)?;
    TriangleMesh::new(&faces.vertices, &faces.triangles)
        .map_err(|fault| wrong(path, &fault.to_string()).with_remedy(fault.remedy()))
}

/// Reads the faces of a file.
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

/// Content of a file.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: &Path, limits: &Limits) -> Result<Vec<u8>, Error> {
    regular_file::read_up_to(path, limits.bytes).map_err(|cause| match cause.kind() {
        ErrorKind::FileTooLarge => wrong(path, &format!("is larger than {} bytes", limits.bytes))
            .with_remedy("simplify the mesh, or export it in a binary format"),
        ErrorKind::OutOfMemory => {
            let message = format!("mesh {}: there is no memory for it", path.display());
            Error::new(Kind::Resources, message).with_remedy("simplify the mesh")
        }
        ErrorKind::InvalidInput => wrong(path, &cause.to_string()).with_remedy("name a file"),
        _ => wrong(path, &format!("could not be read: {cause}"))
            .with_remedy("check the path and the rights to the file"),
    })
}
