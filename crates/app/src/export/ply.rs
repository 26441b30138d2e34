//! PLY, binary little endian: x y z, on meshes nx ny nz, then vx vy vz as floats, and triangles. Vertices of bodies have the
//! number of their body as an integer.

use super::Cloud;
use super::bodies::Part;
use crate::surface::Surface;
use std::io::{self, Write};

/// Writes particles as a point cloud.
pub fn write_cloud(out: &mut dyn Write, cloud: &Cloud, title: &str) -> io::Result<()> {
    head(out, title, cloud.positions.len(), &["vx", "vy", "vz"])?;
    if cloud.attributes.is_some() {
        write!(
            out,
            "property uint id\nproperty float age\nproperty int source\n"
        )?;
    }
    writeln!(out, "end_header")?;
    for (k, position) in cloud.positions.iter().enumerate() {
        for number in position.iter().chain(&cloud.velocities[k]) {
            out.write_all(&number.to_le_bytes())?;
        }
        if let Some(kept) = &cloud.attributes {
            let id = u32::try_from(kept.ids[k]);
            let id = id.map_err(|_| io::Error::other("an id is too large for PLY"))?;
            out.write_all(&id.to_le_bytes())?;
            out.write_all(&kept.ages[k].to_le_bytes())?;
            out.write_all(&kept.sources[k].to_le_bytes())?;
        }
    }
    Ok(())
}

/// Writes a surface, or bodies if there are parts.
pub fn write_surface(
    out: &mut dyn Write,
    surface: &Surface,
    parts: &[Part],
    title: &str,
) -> io::Result<()> {
    let more = ["nx", "ny", "nz", "vx", "vy", "vz"];
    let mut title = title.to_string();
    for part in parts {
        title += &format!("\ncomment body {} is {}", part.body, part.name);
    }
    head(out, &title, surface.positions.len(), &more)?;
    if !parts.is_empty() {
        writeln!(out, "property int body")?;
    }
    let triangles = surface.triangles.len();
    write!(
        out,
        "element face {triangles}\nproperty list uchar int vertex_indices\nend_header\n"
    )?;
    let numbers = parts
        .iter()
        .flat_map(|p| p.vertices.clone().map(|_| p.body));
    let mut numbers = numbers.fuse();
    for v in 0..surface.positions.len() {
        for list in [&surface.positions, &surface.normals, &surface.velocities] {
            for number in list[v] {
                out.write_all(&number.to_le_bytes())?;
            }
        }
        if let Some(body) = numbers.next() {
            out.write_all(&body.to_le_bytes())?;
        }
    }
    for triangle in &surface.triangles {
        out.write_all(&[3])?;
        for vertex in triangle {
            out.write_all(&vertex.to_le_bytes())?;
        }
    }
    Ok(())
}

fn head(out: &mut dyn Write, title: &str, vertices: usize, more: &[&str]) -> io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment {title}\nelement vertex {vertices}\n"
    )?;
    for property in ["x", "y", "z"].iter().chain(more) {
        writeln!(out, "property float {property}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_six_floats_per_particle_after_a_text_header() {
        let cloud = Cloud {
            positions: vec![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            velocities: vec![[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]],
            attributes: None,
        };
        let mut bytes = Vec::new();
        write_cloud(&mut bytes, &cloud, "meniscus").unwrap();
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
