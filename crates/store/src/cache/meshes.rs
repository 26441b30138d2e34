//! Meshes whose vertices move, such as cloth, as bytes: the section `MESH`. Their triangles are those of the scene.
//!
//! For each mesh: its name (length in two bytes, UTF-8), the number of vertices in four bytes, then the coordinates of all
//! vertices and their velocities as 32-bit floats.

use super::CacheError;
use super::bytes::{Reader, push_name};
use super::container::{Section, Tag};

/// Tag of the section.
pub const TAG: Tag = *b"MESH";

/// Vertices of a mesh that moves and changes its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeformedMesh {
    /// Name in the scene.
    pub name: String,
    /// Positions of the vertices, in metres.
    pub positions: Vec<[f32; 3]>,
    /// Velocities of the vertices, in metres per second.
    pub velocities: Vec<[f32; 3]>,
}

/// The section of some meshes.
pub(super) fn section(meshes: &[DeformedMesh]) -> Result<Section, CacheError> {
    let mut payload = Vec::new();
    for mesh in meshes {
        if mesh.positions.len() != mesh.velocities.len() {
            return Err(CacheError::Unwritable("lists of a mesh differ in length"));
        }
        let count = u32::try_from(mesh.positions.len())
            .map_err(|_| CacheError::Unwritable("a mesh has too many vertices"))?;
        push_name(&mut payload, &mesh.name)?;
        payload.extend(count.to_le_bytes());
        for number in mesh.positions.iter().chain(&mesh.velocities).flatten() {
            if !number.is_finite() {
                return Err(CacheError::Unwritable("a vertex of a mesh is not finite"));
            }
            payload.extend(number.to_le_bytes());
        }
    }
    Ok(Section {
        tag: TAG,
        count: meshes.len() as u64,
        payload,
    })
}

/// The meshes in a section.
pub(super) fn read(count: u64, payload: &[u8]) -> Result<Vec<DeformedMesh>, CacheError> {
    let mut from = Reader(payload);
    let mut meshes = Vec::new();
    for _ in 0..count {
        let name = from.name()?;
        let vertices = from.u32()? as usize;
        let mut vectors = || -> Result<Vec<[f32; 3]>, CacheError> {
            let mut found = Vec::new();
            for _ in 0..vertices {
                found.push([from.f32()?, from.f32()?, from.f32()?]);
            }
            Ok(found)
        };
        meshes.push(DeformedMesh {
            name,
            positions: vectors()?,
            velocities: vectors()?,
        });
    }
    from.end()?;
    Ok(meshes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meshes_come_back_and_damaged_ones_are_refused() {
        let mesh = DeformedMesh {
            name: "flag".into(),
            positions: vec![[0.0, 1.5, -2.0], [1.0, 0.25, 3.0]],
            velocities: vec![[0.5, 0.0, 0.0], [0.0, -0.5, 9.0]],
        };
        let meshes = vec![mesh, DeformedMesh::default()];
        let section = section(&meshes).expect("finite");
        assert_eq!(read(section.count, &section.payload), Ok(meshes));
        for len in 0..section.payload.len() {
            assert!(read(2, &section.payload[..len]).is_err(), "{len} bytes");
        }
        let mut not_finite = section.payload;
        not_finite[10..14].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read(2, &not_finite).is_err());
    }
}
