//! Cameras from the command line.

use super::assets::Assets;
use super::load::load_text;
use super::overrides::Override;
use crate::dimension::either;
use crate::{AnyScene, Camera};
use meniscus_store::error::Error;

/// The camera of `--camera KEY=VALUE` in 2D.
///
/// # Errors
/// If there is no such key, or its value does not fit.
pub fn flat_camera(typed: &[Override]) -> Result<Camera<2>, Error> {
    match scene_with("[0.5, 0.5]", "[1, 1]", typed)? {
        AnyScene::Two(scene) => Ok(scene.camera),
        AnyScene::Three(_) => Ok(Camera::default()),
    }
}

/// The camera of `--camera KEY=VALUE` in 3D.
///
/// # Errors
/// If there is no such key, or its value does not fit.
pub fn spatial_camera(typed: &[Override]) -> Result<Camera<3>, Error> {
    match scene_with("[0.5, 0.5, 0.5]", "[1, 1, 1]", typed)? {
        AnyScene::Three(scene) => Ok(scene.camera),
        AnyScene::Two(_) => Ok(Camera::default()),
    }
}

/// The smallest scene with that camera: its errors are reported as those of any scene.
fn scene_with(middle: &str, size: &str, typed: &[Override]) -> Result<AnyScene, Error> {
    let text = format!(
        "[domain]\nsize = {size}\n[[liquid]]\nshape.sphere = {{ center = {middle}, radius = 0.3 }}\n"
    );
    let loaded = load_text("camera", &text, "camera", typed, Assets::built_in());
    let (scene, _) = loaded.ready()?;
    if either!(&scene, scene => !scene.camera_track.is_empty()) {
        let message = "--camera places one camera for all frames: keyframes belong in the scene";
        return Err(Error::usage(message));
    }
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::load_alone;
    use crate::{Material, Style};

    const POOL: &str = "[domain]\nsize = [1, 1, 1]\n[[liquid]]\n\
                        shape = { sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 } }\n";

    fn typed(words: &[&str]) -> Vec<Override> {
        let change = |word: &&str| Override::parse(&format!("camera.{word}")).unwrap();
        words.iter().map(change).collect()
    }

    #[test]
    fn a_camera_is_read_from_files_and_from_the_command_line() {
        let text = format!(
            "{POOL}[camera]\nposition = [1, -2, 0.5]\nfield_of_view = 40\n[output]\npreview_style = \"particles\"\n"
        );
        let loaded = load_alone(&text);
        let again = load_alone(&loaded.complete);
        let AnyScene::Three(scene) = loaded.ready().unwrap().0 else {
            panic!("it is in space")
        };
        assert_eq!(again.ready().unwrap().0, AnyScene::Three(scene.clone()));
        assert_eq!(scene.output.preview_style, Style::Particles);
        assert_eq!(scene.camera.position, Some([1.0, -2.0, 0.5]));
        let other = spatial_camera(&typed(&["target=[0,0,1]", "field_of_view=50"])).unwrap();
        let both = other.or(&scene.camera);
        assert_eq!(both.position, scene.camera.position);
        assert_eq!(both.target, Some([0.0, 0.0, 1.0]));
        assert_eq!(both.field_of_view, Some(50.0));
        assert_eq!(spatial_camera(&[]).unwrap(), Camera::default());
        let flat = flat_camera(&typed(&["target=[0,1]", "height=2"])).unwrap();
        assert_eq!((flat.target, flat.height), (Some([0.0, 1.0]), Some(2.0)));
    }

    #[test]
    fn invalid_cameras_are_refused() {
        for (words, expected) in [
            (&["height=1"][..], "three dimensions"),
            (&["position=[1,1]"], "one for each axis"),
            (&["field_of_view=180"], "at most 150"),
            (&["field_of_view=nan"], "field_of_view"),
            (&["zoom=3"], "no key `zoom`"),
            (&["position=[1,1,1]", "target=[1,1,1]"], "looks nowhere"),
        ] {
            let error = spatial_camera(&typed(words)).unwrap_err();
            assert!(error.message().contains(expected), "{words:?}: {error}");
        }
        for words in [["position=[1,1]"], ["field_of_view=30"]] {
            let error = flat_camera(&typed(&words)).unwrap_err();
            assert!(error.message().contains("two dimensions"), "{error}");
        }
    }

    #[test]
    fn a_camera_moves_by_keyframes() {
        let keys = "[camera]\nfield_of_view = 30\nease = \"linear\"\nkeyframes = [\n\
                    { time = 0, position = [2, 0, 1], target = [0.5, 0.5, 0.5] },\n\
                    { frame = 24, position = [0, 2, 1], target = [0.5, 0.5, 0.7] } ]\n";
        let loaded = load_alone(&format!("{POOL}{keys}"));
        let again = load_alone(&loaded.complete).ready().unwrap().0;
        let AnyScene::Three(scene) = loaded.ready().unwrap().0 else {
            panic!("it is in space")
        };
        assert_eq!(again, AnyScene::Three(scene.clone()));
        let at = |time: f64| scene.camera_track.at(time).or(&scene.camera);
        assert_eq!(at(-1.0).position, Some([2.0, 0.0, 1.0]));
        assert_eq!(at(0.5).position, Some([1.0, 1.0, 1.0]));
        assert_eq!(at(9.0).target, Some([0.5, 0.5, 0.7]));
        assert_eq!(at(0.5).field_of_view, Some(30.0));
        for (wrong, expected) in [
            ("keyframes = []", "at least 1"),
            ("keyframes = [{ position = [1, 1, 1] }]", "time"),
            ("keyframes = [{ time = 0, height = 1 }]", "three dimensions"),
            (
                "keyframes = [{ time = 0, position = [1, 1, 1] }, { time = 1, target = [0, 0, 0] }]",
                "which other keyframes have",
            ),
            (
                "keyframes = [{ time = 1, position = [1, 1, 1] }, { time = 0, position = [2, 1, 1] }]",
                "camera.keyframes",
            ),
            (
                "keyframes = [{ time = 0, position = [1, 1, 1], target = [1, 1, 1] }]",
                "looks nowhere",
            ),
        ] {
            let error = load_alone(&format!("{POOL}[camera]\n{wrong}\n"))
                .ready()
                .unwrap_err();
            assert!(error.message().contains(expected), "{wrong}: {error}");
        }
        let key = "keyframes=[{time=0,position=[1,1,1]}]";
        let error = spatial_camera(&typed(&[key])).unwrap_err();
        assert!(error.message().contains("belong in the scene"), "{error}");
    }

    #[test]
    fn colours_are_read_and_invalid_ones_refused() {
        let solid = "[[solid]]\nshape = { sphere = { radius = 0.1 } }\n";
        let text = format!(
            "{POOL}color = [1, 0.5, 0]\n{solid}color = \"#102030\"\n{solid}color = \"red\"\n{solid}"
        );
        let loaded = load_alone(&text);
        let again = load_alone(&loaded.complete).ready().unwrap().0;
        let AnyScene::Three(scene) = loaded.ready().unwrap().0 else {
            panic!("it is in space")
        };
        assert_eq!(again, AnyScene::Three(scene.clone()));
        assert_eq!(scene.liquid_color.unwrap().rgb(), [255, 128, 0]);
        assert_eq!(scene.colors[0].unwrap().rgb(), [16, 32, 48]);
        assert!(scene.colors[1].is_some() && scene.colors[2].is_none());
        for (value, expected) in [
            ("\"orang\"", "did you mean \"orange\"?"),
            ("\"#12345\"", "six hexadecimal digits"),
            ("[1, 2, 0]", "from 0 to 1"),
            ("[1, 0]", "must be a colour"),
            ("3", "must be a colour"),
        ] {
            let error = load_alone(&format!("{POOL}color = {value}\n"))
                .ready()
                .unwrap_err();
            assert!(error.message().contains(expected), "{value}: {error}");
        }
        let two = format!(
            "{POOL}color = \"red\"\n{}color = \"blue\"\n",
            &POOL[POOL.find("[[").unwrap()..]
        );
        let error = load_alone(&two).ready().unwrap_err();
        assert!(error.message().contains("liquids mix"), "{error}");
    }

    #[test]
    fn solids_keep_their_materials() {
        let solid = "[[solid]]\nshape = { sphere = { radius = 0.1 } }\n";
        let text =
            format!("{POOL}{solid}{solid}material = \"glass\"\n{solid}material = \"stone\"\n");
        let AnyScene::Three(scene) = load_alone(&text).ready().unwrap().0 else {
            panic!("it is in space")
        };
        let expected = [None, Some(Material::Glass), Some(Material::Stone)];
        assert_eq!(scene.materials, expected);
        let wrong = load_alone(&text.replace("stone", "wood")).ready();
        assert!(wrong.unwrap_err().message().contains("wood"));
    }
}
