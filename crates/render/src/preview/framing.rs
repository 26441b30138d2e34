//! Framing: the region that an image shows, solids and liquid without empty space, the same for all frames.

use super::sphere_tracing::{hollow_bounds, is_inverted};
use meniscus_scene::Scene;
use meniscus_shapes::{Bounds, Motion, ScriptedSolid};

/// Number of times at which moving solids are sampled.
const TIMES: u32 = 64;
/// Fraction of a side of the domain from which the whole side is shown.
const MOST_OF_A_SIDE: f64 = 0.5;
/// Margin, as a fraction of the longest side.
const MARGIN: f64 = 0.06;

/// Region of interest of a scene before it is simulated: its containers, or else its solids, the initial liquid and some
/// space for it to move.
pub fn of_scene<const D: usize>(scene: &Scene<D>) -> Bounds<D> {
    if let Some(inside) = containers(scene) {
        return finished(scene, inside, false);
    }
    let mut shown = solids(scene);
    if scene.is_rigid() {
        return finished(scene, shown, true);
    }
    let liquids = scene.liquids.iter().map(|volume| &volume.shape);
    for shape in liquids.chain(scene.emitters.iter().map(|emitter| &emitter.shape)) {
        let bounds = shape.bounds().unwrap_or(domain(scene));
        shown = shown.union(&bounds.intersection(&domain(scene)));
    }
    let longest = longest_side(&shown);
    finished(scene, shown.expanded(longest), true)
}

/// Region of interest of a run whose particles are all within `liquid`.
pub fn of_run<const D: usize>(scene: &Scene<D>, liquid: &Bounds<D>) -> Bounds<D> {
    match containers(scene) {
        Some(inside) => finished(scene, inside, false),
        None => finished(scene, solids(scene).union(liquid), true),
    }
}

/// Clips to the domain. With `walls`, those of the domain contain the liquid: then there is a margin, a side that is mostly
/// visible is shown completely, and the floor is shown if it is close.
fn finished<const D: usize>(scene: &Scene<D>, shown: Bounds<D>, walls: bool) -> Bounds<D> {
    let whole = domain(scene);
    let mut shown = shown.intersection(&whole);
    if shown.is_empty() || !shown.is_finite() {
        return whole;
    }
    let longest = longest_side(&shown);
    if walls {
        shown = shown.expanded(MARGIN * longest);
    }
    for axis in 0..D {
        let side = scene.domain[axis];
        if walls && shown.high[axis] - shown.low[axis] >= MOST_OF_A_SIDE * side {
            (shown.low[axis], shown.high[axis]) = (0.0, side);
        }
    }
    let up = D - 1;
    if walls && shown.low[up] < longest {
        shown.low[up] = 0.0;
    }
    match walls {
        true => shown.intersection(&whole),
        false => shown,
    }
}

fn domain<const D: usize>(scene: &Scene<D>) -> Bounds<D> {
    Bounds {
        low: [0.0; D],
        high: scene.domain,
    }
}

fn longest_side<const D: usize>(bounds: &Bounds<D>) -> f64 {
    let sides = (0..D).map(|i| bounds.high[i] - bounds.low[i]);
    sides.fold(0.0, f64::max)
}

/// Bounding box of all containers at all times; `None` if there are none, or they are unbounded.
fn containers<const D: usize>(scene: &Scene<D>) -> Option<Bounds<D>> {
    let mut inside: Option<Bounds<D>> = None;
    for body in scene.solids.iter().filter(|b| is_inverted(&b.shape)) {
        let own = hollow_bounds(&body.shape).filter(Bounds::is_finite)?;
        let swept = swept(body, own, scene);
        inside = Some(inside.map_or(swept, |other| other.union(&swept)));
    }
    inside
}

/// Bounding box of all bounded solids.
fn solids<const D: usize>(scene: &Scene<D>) -> Bounds<D> {
    let mut all = Bounds::NOTHING;
    for body in &scene.all_solids() {
        if let Some(own) = body.shape.bounds().filter(Bounds::is_finite) {
            all = all.union(&swept(body, own, scene));
        }
    }
    all.intersection(&domain(scene))
}

/// Bounding box of a solid during all frames.
fn swept<const D: usize>(body: &ScriptedSolid<D>, own: Bounds<D>, scene: &Scene<D>) -> Bounds<D> {
    let end = scene.time_of_frame(scene.frames);
    let times = match body.motion {
        Motion::Still => 0..=0,
        Motion::Keyframes { .. } => 0..=TIMES,
    };
    times
        .map(|k| {
            let time = end * f64::from(k) / f64::from(TIMES);
            own.placed(&body.motion.world_from_body(time))
        })
        .fold(Bounds::NOTHING, |all, there| all.union(&there))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_scene::Volume;
    use meniscus_shapes::Shape;

    fn ball(domain: f64) -> Scene<3> {
        let mut scene = Scene::new("ball", "", [domain; 3], 32);
        scene.liquids.push(Volume::at_rest(Shape::Sphere {
            center: [domain / 2.0, domain / 2.0, 0.3],
            radius: 0.2,
        }));
        scene
    }

    #[test]
    fn an_empty_domain_is_cropped_and_a_full_one_is_not() {
        let small = of_scene(&ball(1.0));
        assert_eq!((small.low, small.high), ([0.0; 3], [1.0; 3]));
        let huge = of_scene(&ball(100.0));
        assert!(longest_side(&huge) < 3.0, "{huge:?}");
        assert!(huge.contains([50.0, 50.0, 0.0]) && huge.contains([50.2, 49.8, 0.5]));
        let liquid = Bounds {
            low: [49.0, 49.5, 0.0],
            high: [51.0, 50.5, 0.4],
        };
        let run = of_run(&ball(100.0), &liquid);
        assert!(run.contains(liquid.low) && run.contains(liquid.high));
        assert!(longest_side(&run) < 2.5, "{run:?}");
    }

    #[test]
    fn moving_solids_are_framed_over_their_whole_path() {
        let meniscus_scene::AnyScene::Three(scene) =
            meniscus_scene::builtin::named("thrown-sphere").unwrap()
        else {
            panic!("a 3D scene")
        };
        let shown = of_scene(&scene);
        for frame in 0..=scene.frames {
            let glass = &scene.solids[0];
            let pose = glass.motion.world_from_body(scene.time_of_frame(frame));
            let own = hollow_bounds(&glass.shape).unwrap().placed(&pose);
            for axis in 0..3 {
                let middle = 0.5 * (own.low[axis] + own.high[axis]);
                for side in [-0.139, 0.139] {
                    let x = middle + side;
                    assert!((shown.low[axis]..shown.high[axis]).contains(&x), "{frame}");
                }
            }
        }
    }
}
