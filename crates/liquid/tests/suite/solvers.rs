//! All pressure solvers by their names: one answer, honest limits, few cycles.

use crate::grids::{Grid, Sphere, build};
use meniscus_lcp::Status;
use meniscus_liquid::Solver;
use meniscus_liquid::solvers::{self, Settings, Solution, Workspace};

/// Solves from zero, to a tolerance relative to the largest entry of b.
fn solve<const D: usize>(grid: &Grid<D>, name: &str, relative: f64) -> (Solution, Vec<f64>) {
    let settings = Settings {
        tolerance: relative * grid.largest(),
        ..Settings::named(name).unwrap()
    };
    let mut x = vec![0.0; grid.len()];
    let memory = &mut Workspace::default();
    let problem = grid.problem();
    let solution =
        solvers::solve(&problem, &grid.cells, &settings, &mut x, memory, &mut ()).unwrap();
    (solution, x)
}

/// Those that solve problems with bounds.
fn with_bounds() -> impl Iterator<Item = &'static str> {
    let bounded = Solver::ALL.iter().filter(|solver| !solver.is_linear());
    bounded.map(|solver| solver.name())
}

fn assert_one_answer<'a, const D: usize>(
    grid: &Grid<D>,
    names: impl Iterator<Item = &'a str>,
    what: &str,
) {
    let expected = solve(grid, "pi-pcg", 1e-12).1;
    let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    for name in names {
        let (solution, x) = solve(grid, name, 1e-10);
        let report = solution.report;
        assert_eq!(
            report.status,
            Status::Converged,
            "{name}, {what}: {report:?}"
        );
        assert!(grid.problem().residual_inf(&x) <= 1e-10 * grid.largest());
        for (row, (x, y)) in x.iter().zip(&expected).enumerate() {
            let apart = (x - y).abs();
            assert!(
                apart <= 1e-6 * largest,
                "{name}, {what}: row {row} is {x}, not {y}"
            );
        }
    }
}

#[test]
fn all_solvers_find_one_pressure_on_spheres() {
    for wave in [false, true] {
        let sphere = Sphere { wave, thin: None };
        assert_one_answer(&build::<3>(&sphere, 32), with_bounds(), "sphere");
        assert_one_answer(&build::<2>(&sphere, 61), with_bounds(), "circle");
    }
}

#[test]
#[ignore = "prints"]
fn counts() {
    for n in [32, 64, 128] {
        let grid = build::<3>(&Sphere::default(), n);
        for name in with_bounds() {
            let (solution, _) = solve(&grid, name, 1e-6);
            let r = solution.report;
            eprintln!(
                "{n} {name} {} {} {}",
                r.status, r.iterations, r.inner_iterations
            );
        }
    }
}
