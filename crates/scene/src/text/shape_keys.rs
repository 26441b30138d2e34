//! The keys of shapes.

use super::grammar::{Absent, Key, Kind, Range, Table};
use Absent::{ByDimension, Default, Nothing, Refused};

/// A shape: one solid or combination, and what is done to it.
pub static SHAPE: Table = Table {
    title: "a shape",
    about: "Exactly one of the solids and combinations, and what is done to it: first it is rounded, then made a \
            shell, then inverted, then rotated, then moved. For another order put it into a `union` of its own.",
    keys: &[
        Key {
            name: "sphere",
            kind: Kind::Table(&SPHERE),
            absent: Nothing,
            about: "A ball; a disc in the plane.",
            example: "{ center = [0.5, 0.5, 0.5], radius = 0.2 }",
        },
        Key {
            name: "box",
            kind: Kind::Table(&BOX),
            absent: Nothing,
            about: "A box along the axes; a rectangle in the plane.",
            example: "{ low = [0, 0, 0], high = [0.5, 1, 0.4] }",
        },
        Key {
            name: "capsule",
            kind: Kind::Table(&ROUND),
            absent: Nothing,
            about: "All points within the radius of a segment: a rod with round ends.",
            example: "{ from = [0.2, 0.5, 0.5], to = [0.8, 0.5, 0.5], radius = 0.1 }",
        },
        Key {
            name: "cylinder",
            kind: Kind::Table(&ROUND),
            absent: Nothing,
            about: "A cylinder with flat ends; in the plane a rectangle at any angle.",
            example: "{ from = [0.5, 0.5, 0], to = [0.5, 0.5, 0.6], radius = 0.2 }",
        },
        Key {
            name: "cone",
            kind: Kind::Table(&CONE),
            absent: Nothing,
            about: "A cone, whole or truncated, with flat ends; in the plane a symmetric trapezoid.",
            example: "{ from = [0.5, 0.5, 0], to = [0.5, 0.5, 0.6], radius_from = 0.3, radius_to = 0.1 }",
        },
        Key {
            name: "torus",
            kind: Kind::Table(&TORUS),
            absent: Nothing,
            about: "A ring; in the plane the two discs that a plane through its axis cuts out of it.",
            example: "{ center = [0.5, 0.5, 0.5], axis = [0, 0, 1], major = 0.3, minor = 0.1 }",
        },
        Key {
            name: "half_space",
            kind: Kind::Table(&HALF_SPACE),
            absent: Nothing,
            about: "Everything on the side of a plane opposite to its normal.",
            example: "{ point = [0.5, 0.5, 0.3], normal = [0, 0, 1] }",
        },
        Key {
            name: "mesh",
            kind: Kind::Table(&MESH),
            absent: Nothing,
            about: "A closed triangle mesh from a file; in space only.",
            example: "{ file = \"duck.obj\", scale = 0.01, up = \"y\" }",
        },
        Key {
            name: "union",
            kind: Kind::Tables(&SHAPE, 1),
            absent: Nothing,
            about: "What is in any of the shapes.",
            example: "[{ sphere = { center = [0.3, 0.5, 0.5], radius = 0.2 } }, \
                      { sphere = { center = [0.7, 0.5, 0.5], radius = 0.2 } }]",
        },
        Key {
            name: "intersection",
            kind: Kind::Tables(&SHAPE, 1),
            absent: Nothing,
            about: "What is in all of the shapes.",
            example: "[{ sphere = { center = [0.5, 0.5, 0.5], radius = 0.4 } }, \
                      { half_space = { point = [0.5, 0.5, 0.5], normal = [0, 0, 1] } }]",
        },
        Key {
            name: "difference",
            kind: Kind::Tables(&SHAPE, 2),
            absent: Nothing,
            about: "What is in the first shape and in none of the others.",
            example: "[{ box = { low = [0.2, 0.2, 0.1], high = [0.8, 0.8, 0.6] } }, \
                      { box = { low = [0.25, 0.25, 0.15], high = [0.75, 0.75, 0.7] } }]",
        },
        Key {
            name: "rounded",
            kind: Kind::Number(Range::NOT_NEGATIVE, "m"),
            absent: Default("0.0"),
            about: "The shape grows by so much, which rounds its edges.",
            example: "0.02",
        },
        Key {
            name: "shell",
            kind: Kind::Number(Range::POSITIVE, "m"),
            absent: Nothing,
            about: "Only a wall of this thickness along the surface is left, half of it on either side.",
            example: "0.04",
        },
        Key {
            name: "inverted",
            kind: Kind::Switch,
            absent: Default("false"),
            about: "Whether everything outside is meant instead: a container around its hollow.",
            example: "true",
        },
        Key {
            name: "rotated",
            kind: Kind::Table(&ROTATION),
            absent: Nothing,
            about: "Turned about the origin.",
            example: "{ axis = [0, 0, 1], degrees = 30 }",
        },
        Key {
            name: "moved",
            kind: Kind::Vector("m"),
            absent: Nothing,
            about: "Moved by so much.",
            example: "[0.5, 0.5, 0]",
        },
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
    about: "Counter-clockwise by an angle; in space about an axis, seen against it.",
    keys: &[
        Key {
            name: "axis",
            kind: Kind::Vector(""),
            absent: Nothing,
            about: "Axis of the turn, of any length but zero. In space only, where it must be there.",
            example: "[0, 0, 1]",
        },
        Key {
            name: "degrees",
            kind: Kind::Number(Range::between(-1e6, 1e6), "degrees"),
            absent: Refused,
            about: "How far to turn.",
            example: "90",
        },
    ],
    one_of: &[],
};

const CENTER: Key = Key {
    name: "center",
    kind: Kind::Vector("m"),
    absent: ByDimension("[0.0, 0.0]", "[0.0, 0.0, 0.0]"),
    about: "The middle.",
    example: "[0.5, 0.5, 0.5]",
};

const FROM: Key = Key {
    name: "from",
    kind: Kind::Vector("m"),
    absent: Refused,
    about: "The middle of one end.",
    example: "[0.5, 0.5, 0]",
};

const TO: Key = Key {
    name: "to",
    kind: Kind::Vector("m"),
    absent: Refused,
    about: "The middle of the other end.",
    example: "[0.5, 0.5, 0.6]",
};

const RADIUS: Key = Key {
    name: "radius",
    kind: Kind::Number(Range::POSITIVE, "m"),
    absent: Refused,
    about: "From the middle to the surface.",
    example: "0.2",
};

static SPHERE: Table = Table {
    title: "a sphere",
    about: "A ball; a disc in the plane.",
    keys: &[CENTER, RADIUS],
    one_of: &[],
};

static BOX: Table = Table {
    title: "a box",
    about: "A box along the axes.",
    keys: &[
        Key {
            name: "low",
            kind: Kind::Vector("m"),
            absent: Refused,
            about: "The lower corner.",
            example: "[0, 0, 0]",
        },
        Key {
            name: "high",
            kind: Kind::Vector("m"),
            absent: Refused,
            about: "The upper corner.",
            example: "[0.5, 1, 0.4]",
        },
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
        Key {
            name: "radius_from",
            kind: Kind::Number(Range::NOT_NEGATIVE, "m"),
            absent: Refused,
            about: "The radius at `from`; zero for a point.",
            example: "0.3",
        },
        Key {
            name: "radius_to",
            kind: Kind::Number(Range::NOT_NEGATIVE, "m"),
            absent: Default("0.0"),
            about: "The radius at `to`; zero for a point.",
            example: "0.1",
        },
    ],
    one_of: &[],
};

static TORUS: Table = Table {
    title: "a torus",
    about: "A ring around an axis.",
    keys: &[
        CENTER,
        Key {
            name: "axis",
            kind: Kind::Vector(""),
            absent: ByDimension("[0.0, 1.0]", "[0.0, 0.0, 1.0]"),
            about: "The axis through the hole, of any length but zero.",
            example: "[0, 0, 1]",
        },
        Key {
            name: "major",
            kind: Kind::Number(Range::POSITIVE, "m"),
            absent: Refused,
            about: "From the centre to the middle of the tube.",
            example: "0.3",
        },
        Key {
            name: "minor",
            kind: Kind::Number(Range::POSITIVE, "m"),
            absent: Refused,
            about: "The radius of the tube.",
            example: "0.1",
        },
    ],
    one_of: &[],
};

static HALF_SPACE: Table = Table {
    title: "a half-space",
    about: "Everything behind a plane.",
    keys: &[
        Key {
            name: "point",
            kind: Kind::Vector("m"),
            absent: Refused,
            about: "A point of the plane.",
            example: "[0.5, 0.5, 0.3]",
        },
        Key {
            name: "normal",
            kind: Kind::Vector(""),
            absent: Refused,
            about: "Out of the solid, of any length but zero.",
            example: "[0, 0, 1]",
        },
    ],
    one_of: &[],
};

static MESH: Table = Table {
    title: "a mesh",
    about: "A triangle mesh from an OBJ, PLY or STL file. It has to enclose a volume; small holes and \
            self-intersections are bridged, and said. Inverted meshes are turned right.",
    keys: &[
        Key {
            name: "file",
            kind: Kind::File,
            absent: Refused,
            about: "Path of the file from the scene's folder, which it must not leave.",
            example: "\"duck.obj\"",
        },
        Key {
            name: "scale",
            kind: Kind::Number(Range::POSITIVE, ""),
            absent: Default("1.0"),
            about: "Metres for a unit of the file.",
            example: "0.01",
        },
        Key {
            name: "up",
            kind: Kind::Word(&["y", "z"]),
            absent: Default("\"z\""),
            about: "Which axis of the file is up. Files with `y` up are turned.",
            example: "\"y\"",
        },
        Key {
            name: "hash",
            kind: Kind::Text,
            absent: Nothing,
            about: "BLAKE3 hash that the file must have. A run writes it into its own `scene.toml`, so that a changed \
                    mesh is noticed; you need not.",
            example: "\"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\"",
        },
    ],
    one_of: &[],
};
