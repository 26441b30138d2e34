//! All pressure solvers by their names: one answer, honest limits, few cycles.

use crate::grids::{Dice, Grid, Sphere, build, from_faces, random};
use meniscus_lcp::{Hierarchy, InputError, Operator, Report, Status};
use meniscus_liquid::fas::Levels;
use meniscus_liquid::solvers::{self, Inner, Settings, Solution, Start, Workspace};
use meniscus_liquid::{Coord, Preconditioner, Solver};

/// Variations that are solvers of their own.
const VARIATIONS: [&str; 10] = [
    "newton:cr",
    "newton:gmres:jacobi",
    "newton:bicgstab:ic0",
    "newton:none:psor",
    "newton:ainv:gradient",
    "pi-pcg:ssor:zero",
    "pe-pcg:jacobi",
    "fas-mg:trilinear",
    "fas-mg:plain",
    "fas-mg:no-extra-sweeps",
];

/// Solves from zero, to a tolerance relative to the largest entry of b.
fn solve<const D: usize>(grid: &Grid<D>, name: &str, relative: f64) -> (Solution, Vec<f64>) {
    let settings = Settings {
        tolerance: relative * grid.largest(),
        ..Settings::named(name).unwrap()
    };
    let mut x = vec![0.0; grid.len()];
    let solution = solve_with(grid, &settings, &mut x).unwrap();
    (solution, x)
}

fn solve_with<const D: usize>(
    grid: &Grid<D>,
    settings: &Settings,
    x: &mut [f64],
) -> Result<Solution, InputError> {
    let memory = &mut Workspace::default();
    let stencil = grid.stencil();
    let problem = stencil.posed()?;
    solvers::solve(&problem, settings, x, memory, &mut ())
}

/// Those that solve problems with bounds and converge on any of them.
fn sure() -> impl Iterator<Item = &'static str> {
    let words = Solver::ALL.iter().filter(|solver| !solver.is_linear());
    words
        .map(|solver| solver.name())
        .filter(|&name| name != "fmg")
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
            assert!(
                (x - y).abs() <= 1e-6 * largest,
                "{name}, {what}: row {row} is {x}, not {y}"
            );
        }
    }
}

#[test]
fn all_solvers_find_one_pressure_on_spheres_of_any_size() {
    for wave in [false, true] {
        let sphere = Sphere { wave, thin: None };
        for n in [17, 24] {
            assert_one_answer(&build::<3>(&sphere, n), sure(), "sphere");
        }
        for n in [32, 61] {
            assert_one_answer(&build::<2>(&sphere, n), sure(), "circle");
        }
    }
    let grid = build::<2>(&Sphere::default(), 47);
    assert_one_answer(&grid, VARIATIONS.into_iter(), "variations on a circle");
    let grid = build::<3>(&Sphere::default(), 19);
    assert_one_answer(&grid, VARIATIONS.into_iter(), "variations on a sphere");
}

#[test]
fn all_solvers_find_one_pressure_with_thin_solids() {
    for (n, thickness) in [(31, 0.03), (48, 0.02)] {
        let sphere = Sphere {
            wave: true,
            thin: Some(thickness),
        };
        assert_one_answer(&build::<2>(&sphere, n), sure(), "thin solids in a circle");
    }
    let sphere = Sphere {
        wave: false,
        thin: Some(0.04),
    };
    assert_one_answer(&build::<3>(&sphere, 24), sure(), "thin solids in a sphere");
}

#[test]
fn all_solvers_find_one_pressure_on_random_liquids() {
    for seed in 0..6 {
        let dense = random::<2>([23, 19], 0.9, 0.3, seed);
        assert_one_answer(&dense, sure(), &format!("a random liquid, {seed}"));
        let sparse = random::<2>([24, 24], 0.6, 0.5, 100 + seed);
        assert_one_answer(&sparse, sure(), &format!("random drops, {seed}"));
        let deep = random::<3>([9, 11, 8], 0.85, 0.4, 200 + seed);
        assert_one_answer(&deep, sure(), &format!("a random liquid in space, {seed}"));
    }
}

/// Liquid in a closed box, but for one held row, as pockets are.
fn pocket<const D: usize>(size: Coord<D>) -> Grid<D> {
    let count: i32 = size.iter().product();
    let mut dice = Dice(7);
    let cells = (0..count).map(|mut index| {
        let mut cell = [0; D];
        for a in (0..D).rev() {
            cell[a] = index % size[a];
            index /= size[a];
        }
        cell
    });
    let mut grid = from_faces(cells.collect(), |low, high| {
        let inside = |cell: Coord<D>| (0..D).all(|a| (0..size[a]).contains(&cell[a]));
        let open = if inside(low) && inside(high) {
            1.0
        } else {
            0.0
        };
        (open, 1.0, 2.0 * dice.roll() - 1.0)
    });
    (grid.lower[5], grid.upper[5]) = (0.0, 0.0);
    grid
}

#[test]
fn all_solvers_find_one_pressure_in_a_pocket_with_a_held_row() {
    assert_one_answer(&pocket([13, 9]), sure(), "a pocket");
    assert_one_answer(&pocket([6, 7, 5]), sure(), "a pocket in space");
    // Held, and linear otherwise.
    let mut slip = pocket([13, 9]);
    for (row, lower) in slip.lower.iter_mut().enumerate() {
        if row != 5 {
            *lower = f64::NEG_INFINITY;
        }
    }
    let linear = ["cg", "mg", "mg-pcg"];
    assert_one_answer(&slip, sure().chain(linear), "a pocket with slip walls");
}

fn slip<const D: usize>(mut grid: Grid<D>) -> Grid<D> {
    grid.lower.fill(f64::NEG_INFINITY);
    grid
}

#[test]
fn with_slip_walls_linear_solvers_find_the_same() {
    let linear = ["cg", "cg:jacobi", "mg", "mg-pcg", "fmg:galerkin:one-sided"];
    let grid = slip(build::<3>(&Sphere::default(), 23));
    assert_one_answer(&grid, sure().chain(linear), "a sphere with slip walls");
    let grid = slip(build::<2>(&Sphere::default(), 64));
    assert_one_answer(&grid, sure().chain(linear), "a circle with slip walls");
}

#[test]
fn full_multigrid_finds_the_same_where_it_converges() {
    let names = ["fmg", "fmg:galerkin:one-sided"].into_iter();
    assert_one_answer(&build::<2>(&Sphere::default(), 24), names, "a circle");
}

#[test]
fn walls_that_are_only_pushed_on_are_slip_walls() {
    // Still water: it rests on its walls, and so it is all the same whether they could let go.
    let size = [14, 11];
    let cells: Vec<Coord<2>> = (0..size[0] * size[1])
        .map(|index| [index / size[1], index % size[1]])
        .collect();
    let water = from_faces(cells, |low, high| {
        let inside = |cell: Coord<2>| (0..2).all(|a| (0..size[a]).contains(&cell[a]));
        let surface = high[1] == size[1];
        let open = if inside(low) && (inside(high) || surface) {
            1.0
        } else {
            0.0
        };
        let falls = if low[1] < high[1] { -1.0 } else { 0.0 };
        (open, 0.5, falls)
    });
    assert!(water.wall_rows() > 30);
    let expected = solve(&water, "pi-pcg", 1e-12).1;
    assert!(expected.iter().all(|&p| p > 0.0));
    let free = slip(water);
    assert_one_answer(&free, sure().chain(["cg", "mg"]), "still water");
    let of_free = solve(&free, "cg", 1e-12).1;
    for (a, b) in expected.iter().zip(&of_free) {
        assert!((a - b).abs() <= 1e-9 * expected[0].abs().max(1.0));
    }
}

/// A V-cycle of linear multigrid for `A e = r` by the book, from zero.
fn v_cycle<const D: usize>(
    levels: &Levels<D>,
    matrix: &meniscus_lcp::Csr,
    at: usize,
    r: &[f64],
) -> Vec<f64> {
    let n = r.len();
    let mut e = vec![0.0; n];
    let sweep = |e: &mut [f64]| {
        for row in 0..n {
            let (columns, values) = matrix.row(row);
            let product: f64 = columns
                .iter()
                .zip(values)
                .map(|(&c, a)| a * e[c as usize])
                .sum();
            e[row] += (r[row] - product) / matrix.get(row, row);
        }
    };
    if at == levels.coarser() {
        for _ in 0..2000 {
            sweep(&mut e);
        }
        return e;
    }
    (0..2).for_each(|_| sweep(&mut e));
    let mut left = vec![0.0; n];
    matrix.apply(&e, &mut left);
    for (left, r) in left.iter_mut().zip(r) {
        *left = r - *left;
    }
    let coarse = levels.matrix(at + 1);
    let mut below = vec![0.0; coarse.rows()];
    levels.restrict(at + 1, &left, &mut below);
    let correction = v_cycle(levels, coarse, at + 1, &below);
    levels.prolongate(at + 1, &correction, &mut left);
    for (e, left) in e.iter_mut().zip(&left) {
        *e += left;
    }
    (0..2).for_each(|_| sweep(&mut e));
    e
}

#[test]
fn with_no_wall_rows_each_cycle_is_one_of_linear_multigrid() {
    let grid = slip(build::<3>(&Sphere::default(), 16));
    let levels = Levels::new(&grid.stencil().stencil, &Default::default()).unwrap();
    let mut expected = vec![0.0; grid.len()];
    let mut r = vec![0.0; grid.len()];
    for cycles in 1..=4 {
        grid.matrix.apply(&expected, &mut r);
        for (r, b) in r.iter_mut().zip(&grid.rhs) {
            *r = -b - *r;
        }
        let e = v_cycle(&levels, &grid.matrix, 0, &r);
        for (x, e) in expected.iter_mut().zip(&e) {
            *x += e;
        }
        let settings = Settings {
            tolerance: 1e-300,
            max_iterations: cycles,
            ..Settings::named("fas-mg").unwrap()
        };
        let mut x = vec![0.0; grid.len()];
        let solution = solve_with(&grid, &settings, &mut x).unwrap();
        assert_eq!(solution.report.iterations, cycles);
        let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
        for (x, y) in x.iter().zip(&expected) {
            assert!(
                (x - y).abs() <= 1e-9 * largest,
                "{x} and {y} after {cycles}"
            );
        }
    }
}

#[test]
fn few_cycles_are_needed_at_any_size() {
    // Those at 32 cells a side, and at 64.
    let most: [(&str, [usize; 2]); 6] = [
        ("tn-mg", [8, 9]),
        ("fas-mg", [7, 8]),
        ("fas-mg:no-extra-sweeps", [9, 11]),
        ("pi-mg", [13, 16]),
        ("pe-mg", [24, 28]),
        ("mprgp-mg", [16, 18]),
    ];
    for (size, n) in [32, 64].into_iter().enumerate() {
        let grid = build::<3>(&Sphere::default(), n);
        for (name, most) in most {
            let Report {
                status,
                iterations,
                inner_iterations,
                ..
            } = solve(&grid, name, 1e-6).0.report;
            let cycles = iterations.max(inner_iterations);
            assert!(
                status == Status::Converged && cycles <= most[size],
                "{name}: {status} after {cycles} cycles at {n}"
            );
        }
    }
}

#[test]
fn iteration_limits_are_kept_and_said() {
    let grid = build::<2>(&Sphere::default(), 40);
    for name in sure().chain(["fmg"]) {
        let settings = Settings {
            tolerance: 1e-10 * grid.largest(),
            max_iterations: 1,
            max_inner_iterations: 2,
            ..Settings::named(name).unwrap()
        };
        let mut x = vec![0.0; grid.len()];
        let report = solve_with(&grid, &settings, &mut x).unwrap().report;
        assert_eq!(report.status, Status::IterationLimit, "{name}: {report:?}");
        assert!(report.iterations <= 2 && report.inner_iterations <= 4);
        assert!(report.residual > settings.tolerance, "{name}");
        assert_eq!(report.residual, grid.problem().residual_inf(&x), "{name}");
    }
}

#[test]
fn another_method_steps_in_where_it_may_and_says_so() {
    let grid = build::<2>(&Sphere::default(), 40);
    for (name, after) in [
        ("tn-mg", "pi-pcg after tn-mg"),
        ("fas-mg", "pi-pcg after fas-mg"),
        ("fmg", "pi-pcg after fmg"),
        ("pi-mg", "pi-pcg after pi-mg"),
    ] {
        // Policies from where a cycle or two ended are fewer than from zero, but more cycles would be needed.
        let settings = Settings {
            tolerance: 1e-9 * grid.largest(),
            max_iterations: 4,
            fall_back: true,
            ..Settings::named(name).unwrap()
        };
        let mut x = vec![0.0; grid.len()];
        let solution = solve_with(&grid, &settings, &mut x).unwrap();
        assert_eq!(solution.solver, after);
        let alone = Settings {
            fall_back: false,
            ..settings
        };
        x.fill(0.0);
        let solution = solve_with(&grid, &alone, &mut x).unwrap();
        assert_eq!(solution.solver, name);
        assert_eq!(solution.report.status, Status::IterationLimit);
    }
    for (cells, expected) in [(16, "pi-pcg"), (40, "tn-mg")] {
        let grid = build::<2>(&Sphere::default(), cells);
        let settings = Settings {
            tolerance: 1e-9 * grid.largest(),
            ..Settings::named("auto").unwrap()
        };
        let mut x = vec![0.0; grid.len()];
        let solution = solve_with(&grid, &settings, &mut x).unwrap();
        assert_eq!(solution.solver, expected, "{} unknowns", grid.len());
    }
}

#[test]
fn a_start_at_the_solution_is_the_end() {
    let grid = build::<2>(&Sphere::default(), 40);
    let solved = solve(&grid, "pi-pcg", 1e-11).1;
    for name in sure() {
        let mut settings = Settings {
            tolerance: 1e-9 * grid.largest(),
            ..Settings::named(name).unwrap()
        };
        // The first policy is that of the given pressure, and so are first faces and active sets.
        let report = solve_with(&grid, &settings, &mut solved.clone())
            .unwrap()
            .report;
        assert_eq!(
            (report.status, report.iterations),
            (Status::Converged, 0),
            "{name}"
        );
        settings.start = Start::Zero;
        let report = solve_with(&grid, &settings, &mut solved.clone())
            .unwrap()
            .report;
        assert!(report.iterations > 0, "{name} did not start at zero");
    }
}

#[test]
fn names_say_the_method_and_its_variations() {
    let named = Settings::named("newton:gmres:jacobi:psor").unwrap();
    assert_eq!(named.solver, Solver::Newton);
    assert_eq!(named.inner, Inner::Gmres);
    assert_eq!(named.preconditioner, Preconditioner::Jacobi);
    assert_eq!(named.start, Start::Psor);
    assert_eq!(Settings::named("policy").unwrap().solver, Solver::PiPcg);
    for wrong in [
        "newtn",
        "tn-mg:jacobi",
        "pi-mg:gmres",
        "cg:trilinear",
        "fas-mg:",
        "newton:plain",
    ] {
        let why = Settings::named(wrong).unwrap_err();
        assert!(why.contains("; "), "{why}");
    }
    for &solver in Solver::ALL {
        assert_eq!(Settings::named(solver.name()).unwrap().solver, solver);
    }
}

#[test]
fn linear_solvers_refuse_bounds_and_broken_settings_are_errors() {
    let grid = build::<2>(&Sphere::default(), 16);
    let mut x = vec![0.0; grid.len()];
    for name in ["cg", "mg", "mg-pcg"] {
        let refused = solve_with(&grid, &Settings::named(name).unwrap(), &mut x).unwrap_err();
        assert!(
            matches!(refused, InputError::BoundedRow { .. }),
            "{name}: {refused}"
        );
    }
    for inner_tolerance in [0.0, 1.0, f64::NAN] {
        let settings = Settings {
            inner_tolerance: Some(inner_tolerance),
            ..Default::default()
        };
        let refused = solve_with(&grid, &settings, &mut x).unwrap_err();
        assert!(matches!(
            refused,
            InputError::Setting {
                name: "inner_tolerance",
                ..
            }
        ));
    }
    for name in sure().chain(["fmg"]) {
        let settings = Settings::named(name).unwrap();
        let mut short = vec![0.0; grid.len() - 1];
        let refused = solve_with(&grid, &settings, &mut short).unwrap_err();
        assert!(
            matches!(refused, InputError::Length { .. }),
            "{name}: {refused}"
        );
        let mut nan = vec![f64::NAN; grid.len()];
        let refused = solve_with(&grid, &settings, &mut nan).unwrap_err();
        assert!(
            matches!(refused, InputError::NotFinite { .. }),
            "{name}: {refused}"
        );
    }
}
