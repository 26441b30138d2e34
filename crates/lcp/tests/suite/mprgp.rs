//! MPRGP: conjugate gradients where no bound is met, and an energy that never rises.

use crate::gallery::{self, Domain, Instance};
use crate::harness::{INF, Run, difference, mic};
use meniscus_lcp::krylov::pcg;
use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::{Identity, Jacobi, Preconditioner};
use meniscus_lcp::{Operator, Status, reduce};
use proptest::prelude::*;

fn tight() -> mprgp::Settings {
    mprgp::Settings::default().tolerance(1e-10)
}

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn the_energy_never_rises(seed: u64, side in 3_usize..8) {
        let instance = Instance::with_known_solution(Domain::cube(side), seed).grounded(0.01);
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        let mut last = INF;
        for steps in 0..40 {
            let mut x = vec![1.0; instance.len()];
            // One step of the power method, so that the estimate of the norm is a bad one.
            let settings = tight().max_iterations(steps).power_iterations(1);
            settings.preconditioned(&instance.problem(), &mut jacobi, &mut x);
            let mut product = vec![0.0; x.len()];
            let energy = 0.5 * instance.matrix.apply_dot(&x, &mut product) + reduce::dot(&instance.rhs, &x);
            prop_assert!(energy <= last + 1e-11 * (1.0 + energy.abs()), "step {steps}: {last} {energy}");
            last = energy;
        }
    }
}

#[test]
fn without_bounds_its_steps_are_those_of_conjugate_gradients() {
    let mut instance = Instance::with_known_solution(Domain::cube(9), 3).grounded(0.05);
    instance.lower.fill(-INF);
    instance.upper.fill(INF);
    let right: Vec<f64> = instance.rhs.iter().map(|b| -b).collect();
    let mut mic = mic(&instance);
    for steps in [1, 2, 3, 5, 8, 13] {
        let mut by_pcg = vec![0.5; instance.len()];
        let (mut x, workspace) = (by_pcg.clone(), &mut pcg::Workspace::default());
        let settings = pcg::Settings::default()
            .relative_tolerance(0.0)
            .max_iterations(steps);
        pcg::solve(
            &instance.matrix,
            &right,
            &settings,
            &mic,
            &mut by_pcg,
            workspace,
        )
        .unwrap();
        let settings = tight().tolerance(1e-300).max_iterations(steps);
        let report = settings.preconditioned(&instance.problem(), &mut mic, &mut x);
        assert_eq!(report.iterations, steps);
        // Rounding is all that may differ.
        let allowed = 1e-11 * reduce::largest(&by_pcg);
        assert!(difference(&x, &by_pcg) <= allowed, "{steps}");
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
