//! MPRGP: conjugate gradients where nothing is in the way, the solution of the box where something is.

use crate::gallery;
use crate::harness::Run;
use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, chain, dense};
use crate::oracle::quadratic_programme;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::{Identity, Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{
    BoxMlcp, Csr, InputError, Observer, Operator, Progress, Report, Rows, Status, Trace, reduce,
};
use proptest::prelude::*;

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

fn mic(instance: &Instance) -> Mic0 {
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(&instance.matrix, &instance.blocks).unwrap();
    mic
}

/// Solves, and checks what holds for every report.
fn solve<A: Rows>(
    problem: &BoxMlcp<'_, A>,
    settings: mprgp::Settings,
    preconditioner: &mut impl Preconditioner,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let report = settings
        .attempt(problem, preconditioner, x, observer)
        .unwrap();
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(report.residual == residual || (report.residual.is_nan() && residual.is_nan()));
    assert_eq!(
        report.status == Status::Converged,
        residual <= settings.tolerance,
        "{report:?}"
    );
    for i in 0..x.len() {
        assert!(problem.lower()[i] <= x[i] && x[i] <= problem.upper()[i]);
    }
    report
}

fn tight() -> mprgp::Settings {
    mprgp::Settings::default().tolerance(1e-10)
}

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn mprgp_finds_the_solution_that_clarabel_finds(
        seed: u64, spatial: bool, side in 2_usize..12, weakest in prop::sample::select(vec![1.0, 0.05, 1e-4]),
    ) {
        let domain = if spatial { Domain::cube(1 + side / 2) } else { Domain::plane(side) };
        let instance = Instance::with_known_solution(Domain { weakest, ..domain }, seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let problem = instance.problem();
        let allowed = 1e-6 * reduce::largest(&oracle).max(1e-3) + 1e3 * problem.residual_inf(&oracle);
        let mut random = Random::new(seed);
        let start: Vec<f64> = (0..instance.len()).map(|_| random.between(-20.0, 20.0)).collect();
        let (mut plain, mut by_diagonal, mut by_mic) = (start.clone(), start.clone(), start);
        let reports = [
            solve(&problem, tight(), &mut Identity, &mut plain, &mut ()),
            solve(&problem, tight(), &mut Jacobi::new(&instance.matrix).unwrap(), &mut by_diagonal, &mut ()),
            solve(&problem, tight(), &mut mic(&instance), &mut by_mic, &mut ()),
        ];
        for (report, x) in reports.iter().zip([plain, by_diagonal, by_mic]) {
            prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
            prop_assert!(difference(&x, &oracle) <= allowed);
        }
    }

    #[test]
    fn singular_matrices_with_a_solution_are_solved(
        seed: u64, side in 2_usize..10, cuts in prop::sample::select(vec![0.0, 0.1, 0.5]),
    ) {
        let instance = Instance::with_known_solution(Domain { holes: 0.0, cuts, ..Domain::plane(side) }, seed);
        let mut x = vec![50.0; instance.len()];
        let settings = mprgp::Settings::default();
        let report = solve(&instance.problem(), settings, &mut mic(&instance), &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
    }

    #[test]
    fn dense_matrices_are_solved_the_singular_ones_too(seed: u64, n in 1_usize..50, null in prop::sample::select(vec![0.0, 0.3])) {
        let instance = generated::dense(n, null, 0.5, &mut Random::new(seed));
        let mut x = vec![0.0; n];
        let report = solve(&instance.problem(), mprgp::Settings::default(), &mut Identity, &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        if null == 0.0 {
            prop_assert!(difference(&x, &instance.solution) < 1e-8 * 10.0 * (n * n) as f64);
        }
    }

    #[test]
    fn the_energy_never_rises(seed: u64, side in 3_usize..8) {
        let instance = Instance::with_known_solution(Domain::cube(side), seed).grounded(0.01);
        let problem = instance.problem();
        let mut last = f64::INFINITY;
        for steps in 0..40 {
            let mut x = vec![1.0; instance.len()];
            // One step of the power method, so that the estimate of the norm is a bad one.
            let settings = tight().max_iterations(steps).power_iterations(1);
            solve(&problem, settings, &mut Jacobi::new(&instance.matrix).unwrap(), &mut x, &mut ());
            let mut product = vec![0.0; x.len()];
            let energy = 0.5 * instance.matrix.apply_dot(&x, &mut product) + reduce::dot(&instance.rhs, &x);
            prop_assert!(energy <= last + 1e-11 * (1.0 + energy.abs()), "step {steps}: {last} {energy}");
            last = energy;
        }
    }

    #[test]
    fn no_finite_problem_makes_it_panic_or_lie(
        n in 0_usize..6, seed: u64,
        scale in prop::sample::select(vec![0.0, 1e-300, 1e-8, 1.0, 1e150, 1e300]),
    ) {
        let mut random = Random::new(seed);
        let mut entries = vec![Vec::new(); n];
        for i in 0..n {
            for j in 0..n {
                if i == j || random.chance(0.7) {
                    entries[i].push((j as u32, scale * random.between(-1.0, 1.0)));
                }
            }
        }
        let matrix = gallery::from_rows(entries);
        let (mut lower, mut upper) = (vec![FREE.0; n], vec![FREE.1; n]);
        for i in 0..n {
            match random.below(5) {
                0 => lower[i] = 0.0,
                1 => upper[i] = random.between(-1.0, 1.0),
                2 => (lower[i], upper[i]) = (-1.0, 1e300),
                3 => (lower[i], upper[i]) = (0.5, 0.5),
                _ => {}
            }
        }
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0) * 10_f64.powi(random.below(4) as i32 * 100)).collect();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let mut x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0) * 1e10).collect();
        solve(&problem, mprgp::Settings::default().max_iterations(500), &mut Identity, &mut x, &mut ());
    }
}

#[test]
fn without_bounds_its_steps_are_those_of_conjugate_gradients() {
    let instance = Instance::with_known_solution(Domain::cube(9), 3).grounded(0.05);
    let n = instance.len();
    let (lower, upper) = (vec![FREE.0; n], vec![FREE.1; n]);
    let problem = BoxMlcp::new(&instance.matrix, &instance.rhs, &lower, &upper).unwrap();
    let right: Vec<f64> = instance.rhs.iter().map(|b| -b).collect();
    let preconditioner = mic(&instance);
    for steps in [1, 2, 3, 5, 8, 13] {
        let mut by_pcg = vec![0.5; n];
        let settings = pcg::Settings::default()
            .relative_tolerance(0.0)
            .max_iterations(steps);
        pcg::solve(
            &instance.matrix,
            &right,
            &settings,
            &preconditioner,
            &mut by_pcg,
            &mut Default::default(),
        )
        .unwrap();
        let mut x = vec![0.5; n];
        let settings = mprgp::Settings::default()
            .tolerance(1e-300)
            .max_iterations(steps);
        let report = solve(
            &problem,
            settings,
            &mut preconditioner.clone(),
            &mut x,
            &mut (),
        );
        assert_eq!(report.iterations, steps);
        // Rounding is all that may differ.
        assert!(
            difference(&x, &by_pcg) <= 1e-11 * reduce::largest(&by_pcg),
            "{steps}"
        );
    }
}

#[test]
fn a_good_preconditioner_saves_steps_on_the_free_face_too() {
    let instance = Instance::with_known_solution(Domain::plane(40), 9).grounded(1e-3);
    let steps = |preconditioner: &mut dyn Preconditioner| {
        let mut x = vec![0.0; instance.len()];
        let report = tight().preconditioned(&instance.problem(), preconditioner, &mut x);
        assert_eq!(report.status, Status::Converged);
        report.iterations
    };
    let (plain, by_mic) = (steps(&mut Identity), steps(&mut mic(&instance)));
    assert!(by_mic < plain, "{by_mic} {plain}");
}

fn end(matrix: &Csr, rhs: &[f64], bounds: (f64, f64), start: f64) -> Status {
    let n = rhs.len();
    let (lower, upper) = (vec![bounds.0; n], vec![bounds.1; n]);
    let problem = BoxMlcp::new(matrix, rhs, &lower, &upper).unwrap();
    solve(
        &problem,
        Default::default(),
        &mut Identity,
        &mut vec![start; n],
        &mut (),
    )
    .status
}

#[test]
fn problems_without_a_solution_end_in_a_ray() {
    // A ring without ground: A 1 = 0, so sum y = sum b, and nothing can make it zero or positive.
    let ring = Domain::closed([4, 4, 1])
        .laplacian(&mut Random::new(1))
        .matrix;
    let mut uneven = [-0.1; 16];
    uneven[3] = 0.7;
    for rhs in [[-0.1; 16], uneven] {
        assert_eq!(
            end(&ring, &rhs, (0.0, f64::INFINITY), 3.0),
            Status::Infeasible
        );
        assert_eq!(end(&ring, &rhs, FREE, 3.0), Status::Infeasible);
        // With an end to it, it is a problem like any other.
        assert_eq!(end(&ring, &rhs, (0.0, 100.0), 3.0), Status::Converged);
    }
    assert_eq!(end(&dense([[0.0]]), &[1.0], FREE, 0.0), Status::Infeasible);
    assert_eq!(
        end(&dense([[0.0]]), &[1.0], (0.0, f64::INFINITY), 4.0),
        Status::Converged
    );
}

#[test]
fn negative_curvature_without_a_bound_ahead_is_no_descent() {
    assert_eq!(end(&dense([[-1.0]]), &[1.0], FREE, 0.0), Status::NonDescent);
    // With a bound ahead, that is where it goes.
    assert_eq!(
        end(&dense([[-1.0]]), &[1.0], (-2.0, 2.0), 0.0),
        Status::Converged
    );
}

#[test]
fn limits_stops_and_stagnation_are_said() {
    let (matrix, rhs) = (chain(60, 0.0), vec![-1.0; 60]);
    let (lower, upper) = (vec![0.0; 60], vec![50.0; 60]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let run = |settings: mprgp::Settings, observer: &mut dyn Observer| {
        let mut x = vec![1.0; 60];
        settings.observed(&problem, &mut x, observer)
    };
    let mut trace = Trace::default();
    let report = run(mprgp::Settings::default(), &mut trace);
    assert_eq!(report.status, Status::Converged);
    assert_eq!(trace.outer.len(), report.iterations + 1);
    let report = run(mprgp::Settings::default().max_iterations(5), &mut ());
    assert_eq!(
        (report.status, report.iterations),
        (Status::IterationLimit, 5)
    );
    let report = run(mprgp::Settings::default().tolerance(1e-300), &mut ());
    assert_eq!(report.status, Status::Stagnated);
    assert!(report.residual < 1e-10);

    struct StopAt(usize);
    impl Observer for StopAt {
        fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
            if progress.iteration >= self.0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    for at in [0, 3] {
        let report = run(mprgp::Settings::default(), &mut StopAt(at));
        assert_eq!((report.status, report.iterations), (Status::Stopped, at));
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let matrix = chain(2, 0.0);
    let zero = [0.0; 2];
    let problem = BoxMlcp::new(&matrix, &zero, &zero, &[1.0; 2]).unwrap();
    let good = mprgp::Settings::default();
    let bad = [
        ("tolerance", good.tolerance(-1.0)),
        ("proportionality", good.proportionality(0.0)),
        ("step_factor", good.step_factor(2.0)),
        ("power_iterations", good.power_iterations(0)),
    ];
    for (expected, settings) in bad {
        let error = settings
            .attempt(&problem, &mut Identity, &mut [0.0; 2], &mut ())
            .unwrap_err();
        assert!(
            matches!(error, InputError::Setting { name, .. } if name == expected),
            "{error}"
        );
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let domain = Domain {
        tile: 8,
        ..Domain::cube(34)
    };
    let instance = Instance::with_known_solution(domain, 11).grounded(0.01);
    assert!(instance.len() > 30_000);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut x = vec![0.0; instance.len()];
            let mut trace = Trace::default();
            let report = solve(
                &instance.problem(),
                Default::default(),
                &mut mic(&instance),
                &mut x,
                &mut trace,
            );
            assert_eq!(report.status, Status::Converged);
            (
                x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>(),
                report,
                trace,
            )
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}
