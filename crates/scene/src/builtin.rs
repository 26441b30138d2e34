//! Built-in scenes: scene files that are part of the program.

use super::AnyScene;
use super::suggest::similar;
use super::text::load;
use meniscus_store::error::Error;
use toml::de::DeTable;

/// Default scene.
pub const FIRST: &str = "thrown-sphere";

macro_rules! scenes {
    ($($name:literal),+ $(,)?) => {
        /// Name and text of every built-in scene, in the order in which they are listed.
        pub const TEXTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../scenes/", $name, ".toml")))),+];
    };
}

scenes![
    "thrown-sphere",
    "faucet",
    "paddle",
    "cup",
    "knot",
    "dam-break",
    "dam-break-2d",
    "box-kick",
    "ceiling-ball",
    "ane17-1",
    "ane17-2",
    "ane17-3",
    "ane17-4",
    "ane17-5",
    "circle",
    "square",
    "maze",
    "sphere",
    "sphere-cuboid",
    "double-sphere",
    "stack",
    "wall",
    "arch",
    "cradle",
    "spinning-top",
    "wheel",
    "bowl-of-balls",
    "dominoes",
    "raft",
    "boat",
    "water-wheel",
    "ducks",
    "cup-on-table",
    "bowl-drop",
    "floating-bowl",
    "pool-45",
    "glass-spheres",
    "pf-dam",
    "pf-double-dam",
    "pf-inlet",
    "pf-cloth",
    "pf-flag",
    "pf-sack",
    "pf-jelly",
    "pf-float",
    "pf-obstacles",
    "rheology-drop",
    "wall-splat",
    "honey-coil",
    "buckling",
    "ketchup",
    "honey-spoon",
    "hemisphere",
    "goo-bowl",
    "goo-pool",
    "rheology-sink",
    "glass-spheres-honey",
];

/// Names of the built-in scenes with inviscid liquid on a grid and without rigid bodies.
pub fn of_liquid_alone() -> impl Iterator<Item = &'static str> {
    let other = [
        "[[body]]",
        "viscosity =",
        "rheology =",
        "preset =",
        "method = \"projective\"",
    ];
    let liquid = move |(_, text): &&(&str, &str)| !other.iter().any(|key| text.contains(key));
    TEXTS.iter().filter(liquid).map(|(name, _)| *name)
}

/// The text of a built-in scene.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The summaries of all built-in scenes by name, in the order in which they are listed. Only this key is read: making the
/// scenes would take seconds, most of them for the distances of meshes.
pub fn summaries() -> impl Iterator<Item = (&'static str, String)> {
    TEXTS.iter().map(|(name, text)| {
        let keys = DeTable::parse(text).ok();
        let summary = keys.as_ref().and_then(|keys| keys.get_ref().get("summary"));
        let summary = summary.and_then(|value| value.get_ref().as_str());
        (*name, summary.unwrap_or_default().to_owned())
    })
}

/// Files that built-in scenes refer to.
pub const ASSETS: &[(&str, &[u8])] = &[
    ("knot.ply", include_bytes!("../scenes/knot.ply")),
    ("hare.ply", include_bytes!("../scenes/hare.ply")),
];

/// The files that the text of a scene refers to.
pub fn assets_of(text: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> + '_ {
    let named = |file: &str| text.contains(&format!("\"{file}\""));
    ASSETS.iter().copied().filter(move |(file, _)| named(file))
}

/// The built-in scene of this name.
///
/// # Errors
/// If there is none; the message suggests similar names.
pub fn named(name: &str) -> Result<AnyScene, Error> {
    if text(name).is_none() {
        return Err(unknown(name));
    }
    let (scene, _) = load(name, &[], false)?.ready()?;
    Ok(scene)
}

/// The error for a name that is not that of a built-in scene.
pub fn unknown(name: &str) -> Error {
    let names: Vec<&str> = TEXTS.iter().map(|(name, _)| *name).collect();
    let remedy = match similar(name, &names) {
        Some(guess) => format!("did you mean {guess}? `meniscus scenes` lists them all"),
        None => {
            "`meniscus scenes` lists them all, `meniscus init` starts a file of your own".into()
        }
    };
    Error::usage(format!("there is no scene named {name:?}")).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure;

    #[test]
    fn every_built_in_scene_is_sound_and_has_no_warnings() {
        assert_eq!(summaries().count(), TEXTS.len());
        for (name, summary) in summaries() {
            let loaded = load(name, &[], false).unwrap();
            assert!(loaded.problems.is_empty(), "{}", loaded.warnings());
            let (scene, _) = loaded.ready().unwrap();
            assert_eq!(scene.name(), name);
            assert_eq!(scene.summary(), summary);
            assert!(!summary.is_empty() && !summary.contains('\n'));
        }
        assert!(text(FIRST).is_some());
    }

    /// In Newton's cradle one ball after the other meets the next, which needs steps shorter than the gaps between them.
    #[test]
    fn only_the_last_ball_of_the_cradle_leaves() {
        let (scene, _) = load("cradle", &[], false).unwrap().ready().unwrap();
        let AnyScene::Three(scene) = scene else {
            panic!("the cradle is in 3D")
        };
        let mut bodies = scene.rigid_bodies().unwrap();
        let balls = scene
            .bodies
            .iter()
            .map(|ball| scene.places()[ball.name.as_str()]);
        let balls: Vec<usize> = balls.collect();
        let start: Vec<[f64; 3]> = balls.iter().map(|&ball| bodies.center(ball)).collect();
        let energy = bodies.energy();
        // A quarter of a swing of the first ball, and half of one of the last.
        let dt = scene.rigid_step();
        for _ in 0..(0.42 / dt) as usize {
            bodies.step(dt).unwrap();
        }
        let speeds: Vec<f64> = balls
            .iter()
            .map(|&ball| bodies.twist(ball).linear[0])
            .collect();
        assert!(speeds[4] > 0.8, "{speeds:?}");
        assert!(speeds[..4].iter().all(|v| v.abs() < 0.02), "{speeds:?}");
        assert!(bodies.center(balls[4])[0] - start[4][0] > 0.1);
        assert!((bodies.energy() / energy - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_misspelt_scene_gets_a_suggestion() {
        for (typed, meant) in [
            ("thrown_sphere", "thrown-sphere"),
            ("dambreak", "dam-break"),
            ("ane17-6", "ane17-"),
            ("Circle", "circle"),
        ] {
            let error = named(typed).unwrap_err();
            assert!(
                error
                    .remedy()
                    .unwrap()
                    .contains(&format!("did you mean {meant}")),
                "{error}"
            );
        }
        let error = named("zzzz").unwrap_err();
        assert!(!error.to_string().contains("did you mean"));
    }

    #[test]
    fn every_built_in_scene_has_liquid_or_gets_some_or_has_bodies_or_cloth() {
        for (name, _) in TEXTS {
            let filled = match named(name).unwrap() {
                AnyScene::Two(s) => {
                    s.is_rigid()
                        || !s.cloth.is_empty()
                        || !s.soft.is_empty()
                        || measure::liquid_volume(&s) > 0.0
                        || !s.emitters.is_empty()
                }
                AnyScene::Three(s) => {
                    s.is_rigid()
                        || !s.cloth.is_empty()
                        || !s.soft.is_empty()
                        || measure::liquid_volume(&s) > 0.0
                        || !s.emitters.is_empty()
                }
            };
            assert!(filled, "{name}");
        }
    }
}
