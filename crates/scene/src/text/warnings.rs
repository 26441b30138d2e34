//! Warnings about a scene that can be run.

use super::assets::Assets;
use super::body_problems;
use super::coupling;
use super::problem::{Place, Problem};
use super::projective;
use super::scale_warnings;
use super::tree::Node;
use super::validate::join;
use super::viscosity;
use super::wet_bodies;
use crate::{Scene, measure, speeds};
use meniscus_liquid::{Physics, Solver};
use meniscus_shapes::{Bounds, Motion, ScriptedSolid, Shape};

/// Cells across the smallest feature that the grid resolves.
const CELLS: f64 = 2.0;
/// Share of a volume of liquid that may be inside solids without a warning.
const LOST: f64 = 0.1;

/// Most steps per frame without a warning.
const MOST_STEPS: f64 = 100.0;

/// Largest tolerance of the pressure solve without a warning, in 1/s.
const LOOSE: f64 = 0.01;

/// All warnings, in the order of the file.
pub fn find<const D: usize>(scene: &Scene<D>, root: &Node, assets: &Assets) -> Vec<Problem> {
    let mut warnings: Vec<Problem> = assets.warnings().to_vec();
    // Bodies are often many of one shape, and rays through a mesh take a while.
    let mut last: Option<(&Shape<D>, Option<f64>)> = None;
    for (list, index, shape) in scene.shapes() {
        let bounds = match list {
            "solid" => swept(&scene.solids[index]),
            "body" => swept(&scene.bodies[index].solid()),
            _ => shape.bounds(),
        };
        let path = format!("{list}[{}]", index + 1);
        let place = place_of(root, list, index);
        // Bodies and what they touch have no cells, and particles none either.
        let needs_thickness = match scene.is_projective() {
            true => list == "solid",
            false => !scene.is_rigid(),
        };
        if needs_thickness {
            let thinnest = match last {
                Some((known, thinnest)) if known == shape => thinnest,
                _ => shape.thinnest(),
            };
            last = Some((shape, thinnest));
            let warn = match scene.is_projective() {
                true => projective::thin,
                false => thin,
            };
            warnings.extend(thinnest.and_then(|t| warn(scene, t, &path, place)));
        }
        warnings.extend(outside(scene, bounds, &path, place));
    }
    warnings.extend(hurried(scene, root));
    warnings.extend(carved(scene, root));
    warnings.extend(idle(scene, root));
    warnings.extend(loose(scene, root));
    warnings.extend(scale_warnings::find(scene, root));
    warnings.extend(wet_bodies::warnings(scene, root));
    warnings.extend(viscosity::warnings(scene, root));
    warnings.extend(coupling::idle(scene, root));
    if !scene.bodies.is_empty() {
        warnings.extend(body_problems::warnings(scene, root));
    }
    warnings
}

/// Liquid so fast that a frame takes very many steps, mostly because of a wrong unit.
fn hurried<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let liquids = scene.liquids.iter().map(|liquid| liquid.velocity);
    let emitters = scene.emitters.iter().map(|emitter| emitter.velocity);
    let liquids = liquids.enumerate().map(|of| ("liquid", of));
    let all = liquids.chain(emitters.enumerate().map(|of| ("emitter", of)));
    let slow_enough = MOST_STEPS * scene.physics.cfl * scene.dx() * scene.frame_rate;
    let warnings = all.filter_map(|(list, (index, velocity))| {
        let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        let table = root.get(list).and_then(|list| list.list().get(index));
        let velocity = table.and_then(|table| table.get("velocity"));
        let steps = MOST_STEPS * speed / slow_enough;
        (steps > MOST_STEPS).then(|| {
            let message = match speed > speeds::FASTEST_PHYSICAL {
                true => format!("a speed of {speed:.1e} m/s is not physical: the run will fail"),
                false => format!("every frame will take about {steps:.0} time steps"),
            };
            let help = format!(
                "velocities are in metres per second; up to {slow_enough:.0} m/s a frame takes at most {MOST_STEPS} steps"
            );
            let path = format!("{list}[{}].velocity", index + 1);
            let place = velocity.map_or(Place::Nowhere, |node| node.place);
            Problem::warning(place, path, message).with_help(help)
        })
    });
    warnings.collect()
}

/// A tolerance so large that the solve leaves the liquid compressible.
fn loose<const D: usize>(scene: &Scene<D>, root: &Node) -> Option<Problem> {
    let tolerance = scene.physics.pressure.tolerance;
    if tolerance <= LOOSE || scene.is_rigid() || scene.is_projective() {
        return None;
    }
    let place = root
        .get("solver")
        .and_then(|solver| solver.get("tolerance"))
        .map_or(Place::Nowhere, |node| node.place);
    let message = format!(
        "liquid may gain or lose {:.0} % of its volume in a second",
        100.0 * tolerance
    );
    let help = format!(
        "the tolerance is a divergence in 1/s; a preview needs no more than {LOOSE}, the default is {:e}",
        Physics::<D>::default().pressure.tolerance
    );
    Some(Problem::warning(place, join("solver", "tolerance"), message).with_help(help))
}

/// Settings of the solver that the method does not use.
fn idle<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let (pressure, usual) = (scene.physics.pressure, Physics::<D>::default().pressure);
    let (levels, usual_levels) = (pressure.fas.levels, usual.fas.levels);
    let has_levels = pressure.solver == Solver::FasMg;
    let is_preconditioned = pressure.solver.is_preconditioned();
    let of_levels = "only \"fas-mg\" does";
    let rules = [
        (
            "inner",
            pressure.inner != usual.inner && pressure.solver != Solver::Newton,
            "only \"newton\" does",
        ),
        (
            "interpolation",
            levels.interpolation != usual_levels.interpolation && !has_levels,
            of_levels,
        ),
        (
            "boundaries",
            levels.boundaries != usual_levels.boundaries && !has_levels,
            of_levels,
        ),
        (
            "coarse",
            levels.coarse != usual_levels.coarse && !has_levels,
            of_levels,
        ),
        (
            "preconditioner",
            pressure.preconditioner != usual.preconditioner && !is_preconditioned,
            "a multigrid cycle is its preconditioner",
        ),
    ];
    let used = |(key, idle, why): (&str, bool, &str)| {
        let place = root
            .get("solver")
            .and_then(|solver| solver.get(key))
            .map_or(Place::Nowhere, |node| node.place);
        let message = format!("has no effect: \"{}\" does not use it", pressure.solver);
        idle.then(|| Problem::warning(place, join("solver", key), message).with_help(why))
    };
    rules.into_iter().filter_map(used).collect()
}

/// Place of the shape of an object.
pub(super) fn place_of(root: &Node, list: &str, index: usize) -> Place {
    let table = root.get(list).and_then(|list| list.list().get(index));
    let Some(table) = table else {
        return Place::Nowhere;
    };
    match table.get("shape").map_or(Place::Nowhere, |s| s.place) {
        Place::Nowhere => table.place,
        place => place,
    }
}

fn thin<const D: usize>(
    scene: &Scene<D>,
    thinnest: f64,
    path: &str,
    place: Place,
) -> Option<Problem> {
    // Tolerance for rounding: exactly two cells are enough.
    if thinnest >= CELLS * scene.dx() * (1.0 - 1e-9) {
        return None;
    }
    let longest = scene.domain.iter().copied().fold(0.0, f64::max);
    let enough = (CELLS * longest / thinnest - 1e-9).ceil();
    let least = meniscus_liquid::least_thickness::<D>() * scene.dx();
    let is_body = path.starts_with("body");
    let true_mass = match is_body {
        true => "; its mass and the volume that it displaces stay true",
        false => "",
    };
    let treated = match path.starts_with("solid") || is_body {
        true if thinnest < least => format!(
            ": liquid sees it {} thick, {} more on either side{true_mass}",
            length(least),
            length(0.5 * (least - thinnest))
        ),
        _ => String::new(),
    };
    let message = format!(
        "is {} thin, less than two cells of {}{treated}",
        length(thinnest),
        length(scene.dx())
    );
    let help = format!(
        "domain.resolution = {enough} holds it; or make it {} thick",
        length(CELLS * scene.dx())
    );
    Some(Problem::warning(place, join(path, "shape"), message).with_help(help))
}

fn outside<const D: usize>(
    scene: &Scene<D>,
    bounds: Option<Bounds<D>>,
    path: &str,
    place: Place,
) -> Option<Problem> {
    let domain = Bounds {
        low: [0.0; D],
        high: scene.domain,
    };
    let apart = bounds?.intersection(&domain).is_empty();
    apart.then(|| {
        Problem::warning(place, path, "is outside the domain at all times").with_help(
            "the domain reaches from the origin to domain.size; move it inside or remove it",
        )
    })
}

/// Bounding box of a solid over all times: around its keyframes, since no path between them overshoots.
fn swept<const D: usize>(body: &ScriptedSolid<D>) -> Option<Bounds<D>> {
    let own = body.shape.bounds()?;
    let Motion::Keyframes { keys, .. } = &body.motion else {
        return Some(own);
    };
    // Turned in any way, it stays within its farthest point of the key's position.
    let reach = own.farthest([0.0; D]);
    let around = keys.iter().fold(Bounds::NOTHING, |all, key| {
        let here = Bounds {
            low: key.position,
            high: key.position,
        };
        all.union(&here.expanded(reach))
    });
    Some(around)
}

/// Liquid that overlaps solids. Containers around the liquid and solids in unbounded liquid are intended; others may not be.
fn carved<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let lost = measure::lost_to_solids(scene);
    for (i, lost) in lost.into_iter().enumerate() {
        let path = format!("liquid[{}]", i + 1);
        let place = place_of(root, "liquid", i);
        if lost.inside == 0.0 && lost.whole > 0.0 {
            let message = "is completely inside solids";
            warnings.push(Problem::warning(place, path, message));
        } else if lost.to_bounded > LOST * lost.whole && scene.liquids[i].shape.bounds().is_some() {
            let message = format!(
                "overlaps solids: {:.1} % of it is left out",
                100.0 * lost.to_bounded / lost.whole
            );
            warnings.push(Problem::warning(place, path, message));
        }
    }
    warnings
}

/// A length in a unit that fits.
pub(super) fn length(metres: f64) -> String {
    if metres < 0.01 {
        format!("{:.3} mm", 1000.0 * metres)
    } else if metres < 1.0 {
        format!("{:.2} cm", 100.0 * metres)
    } else {
        format!("{metres:.3} m")
    }
}
