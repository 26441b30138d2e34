//! Cloth in scene files.

use super::{check, complains};

const ROOM: &str =
    "method = \"projective\"\n[domain]\nsize = [1, 1, 1]\n[particles]\nspacing = 0.05\n";
const SHEET: &str =
    "rectangle = { corner = [0.2, 0.2, 0.5], first = [0.6, 0, 0], second = [0, 0.6, 0] }\n";

#[test]
fn cloth_is_read_with_its_pins() {
    let text = format!(
        "{ROOM}[[cloth]]\nname = \"flag\"\n{SHEET}strain_limit = 0.05\n[[cloth.pins]]\npoint = [0.2, 0.2, 0.5]\n\
         keyframes = [{{ time = 0, position = [0, 0, 0] }}, {{ time = 1, position = [0, 0, 0.1] }}]\n\
         [[cloth.pins]]\nbox = {{ low = [0.8, 0, 0.5], high = [0.8, 1, 0.5] }}\n"
    );
    let loaded = check(&text);
    let Some(crate::AnyScene::Three(scene)) = &loaded.scene else {
        panic!("{:?}", loaded.problems);
    };
    let sheets = scene.sheets();
    // Edges of 0.04 m: 15 squares along each side.
    assert_eq!((sheets.len(), sheets[0].vertices.len()), (1, 256));
    assert_eq!(sheets[0].pins[0].vertices, [0]);
    assert_eq!(sheets[0].pins[1].vertices.len(), 16);
    assert_eq!(sheets[0].strain_limit, Some(0.05));
    assert_eq!(scene.cloth[0].texture(0.05).len(), 256);
    // The complete text says the same.
    let again = check(&loaded.complete);
    let Some(crate::AnyScene::Three(again)) = &again.scene else {
        panic!("{:?}\n{}", again.problems, loaded.complete);
    };
    assert_eq!(again.sheets(), sheets);
}

#[test]
fn mistakes_about_cloth_have_a_place_and_a_remedy() {
    let grid = "[domain]\nsize = [1, 1, 1]\n";
    complains(
        &format!("{grid}[[cloth]]\n{SHEET}"),
        3,
        1,
        "write method = \"projective\"",
    );
    let plane = ROOM.replace("[1, 1, 1]", "[1, 1]");
    let flat = "rectangle = { corner = [0.2, 0.2], first = [0.6, 0], second = [0, 0.6] }\n";
    complains(&format!("{plane}[[cloth]]\n{flat}"), 6, 1, "no cloth in 2D");
    complains(
        &format!("{ROOM}[[cloth]]\n{SHEET}spacing = 0.06\n"),
        8,
        11,
        "coarser than the particles",
    );
    complains(
        &format!("{ROOM}[[cloth]]\n{SHEET}pins = [{{ point = [0.2, 0.2, 0.9] }}]\n"),
        8,
        9,
        "holds no vertex",
    );
    let thin = SHEET.replace("[0, 0.6, 0]", "[0.3, 0, 0]");
    complains(&format!("{ROOM}[[cloth]]\n{thin}"), 7, 13, "has no area");
    let ball = "[[solid]]\nshape = { sphere = { center = [0.5, 0.5, 0.5], radius = 0.1 } }\n";
    complains(
        &format!("{ROOM}[[cloth]]\n{SHEET}{ball}"),
        6,
        1,
        "begins inside a solid",
    );
    let outside = SHEET.replace("corner = [0.2", "corner = [0.6");
    complains(
        &format!("{ROOM}[[cloth]]\n{outside}"),
        6,
        1,
        "outside the domain",
    );
    complains(
        &format!("{ROOM}[[cloth]]\n{SHEET}[[cloth]]\n{SHEET}"),
        8,
        1,
        "shares a place",
    );
    let jacobi = "[projective]\nsolver = \"jacobi\"\n";
    complains(
        &format!("{ROOM}{jacobi}[[cloth]]\n{SHEET}"),
        8,
        1,
        "solver \"dual\" only",
    );
}

#[test]
fn bodies_take_part_in_the_particle_method_but_for_other_solvers_and_cloth() {
    let body = "[[liquid]]\nshape = { box = { low = [0, 0, 0], high = [1, 1, 0.3] } }\n\
                [[body]]\nshape = { sphere = { radius = 0.1 } }\nposition = [0.5, 0.5, 0.8]\ndensity = 500\n";
    let loaded = check(&format!("{ROOM}{body}"));
    let Some(crate::AnyScene::Three(scene)) = &loaded.scene else {
        panic!("{:?}", loaded.problems);
    };
    assert!(scene.is_projective() && !scene.is_coupled() && !scene.is_rigid());
    complains(
        &format!("{ROOM}{body}[[cloth]]\n{SHEET}"),
        8,
        1,
        "which cloth collides with",
    );
    let jacobi = "[projective]\nsolver = \"jacobi\"\n";
    complains(
        &format!("{ROOM}{jacobi}{body}"),
        10,
        1,
        "remove projective.solver",
    );
}
