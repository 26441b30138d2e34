//! Prims of cloth: meshes whose vertices move, with texture coordinates.

use super::crate_file::Prim;
use super::{Samples, Stage, extent};
use crate::export::bodies::Part;
use crate::surface::Surface;
use meniscus_scene::Texture;
use std::io::{self, Seek, Write};

/// A piece of cloth with its frames so far.
pub struct Sheet {
    name: String,
    triangles: Vec<[u32; 3]>,
    texture: Texture,
    samples: [Samples; 4],
}

impl<W: Write + Seek> Stage<W> {
    /// Adds the cloth of a frame, already converted to the up axis, to that frame.
    pub fn cloth(&mut self, number: u32, surface: &Surface, parts: &[Part]) -> io::Result<()> {
        let code = f64::from(number);
        for part in parts {
            let number = format!("{}_{}", part.name, part.body + 1);
            let known = self.sheets.iter().position(|sheet| sheet.name == number);
            let at = known.unwrap_or(self.sheets.len());
            if known.is_none() {
                let first = part.vertices.start as u32;
                let triangles = surface.triangles[part.triangles.clone()].iter();
                self.sheets.push(Sheet {
                    name: number,
                    triangles: triangles
                        .map(|corners| corners.map(|v| v - first))
                        .collect(),
                    texture: part.texture.clone(),
                    samples: [
                        Samples::of("points", "point3f[]"),
                        Samples::of("velocities", "vector3f[]"),
                        Samples::of("extent", "float3[]"),
                        Samples::of("normals", "normal3f[]"),
                    ],
                });
            }
            let (file, range) = (&mut self.file, part.vertices.clone());
            let points = &surface.positions[range.clone()];
            let values = [
                file.vectors(points)?,
                file.vectors(&surface.velocities[range.clone()])?,
                file.vectors(&extent(points))?,
                file.vectors(&surface.normals[range])?,
            ];
            for (samples, value) in self.sheets[at].samples.iter_mut().zip(values) {
                samples.push(code, value);
            }
        }
        Ok(())
    }

    /// Prims of all cloth, if there is any.
    pub(super) fn cloth_prims(&mut self) -> io::Result<Option<Prim>> {
        let sheets = std::mem::take(&mut self.sheets);
        if sheets.is_empty() {
            return Ok(None);
        }
        let mut scope = self.file.prim("cloth", "Scope");
        for sheet in sheets {
            let mut mesh = self.file.prim(&sheet.name, "Mesh");
            for samples in sheet.samples {
                self.sampled(&mut mesh, samples)?;
            }
            let corners: Vec<i32> = sheet
                .triangles
                .iter()
                .flatten()
                .map(|&v| v as i32)
                .collect();
            let file = &mut self.file;
            let counts = file.ints(sheet.triangles.iter().map(|_| 3))?;
            let corners = file.ints(corners.into_iter())?;
            for (name, value) in [("faceVertexCounts", counts), ("faceVertexIndices", corners)] {
                file.attribute(&mut mesh, name, "int[]", &[("default", value)]);
            }
            let texture = &sheet.texture;
            if !texture.triangles.is_empty() {
                // At seams, a vertex has several coordinates.
                let is_plain = texture.triangles == sheet.triangles;
                let pairs = file.pairs(&texture.coordinates)?;
                let places = if is_plain { "vertex" } else { "faceVarying" };
                let fields = [("default", pairs), ("interpolation", file.token(places))];
                file.attribute(&mut mesh, "primvars:st", "texCoord2f[]", &fields);
                if !is_plain {
                    let corners = texture.triangles.as_flattened().iter();
                    let corners = file.ints(corners.map(|&corner| corner as i32))?;
                    let fields = [("default", corners)];
                    file.attribute(&mut mesh, "primvars:st:indices", "int[]", &fields);
                }
            }
            let sides = [("default", super::crate_file::CrateFile::<W>::boolean(true))];
            self.file
                .attribute(&mut mesh, "doubleSided", "bool", &sides);
            self.plain_mesh(&mut mesh);
            scope.add(mesh);
        }
        Ok(Some(scope))
    }
}
