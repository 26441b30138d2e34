//! The camera, materials and colours in scene files: their keys, and how they are read.

use super::grammar::{Effect, Key, Kind, OPTIONAL, Range, Table, key};
use super::objects::{Reader, ease, frame, keyframe_time, time};
use super::problem::Problem;
use super::tree::Node;
use super::validate::join;
use super::values::{color, components};
use crate::{Camera, CameraTrack, Color, Material, Scene};
use meniscus_shapes::{Keyframe, Motion, Rotation};

const POSITION: Key = key!("position": Kind::Vector("m"), OPTIONAL, Appearance, "[1.5, -2, 0.8]",
    "Position of the camera, in 3D.");
const TARGET: Key = key!("target": Kind::Vector("m"), OPTIONAL, Appearance, "[0.5, 0.5, 0.4]",
    "Point in the middle of the picture.");
const FIELD_OF_VIEW: Key = key!("field_of_view": Kind::Number(Range::between(1.0, 150.0), "degrees"), OPTIONAL, Appearance,
    "40", "Angle of view along the shorter side of the picture, in 3D. Default: 27.");
const HEIGHT: Key = key!("height": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Appearance, "0.5",
    "Height of the visible part of the scene, in 2D.");

/// The camera.
pub static CAMERA: Table = Table {
    title: "the camera",
    about: "Camera of `preview.gif` and of the pictures of `meniscus preview`. Without a key, the camera is placed so that \
            it sees all solids and liquid, and looks at their centre. It does not change the motion.",
    keys: &[
        POSITION,
        TARGET,
        FIELD_OF_VIEW,
        HEIGHT,
        key!("keyframes": Kind::Tables(&CAMERA_KEYFRAME, 1), OPTIONAL, Appearance,
            "[{ time = 0, position = [1.5, -2, 0.8] }, { time = 1, position = [-1.5, -2, 0.8] }]",
            "Motion of the camera. It rests before the first and after the last keyframe; keys that the keyframes don't set \
             stay as they are above."),
        ease(Effect::Appearance),
    ],
    one_of: &[],
};

static CAMERA_KEYFRAME: Table = Table {
    title: "a keyframe of the camera",
    about: "The camera at a time, in seconds or in frames. All keyframes must set the same keys.",
    keys: &[
        time(Effect::Appearance),
        frame(Effect::Appearance),
        POSITION,
        TARGET,
        FIELD_OF_VIEW,
        HEIGHT,
    ],
    one_of: &["time", "frame"],
};

/// Colour of a solid.
pub const SOLID_COLOR: Key = key!("color": Kind::Color, OPTIONAL, Appearance, "\"orange\"",
    "Colour in pictures. Default: grey for stone, clear for glass.");
/// Colour of a rigid body.
pub const BODY_COLOR: Key = key!("color": Kind::Color, OPTIONAL, Appearance, "\"orange\"",
    "Colour in pictures. Default: bodies take turns with a few colours.");
/// Colour of a liquid or of what emits it.
pub const LIQUID_COLOR: Key = key!("color": Kind::Color, OPTIONAL, Appearance, "\"#c8641e\"",
    "Colour of the liquid in pictures. Liquids mix: where several have a colour it must be the same. Default: that of water.");
/// Material of a solid.
pub const MATERIAL: Key = key!("material": Kind::Word(Material::WORDS), OPTIONAL, Appearance, "\"glass\"",
    "Material in pictures. Default: glass for containers, shells and shapes more hollow than solid, stone for all others.");

const NOWHERE: &str = "is the position of the camera: it looks nowhere";

impl Reader<'_> {
    pub(super) fn camera<const D: usize>(&mut self, scene: &mut Scene<D>, table: &Node) {
        self.keys_of_dimension::<D>(table, "camera");
        let camera = Camera {
            position: table.get("position").map(components),
            target: table.get("target").map(components),
            field_of_view: table.get("field_of_view").and_then(Node::number),
            height: table.get("height").and_then(Node::number),
        };
        if camera.position.is_some() && camera.position == camera.target {
            let place = table.get("target").map_or(table.place, |node| node.place);
            self.error(place, "camera.target", NOWHERE);
        }
        scene.camera = camera;
        scene.camera_track = self.camera_track(table, scene.frame_rate);
    }

    /// Reports keys that a camera has in the other dimension only.
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

    fn camera_track<const D: usize>(&mut self, table: &Node, rate: f64) -> CameraTrack<D> {
        let Some(list) = table.get("keyframes") else {
            return CameraTrack::default();
        };
        let path = "camera.keyframes";
        // What does not fit the grammar has been reported.
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
                self.error(key.place, format!("{path}[{}].target", i + 1), NOWHERE);
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

    /// The motion of one property; `None` if no keyframe sets it.
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
            self.error(keys[missing].place, at, message);
            return None;
        }
        let value = |key: &Node| match key.get(name).map(|node| (node, node.number())) {
            Some((_, Some(x))) => [x; D],
            Some((node, None)) => components(node),
            None => [f64::NAN; D],
        };
        let keys = keys.iter().map(|key| Keyframe {
            time: keyframe_time(key, rate),
            position: value(key),
            rotation: Rotation::IDENTITY,
        });
        self.keyframes(keys.collect(), list, table, path)
    }

    /// The colour of the liquid, which all liquids and emitters that have one share.
    pub(super) fn liquid_color(&mut self, found: &mut Option<Color>, list: &Node, key: &str) {
        for (i, table) in list.list().iter().enumerate() {
            let Some(node) = table.get("color") else {
                continue;
            };
            let Ok(this) = color(node) else { continue };
            match *found {
                Some(other) if other != this => {
                    let path = format!("{key}[{}].color", i + 1);
                    let message = format!("is {this}, another liquid is {other}");
                    let help = "liquids mix, and particles don't keep the colour of their source: give all of them the \
                                same colour";
                    self.problems
                        .push(Problem::error(node.place, path, message).with_help(help));
                }
                _ => *found = Some(this),
            }
        }
    }
}
