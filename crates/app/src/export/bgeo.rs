//! Houdini's classic binary geometry, version 5, big endian: points with velocities `v` and, on surfaces, normals `N` and
//! triangles.

use super::Cloud;
use crate::surface::Surface;
use std::io::{self, Write};

/// The type of attributes that are turned with the geometry.
const VECTOR: i32 = 5;
/// A polygon, and that its last corner is joined to the first.
const POLYGON: i32 = 1;
const CLOSED: u8 = b'<';

/// Particles as points.
pub fn write_cloud(out: &mut dyn Write, cloud: &Cloud) -> io::Result<()> {
    head(out, cloud.positions.len(), 0, &["v"])?;
    for (position, velocity) in cloud.positions.iter().zip(&cloud.velocities) {
        point(out, position, &[velocity])?;
    }
    end(out)
}

/// A surface as points and triangles.
pub fn write_surface(out: &mut dyn Write, surface: &Surface) -> io::Result<()> {
    let points = surface.positions.len();
    head(out, points, surface.triangles.len(), &["v", "N"])?;
    for v in 0..points {
        let more = [&surface.velocities[v], &surface.normals[v]];
        point(out, &surface.positions[v], &more)?;
    }
    for triangle in &surface.triangles {
        out.write_all(&POLYGON.to_be_bytes())?;
        out.write_all(&3i32.to_be_bytes())?;
        out.write_all(&[CLOSED])?;
        // Houdini goes round a polygon with the clock.
        for &vertex in triangle.iter().rev() {
            match u16::try_from(points) {
                Ok(_) => out.write_all(&(vertex as u16).to_be_bytes())?,
                Err(_) => out.write_all(&vertex.to_be_bytes())?,
            }
        }
    }
    end(out)
}

fn head(out: &mut dyn Write, points: usize, polygons: usize, vectors: &[&str]) -> io::Result<()> {
    out.write_all(b"BgeoV")?;
    let count = |n: usize| i32::try_from(n).map_err(|_| io::Error::other("too many for bgeo"));
    // Version; points, primitives, groups of either; attributes of points, vertices, primitives and all.
    let numbers = [
        5,
        count(points)?,
        count(polygons)?,
        0,
        0,
        vectors.len() as i32,
        0,
        0,
        0,
    ];
    for number in numbers {
        out.write_all(&number.to_be_bytes())?;
    }
    for name in vectors {
        out.write_all(&(name.len() as u16).to_be_bytes())?;
        out.write_all(name.as_bytes())?;
        out.write_all(&3u16.to_be_bytes())?;
        out.write_all(&VECTOR.to_be_bytes())?;
        out.write_all(&[0; 12])?;
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

/// Nothing more follows.
fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0x00, 0xff])
}
