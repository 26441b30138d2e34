//! Errors, warnings and notes about rigid bodies, joints and contacts.

use super::problem::{Place, Problem};
use super::tree::Node;
use super::validate::join;
use super::warnings::{length, place_of};
use super::wet_bodies;
use crate::{Body, Scene, speeds};
use meniscus_rigid::{Bodies, MassError};
use meniscus_shapes::{MomentsError, ScriptedSolid};
use std::collections::HashMap;
use std::fmt::Write;

/// Ratio of the largest to the smallest mass without a warning.
const LARGEST_RATIO: f64 = 1e4;
/// Masses with which impulses and energies are finite numbers, in kg.
const MASSES: std::ops::RangeInclusive<f64> = 1e-50..=1e50;
/// Share of the gap at rest that bodies may overlap by at the start without a warning.
const ROUNDING: f64 = 0.01;
/// Samples of a surface, at most, to find out whether it is inside another solid.
const SAMPLES: usize = 400;

/// Everything for which a scene with bodies can't be run.
pub fn errors<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut errors = repeated_names(scene, root);
    errors.extend(masses(scene, root));
    errors.extend(joints(scene, root));
    errors.extend(pairs(scene, root));
    if errors.is_empty() && !scene.bodies.is_empty() {
        match scene.rigid_bodies() {
            Ok(_) => errors.extend(swallowed(scene, root)),
            Err(fault) => {
                let path = match fault.table {
                    "contact" => "contact".into(),
                    table => format!("{table}[{}]", fault.index + 1),
                };
                let place = place_of_table(root, fault.table, fault.index);
                errors.push(Problem::error(place, path, fault.message));
            }
        }
    }
    errors
}

fn repeated_names<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut known: HashMap<&str, String> = HashMap::new();
    for (k, solid) in scene.solids.iter().enumerate() {
        known
            .entry(&solid.name)
            .or_insert_with(|| format!("solid[{}]", k + 1));
    }
    let mut errors = Vec::new();
    for (k, body) in scene.bodies.iter().enumerate() {
        let path = format!("body[{}]", k + 1);
        if let Some(other) = known.get(body.name.as_str()) {
            let place = place_of_key(root, "body", k, "name");
            let message = format!("{other} is called \"{}\", too", body.name);
            let problem = Problem::error(place, join(&path, "name"), message);
            errors.push(problem.with_help("joints and frames know bodies by their names"));
        }
        known.insert(&body.name, path);
    }
    errors
}

fn masses<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let bodies = scene.bodies.iter().enumerate();
    let problem = |(k, body): (usize, &Body<D>)| {
        let path = format!("body[{}]", k + 1);
        let fault = match body.mass() {
            Err(fault) => fault,
            Ok(mass) => return unphysical_mass(root, k, mass.mass),
        };
        let (key, help) = match fault {
            MassError::Inertia(_) if body.inertia.is_some() => (
                "inertia",
                "each moment must be at most the sum of the other two",
            ),
            MassError::Moments(MomentsError::Unbounded) => (
                "shape",
                "use `shell` for a container, or make it a [[solid]]",
            ),
            MassError::Center => ("center_of_mass", "write finite numbers"),
            MassError::Density(_) => ("density", "write a positive number in kg/m³"),
            MassError::Mass(_) => ("mass", "write a positive number in kg"),
            _ => ("shape", "make it thicker"),
        };
        let message = match fault {
            MassError::Moments(MomentsError::Unbounded) => {
                "has no end, as a container made with `inverted`, so it has no mass".into()
            }
            fault => fault.to_string(),
        };
        let place = place_of_key(root, "body", k, key);
        Some(Problem::error(place, join(&path, key), message).with_help(help))
    };
    bodies.filter_map(problem).collect()
}

/// A mass with which impulses and energies would not be finite numbers.
fn unphysical_mass(root: &Node, k: usize, mass: f64) -> Option<Problem> {
    if MASSES.contains(&mass) {
        return None;
    }
    let body = root.get("body").and_then(|list| list.list().get(k));
    let key = match body.and_then(|body| body.get("mass")) {
        Some(_) => "mass",
        None => "density",
    };
    let place = place_of_key(root, "body", k, key);
    let message = format!("a mass of {mass:.0e} kg is not physical");
    let problem = Problem::error(place, join(&format!("body[{}]", k + 1), key), message);
    Some(problem.with_help("densities are in kg/m³, masses in kg, lengths in metres"))
}

fn joints<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let places = scene.places();
    let mut errors = Vec::new();
    for (k, joint) in scene.joints.iter().enumerate() {
        let path = format!("joint[{}]", k + 1);
        let place = place_of_table(root, "joint", k);
        let mut refuse = |message: String, help: &str| {
            errors.push(Problem::error(place, &path, message).with_help(help));
        };
        if let Some(name) = unknown(&joint.bodies, &places) {
            refuse(
                format!("there is no body \"{name}\""),
                &suggestion(name, &places),
            );
        } else if let [a, b] = &joint.bodies[..]
            && a == b
        {
            refuse(
                format!("joins \"{a}\" to itself"),
                "name two bodies, or one and the world",
            );
        } else if joint
            .bodies
            .iter()
            .all(|name| places[name.as_str()] < scene.solids.len())
        {
            refuse(
                "joins no body: forces do not move solids".into(),
                "name a [[body]]",
            );
        } else if let Err(fault) = only_joint(scene, k) {
            let help = "points and axes are those in the world at the start, in metres";
            refuse(fault, help);
        }
    }
    errors
}

/// What is wrong with one joint.
fn only_joint<const D: usize>(scene: &Scene<D>, index: usize) -> Result<(), String> {
    use meniscus_rigid::{Joint, Settings};
    let joint = &scene.joints[index];
    let mut bodies = Bodies::new(Settings::default()).map_err(|e| e.to_string())?;
    let stand_in = |name: &str| {
        let ball = meniscus_shapes::Shape::Sphere {
            center: [0.0; D],
            radius: 1.0,
        };
        meniscus_rigid::Body::fixed(name, ball)
    };
    for name in &joint.bodies {
        bodies.add(stand_in(name)).map_err(|e| e.to_string())?;
    }
    let made = Joint {
        limits: joint.limits,
        motor: joint.motor,
        break_force: joint.break_force,
        ..Joint::new(joint.kind, 0, (joint.bodies.len() > 1).then_some(1))
    };
    bodies
        .add_joint(made)
        .map(|_| ())
        .map_err(|e| e.to_string())
}

fn pairs<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let places = scene.places();
    let list = root.get("contact").and_then(|contact| contact.get("pairs"));
    let mut errors = Vec::new();
    for (k, pair) in scene.contacts.pairs.iter().enumerate() {
        let path = format!("contact.pairs[{}]", k + 1);
        let node = list.and_then(|list| list.list().get(k));
        let place = node.map_or(Place::Nowhere, |node| node.place);
        if let Some(name) = unknown(&pair.bodies, &places) {
            let message = format!("there is no body or solid \"{name}\"");
            let problem = Problem::error(place, path, message);
            errors.push(problem.with_help(suggestion(name, &places)));
        } else if pair.bodies[0] == pair.bodies[1] {
            let message = format!("\"{}\" does not touch itself", pair.bodies[0]);
            errors.push(Problem::error(place, path, message).with_help("name two bodies"));
        }
    }
    errors
}

fn unknown<'a>(names: &'a [String], places: &HashMap<&str, usize>) -> Option<&'a str> {
    let mut names = names.iter().map(String::as_str);
    names.find(|name| !places.contains_key(name))
}

fn suggestion(name: &str, places: &HashMap<&str, usize>) -> String {
    let mut names: Vec<&str> = places.keys().copied().collect();
    names.sort_unstable();
    match crate::suggest::similar(name, &names) {
        Some(guess) => format!("did you mean \"{guess}\"?"),
        None => "give the body that name, with `name`".into(),
    }
}

/// Bodies that are wholly inside solids or other bodies at the start.
fn swallowed<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let all = scene.all_solids();
    let bounds: Vec<_> = all
        .iter()
        .map(|solid| {
            Some(
                solid
                    .shape
                    .bounds()?
                    .placed(&solid.motion.world_from_body(0.0)),
            )
        })
        .collect();
    let mut errors = Vec::new();
    for (k, body) in scene.bodies.iter().enumerate() {
        let own = scene.solids.len() + k;
        let Some(around) = bounds[own] else { continue };
        let holds = |other: usize| match bounds[other] {
            _ if other == own => false,
            Some(outer) => outer.union(&around) == outer && is_inside(&all[own], &all[other]),
            None => is_inside(&all[own], &all[other]),
        };
        if let Some(other) = (0..all.len()).find(|&other| holds(other)) {
            let message = format!("is wholly inside \"{}\" at the start", all[other].name);
            let place = place_of(root, "body", k);
            let problem = Problem::error(place, format!("body[{}]", k + 1), message);
            let help = format!(
                "move \"{}\" out, or make the other one hollow with `shell`",
                body.name
            );
            errors.push(problem.with_help(help));
        }
    }
    errors
}

fn is_inside<const D: usize>(inner: &ScriptedSolid<D>, outer: &ScriptedSolid<D>) -> bool {
    let Some(bounds) = inner.shape.bounds() else {
        return false;
    };
    let pose = inner.motion.world_from_body(0.0);
    let outer = outer.at(0.0);
    let corner = pose.apply(std::array::from_fn(|a| {
        0.5 * (bounds.low[a] + bounds.high[a])
    }));
    let size = bounds.farthest(bounds.low);
    // Most pairs are told apart by one point.
    if outer.distance(corner) > size {
        return false;
    }
    let samples = inner.shape.surface_samples(0.1 * size, SAMPLES);
    !samples.is_empty()
        && samples
            .iter()
            .all(|sample| outer.distance(pose.apply(sample.point)) < 0.0)
}

/// Warnings about a scene with bodies that can be run.
pub fn warnings<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let Ok(bodies) = scene.rigid_bodies() else {
        return Vec::new();
    };
    let mut warnings = overlaps(scene, root, &bodies);
    warnings.extend(mass_ratio(scene, root));
    warnings.extend(fast_and_thin(scene, root));
    warnings
}

fn overlaps<const D: usize>(scene: &Scene<D>, root: &Node, bodies: &Bodies<D>) -> Vec<Problem> {
    let solids = scene.solids.len();
    let found = bodies.overlaps().into_iter();
    let found = found.filter(|&(a, b, depth)| depth > ROUNDING * bodies.resting_gap(a, b));
    let problem = |(a, b, depth): (usize, usize, f64)| {
        // The body that comes first in the file, with what it overlaps.
        let is_body = |k: usize| (solids..solids + scene.bodies.len()).contains(&k);
        let (own, other) = if is_body(a) { (a, b) } else { (b, a) };
        let k = own.checked_sub(solids)?;
        let name = &bodies.body(other).name;
        let other = match is_body(other) || other < solids {
            true => format!("\"{name}\""),
            false => name.clone(),
        };
        let message = format!("overlaps {other} by {} at the start", length(depth));
        let place = place_of(root, "body", k);
        let problem = Problem::warning(place, format!("body[{}]", k + 1), message);
        Some(
            problem
                .with_help("they are pushed apart gently during the first steps; move them apart"),
        )
    };
    found.filter_map(problem).collect()
}

fn mass_ratio<const D: usize>(scene: &Scene<D>, root: &Node) -> Option<Problem> {
    let masses = scene.bodies.iter().enumerate();
    let masses: Vec<(usize, f64)> = masses
        .filter_map(|(k, body)| Some((k, body.mass().ok()?.mass)))
        .collect();
    let by_mass = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
    let (light, heavy) = (
        masses.iter().min_by(by_mass)?,
        masses.iter().max_by(by_mass)?,
    );
    let ratio = heavy.1 / light.1;
    if ratio <= LARGEST_RATIO {
        return None;
    }
    let [light, heavy] = [light.0, heavy.0].map(|k| &scene.bodies[k].name);
    let message = format!("masses differ by a factor of {ratio:.0e}: \"{heavy}\" and \"{light}\"");
    let place = place_of_table(root, "body", 0);
    let help =
        "above 1e4 contacts between them are less accurate; smaller steps help (contact.max_step)";
    Some(Problem::warning(place, "body", message).with_help(help))
}

fn fast_and_thin<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let step = scene.rigid_step();
    let bodies = scene.bodies.iter().enumerate();
    let problem = |(k, body): (usize, &Body<D>)| {
        let speed = body.velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        let thin = body.shape.thinnest()?;
        let path = format!("body[{}].velocity", k + 1);
        let place = place_of_key(root, "body", k, "velocity");
        if speed > speeds::FASTEST_PHYSICAL {
            let message = format!("a speed of {speed:.1e} m/s is not physical");
            let problem = Problem::warning(place, path, message);
            return Some(problem.with_help("velocities are in metres per second"));
        }
        (speed * step > thin).then(|| {
            let message = format!(
                "moves {} in a step, and is {} thin",
                length(speed * step),
                length(thin)
            );
            let help = format!(
                "its path is followed, so that it passes through nothing; contact.max_step = {:.1e} is more accurate",
                thin / speed
            );
            Problem::warning(place, path, message).with_help(help)
        })
    };
    bodies.filter_map(problem).collect()
}

/// Facts about the bodies of a scene, for people: mass properties, combination of surfaces, closed loops of joints.
pub fn notes<const D: usize>(scene: &Scene<D>) -> Vec<String> {
    if scene.bodies.is_empty() {
        return Vec::new();
    }
    let unit = if D == 2 { " per metre" } else { "" };
    let list = |numbers: &[f64]| {
        let mut text = String::new();
        for (k, number) in numbers.iter().enumerate() {
            let _ = write!(text, "{}{}", if k == 0 { "" } else { ", " }, short(*number));
        }
        text
    };
    let mut notes: Vec<String> = (scene.bodies.iter())
        .filter_map(|body| {
            let mass = body.mass().ok()?;
            let center = body.pose.apply(mass.center);
            let moments = mass.principal_moments();
            Some(format!(
                "body {}: mass {} kg{unit}, centre of mass ({}) m, principal inertia ({}) kg m²",
                body.name,
                short(mass.mass),
                list(&center),
                list(&moments[if D == 2 { 2 } else { 0 }..])
            ))
        })
        .collect();
    let pairs = match scene.contacts.pairs.len() {
        0 => String::new(),
        n => format!(", except {n} in contact.pairs"),
    };
    notes.push(format!(
        "contacts: friction of a pair is the geometric mean of both, restitution the larger one{pairs}"
    ));
    notes.extend(loops(scene));
    notes.extend(wet_bodies::notes(scene));
    notes
}

/// Closed loops of joints, whose rows are redundant.
fn loops<const D: usize>(scene: &Scene<D>) -> Option<String> {
    // Solids are all one with the world.
    let places = scene.places();
    let node = |name: Option<&String>| match name.and_then(|name| places.get(name.as_str())) {
        Some(&place) if place >= scene.solids.len() => place - scene.solids.len() + 1,
        _ => 0,
    };
    let mut parent: Vec<usize> = (0..=scene.bodies.len()).collect();
    fn root_of(parent: &[usize], mut k: usize) -> usize {
        while parent[k] != k {
            k = parent[k];
        }
        k
    }
    let mut closing = Vec::new();
    for joint in &scene.joints {
        let a = root_of(&parent, node(joint.bodies.first()));
        let b = root_of(&parent, node(joint.bodies.get(1)));
        if a == b {
            closing.push(joint.name.as_str());
        }
        parent[a.max(b)] = a.min(b);
    }
    (!closing.is_empty()).then(|| {
        format!(
            "joints: {} closes a loop; redundant joints are fine, their single reactions are not determined",
            closing.join(", ")
        )
    })
}

/// A number with four digits.
pub(super) fn short(x: f64) -> String {
    let digits = format!("{x:.3e}");
    let rounded: f64 = digits.parse().unwrap_or(x);
    if rounded == 0.0 || (1e-3..1e5).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        digits
    }
}

/// Place of a table in a list.
fn place_of_table(root: &Node, list: &str, index: usize) -> Place {
    let table = root.get(list).and_then(|list| list.list().get(index));
    table.map_or(Place::Nowhere, |table| table.place)
}

/// Place of a key of a table in a list, or of the table.
pub(super) fn place_of_key(root: &Node, list: &str, index: usize, key: &str) -> Place {
    let table = root.get(list).and_then(|list| list.list().get(index));
    let Some(table) = table else {
        return Place::Nowhere;
    };
    match table.get(key).map_or(Place::Nowhere, |node| node.place) {
        Place::Nowhere => table.place,
        place => place,
    }
}
