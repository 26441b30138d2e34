//! A scene out of a filled tree.

use super::problem::{Place, Problem};
use super::tree::Node;
use super::validate::join;
use super::values::{color, number, switch, text, vector, whole, written_whole};
use crate::SurfaceSettings;
use crate::{Drain, Emitter, FrameRange, Limits, Output, Scene, Volume};
use meniscus_liquid::{Transfer, Walls, fas};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape};
use std::str::FromStr;

/// Reads what fits the grammar, and collects what does not make sense for other reasons.
pub struct Reader<'a> {
    /// What was found, by the grammar too.
    pub problems: Vec<Problem>,
    /// Where meshes come from.
    pub assets: &'a mut super::assets::Assets,
}

impl Reader<'_> {
    /// The scene; nothing if something is wrong with it.
    pub fn scene<const D: usize>(&mut self, root: &Node, default_name: &str) -> Option<Scene<D>> {
        let domain = root.get("domain")?;
        let time = root.get("time")?;
        let walls = root.get("walls")?;
        let solver = root.get("solver")?;
        let particles = root.get("particles")?;
        let run = root.get("run")?;
        let output = root.get("output")?;
        let name = match text(root, "name") {
            "" => default_name,
            name => name,
        };
        let rate = number(time, "rate");
        let liquids = self.tables(root, "liquid", Self::liquid);
        let emitters = self.tables(root, "emitter", Self::emitter);
        let drains = self.tables(root, "drain", Self::drain);
        let solids = self.tables(root, "solid", |reader, table, path| {
            reader.solid(table, path, rate)
        });
        let materials = root.get("solid").map_or(&[][..], Node::list).iter();
        let colors = root.get("solid").map_or(&[][..], Node::list).iter();
        let liquid_color = self.liquid_color(root);
        let camera = root.get("camera").map(|table| self.camera(table));
        let track = root
            .get("camera")
            .map(|table| self.camera_track(table, rate));
        let scene = Scene {
            name: name.into(),
            summary: text(root, "summary").into(),
            domain: vector(domain, "size"),
            resolution: whole(domain, "resolution") as usize,
            open: self.open_sides(domain),
            gravity: vector(root, "gravity"),
            density: number(root, "density"),
            liquids: liquids?,
            emitters: emitters?,
            drains: drains?,
            solids: solids?,
            materials: materials.map(|solid| word(solid, "material")).collect(),
            colors: colors
                .map(|solid| solid.get("color").and_then(|node| color(node).ok()))
                .collect(),
            liquid_color,
            walls: word(walls, "kind")?,
            separation: number(walls, "separation_speed"),
            solver: word(solver, "method")?,
            preconditioner: word(solver, "preconditioner")?,
            inner: word(solver, "inner")?,
            levels: fas::Settings {
                interpolation: word(solver, "interpolation")?,
                boundaries: word(solver, "boundaries")?,
                coarse: word(solver, "coarse")?,
            },
            start: word(solver, "start")?,
            tolerance: number(solver, "tolerance"),
            max_iterations: whole(solver, "max_iterations") as usize,
            transfer: match text(particles, "transfer") {
                "flip" => Transfer::Flip {
                    pic: number(particles, "pic"),
                },
                _ => Transfer::Apic,
            },
            particles_per_cell: whole(particles, "per_cell") as usize,
            seed: whole(particles, "seed"),
            cfl: number(time, "cfl"),
            max_step: number(time, "max_step"),
            frames: whole(time, "frames") as u32,
            frame_rate: rate,
            limits: Limits {
                max_drift: number(run, "max_drift"),
                on_drift: word(run, "on_drift")?,
            },
            output: Output {
                particles_every: whole(output, "particles_every") as u32,
                attributes: switch(output, "attributes"),
                preview: switch(output, "preview"),
                preview_side: whole(output, "preview_side") as u32,
                surface: self.surface(output)?,
                preview_style: word(output, "preview_style")?,
                checkpoint_every: whole(output, "checkpoint_every") as u32,
                keep_checkpoints: whole(output, "keep_checkpoints") as u32,
                milestone_every: whole(output, "milestone_every") as u32,
            },
            camera: camera.unwrap_or_default(),
            camera_track: track.unwrap_or_default(),
        };
        (!self.problems.iter().any(Problem::is_error)).then_some(scene)
    }

    /// How surfaces are made, if they are.
    fn surface(&self, output: &Node) -> Option<Option<SurfaceSettings>> {
        let settings = SurfaceSettings {
            source: word(output, "surface_from")?,
            resolution: whole(output, "surface_resolution") as u32,
            smoothing: whole(output, "surface_smoothing") as u32,
        };
        Some(switch(output, "surface").then_some(settings))
    }

    /// All tables of a name; nothing if one of them has a fault.
    fn tables<T>(
        &mut self,
        root: &Node,
        key: &str,
        mut read: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let parts: &[Node] = root.get(key).map_or(&[], Node::list);
        let all: Vec<Option<T>> = parts
            .iter()
            .enumerate()
            .map(|(i, part)| {
                let path = format!("{key}[{}]", i + 1);
                // What does not fit the grammar would only be said twice.
                let clean = self.problems.iter().all(|p| !p.path.starts_with(&path));
                clean.then(|| read(self, part, &path)).flatten()
            })
            .collect();
        all.into_iter().collect()
    }

    fn own_shape<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Shape<D>> {
        let shape = table.get("shape")?;
        self.shape(shape, &join(path, "shape"))
    }

    fn liquid<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Volume<D>> {
        Some(Volume {
            shape: self.own_shape(table, path)?,
            velocity: vector(table, "velocity"),
        })
    }

    fn emitter<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Emitter<D>> {
        let frames = self.frames(table, path);
        let shape = self.own_shape(table, path)?;
        self.bounded(&shape, table, path);
        let velocity: [f64; D] = vector(table, "velocity");
        if velocity.iter().all(|&v| v == 0.0) {
            let place = table.get("velocity").map_or(table.place, |v| v.place);
            let problem = Problem::error(place, join(path, "velocity"), "an emitter needs a speed");
            self.problems
                .push(problem.with_help("write a [[liquid]] for liquid that is there at once"));
        }
        Some(Emitter {
            name: name_of(table, path),
            shape,
            velocity,
            frames,
        })
    }

    fn drain<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Drain<D>> {
        Some(Drain {
            name: name_of(table, path),
            frames: self.frames(table, path),
            shape: self.own_shape(table, path)?,
        })
    }

    fn bounded<const D: usize>(&mut self, shape: &Shape<D>, table: &Node, path: &str) {
        if shape.bounds().is_none() {
            let place = table.get("shape").map_or(table.place, |s| s.place);
            let problem = Problem::error(place, join(path, "shape"), "the shape has no end");
            self.problems
                .push(problem.with_help("intersect it with a box"));
        }
    }

    fn frames(&mut self, table: &Node, path: &str) -> FrameRange {
        let from = whole(table, "from_frame") as u32;
        let to = written_whole(table, "to_frame").map(|to| to as u32);
        if let Some(last) = to
            && last <= from
        {
            let place = table.get("to_frame").map_or(table.place, |node| node.place);
            let message = format!("is {last}, it must be after from_frame ({from})");
            self.problems
                .push(Problem::error(place, join(path, "to_frame"), message));
        }
        FrameRange { from, to }
    }

    fn solid<const D: usize>(
        &mut self,
        table: &Node,
        path: &str,
        rate: f64,
    ) -> Option<ScriptedSolid<D>> {
        let motion = match table.get("keyframes") {
            None => Some(Motion::Still),
            Some(list) => self.motion(list, table, path, rate),
        };
        let shape = self.own_shape(table, path);
        Some(ScriptedSolid {
            name: name_of(table, path),
            shape: shape?,
            motion: motion?,
        })
    }

    fn motion<const D: usize>(
        &mut self,
        list: &Node,
        table: &Node,
        path: &str,
        rate: f64,
    ) -> Option<Motion<D>> {
        let path = join(path, "keyframes");
        let keys: Vec<Option<Keyframe<D>>> = list
            .list()
            .iter()
            .enumerate()
            .map(|(i, key)| {
                let time = match key.get("frame") {
                    Some(_) => number(key, "frame") / rate,
                    None => number(key, "time"),
                };
                let rotation = match key.get("rotation") {
                    None => Rotation::IDENTITY,
                    Some(node) => {
                        let path = format!("{path}[{}].rotation", i + 1);
                        self.rotation(node, &path, key)?
                    }
                };
                Some(Keyframe {
                    time,
                    position: vector(key, "position"),
                    rotation,
                })
            })
            .collect();
        let motion = Motion::Keyframes {
            keys: keys.into_iter().collect::<Option<_>>()?,
            ease: match text(table, "ease") {
                "linear" => Ease::Linear,
                _ => Ease::Smooth,
            },
        };
        match motion.validate() {
            Ok(()) => Some(motion),
            Err(fault) => {
                let place = fault
                    .key()
                    .and_then(|key| list.list().get(key))
                    .map_or(list.place, |key| key.place);
                self.problems
                    .push(Problem::error(place, path, fault.to_string()));
                None
            }
        }
    }

    fn open_sides<const D: usize>(&mut self, domain: &Node) -> [[bool; 2]; D] {
        let mut open = [[false; 2]; D];
        for side in domain.get("open").map_or(&[][..], Node::list) {
            let word = side.text().unwrap_or("");
            match side_of::<D>(word) {
                Some((axis, end)) => open[axis][end] = true,
                None => self.problems.push(
                    Problem::error(
                        side.place,
                        "domain.open",
                        format!("a scene in the plane has no side \"{word}\""),
                    )
                    .with_help("write \"left\", \"right\", \"bottom\" or \"top\""),
                ),
            }
        }
        open
    }
}

/// Axis and end of a side.
fn side_of<const D: usize>(word: &str) -> Option<(usize, usize)> {
    let at = super::keys::SIDES.iter().position(|&side| side == word)?;
    match (at / 2, D) {
        (1, 2) => None,
        (2, 2) => Some((1, at % 2)),
        (axis, _) => Some((axis, at % 2)),
    }
}

/// The name that somebody gave, or else its place in the file.
fn name_of(table: &Node, path: &str) -> String {
    match text(table, "name") {
        "" => path.into(),
        name => name.into(),
    }
}

fn word<T: FromStr>(table: &Node, key: &str) -> Option<T> {
    text(table, key).parse().ok()
}

/// What only shows when walls and solver are looked at together.
pub fn solver_fits_walls<const D: usize>(scene: &Scene<D>, root: &Node) -> Option<Problem> {
    let linear = scene.solver.is_linear();
    (linear && scene.walls == Walls::Separating).then(|| {
        let place = root
            .get("solver")
            .and_then(|solver| solver.get("method"))
            .map_or(Place::Nowhere, |node| node.place);
        Problem::error(
            place,
            "solver.method",
            format!(
                "\"{}\" solves linear systems only, and walls that let go are not linear",
                scene.solver
            ),
        )
        .with_help("write \"auto\", \"tn-mg\", \"pi-pcg\" or \"newton\", or walls.kind = \"slip\"")
    })
}
