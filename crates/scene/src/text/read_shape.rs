//! Shapes out of a filled tree.

use super::problem::{Place, Problem};
use super::read::Reader;
use super::tree::{Entry, Node};
use super::validate::join;
use super::values::{components, number, rotation, switch, vector};
use meniscus_shapes::{Pose, Rotation, Shape};

impl Reader<'_> {
    /// The shape that a table describes; nothing if something is wrong with it, which is said.
    pub fn shape<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Shape<D>> {
        let kinds = super::shape_keys::SHAPE.one_of;
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
