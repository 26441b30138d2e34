//! The particle method in scene files: its keys, and errors about keys that do not belong to the method of a scene.

use super::access::{Field, field, read_by};
use super::grammar::{Kind, Range, Table, key};
use super::problem::{Place, Problem};
use super::tree::{Node, Value};
use super::validate::join;
use super::warnings::length;
use crate::{Scene, SimulationMethod};
use meniscus_projective::{Boundary, Coordinates, Method, Settings};

pub static PROJECTIVE: Table = Table {
    title: "the particle method",
    about: "Settings of `method = \"projective\"`: particles with density constraints (Weiler, Koschier and Bender 2016).",
    keys: &[
        key!("solver": Kind::Word(&["dual", "jacobi", "paper"]), field!(projective.method), Physics, "\"paper\"",
            "Method of the density constraints: `dual` by conjugate gradients on pressures with an active set, `jacobi` by a \
             projected Jacobi iteration as in DFSPH, `paper` by the paper's local and global steps. The last two are for \
             comparison: they reach the tolerances in few steps only."),
        key!("coordinates": Kind::Word(&["absolute", "differential"]), field!(projective.coordinates), Physics, "\"differential\"",
            "Coordinates of the constraints of the solver `paper`: positions, or positions relative to their mean."),
        key!("boundary": Kind::Word(&["maps", "particles"]), field!(projective.boundary), Physics, "\"particles\"",
            "How solids take part in the density: `maps` by the share of the kernel that is solid, as a function of the distances \
             from faces; `particles` by particles on their surfaces (Akinci and others 2012), as in the paper."),
        key!("bulk_modulus": Kind::Number(Range::POSITIVE, "Pa"), field!(projective.bulk_modulus), Physics, "1e6",
            "Pressure over relative compression. A low one is a compressible liquid."),
        key!("weight": Kind::Number(Range::POSITIVE, "N/m"),
            read_by!(|scene, node, _reader| scene.constraint_weight = node.number()), Physics, "1e6",
            "Weight of the density constraints as in the paper, instead of `bulk_modulus`, to which it is converted."),
        key!("max_error": Kind::Number(Range::POSITIVE, ""), field!(projective.max_error), Physics, "1e-4",
            "Largest excess of density, as a share, that ends the rounds of a step."),
        key!("mean_error": Kind::Number(Range::POSITIVE, ""), field!(projective.mean_error), Physics, "1e-5",
            "Mean excess of density, as a share, that ends the rounds of a step."),
        key!("rounds": Kind::Whole(1, 100_000), field!(projective.rounds), Physics, "30", "Most rounds of a step."),
        key!("inner_iterations": Kind::Whole(1, 10_000), field!(projective.inner_iterations), Physics, "8",
            "Iterations of conjugate gradients per round of `dual`."),
        key!("warm_start": Kind::Number(Range::between(0.0, 1.0), ""), field!(projective.warm_start), Physics, "1",
            "Share of the last step's pressures that a step begins with. 0.9 is calm at rest, 1 converges faster in splashes."),
        key!("xsph": Kind::Number(Range::between(0.0, 1.0), ""), field!(projective.xsph), Physics, "0.1",
            "Share of the difference to the mean velocity of their neighbours that particles lose in a step: a viscosity."),
        key!("filter": Kind::Number(Range::between(0.0, 1.0), ""), field!(projective.filter), Physics, "0",
            "Damping of velocities that alternate from particle to particle."),
        key!("cfl": Kind::Number(Range::up_to(10.0), "spacings"), field!(projective.cfl), Physics, "0.25",
            "Largest movement of nearly all particles in one step."),
        key!("max_step": Kind::Number(Range::POSITIVE, "s"), field!(projective.max_step), Physics, "0.01", "Longest time step."),
    ],
    one_of: &[],
};

macro_rules! word_field {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn value(&self) -> Value {
                Value::Text(self.word().into())
            }
            fn read(&mut self, node: &Node) {
                let named = |known: &$type| Some(known.word()) == node.text();
                if let Some(known) = Self::ALL.into_iter().find(named) {
                    *self = known;
                }
            }
        }
    )+};
}

word_field!(SimulationMethod, Method, Boundary, Coordinates);

/// Tables and keys of the grid method, each with what to write instead.
const GRID_KEYS: [(&str, &str, &str); 9] = [
    (
        "walls",
        "",
        "remove it: particles slide along walls and leave them freely",
    ),
    ("solver", "", "write [projective]"),
    ("coupling", "", "remove it"),
    ("time", "cfl", "write projective.cfl"),
    ("time", "max_step", "write projective.max_step"),
    ("particles", "per_cell", "write particles.spacing"),
    (
        "particles",
        "seed",
        "remove it: particles start on a lattice",
    ),
    ("particles", "transfer", "remove it: there is no grid"),
    ("particles", "pic", "remove it: there is no grid"),
];

/// Whether a node is written in the file, and is no default.
fn written(node: &&Node) -> bool {
    node.place != Place::Nowhere
}

/// Keys and objects that do not belong to the method of the scene.
pub fn errors<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    if !scene.is_projective() {
        let spacing = root.get("particles").and_then(|table| table.get("spacing"));
        let nodes = [
            (root.get("projective"), "projective"),
            (spacing, "particles.spacing"),
        ];
        let error =
            |(node, path): (Option<&Node>, &str)| {
                let message = "is for scenes with method = \"projective\"";
                let problem = Problem::error(node.filter(written)?.place, path, message);
                Some(problem.with_help(
                    "write method = \"projective\" at the top of the file, or remove it",
                ))
            };
        return nodes.into_iter().filter_map(error).collect();
    }
    let mut problems = Vec::new();
    let meaningless = "has no meaning with method = \"projective\"";
    for (table, key, help) in GRID_KEYS {
        let Some(node) = root.get(table) else {
            continue;
        };
        let (node, path) = match key {
            "" => (Some(node), table.to_owned()),
            _ => (node.get(key), format!("{table}.{key}")),
        };
        if let Some(node) = node.filter(written) {
            problems.push(Problem::error(node.place, path, meaningless).with_help(help));
        }
    }
    for list in ["solid", "body"] {
        let tables = root.get(list).map_or(&[][..], Node::list);
        for (k, table) in tables.iter().enumerate() {
            for key in ["wall_kind", "adhesion"] {
                if let Some(node) = table.get(key).filter(written) {
                    let path = format!("{list}[{}].{key}", k + 1);
                    let help = "remove it: particles slide along walls and leave them freely";
                    problems.push(Problem::error(node.place, path, meaningless).with_help(help));
                }
            }
        }
    }
    if let Some(particles) = root.get("particles")
        && let (Some(count), Some(_)) = (particles.get("count"), particles.get("spacing"))
    {
        let message = "the number of particles and their spacing determine each other";
        let help = "remove one of `count` and `spacing`";
        problems.push(Problem::error(count.place, "particles.count", message).with_help(help));
    }
    if let Some(projective) = root.get("projective")
        && let Some(weight) = projective.get("weight")
        && let Some(modulus) = projective.get("bulk_modulus").filter(written)
        // The complete scene of a run has the default beside the weight.
        && modulus.number() != Some(Settings::<D>::new(1.0).bulk_modulus)
    {
        let message = "the weight of the constraints and the bulk modulus determine each other";
        let help = "remove one of `weight` and `bulk_modulus`";
        problems.push(Problem::error(weight.place, "projective.weight", message).with_help(help));
    }
    if let Some(projective) = root.get("projective")
        && let Some(node) = projective.get("coordinates").filter(written)
        && scene.projective.method != Method::Paper
        // The complete scene of a run has the default beside every solver.
        && scene.projective.coordinates != Coordinates::default()
    {
        let message = "has no meaning but for the solver \"paper\"";
        let problem = Problem::error(node.place, "projective.coordinates", message);
        problems.push(problem.with_help("remove it, or write projective.solver = \"paper\""));
    }
    if let Some(body) = root.get("body").and_then(|bodies| bodies.list().first()) {
        let mut wrong = |message: &str, help: &str| {
            problems.push(Problem::error(body.place, "body[1]", message).with_help(help));
        };
        if scene.projective.method != Method::Dual {
            wrong(
                "liquid moves rigid bodies with the solver \"dual\" only",
                "remove projective.solver, or make it a [[solid]]",
            );
        }
    }
    problems
}

/// A solid so thin that particles on one side of it feel those on the other.
pub fn thin<const D: usize>(
    scene: &Scene<D>,
    thinnest: f64,
    path: &str,
    place: Place,
) -> Option<Problem> {
    let reach = meniscus_projective::support::<D>() * scene.particle_spacing();
    (thinnest < reach * (1.0 - 1e-9)).then(|| {
        let message = format!(
            "is {} thin: particles feel others within {}, through it as well",
            length(thinnest),
            length(reach)
        );
        let help = format!(
            "make it {} thick, or the spacing of particles at most {}",
            length(reach),
            length(scene.particle_spacing() * thinnest / reach)
        );
        Problem::warning(place, join(path, "shape"), message).with_help(help)
    })
}

/// Removes what only the grid method reads from the complete text of a scene of the particle method.
pub fn remove_grid_keys(root: &mut Node) {
    for (table, key, _) in GRID_KEYS {
        let Value::Table(entries) = &mut root.value else {
            return;
        };
        if key.is_empty() {
            entries.retain(|entry| entry.key != table);
        } else if let Some(entry) = entries.iter_mut().find(|entry| entry.key == table)
            && let Value::Table(inside) = &mut entry.node.value
        {
            inside.retain(|entry| entry.key != key);
        }
    }
    if let Value::Table(entries) = &mut root.value {
        let is_empty = |value: &Value| matches!(value, Value::Table(inside) if inside.is_empty());
        entries.retain(|entry| entry.key != "particles" || !is_empty(&entry.node.value));
    }
}
