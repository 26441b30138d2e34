//! Warnings about implausible sizes and places: emitters inside solids, meshes in other units, and scenes so small that
//! surface tension would dominate.

use super::problem::{Place, Problem};
use super::tree::Node;
use super::validate::join;
use super::warnings::{length, place_of};
use crate::{Scene, measure, meshes};

/// Share of an emitter that may be inside solids without a warning.
const COVERED: f64 = 0.1;
/// A mesh this many times as large as the domain, or as small, is in another unit.
const OTHER_UNIT: f64 = 10.0;
/// Surface tension of water against air, in N/m.
const SURFACE_TENSION: f64 = 0.072;
/// Liquids of fewer capillary lengths across than this are shaped by surface tension as much as by gravity.
const CAPILLARY_LENGTHS: f64 = 5.0;

/// All of these warnings, in the order of the file.
pub fn find<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut warnings = covered_emitters(scene, root);
    warnings.extend(other_units(scene, root));
    warnings.extend(capillary(scene, root));
    warnings
}

/// Emitters inside solids.
fn covered_emitters<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let warnings = scene
        .emitters
        .iter()
        .enumerate()
        .filter_map(|(i, emitter)| {
            let begins = emitter.frames.seconds(scene.frame_rate).start;
            let share = measure::share_in_solids(scene, &emitter.shape, begins)?;
            let message = if share >= 1.0 {
                "is inside solids: it emits no liquid".into()
            } else if share > COVERED {
                format!(
                    "overlaps solids: {:.0} % of it emit no liquid",
                    100.0 * share
                )
            } else {
                return None;
            };
            let place = place_of(root, "emitter", i);
            let path = format!("emitter[{}]", i + 1);
            Some(Problem::warning(place, path, message).with_help("move it into the open"))
        });
    warnings.collect()
}

/// Meshes whose unit is probably not the metre.
fn other_units<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let domain = scene.domain.iter().copied().fold(0.0, f64::max);
    let mut warnings = Vec::new();
    for (list, i, shape) in scene.shapes() {
        let sizes = meshes::in_shape(shape).into_iter().map(|mesh| {
            let bounds = mesh.bounds();
            (0..3)
                .map(|a| bounds.high[a] - bounds.low[a])
                .fold(0.0, f64::max)
        });
        let size = sizes.fold(0.0, f64::max);
        let times = size / domain;
        let (how, scale) = if times > OTHER_UNIT {
            (format!("{times:.0} times as large as"), power_of_ten(times))
        } else if size > 0.0 && times < 1.0 / OTHER_UNIT / OTHER_UNIT {
            (
                format!("{:.0} times as small as", 1.0 / times),
                power_of_ten(times),
            )
        } else {
            continue;
        };
        let message = format!(
            "its mesh is {} across, {how} the domain: forgot `scale`?",
            length(size)
        );
        let place = place_of(root, list, i);
        let path = join(&format!("{list}[{}]", i + 1), "shape");
        let help = format!(
            "one unit of the file is a metre; write scale = {scale} in the mesh, or what it should be"
        );
        warnings.push(Problem::warning(place, path, message).with_help(help));
    }
    warnings
}

/// The scale that brings a mesh to about the size of the domain.
fn power_of_ten(times: f64) -> f64 {
    let exponent = -times.log10().ceil();
    // Rounded, so that it reads as people write it.
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// Liquid so small that surface tension, which is not simulated, would shape it.
fn capillary<const D: usize>(scene: &Scene<D>, root: &Node) -> Option<Problem> {
    let gravity = scene.physics.gravity_magnitude();
    if gravity == 0.0 {
        return None;
    }
    let capillary = (SURFACE_TENSION / (scene.physics.density * gravity)).sqrt();
    let end = scene.time_of_frame(scene.frames);
    let emitted = scene.emitters.iter().map(|emitter| {
        let active = emitter.frames.seconds(scene.frame_rate);
        measure::emission_rate(scene, emitter) * (active.end.min(end) - active.start).max(0.0)
    });
    let across = |volume: f64| volume.powf(1.0 / D as f64);
    let is_large = |volume: f64| across(volume) >= CAPILLARY_LENGTHS * capillary;
    let start = measure::liquid_volume(scene);
    if is_large(start) {
        return None;
    }
    let volume = start + emitted.sum::<f64>();
    if volume == 0.0 || is_large(volume) {
        return None;
    }
    let size = across(volume);
    let place = root
        .get("domain")
        .and_then(|domain| domain.get("size"))
        .map_or(Place::Nowhere, |size| size.place);
    let message = format!(
        "the liquid is about {} across: at this size surface tension, which is not simulated, would shape it",
        length(size)
    );
    let help = format!(
        "the capillary length of water is {} here; scenes should be many times larger, and lengths are in metres",
        length(capillary)
    );
    Some(Problem::warning(place, "domain.size", message).with_help(help))
}
