//! Viscosity in scene files: its keys, what they mean for walls and density, and problems with them.

use super::grammar::{Key, Kind, OPTIONAL, Range, Table, default, key};
use super::objects::Reader;
use super::problem::{Place, Problem};
use super::tree::{Node, Value};
use super::validate::join;
use super::values::{number, text, written_number};
use crate::viscosity::{PRESET_NAMES, Preset};
use crate::{Scene, Wall};
use meniscus_coupled::{Method, Scheme};
use meniscus_liquid::stokes::Rheology;
use meniscus_liquid::{Physics, Solver, Walls};

/// Largest viscosity: thicker liquids are solids for as long as anybody simulates them.
const MOST: f64 = 1e7;
/// Viscosities from here to there are those of water in cP.
const WATER_IN_CP: std::ops::RangeInclusive<f64> = 0.85..=1.15;
/// Densities that differ by less than this part are one.
const SAME_DENSITY: f64 = 1e-9;
/// Largest ratio of viscosities in one scene.
const MOST_CONTRAST: f64 = 1e4;

pub(super) const VISCOSITY: Key = key!("viscosity": Kind::Number(Range::between(0.0, MOST), "Pa s"), OPTIONAL, Physics, "10",
    "Dynamic viscosity. Water has 0.001, honey 10: 1 Pa s is 1000 cP. Default: 0, inviscid.");
pub(super) const RHEOLOGY: Key = key!("rheology": Kind::Table(&RHEOLOGY_TABLE), OPTIONAL, Physics,
    "{ yield_stress = 32, consistency = 18.7, flow_index = 0.27 }", "Viscosity that depends on the flow.");
pub(super) const PRESET: Key = key!("preset": Kind::Word(&PRESET_NAMES), OPTIONAL, Physics, "\"honey\"",
    "A liquid by name: its viscosity, and its density unless `density` is written. The numbers are in the table of liquids below.");
pub(super) const DENSITY: Key = key!("density": Kind::Number(Range::POSITIVE, "kg/m³"), OPTIONAL, Physics, "1420",
    "Density of this liquid. All liquids of a scene have one density: different ones are an error.");

static RHEOLOGY_TABLE: Table = Table {
    title: "a rheology",
    about: "A Herschel-Bulkley liquid: at a shear rate g, that is `sqrt(2 E:E)` with the strain rate E, its viscosity is \
            `consistency g^(flow_index - 1) + yield_stress / g`. In simple shear the stress is then `yield_stress + consistency \
            g^flow_index`. Takahashi and Batty 2020 take the norm of E itself, g/sqrt(2): multiply their yield stress by sqrt(2) and \
            their consistency by 2^((1 - flow_index)/2).",
    keys: &[
        key!("yield_stress": Kind::Number(Range::between(0.0, 1e9), "Pa"), default("0.0"), Physics, "32",
            "Shear stress below which the liquid does not flow."),
        key!("consistency": Kind::Number(Range::between(0.0, MOST), "Pa s^flow_index"), default("0.0"), Physics, "18.7",
            "Consistency; the viscosity at a shear rate of 1/s, yield stress apart."),
        key!("flow_index": Kind::Number(Range::up_to(5.0), ""), default("1.0"), Physics, "0.27",
            "Flow index: below 1 the liquid thins when it is sheared, above 1 it thickens."),
        key!("smallest_rate": Kind::Number(Range::up_to(1e6), "1/s"), default("0.01"), Physics, "0.1",
            "Shear rate below which the viscosity no longer changes. Liquid that does not yield creeps about this fast."),
    ],
    one_of: &[],
};

/// The rheology of a volume of liquid or an emitter.
pub(super) fn rheology(reader: &mut Reader<'_>, table: &Node, path: &str) -> Rheology {
    let written: Vec<&str> = ["viscosity", "rheology", "preset"]
        .into_iter()
        .filter(|key| table.get(key).is_some())
        .collect();
    if let [first, second, ..] = written[..] {
        let place = table.get(second).map_or(table.place, |node| node.place);
        let message = format!("is there as well as `{first}`: a liquid has one viscosity");
        let problem = Problem::error(place, join(path, second), message);
        reader
            .problems
            .push(problem.with_help(format!("remove one of `{first}` and `{second}`")));
    }
    if let Some(preset) = Preset::named(text(table, "preset")) {
        return preset.rheology;
    }
    match table.get("rheology") {
        Some(own) => {
            let rheology = Rheology {
                yield_stress: number(own, "yield_stress"),
                consistency: number(own, "consistency"),
                flow_index: number(own, "flow_index"),
                smallest_rate: number(own, "smallest_rate"),
            };
            if rheology.is_inviscid() {
                let problem = Problem::error(
                    own.place,
                    join(path, "rheology"),
                    "is that of no viscosity at all",
                );
                reader
                    .problems
                    .push(problem.with_help("write `consistency` or `yield_stress`, or remove it"));
            }
            rheology
        }
        None => Rheology::newtonian(written_number(table, "viscosity").unwrap_or(0.0)),
    }
}

/// Tables of all liquids, with their paths.
fn liquids(root: &Node) -> impl Iterator<Item = (String, &Node)> {
    ["liquid", "emitter"].into_iter().flat_map(move |list| {
        let tables = root.get(list).map_or(&[][..], Node::list).iter();
        tables
            .enumerate()
            .map(move |(k, table)| (format!("{list}[{}]", k + 1), table))
    })
}

fn is_viscous(table: &Node) -> bool {
    let viscosity = written_number(table, "viscosity");
    viscosity.is_some_and(|v| v > 0.0)
        || table.get("rheology").is_some()
        || table.get("preset").is_some()
}

/// Sets the density and the kind of walls of a complete tree, where they are not written and the liquids tell them.
pub fn complete(root: &mut Node, problems: &mut Vec<Problem>) {
    if liquids(root).any(|(_, table)| is_viscous(table)) {
        let stick = Value::Text(Walls::Stick.name().into());
        set_unwritten(root, &["walls", "kind"], stick);
    }
    let of_scene = root.get("density");
    let written = of_scene.is_some_and(|node| node.place != Place::Nowhere);
    let usual = of_scene
        .and_then(Node::number)
        .unwrap_or(Physics::<3>::default().density);
    let mut found: Option<(String, f64)> = written.then(|| ("the scene".into(), usual));
    for (path, table) in liquids(root) {
        let own = table.get("density");
        let preset = Preset::named(text(table, "preset")).map(|preset| preset.density);
        let density = match own.and_then(Node::number) {
            Some(density) => density,
            None if written => continue,
            None => preset.unwrap_or(usual),
        };
        match &found {
            Some((other, known)) if (density - known).abs() > SAME_DENSITY * known => {
                let node = own.or_else(|| table.get("preset"));
                let place = node.map_or(table.place, |node| node.place);
                let message = format!(
                    "has {density} kg/m³, but {other} has {known}: liquids of different density are not simulated"
                );
                let problem = Problem::error(place, join(&path, "density"), message);
                problems.push(problem.with_help(format!(
                    "write `density = {known}` at the top of the file, and it is that of all liquids"
                )));
                return;
            }
            Some(_) => {}
            None => found = Some((path, density)),
        }
    }
    if let Some((_, density)) = found {
        set_unwritten(root, &["density"], Value::Number(density));
    }
}

/// Replaces a default.
fn set_unwritten(root: &mut Node, path: &[&str], value: Value) {
    let (Value::Table(entries), [key, rest @ ..]) = (&mut root.value, path) else {
        return;
    };
    let Some(entry) = entries.iter_mut().find(|entry| entry.key == *key) else {
        return;
    };
    match rest {
        [] if entry.node.place == Place::Nowhere => entry.node.value = value,
        [] => {}
        _ => set_unwritten(&mut entry.node, rest, value),
    }
}

/// Errors about walls that the liquid of the scene cannot have.
pub fn errors<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut errors = Vec::new();
    let walls = root.get("walls");
    let place = |key: &str| {
        let node = walls.and_then(|walls| walls.get(key));
        node.map_or(Place::Nowhere, |node| node.place)
    };
    if !scene.is_viscous() {
        let help = "write \"slip\" or \"separating\", or give a liquid a viscosity";
        let message = "\"stick\": only viscous liquid sticks to walls";
        if scene.physics.walls == Walls::Stick {
            errors.push(Problem::error(place("kind"), "walls.kind", message).with_help(help));
        }
        let lists = [("solid", scene.solids.len()), ("body", scene.bodies.len())];
        let all = lists
            .into_iter()
            .flat_map(|(list, count)| (0..count).map(move |k| (list, k)));
        for ((list, k), wall) in all.zip(scene.all_walls()) {
            let Wall { kind, .. } = wall;
            if kind == Some(Walls::Stick) {
                let table = root.get(list).and_then(|list| list.list().get(k));
                let node = table.and_then(|table| table.get("wall_kind"));
                let place = node.map_or(Place::Nowhere, |node| node.place);
                let path = join(&format!("{list}[{}]", k + 1), "wall_kind");
                errors.push(Problem::error(place, path, message).with_help(help));
            }
        }
    }
    if scene.is_viscous() && scene.is_projective() {
        let place = root.get("method").map_or(Place::Nowhere, |node| node.place);
        let message = "\"projective\" has no viscosity";
        let help = "remove it, or the viscosity of the liquids";
        errors.push(Problem::error(place, "method", message).with_help(help));
    }
    errors.extend(scheme_errors(scene, root));
    if scene.adhesion.is_some() && (!scene.is_viscous() || scene.physics.walls != Walls::Separating)
    {
        let message = "has no effect: it is that of separating walls of viscous liquid";
        let help = "remove it, or write walls.kind = \"separating\"; for inviscid liquid write `adhesion` of the solids";
        errors.push(Problem::error(place("adhesion"), "walls.adhesion", message).with_help(help));
    }
    errors
}

/// Errors about a coupling that the liquid of the scene cannot have.
fn scheme_errors<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut errors = Vec::new();
    let mut complain = |key: &str, message: String, help: &str| {
        let node = root.get("coupling").and_then(|coupling| coupling.get(key));
        let place = node.map_or(Place::Nowhere, |node| node.place);
        let problem = Problem::error(place, join("coupling", key), message);
        errors.push(problem.with_help(help));
    };
    let (scheme, is_viscous) = (scene.coupling.scheme, scene.is_viscous());
    let word = scheme.word();
    if scene.has_liquid() && !scheme.suits(is_viscous) {
        match is_viscous {
            true => complain(
                "scheme",
                format!("\"{word}\" leaves out viscosity, which this scene has"),
                "write \"unified\", \"iterative\", \"pv-c\", \"c-pv\" or \"pc-vc-pc\"",
            ),
            false => complain(
                "scheme",
                format!("\"{word}\" is a scheme of viscous liquid, and no liquid has viscosity"),
                "write \"unified\", \"iterative\", \"p-c\" or \"c-p\", or give a liquid a viscosity",
            ),
        }
    } else if is_viscous && scene.bodies.is_empty() {
        let alone = [Scheme::Unified, Scheme::PressureViscosityPressure];
        if !alone.contains(&scheme) {
            complain(
                "scheme",
                format!("\"{word}\" is about contacts of bodies, and the scene has none"),
                "write \"unified\" or \"pc-vc-pc\"",
            );
        }
    }
    if is_viscous && scene.coupling.method != Method::Multigrid {
        complain(
            "solver",
            format!(
                "\"{}\" solves for pressures, not for viscous liquid",
                scene.coupling.method.word()
            ),
            "write \"multigrid\"",
        );
    }
    errors
}

/// Warnings about viscosities.
pub fn warnings<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut warnings = Vec::new();
    for (path, table) in liquids(root) {
        let Some(node) = table.get("viscosity") else {
            continue;
        };
        let viscosity = node.number().unwrap_or(0.0);
        if WATER_IN_CP.contains(&viscosity) {
            let message = format!(
                "{viscosity} Pa s is as thick as glycerine: a thousand times the viscosity of water"
            );
            let help = "1 for water? Its viscosity is 1 cP, which is 0.001 Pa s; write `preset = \"glycerine\"` if you mean that";
            warnings.push(
                Problem::warning(node.place, join(&path, "viscosity"), message).with_help(help),
            );
        }
    }
    if !scene.is_viscous() {
        return warnings;
    }
    let materials = scene.liquid_materials();
    let at_one = |rheology: &Rheology| rheology.viscosity(1.0);
    let thickest = materials.iter().map(at_one).fold(0.0, f64::max);
    let thinnest = materials.iter().map(at_one).fold(f64::INFINITY, f64::min);
    if thinnest < thickest / MOST_CONTRAST * (1.0 - 1e-9) {
        let place = root.get("liquid").map_or(Place::Nowhere, |list| list.place);
        let message = format!(
            "viscosities from {thinnest} to {thickest} Pa s in one scene: the thinnest liquid counts as {} Pa s",
            thickest / MOST_CONTRAST
        );
        let help = "viscosities in one scene may differ by a factor of 10000";
        warnings.push(Problem::warning(place, "liquid", message).with_help(help));
    }
    let solver = root.get("solver");
    let method = scene.physics.pressure.solver;
    if method != Solver::Auto {
        let node = solver.and_then(|solver| solver.get("method"));
        let place = node.map_or(Place::Nowhere, |node| node.place);
        let message = format!(
            "\"{method}\" has no effect on the pressure of viscous liquid, which is solved for with its velocity"
        );
        warnings
            .push(Problem::warning(place, "solver.method", message).with_help("write \"auto\""));
    }
    warnings
}

/// Facts about viscosities, for people.
pub fn notes<const D: usize>(scene: &Scene<D>) -> Vec<String> {
    if !scene.is_viscous() {
        return Vec::new();
    }
    let (density, dx) = (scene.physics.density, scene.dx());
    let mut notes = Vec::new();
    for rheology in scene.liquid_materials() {
        let what = match rheology {
            _ if rheology.is_inviscid() => continue,
            _ if rheology.is_newtonian() => format!("{} Pa s", rheology.consistency),
            _ => format!(
                "from {:.3} Pa s at rest to {:.3} at a shear rate of 100/s",
                rheology.viscosity(0.0),
                rheology.viscosity(100.0)
            ),
        };
        // Stable if viscosity were explicit.
        let explicit = density * dx * dx / (2.0 * D as f64 * rheology.viscosity(0.0));
        notes.push(format!(
            "viscosity: {what}; implicit, so that steps are as long as the CFL number allows (an explicit one would need {explicit:.1e} s)"
        ));
    }
    notes
}
