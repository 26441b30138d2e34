//! Liquids, solids, emitters and drains in scene files: their keys, and how they are read. Rigid bodies are in `bodies.rs`.

use super::appearance::{LIQUID_COLOR, MATERIAL, SOLID_COLOR};
use super::assets::Assets;
use super::bodies::{friction, restitution, surface};
use super::grammar::{Effect, Key, Kind, OPTIONAL, REQUIRED, Range, Table, ZERO, default, key};
use super::keys::{MOST_FRAMES, SCENE, SIDES};
use super::problem::{Place, Problem};
use super::shapes::{ROTATION, SHAPE};
use super::tree::Node;
use super::validate::join;
use super::values::{color, number, text, vector, whole, written_number, written_whole};
use super::viscosity::{DENSITY, PRESET, RHEOLOGY, VISCOSITY, rheology};
use crate::{AnyScene, Drain, Emitter, FrameRange, Scene, Volume, Wall};
use meniscus_liquid::Walls;
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape};

pub static LIQUID: Table = Table {
    title: "a volume of liquid",
    about: "Liquid at the start. Where it overlaps a solid there is none; where two volumes overlap, the first sets the \
            velocity.",
    keys: &[
        SHAPE_KEY,
        key!("velocity": Kind::Vector("m/s"), ZERO, Physics, "[0, 0, 6]", "Initial velocity."),
        VISCOSITY,
        RHEOLOGY,
        PRESET,
        DENSITY,
        LIQUID_COLOR,
    ],
    one_of: &[],
};

pub static SOLID: Table = Table {
    title: "a solid",
    about: "An obstacle. It pushes the liquid when it moves, however thin and fast it is: steps are so short that it never \
            passes a particle.",
    keys: &[
        named("\"cup\""),
        SHAPE_KEY,
        MATERIAL,
        SOLID_COLOR,
        keyframes(
            "Motion of the solid. The shape is then relative to a frame of its own, whose origin is at the position of \
                   each keyframe and which is turned by its rotation. The solid rests before the first and after the last \
                   keyframe; without keyframes it never moves.",
        ),
        ease(Effect::Physics),
        friction(OPTIONAL),
        restitution(OPTIONAL),
        WALL_KIND,
        ADHESION,
    ],
    one_of: &[],
};

static KEYFRAME: Table = Table {
    title: "a keyframe",
    about: "A pose at a time, in seconds or in frames. A rotation takes the short way from keyframe to keyframe: a full turn \
            needs at least two keyframes in between.",
    keys: &[
        time(Effect::Physics),
        frame(Effect::Physics),
        key!("position": Kind::Vector("m"), ZERO, Physics, "[0.5, 0.5, 0.2]", "Position of the origin of the solid's frame."),
        key!("rotation": Kind::Table(&ROTATION), OPTIONAL, Physics, "{ axis = [0, 1, 0], degrees = 45 }",
            "Rotation about that origin."),
    ],
    one_of: &["time", "frame"],
};

pub static EMITTER: Table = Table {
    title: "an emitter",
    about: "A source of liquid. Its flow rate is the area of its shape as seen along the velocity, times the speed. The \
            shape is empty at first and fills from the side that the velocity comes from; all liquid in it moves with the \
            emitter's velocity. Parts inside solids or outside the domain emit nothing.",
    keys: &[
        named("\"faucet\""),
        SHAPE_KEY,
        key!("velocity": Kind::Vector("m/s"), REQUIRED, Physics, "[0, 0, -2]", "Velocity of the emitted liquid."),
        VISCOSITY,
        RHEOLOGY,
        PRESET,
        DENSITY,
        LIQUID_COLOR,
        FROM_FRAME,
        TO_FRAME,
    ],
    one_of: &[],
};

pub static DRAIN: Table = Table {
    title: "a drain",
    about: "A sink: liquid that enters the shape is removed. A drain at least two cells deep draws liquid in; a thinner one \
            removes what reaches it.",
    keys: &[named("\"plughole\""), SHAPE_KEY, FROM_FRAME, TO_FRAME],
    one_of: &[],
};

/// The key for the name of an object.
pub(super) const fn named(example: &'static str) -> Key {
    key!("name": Kind::Text, OPTIONAL, Physics, example, "Name in messages, frames and exports.")
}

/// Keyframes of a solid or body.
pub(super) const fn keyframes(about: &'static str) -> Key {
    let example =
        "[{ time = 0, position = [0.5, 0.5, 0.2] }, { time = 1, position = [0.5, 0.5, 0.8] }]";
    key!("keyframes": Kind::Tables(&KEYFRAME, 1), OPTIONAL, Physics, example, about)
}

/// Interpolation between keyframes.
pub(super) const fn ease(effect: Effect) -> Key {
    let about = "Interpolation between keyframes: `smooth` without a jump in velocity, from rest to rest; `linear` at \
                 constant rates.";
    let kind = Kind::Word(&["smooth", "linear"]);
    Key {
        effect,
        ..key!("ease": kind, default("\"smooth\""), Physics, "\"linear\"", about)
    }
}

/// Time of a keyframe in seconds.
pub(super) const fn time(effect: Effect) -> Key {
    let kind = Kind::Number(Range::ANY, "s");
    Key {
        effect,
        ..key!("time": kind, OPTIONAL, Physics, "0.5", "Time in seconds.")
    }
}

/// Time of a keyframe in frames.
pub(super) const fn frame(effect: Effect) -> Key {
    let kind = Kind::Number(Range::ANY, "frames");
    Key {
        effect,
        ..key!("frame": kind, OPTIONAL, Physics, "12", "Time in frames; fractions are allowed.")
    }
}

pub(super) const SHAPE_KEY: Key = key!("shape": Kind::Table(&SHAPE), REQUIRED, Physics,
    "{ sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 } }", "Shape and position.");
pub(super) const WALL_KIND: Key = key!("wall_kind": Kind::Word(Walls::WORDS), OPTIONAL, Physics, "\"slip\"",
    "Boundary condition of the liquid at this solid or body. Default: `walls.kind`.");
pub(super) const ADHESION: Key = key!("adhesion": Kind::Number(Range::UP_TO_INFINITY, "Pa"), OPTIONAL, Physics, "101325",
    "Suction that a separating wall bears before the liquid leaves it: 0 where air can come in, 101325 under water, where \
     only vapour can, `inf` for never, as `slip`. Default: 0; with viscous liquid, `walls.adhesion`.");
const FROM_FRAME: Key = key!("from_frame": Kind::Whole(0, MOST_FRAMES), default("0"), Physics, "10",
    "Frame from which on it is active; 0 is the start.");
const TO_FRAME: Key = key!("to_frame": Kind::Whole(1, MOST_FRAMES), OPTIONAL, Physics, "60",
    "Frame until which it is active. Default: the end.");

/// Reads a tree that fits the grammar, and collects errors that the grammar cannot express.
pub struct Reader<'a> {
    /// All problems so far, those of the grammar included.
    pub problems: Vec<Problem>,
    /// Source of meshes.
    pub assets: &'a mut Assets,
}

impl Reader<'_> {
    /// The scene of a tree with all defaults; `None` if there are errors.
    pub fn scene(&mut self, root: &Node, dimension: usize, default_name: &str) -> Option<AnyScene> {
        let mut scene = AnyScene::new(dimension, default_name);
        self.table(&mut scene, root, &SCENE);
        let has_errors = self.problems.iter().any(Problem::is_error);
        (!has_errors).then_some(scene)
    }

    /// Sets the parts of the scene that the keys of a table are bound to.
    fn table(&mut self, scene: &mut AnyScene, node: &Node, table: &Table) {
        for key in table.keys {
            match (node.get(key.name), key.binding.access, key.kind) {
                (Some(value), Some(access), _) => (access.set)(scene, value, self),
                (Some(inner), None, Kind::Table(table)) => self.table(scene, inner, table),
                _ => {}
            }
        }
    }

    pub(super) fn error(
        &mut self,
        place: Place,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.problems.push(Problem::error(place, path, message));
    }

    pub(super) fn liquids<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        scene.liquids = self.tables(list, "liquid", |reader, table, path| {
            Some(Volume {
                shape: reader.own_shape(table, path)?,
                velocity: vector(table, "velocity"),
                rheology: rheology(reader, table, path),
            })
        });
        self.liquid_color(&mut scene.liquid_color, list, "liquid");
    }

    pub(super) fn solids<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        let rate = scene.frame_rate;
        scene.solids = self.tables(list, "solid", |reader, table, path| {
            let motion = match table.get("keyframes") {
                None => Some(Motion::Still),
                Some(list) => reader.motion(list, table, path, rate),
            };
            let shape = reader.own_shape(table, path);
            Some(ScriptedSolid {
                name: name_of(table, path),
                shape: shape?,
                motion: motion?,
            })
        });
        scene.surfaces = list.list().iter().map(surface).collect();
        let walls = scene.physics.walls;
        let tables = list.list().iter().enumerate();
        scene.walls = tables
            .map(|(k, table)| self.wall(table, &format!("solid[{}]", k + 1), walls))
            .collect();
        let tables = list.list().iter();
        (scene.materials, scene.colors) = tables
            .map(|solid| {
                let color = solid.get("color").and_then(|node| color(node).ok());
                (text(solid, "material").parse().ok(), color)
            })
            .unzip();
    }

    /// How liquid leaves a solid or body, in a scene with these walls.
    pub(super) fn wall(&mut self, table: &Node, path: &str, scene: Walls) -> Wall {
        let kind = text(table, "wall_kind").parse().ok();
        let adhesion = written_number(table, "adhesion");
        if let Some(node) = table.get("adhesion")
            && kind.unwrap_or(scene) != Walls::Separating
        {
            let message = "has no effect: liquid never leaves walls that do not separate";
            let problem = Problem::error(node.place, join(path, "adhesion"), message);
            self.problems
                .push(problem.with_help("remove it, or write wall_kind = \"separating\""));
        }
        Wall { kind, adhesion }
    }

    pub(super) fn emitters<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        scene.emitters = self.tables(list, "emitter", Self::emitter);
        self.liquid_color(&mut scene.liquid_color, list, "emitter");
    }

    pub(super) fn drains<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        scene.drains = self.tables(list, "drain", |reader, table, path| {
            Some(Drain {
                name: name_of(table, path),
                frames: reader.frames(table, path),
                shape: reader.own_shape(table, path)?,
            })
        });
    }

    /// The objects of a list of tables. One that cannot be read is left out, and there is an error that says why.
    pub(super) fn tables<T>(
        &mut self,
        list: &Node,
        key: &str,
        mut read: impl FnMut(&mut Self, &Node, &str) -> Option<T>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for (i, table) in list.list().iter().enumerate() {
            let path = format!("{key}[{}]", i + 1);
            // What does not fit the grammar has been reported.
            if self.problems.iter().any(|p| p.path.starts_with(&path)) {
                continue;
            }
            match read(self, table, &path) {
                Some(object) => found.push(object),
                None if self.problems.iter().any(Problem::is_error) => {}
                None => self.error(table.place, path, "can't be read"),
            }
        }
        found
    }

    pub(super) fn own_shape<const D: usize>(
        &mut self,
        table: &Node,
        path: &str,
    ) -> Option<Shape<D>> {
        self.shape(table.get("shape")?, &join(path, "shape"))
    }

    fn emitter<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Emitter<D>> {
        let frames = self.frames(table, path);
        let shape = self.own_shape(table, path)?;
        if shape.bounds().is_none() {
            let place = table.get("shape").map_or(table.place, |s| s.place);
            let problem = Problem::error(place, join(path, "shape"), "the shape is unbounded");
            self.problems
                .push(problem.with_help("intersect it with a box"));
        }
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
            rheology: rheology(self, table, path),
            frames,
        })
    }

    fn frames(&mut self, table: &Node, path: &str) -> FrameRange {
        let from = whole(table, "from_frame") as u32;
        let to = written_whole(table, "to_frame").map(|to| to as u32);
        if let Some(last) = to
            && last <= from
        {
            let place = table.get("to_frame").map_or(table.place, |node| node.place);
            let message = format!("is {last}, it must be after from_frame ({from})");
            self.error(place, join(path, "to_frame"), message);
        }
        FrameRange { from, to }
    }

    pub(super) fn motion<const D: usize>(
        &mut self,
        list: &Node,
        table: &Node,
        path: &str,
        rate: f64,
    ) -> Option<Motion<D>> {
        let path = join(path, "keyframes");
        let mut keys = Vec::new();
        for (i, key) in list.list().iter().enumerate() {
            let rotation = match key.get("rotation") {
                None => Some(Rotation::IDENTITY),
                Some(node) => self.rotation(node, &format!("{path}[{}].rotation", i + 1), key),
            };
            keys.push(rotation.map(|rotation| Keyframe {
                time: keyframe_time(key, rate),
                position: vector(key, "position"),
                rotation,
            }));
        }
        let keys = keys.into_iter().collect::<Option<_>>()?;
        self.keyframes(keys, list, table, &path)
    }

    /// The motion through some keyframes, if they are in order.
    pub(super) fn keyframes<const D: usize>(
        &mut self,
        keys: Vec<Keyframe<D>>,
        list: &Node,
        table: &Node,
        path: &str,
    ) -> Option<Motion<D>> {
        let ease = match text(table, "ease") {
            "linear" => Ease::Linear,
            _ => Ease::Smooth,
        };
        let motion = Motion::Keyframes { keys, ease };
        if let Err(fault) = motion.validate() {
            let key = fault.key().and_then(|key| list.list().get(key));
            let place = key.map_or(list.place, |key| key.place);
            self.error(place, path, fault.to_string());
            return None;
        }
        Some(motion)
    }

    pub(super) fn open_sides<const D: usize>(&mut self, sides: &Node) -> [[bool; 2]; D] {
        let mut open = [[false; 2]; D];
        for side in sides.list() {
            let word = side.text().unwrap_or("");
            if let Some((axis, end)) = side_of::<D>(word) {
                open[axis][end] = true;
            } else {
                let message = format!("a scene in 2D has no side \"{word}\"");
                let problem = Problem::error(side.place, "domain.open", message);
                let help = "write \"left\", \"right\", \"bottom\" or \"top\"";
                self.problems.push(problem.with_help(help));
            }
        }
        open
    }
}

/// Time of a keyframe in seconds.
pub(super) fn keyframe_time(key: &Node, rate: f64) -> f64 {
    match key.get("frame") {
        Some(_) => number(key, "frame") / rate,
        None => number(key, "time"),
    }
}

/// Axis and end of a side.
fn side_of<const D: usize>(word: &str) -> Option<(usize, usize)> {
    let at = SIDES.iter().position(|&side| side == word)?;
    match (at / 2, D) {
        (1, 2) => None,
        (2, 2) => Some((1, at % 2)),
        (axis, _) => Some((axis, at % 2)),
    }
}

/// The name of an object, or else its path in the file.
pub(super) fn name_of(table: &Node, path: &str) -> String {
    match text(table, "name") {
        "" => path.into(),
        name => name.into(),
    }
}

/// The error for a linear solver with separating walls.
pub fn solver_fits_walls<const D: usize>(scene: &Scene<D>, root: &Node) -> Option<Problem> {
    let solver = scene.physics.pressure.solver;
    let linear = solver.is_linear() && !scene.is_viscous();
    (linear && scene.liquid_walls() == Walls::Separating).then(|| {
        let place = root
            .get("solver")
            .and_then(|solver| solver.get("method"))
            .map_or(Place::Nowhere, |node| node.place);
        let message =
            format!("\"{solver}\" solves linear systems only, and separating walls are not linear");
        Problem::error(place, "solver.method", message).with_help(
            "write \"auto\", \"tn-mg\", \"pi-pcg\" or \"newton\", or walls.kind = \"slip\"",
        )
    })
}
