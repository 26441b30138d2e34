//! The pressure against an independent solver of quadratic programs.

use crate::common::{still, tank};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use meniscus_lcp::methods::{newton, policy};
use meniscus_lcp::precondition::{Mic0, Mic0Settings};
use meniscus_lcp::{Blocks, BoxMlcp, Status};
use meniscus_liquid::{Liquid, PressureProblem, Settings, Solver, solvers};
use meniscus_shapes::Shape;

/// Minimises `1/2 p'Ap + b'p` over the rows' bounds, scaled so that the diagonal of `A` and the largest `b` are one.
fn by_clarabel<const D: usize>(problem: &PressureProblem<D>) -> Vec<f64> {
    let n = problem.rhs.len();
    let diagonal: Vec<f64> = (0..n)
        .map(|i| {
            let (columns, values) = problem.matrix.row(i);
            columns
                .iter()
                .zip(values)
                .find(|(c, _)| **c as usize == i)
                .map_or(0.0, |(_, &v)| v)
        })
        .collect();
    let scale: Vec<f64> = diagonal.iter().map(|d| 1.0 / d.sqrt()).collect();
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        // Symmetric, so that a row is a column; Clarabel reads the upper triangle.
        let (columns, entries) = problem.matrix.row(i);
        for (&c, &v) in columns
            .iter()
            .zip(entries)
            .filter(|(c, _)| **c as usize <= i)
        {
            rows.push(c as usize);
            values.push(v * scale[i] * scale[c as usize]);
        }
        starts.push(rows.len());
    }
    let p = CscMatrix::new(n, n, starts, rows, values);
    let q: Vec<f64> = (0..n).map(|i| problem.rhs[i] * scale[i]).collect();
    // Its tolerances are absolute, too: the solution should be about one.
    let unit = q.iter().fold(0.0, |m: f64, q| m.max(q.abs()));
    let q: Vec<f64> = q.iter().map(|q| q / unit).collect();
    // Bounded rows: -x + s = 0 with s >= 0.
    let bounded: Vec<usize> = (0..n).filter(|&i| problem.lower[i] == 0.0).collect();
    let mut starts = vec![0];
    let mut rows = Vec::new();
    for i in 0..n {
        rows.extend(bounded.binary_search(&i).ok());
        starts.push(rows.len());
    }
    let m = bounded.len();
    let a = CscMatrix::new(m, n, starts, rows, vec![-1.0; m]);
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        ..Default::default()
    };
    let cones = [SupportedConeT::NonnegativeConeT(m)];
    let mut solver = DefaultSolver::new(&p, &q, &a, &vec![0.0; m], &cones, settings)
        .expect("a well-formed program");
    solver.solve();
    assert!(matches!(
        solver.solution.status,
        SolverStatus::Solved | SolverStatus::AlmostSolved
    ));
    solver
        .solution
        .x
        .iter()
        .zip(&scale)
        .map(|(x, s)| x * s * unit)
        .collect()
}

fn agree<const D: usize>(cells: [usize; D], ball: Shape<D>, surface: f64, velocity: [f64; D]) {
    let settings = Settings::<D>::new(cells, 1.0 / cells[0] as f64);
    let mut solids = tank(&settings);
    solids.list.push(still("ball", ball));
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(
        &|x| x[D - 1] - surface,
        &|x| velocity.map(|v| v * (1.0 + (7.0 * x[0]).sin())),
        &solids,
    );
    let problem = liquid.pressure_problem(&solids, 0.01).unwrap();
    let mlcp = BoxMlcp::new(
        &problem.matrix,
        &problem.rhs,
        &problem.lower,
        &problem.upper,
    )
    .unwrap();
    let n = mlcp.len();
    let mut mic0 = Mic0::new(Mic0Settings::default()).unwrap();
    mic0.rebuild(&problem.matrix, &Blocks::single(n)).unwrap();
    let mut by_newton = vec![0.0; n];
    let exact = newton::Settings::default().tolerance(1e-10);
    newton::solve(
        &mlcp,
        &exact,
        &mut mic0,
        &mut by_newton,
        &mut Default::default(),
        &mut (),
    )
    .unwrap();
    let mut by_policy = vec![0.0; n];
    let exact = policy::Settings::default().tolerance(1e-10);
    policy::solve(
        &mlcp,
        &exact,
        &mut mic0,
        &mut by_policy,
        &mut Default::default(),
        &mut (),
    )
    .unwrap();
    assert!(mlcp.residual_inf(&by_newton) <= 1e-10 && mlcp.residual_inf(&by_policy) <= 1e-10);
    let largest = by_policy.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    let separated = (0..n)
        .filter(|&i| problem.lower[i] == 0.0 && by_policy[i] == 0.0)
        .count();
    assert!(separated > 3, "no row separates: the bounds do nothing");
    let program = by_clarabel(&problem);
    for i in 0..n {
        assert!((by_newton[i] - by_policy[i]).abs() <= 1e-6 * largest);
        assert!(
            (program[i] - by_policy[i]).abs() <= 1e-5 * largest,
            "row {i}: {} and {}",
            program[i],
            by_policy[i]
        );
    }
    let stencil = problem.stencil_problem().unwrap();
    for solver in Solver::ALL.iter().filter(|solver| !solver.is_linear()) {
        let settings = solvers::Settings {
            solver: *solver,
            tolerance: 1e-10,
            // Full multigrid need not converge; of all others no substitute may answer.
            fall_back: *solver == Solver::Fmg,
            ..Default::default()
        };
        let mut x = vec![0.0; n];
        let memory = &mut solvers::Workspace::default();
        let solution = solvers::solve(
            &stencil.posed().unwrap(),
            &settings,
            &mut x,
            memory,
            &mut (),
        )
        .unwrap();
        assert_eq!(solution.report.status, Status::Converged, "{solver}");
        for i in 0..n {
            let apart = (program[i] - x[i]).abs();
            assert!(apart <= 1e-5 * largest, "{solver}: row {i} is {}", x[i]);
        }
    }
}

#[test]
fn newton_policy_iteration_and_clarabel_agree_on_a_small_grid_in_2d() {
    agree(
        [24, 20],
        Shape::Sphere {
            center: [0.52, 0.31],
            radius: 0.17,
        },
        0.43,
        [1.3, 0.9],
    );
}

#[test]
fn newton_policy_iteration_and_clarabel_agree_on_a_small_grid_in_3d() {
    agree(
        [10, 9, 11],
        Shape::Sphere {
            center: [0.52, 0.41, 0.33],
            radius: 0.19,
        },
        0.52,
        [1.3, -0.4, 0.9],
    );
}
