//! Every method on every kind of problem that it is for, against oracles that share no code with it.

use crate::gallery::{self, Domain, Instance, Random, by_exhaustion, dense};
use crate::harness::{
    ABOVE_ZERO, FREE, INF, Run, all, difference, fischers, mic, newtons, noise, pivoting,
    preconditioned, preconditioners, splittings,
};
use crate::oracle::quadratic_programme;
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::{
    enumerate, fischer, interior_point, linear, mprgp, newton, penalty, pgs, start,
};
use meniscus_lcp::precondition::{Identity, Jacobi, Preconditioner};
use meniscus_lcp::{Blocks, BoxMlcp, Csr, Operator, Order, Report, Rows, Status, reduce};
use proptest::prelude::*;

fn converged(name: &str, case: &str, report: &Report) {
    assert_eq!(
        report.status,
        Status::Converged,
        "{name}, {case}: {report:?}"
    );
}

/// `1/2 x'Ax + b'x`
fn objective(instance: &Instance, x: &[f64]) -> f64 {
    0.5 * instance.matrix.apply_dot(x, &mut vec![0.0; x.len()]) + reduce::dot(&instance.rhs, x)
}

/// Zero, far above, and noise.
fn start(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed ^ 0xABCD);
    match random.below(3) {
        0 => vec![0.0; n],
        1 => vec![1e3; n],
        _ => noise(n, &mut random).iter().map(|x| 100.0 * x).collect(),
    }
}

/// Planes and cubes with every kind of row.
fn domain(spatial: bool, side: usize) -> Domain {
    match spatial {
        true => Domain::cube(1 + side / 2),
        false => Domain::plane(side),
    }
}

/// A method by the oracle's solution. The matrix is at least 0.01 I, which bounds the error of either by its residual.
fn agrees(
    instance: &Instance,
    oracle: &[f64],
    method: &dyn Run,
    p: &mut dyn Preconditioner,
    seed: u64,
) {
    let problem = instance.problem();
    let mut x = start(instance.len(), seed);
    let report = method.preconditioned(&problem, p, &mut x);
    converged(method.name(), &format!("{method:?}"), &report);
    let largest = reduce::largest(oracle).max(1e-3);
    let oracle_residual = problem.residual_inf(oracle);
    assert!(oracle_residual < 1e-3);
    let loose = if method.bound() > 1e-9 {
        method.bound()
    } else {
        0.0
    };
    let error = difference(&x, oracle);
    assert!(
        error <= 1e-6 * largest + 1e3 * (oracle_residual + loose),
        "{method:?}: {error}"
    );
    let excess = objective(instance, &x) - objective(instance, oracle);
    assert!(
        excess <= (1e-7 + 1e3 * loose) * largest,
        "{method:?}: {excess}"
    );
}

proptest! {
    #![proptest_config(gallery::cases(96))]

    #[test]
    fn every_method_finds_the_solution_that_clarabel_finds(
        seed: u64, spatial: bool, side in 2_usize..12, weakest in prop::sample::select(vec![1.0, 0.05, 1e-4]),
    ) {
        let domain = Domain { weakest, ..domain(spatial, side) };
        let instance = Instance::with_known_solution(domain, seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        for method in preconditioned() {
            for mut preconditioner in preconditioners(&instance) {
                agrees(&instance, &oracle, &*method.within(1e-10, 10_000), &mut *preconditioner, seed);
            }
        }
        for tolerance in [1e-6, 1e-8] {
            let settings = penalty::Settings::default().tolerance(tolerance);
            agrees(&instance, &oracle, &settings, &mut mic(&instance), seed);
        }
        for method in newtons() {
            let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
            agrees(&instance, &oracle, &*method.within(1e-10, 200), &mut jacobi, seed);
        }
        agrees(&instance, &oracle, &fischer::Settings::default().tolerance(1e-10), &mut mic(&instance), seed);
        agrees(&instance, &oracle, &interior_point::Settings::default(), &mut Identity, seed);
    }

    #[test]
    fn every_method_solves_singular_matrices_with_a_solution(
        seed: u64, spatial: bool, side in 2_usize..12, cuts in prop::sample::select(vec![0.0, 0.1, 0.5]),
    ) {
        let instance = Instance::with_known_solution(Domain { holes: 0.0, cuts, ..domain(spatial, side) }, seed);
        for method in preconditioned() {
            // From this far away, single solves of the penalty method and of MPRGP end at the level of rounding.
            let x = if method.name() == "newton" || method.name() == "policy" { start(instance.len(), seed) } else { vec![50.0; instance.len()] };
            let report = method.preconditioned(&instance.problem(), &mut mic(&instance), &mut x.clone());
            converged(method.name(), "MIC(0)", &report);
        }
        let mut methods = pivoting();
        methods.push(Box::new(interior_point::Settings::default()));
        for method in methods.iter().filter(|method| side < 8 || method.name() == "interior_point") {
            let report = method.run(&instance.problem(), &mut vec![0.0; instance.len()]);
            converged(method.name(), "singular", &report);
        }
    }
}

proptest! {
    #![proptest_config(gallery::cases(48))]

    #[test]
    fn every_sweep_finds_the_solution_that_clarabel_finds(
        seed: u64, spatial: bool, side in 2_usize..9, weakest in prop::sample::select(vec![1.0, 0.05]),
    ) {
        let domain = Domain { weakest, ..domain(spatial, side) };
        let instance = Instance::with_known_solution(domain, seed).grounded(0.05);
        prop_assume!(instance.len() > 0);
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        for method in splittings() {
            agrees(&instance, &oracle, &*method.within(1e-10, 200_000), &mut Identity, seed);
        }
    }

    #[test]
    fn sparse_and_dense_matrices_have_their_known_solution(seed: u64, n in 1_usize..60) {
        let mut random = Random::new(seed);
        let banded = generated::banded(n, 3.min(n), 0.5, &mut random);
        for method in all() {
            let mut x = vec![0.0; n];
            let report = method.within(1e-10, 200_000).run(&banded.problem(), &mut x);
            converged(method.name(), "banded", &report);
            prop_assert!(difference(&x, &banded.solution) < 1e-7, "{method:?}");
        }
        for null in [0.0, 0.3] {
            let dense = generated::dense(n, null, 0.5, &mut random);
            // Jacobi need not converge on this kind; Gauss-Seidel must, if the matrix is definite.
            let methods: Vec<Box<dyn Run>> = splittings().into_iter().skip(1).filter(|_| null == 0.0).collect();
            for method in methods {
                let mut x = vec![0.0; n];
                let report = method.within(1e-9, 200_000).run(&dense.problem(), &mut x);
                converged(method.name(), "dense", &report);
                prop_assert!(difference(&x, &dense.solution) < 1e-7 * n as f64, "{method:?}");
            }
            let mut x = vec![0.0; n];
            let report = mprgp::Settings::default().run(&dense.problem(), &mut x);
            converged("mprgp", "dense", &report);
            prop_assert!(null > 0.0 || difference(&x, &dense.solution) < 1e-7 * (n * n) as f64);
        }
    }

    #[test]
    fn matrices_without_symmetry_give_the_solution_that_exhaustion_finds(
        seed: u64, n in 1_usize..6, dominance in prop::sample::select(vec![1.0, 2.0]),
    ) {
        let mut random = Random::new(seed);
        // Positive real part, so that there is one solution and no other.
        let row = |i: usize, random: &mut Random| {
            let entry = |j, random: &mut Random| if i == j { dominance * n as f64 + 0.5 } else { random.between(-2.0, 2.0) };
            (0..n).map(|j| (j as u32, entry(j, random))).collect()
        };
        let matrix = gallery::from_rows((0..n).map(|i| row(i, &mut random)).collect());
        let mut instance = Instance::hostile(matrix, &mut random);
        instance.rhs = noise(n, &mut random).iter().map(|b| 5.0 * b).collect();
        instance.upper.iter_mut().filter(|upper| **upper == 1e300).for_each(|upper| *upper = INF);
        let oracle = by_exhaustion(&instance.matrix, &instance.rhs, &instance.lower, &instance.upper);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let newtons = newtons().into_iter().filter(|method| dominance > 1.0 && format!("{method:?}").contains("Gmres"));
        let mut methods: Vec<Box<dyn Run>> = newtons.collect();
        methods.extend(fischers().into_iter().map(|settings| Box::new(settings) as Box<dyn Run>));
        methods.extend(pivoting());
        methods.push(Box::new(enumerate::Settings::default()));
        methods.push(Box::new(interior_point::Settings::default()));
        for method in methods {
            let mut x = vec![random.between(-3.0, 3.0); n];
            let report = method.within(1e-9, 100_000).run(&instance.problem(), &mut x);
            converged(method.name(), &format!("{method:?}"), &report);
            prop_assert!(difference(&x, &oracle) < 1e-6, "{method:?}: {x:?} {oracle:?}");
        }
    }
}

#[test]
fn every_krylov_method_inside_newton_finds_the_same_solution() {
    let membrane = crate::fas::membrane(20);
    let solve = |inner, jacobi: bool| {
        let settings = newton::Settings::default().inner(inner);
        let mut x = vec![0.0; membrane.len()];
        let preconditioner = &mut preconditioners(&membrane)[usize::from(jacobi)];
        let report = settings.preconditioned(&membrane.problem(), &mut **preconditioner, &mut x);
        converged("newton", &format!("{inner:?}"), &report);
        assert!(report.inner_iterations > report.iterations);
        x
    };
    let expected = solve(newton::Inner::Pcg, true);
    for inner in [
        newton::Inner::Cr,
        newton::Inner::Bicgstab,
        crate::harness::GMRES,
    ] {
        for jacobi in [false, true] {
            assert!(
                difference(&solve(inner, jacobi), &expected) < 1e-6,
                "{inner:?}"
            );
        }
    }
}

#[test]
fn a_warm_start_needs_fewer_iterations_than_a_cold_one() {
    let mut instance = Instance::with_known_solution(Domain::cube(12), 7).grounded(0.01);
    let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
    for method in preconditioned() {
        let mut solver = method.solver();
        let mut x = vec![0.0; instance.len()];
        let cold = solver(&instance.problem(), &mut jacobi, &mut x, &mut ()).unwrap();
        instance.rhs.iter_mut().for_each(|b| *b *= 1.001);
        let warm = solver(&instance.problem(), &mut jacobi, &mut x, &mut ()).unwrap();
        converged(method.name(), "cold", &cold);
        converged(method.name(), "warm", &warm);
        let work = |report: Report| report.inner_iterations.max(report.iterations);
        assert!(
            work(warm) < work(cold),
            "{}: {warm:?} {cold:?}",
            method.name()
        );
        let again = solver(&instance.problem(), &mut jacobi, &mut x, &mut ()).unwrap();
        assert_eq!(again.iterations, 0, "{}", method.name());
    }
}

#[test]
fn results_do_not_depend_on_the_units_of_x_and_y() {
    let plain = Instance::with_known_solution(Domain::cube(8), 3).grounded(0.01);
    let mut expected = vec![0.0; plain.len()];
    let settings = newton::Settings::default().tolerance(1e-10);
    settings.preconditioned(&plain.problem(), &mut mic(&plain), &mut expected);
    for (matrix_scale, x_scale) in [(1e-9, 1.0), (1e9, 1.0), (1.0, 1e-6), (1e-3, 1e5)] {
        let instance = plain.rescaled(matrix_scale, x_scale);
        let tolerance = 1e-10 * matrix_scale * x_scale;
        for method in preconditioned()
            .into_iter()
            .filter(|method| method.name() != "mprgp")
        {
            for (which, mut preconditioner) in preconditioners(&instance).into_iter().enumerate() {
                // Of those that do not know the units only the penalty method is certain.
                if which == 0 && method.name() != "penalty" {
                    continue;
                }
                let mut x = vec![0.0; instance.len()];
                let method = method.within(tolerance, 100);
                let report =
                    method.preconditioned(&instance.problem(), &mut *preconditioner, &mut x);
                converged(method.name(), &format!("{matrix_scale} {x_scale}"), &report);
                x.iter_mut().for_each(|x| *x /= x_scale);
                assert!(difference(&x, &expected) < 1e-6 * reduce::largest(&expected));
            }
        }
    }
}

#[test]
fn one_row_takes_every_side_of_its_box() {
    // y = 2 x + b
    let matrix = dense([[2.0]]);
    let mut methods = all();
    methods.push(Box::new(enumerate::Settings::default()));
    for (b, bounds, expected) in [
        (-4.0, FREE, 2.0),
        (4.0, FREE, -2.0),
        (-4.0, ABOVE_ZERO, 2.0),
        (4.0, ABOVE_ZERO, 0.0),
        (-4.0, (0.0, 1.0), 1.0),
        (-4.0, (0.0, 3.0), 2.0),
        (4.0, (-1.0, 3.0), -1.0),
        (4.0, (-1.0, INF), -1.0),
        (-4.0, (-INF, 1.0), 1.0),
        (4.0, (-INF, -3.0), -3.0),
        (4.0, (-INF, 3.0), -2.0),
        (7.0, (5.0, 5.0), 5.0),
        (-70.0, (5.0, 5.0), 5.0),
    ] {
        for (method, start) in methods
            .iter()
            .flat_map(|m| [-10.0, 0.0, 10.0].map(|x| (m, x)))
        {
            let (report, x) = method.uniform((&matrix, &[b], bounds), start, &mut ());
            let case = format!("{b} {bounds:?} from {start}");
            converged(method.name(), &case, &report);
            assert!(
                (x[0] - expected).abs() < 1e-7,
                "{method:?}, {case}: {}",
                x[0]
            );
            if matches!(method.name(), "policy" | "lemke" | "dantzig" | "keller") {
                assert_eq!(x[0], expected, "{method:?}, {case}");
            }
        }
    }
}

#[test]
fn an_empty_problem_is_solved_without_an_iteration() {
    let matrix = Csr::new(0, vec![0], vec![], vec![]).unwrap();
    let problem = BoxMlcp::new(&matrix, &[], &[], &[]).unwrap();
    assert!(problem.is_empty() && matrix.is_empty());
    let mut mic = meniscus_lcp::precondition::Mic0::new(Default::default()).unwrap();
    for blocks in [Blocks::single(0), Blocks::new(vec![0], vec![0]).unwrap()] {
        mic.rebuild(&matrix, &blocks).unwrap();
        mic.restrict(&[]);
        assert_eq!(mic.apply_masked_dot(&[], &[], &mut []), 0.0);
        let mut methods = all();
        methods.push(Box::new(linear::Settings::default()));
        methods.push(Box::new(start::Settings::default()));
        methods.push(Box::new(enumerate::Settings::default()));
        for method in methods {
            let report = method.preconditioned(&problem, &mut mic, &mut []);
            assert_eq!(
                (report.status, report.iterations, report.residual),
                (Status::Converged, 0, 0.0),
                "{method:?}"
            );
        }
    }
}

#[test]
fn a_start_that_is_a_solution_needs_no_iteration() {
    let matrix = gallery::chain(5, 0.0);
    for method in all() {
        let (report, _) = method.uniform((&matrix, &[1.0; 5], ABOVE_ZERO), 0.0, &mut ());
        assert_eq!(
            (report.status, report.iterations, report.merit),
            (Status::Converged, 0, 0.0),
            "{method:?}"
        );
    }
    let free = linear::Settings::default().uniform((&matrix, &[0.0; 5], FREE), 0.0, &mut ());
    assert_eq!((free.0.status, free.0.iterations), (Status::Converged, 0));
}

#[test]
fn a_workspace_that_has_seen_other_problems_gives_the_same_bits() {
    // The second pattern has fewer couplings, so the colours of the first would separate it, too. The third and the
    // fourth differ in their pattern only by where rows end.
    let plane = |cuts| {
        let domain = Domain {
            cuts,
            ..Domain::plane(14)
        };
        Instance::with_known_solution(domain, 2).grounded(0.1)
    };
    let ends = |starts: Vec<usize>, values: Vec<f64>| Instance {
        matrix: Csr::new(3, starts, vec![0, 1, 1, 2], values).unwrap(),
        blocks: Blocks::single(3),
        rhs: vec![-1.0; 3],
        lower: vec![0.0; 3],
        upper: vec![10.0; 3],
    };
    let instances = [
        plane(0.1),
        plane(0.6),
        ends(vec![0, 2, 3, 4], vec![2.0, 0.5, 2.0, 2.0]),
        ends(vec![0, 1, 2, 4], vec![2.0, 2.0, 0.5, 2.0]),
        plane(0.1),
    ];
    for method in all() {
        let method = method.within(1e-8, 9);
        let mut used = method.solver();
        for (case, instance) in instances.iter().enumerate() {
            let (mut shared, mut fresh) = (vec![0.0; instance.len()], vec![0.0; instance.len()]);
            let report = used(&instance.problem(), &mut Identity, &mut shared, &mut ()).unwrap();
            let expected = method.run(&instance.problem(), &mut fresh);
            assert_eq!(
                (report, shared),
                (expected, fresh),
                "{method:?}, case {case}"
            );
        }
    }
}

#[test]
fn stored_densely_or_sparsely_the_result_is_the_same() {
    let instance = generated::dense(20, 0.2, 0.5, &mut Random::new(6));
    let matrix = instance.matrix.to_dense();
    let problem = BoxMlcp::new(&matrix, &instance.rhs, &instance.lower, &instance.upper).unwrap();
    macro_rules! same {
        ($module:ident, $settings:expr) => {{
            let (mut dense, mut sparse) = (vec![0.0; 20], vec![0.0; 20]);
            let (settings, w) = ($settings, &mut $module::Workspace::default());
            let of_dense = $module::solve(&problem, &settings, &mut dense, w, &mut ()).unwrap();
            let of_sparse = settings.run(&instance.problem(), &mut sparse);
            assert_eq!(
                of_dense.iterations, of_sparse.iterations,
                stringify!($module)
            );
            assert!(difference(&dense, &sparse) < 1e-12, stringify!($module));
        }};
    }
    same!(interior_point, interior_point::Settings::default());
    for order in [Order::Natural, Order::Colours] {
        same!(
            pgs,
            pgs::Settings::default().order(order).max_iterations(30)
        );
    }
}

#[test]
fn the_natural_residual_is_the_minimum_on_lower_bounds_and_y_on_free_rows() {
    let matrix = dense([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let rhs = [-1.0, 1e-9 - 1e8, 2.0];
    let problem = BoxMlcp::new(&matrix, &rhs, &[0.0, -INF, 5.0], &[INF, INF, 5.0]).unwrap();
    let x = [3.0, 1e8, 4.0];
    let mut r = [0.0; 3];
    let largest = problem.natural_residual(&x, &mut r);
    // On free rows x - (x - y) would have lost y altogether.
    assert_eq!(r, [2.0, 1e8 + (1e-9 - 1e8), -1.0]);
    assert_eq!(largest, 2.0);
    assert!(problem.residual_inf(&[f64::NAN, 0.0, 5.0]).is_nan());
    assert!(reduce::largest(&[0.0, f64::NAN, 9.0]).is_nan());
}
