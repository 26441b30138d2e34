//! Thin walls in scene files: their keys, and how they are read.

use super::appearance::SOLID_COLOR;
use super::cloth::{RECTANGLE, SHEET};
use super::grammar::{Effect, Kind, OPTIONAL, Range, Table, key};
use super::objects::{Reader, ease, keyframes, name_of, named};
use super::problem::Problem;
use super::tree::Node;
use super::values::color;
use crate::{Scene, Shell};
use meniscus_shapes::Motion;

pub static SHELL: Table = Table {
    title: "a thin wall",
    about: "A wall without thickness, in scenes with `method = \"projective\"` in 3D: a rectangle or any triangle mesh, open or \
            closed. Liquid on one side does not feel that on the other, and none passes, however thin and fast the wall is. Cloth and \
            soft bodies collide with it, rigid bodies do not.",
    keys: &[
        named("\"cup\""),
        key!("rectangle": Kind::Table(&RECTANGLE), OPTIONAL, Physics,
            "{ corner = [0.2, 0, 0], first = [0, 1, 0], second = [0, 0, 0.6] }", "A rectangle."),
        key!("mesh": Kind::Table(&SHEET), OPTIONAL, Physics, "{ file = \"cup.obj\", scale = 0.01, up = \"y\" }",
            "A triangle mesh from a file."),
        key!("spacing": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Physics, "0.01",
            "Length of the edges of the mesh of a rectangle, at most the spacing of particles. Default: 0.8 of that."),
        keyframes(
            "Motion: the wall moves as a frame that is at the position of each keyframe and turned by its rotation, from where \
                   it is at the start, the time of the first keyframe.",
        ),
        ease(Effect::Physics),
        SOLID_COLOR,
    ],
    one_of: &["rectangle", "mesh"],
};

impl Reader<'_> {
    pub(super) fn shells<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        if D != 3 {
            let place = list.list().first().map_or(list.place, |table| table.place);
            let problem = Problem::error(place, "shell[1]", "there are no thin walls in 2D");
            self.problems
                .push(problem.with_help("write three numbers in domain.size, or remove it"));
            return;
        }
        let rate = scene.frame_rate;
        scene.shells = self.tables(list, "shell", |reader, table, path| {
            Some(Shell {
                name: name_of(table, path),
                shape: reader.cloth_shape(table, path)?,
                motion: match table.get("keyframes") {
                    None => Motion::Still,
                    Some(list) => reader.motion(list, table, path, rate)?,
                },
                color: table.get("color").and_then(|node| color(node).ok()),
            })
        });
    }
}
