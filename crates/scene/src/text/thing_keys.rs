//! The keys of what is in a scene: liquids, solids, emitters, drains.

use super::appearance_keys::{LIQUID_COLOR, MATERIAL, SOLID_COLOR};
use super::grammar::Absent::{ByDimension, Default, Nothing, Refused};
use super::grammar::{Key, Kind, Range, Table};
use super::keys::MOST_FRAMES;
use super::shape_keys::{ROTATION, SHAPE};

pub static LIQUID: Table = Table {
    title: "a volume of liquid",
    about: "Liquid at the start. What overlaps a solid is left out; where two volumes overlap, the first gives the \
            velocity.",
    keys: &[
        SHAPE_KEY,
        Key {
            name: "velocity",
            kind: Kind::Vector("m/s"),
            absent: ByDimension("[0.0, 0.0]", "[0.0, 0.0, 0.0]"),
            about: "How fast it moves at the start.",
            example: "[0, 0, 6]",
        },
        LIQUID_COLOR,
    ],
    one_of: &[],
};

pub static SOLID: Table = Table {
    title: "a solid",
    about: "Something the liquid can't enter. It pushes the liquid when it moves, however thin and fast it is: steps \
            are made so short that it never passes a particle by.",
    keys: &[
        named("\"cup\""),
        SHAPE_KEY,
        MATERIAL,
        SOLID_COLOR,
        Key {
            name: "keyframes",
            kind: Kind::Tables(&KEYFRAME, 1),
            absent: Nothing,
            about: "Where the solid is when. The shape is then placed in a frame of its own, whose origin is moved to \
                    the position of each key and turned by its rotation. It rests before the first and after the last \
                    key; without keys it never moves.",
            example: "[{ time = 0, position = [0.5, 0.5, 0.2] }, { time = 1, position = [0.5, 0.5, 0.8] }]",
        },
        EASE,
    ],
    one_of: &[],
};

static KEYFRAME: Table = Table {
    title: "a keyframe",
    about: "A place at a time. The time is given in seconds or in frames. A rotation takes the short way from key to \
            key: a whole turn needs at least two keys in between.",
    keys: &[
        Key {
            name: "time",
            kind: Kind::Number(Range::ANY, "s"),
            absent: Nothing,
            about: "When, in seconds.",
            example: "0.5",
        },
        Key {
            name: "frame",
            kind: Kind::Number(Range::ANY, "frames"),
            absent: Nothing,
            about: "When, in frames; fractions are allowed.",
            example: "12",
        },
        Key {
            name: "position",
            kind: Kind::Vector("m"),
            absent: ByDimension("[0.0, 0.0]", "[0.0, 0.0, 0.0]"),
            about: "Where the origin of the solid's frame is.",
            example: "[0.5, 0.5, 0.2]",
        },
        Key {
            name: "rotation",
            kind: Kind::Table(&ROTATION),
            absent: Nothing,
            about: "How the solid is turned about that origin.",
            example: "{ axis = [0, 1, 0], degrees = 45 }",
        },
    ],
    one_of: &["time", "frame"],
};

pub static EMITTER: Table = Table {
    title: "an emitter",
    about: "Liquid comes in through a shape: its area as seen along the velocity, times the speed, every second. The \
            shape is empty when its time begins and fills from the side that the velocity comes from; everything in it \
            moves with the emitter's velocity. What lies inside solids or outside the domain does not count.",
    keys: &[
        named("\"faucet\""),
        SHAPE_KEY,
        Key {
            name: "velocity",
            kind: Kind::Vector("m/s"),
            absent: Refused,
            about: "How fast and where to the liquid comes.",
            example: "[0, 0, -2]",
        },
        LIQUID_COLOR,
        FROM_FRAME,
        TO_FRAME,
    ],
    one_of: &[],
};

pub static DRAIN: Table = Table {
    title: "a drain",
    about: "Liquid that comes into the shape is gone. A drain at least two cells deep lets liquid rush in; a thinner one \
            takes what comes its way.",
    keys: &[named("\"plughole\""), SHAPE_KEY, FROM_FRAME, TO_FRAME],
    one_of: &[],
};

/// The key for the name of something.
const fn named(example: &'static str) -> Key {
    Key {
        name: "name",
        kind: Kind::Text,
        absent: Nothing,
        about: "For messages.",
        example,
    }
}

/// How a motion passes from keyframe to keyframe.
pub(super) const EASE: Key = Key {
    name: "ease",
    kind: Kind::Word(&["smooth", "linear"]),
    absent: Default("\"smooth\""),
    about: "`smooth` passes the keys without a jump in velocity, from rest to rest; `linear` moves at constant \
            rates between two keys.",
    example: "\"linear\"",
};

const SHAPE_KEY: Key = Key {
    name: "shape",
    kind: Kind::Table(&SHAPE),
    absent: Refused,
    about: "Where it is.",
    example: "{ sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 } }",
};

const FROM_FRAME: Key = Key {
    name: "from_frame",
    kind: Kind::Whole(0, MOST_FRAMES),
    absent: Default("0"),
    about: "It works from this frame on; 0 is the start.",
    example: "10",
};

const TO_FRAME: Key = Key {
    name: "to_frame",
    kind: Kind::Whole(1, MOST_FRAMES),
    absent: Nothing,
    about: "It works until this frame; without it, to the end.",
    example: "60",
};
