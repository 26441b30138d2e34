//! The scenes that come with the program.

mod ane17;
mod dam_break;
mod lai20;
mod sticking;
mod thrown_sphere;

use super::AnyScene;
use crate::error::Error;

/// The scene that runs when none is named.
pub const FIRST: &str = "thrown-sphere";

/// All built-in scenes, in the order in which they are listed.
pub fn all() -> Vec<AnyScene> {
    let mut scenes = vec![thrown_sphere::scene().into()];
    scenes.extend([
        dam_break::in_space().into(),
        dam_break::in_the_plane().into(),
    ]);
    scenes.extend(sticking::scenes().map(AnyScene::from));
    scenes.extend(ane17::scenes().map(AnyScene::from));
    scenes.extend(lai20::plane_scenes().map(AnyScene::from));
    scenes.extend(lai20::space_scenes().map(AnyScene::from));
    scenes
}

/// The built-in scene of this name.
///
/// # Errors
/// If there is none; the message has the names that look like it.
pub fn named(name: &str) -> Result<AnyScene, Error> {
    let scenes = all();
    let names: Vec<&str> = scenes.iter().map(AnyScene::name).collect();
    match names.iter().position(|known| *known == name) {
        Some(found) => Ok(scenes
            .into_iter()
            .nth(found)
            .expect("the position is from the same list")),
        None => {
            let remedy = match similar(name, &names) {
                Some(guess) => format!("did you mean {guess}? `meniscus scenes` lists them all"),
                None => "`meniscus scenes` lists them all".into(),
            };
            Err(Error::usage(format!("there is no scene named {name:?}")).with_remedy(remedy))
        }
    }
}

/// The word of a list that a misspelt one was most likely meant to be.
fn similar<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    const ALIKE: f64 = 0.7;
    let word = word.to_lowercase().replace('_', "-");
    let likeness = |other: &str| strsim::jaro_winkler(&word, other);
    let best = known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > ALIKE).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_built_in_scene_is_sound_and_has_its_own_name() {
        let mut names = HashSet::new();
        for scene in all() {
            scene.check().unwrap();
            assert!(
                names.insert(scene.name().to_string()),
                "{} twice",
                scene.name()
            );
            assert!(!scene.summary().is_empty() && !scene.summary().contains('\n'));
        }
        assert!(names.contains(FIRST));
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
    fn no_liquid_starts_inside_a_solid_alone() {
        for scene in all() {
            let share = match &scene {
                AnyScene::Two(s) => open_share(s),
                AnyScene::Three(s) => open_share(s),
            };
            assert!(
                share > 0.005,
                "{}: {share} of the domain is liquid",
                scene.name()
            );
        }
    }

    /// The share of the domain that is liquid and not solid at the start, from a lattice of points.
    fn open_share<const D: usize>(scene: &super::super::Scene<D>) -> f64 {
        const SIDE: usize = 40;
        let scenery = scene.scenery();
        let points = SIDE.pow(D as u32);
        let open = (0..points).filter(|&point| {
            let x = std::array::from_fn(|axis| {
                let step = point / SIDE.pow(axis as u32) % SIDE;
                scene.domain[axis] * (step as f64 + 0.5) / SIDE as f64
            });
            scene.liquid_distance(x) < 0.0 && scenery.distance(x, 0.0) > 0.0
        });
        open.count() as f64 / points as f64
    }
}
