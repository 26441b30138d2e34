//! Comparison of scenes by the keys that the motion of particles depends on.

use crate::text::differences::{differences, leaves};
use crate::text::grammar::{Effect, Kind, Table, effect_of};
use crate::text::keys::SCENE;
use crate::text::schema::plain;
use crate::text::tree::{Node, parse};
use meniscus_store::quantity::count;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Most keys that a difference shows.
const MOST_KEYS: usize = 12;

/// Hash of a text.
pub fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Hash of all keys that affect physics, with their values.
pub fn physics_hash(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, value) in leaves(text) {
        if effect_of(&SCENE, &path) == Effect::Physics {
            hasher.update(format!("{path} = {value}\n").as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Settings of a scene's text that affect physics, by their keys; objects such as solids are left out.
pub fn physics_settings(text: &str) -> Map<String, Value> {
    fn of_table(node: &Node, table: &Table) -> Map<String, Value> {
        let keys = table.keys.iter().filter(|k| k.effect == Effect::Physics);
        keys.filter_map(|key| {
            let node = node.get(key.name)?;
            let value = match key.kind {
                Kind::Tables(..) => return None,
                Kind::Table(inner) => of_table(node, inner).into(),
                _ => plain(&node.value),
            };
            Some((key.name.into(), value))
        })
        .collect()
    }
    of_table(&parse(text).0, &SCENE)
}

/// The keys that affect physics and differ between the scene of a run and the requested one; `None` if there are none. Lines
/// with `-` are those of the run, lines with `+` the requested ones.
pub fn difference(of_run: &str, asked: &str) -> Option<String> {
    let mut keys = differences(of_run, asked);
    keys.retain(|difference| effect_of(&SCENE, &difference.key) == Effect::Physics);
    let mut text = String::new();
    for difference in keys.iter().take(MOST_KEYS) {
        let key = &difference.key;
        for (sign, value) in [('-', &difference.first), ('+', &difference.second)] {
            if let Some(value) = value {
                let _ = writeln!(text, "  {sign} {key} = {value}");
            }
        }
    }
    if keys.len() > MOST_KEYS {
        let _ = writeln!(text, "  and {}", count(keys.len() - MOST_KEYS, "more key"));
    }
    (!keys.is_empty()).then(|| text.trim_end().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Override, load};
    use crate::{AnyScene, Camera, CameraTrack, Limits, Output};

    /// Paths and examples of all keys of a table and of the tables in it; of lists, those of the first table.
    fn keys(table: &'static Table, path: &str, found: &mut Vec<(String, &'static str)>) {
        for key in table.keys {
            let path = match path {
                "" => key.name.to_string(),
                path => format!("{path}.{}", key.name),
            };
            match key.kind {
                Kind::Table(inner) if key.name != "shape" => keys(inner, &path, found),
                Kind::Tables(inner, _) if !path.contains("keyframes") => {
                    keys(inner, &format!("{path}[1]"), found);
                }
                _ => found.push((path, key.example)),
            }
        }
    }

    /// The scene without everything that does not affect the motion.
    fn physics(scene: &AnyScene) -> AnyScene {
        fn strip<const D: usize>(scene: &crate::Scene<D>) -> crate::Scene<D> {
            let mut scene = scene.clone();
            scene.name.clear();
            scene.summary.clear();
            scene.materials.clear();
            scene.colors.clear();
            for body in &mut scene.bodies {
                (body.material, body.color) = (None, None);
            }
            scene.liquid_color = None;
            scene.frames = 0;
            scene.limits = Limits::default();
            scene.output = Output::default();
            scene.camera = Camera::default();
            scene.camera_track = CameraTrack::default();
            scene
        }
        match scene {
            AnyScene::Two(scene) => strip(scene).into(),
            AnyScene::Three(scene) => strip(scene).into(),
        }
    }

    #[test]
    fn every_key_that_particles_depend_on_refuses_resume_and_no_other_does() {
        let base = load("faucet", &[], false).unwrap();
        let scene = base.scene.clone().unwrap();
        let mut all = Vec::new();
        keys(&SCENE, "", &mut all);
        let (mut refused, mut allowed) = (0, 0);
        for (path, example) in &all {
            let effect = effect_of(&SCENE, path);
            let change = Override::parse(&format!("{path}={example}")).unwrap();
            let changed = load("faucet", &[change], false).unwrap();
            let Some(other) = &changed.scene else {
                // Out of place in this scene; only what matters to the simulation can be.
                assert_ne!(effect, Effect::Output, "{path} = {example}");
                continue;
            };
            if changed.complete == base.complete {
                continue;
            }
            let differs = difference(&base.complete, &changed.complete).is_some();
            assert_eq!(differs, effect == Effect::Physics, "{path} = {example}");
            let same_hash = physics_hash(&base.complete) == physics_hash(&changed.complete);
            assert_eq!(same_hash, !differs, "{path}");
            if physics(&scene) != physics(other) {
                assert!(differs, "particles depend on {path}");
            }
            *(if differs { &mut refused } else { &mut allowed }) += 1;
        }
        assert!(
            refused > 20 && allowed > 15,
            "{refused} {allowed} {}",
            all.len()
        );
    }

    #[test]
    fn a_difference_names_the_keys_and_shows_nothing_else() {
        let old = "name = \"a\"\n[walls]\nkind = \"slip\"\n[time]\nframes = 3\n";
        let new = "name = \"b\"\n[walls]\nkind = \"separating\"\n[time]\nframes = 4\n\
                   [[solid]]\nname = \"x\"\ncolor = \"red\"\n";
        assert_eq!(
            difference(old, new).unwrap(),
            "  - walls.kind = \"slip\"\n  + walls.kind = \"separating\"\n  + solid[1].name = \"x\""
        );
        assert_eq!(difference(old, &old.replace('3', "9")), None);
        assert_ne!(hash(old), hash(new));
        let settings = serde_json::json!({ "walls": { "kind": "slip" }, "time": {} });
        assert_eq!(serde_json::Value::from(physics_settings(old)), settings);
    }
}
