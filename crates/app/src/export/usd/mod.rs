//! USD: one binary file for the whole run, with time samples. Particles are `Points`, the liquid is a `Mesh`, both with
//! velocities, and so is cloth; solids and rigid bodies are meshes that are written once and moved by one matrix per frame,
//! with UsdPhysics in scenes with rigid bodies.

mod cloth;
mod crate_file;
mod physics;
mod solids;
mod tables;

pub use physics::Physics;
pub use solids::BodySample;

use super::{Cloud, Up};
use crate::surface::Surface;
use crate::surface::solids::SolidMesh;
use crate_file::{CrateFile, Prim};
use solids::Track;
use std::io::{self, Seek, Write};
use tables::Rep;

/// Stage being written. Frames are added in order, one at a time.
pub struct Stage<W: Write + Seek> {
    file: CrateFile<W>,
    up: Up,
    frame_rate: f64,
    times: Vec<f64>,
    particles: [Samples; 6],
    surface: [Samples; 6],
    solids: Vec<Track>,
    sheets: Vec<cloth::Sheet>,
    physics: Option<Physics>,
}

/// Attribute with time samples: its name, its type and its samples.
struct Samples {
    name: &'static str,
    kind: &'static str,
    times: Vec<f64>,
    values: Vec<Rep>,
}

impl Samples {
    fn of(name: &'static str, kind: &'static str) -> Self {
        Samples {
            name,
            kind,
            times: Vec::new(),
            values: Vec::new(),
        }
    }

    fn push(&mut self, time: f64, value: Rep) {
        self.times.push(time);
        self.values.push(value);
    }
}

impl<W: Write + Seek> Stage<W> {
    /// Creates an empty stage with a frame rate, and the physics of a scene with rigid bodies.
    pub fn new(
        out: W,
        up: Up,
        frame_rate: f64,
        solids: Vec<SolidMesh>,
        physics: Option<Physics>,
    ) -> io::Result<Self> {
        let of = Samples::of;
        Ok(Stage {
            file: CrateFile::new(out)?,
            up,
            frame_rate,
            times: Vec::new(),
            particles: [
                of("points", "point3f[]"),
                of("velocities", "vector3f[]"),
                of("extent", "float3[]"),
                of("ids", "int64[]"),
                of("primvars:age", "float[]"),
                of("primvars:source", "int[]"),
            ],
            surface: [
                of("points", "point3f[]"),
                of("velocities", "vector3f[]"),
                of("extent", "float3[]"),
                of("normals", "normal3f[]"),
                of("faceVertexCounts", "int[]"),
                of("faceVertexIndices", "int[]"),
            ],
            solids: solids.into_iter().map(Track::new).collect(),
            sheets: Vec::new(),
            physics,
        })
    }

    /// Adds a frame with its layers, solids and bodies. Vectors of layers are already converted to the up axis, bodies are not.
    pub fn frame(
        &mut self,
        number: u32,
        cloud: Option<&Cloud>,
        surface: Option<&Surface>,
        bodies: &[Option<BodySample>],
    ) -> io::Result<()> {
        let code = f64::from(number);
        self.times.push(code);
        let file = &mut self.file;
        if let Some(cloud) = cloud {
            let values = [
                file.vectors(&cloud.positions)?,
                file.vectors(&cloud.velocities)?,
                file.vectors(&extent(&cloud.positions))?,
            ];
            let mut values = Vec::from(values);
            if let Some(kept) = &cloud.attributes {
                values.push(file.longs(kept.ids.iter().map(|&id| id as i64))?);
                values.push(file.floats(&kept.ages)?);
                values.push(file.ints(kept.sources.iter().copied())?);
            }
            for (samples, value) in self.particles.iter_mut().zip(values) {
                samples.push(code, value);
            }
        }
        if let Some(surface) = surface {
            let corners: Vec<i32> = surface
                .triangles
                .iter()
                .flatten()
                .map(|&v| v as i32)
                .collect();
            let values = [
                file.vectors(&surface.positions)?,
                file.vectors(&surface.velocities)?,
                file.vectors(&extent(&surface.positions))?,
                file.vectors(&surface.normals)?,
                file.ints(surface.triangles.iter().map(|_| 3))?,
                file.ints(corners.into_iter())?,
            ];
            for (samples, value) in self.surface.iter_mut().zip(values) {
                samples.push(code, value);
            }
        }
        self.body_frame(code, bodies);
        Ok(())
    }

    /// Writes the prims and tables. `width` is that of a particle.
    pub fn finish(mut self, width: f32) -> io::Result<W> {
        let mut root = self.file.prim("meniscus", "Xform");
        if !self.surface[0].times.is_empty() {
            let mut mesh = self.file.prim("liquid", "Mesh");
            let samples = std::mem::replace(&mut self.surface, [const { nothing() }; 6]);
            for samples in samples {
                self.sampled(&mut mesh, samples)?;
            }
            self.plain_mesh(&mut mesh);
            root.add(mesh);
        }
        if !self.particles[0].times.is_empty() {
            let mut points = self.file.prim("particles", "Points");
            let samples = std::mem::replace(&mut self.particles, [const { nothing() }; 6]);
            for samples in samples.into_iter().filter(|s| !s.times.is_empty()) {
                self.sampled(&mut points, samples)?;
            }
            let widths = self.file.floats(&[width])?;
            let constant = self.file.token("constant");
            let fields = [("default", widths), ("interpolation", constant)];
            self.file
                .attribute(&mut points, "widths", "float[]", &fields);
            root.add(points);
        }
        let physical = self.physics.is_some();
        for prim in self.body_prims()? {
            root.add(prim);
        }
        if let Some(cloth) = self.cloth_prims()? {
            root.add(cloth);
        }
        let (first, last) = (
            self.times.first().copied().unwrap_or(1.0),
            self.times.last().copied().unwrap_or(1.0),
        );
        let file = &mut self.file;
        let up = file.token(&self.up.to_string());
        let default = file.token("meniscus");
        let mut fields = vec![
            ("upAxis", up),
            ("metersPerUnit", file.double(1.0)?),
            ("defaultPrim", default),
            ("startTimeCode", file.double(first)?),
            ("endTimeCode", file.double(last)?),
            ("timeCodesPerSecond", file.double(self.frame_rate)?),
            ("framesPerSecond", file.double(self.frame_rate)?),
        ];
        if physical {
            fields.push(("kilogramsPerUnit", self.file.double(1.0)?));
        }
        self.file.finish(&fields, vec![root])
    }

    fn sampled(&mut self, prim: &mut Prim, samples: Samples) -> io::Result<()> {
        let value = self.file.samples(&samples.times, &samples.values)?;
        let mut fields = vec![("timeSamples", value)];
        if samples.name == "normals" || samples.name.starts_with("primvars:") {
            fields.push(("interpolation", self.file.token("vertex")));
        }
        self.file
            .attribute(prim, samples.name, samples.kind, &fields);
        Ok(())
    }

    /// Declares that a mesh is polygonal and not to be subdivided.
    fn plain_mesh(&mut self, mesh: &mut Prim) {
        let none = self.file.token("none");
        let fields = [("default", none), CrateFile::<W>::uniform()];
        self.file
            .attribute(mesh, "subdivisionScheme", "token", &fields);
    }
}

const fn nothing() -> Samples {
    Samples {
        name: "",
        kind: "",
        times: Vec::new(),
        values: Vec::new(),
    }
}

/// Bounding box of points in USD's layout: lower and upper corner.
fn extent(positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    if positions.is_empty() {
        return Vec::new();
    }
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for position in positions {
        for a in 0..3 {
            low[a] = low[a].min(position[a]);
            high[a] = high[a].max(position[a]);
        }
    }
    vec![low, high]
}
