//! Soft bodies in scene files: their keys, how they are read, and what can be wrong with them.

use super::appearance::SOLID_COLOR;
use super::cloth::PIN;
use super::grammar::{Kind, OPTIONAL, Range, Table, ZERO, default, key};
use super::objects::{Reader, SHAPE_KEY, name_of, named};
use super::problem::Problem;
use super::tree::Node;
use super::validate::join;
use super::values::{color, number, vector, written_number};
use super::warnings::length;
use crate::{Scene, SoftBody};
use meniscus_projective::Sheet;

pub static SOFT: Table = Table {
    title: "a soft body",
    about: "An elastic solid such as jelly or rubber, in scenes with `method = \"projective\"` in 3D. Liquid, solids, cloth and other \
            soft bodies collide with it. It is at rest in the shape in which it starts.",
    keys: &[
        named("\"jelly\""),
        SHAPE_KEY,
        key!("spacing": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Physics, "0.02",
            "Length of the edges of its tetrahedra, at most the spacing of particles. Default: 0.8 of that."),
        key!("density": Kind::Number(Range::POSITIVE, "kg/m³"), default("1000.0"), Physics, "500", "Mass per volume."),
        key!("youngs_modulus": Kind::Number(Range::POSITIVE, "Pa"), default("2e4"), Physics, "1e5",
            "Stiffness: pull per area over relative extension. Jelly has about 1e4, soft rubber 1e6."),
        key!("poisson_ratio": Kind::Number(Range::between(0.0, 0.49), ""), default("0.3"), Physics, "0.45",
            "Contraction across a pull over the extension along it: 0.5 would keep the volume."),
        super::bodies::friction(default("0.3")),
        key!("velocity": Kind::Vector("m/s"), ZERO, Physics, "[0, 0, -1]", "Initial velocity."),
        key!("pins": Kind::Tables(&PIN, 0), OPTIONAL, Physics, "[{ box = { low = [0, 0, 0], high = [1, 1, 0.1] } }]",
            "Points and regions at which it is held, still or moving."),
        SOLID_COLOR,
    ],
    one_of: &[],
};

impl Reader<'_> {
    pub(super) fn soft<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        if D != 3 {
            let place = list.list().first().map_or(list.place, |table| table.place);
            let problem = Problem::error(place, "soft[1]", "there are no soft bodies in 2D");
            self.problems
                .push(problem.with_help("write three numbers in domain.size, or remove it"));
            return;
        }
        let rate = scene.frame_rate;
        scene.soft = self.tables(list, "soft", |reader, table, path| {
            Some(SoftBody {
                name: name_of(table, path),
                shape: reader.own_shape(table, path)?,
                spacing: written_number(table, "spacing"),
                density: number(table, "density"),
                youngs_modulus: number(table, "youngs_modulus"),
                poisson_ratio: number(table, "poisson_ratio"),
                friction: number(table, "friction"),
                velocity: vector(table, "velocity"),
                pins: reader.pins(table, path, rate)?,
                color: table.get("color").and_then(|node| color(node).ok()),
            })
        });
    }
}

/// The mesh of a soft body with its material, or what is wrong with it.
pub fn errors(soft: &SoftBody, spacing: f64, table: &Node, path: &str) -> Result<Sheet, Problem> {
    let wrong = |key: &str, message: String, help: String| {
        let place = table.get(key).map_or(table.place, |node| node.place);
        Err(Problem::error(place, join(path, key), message).with_help(help))
    };
    let edge = soft.edge(spacing);
    if edge > spacing * (1.0 + 1e-9) {
        let message = format!(
            "is {}, coarser than the particles ({}): liquid would leak",
            length(edge),
            length(spacing)
        );
        let help = format!("write at most {}", length(spacing));
        return wrong("spacing", message, help);
    }
    if soft.shape.bounds().is_none() {
        let message = "the shape is unbounded".to_owned();
        return wrong("shape", message, "intersect it with a box".into());
    }
    if !soft.is_feasible(spacing) {
        let message = "has more than a million vertices".to_owned();
        let help = "raise it, or make the shape smaller";
        return wrong("spacing", message, help.into());
    }
    let sheet = soft.sheet(spacing);
    if sheet.tetrahedra.is_empty() {
        let message = format!("has no room for tetrahedra of {}", length(edge));
        return wrong(
            "shape",
            message,
            "lower spacing, or make the shape thicker".into(),
        );
    }
    if let Err(fault) = meniscus_projective::check_mesh(&sheet.vertices, &sheet.triangles) {
        let message = format!(
            "can't be filled with tetrahedra of {}: {fault}",
            length(edge)
        );
        let help = "lower spacing: a part of the shape is too thin for it";
        return wrong("shape", message, help.into());
    }
    Ok(sheet)
}
