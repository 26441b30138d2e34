//! Shapes in scene files: their keys, and how they are read.

use super::grammar::{
    Key, Kind, OPTIONAL, REQUIRED, Range, Table, ZERO, by_dimension, default, key,
};
use super::objects::Reader;
use super::problem::{Place, Problem};
use super::tree::{Entry, Node};
use super::validate::join;
use super::values::{components, number, rotation, switch, vector};
use meniscus_shapes::{Pose, Rotation, Shape};

/// A shape: one primitive or combination, and its transformations.
pub static SHAPE: Table = Table {
    title: "a shape",
    about: "Exactly one primitive or combination, and its transformations: it is first rounded, then made a shell, then \
            inverted, then rotated, then moved. For another order put it into a `union` of its own.",
    keys: &[
        key!("sphere": Kind::Table(&SPHERE), OPTIONAL, Physics, "{ center = [0.5, 0.5, 0.5], radius = 0.2 }",
            "A ball; a disc in 2D."),
        key!("box": Kind::Table(&BOX), OPTIONAL, Physics, "{ low = [0, 0, 0], high = [0.5, 1, 0.4] }",
            "An axis-aligned box; a rectangle in 2D."),
        key!("capsule": Kind::Table(&ROUND), OPTIONAL, Physics,
            "{ from = [0.2, 0.5, 0.5], to = [0.8, 0.5, 0.5], radius = 0.1 }",
            "All points within the radius of a segment: a rod with round ends."),
        key!("cylinder": Kind::Table(&ROUND), OPTIONAL, Physics,
            "{ from = [0.5, 0.5, 0], to = [0.5, 0.5, 0.6], radius = 0.2 }",
            "A cylinder with flat ends; in 2D a rectangle at any angle."),
        key!("cone": Kind::Table(&CONE), OPTIONAL, Physics,
            "{ from = [0.5, 0.5, 0], to = [0.5, 0.5, 0.6], radius_from = 0.3, radius_to = 0.1 }",
            "A cone, whole or truncated, with flat ends; in 2D a symmetric trapezoid."),
        key!("torus": Kind::Table(&TORUS), OPTIONAL, Physics,
            "{ center = [0.5, 0.5, 0.5], axis = [0, 0, 1], major = 0.3, minor = 0.1 }",
            "A ring; in 2D the two discs that a plane through its axis cuts out of it."),
        key!("half_space": Kind::Table(&HALF_SPACE), OPTIONAL, Physics, "{ point = [0.5, 0.5, 0.3], normal = [0, 0, 1] }",
            "Everything on the side of a plane opposite to its normal."),
        key!("mesh": Kind::Table(&MESH), OPTIONAL, Physics, "{ file = \"duck.obj\", scale = 0.01, up = \"y\" }",
            "A closed triangle mesh from a file; in 3D only."),
        key!("union": Kind::Tables(&SHAPE, 1), OPTIONAL, Physics,
            "[{ sphere = { center = [0.3, 0.5, 0.5], radius = 0.2 } }, \
             { sphere = { center = [0.7, 0.5, 0.5], radius = 0.2 } }]",
            "Points in any of the shapes."),
        key!("intersection": Kind::Tables(&SHAPE, 1), OPTIONAL, Physics,
            "[{ sphere = { center = [0.5, 0.5, 0.5], radius = 0.4 } }, \
             { half_space = { point = [0.5, 0.5, 0.5], normal = [0, 0, 1] } }]",
            "Points in all of the shapes."),
        key!("difference": Kind::Tables(&SHAPE, 2), OPTIONAL, Physics,
            "[{ box = { low = [0.2, 0.2, 0.1], high = [0.8, 0.8, 0.6] } }, \
             { box = { low = [0.25, 0.25, 0.15], high = [0.75, 0.75, 0.7] } }]",
            "Points in the first shape and in none of the others."),
        key!("rounded": Kind::Number(Range::NOT_NEGATIVE, "m"), default("0.0"), Physics, "0.02",
            "Distance by which the shape grows, which rounds its edges."),
        key!("shell": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Physics, "0.04",
            "Thickness of a wall along the surface that replaces the shape, half of it on either side."),
        key!("inverted": Kind::Switch, default("false"), Physics, "true",
            "Whether the shape is everything outside instead: a container around its hollow."),
        key!("rotated": Kind::Table(&ROTATION), OPTIONAL, Physics, "{ axis = [0, 0, 1], degrees = 30 }",
            "Rotation about the origin."),
        key!("moved": Kind::Vector("m"), OPTIONAL, Physics, "[0.5, 0.5, 0]", "Translation."),
    ],
    one_of: &[
        "sphere",
        "box",
        "capsule",
        "cylinder",
        "cone",
        "torus",
        "half_space",
        "mesh",
        "union",
        "intersection",
        "difference",
    ],
};

/// A rotation.
pub static ROTATION: Table = Table {
    title: "a rotation",
    about: "A counter-clockwise rotation; in 3D about an axis that points at the viewer.",
    keys: &[
        key!("axis": Kind::Vector(""), OPTIONAL, Physics, "[0, 0, 1]",
            "Axis, of any length but zero. Required in 3D, and in 3D only."),
        key!("degrees": Kind::Number(Range::between(-1e6, 1e6), "degrees"), REQUIRED, Physics, "90", "Angle."),
    ],
    one_of: &[],
};

const CENTER: Key = key!("center": Kind::Vector("m"), ZERO, Physics, "[0.5, 0.5, 0.5]", "Centre.");
const FROM: Key =
    key!("from": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 0.5, 0]", "Centre of one end.");
const TO: Key =
    key!("to": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 0.5, 0.6]", "Centre of the other end.");
const RADIUS: Key =
    key!("radius": Kind::Number(Range::POSITIVE, "m"), REQUIRED, Physics, "0.2", "Radius.");

static SPHERE: Table = Table {
    title: "a sphere",
    about: "A ball; a disc in 2D.",
    keys: &[CENTER, RADIUS],
    one_of: &[],
};

static BOX: Table = Table {
    title: "a box",
    about: "An axis-aligned box.",
    keys: &[
        key!("low": Kind::Vector("m"), REQUIRED, Physics, "[0, 0, 0]", "Lower corner."),
        key!("high": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 1, 0.4]", "Upper corner."),
    ],
    one_of: &[],
};

static ROUND: Table = Table {
    title: "a capsule or cylinder",
    about: "A rod from one end to the other.",
    keys: &[FROM, TO, RADIUS],
    one_of: &[],
};

static CONE: Table = Table {
    title: "a cone",
    about: "A cone with flat ends.",
    keys: &[
        FROM,
        TO,
        key!("radius_from": Kind::Number(Range::NOT_NEGATIVE, "m"), REQUIRED, Physics, "0.3",
            "Radius at `from`; zero for a tip."),
        key!("radius_to": Kind::Number(Range::NOT_NEGATIVE, "m"), default("0.0"), Physics, "0.1",
            "Radius at `to`; zero for a tip."),
    ],
    one_of: &[],
};

static TORUS: Table = Table {
    title: "a torus",
    about: "A ring around an axis.",
    keys: &[
        CENTER,
        key!("axis": Kind::Vector(""), by_dimension("[0.0, 1.0]", "[0.0, 0.0, 1.0]"), Physics, "[0, 0, 1]",
            "Axis through the hole, of any length but zero."),
        key!("major": Kind::Number(Range::POSITIVE, "m"), REQUIRED, Physics, "0.3",
            "Distance from the centre to the middle of the tube."),
        key!("minor": Kind::Number(Range::POSITIVE, "m"), REQUIRED, Physics, "0.1", "Radius of the tube."),
    ],
    one_of: &[],
};

static HALF_SPACE: Table = Table {
    title: "a half-space",
    about: "Everything behind a plane.",
    keys: &[
        key!("point": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 0.5, 0.3]", "A point of the plane."),
        key!("normal": Kind::Vector(""), REQUIRED, Physics, "[0, 0, 1]", "Outward normal, of any length but zero."),
    ],
    one_of: &[],
};

pub(super) const FILE: Key = key!("file": Kind::File, REQUIRED, Physics, "\"duck.obj\"",
    "Path of the file, relative to the scene's folder, inside which it must be.");
pub(super) const SCALE: Key = key!("scale": Kind::Number(Range::POSITIVE, ""), default("1.0"), Physics, "0.01",
    "Metres per unit of the file.");
pub(super) const UP: Key = key!("up": Kind::Word(&["y", "z"]), default("\"z\""), Physics, "\"y\"",
    "Axis of the file that points up. Files with `y` up are rotated.");
pub(super) const HASH: Key = key!("hash": Kind::Text, OPTIONAL, Physics,
    "\"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\"",
    "BLAKE3 hash of the file. A run writes it into its own `scene.toml`, so that a changed mesh is detected.");

static MESH: Table = Table {
    title: "a mesh",
    about: "A triangle mesh from an OBJ, PLY or STL file. It has to enclose a volume; small holes and \
            self-intersections are bridged and reported. Meshes with inward normals are turned inside out.",
    keys: &[FILE, SCALE, UP, HASH],
    one_of: &[],
};

impl Reader<'_> {
    /// The shape that a table describes; nothing if something is wrong with it, which is said.
    pub fn shape<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Shape<D>> {
        let kinds = SHAPE.one_of;
        let Entry { key, node, .. } = table
            .entries()
            .iter()
            .find(|entry| kinds.contains(&entry.key.as_str()))?;
        let inner_path = join(path, key);
        let place = written(node, table);
        let mut shape = match key.as_str() {
            "union" => Shape::Union(self.shapes(node, &inner_path)?),
            "intersection" => Shape::Intersection(self.shapes(node, &inner_path)?),
            "difference" => {
                let mut parts = self.shapes(node, &inner_path)?;
                let first = (!parts.is_empty()).then(|| parts.remove(0))?;
                first.without(parts)
            }
            "mesh" => self.mesh(node, &inner_path, place)?,
            _ => simple(key, node)?,
        };
        let own = self.problems.len();
        if !matches!(key.as_str(), "union" | "intersection" | "difference")
            && let Err(fault) = shape.validate()
        {
            self.problems
                .push(Problem::error(place, &inner_path, fault.fault.to_string()));
        }
        let rounded = number(table, "rounded");
        if rounded > 0.0 {
            shape = shape.rounded(rounded);
        }
        if table.get("shell").is_some() {
            shape = shape.shell(number(table, "shell"));
        }
        if switch(table, "inverted") {
            shape = shape.inverted();
        }
        let turn = match table.get("rotated") {
            None => Rotation::IDENTITY,
            Some(node) => self.rotation(node, &join(path, "rotated"), table)?,
        };
        let pose = Pose {
            rotation: turn,
            translation: table.get("moved").map_or([0.0; D], components),
        };
        if pose != Pose::IDENTITY {
            shape = shape.placed(pose);
        }
        (self.problems.len() == own).then_some(shape)
    }

    fn shapes<const D: usize>(&mut self, list: &Node, path: &str) -> Option<Vec<Shape<D>>> {
        let parts: Vec<Option<Shape<D>>> = list
            .list()
            .iter()
            .enumerate()
            .map(|(i, part)| self.shape(part, &format!("{path}[{}]", i + 1)))
            .collect();
        // All of them are read before one is missed, so that every fault is said.
        parts.into_iter().collect()
    }

    /// A rotation, or what is wrong with it.
    pub fn rotation<const D: usize>(
        &mut self,
        node: &Node,
        path: &str,
        around: &Node,
    ) -> Option<Rotation<D>> {
        match rotation(node) {
            Ok(rotation) => Some(rotation),
            Err(why) => {
                let help = if D == 2 {
                    "write { degrees = 90 }"
                } else {
                    "write { axis = [0, 0, 1], degrees = 90 }"
                };
                let place = written(node, around);
                self.problems
                    .push(Problem::error(place, path, why).with_help(help));
                None
            }
        }
    }
}

/// Where a value is written, or else what it is in.
pub fn written(node: &Node, around: &Node) -> Place {
    match node.place {
        Place::Nowhere => around.place,
        place => place,
    }
}

fn simple<const D: usize>(key: &str, node: &Node) -> Option<Shape<D>> {
    Some(match key {
        "sphere" => Shape::Sphere {
            center: vector(node, "center"),
            radius: number(node, "radius"),
        },
        "box" => Shape::Box {
            low: vector(node, "low"),
            high: vector(node, "high"),
        },
        "capsule" => Shape::Capsule {
            from: vector(node, "from"),
            to: vector(node, "to"),
            radius: number(node, "radius"),
        },
        "cylinder" => Shape::Cylinder {
            from: vector(node, "from"),
            to: vector(node, "to"),
            radius: number(node, "radius"),
        },
        "cone" => Shape::Cone {
            from: vector(node, "from"),
            to: vector(node, "to"),
            radius_from: number(node, "radius_from"),
            radius_to: number(node, "radius_to"),
        },
        "torus" => Shape::Torus {
            center: vector(node, "center"),
            axis: vector(node, "axis"),
            major: number(node, "major"),
            minor: number(node, "minor"),
        },
        "half_space" => Shape::HalfSpace {
            point: vector(node, "point"),
            normal: vector(node, "normal"),
        },
        _ => return None,
    })
}
