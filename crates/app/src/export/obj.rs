//! Wavefront OBJ: surfaces with normals, as text; bodies are one object each. The format has no velocities.

use super::bodies::Part;
use crate::surface::Surface;
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
        texture: Vec::new(),
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
        for [u, v] in &object.texture {
            writeln!(out, "vt {u} {v}")?;
        }
        writeln!(out, "s 1")?;
        for triangle in &surface.triangles[object.triangles.clone()] {
            let [a, b, c] = triangle.map(|v| v + 1);
            if object.texture.is_empty() {
                writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
                continue;
            }
            let [s, t, u] = triangle.map(|v| v as usize - object.vertices.start + coordinates);
            writeln!(out, "f {a}/{s}/{a} {b}/{t}/{b} {c}/{u}/{c}")?;
        }
        coordinates += object.texture.len();
    }
    Ok(())
}
