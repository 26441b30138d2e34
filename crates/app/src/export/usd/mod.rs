//! USD: one binary file for the whole run, with time samples. Particles are `Points`, the liquid is a `Mesh`, both with
//! velocities; solids are meshes that are written once and moved by one matrix per frame.

mod crate_file;
mod tables;

use super::{Cloud, Up};
use crate::surface::Surface;
use crate::surface::solids::SolidMesh;
use crate_file::{CrateFile, Prim};
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
    solids: Vec<(SolidMesh, Vec<(f64, Matrix)>)>,
}

/// Transform in USD's layout: rows, the translation last.
type Matrix = [[f64; 4]; 4];

/// Rotation, as rows of a matrix, and translation.
type Pose = ([[f64; 3]; 3], [f64; 3]);

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
    /// Creates an empty stage with a frame rate.
    pub fn new(out: W, up: Up, frame_rate: f64, solids: Vec<SolidMesh>) -> io::Result<Self> {
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
            solids: solids.into_iter().map(|mesh| (mesh, Vec::new())).collect(),
        })
    }

    /// Adds a frame with its layers and the poses of the solids. Vectors are already converted to the up axis, poses are not.
    pub fn frame(
        &mut self,
        number: u32,
        cloud: Option<&Cloud>,
        surface: Option<&Surface>,
        poses: &[Option<Pose>],
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
        for ((_, samples), pose) in self.solids.iter_mut().zip(poses) {
            if let Some((rotation, translation)) = pose {
                let (r, t) = self.up.pose(*rotation, *translation);
                let column = |j: usize| [r[0][j], r[1][j], r[2][j], 0.0];
                let last = [t[0], t[1], t[2], 1.0];
                samples.push((code, [column(0), column(1), column(2), last]));
            }
        }
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
        if !self.solids.is_empty() {
            let mut scope = self.file.prim("solids", "Scope");
            for (solid, samples) in std::mem::take(&mut self.solids) {
                scope.add(self.solid(&solid, &samples)?);
            }
            root.add(scope);
        }
        let (first, last) = (
            self.times.first().copied().unwrap_or(1.0),
            self.times.last().copied().unwrap_or(1.0),
        );
        let file = &mut self.file;
        let up = file.token(&self.up.to_string());
        let default = file.token("meniscus");
        let fields = [
            ("upAxis", up),
            ("metersPerUnit", file.double(1.0)?),
            ("defaultPrim", default),
            ("startTimeCode", file.double(first)?),
            ("endTimeCode", file.double(last)?),
            ("timeCodesPerSecond", file.double(self.frame_rate)?),
            ("framesPerSecond", file.double(self.frame_rate)?),
        ];
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

    fn solid(&mut self, solid: &SolidMesh, poses: &[(f64, Matrix)]) -> io::Result<Prim> {
        let file = &mut self.file;
        let mut mesh = file.prim(&solid.name, "Mesh");
        let mut positions = solid.positions.clone();
        self.up.vectors(&mut positions);
        let corners: Vec<i32> = solid
            .triangles
            .iter()
            .flatten()
            .map(|&v| v as i32)
            .collect();
        let values = [
            ("points", "point3f[]", file.vectors(&positions)?),
            ("extent", "float3[]", file.vectors(&extent(&positions))?),
            (
                "faceVertexCounts",
                "int[]",
                file.ints(solid.triangles.iter().map(|_| 3))?,
            ),
            (
                "faceVertexIndices",
                "int[]",
                file.ints(corners.into_iter())?,
            ),
        ];
        for (name, kind, value) in values {
            file.attribute(&mut mesh, name, kind, &[("default", value)]);
        }
        let mut samples = Samples::of("xformOp:transform", "matrix4d");
        // A fixed solid has one pose for all times.
        let moves = poses.iter().any(|(_, pose)| *pose != poses[0].1);
        for (code, pose) in &poses[..if moves {
            poses.len()
        } else {
            poses.len().min(1)
        }] {
            samples.push(*code, self.file.matrix(pose)?);
        }
        if moves {
            self.sampled(&mut mesh, samples)?;
        } else if let Some(&value) = samples.values.first() {
            let fields = [("default", value)];
            self.file
                .attribute(&mut mesh, samples.name, samples.kind, &fields);
        }
        let order = self.file.tokens(&["xformOp:transform"])?;
        let fields = [("default", order), CrateFile::<W>::uniform()];
        self.file
            .attribute(&mut mesh, "xformOpOrder", "token[]", &fields);
        self.plain_mesh(&mut mesh);
        Ok(mesh)
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
