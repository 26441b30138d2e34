//! Prims of solids and rigid bodies: meshes that are written once and moved by one matrix per frame, with UsdPhysics in
//! scenes with rigid bodies.

use super::crate_file::{CrateFile, Prim};
use super::physics::{BodyProperties, MassProperties, Physics};
use super::{Samples, Stage, extent};
use crate::surface::solids::SolidMesh;
use std::io::{self, Seek, Write};

/// Transform in USD's layout: rows, the translation last.
type Matrix = [[f64; 4]; 4];

/// Rotation, as rows of a matrix, and translation.
pub type Pose = ([[f64; 3]; 3], [f64; 3]);

/// A solid or body in a frame.
#[derive(Clone, Copy, Debug)]
pub struct BodySample {
    /// Pose.
    pub pose: Pose,
    /// Velocity of the centre of mass in m/s and angular velocity in degrees per second, of rigid bodies.
    pub twist: Option<[[f64; 3]; 2]>,
}

/// A solid or body with its frames so far.
pub struct Track {
    mesh: SolidMesh,
    poses: Vec<(f64, Matrix)>,
    twists: Vec<(f64, [[f64; 3]; 2])>,
}

impl Track {
    pub fn new(mesh: SolidMesh) -> Self {
        Track {
            mesh,
            poses: Vec::new(),
            twists: Vec::new(),
        }
    }
}

impl<W: Write + Seek> Stage<W> {
    /// Adds a frame of the solids and bodies; those that were removed have none.
    pub(super) fn body_frame(&mut self, code: f64, bodies: &[Option<BodySample>]) {
        for (track, body) in self.solids.iter_mut().zip(bodies) {
            let Some(body) = body else { continue };
            let (r, t) = self.up.pose(body.pose.0, body.pose.1);
            let column = |j: usize| [r[0][j], r[1][j], r[2][j], 0.0];
            let last = [t[0], t[1], t[2], 1.0];
            (track.poses).push((code, [column(0), column(1), column(2), last]));
            if let Some(twist) = body.twist {
                track.twists.push((code, twist.map(|v| self.up.exact(v))));
            }
        }
    }

    /// Prims of the solids, the bodies and what simulators need to continue their motion.
    pub(super) fn body_prims(&mut self) -> io::Result<Vec<Prim>> {
        let physics = self.physics.take();
        let properties = |track: &Track| Some(&physics.as_ref()?.bodies[track.mesh.solid]);
        let mut solids = self.file.prim("solids", "Scope");
        let mut bodies = self.file.prim("bodies", "Scope");
        let mut materials = self.file.prim("materials", "Scope");
        let (mut any_solid, mut any_body) = (false, false);
        let mut known: Vec<[u64; 2]> = Vec::new();
        for track in std::mem::take(&mut self.solids) {
            let own = properties(&track);
            let mut mesh = self.body_mesh(&track)?;
            if let Some(own) = own {
                let bits = [own.surface.friction, own.surface.restitution].map(f64::to_bits);
                let number = known.iter().position(|other| *other == bits);
                let number = number.unwrap_or(known.len());
                if number == known.len() {
                    known.push(bits);
                    materials.add(self.material(number, own)?);
                }
                self.body_physics(&mut mesh, &track, own, number)?;
            }
            match own.is_some_and(|own| own.mass.is_some()) {
                true => {
                    bodies.add(mesh);
                    any_body = true;
                }
                false => {
                    solids.add(mesh);
                    any_solid = true;
                }
            }
        }
        let mut prims = Vec::new();
        if let Some(physics) = &physics {
            prims.push(self.physics_scene(physics)?);
            prims.push(materials);
        }
        prims.extend(any_solid.then_some(solids));
        prims.extend(any_body.then_some(bodies));
        Ok(prims)
    }

    /// Gravity.
    fn physics_scene(&mut self, physics: &Physics) -> io::Result<Prim> {
        let file = &mut self.file;
        let mut scene = file.prim("physics_scene", "PhysicsScene");
        let size = physics.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        // Without gravity the direction does not matter, and must not be zero.
        let direction = match size > 0.0 {
            true => physics.gravity.map(|g| g / size),
            false => [0.0, 0.0, -1.0],
        };
        let direction = file.vector(direction)?;
        let size = CrateFile::<W>::float(size);
        for (name, kind, value) in [
            ("physics:gravityDirection", "vector3f", direction),
            ("physics:gravityMagnitude", "float", size),
        ] {
            file.attribute(&mut scene, name, kind, &[("default", value)]);
        }
        Ok(scene)
    }

    fn material(&mut self, number: usize, body: &BodyProperties) -> io::Result<Prim> {
        let file = &mut self.file;
        let mut material = file.prim(&material_name(number), "Material");
        file.schemas(&mut material, &["PhysicsMaterialAPI"])?;
        for (name, value) in [
            ("physics:staticFriction", body.surface.friction),
            ("physics:dynamicFriction", body.surface.friction),
            ("physics:restitution", body.surface.restitution),
        ] {
            let value = CrateFile::<W>::float(value);
            file.attribute(&mut material, name, "float", &[("default", value)]);
        }
        Ok(material)
    }

    /// Adds UsdPhysics to the prim of a solid or body.
    fn body_physics(
        &mut self,
        mesh: &mut Prim,
        track: &Track,
        own: &BodyProperties,
        material: usize,
    ) -> io::Result<()> {
        let mut schemas = vec![
            "PhysicsCollisionAPI",
            "PhysicsMeshCollisionAPI",
            "MaterialBindingAPI",
        ];
        let moves = own.mass.is_some() || own.scripted;
        schemas.extend(moves.then_some("PhysicsRigidBodyAPI"));
        schemas.extend(own.mass.as_ref().map(|_| "PhysicsMassAPI"));
        self.file.schemas(mesh, &schemas)?;
        self.switch(mesh, "physics:collisionEnabled", true);
        let approximation = self.file.token(own.approximation);
        let fields = [("default", approximation), CrateFile::<W>::uniform()];
        self.file
            .attribute(mesh, "physics:approximation", "token", &fields);
        let target = format!("/meniscus/materials/{}", material_name(material));
        self.file
            .relationship(mesh, "material:binding:physics", &target);
        if moves {
            self.switch(mesh, "physics:rigidBodyEnabled", true);
            self.switch(mesh, "physics:kinematicEnabled", own.scripted);
        }
        if let Some(mass) = &own.mass {
            self.mass(mesh, mass)?;
        }
        for (k, name) in ["physics:velocity", "physics:angularVelocity"]
            .into_iter()
            .enumerate()
        {
            let mut samples = Samples::of(name, "vector3f");
            for (code, twist) in &track.twists {
                samples.push(*code, self.file.vector(twist[k])?);
            }
            if !samples.times.is_empty() {
                self.sampled(mesh, samples)?;
            }
        }
        Ok(())
    }

    fn mass(&mut self, mesh: &mut Prim, mass: &MassProperties) -> io::Result<()> {
        let mut values = vec![
            ("physics:mass", "float", CrateFile::<W>::float(mass.mass)),
            (
                "physics:centerOfMass",
                "point3f",
                self.file.vector(mass.center)?,
            ),
        ];
        if let Some((moments, axes)) = mass.inertia {
            let moments = self.file.vector(moments)?;
            values.push(("physics:diagonalInertia", "float3", moments));
            let axes = self.file.quaternion(axes)?;
            values.push(("physics:principalAxes", "quatf", axes));
        }
        for (name, kind, value) in values {
            self.file.attribute(mesh, name, kind, &[("default", value)]);
        }
        Ok(())
    }

    fn switch(&mut self, prim: &mut Prim, name: &str, value: bool) {
        let fields = [("default", CrateFile::<W>::boolean(value))];
        self.file.attribute(prim, name, "bool", &fields);
    }

    /// Mesh of a solid or body, with its poses.
    fn body_mesh(&mut self, track: &Track) -> io::Result<Prim> {
        let solid = &track.mesh;
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
        self.transforms(&mut mesh, &track.poses)?;
        self.visibility(&mut mesh, &track.poses)?;
        self.plain_mesh(&mut mesh);
        Ok(mesh)
    }

    fn transforms(&mut self, mesh: &mut Prim, poses: &[(f64, Matrix)]) -> io::Result<()> {
        let mut samples = Samples::of("xformOp:transform", "matrix4d");
        // A fixed solid has one pose for all times.
        let moves = poses.iter().any(|(_, pose)| *pose != poses[0].1);
        let written = if moves {
            poses.len()
        } else {
            poses.len().min(1)
        };
        for (code, pose) in &poses[..written] {
            samples.push(*code, self.file.matrix(pose)?);
        }
        if moves {
            self.sampled(mesh, samples)?;
        } else if let Some(&value) = samples.values.first() {
            let fields = [("default", value)];
            self.file
                .attribute(mesh, samples.name, samples.kind, &fields);
        }
        let order = self.file.tokens(&["xformOp:transform"])?;
        let fields = [("default", order), CrateFile::<W>::uniform()];
        self.file
            .attribute(mesh, "xformOpOrder", "token[]", &fields);
        Ok(())
    }

    /// Hides a body in the frames after its removal.
    fn visibility(&mut self, mesh: &mut Prim, poses: &[(f64, Matrix)]) -> io::Result<()> {
        if poses.len() == self.times.len() {
            return Ok(());
        }
        let mut samples = Samples::of("visibility", "token");
        for &code in &self.times {
            let word = match poses.iter().any(|(own, _)| *own == code) {
                true => "inherited",
                false => "invisible",
            };
            samples.push(code, self.file.token(word));
        }
        self.sampled(mesh, samples)
    }
}

fn material_name(number: usize) -> String {
    format!("material_{}", number + 1)
}
