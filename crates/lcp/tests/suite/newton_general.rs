//! Minimum map Newton beyond symmetric matrices: GMRES inside, a search that looks back, a globalisation.

use crate::gallery::Random;
use crate::harness::{GMRES, INF, Run, difference};
use meniscus_lcp::gallery as generated;
use meniscus_lcp::methods::newton::{self, Globalisation, Settings};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{BoxMlcp, Csr, Operator, Status, Trace};

fn cones_solved(settings: &Settings) -> usize {
    let solved = |&seed: &u64| {
        let instance = generated::contact_cone(30, &mut Random::new(seed));
        let mut x = vec![0.0; instance.rhs.len()];
        settings.run(&instance.problem(), &mut x).status == Status::Converged
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
            let report = settings.observed(&instance.problem(), &mut x, &mut trace);
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
    assert!(difference(&of_matrix, &of_operator) < 1e-14);
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
