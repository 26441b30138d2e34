//! Wavefront OBJ: surfaces with normals, as text; bodies are one object each. The format has no velocities.

use super::bodies::Part;
use crate::surface::Surface;
use meniscus_scene::Texture;
use std::io::{self, Write};

/// Writes a surface, or bodies if there are parts.
pub fn write_surface(
    out: &mut dyn Write,
    surface: &Surface,
    parts: &[Part],
    title: &str,
) -> io::Result<()> {
    writeln!(out, "# {title}")?;
    let whole = [Part {
        body: 0,
        name: "surface".into(),
        vertices: 0..surface.positions.len(),
        triangles: 0..surface.triangles.len(),
        texture: Texture::default(),
    }];
    // Numbers of texture coordinates count from one through the whole file.
    let mut coordinates = 1;
    let objects = if parts.is_empty() { &whole } else { parts };
    for object in objects {
        writeln!(out, "o {}", object.name)?;
        for [x, y, z] in &surface.positions[object.vertices.clone()] {
            writeln!(out, "v {x} {y} {z}")?;
        }
        for [x, y, z] in &surface.normals[object.vertices.clone()] {
            writeln!(out, "vn {x} {y} {z}")?;
        }
        for [u, v] in &object.texture.coordinates {
            writeln!(out, "vt {u} {v}")?;
        }
        writeln!(out, "s 1")?;
        let corners = &object.texture.triangles;
        for (k, triangle) in surface.triangles[object.triangles.clone()]
            .iter()
            .enumerate()
        {
            let [a, b, c] = triangle.map(|v| v + 1);
            let Some(pairs) = corners.get(k) else {
                writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
                continue;
            };
            let [s, t, u] = pairs.map(|pair| pair as usize + coordinates);
            writeln!(out, "f {a}/{s}/{a} {b}/{t}/{b} {c}/{u}/{c}")?;
        }
        coordinates += object.texture.coordinates.len();
    }
    Ok(())
}
