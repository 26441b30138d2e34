//! Houdini's classic binary geometry, version 5, big endian: points with velocities `v` and, on meshes, normals `N` and
//! triangles; points of bodies have the number of their `body`.

use super::Cloud;
use super::bodies::Part;
use crate::surface::Surface;
use std::io::{self, Write};

/// Type of attributes that are transformed with the geometry.
const VECTOR: i32 = 5;
/// Types of plain numbers.
const FLOAT: i32 = 0;
const INTEGER: i32 = 1;
/// A polygon, and the flag that it is closed.
const POLYGON: i32 = 1;
const CLOSED: u8 = b'<';

/// Writes particles as points.
pub fn write_cloud(out: &mut dyn Write, cloud: &Cloud) -> io::Result<()> {
    let kept = cloud.attributes.as_ref();
    let numbers: &[_] = match kept {
        Some(_) => &[("id", INTEGER), ("age", FLOAT), ("source", INTEGER)],
        None => &[],
    };
    head(out, cloud.positions.len(), 0, &["v"], numbers)?;
    for (k, position) in cloud.positions.iter().enumerate() {
        point(out, position, &[&cloud.velocities[k]])?;
        if let Some(kept) = kept {
            let id = i32::try_from(kept.ids[k]);
            let id = id.map_err(|_| io::Error::other("an id is too large for bgeo"))?;
            out.write_all(&id.to_be_bytes())?;
            out.write_all(&kept.ages[k].to_be_bytes())?;
            out.write_all(&kept.sources[k].to_be_bytes())?;
        }
    }
    end(out)
}

/// Writes a surface as points and triangles, or bodies if there are parts.
pub fn write_surface(out: &mut dyn Write, surface: &Surface, parts: &[Part]) -> io::Result<()> {
    let points = surface.positions.len();
    let number: &[_] = match parts.is_empty() {
        true => &[],
        false => &[("body", INTEGER)],
    };
    let triangles = surface.triangles.len();
    head(out, points, triangles, &["v", "N"], number)?;
    let numbers = parts
        .iter()
        .flat_map(|p| p.vertices.clone().map(|_| p.body));
    let mut numbers = numbers.fuse();
    for v in 0..points {
        let more = [&surface.velocities[v], &surface.normals[v]];
        point(out, &surface.positions[v], &more)?;
        if let Some(body) = numbers.next() {
            out.write_all(&body.to_be_bytes())?;
        }
    }
    for triangle in &surface.triangles {
        out.write_all(&POLYGON.to_be_bytes())?;
        out.write_all(&3i32.to_be_bytes())?;
        out.write_all(&[CLOSED])?;
        // Houdini winds polygons clockwise.
        for &vertex in triangle.iter().rev() {
            match u16::try_from(points) {
                Ok(_) => out.write_all(&(vertex as u16).to_be_bytes())?,
                Err(_) => out.write_all(&vertex.to_be_bytes())?,
            }
        }
    }
    end(out)
}

fn head(
    out: &mut dyn Write,
    points: usize,
    polygons: usize,
    vectors: &[&str],
    numbers: &[(&str, i32)],
) -> io::Result<()> {
    out.write_all(b"BgeoV")?;
    let count = |n: usize| i32::try_from(n).map_err(|_| io::Error::other("too many for bgeo"));
    // Version; points, primitives, groups of either; attributes of points, vertices, primitives and all.
    let counts = [
        5,
        count(points)?,
        count(polygons)?,
        0,
        0,
        (vectors.len() + numbers.len()) as i32,
        0,
        0,
        0,
    ];
    for count in counts {
        out.write_all(&count.to_be_bytes())?;
    }
    // Name, components, type and the default value of each component.
    let vectors = vectors.iter().map(|&name| (name, 3u16, VECTOR));
    let numbers = numbers.iter().map(|&(name, kind)| (name, 1u16, kind));
    for (name, components, kind) in vectors.chain(numbers) {
        out.write_all(&(name.len() as u16).to_be_bytes())?;
        out.write_all(name.as_bytes())?;
        out.write_all(&components.to_be_bytes())?;
        out.write_all(&kind.to_be_bytes())?;
        for _ in 0..components {
            out.write_all(&[0; 4])?;
        }
    }
    Ok(())
}

fn point(out: &mut dyn Write, position: &[f32; 3], vectors: &[&[f32; 3]]) -> io::Result<()> {
    let numbers = position.iter().chain(&[1.0]);
    for number in numbers.chain(vectors.iter().copied().flatten()) {
        out.write_all(&number.to_be_bytes())?;
    }
    Ok(())
}

/// End of the file: no further data.
fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0x00, 0xff])
}
