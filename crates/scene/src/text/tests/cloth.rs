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
    assert_eq!(scene.moving_meshes()[0].texture.coordinates.len(), 256);
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
        "holds none of its vertices",
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
fn bodies_take_part_in_the_particle_method_but_for_other_solvers() {
    let body = "[[liquid]]\nshape = { box = { low = [0, 0, 0], high = [1, 1, 0.3] } }\n\
                [[body]]\nshape = { sphere = { radius = 0.1 } }\nposition = [0.5, 0.5, 0.8]\ndensity = 500\n";
    let loaded = check(&format!("{ROOM}{body}"));
    let Some(crate::AnyScene::Three(scene)) = &loaded.scene else {
        panic!("{:?}", loaded.problems);
    };
    assert!(scene.is_projective() && !scene.is_coupled() && !scene.is_rigid());
    assert!(
        check(&format!("{ROOM}{body}[[cloth]]\n{SHEET}"))
            .scene
            .is_some()
    );
    let jacobi = "[projective]\nsolver = \"jacobi\"\n";
    complains(
        &format!("{ROOM}{jacobi}{body}"),
        10,
        1,
        "remove projective.solver",
    );
}

#[test]
fn soft_bodies_and_thin_walls_are_read() {
    let text = format!(
        "{ROOM}[[soft]]\nshape = {{ sphere = {{ center = [0.5, 0.5, 0.3], radius = 0.15 }} }}\npoisson_ratio = 0.4\n\
         [[shell]]\n{SHEET}keyframes = [{{ time = 0, position = [0, 0, 0] }}, {{ time = 1, position = [0, 0, 0.1] }}]\n"
    );
    let loaded = check(&text);
    let Some(crate::AnyScene::Three(scene)) = &loaded.scene else {
        panic!("{:?}", loaded.problems);
    };
    let [soft, shell] = &scene.sheets()[..] else {
        panic!("two meshes");
    };
    assert!(!soft.tetrahedra.is_empty() && soft.surface_vertices() < soft.vertices.len());
    assert_eq!(
        (soft.stretch, soft.poisson_ratio, soft.density),
        (2e4, 0.4, 1000.0)
    );
    assert_eq!(shell.pins[0].vertices.len(), shell.vertices.len());
    assert_eq!(scene.moving_meshes()[0].vertices, soft.surface_vertices());
    let again = check(&loaded.complete);
    let Some(crate::AnyScene::Three(again)) = &again.scene else {
        panic!("{:?}\n{}", again.problems, loaded.complete);
    };
    assert_eq!(again.sheets(), scene.sheets());
}

#[test]
fn mistakes_about_soft_bodies_have_a_place_and_a_remedy() {
    let soft = |rest: &str| format!("{ROOM}[[soft]]\n{rest}");
    let ball = "shape = { sphere = { center = [0.5, 0.5, 0.3], radius = 0.15 } }\n";
    complains(
        &soft(&format!("{ball}poisson_ratio = 0.5\n")),
        8,
        17,
        "at most 0.49",
    );
    complains(
        &soft(&format!("{ball}spacing = 0.06\n")),
        8,
        11,
        "coarser than the particles",
    );
    let half = "shape = { half_space = { point = [0, 0, 0.3], normal = [0, 0, 1] } }\n";
    complains(&soft(half), 7, 9, "unbounded");
    let thin = "shape = { sphere = { center = [0.5, 0.5, 0.3], radius = 0.005 } }\n";
    complains(&soft(thin), 7, 9, "no room for tetrahedra");
    let plane = ROOM.replace("[1, 1, 1]", "[1, 1]");
    let disc = "[[soft]]\nshape = { sphere = { center = [0.5, 0.5], radius = 0.1 } }\n";
    complains(&format!("{plane}{disc}"), 6, 1, "no soft bodies in 2D");
    complains(
        &format!(
            "{ROOM}[projective]\nboundary = \"particles\"\ncoordinates = \"differential\"\n[[soft]]\n{ball}"
        ),
        8,
        15,
        "no meaning but for the solver",
    );
}
