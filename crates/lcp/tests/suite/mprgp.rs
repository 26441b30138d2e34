//! MPRGP: conjugate gradients where nothing is in the way, the solution of the box where something is.

use crate::gallery;
use crate::harness::{Hostile, Run, bits, checked, difference, mic, refused, same_for_all_threads};
use std::ops::ControlFlow;

use crate::gallery::{Domain, Instance, Random, chain, dense};
use crate::oracle::quadratic_programme;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::{Identity, Jacobi, Preconditioner};
use meniscus_lcp::{BoxMlcp, Csr, Observer, Operator, Progress, Status, Trace, reduce};
use proptest::prelude::*;

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

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
            checked(&problem, tight(), &mut Identity, &mut plain, &mut ()),
            checked(&problem, tight(), &mut Jacobi::new(&instance.matrix).unwrap(), &mut by_diagonal, &mut ()),
            checked(&problem, tight(), &mut mic(&instance), &mut by_mic, &mut ()),
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
        let report = checked(&instance.problem(), settings, &mut mic(&instance), &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
    }

    #[test]
    fn dense_matrices_are_solved_the_singular_ones_too(seed: u64, n in 1_usize..50, null in prop::sample::select(vec![0.0, 0.3])) {
        let instance = generated::dense(n, null, 0.5, &mut Random::new(seed));
        let mut x = vec![0.0; n];
        let report = checked(&instance.problem(), mprgp::Settings::default(), &mut Identity, &mut x, &mut ());
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
            checked(&problem, settings, &mut Jacobi::new(&instance.matrix).unwrap(), &mut x, &mut ());
            let mut product = vec![0.0; x.len()];
            let energy = 0.5 * instance.matrix.apply_dot(&x, &mut product) + reduce::dot(&instance.rhs, &x);
            prop_assert!(energy <= last + 1e-11 * (1.0 + energy.abs()), "step {steps}: {last} {energy}");
            last = energy;
        }
    }

    #[test]
    fn no_finite_problem_causes_a_panic_or_a_false_report(
        n in 0_usize..6, seed: u64,
        scale in prop::sample::select(vec![0.0, 1e-300, 1e-8, 1.0, 1e150, 1e300]),
    ) {
        let hostile = Hostile::new(seed, n, scale);
        let settings = mprgp::Settings::default().max_iterations(500);
        checked(&hostile.problem(), settings, &mut Identity, &mut hostile.start.clone(), &mut ());
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
        let report = checked(
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
    checked(
        &problem,
        mprgp::Settings::default(),
        &mut Identity,
        &mut vec![start; n],
        &mut (),
    )
    .status
}

#[test]
fn problems_without_a_solution_are_infeasible() {
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
fn limits_stops_and_stagnation_are_reported() {
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
    let good = mprgp::Settings::default();
    refused(good.tolerance(-1.0), "tolerance");
    refused(good.proportionality(0.0), "proportionality");
    refused(good.step_factor(2.0), "step_factor");
    refused(good.power_iterations(0), "power_iterations");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let domain = Domain {
        tile: 8,
        ..Domain::cube(34)
    };
    let instance = Instance::with_known_solution(domain, 11).grounded(0.01);
    assert!(instance.len() > 30_000);
    same_for_all_threads(|| {
        let (mut x, mut trace) = (vec![0.0; instance.len()], Trace::default());
        let settings = mprgp::Settings::default();
        let report = checked(
            &instance.problem(),
            settings,
            &mut mic(&instance),
            &mut x,
            &mut trace,
        );
        assert_eq!(report.status, Status::Converged);
        (bits(&x), report, trace)
    });
}
