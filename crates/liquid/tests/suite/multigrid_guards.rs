//! What multigrid does where it cannot go on as usual: keeping levels that still serve, shortening steps that overshoot, and
//! leaving a problem to another method.

use crate::common::advance;
use std::ops::ControlFlow;

use crate::grids::{Dice, Grid, Sphere, build, from_faces};
use crate::multigrid::by_policy;
use meniscus_lcp::methods::policy;
use meniscus_lcp::precondition::Mic0;
use meniscus_lcp::{Blocks, BoxMlcp, Csr, InputError, Observer, Progress, Report, Status};
use meniscus_liquid::multigrid::{self, Settings, Workspace};
use meniscus_liquid::{Coord, Liquid, Solver, StepReport, Walls};
use meniscus_shapes::{Motion, ScriptedSolid, Shape, Solids};

fn solve<const D: usize>(grid: &Grid<D>, workspace: &mut Workspace<D>) -> (Vec<f64>, Report) {
    let settings = Settings {
        tolerance: 1e-9 * grid.largest(),
        ..Default::default()
    };
    let mut x = vec![0.0; grid.len()];
    let stencil = grid.stencil();
    let problem = stencil.posed().unwrap();
    let report = multigrid::solve(&problem, &settings, &mut x, workspace, &mut ()).unwrap();
    assert_eq!(report.status, Status::Converged);
    (x, report)
}

/// Solves one problem after the other with one workspace, and the last alone: that must make no difference.
fn assert_forgets<const D: usize>(before: &Grid<D>, after: &Grid<D>, what: &str) {
    let mut workspace = Workspace::default();
    solve(before, &mut workspace);
    let alone = solve(after, &mut Workspace::default());
    assert!(solve(after, &mut workspace) == alone, "{what}");
}

fn copy<const D: usize>(grid: &Grid<D>) -> Grid<D> {
    Grid {
        matrix: grid.matrix.clone(),
        rhs: grid.rhs.clone(),
        lower: grid.lower.clone(),
        upper: grid.upper.clone(),
        cells: grid.cells.clone(),
    }
}

/// The same with some entries of the matrix multiplied by something.
fn with_entries<const D: usize>(grid: &Grid<D>, factor: impl Fn(usize, usize) -> f64) -> Grid<D> {
    let mut entries = Vec::new();
    for row in 0..grid.len() {
        let (columns, values) = grid.matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            entries.push((row as u32, column, value * factor(row, column as usize)));
        }
    }
    Grid {
        matrix: Csr::from_entries(grid.len(), entries).unwrap(),
        ..copy(grid)
    }
}

#[test]
fn what_was_solved_before_does_not_change_the_bits() {
    let thin = Sphere {
        wave: true,
        thin: Some(1.0 / 32.0),
    };
    let grid = build::<3>(&thin, 32);
    let middle = (0..grid.len())
        .find(|&row| grid.matrix.row(row).0.len() == 7 && grid.lower[row] != 0.0)
        .unwrap();
    let wall = grid.lower.iter().position(|&l| l == 0.0).unwrap();
    assert_forgets(&grid, &grid, "the same problem");

    let mut other = copy(&grid);
    other.rhs.iter_mut().step_by(3).for_each(|b| *b *= -0.5);
    assert_forgets(&grid, &other, "another right-hand side");

    for row in [middle, wall] {
        let diagonal = |r, c| if (r, c) == (row, row) { 1.5 } else { 1.0 };
        assert_forgets(&grid, &with_entries(&grid, diagonal), "another diagonal");
        let mut beside = grid.matrix.row(row).0.iter().map(|&c| c as usize);
        let beside = beside.rfind(|&c| c != row).unwrap();
        let coupling = |r: usize, c: usize| {
            let both = [(row, beside), (beside, row)].contains(&(r, c));
            if both { 0.4 } else { 1.0 }
        };
        assert_forgets(&grid, &with_entries(&grid, coupling), "another coupling");
    }
    assert_forgets(&grid, &with_entries(&grid, |_, _| 2.0), "other units");

    let mut free = copy(&grid);
    free.lower.fill(f64::NEG_INFINITY);
    assert_forgets(&grid, &free, "no bounds");
    assert_forgets(&free, &grid, "bounds");
    let mut held = copy(&grid);
    held.lower.iter_mut().step_by(2).for_each(|l| {
        if *l == 0.0 {
            *l = 0.125;
        }
    });
    held.upper[wall] = held.lower[wall];
    assert_forgets(&grid, &held, "other bounds, and a row that is held");
    assert_forgets(&held, &grid, "a row that is not held");

    let mut moved = copy(&grid);
    moved.cells.iter_mut().for_each(|cell| cell[1] += 1);
    assert_forgets(&grid, &moved, "other cells");
    assert_forgets(&build::<3>(&thin, 31), &grid, "another grid");
}

/// As the solve that evens out the particles does: rows that left their walls are held, the others have no bounds.
#[test]
fn levels_serve_again_for_a_problem_with_fewer_bounds() {
    let mut grid = build::<3>(&Sphere::default(), 32);
    let stencil = grid.stencil();
    let mut workspace = Workspace::default();
    let problem = stencil.posed().unwrap();
    let mut prepared = workspace.prepare(&problem).unwrap();
    let settings = |grid: &Grid<3>| Settings {
        tolerance: 1e-9 * grid.largest(),
        ..Default::default()
    };
    let mut x = vec![0.0; grid.len()];
    let report = prepared.solve(&problem, &settings(&grid), &mut x, &mut ());
    assert_eq!(report.unwrap().status, Status::Converged);
    for (row, &x) in x.iter().enumerate() {
        let left = grid.lower[row] == 0.0 && x == 0.0;
        grid.lower[row] = if left { 0.0 } else { f64::NEG_INFINITY };
        grid.upper[row] = if left { 0.0 } else { f64::INFINITY };
    }
    grid.rhs.iter_mut().step_by(2).for_each(|b| *b *= 0.3);
    let mut again = vec![0.0; grid.len()];
    let fewer = BoxMlcp::new(&stencil.stencil, &grid.rhs, &grid.lower, &grid.upper).unwrap();
    let report = prepared.solve(&fewer, &settings(&grid), &mut again, &mut ());
    assert_eq!(report.unwrap().status, Status::Converged);
    let expected = by_policy(&grid, 1e-10);
    let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    for (row, (x, y)) in again.iter().zip(&expected).enumerate() {
        assert!((x - y).abs() <= 1e-6 * largest, "row {row} is {x}, not {y}");
    }
    // Neither more bounds nor another matrix, though it be equal.
    let inside = stencil.lower.iter().position(|l| l.is_infinite()).unwrap();
    grid.lower[inside] = 0.0;
    let more = BoxMlcp::new(&stencil.stencil, &grid.rhs, &grid.lower, &grid.upper).unwrap();
    let same = grid.stencil();
    for refused in [more, same.posed().unwrap()] {
        let report = prepared.solve(&refused, &settings(&grid), &mut again, &mut ());
        assert!(matches!(report, Err(InputError::Structure { .. })));
    }
}

#[test]
fn a_workspace_keeps_the_levels_of_its_stencil_and_no_others() {
    let grid = build::<3>(&Sphere::default(), 24);
    let stencil = grid.stencil();
    let problem = stencil.posed().unwrap();
    let settings = Settings {
        tolerance: 1e-9 * grid.largest(),
        ..Default::default()
    };
    let (mut x, mut y) = (vec![0.0; grid.len()], vec![0.0; grid.len()]);
    let memory = &mut Workspace::default();
    multigrid::solve(&problem, &settings, &mut x, memory, &mut ()).unwrap();
    multigrid::solve(&problem, &settings, &mut y, memory, &mut ()).unwrap();
    assert!(x == y);
    // With fewer bounds new levels would have other bits: they are made.
    let free = vec![f64::NEG_INFINITY; grid.len()];
    let linear = BoxMlcp::new(&stencil.stencil, &grid.rhs, &free, &grid.upper).unwrap();
    x.fill(0.0);
    y.fill(0.0);
    multigrid::solve(&linear, &settings, &mut x, memory, &mut ()).unwrap();
    let fresh = &mut Workspace::default();
    multigrid::solve(&linear, &settings, &mut y, fresh, &mut ()).unwrap();
    assert!(x == y);
}

/// Notes the energies.
#[derive(Default)]
struct Energies(Vec<f64>);

impl Observer for Energies {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.0.push(progress.merit);
        ControlFlow::Continue(())
    }
}

/// A layered liquid between walls that are open by a tenth, all of which hold or let go of it by chance: coarse cells take one
/// direction for the other, and the cycle's step is now and then too long.
fn layers() -> Grid<2> {
    let mut dice = Dice(3);
    let cells = (0..40 * 40).map(|k| [k / 40, k % 40]).collect();
    from_faces::<2>(cells, |low, high: Coord<2>| {
        let open = if high[0] != low[0] { 1.0 } else { 0.1 };
        (open, 1.0, 2.0 * dice.roll() - 1.0)
    })
}

#[test]
fn a_step_that_would_raise_the_energy_is_shortened_and_the_answer_is_right() {
    let grid = layers();
    let settings = Settings {
        tolerance: 1e-9 * grid.largest(),
        ..Default::default()
    };
    let mut workspace = Workspace::default();
    let mut x = vec![0.0; grid.len()];
    let mut energies = Energies::default();
    let (stencil, watch) = (grid.stencil(), &mut energies);
    let problem = stencil.posed().unwrap();
    let report = multigrid::solve(&problem, &settings, &mut x, &mut workspace, watch).unwrap();
    assert_eq!(report.status, Status::Converged);
    assert!(
        workspace.halvings() > 0,
        "made for the guard, which was not needed"
    );
    let rounding = 1e-12 * energies.0.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    assert!(energies.0.is_sorted_by(|a, b| *b <= a + rounding));
    let expected = by_policy(&grid, 1e-10);
    let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    for (row, (x, y)) in x.iter().zip(&expected).enumerate() {
        assert!((x - y).abs() <= 1e-6 * largest, "row {row} is {x}, not {y}");
    }
    // The count is that of one solve.
    solve(&build::<2>(&Sphere::default(), 32), &mut workspace);
    assert_eq!(workspace.halvings(), 0);
}

/// Faces that are open or nearly closed by chance, so that no step along the cycle's correction lowers the energy.
fn patchwork() -> Grid<2> {
    let mut dice = Dice(0);
    let cells = (0..60 * 60).map(|k| [k / 60, k % 60]).collect();
    from_faces::<2>(cells, |_, high: Coord<2>| {
        let thick = (high[0] / 2 + high[1] / 2) % 2 == 0 && dice.roll() < 0.7;
        let open = if thick { 1.0 } else { 1e-4 };
        (open, 0.01 + 0.99 * dice.roll(), 2.0 * dice.roll() - 1.0)
    })
}

#[test]
fn where_no_step_lowers_the_energy_it_says_so_and_leaves_a_good_start() {
    let grid = patchwork();
    let problem = grid.problem();
    let settings = Settings {
        tolerance: 1e-9 * grid.largest(),
        ..Default::default()
    };
    let mut workspace = Workspace::default();
    let mut x = vec![0.0; grid.len()];
    let stencil = grid.stencil();
    let posed = stencil.posed().unwrap();
    let report = multigrid::solve(&posed, &settings, &mut x, &mut workspace, &mut ()).unwrap();
    assert_eq!(report.status, Status::NonDescent);
    assert!(posed.natural_residual(&x, &mut vec![0.0; grid.len()]) == report.residual);
    let mut mic = Mic0::default();
    mic.rebuild(&grid.matrix, &Blocks::single(grid.len()))
        .unwrap();
    let settings = policy::Settings::default().tolerance(settings.tolerance);
    let memory = &mut policy::Workspace::default();
    let report = policy::solve(&problem, &settings, &mut mic, &mut x, memory, &mut ()).unwrap();
    assert_eq!(report.status, Status::Converged);
    let expected = by_policy(&grid, 1e-10);
    let largest = expected.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    for (row, (x, y)) in x.iter().zip(&expected).enumerate() {
        assert!((x - y).abs() <= 1e-6 * largest, "row {row} is {x}, not {y}");
    }
}

/// A slab of liquid that is thrown against the ceiling of a tank with a ball in it, after one step.
fn thrown(solver: Solver, max_iterations: usize) -> (Liquid<3>, StepReport) {
    let mut settings = meniscus_liquid::Settings::<3>::new([16; 3], 1.0 / 16.0);
    (settings.physics.walls, settings.physics.pressure.solver) = (Walls::Separating, solver);
    settings.physics.pressure.max_iterations = max_iterations;
    let still = |name: &str, shape| ScriptedSolid {
        name: name.into(),
        shape,
        motion: Motion::Still,
    };
    let tank = Shape::Box {
        low: [0.0; 3],
        high: settings.domain(),
    };
    let ball = Shape::Sphere {
        center: [0.5; 3],
        radius: 0.2,
    };
    let bodies = vec![still("tank", tank.inverted()), still("ball", ball)];
    let solids = Solids::new(bodies);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[0] - 0.45, &|_| [0.5, 0.5, 3.0], &solids);
    let report = advance(&mut liquid, &solids, 0.02).unwrap();
    (liquid, report)
}

#[test]
fn policy_iteration_finishes_what_multigrid_does_not() {
    // Too few cycles for multigrid, and enough iterations to go on from where it ends.
    let (liquid, report) = thrown(Solver::TnMg, 5);
    assert_eq!(report.solver, "pi-pcg after tn-mg");
    assert_eq!(report.status, Status::Converged);
    let (expected, alone) = thrown(Solver::PiPcg, 100);
    assert_eq!(alone.solver, "pi-pcg");
    let cells = (0..16 * 16 * 16).map(|k| [k / 256, k / 16 % 16, k % 16]);
    let (mut largest, mut farthest, mut rows) = (0.0f64, 0.0f64, 0);
    for cell in cells {
        let both = (liquid.pressure(cell), expected.pressure(cell));
        let (Some(x), Some(y)) = both else {
            assert_eq!(both.0.is_some(), both.1.is_some());
            continue;
        };
        (largest, farthest) = (largest.max(y.abs()), farthest.max((x - y).abs()));
        rows += 1;
    }
    assert!(rows > 1000, "{rows} rows");
    assert!(farthest <= 1e-5 * largest, "{farthest} apart, of {largest}");
    assert_eq!(report.separated_rows, alone.separated_rows);
}
