//! Wavefront OBJ: surfaces with normals, as text. The format has no velocities.

use crate::surface::Surface;
use std::io::{self, Write};

/// Writes a surface.
pub fn write_surface(out: &mut dyn Write, surface: &Surface, title: &str) -> io::Result<()> {
    writeln!(out, "# {title}\no surface")?;
    for [x, y, z] in &surface.positions {
        writeln!(out, "v {x} {y} {z}")?;
    }
    for [x, y, z] in &surface.normals {
        writeln!(out, "vn {x} {y} {z}")?;
    }
    writeln!(out, "s 1")?;
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|v| v + 1);
        writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
    }
    Ok(())
}
