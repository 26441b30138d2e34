//! Pivoting methods against the oracle that tries every complementary cone.

use crate::gallery::{self, Instance, Random, full};
use crate::harness::{INF, Run, difference, pivots};
use meniscus_lcp::methods::enumerate;
use meniscus_lcp::{Blocks, Csr, Report, Status};
use proptest::prelude::*;

fn oracle(small: &Instance) -> Vec<enumerate::Solution> {
    let (settings, workspace) = (enumerate::Settings::default(), &mut Default::default());
    let found = enumerate::all(&small.problem(), &settings, workspace, &mut ());
    found.unwrap().solutions
}

/// Integers from -2 to 2, so that ties and singular blocks are common; or any numbers.
fn number(whole: bool, random: &mut Random) -> f64 {
    if whole {
        random.below(5) as f64 - 2.0
    } else {
        random.between(-2.0, 2.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// `G G' + I/10`
    Definite,
    /// `G G'` with fewer columns than rows.
    Semidefinite,
    /// `G G' + S + I/10` with `S' = -S`.
    SkewDefinite,
    /// `[H -B'; B 0]`
    Saddle,
    /// A P-matrix that is not positive definite: a triangle with ones on the diagonal.
    Triangle,
    /// Anything.
    General,
    /// Anything, with rows of zeros.
    ZeroRows,
}

fn matrix(kind: Kind, n: usize, whole: bool, random: &mut Random) -> Csr {
    let g: Vec<f64> = (0..n * n).map(|_| number(whole, random)).collect();
    let columns = match kind {
        Kind::Semidefinite => n.div_ceil(2),
        Kind::Saddle => n / 3,
        _ => n,
    };
    let split = n.div_ceil(2);
    let zero_row = random.below(n.max(1));
    full(n, |i, j| {
        let gram: f64 = (0..columns).map(|k| g[i * n + k] * g[j * n + k]).sum();
        let ground = f64::from(u8::from(i == j)) * 0.1;
        match kind {
            Kind::Definite => gram + ground,
            Kind::Semidefinite => gram,
            Kind::SkewDefinite => gram + ground + g[i * n + j] - g[j * n + i],
            Kind::Saddle => match (i < split, j < split) {
                (true, true) => gram,
                (false, true) => g[i * n + j],
                (true, false) => -g[j * n + i],
                (false, false) => 0.0,
            },
            Kind::Triangle if i == j => 1.0,
            Kind::Triangle if i < j => 0.0,
            Kind::Triangle | Kind::General => g[i * n + j],
            Kind::ZeroRows if i == zero_row => 0.0,
            Kind::ZeroRows => g[i * n + j],
        }
    })
}

fn bounds(mixed: bool, n: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    (0..n)
        .map(|_| match random.below(if mixed { 6 } else { 1 }) {
            0 | 1 => (0.0, INF),
            2 => (-INF, INF),
            3 => (-1.0, random.below(3) as f64),
            4 => (-INF, 1.0),
            _ => (0.5, 0.5),
        })
        .unzip()
}

fn small(kind: Kind, n: usize, whole: bool, mixed: bool, random: &mut Random) -> Instance {
    let matrix = matrix(kind, n, whole, random);
    let (lower, upper) = bounds(mixed, n, random);
    let rhs = (0..n).map(|_| number(whole, random)).collect();
    Instance {
        blocks: Blocks::single(n),
        matrix,
        rhs,
        lower,
        upper,
    }
}

/// Solves from zero.
fn run(method: &dyn Run, small: &Instance) -> (Report, Vec<f64>) {
    let mut x = vec![0.0; small.len()];
    let report = method.run(&small.problem(), &mut x);
    (report, x)
}

/// A method that must solve whatever can be solved, and prove it of all else.
fn decides(method: &dyn Run, small: &Instance, oracle: &[enumerate::Solution]) {
    let (report, x) = run(method, small);
    let context = || format!("{method:?} {report:?} {x:?} {oracle:?} {small:?}");
    if oracle.is_empty() {
        assert_eq!(report.status, Status::Infeasible, "{}", context());
        return;
    }
    assert_eq!(report.status, Status::Converged, "{}", context());
    let size = x.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    let rounding = 1e-13 * size * (1.0 + small.len() as f64);
    assert!(report.residual <= rounding, "{}", context());
    if let [only] = oracle
        && !only.is_face
    {
        assert!(difference(&x, &only.x) <= 1e-6 * size, "{}", context());
    }
}

proptest! {
    #![proptest_config(gallery::cases(2000))]

    #[test]
    fn definite_matrices_have_one_solution_and_every_method_finds_it(
        seed: u64, n in 0_usize..8, whole: bool, mixed: bool,
        kind in prop::sample::select(vec![Kind::Definite, Kind::SkewDefinite]),
    ) {
        let small = small(kind, n, whole, mixed, &mut Random::new(seed));
        let oracle = oracle(&small);
        prop_assert_eq!(oracle.len(), 1);
        prop_assert!(!oracle[0].is_face);
        for method in pivots("lemke dantzig keller enumerate") {
            decides(&*method, &small, &oracle);
        }
    }

    #[test]
    fn p_matrices_have_one_solution_and_principal_pivoting_and_lemke_find_it(seed: u64, n in 0_usize..8, whole: bool) {
        let small = small(Kind::Triangle, n, whole, false, &mut Random::new(seed));
        let oracle = oracle(&small);
        prop_assert_eq!(oracle.len(), 1);
        for method in pivots("lemke keller dantzig") {
            decides(&*method, &small, &oracle);
        }
    }

    #[test]
    fn semidefinite_problems_are_solved_or_proved_to_have_no_solution(
        seed: u64, n in 0_usize..8, whole: bool, mixed: bool,
    ) {
        let small = small(Kind::Semidefinite, n, whole, mixed, &mut Random::new(seed));
        let oracle = oracle(&small);
        for method in pivots("lemke keller dantzig enumerate") {
            decides(&*method, &small, &oracle);
        }
    }

    #[test]
    fn saddle_points_are_solved_or_proved_to_have_no_solution(seed: u64, n in 0_usize..8, whole: bool, mixed: bool) {
        let small = small(Kind::Saddle, n, whole, mixed, &mut Random::new(seed));
        let oracle = oracle(&small);
        for method in pivots("lemke keller enumerate") {
            decides(&*method, &small, &oracle);
        }
        let (report, _) = run(&*pivots("dantzig")[0], &small);
        prop_assert!(report.status != Status::Infeasible || oracle.is_empty());
    }

    #[test]
    fn no_method_calls_anything_a_solution_or_unsolvable_that_is_not(
        seed: u64, n in 0_usize..8, whole: bool, mixed: bool,
        kind in prop::sample::select(vec![Kind::General, Kind::ZeroRows]),
    ) {
        let small = small(kind, n, whole, mixed, &mut Random::new(seed));
        let oracle = oracle(&small);
        for method in pivots("lemke keller dantzig enumerate") {
            let (report, x) = run(&*method, &small);
            match report.status {
                Status::Converged => prop_assert!(
                    oracle.iter().any(|known| known.is_face || difference(&known.x, &x) < 1e-6),
                    "{method:?} {x:?} {oracle:?} {small:?}"
                ),
                Status::Infeasible => prop_assert!(oracle.is_empty(), "{method:?} {small:?} {oracle:?}"),
                Status::NonDescent => prop_assert!(method.name() != "enumerate"),
                other => prop_assert!(false, "{method:?} {other} {small:?}"),
            }
        }
        decides(&*pivots("enumerate")[0], &small, &oracle);
    }

    #[test]
    fn enumeration_finds_the_solution_that_a_problem_was_made_from(
        seed: u64, n in 1_usize..8, whole: bool, mixed: bool,
        kind in prop::sample::select(vec![Kind::General, Kind::Semidefinite, Kind::Saddle, Kind::ZeroRows]),
    ) {
        let mut random = Random::new(seed);
        let mut small = small(kind, n, whole, mixed, &mut random);
        let (x, y) = planted(&small, &mut random);
        for i in 0..n {
            small.rhs[i] = y[i] - (0..n).map(|j| small.matrix.get(i, j) * x[j]).sum::<f64>();
        }
        prop_assert!(small.problem().residual_inf(&x) < 1e-12);
        let oracle = oracle(&small);
        prop_assert!(
            oracle.iter().any(|known| known.is_face || difference(&known.x, &x) < 1e-6),
            "{x:?} {oracle:?} {small:?}"
        );
        for known in &oracle {
            prop_assert_eq!(known.residual, small.problem().residual_inf(&known.x));
            prop_assert!(known.residual <= 1e-8);
        }
    }
}

/// `x` and `y` that are complementary on the bounds of a problem.
fn planted(small: &Instance, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    (0..small.len())
        .map(|i| {
            let (l, u) = (small.lower[i], small.upper[i]);
            let between = random.between(l.max(-3.0), u.min(3.0));
            match random.below(3) {
                _ if l == u => (l, random.between(-1.0, 1.0)),
                0 if l.is_finite() => (l, random.unit()),
                1 if u.is_finite() => (u, -random.unit()),
                _ => (between, 0.0),
            }
        })
        .unzip()
}
