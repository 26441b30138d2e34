//! The multigrid solver against policy iteration, and its guarantees.

use crate::common::advance;
use crate::grids::{Dice, Grid, Scene, Sphere, build, from_faces, random};
use meniscus_lcp::methods::policy;
use meniscus_lcp::precondition::{Jacobi, Mic0};
use meniscus_lcp::{Blocks, Csr, InputError, Report, Status};
use meniscus_liquid::multigrid::{self, Cycle, Settings, Workspace};
use meniscus_liquid::stencil::StencilProblem;
use meniscus_liquid::{Coord, Liquid, Solver, Walls};
use meniscus_shapes::{Motion, ScriptedSolid, Shape, Solids};

fn solve<const D: usize>(grid: &Grid<D>, relative: f64, x: &mut [f64]) -> Report {
    let settings = Settings {
        tolerance: relative * grid.largest(),
        ..Default::default()
    };
    let mut workspace = Workspace::default();
    multigrid::solve(
        &grid.stencil().posed().unwrap(),
        &settings,
        x,
        &mut workspace,
        &mut (),
    )
    .unwrap()
}

/// Policy iteration, which shares nothing with multigrid but the problem.
pub fn by_policy<const D: usize>(grid: &Grid<D>, relative: f64) -> Vec<f64> {
    let mut x = vec![0.0; grid.len()];
    let mut mic = Mic0::default();
    mic.rebuild(&grid.matrix, &Blocks::single(grid.len()))
        .unwrap();
    let settings = policy::Settings::default().tolerance(relative * grid.largest());
    let mut workspace = policy::Workspace::default();
    let report = policy::solve(
        &grid.problem(),
        &settings,
        &mut mic,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    assert_eq!(report.status, Status::Converged);
    x
}

fn assert_agrees<const D: usize>(grid: &Grid<D>, what: &str) -> usize {
    let mut x = vec![0.0; grid.len()];
    let report = solve(grid, 1e-10, &mut x);
    assert_eq!(report.status, Status::Converged, "{what}: {report:?}");
    let expected = by_policy(grid, 1e-10);
    let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    for (row, (x, y)) in x.iter().zip(&expected).enumerate() {
        assert!(
            (x - y).abs() <= 1e-6 * largest,
            "{what}: row {row} is {x}, not {y}"
        );
    }
    report.iterations
}

fn cycles<const D: usize>(grid: &Grid<D>) -> usize {
    let report = solve(grid, 1e-6, &mut vec![0.0; grid.len()]);
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(report.residual <= 1e-6 * grid.largest());
    report.iterations
}

#[test]
fn the_sphere_problem_has_the_known_size() {
    let grid = build::<3>(&Sphere::default(), 32);
    assert_eq!((grid.len(), grid.wall_rows()), (7320, 1996));
}

#[test]
fn it_agrees_with_policy_iteration_on_spheres_of_any_size() {
    for n in [16, 17, 23, 32] {
        assert_agrees(
            &build::<3>(&Sphere::default(), n),
            &format!("sphere of {n}"),
        );
    }
    for n in [16, 31, 48, 97] {
        assert_agrees(
            &build::<2>(&Sphere::default(), n),
            &format!("circle of {n}"),
        );
    }
    let wave = Sphere {
        wave: true,
        thin: None,
    };
    assert_agrees(&build::<3>(&wave, 24), "waves");
    assert_agrees(&build::<2>(&wave, 48), "waves in 2D");
}

#[test]
fn it_agrees_with_policy_iteration_with_thin_solids() {
    for thickness in [0.8, 1.0, 1.5] {
        let thin = |n: usize| Sphere {
            wave: false,
            thin: Some(thickness / n as f64),
        };
        assert_agrees(&build::<3>(&thin(32), 32), "plate and shell");
        assert_agrees(&build::<2>(&thin(64), 64), "plate and shell in 2D");
    }
}

#[test]
fn it_agrees_with_policy_iteration_on_random_liquids() {
    for seed in 0..6 {
        let what = format!("random {seed}");
        let fill = [1.0, 0.95, 0.7, 0.4, 0.98, 0.2][seed as usize];
        assert_agrees(&random([19, 17, 13], fill, 0.3, seed), &what);
        assert_agrees(&random([61, 47], fill, 0.2, seed), &format!("{what} in 2D"));
    }
}

#[test]
fn the_sphere_takes_few_cycles() {
    for n in [32, 64] {
        let cycles = cycles(&build::<3>(&Sphere::default(), n));
        assert!(cycles <= 10, "{cycles} cycles at {n}");
    }
    for n in [64, 256] {
        let cycles = cycles(&build::<2>(&Sphere::default(), n));
        assert!(cycles <= 12, "{cycles} cycles at {n} in 2D");
    }
}

#[test]
fn where_cells_fall_into_coarse_ones_does_not_matter() {
    for n in 32..40 {
        let cycles = cycles(&build::<3>(&Sphere::default(), n));
        assert!(cycles <= 10, "{cycles} cycles at {n}");
    }
}

#[test]
fn thin_solids_take_no_more_than_twenty_cycles() {
    for n in [32, 48, 50, 64] {
        let thin = Sphere {
            wave: false,
            thin: Some(1.0 / n as f64),
        };
        let cycles = cycles(&build::<3>(&thin, n));
        assert!(cycles <= 20, "{cycles} cycles at {n}");
    }
}

#[test]
fn slip_walls_are_a_linear_problem_that_takes_few_cycles() {
    let mut grid = build::<3>(&Sphere::default(), 48);
    grid.lower.fill(f64::NEG_INFINITY);
    assert!(cycles(&grid) <= 8);
    assert_agrees(&grid, "slip");
}

#[test]
fn a_warm_start_takes_fewer_cycles() {
    let mut grid = build::<3>(&Sphere::default(), 48);
    let mut x = vec![0.0; grid.len()];
    let cold = solve(&grid, 1e-6, &mut x).iterations;
    for (k, b) in grid.rhs.iter_mut().enumerate() {
        *b *= 1.0 + 0.01 * (0.1 * k as f64).sin();
    }
    let warm = solve(&grid, 1e-6, &mut x).iterations;
    assert!(warm < cold, "{warm} after {cold}");
    assert_eq!(solve(&grid, 2e-6, &mut x).iterations, 0);
}

#[test]
fn the_result_has_the_same_bits_for_any_number_of_threads() {
    let thin = Sphere {
        wave: true,
        thin: Some(1.0 / 128.0),
    };
    let grid = build::<3>(&thin, 128);
    // Sixteen chunks of 2048 make two tasks, also of the level above.
    assert!(grid.len() > 8 * 16 * 2048, "too small to be shared");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut x = vec![0.0; grid.len()];
        let report = pool.install(|| solve(&grid, 1e-9, &mut x));
        (x, report)
    };
    let one = with(1);
    for threads in [2, 4] {
        assert!(with(threads) == one, "{threads} threads differ from one");
    }
}

#[test]
fn the_order_of_rows_does_not_change_the_bits() {
    let grid = build::<3>(&Sphere::default(), 24);
    let mut x = vec![0.0; grid.len()];
    let report = solve(&grid, 1e-8, &mut x);
    // Backwards.
    let n = grid.len();
    let back = |row: usize| n - 1 - row;
    let mut entries = Vec::new();
    for row in 0..n {
        let (columns, values) = grid.matrix.row(row);
        for (&c, &v) in columns.iter().zip(values) {
            entries.push((back(row) as u32, back(c as usize) as u32, v));
        }
    }
    let reverse = |values: &[f64]| values.iter().rev().copied().collect::<Vec<_>>();
    let reversed = Grid {
        matrix: Csr::from_entries(n, entries).unwrap(),
        rhs: reverse(&grid.rhs),
        lower: reverse(&grid.lower),
        upper: reverse(&grid.upper),
        cells: grid.cells.iter().rev().copied().collect(),
    };
    let mut y = vec![0.0; n];
    assert_eq!(solve(&reversed, 1e-8, &mut y).iterations, report.iterations);
    assert!(reverse(&y) == x);
}

#[test]
fn units_do_not_change_the_number_of_cycles() {
    let grid = build::<3>(&Sphere::default(), 32);
    let expected = cycles(&grid);
    for (matrix, rhs) in [(1e-9, 1.0), (1e12, 1e-20), (1.0, 1e30), (1e-30, 1e-30)] {
        let (starts, columns, values) = grid.matrix.clone().into_parts();
        let scaled = Grid {
            matrix: Csr::new(
                grid.len(),
                starts,
                columns,
                values.iter().map(|v| v * matrix).collect(),
            )
            .unwrap(),
            rhs: grid.rhs.iter().map(|b| b * rhs).collect(),
            lower: grid.lower.clone(),
            upper: grid.upper.clone(),
            cells: grid.cells.clone(),
        };
        assert_eq!(
            cycles(&scaled),
            expected,
            "matrix times {matrix}, rhs times {rhs}"
        );
    }
}

#[test]
fn held_rows_stay_where_they_are_held() {
    let mut grid = build::<2>(&Sphere::default(), 32);
    let held = grid.len() / 3;
    (grid.lower[held], grid.upper[held]) = (2.5, 2.5);
    let mut x = vec![0.0; grid.len()];
    let report = solve(&grid, 1e-9, &mut x);
    assert_eq!(report.status, Status::Converged);
    assert_eq!(x[held], 2.5);
    assert_agrees(&grid, "a held row");
}

#[test]
fn a_pocket_with_a_held_row_is_solved() {
    // A closed box: the mean of the right-hand side is zero and a row is held.
    let size = 20;
    let cells = (0..size * size).map(|k| [k / size, k % size]).collect();
    let inside = move |cell: Coord<2>| cell.iter().all(|&c| (0..size).contains(&c));
    let mut dice = Dice(7);
    let mut grid = from_faces::<2>(cells, |low, high| {
        (
            if inside(low) && inside(high) {
                1.0
            } else {
                0.0
            },
            1.0,
            dice.roll() - 0.5,
        )
    });
    let mean = grid.rhs.iter().sum::<f64>() / grid.len() as f64;
    grid.rhs.iter_mut().for_each(|b| *b -= mean);
    grid.lower.fill(f64::NEG_INFINITY);
    (grid.lower[0], grid.upper[0]) = (0.0, 0.0);
    let report = solve(&grid, 1e-8, &mut vec![0.0; grid.len()]);
    assert_eq!(report.status, Status::Converged, "{report:?}");
}

#[test]
fn tiny_problems_are_solved() {
    let none = from_faces::<3>(vec![], |_, _| (1.0, 1.0, 0.0));
    let report = solve(&none, 1e-8, &mut []);
    assert_eq!((report.status, report.iterations), (Status::Converged, 0));
    for velocity in [1.0, -1.0] {
        let one = from_faces::<2>(vec![[5, -3]], |low, _| {
            (
                if low == [5, -3] { 0.5 } else { 1.0 },
                1.0,
                velocity * low[0] as f64,
            )
        });
        assert_agrees(&one, "one cell");
        let droplets = (0..200).map(|k| [7 * (k % 20), 5 * (k / 20)]).collect();
        let apart = from_faces::<2>(droplets, |low, _| (0.7, 0.5, velocity * low[0] as f64));
        assert_agrees(&apart, "droplets");
    }
    let line = from_faces::<3>((0..500).map(|k| [3, 1, k]).collect(), |low, _| {
        (1.0, 1.0, (low[2] as f64).sin())
    });
    assert_agrees(&line, "a line");
}

#[test]
fn what_it_cannot_solve_it_says() {
    // A closed box into which something pushes: no pressure helps.
    let grid = {
        let inside = |cell: Coord<2>| cell.iter().all(|&c| (0..12).contains(&c));
        let cells = (0..144).map(|k| [k / 12, k % 12]).collect();
        let mut grid = from_faces::<2>(cells, |low, high| {
            (
                if inside(low) && inside(high) {
                    1.0
                } else {
                    0.0
                },
                1.0,
                0.0,
            )
        });
        grid.rhs.fill(-1.0);
        grid
    };
    let mut x = vec![0.0; grid.len()];
    let settings = Settings {
        tolerance: 1e-6,
        max_iterations: 60,
        ..Default::default()
    };
    let mut workspace = Workspace::default();
    let report = multigrid::solve(
        &grid.stencil().posed().unwrap(),
        &settings,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    assert_ne!(report.status, Status::Converged);
    assert!(x.iter().all(|p| p.is_finite()));
    assert!(report.residual > 1e-6);

    let grid = build::<2>(&Sphere::default(), 32);
    let few = Settings {
        tolerance: 1e-9,
        max_iterations: 2,
        ..Default::default()
    };
    let mut x = vec![0.0; grid.len()];
    let report = multigrid::solve(
        &grid.stencil().posed().unwrap(),
        &few,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    assert_eq!(
        (report.status, report.iterations),
        (Status::IterationLimit, 2)
    );
}

#[test]
fn broken_contracts_are_errors() {
    let grid = build::<2>(&Sphere::default(), 16);
    let mut workspace = Workspace::default();
    let mut x = vec![0.0; grid.len()];
    let settings = Settings::default();
    let mut refused = |cells: &[Coord<2>], x: &mut [f64], settings: &Settings| {
        let stencil = match StencilProblem::from_matrix(&grid.problem(), cells) {
            Ok(stencil) => stencil,
            Err(fault) => return fault,
        };
        let problem = stencil.posed().unwrap();
        multigrid::solve(&problem, settings, x, &mut workspace, &mut ()).unwrap_err()
    };
    let few = &grid.cells[1..];
    assert!(matches!(
        refused(few, &mut x, &settings),
        InputError::Length { what: "cells", .. }
    ));
    let mut twice = grid.cells.clone();
    twice[1] = twice[0];
    assert!(matches!(
        refused(&twice, &mut x, &settings),
        InputError::Structure { .. }
    ));
    let mut elsewhere = grid.cells.clone();
    elsewhere[40] = [100, 100];
    assert!(matches!(
        refused(&elsewhere, &mut x, &settings),
        InputError::Structure { .. }
    ));
    let mut nan = x.clone();
    nan[3] = f64::NAN;
    let error = refused(&grid.cells, &mut nan, &settings);
    assert!(matches!(
        error,
        InputError::NotFinite {
            what: "x",
            index: 3
        }
    ));
    let none = Settings {
        sweeps: 0,
        ..settings
    };
    assert!(matches!(
        refused(&grid.cells, &mut x, &none),
        InputError::Setting { name: "sweeps", .. }
    ));
}

#[test]
fn a_cycle_preconditions_policy_iteration() {
    let grid = build::<3>(&Sphere::default(), 32);
    let expected = by_policy(&grid, 1e-10);
    let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    let mut cycle = Cycle::default();
    let stencil = grid.stencil();
    cycle.rebuild(&stencil.posed().unwrap(), 2).unwrap();
    let settings = policy::Settings::default().tolerance(1e-10 * grid.largest());
    let mut x = vec![0.0; grid.len()];
    let mut workspace = policy::Workspace::default();
    let problem = grid.problem();
    let report = policy::solve(
        &problem,
        &settings,
        &mut cycle,
        &mut x,
        &mut workspace,
        &mut (),
    )
    .unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!(
        report.inner_iterations <= 12 * report.iterations,
        "{report:?}: the cycle is no good preconditioner"
    );
    assert!(
        x.iter()
            .zip(&expected)
            .all(|(x, y)| (x - y).abs() <= 1e-6 * largest)
    );
}

/// A slab of liquid thrown against the ceiling of a tank with a ball in it.
fn run<const D: usize>(cells: [usize; D], walls: Walls, solver: Solver) {
    let mut settings = meniscus_liquid::Settings::<D>::new(cells, 1.0 / cells[0] as f64);
    (settings.physics.walls, settings.physics.pressure.solver) = (walls, solver);
    let high = settings.domain();
    let still = |name: &str, shape| ScriptedSolid {
        name: name.into(),
        shape,
        motion: Motion::Still,
    };
    let tank = Shape::Box {
        low: [0.0; D],
        high,
    }
    .inverted();
    let ball = Shape::Sphere {
        center: [0.5; D],
        radius: 0.2,
    };
    let solids = Solids::new(vec![still("tank", tank), still("ball", ball)]);
    let mut liquid = Liquid::new(settings).unwrap();
    let mut upwards = [0.5; D];
    upwards[D - 1] = 3.0;
    liquid.fill(&|x| x[0] - 0.45, &|_| upwards, &solids);
    for _ in 0..10 {
        let report = advance(&mut liquid, &solids, 0.02).unwrap();
        assert_eq!(report.status, Status::Converged);
        assert_eq!(report.solver, solver.to_string());
    }
}

#[test]
fn simulations_run_with_multigrid() {
    for (walls, solver) in [
        (Walls::Separating, Solver::TnMg),
        (Walls::Slip, Solver::TnMg),
        (Walls::Slip, Solver::Mg),
        (Walls::Slip, Solver::MgPcg),
    ] {
        run([24, 24], walls, solver);
        run([16, 16, 16], walls, solver);
    }
}

#[test]
fn a_scene_is_what_its_distances_say() {
    let sphere = Sphere::default();
    assert!((Scene::<3>::open(&sphere, [0.5; 3]) - 0.45).abs() < 1e-12);
    assert!(Scene::<2>::liquid(&sphere, [0.4, 0.5]) < 0.0);
}

/// Problems so small that the finest level is solved directly have rows inside as well.
#[test]
fn the_smallest_spheres_are_solved_as_policy_iteration_does() {
    fn check<const D: usize>(cells: usize) {
        let sphere = meniscus_liquid::analytic::Sphere {
            cells,
            surface: meniscus_liquid::analytic::Surface::Flat,
            thin: false,
        };
        let stencil = sphere.stencil_problem::<D>().unwrap();
        let n = stencil.len();
        let problem = stencil.with_matrix().unwrap();
        let tolerance = 1e-9;
        let settings = multigrid::Settings {
            tolerance,
            ..Default::default()
        };
        let (mut ours, mut theirs) = (vec![0.0; n], vec![0.0; n]);
        let memory = &mut multigrid::Workspace::default();
        let report = multigrid::solve(
            &stencil.posed().unwrap(),
            &settings,
            &mut ours,
            memory,
            &mut (),
        )
        .unwrap();
        assert_eq!(report.status, Status::Converged, "{cells} cells, {n} rows");
        let settings = policy::Settings::default().tolerance(tolerance);
        let mut jacobi = Jacobi::new(problem.matrix()).unwrap();
        let memory = &mut policy::Workspace::default();
        policy::solve(
            &problem,
            &settings,
            &mut jacobi,
            &mut theirs,
            memory,
            &mut (),
        )
        .unwrap();
        let largest = theirs.iter().fold(0.0, |l: f64, x| l.max(x.abs()));
        for (a, b) in ours.iter().zip(&theirs) {
            assert!((a - b).abs() <= 1e-6 * largest, "{cells} cells: {a} {b}");
        }
    }
    (4..20).for_each(check::<2>);
    (4..12).for_each(check::<3>);
}
