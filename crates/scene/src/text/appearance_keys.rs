//! The keys of a scene file that say how it looks in pictures.

use super::grammar::Absent::{Default, Nothing};
use super::grammar::{Key, Kind, Range, Table};
use super::thing_keys::EASE;
use crate::{Material, Style};

const POSITION: Key = Key {
    name: "position",
    kind: Kind::Vector("m"),
    absent: Nothing,
    about: "Where it stands, in space.",
    example: "[1.5, -2, 0.8]",
};

const TARGET: Key = Key {
    name: "target",
    kind: Kind::Vector("m"),
    absent: Nothing,
    about: "What is in the middle of the picture.",
    example: "[0.5, 0.5, 0.4]",
};

const FIELD_OF_VIEW: Key = Key {
    name: "field_of_view",
    kind: Kind::Number(Range::between(1.0, 150.0), "degrees"),
    absent: Nothing,
    about: "Angle that is seen along the shorter side of the picture, in space; 27 without it.",
    example: "40",
};

const HEIGHT: Key = Key {
    name: "height",
    kind: Kind::Number(Range::POSITIVE, "m"),
    absent: Nothing,
    about: "How much is seen from the bottom of the picture to its top, in the plane.",
    example: "0.5",
};

/// From where pictures are taken.
pub static CAMERA: Table = Table {
    title: "the camera",
    about: "From where `preview.gif` and the pictures of `meniscus preview` are taken. Every key may be left out: the \
            camera then stands where it sees all solids and liquid, and looks at their middle. It changes no particle.",
    keys: &[
        POSITION,
        TARGET,
        FIELD_OF_VIEW,
        HEIGHT,
        Key {
            name: "keyframes",
            kind: Kind::Tables(&CAMERA_KEYFRAME, 1),
            absent: Nothing,
            about: "The camera at several times. It rests before the first and after the last; what the keyframes don't \
                    set stays as it is above.",
            example: "[{ time = 0, position = [1.5, -2, 0.8] }, { time = 1, position = [-1.5, -2, 0.8] }]",
        },
        EASE,
    ],
    one_of: &[],
};

/// A place of the camera at a time.
static CAMERA_KEYFRAME: Table = Table {
    title: "a keyframe of the camera",
    about: "The camera at a time, in seconds or in frames. What one keyframe sets all of them must set.",
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
        POSITION,
        TARGET,
        FIELD_OF_VIEW,
        HEIGHT,
    ],
    one_of: &["time", "frame"],
};

/// Colour of a solid.
pub const SOLID_COLOR: Key = Key {
    name: "color",
    kind: Kind::Color,
    absent: Nothing,
    about: "Its colour in pictures. Default: grey stone, clear glass.",
    example: "\"orange\"",
};

/// Colour of a liquid or of what emits it.
pub const LIQUID_COLOR: Key = Key {
    name: "color",
    kind: Kind::Color,
    absent: Nothing,
    about: "Colour of the liquid in pictures. Liquids mix: where several have a colour it must be the same. Default: \
            that of water.",
    example: "\"#c8641e\"",
};

/// What a solid is made of.
pub const MATERIAL: Key = Key {
    name: "material",
    kind: Kind::Word(Material::WORDS),
    absent: Nothing,
    about: "What it is made of in pictures. Without it, containers, shells and what is more hollow than solid are \
            of glass, all else of stone.",
    example: "\"glass\"",
};

/// How the preview of a run draws liquid.
pub const PREVIEW_STYLE: Key = Key {
    name: "preview_style",
    kind: Kind::Word(Style::WORDS),
    absent: Default("\"surface\""),
    about: "How the preview draws the liquid: `surface` as one clear body, `particles` as beads coloured by their \
            speed.",
    example: "\"particles\"",
};
