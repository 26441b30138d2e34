//! Warnings and notes about bodies in liquid, and about solids with walls of their own.

use super::body_problems::{place_of_key, short};
use super::problem::{Place, Problem};
use super::tree::Node;
use super::validate::join;
use super::warnings::{length, place_of};
use crate::buoyancy::{Buoyancy, Hydrostatics, Outcome};
use crate::{Body, Scene, measure};
use meniscus_liquid::Solver;

/// Cells along a body, or spacings of particles, below which the flow around it is not resolved.
const LEAST_CELLS: f64 = 4.0;
/// Share of a drain that bodies may cover at the start without a warning.
const COVERED: f64 = 0.1;
/// Smallest part of a cell that is worth a note.
const NOTABLE: f64 = 0.01;

/// Warnings about bodies in liquid and about walls without liquid.
pub fn warnings<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    if !scene.has_liquid() {
        return walls_without_liquid(scene, root);
    }
    let bodies = scene.bodies.iter().enumerate();
    let mut warnings: Vec<Problem> = bodies
        .filter_map(|(k, body)| small(scene, root, k, body))
        .collect();
    warnings.extend(covered_drains(scene, root));
    warnings.extend(other_solver(scene, root));
    warnings
}

/// A pressure solver that steps with bodies in liquid do not use.
fn other_solver<const D: usize>(scene: &Scene<D>, root: &Node) -> Option<Problem> {
    let solver = scene.physics.pressure.solver;
    let used = matches!(solver, Solver::Auto | Solver::TnMg | Solver::Mg);
    if scene.bodies.is_empty() || used {
        return None;
    }
    let table = root.get("solver").and_then(|solver| solver.get("method"));
    let place = table.map_or(Place::Nowhere, |node| node.place);
    let message = format!(
        "\"{solver}\" solves only steps in which no body touches the liquid: multigrid solves pressure and contact together"
    );
    Some(Problem::warning(place, "solver.method", message).with_help("write \"auto\""))
}

/// Keys of walls in a scene in which nothing is wet.
fn walls_without_liquid<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut warnings = Vec::new();
    for (list, count) in [("solid", scene.solids.len()), ("body", scene.bodies.len())] {
        for k in 0..count {
            let table = root.get(list).and_then(|list| list.list().get(k));
            for key in ["wall_kind", "adhesion"] {
                if table.is_some_and(|table| table.get(key).is_some()) {
                    let place = place_of_key(root, list, k, key);
                    let path = join(&format!("{list}[{}]", k + 1), key);
                    let message = "has no effect: the scene has no liquid";
                    warnings.push(Problem::warning(place, path, message).with_help("remove it"));
                }
            }
        }
    }
    warnings
}

/// A body that the grid or the particles hardly resolve.
fn small<const D: usize>(
    scene: &Scene<D>,
    root: &Node,
    k: usize,
    body: &Body<D>,
) -> Option<Problem> {
    let bounds = body.shape.bounds()?;
    let sides = (0..D).map(|axis| bounds.high[axis] - bounds.low[axis]);
    let longest = sides.fold(0.0, f64::max);
    let (size, unit) = match scene.is_projective() {
        true => (scene.particle_spacing(), "spacings of particles"),
        false => (scene.dx(), "cells"),
    };
    let count = longest / size;
    if count >= LEAST_CELLS * (1.0 - 1e-9) {
        return None;
    }
    let message = format!(
        "is {} long, {count:.1} {unit}: liquid around bodies of less than {LEAST_CELLS} {unit} is not resolved, and the force on \
         it is inaccurate",
        length(longest)
    );
    let place = place_of(root, "body", k);
    let path = join(&format!("body[{}]", k + 1), "shape");
    let help = if scene.is_projective() {
        format!(
            "particles.spacing = {} resolves it",
            short(longest / LEAST_CELLS)
        )
    } else {
        let enough = (scene.resolution as f64 * LEAST_CELLS / count - 1e-9).ceil();
        format!("domain.resolution = {enough} resolves it")
    };
    Some(Problem::warning(place, path, message).with_help(help))
}

/// Drains that bodies cover at the start.
fn covered_drains<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    if scene.bodies.is_empty() {
        return Vec::new();
    }
    let mut alone = scene.clone();
    alone.solids.clear();
    let warning = |(i, drain): (usize, &crate::Drain<D>)| {
        let begins = drain.frames.seconds(scene.frame_rate).start;
        let share = measure::share_in_solids(&alone, &drain.shape, begins)?;
        if share <= COVERED {
            return None;
        }
        let message = format!(
            "bodies cover {:.0} % of it at the start: no liquid leaves there while they do",
            100.0 * share
        );
        let place = place_of(root, "drain", i);
        let problem = Problem::warning(place, format!("drain[{}]", i + 1), message);
        Some(problem.with_help("move the body or the drain, unless it is a plug"))
    };
    let drains = scene.drains.iter().enumerate();
    drains.filter_map(warning).collect()
}

/// Facts about bodies in liquid, for people: whether they float, and what they displace at the start.
pub fn notes<const D: usize>(scene: &Scene<D>) -> Vec<String> {
    if !scene.has_liquid() || scene.bodies.is_empty() {
        return Vec::new();
    }
    let unit = if D == 2 { "m² per metre" } else { "m³" };
    let cell = scene.dx().powi(D as i32);
    let mut notes = Vec::new();
    let mut all = 0.0;
    let mut hydrostatics = Hydrostatics::default();
    for body in &scene.bodies {
        let mut facts: Vec<String> = Vec::new();
        if let Some(buoyancy) = hydrostatics.of_body(scene, body) {
            facts.push(in_words(&buoyancy));
        }
        let carved = hydrostatics.carved(scene, body);
        if carved > NOTABLE * cell {
            all += carved;
            facts.push(format!(
                "starts in liquid, of which it displaces {} {unit}",
                short(carved)
            ));
        }
        if !facts.is_empty() {
            notes.push(format!("body {}: {}", body.name, facts.join("; ")));
        }
    }
    if all > 0.0 {
        notes.push(format!(
            "liquid: {} {unit} are left out at the start, where bodies are",
            short(all)
        ));
    }
    notes.push(format!(
        "buoyancy: in liquid of {} kg/m³ that is deep enough, upright as at the start, hollows dry unless liquid starts in them",
        short(scene.physics.density)
    ));
    notes
}

/// Buoyancy in words that follow the name of a body.
fn in_words(buoyancy: &Buoyancy) -> String {
    let ratio = buoyancy.density_ratio;
    let cargo = match buoyancy.cargo {
        0.0 => String::new(),
        kg => format!(" with the {} kg of liquid in it", short(kg)),
    };
    match buoyancy.outcome {
        Outcome::Floats {
            draft,
            height,
            share,
        } if buoyancy.hollow == 0.0 => format!(
            "floats, {:.0} % submerged (draft {} of {})",
            100.0 * share,
            length(draft),
            length(height)
        ),
        Outcome::Floats { draft, height, .. } => {
            let filled = match ratio < 1.0 {
                true => "floats even when it is full",
                false => "sinks when it is full",
            };
            format!(
                "floats{cargo}, {:.0} % of its height submerged (draft {} of {}); {filled}",
                100.0 * draft / height,
                length(draft),
                length(height)
            )
        }
        Outcome::Neutral => "neither floats nor sinks: as dense as the liquid".into(),
        Outcome::Sinks if buoyancy.cargo > 0.0 => format!("sinks{cargo}"),
        Outcome::Sinks => match buoyancy.hollow > 0.0 {
            true => "sinks, even while its hollow is dry".into(),
            false => format!("sinks: {} times as dense as the liquid", short(ratio)),
        },
    }
}
