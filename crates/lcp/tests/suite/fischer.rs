//! Fischer-Newton: what it solves, by which means, and what it says where it cannot.

use crate::gallery::{self, Domain, Instance, Random, dense};
use crate::harness::{INF, Run, difference, fischers, mic};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::fischer::{Inner, Kink, Settings};
use meniscus_lcp::precondition::{Jacobi, Preconditioner};
use meniscus_lcp::{BoxMlcp, Status, Trace};

const INNERS: [Inner; 3] = [
    Inner::Gmres { restart: 100 },
    Inner::NormalEquations,
    Inner::Direct,
];
const KINKS: [Kink; 4] = [
    Kink::Zero,
    Kink::Random { seed: 1 },
    Kink::Perturbation { epsilon: 1e-7 },
    Kink::Approximation,
];

fn cone(seed: u64) -> generated::Instance {
    generated::contact_cone(30, &mut Random::new(seed))
}

#[test]
fn all_of_a_hundred_cone_problems_are_solved_in_no_more_iterations_than_the_notes_count() {
    let mut to_a_thousandth = 0;
    for seed in 0..100 {
        let instance = cone(seed);
        let problem = instance.problem();
        let mut x = vec![0.0; problem.len()];
        let mut trace = Trace::default();
        let report = Settings::default().observed(&problem, &mut x, &mut trace);
        assert_eq!(report.status, Status::Converged, "{seed}: {report:?}");
        let reached = trace
            .outer
            .iter()
            .position(|progress| progress.merit < 1e-3);
        to_a_thousandth += reached.unwrap();
    }
    // 14.54 on average in the notes, on problems of their own.
    assert!(to_a_thousandth <= 1000, "{to_a_thousandth}");
}

#[test]
fn banded_problems_take_the_few_iterations_of_the_notes_whatever_is_done_at_kinks() {
    let instance = generated::banded(1000, 3, 0.5, &mut Random::new(1));
    let problem = instance.problem();
    for kink in KINKS {
        let settings = Settings::default().kink(kink);
        let mut x = vec![0.0; 1000];
        let mut trace = Trace::default();
        let report = settings.observed(&problem, &mut x, &mut trace);
        assert_eq!(report.status, Status::Converged, "{kink:?} {report:?}");
        assert!(report.iterations <= 7, "{kink:?} {report:?}");
        assert!(difference(&x, &instance.solution) < 1e-7);
        // The last step gains at least as many digits as there were before it: convergence faster than linear.
        let last = &trace.outer[trace.outer.len() - 2..];
        assert!(last[1].residual < 1e-3 * last[0].residual, "{kink:?}");
    }
}

#[test]
fn every_inner_solver_solves_cone_problems_with_every_treatment_of_kinks() {
    for settings in fischers() {
        for seed in 0..10 {
            let instance = cone(seed);
            let report = settings.run(&instance.problem(), &mut vec![0.0; instance.rhs.len()]);
            assert_eq!(report.status, Status::Converged, "{settings:?} {seed}");
        }
    }
}

#[test]
fn a_preconditioner_of_the_matrix_saves_inner_iterations() {
    let instance = Instance::with_known_solution(Domain::cube(14), 3).grounded(1e-4);
    let run = |preconditioner: &mut dyn Preconditioner| {
        let mut x = vec![0.0; instance.len()];
        let report =
            Settings::default().preconditioned(&instance.problem(), preconditioner, &mut x);
        assert_eq!(report.status, Status::Converged);
        report.inner_iterations
    };
    let with = run(&mut mic(&instance));
    let without = run(&mut Jacobi::new(&instance.matrix).unwrap());
    assert!(4 * with < 3 * without, "{with} {without}");
}

#[test]
fn the_seed_of_random_kinks_names_the_run() {
    // Half of the rows start at the kink, x = y = 0.
    let matrix = gallery::chain(20, 0.5);
    let rhs: Vec<f64> = (0..20)
        .map(|i| if i % 2 == 0 { 0.0 } else { -1.0 })
        .collect();
    let (lower, upper) = (vec![0.0; 20], vec![INF; 20]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let run = |kink| {
        let settings = Settings::default().kink(kink);
        let mut trace = Trace::default();
        let mut x = vec![0.0; 20];
        let report = settings.observed(&problem, &mut x, &mut trace);
        assert_eq!(report.status, Status::Converged, "{kink:?}");
        trace.outer[1].merit
    };
    let random = |seed| run(Kink::Random { seed });
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
    // All four strategies leave the kink in directions of their own.
    let perturbed = run(Kink::Perturbation { epsilon: 1e-7 });
    let approximated = run(Kink::Approximation);
    assert_ne!(run(Kink::Zero), perturbed);
    assert_ne!(run(Kink::Zero), approximated);
    assert_ne!(perturbed, approximated);
}

#[test]
fn the_merit_never_rises_unless_the_search_may_look_back() {
    let rises = |memory: usize| {
        let rising = (0..20).filter(|&seed| {
            let instance = cone(seed);
            let settings = Settings::default().memory(memory).rescues(0);
            let mut trace = Trace::default();
            let mut x = vec![0.0; instance.rhs.len()];
            settings.observed(&instance.problem(), &mut x, &mut trace);
            trace
                .outer
                .windows(2)
                .any(|pair| pair[1].merit > pair[0].merit)
        });
        rising.count()
    };
    assert_eq!(rises(1), 0);
    assert!(rises(5) > 0);
}

#[test]
fn a_rescue_is_what_solves_the_hardest_cone_problem() {
    let instance = cone(83);
    let run = |rescues| {
        let settings = Settings::default().rescues(rescues);
        let mut x = vec![0.0; instance.rhs.len()];
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        settings.preconditioned(&instance.problem(), &mut jacobi, &mut x)
    };
    let (without, with) = (run(0), run(3));
    assert_ne!(without.status, Status::Converged, "{without:?}");
    assert_eq!(with.status, Status::Converged, "{with:?}");
}

#[test]
fn regularised_steps_save_iterations_where_the_jacobian_is_singular() {
    let iterations = |regularisation| -> usize {
        let run = |seed| {
            let instance = cone(seed);
            let settings = Settings::default()
                .inner(Inner::Direct)
                .regularisation(regularisation);
            let mut x = vec![0.0; instance.rhs.len()];
            settings
                .observed(&instance.problem(), &mut x, &mut ())
                .iterations
        };
        (0..20).map(run).sum()
    };
    let (with, without) = (iterations(1e-3), iterations(0.0));
    assert!(with < without, "{with} {without}");
}

#[test]
fn problems_without_a_solution_end_with_a_word_that_is_not_success() {
    // y = -1 whatever x.
    let zero = dense([[0.0]]);
    let problem = BoxMlcp::new(&zero, &[-1.0], &[0.0], &[INF]).unwrap();
    for inner in INNERS {
        let settings = Settings::default().inner(inner);
        let report = settings.observed(&problem, &mut [0.0], &mut ());
        assert_ne!(report.status, Status::Converged, "{inner:?} {report:?}");
    }
    // x1 + x2 = 1 and x1 + x2 = 2, both free: the least squares solution is where the gradient vanishes.
    let matrix = dense([[1.0, 1.0], [1.0, 1.0]]);
    let problem = BoxMlcp::new(&matrix, &[-1.0, -2.0], &[-INF; 2], &[INF; 2]).unwrap();
    for inner in INNERS {
        let settings = Settings::default().inner(inner);
        let mut x = [0.0; 2];
        let report = settings.observed(&problem, &mut x, &mut ());
        assert_eq!(report.status, Status::LocalMinimum, "{inner:?} {report:?}");
        assert!((x[0] + x[1] - 1.5).abs() < 1e-6, "{inner:?} {x:?}");
    }
}

#[test]
fn results_do_not_depend_on_units() {
    // Factors of two change no digit: every merit must be the same but for the units.
    let plain = Instance::with_known_solution(Domain::cube(5), 3).grounded(0.01);
    for inner in INNERS {
        let merits = |matrix_scale: f64, x_scale: f64| -> Vec<f64> {
            let instance = plain.rescaled(matrix_scale, x_scale);
            let settings = Settings::default()
                .inner(inner)
                .tolerance(1e-300)
                .max_iterations(6);
            let mut trace = Trace::default();
            let mut x = vec![0.0; instance.len()];
            let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
            settings.solve(&instance.problem(), &mut jacobi, &mut x, &mut trace);
            let unit = matrix_scale * x_scale;
            let merits = trace.outer.iter();
            merits
                .map(|progress| progress.merit / unit / unit)
                .collect()
        };
        let reference = merits(1.0, 1.0);
        assert!(
            reference[6] < 1e-3 * reference[0],
            "{inner:?} {reference:?}"
        );
        let (large, small) = (2.0_f64.powi(30), 2.0_f64.powi(-30));
        for (matrix_scale, x_scale) in [(large, 1.0), (small, 1.0), (1.0, large), (1.0, small)] {
            assert_eq!(merits(matrix_scale, x_scale), reference, "{inner:?}");
        }
    }
}
