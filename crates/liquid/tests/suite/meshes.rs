//! Meshes are solids and liquids like any others: a ball of triangles against the ball itself.

#[path = "../../../shapes/tests/properties/icosphere.rs"]
mod icosphere;

use crate::common::{mean, run, tank};
use icosphere::icosphere;
use meniscus_liquid::{Liquid, PressureProblem, Settings};
use meniscus_shapes::{
    Ease, Keyframe, Motion, Rotation, ScriptedSolid, Shape, Solids, TriangleMesh,
};
use std::collections::HashMap;
use std::sync::Arc;

fn ball(center: [f64; 3], radius: f64) -> Shape<3> {
    Shape::Sphere { center, radius }
}

fn mesh_ball(center: [f64; 3], radius: f64, times: usize) -> Shape<3> {
    let (vertices, triangles) = icosphere(center, radius, times);
    let (mesh, report) = TriangleMesh::new(&vertices, &triangles).unwrap();
    assert!(report.warnings().is_empty(), "{:?}", report.warnings());
    Shape::Mesh(Arc::new(mesh))
}

#[test]
fn a_mesh_sphere_and_an_analytic_sphere_give_the_same_face_fractions_within_a_hundredth_of_a_cell()
{
    let problem = |shape: Shape<3>| -> PressureProblem<3> {
        let settings = Settings::<3>::new([24; 3], 1.0 / 24.0);
        let mut solids = tank(&settings);
        solids.list.push(ScriptedSolid::still("ball", shape));
        let mut liquid = Liquid::new(settings).unwrap();
        liquid.fill(&|x| x[2] - 0.72, &|_| [0.0; 3], &solids);
        liquid.pressure_problem(&solids, 0.01).unwrap()
    };
    let (center, radius) = ([0.513, 0.487, 0.451], 0.283);
    let exact = problem(ball(center, radius));
    let meshed = problem(mesh_ball(center, radius, 7));
    let rows: HashMap<_, _> = meshed.cells.iter().zip(&meshed.faces).collect();
    let (mut common, mut cut) = (0, 0);
    for (cell, faces) in exact.cells.iter().zip(&exact.faces) {
        let Some(others) = rows.get(cell) else {
            continue;
        };
        common += 1;
        for (face, other) in faces.iter().flatten().zip(others.iter().flatten()) {
            cut += usize::from(face.open > 0.0 && face.open < 1.0);
            assert!(
                (face.open - other.open).abs() < 0.01,
                "{} and {} at {cell:?}",
                face.open,
                other.open
            );
        }
    }
    assert!(cut > 1000, "{cut} faces are cut");
    assert!(exact.cells.len() - common < 10 && meshed.cells.len() - common < 10);
}

#[test]
fn water_in_the_shape_of_a_mesh_runs_around_a_moving_mesh_as_around_a_sphere() {
    let results = |water: Shape<3>, solid: Shape<3>| {
        let settings = Settings::<3>::new([20; 3], 1.0 / 20.0);
        let mut solids: Solids<3> = tank(&settings);
        let key = |time: f64, x: f64, turn: f64| Keyframe {
            time,
            position: [x, 0.5, 0.2],
            rotation: Rotation::from_axis_angle([0.0, 0.0, 1.0], turn),
        };
        solids.list.push(ScriptedSolid {
            name: "ball".into(),
            shape: solid,
            motion: Motion::Keyframes {
                keys: vec![key(0.0, 0.35, 0.0), key(0.5, 0.65, 2.0)],
                ease: Ease::Linear,
            },
        });
        let mut liquid = Liquid::new(settings).unwrap();
        liquid.fill(&|x| water.distance(x), &|_| [0.0; 3], &solids);
        let filled = liquid.volume(&solids);
        run(&mut liquid, &solids, 0.5, |_, _| {});
        let place: [f64; 3] = std::array::from_fn(|a| mean(&liquid.particles().position, a));
        (
            liquid.particles().len(),
            filled,
            liquid.volume(&solids),
            place,
        )
    };
    let (center, radius) = ([0.5, 0.52, 0.64], 0.3);
    let exact = results(ball(center, radius), ball([0.0; 3], 0.15));
    let meshed = results(mesh_ball(center, radius, 4), mesh_ball([0.0; 3], 0.15, 4));
    let ratio = |a: f64, b: f64| (a / b - 1.0).abs();
    assert!(exact.0 > 5000);
    assert!(
        ratio(meshed.0 as f64, exact.0 as f64) < 0.01,
        "{meshed:?} {exact:?}"
    );
    assert!(ratio(meshed.1, exact.1) < 0.01, "{meshed:?} {exact:?}");
    assert!(ratio(meshed.2, exact.2) < 0.02, "{meshed:?} {exact:?}");
    for axis in 0..3 {
        let apart = (meshed.3[axis] - exact.3[axis]).abs();
        assert!(apart < 0.01, "axis {axis}: {meshed:?} {exact:?}");
    }
}
