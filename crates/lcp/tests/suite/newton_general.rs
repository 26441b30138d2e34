//! Minimum map Newton beyond symmetric matrices: GMRES inside, a search that looks back, a globalisation.

use crate::gallery;
use crate::gallery::{Domain, Instance, Random, by_exhaustion};
use crate::harness::{Run, refused};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::newton::{self, Globalisation, Inner, Settings};
use meniscus_lcp::precondition::{Identity, Jacobi};
use meniscus_lcp::{BoxMlcp, Csr, InputError, Observer, Operator, Report, Status, Trace, reduce};
use proptest::prelude::*;

const GMRES: Inner = Inner::Gmres { restart: 100 };
const INF: f64 = f64::INFINITY;

/// Solves, and checks what holds for every report.
fn solve(
    problem: &BoxMlcp<'_, Csr>,
    settings: &Settings,
    x: &mut [f64],
    observer: &mut impl Observer,
) -> Report {
    let report = settings.observed(problem, x, observer);
    assert!(x.iter().all(|x| x.is_finite()), "{report:?}");
    let residual = problem.residual_inf(x);
    assert!(report.residual == residual || (report.residual.is_nan() && residual.is_nan()));
    assert_eq!(
        report.status == Status::Converged,
        residual <= settings.tolerance,
        "{report:?}"
    );
    report
}

fn cones_solved(settings: &Settings) -> usize {
    let solved = |&seed: &u64| {
        let instance = generated::contact_cone(30, &mut Random::new(seed));
        let mut x = vec![0.0; instance.rhs.len()];
        solve(&instance.problem(), settings, &mut x, &mut ()).status == Status::Converged
    };
    (0..100).filter(solved).count()
}

#[test]
fn the_globalisation_solves_the_cone_problems_that_the_plain_method_gives_up_on() {
    let plain = Settings::default().inner(GMRES).max_inner_iterations(1000);
    let globalised = plain.globalisation(Globalisation::Fischer);
    let (plain, globalised) = (cones_solved(&plain), cones_solved(&globalised));
    assert!(plain < 50, "{plain}");
    assert_eq!(globalised, 100);
}

/// Dominated by its diagonal, not symmetric; all kinds of rows.
fn small(random: &mut Random, n: usize) -> (Csr, Vec<f64>, Vec<f64>, Vec<f64>) {
    let row = |i: usize, random: &mut Random| {
        (0..n)
            .map(|j| {
                let entry = if i == j {
                    2.0 * n as f64
                } else {
                    random.between(-2.0, 2.0)
                };
                (j as u32, entry)
            })
            .collect()
    };
    let matrix = gallery::from_rows((0..n).map(|i| row(i, random)).collect());
    let rhs = (0..n).map(|_| random.between(-5.0, 5.0)).collect();
    let (mut lower, mut upper) = (vec![-INF; n], vec![INF; n]);
    for i in 0..n {
        match random.below(5) {
            0 => {}
            1 => lower[i] = 0.0,
            2 => upper[i] = random.between(-1.0, 1.0),
            3 => (lower[i], upper[i]) = (random.between(-1.0, 0.0), random.between(0.0, 1.0)),
            _ => {
                lower[i] = random.between(-1.0, 1.0);
                upper[i] = lower[i];
            }
        }
    }
    (matrix, rhs, lower, upper)
}

proptest! {
    #![proptest_config(gallery::cases(128))]

    #[test]
    fn matrices_without_symmetry_give_the_solution_that_trying_all_ways_finds(
        seed: u64, n in 1_usize..6, memory in prop::sample::select(vec![1, 5]), globalised: bool,
    ) {
        let mut random = Random::new(seed);
        let (matrix, rhs, lower, upper) = small(&mut random, n);
        let oracle = by_exhaustion(&matrix, &rhs, &lower, &upper).unwrap();
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let globalisation = if globalised { Globalisation::Fischer } else { Globalisation::None };
        let settings = Settings::default().inner(GMRES).memory(memory).globalisation(globalisation);
        let mut x = vec![random.between(-3.0, 3.0); n];
        let report = solve(&problem, &settings, &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        for (x, oracle) in x.iter().zip(&oracle) {
            prop_assert!((x - oracle).abs() < 1e-6, "{} {}", x, oracle);
        }
    }

    #[test]
    fn no_problem_causes_a_panic_a_hang_or_a_false_report(
        seed: u64, n in 0_usize..6, globalised: bool, memory in 1_usize..4,
        size in prop::sample::select(vec![0, 0, 0, 8, -8, 150, -150, 299, -299]),
    ) {
        let mut random = Random::new(seed);
        let (_, mut rhs, lower, upper) = small(&mut random, n);
        let scale = 10.0_f64.powi(size);
        // Zero rows, zero diagonals, no sign that holds.
        let mut rows = vec![Vec::new(); n];
        for row in rows.iter_mut().step_by(2) {
            for j in 0..n {
                if random.chance(0.6) {
                    row.push((j as u32, scale * random.between(-1.0, 1.0)));
                }
            }
        }
        let matrix = gallery::from_rows(rows);
        for b in &mut rhs {
            *b *= [1.0, scale, 0.0][random.below(3)];
        }
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let globalisation = if globalised { Globalisation::Fischer } else { Globalisation::None };
        let settings = Settings::default().inner(GMRES).memory(memory).globalisation(globalisation).max_iterations(50);
        let mut x: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
        solve(&problem, &settings, &mut x, &mut ());
        prop_assert!((0..n).all(|i| lower[i] <= x[i] && x[i] <= upper[i]));
    }

    #[test]
    fn on_symmetric_matrices_both_inner_solvers_and_the_globalisation_agree(seed: u64, side in 2_usize..10) {
        let instance = Instance::with_known_solution(Domain::plane(side), seed).grounded(0.01);
        prop_assume!(instance.len() > 0);
        let problem = instance.problem();
        let default = Settings::default().tolerance(1e-10);
        let run = |settings: Settings| {
            let mut x = vec![0.0; instance.len()];
            let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
            let report =
                settings.preconditioned(&problem, &mut jacobi, &mut x);
            assert_eq!(report.status, Status::Converged, "{settings:?} {report:?}");
            x
        };
        let by_pcg = run(default);
        let largest = reduce::largest(&by_pcg).max(1e-3);
        for settings in [
            default.inner(GMRES),
            default.memory(4),
            default.inner(GMRES).globalisation(Globalisation::Fischer),
        ] {
            for (a, b) in run(settings).iter().zip(&by_pcg) {
                prop_assert!((a - b).abs() <= 1e-6 * largest, "{:?}", settings);
            }
        }
    }
}

#[test]
fn the_merit_rises_only_if_the_search_may_look_back_and_the_best_iterate_is_kept() {
    let mut rose = [false; 2];
    for (at, memory) in [(0, 1), (1, 5)] {
        for seed in 0..20 {
            let instance = generated::contact_cone(10, &mut Random::new(seed));
            let settings = Settings::default()
                .inner(GMRES)
                .memory(memory)
                .max_inner_iterations(200)
                .max_iterations(30);
            let mut trace = Trace::default();
            let mut x = vec![0.0; instance.rhs.len()];
            let report = solve(&instance.problem(), &settings, &mut x, &mut trace);
            let merits = trace.outer.iter().map(|progress| progress.merit);
            let least = merits.fold(INF, f64::min);
            assert!(
                report.merit == least || report.status == Status::Converged,
                "{report:?} {least}"
            );
            rose[at] |= trace
                .outer
                .windows(2)
                .any(|pair| pair[1].merit > pair[0].merit);
        }
    }
    assert_eq!(rose, [false, true]);
}

#[test]
fn settings_out_of_range_are_refused() {
    let good = Settings::default();
    refused(good.inner(Inner::Gmres { restart: 0 }), "restart");
    refused(good.memory(0), "memory");
    refused(good.globalisation(Globalisation::Fischer), "inner");
}

#[test]
fn every_krylov_method_inside_finds_the_same_solution() {
    let membrane = crate::fas::membrane(20);
    let problem = membrane.problem();
    let of = |inner: Inner, jacobi: bool| {
        let settings = Settings::default().inner(inner);
        let mut x = vec![0.0; problem.len()];
        let memory = &mut newton::Workspace::default();
        let report = match jacobi {
            true => {
                let mut jacobi = Jacobi::new(&membrane.matrix).unwrap();
                newton::solve(&problem, &settings, &mut jacobi, &mut x, memory, &mut ())
            }
            false => newton::solve(&problem, &settings, &mut Identity, &mut x, memory, &mut ()),
        };
        let report = report.unwrap();
        assert_eq!(report.status, Status::Converged, "{inner:?}: {report:?}");
        assert!(report.inner_iterations > report.iterations);
        x
    };
    let expected = of(Inner::Pcg, true);
    for inner in [Inner::Cr, Inner::Bicgstab, GMRES] {
        for jacobi in [false, true] {
            for (x, y) in of(inner, jacobi).iter().zip(&expected) {
                assert!((x - y).abs() < 1e-6, "{inner:?}: {x} and {y}");
            }
        }
    }
    let unfit = Settings::default()
        .inner(Inner::Cr)
        .globalisation(Globalisation::Fischer);
    let x = &mut vec![0.0; problem.len()];
    let refused = unfit.attempt(&problem, &mut Identity, x, &mut ());
    assert!(matches!(
        refused,
        Err(InputError::Setting { name: "inner", .. })
    ));
}

/// `(A x)_i = 2 x_i + 1.5 x_{i-1} - 0.5 x_{i+1}`: a non-symmetric operator without stored entries.
struct Advection(usize);

impl Advection {
    fn product(x: &[f64], y: &mut [f64], before: f64, after: f64) {
        for i in 0..x.len() {
            let below = if i > 0 { x[i - 1] } else { 0.0 };
            let above = x.get(i + 1).copied().unwrap_or(0.0);
            y[i] = 2.0 * x[i] + before * below + after * above;
        }
    }
}

impl Operator for Advection {
    fn len(&self) -> usize {
        self.0
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        Self::product(x, y, 1.5, -0.5);
    }
    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        Self::product(x, y, -0.5, 1.5);
    }
    fn diagonal(&self, d: &mut [f64]) {
        d.fill(2.0);
    }
}

#[test]
fn a_non_symmetric_matrix_free_operator_is_solved_like_its_matrix() {
    let n = 40;
    let entries = (0..n as u32).flat_map(|i| {
        let below = (i > 0).then(|| (i, i - 1, 1.5));
        let above = (i + 1 < n as u32).then_some((i, i + 1, -0.5));
        [Some((i, i, 2.0)), below, above].into_iter().flatten()
    });
    let matrix = Csr::from_entries(n, entries.collect()).unwrap();
    let mut random = Random::new(11);
    let (x, mut rhs): (Vec<f64>, Vec<f64>) = (0..n)
        .map(|_| (random.unit(), random.between(-1.0, 1.0)))
        .unzip();
    let (mut of_matrix, mut of_operator) = (vec![0.0; n], vec![0.0; n]);
    matrix.apply_transposed(&x, &mut of_matrix);
    Advection(n).apply_transposed(&x, &mut of_operator);
    for (a, b) in of_matrix.iter().zip(&of_operator) {
        assert!((a - b).abs() < 1e-14);
    }
    rhs[0] = -1.0;
    let (lower, upper) = (vec![0.0; n], vec![INF; n]);
    let operator = Advection(n);
    let problem = BoxMlcp::new(&operator, &rhs, &lower, &upper).unwrap();
    for globalisation in [Globalisation::None, Globalisation::Fischer] {
        let settings = Settings::default()
            .inner(GMRES)
            .globalisation(globalisation);
        let mut x = vec![0.0; n];
        let memory = &mut Default::default();
        let report =
            newton::solve(&problem, &settings, &mut Identity, &mut x, memory, &mut ()).unwrap();
        assert_eq!(report.status, Status::Converged);
        let assembled = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        assert!(assembled.residual_inf(&x) <= 1e-8);
    }
}
