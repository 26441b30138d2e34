//! Viscosity in scene files.

use super::{check, complains};
use crate::AnyScene;
use crate::viscosity::PRESETS;
use meniscus_liquid::Walls;

const DOMAIN: &str = "[domain]\nsize = [1, 1, 1]\n[[liquid]]\n";
const SHAPE: &str = "shape = { sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 } }\n";

fn with(keys: &str) -> String {
    format!("{DOMAIN}{keys}{SHAPE}")
}

#[test]
fn bad_viscosities_are_refused_where_they_are_written() {
    for (keys, line, column, what) in [
        ("viscosity = -1\n", 4, 13, "is -1, it must be"),
        ("viscosity = inf\n", 4, 13, "is inf, it must be"),
        ("viscosity = nan\n", 4, 13, "it must be"),
        ("viscosity = 1e9\n", 4, 13, "it must be"),
        ("viscosity = \"honey\"\n", 4, 13, "must be a number"),
        ("preset = \"hony\"\n", 4, 10, "did you mean \"honey\"?"),
        (
            "preset = \"honey\"\nviscosity = 10\n",
            4,
            10,
            "a liquid has one viscosity",
        ),
        (
            "viscosity = 3\nrheology = { consistency = 10 }\n",
            5,
            12,
            "a liquid has one viscosity",
        ),
        (
            "rheology = { flow_index = 0, consistency = 1 }\n",
            4,
            27,
            "is 0, it must be above 0",
        ),
        (
            "rheology = { flow_index = -1, consistency = 1 }\n",
            4,
            27,
            "it must be",
        ),
        (
            "rheology = { smallest_rate = 0, consistency = 1 }\n",
            4,
            30,
            "it must be",
        ),
        ("rheology = { yield_stress = -3 }\n", 4, 29, "it must be"),
        ("rheology = {}\n", 4, 12, "no viscosity at all"),
        ("viscosity = 1\n", 4, 13, "1 for water?"),
    ] {
        complains(&with(keys), line, column, what);
    }
}

#[test]
fn liquids_of_different_density_are_refused_and_one_density_cures_it() {
    let second = format!("[[liquid]]\npreset = \"water\"\n{SHAPE}");
    let text = format!("{}{second}", with("preset = \"honey\"\n"));
    complains(
        &text,
        7,
        10,
        "liquids of different density are not simulated",
    );
    let cured = check(&format!("density = 1200\n{text}"));
    assert!(cured.scene.is_some(), "{:?}", cured.problems);
    let text = format!(
        "density = 1000\n{}",
        with("density = 1100\nviscosity = 5\n")
    );
    complains(&text, 5, 11, "the scene has 1000");
}

#[test]
fn walls_that_need_viscosity_are_refused_without_it() {
    complains(
        &format!("{}[walls]\nkind = \"stick\"\n", with("")),
        6,
        8,
        "only viscous liquid sticks",
    );
    let solid = "[[solid]]\nshape = { sphere = { center = [0.2, 0.2, 0.2], radius = 0.1 } }\n";
    complains(
        &format!("{}{solid}wall_kind = \"stick\"\n", with("")),
        7,
        13,
        "only viscous liquid sticks",
    );
    complains(
        &format!("{}[walls]\nadhesion = 5\n", with("")),
        6,
        12,
        "has no effect",
    );
    complains(
        &format!("{}[walls]\nadhesion = 5\n", with("viscosity = 5\n")),
        7,
        12,
        "has no effect",
    );
}

#[test]
fn schemes_that_a_scene_cannot_have_are_refused() {
    let body = "[[body]]\nshape = { sphere = { radius = 0.1 } }\nposition = [0.2, 0.2, 0.2]\ndensity = 900\n";
    for (viscosity, bodies, scheme, said) in [
        ("viscosity = 5\n", body, "unified", None),
        ("viscosity = 5\n", body, "pc-vc-pc", None),
        ("viscosity = 5\n", body, "pv-c", None),
        ("viscosity = 5\n", body, "c-pv", None),
        ("viscosity = 5\n", body, "iterative", None),
        ("viscosity = 5\n", "", "pc-vc-pc", None),
        ("viscosity = 5\n", body, "p-c", Some("leaves out viscosity")),
        ("viscosity = 5\n", body, "c-p", Some("leaves out viscosity")),
        ("viscosity = 5\n", "", "pv-c", Some("about contacts")),
        ("viscosity = 5\n", "", "iterative", Some("about contacts")),
        ("", body, "pv-c", Some("no liquid has viscosity")),
        ("", body, "pc-vc-pc", Some("no liquid has viscosity")),
    ] {
        let coupling = format!("[coupling]\nscheme = \"{scheme}\"\n");
        let loaded = check(&format!("{}{bodies}{coupling}", with(viscosity)));
        let messages: Vec<&str> = loaded.problems.iter().map(|p| &p.message[..]).collect();
        match said {
            Some(said) => {
                let told = messages.iter().any(|m| m.contains(said));
                assert!(told && loaded.scene.is_none(), "{scheme}: {messages:?}");
            }
            None => assert!(messages.is_empty(), "{scheme}: {messages:?}"),
        }
    }
    let solver = format!(
        "{}{body}[coupling]\nsolver = \"sor-mprgp\"\n",
        with("viscosity = 5\n")
    );
    let loaded = check(&solver);
    assert!(loaded.scene.is_none(), "{:?}", loaded.problems);
}

#[test]
fn viscous_scenes_stick_to_walls_have_the_density_of_their_preset_and_read_back_the_same() {
    for preset in PRESETS {
        let loaded = check(&with(&format!("preset = \"{}\"\n", preset.name)));
        assert!(
            loaded.problems.is_empty(),
            "{}: {:?}",
            preset.name,
            loaded.problems
        );
        let again = check(&loaded.complete);
        let (Some(AnyScene::Three(scene)), Some(AnyScene::Three(again))) =
            (&loaded.scene, &again.scene)
        else {
            panic!("{}: {:?}", preset.name, again.problems);
        };
        assert_eq!(scene.physics, again.physics);
        assert_eq!(scene.liquids, again.liquids);
        assert_eq!(scene.physics.walls, Walls::Stick);
        assert_eq!(scene.physics.density, preset.density);
        assert_eq!(scene.settings().physics.materials, [preset.rheology]);
        assert!(scene.is_viscous() && !scene.is_coupled());
    }
    let loaded = check(&format!(
        "{}[walls]\nkind = \"separating\"\n",
        with("viscosity = 5\n")
    ));
    let Some(AnyScene::Three(scene)) = loaded.scene else {
        panic!("{:?}", loaded.problems);
    };
    let physics = scene.settings().physics;
    assert_eq!(physics.walls, Walls::Separating);
    // The weight of a cell per area.
    assert!((physics.adhesion - 1000.0 * 9.81 / 64.0).abs() < 1e-9);
}

#[test]
fn without_viscosity_nothing_changes() {
    let (plain, zero) = (check(&with("")), check(&with("viscosity = 0\n")));
    let (Some(AnyScene::Three(plain)), Some(AnyScene::Three(zero))) = (plain.scene, zero.scene)
    else {
        panic!("both are sound");
    };
    assert_eq!(plain.settings(), zero.settings());
    assert!(!zero.is_viscous() && zero.settings().physics.materials.is_empty());
    assert_eq!(zero.physics.walls, Walls::Separating);
}
