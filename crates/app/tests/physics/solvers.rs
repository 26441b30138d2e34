//! Pressure solvers in the built-in scenes: they agree with each other, and `auto` never fails.

use super::{Known, play};
use meniscus_app::runner::Simulation;
use meniscus_lcp::Status;
use meniscus_liquid::{PressureProblem, Solver, Walls, solvers};
use meniscus_scene::{AnyScene, Scene, builtin};

/// Solves a problem to 1e-10 of its largest divergence with the named solver.
fn solved<const D: usize>(given: &PressureProblem<D>, name: &str) -> Vec<f64> {
    let problem = given.stencil_problem().unwrap();
    let largest = given.rhs.iter().fold(0.0f64, |l, b| l.max(b.abs()));
    let settings = solvers::Settings {
        tolerance: 1e-10 * largest,
        max_iterations: 1000,
        ..solvers::Settings::named(name).unwrap()
    };
    let mut x = vec![0.0; given.rhs.len()];
    let memory = &mut solvers::Workspace::default();
    let solution = solvers::solve(
        &problem.posed().unwrap(),
        &settings,
        &mut x,
        memory,
        &mut (),
    )
    .unwrap();
    let status = solution.report.status;
    assert_eq!(status, Status::Converged, "{name}, {} rows", x.len());
    // Residual recomputed from its definition, row by row.
    for row in 0..x.len() {
        let (columns, values) = given.matrix.row(row);
        let flow: f64 = columns
            .iter()
            .zip(values)
            .map(|(&c, a)| a * x[c as usize])
            .sum();
        let y = flow + given.rhs[row];
        let residual = (x[row] - given.lower[row]).min((x[row] - given.upper[row]).max(y));
        // The order of summation differs from the solver's.
        assert!(residual.abs() <= 1.01e-10 * largest, "{name}: {residual:e}");
    }
    x
}

fn agree_in<const D: usize>(mut scene: Scene<D>, walls: Walls, names: &[&str]) {
    (
        scene.resolution,
        scene.physics.walls,
        scene.physics.pressure.solver,
    ) = (24, walls, Solver::Auto);
    for frame in [2, 9] {
        let problem = Simulation::new(&scene)
            .and_then(|simulation| simulation.problem_of_frame(frame))
            .expect("a pressure problem")
            .downcast::<PressureProblem<D>>()
            .expect("a pressure problem");
        let expected = solved(&problem, "pi-pcg");
        let largest = expected.iter().fold(0.0f64, |l, p| l.max(p.abs()));
        for name in names {
            let found = solved(&problem, name);
            let apart = expected.iter().zip(&found);
            let apart = apart.fold(0.0f64, |l, (p, q)| l.max((p - q).abs()));
            let (scene, rows) = (&scene.name, found.len());
            assert!(
                apart <= 1e-6 * largest,
                "{scene}, frame {frame}, {rows} rows, {name}: {apart:e} apart, of {largest:e}"
            );
        }
    }
}

fn agree_everywhere<const D: usize>(walls: Walls, names: &[&str])
where
    Scene<D>: Known,
{
    for name in builtin::of_liquid_alone() {
        let any = builtin::named(name).expect("a built-in scene");
        if let Some(scene) = Scene::<D>::from_any(any) {
            agree_in(scene, walls, names);
        }
    }
}

const SEPARATING: [&str; 8] = [
    "tn-mg", "pi-mg", "pe-pcg", "pe-mg", "newton", "mprgp-mg", "fas-mg", "auto",
];
const LINEAR: [&str; 5] = ["tn-mg", "mg", "mg-pcg", "cg", "auto"];

#[test]
fn solvers_agree_in_all_2d_scenes() {
    agree_everywhere::<2>(Walls::Separating, &SEPARATING);
    agree_everywhere::<2>(Walls::Slip, &LINEAR);
}

#[test]
fn solvers_agree_in_all_3d_scenes() {
    agree_everywhere::<3>(Walls::Separating, &SEPARATING);
    agree_everywhere::<3>(Walls::Slip, &LINEAR);
}

/// Simulates all frames of a scene and fails if a step can't be solved.
fn auto_lasts_in<const D: usize>(mut scene: Scene<D>, resolution: usize) {
    (scene.resolution, scene.physics.pressure.solver) = (resolution, Solver::Auto);
    let (name, mut steps, mut replaced) = (scene.name.clone(), 0, 0);
    play(
        &scene,
        scene.frames,
        |step| {
            steps += 1;
            let pressure = &step.solves[0];
            replaced += usize::from(pressure.solver.contains("after"));
            assert!(
                pressure.unknowns == 0 || pressure.status == Status::Converged,
                "{name}, step {steps}: {}",
                pressure.status
            );
        },
        |_, _| {},
    );
    println!("{name} at {resolution} cells: {steps} steps, {replaced} by a substitute");
}

fn auto_lasts(resolution: usize) {
    for name in builtin::of_liquid_alone() {
        match builtin::named(name).expect("a built-in scene") {
            AnyScene::Two(scene) => auto_lasts_in(scene, resolution),
            AnyScene::Three(scene) => auto_lasts_in(scene, resolution),
        }
    }
}

#[test]
#[ignore = "long: all frames of all scenes"]
fn auto_never_fails_at_32_cells() {
    auto_lasts(32);
}

#[test]
#[ignore = "long: all frames of all scenes"]
fn auto_never_fails_at_64_cells() {
    auto_lasts(64);
}

#[test]
#[ignore = "long: all frames of all scenes"]
fn auto_never_fails_at_96_cells() {
    auto_lasts(96);
}
