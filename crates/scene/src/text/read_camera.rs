//! The camera of a scene file, and colours.

use super::problem::Problem;
use super::read::Reader;
use super::tree::Node;
use super::validate::join;
use super::values::{color, components, number, text};
use crate::{Camera, CameraTrack, Color};
use meniscus_shapes::{Ease, Keyframe, Motion, Rotation};

impl Reader<'_> {
    pub(super) fn camera<const D: usize>(&mut self, table: &Node) -> Camera<D> {
        self.keys_of_dimension::<D>(table, "camera");
        let camera = Camera {
            position: table.get("position").map(components),
            target: table.get("target").map(components),
            field_of_view: table.get("field_of_view").and_then(Node::number),
            height: table.get("height").and_then(Node::number),
        };
        if camera.position.is_some() && camera.position == camera.target {
            let place = table.get("target").map_or(table.place, |node| node.place);
            let message = "is where the camera stands: it looks nowhere";
            self.problems
                .push(Problem::error(place, "camera.target", message));
        }
        camera
    }

    /// Complains of keys that a camera has in the other dimension only.
    fn keys_of_dimension<const D: usize>(&mut self, table: &Node, path: &str) {
        let plane = ["position", "field_of_view"].map(|key| (key, D == 2, "height"));
        let space = [("height", D == 3, "field_of_view")];
        for (key, refused, instead) in plane.into_iter().chain(space) {
            if let Some(node) = table.get(key).filter(|_| refused) {
                let message = format!(
                    "a scene in {} dimensions has no such key",
                    ["two", "three"][D - 2]
                );
                let help = format!("write `target` and `{instead}`");
                let problem = Problem::error(node.place, join(path, key), message);
                self.problems.push(problem.with_help(help));
            }
        }
    }

    /// How the camera moves.
    pub(super) fn camera_track<const D: usize>(
        &mut self,
        table: &Node,
        rate: f64,
    ) -> CameraTrack<D> {
        let Some(list) = table.get("keyframes") else {
            return CameraTrack::default();
        };
        let path = "camera.keyframes";
        // What does not fit the grammar would only be said twice.
        if self.problems.iter().any(|p| p.path.starts_with(path)) {
            return CameraTrack::default();
        }
        for (i, key) in list.list().iter().enumerate() {
            self.keys_of_dimension::<D>(key, &format!("{path}[{}]", i + 1));
            let (position, target) = (key.get("position"), key.get("target"));
            let target = target.or(table.get("target"));
            if let (Some(position), Some(target)) = (position, target)
                && components::<D>(position) == components::<D>(target)
            {
                let message = "is where the camera stands: it looks nowhere";
                let at = format!("{path}[{}].target", i + 1);
                self.problems.push(Problem::error(key.place, at, message));
            }
        }
        let lens = if D == 2 { "height" } else { "field_of_view" };
        let mut track = |name: &str| self.camera_motion(list, table, name, rate);
        CameraTrack {
            position: track("position"),
            target: track("target"),
            lens: track(lens),
        }
    }

    /// The motion of one thing that all keyframes set; none if none does.
    fn camera_motion<const D: usize>(
        &mut self,
        list: &Node,
        table: &Node,
        name: &str,
        rate: f64,
    ) -> Option<Motion<D>> {
        let keys = list.list();
        let set = keys.iter().filter(|key| key.get(name).is_some()).count();
        if set == 0 {
            return None;
        }
        let path = "camera.keyframes";
        if set < keys.len() {
            let missing = keys.iter().position(|key| key.get(name).is_none())?;
            let message = format!("has no `{name}`, which other keyframes have");
            let at = format!("{path}[{}]", missing + 1);
            self.problems
                .push(Problem::error(keys[missing].place, at, message));
            return None;
        }
        let value = |key: &Node| match key.get(name).map(|node| (node, node.number())) {
            Some((_, Some(x))) => [x; D],
            Some((node, None)) => components(node),
            None => [f64::NAN; D],
        };
        let motion = Motion::Keyframes {
            keys: keys
                .iter()
                .map(|key| Keyframe {
                    time: match key.get("frame") {
                        Some(_) => number(key, "frame") / rate,
                        None => number(key, "time"),
                    },
                    position: value(key),
                    rotation: Rotation::IDENTITY,
                })
                .collect(),
            ease: match text(table, "ease") {
                "linear" => Ease::Linear,
                _ => Ease::Smooth,
            },
        };
        match motion.validate() {
            Ok(()) => Some(motion),
            Err(fault) => {
                let at = fault.key().and_then(|key| keys.get(key));
                let place = at.map_or(list.place, |key| key.place);
                self.problems
                    .push(Problem::error(place, path, fault.to_string()));
                None
            }
        }
    }

    /// The colour of the liquid, which all liquids and emitters that have one share.
    pub(super) fn liquid_color(&mut self, root: &Node) -> Option<Color> {
        let mut found: Option<Color> = None;
        for list in ["liquid", "emitter"] {
            let tables = root.get(list).map_or(&[][..], Node::list);
            for (i, table) in tables.iter().enumerate() {
                let Some(node) = table.get("color") else {
                    continue;
                };
                let Ok(this) = color(node) else { continue };
                match found {
                    Some(other) if other != this => {
                        let path = join(&format!("{list}[{}]", i + 1), "color");
                        let message = format!("is {this}, another liquid is {other}");
                        let help = "liquids mix, and particles don't know where they came from: give all of them \
                                    the same colour";
                        self.problems
                            .push(Problem::error(node.place, path, message).with_help(help));
                    }
                    _ => found = Some(this),
                }
            }
        }
        found
    }
}
