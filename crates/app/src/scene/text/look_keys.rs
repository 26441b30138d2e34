//! The keys of a scene file that say how it looks in pictures.

use super::grammar::Absent::{Default, Nothing};
use super::grammar::{Key, Kind, Range, Table};
use crate::scene::{Material, Style};

/// From where pictures are taken.
pub static CAMERA: Table = Table {
    title: "the camera",
    about: "From where `preview.gif` and the pictures of `meniscus preview` are taken. Every key may be left out: the \
            camera then stands where it sees all solids and liquid, and looks at their middle. It is the same in all \
            frames, and changes no particle.",
    keys: &[
        Key {
            name: "position",
            kind: Kind::Vector("m"),
            absent: Nothing,
            about: "Where it stands, in space.",
            example: "[1.5, -2, 0.8]",
        },
        Key {
            name: "target",
            kind: Kind::Vector("m"),
            absent: Nothing,
            about: "What is in the middle of the picture.",
            example: "[0.5, 0.5, 0.4]",
        },
        Key {
            name: "field_of_view",
            kind: Kind::Number(Range::between(1.0, 150.0), "degrees"),
            absent: Nothing,
            about: "Angle that is seen along the shorter side of the picture, in space; 27 without it.",
            example: "40",
        },
        Key {
            name: "height",
            kind: Kind::Number(Range::POSITIVE, "m"),
            absent: Nothing,
            about: "How much is seen from the bottom of the picture to its top, in the plane.",
            example: "0.5",
        },
    ],
    one_of: &[],
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
