//! Friction whose bound is a disc: the two rows of a contact oppose the sliding, whatever its direction.

use crate::gallery::{self, Random, dense, from_rows};
use crate::harness::INF;
use meniscus_lcp::registry::{Options, coupled_solvers, solve_coupled};
use meniscus_lcp::{BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, InputError, Operator, Status};
use proptest::prelude::*;

const NAMES: [&str; 3] = ["auto", "pgs-coupled", "newton-coupled"];

/// Contacts with a normal and two tangents each, and bodies that couple them: `J J'` with random rows of `J`, and a little more.
struct Contacts {
    matrix: Csr,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    bounds: Vec<CoupledBound>,
    discs: Vec<[usize; 2]>,
}

impl Contacts {
    fn random(count: usize, factor: f64, random: &mut Random) -> Self {
        let n = 3 * count;
        let bodies = 3 * count.div_ceil(2) + 3;
        let jacobian: Vec<Vec<f64>> = (0..n)
            .map(|_| {
                let first = random.below(bodies - 2);
                let mut row = vec![0.0; bodies];
                row[first..first + 3].fill_with(|| random.between(-1.0, 1.0));
                row
            })
            .collect();
        let entry = |i: usize, j: usize| {
            let product: f64 = jacobian[i]
                .iter()
                .zip(&jacobian[j])
                .map(|(a, b)| a * b)
                .sum();
            product + if i == j { 0.5 } else { 0.0 }
        };
        let rows = (0..n)
            .map(|i| (0..n).map(|j| (j as u32, entry(i, j))).collect())
            .collect();
        let bound = |row: usize| CoupledBound {
            row,
            of: row / 3 * 3,
            factor,
        };
        Self {
            matrix: from_rows(rows),
            rhs: (0..n).map(|_| random.between(-2.0, 1.0)).collect(),
            lower: (0..n)
                .map(|i| if i % 3 == 0 { 0.0 } else { -INF })
                .collect(),
            bounds: (0..n).filter(|i| i % 3 != 0).map(bound).collect(),
            discs: (0..count).map(|k| [2 * k, 2 * k + 1]).collect(),
        }
    }

    fn solve(&self, name: &str) -> (Vec<f64>, meniscus_lcp::Report) {
        let upper = vec![INF; self.rhs.len()];
        let rest = BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &upper).unwrap();
        let problem = CoupledBoundMlcp::new(rest, &self.bounds)
            .and_then(|problem| problem.with_discs(&self.discs))
            .unwrap();
        let mut x = vec![0.0; self.rhs.len()];
        let options = Options::default().tolerance(1e-9);
        let solution = solve_coupled(&problem, name, &options, &mut x, &mut ()).unwrap();
        assert_eq!(solution.report.residual, problem.residual_inf(&x));
        (x, solution.report)
    }
}

/// Coulomb's law, contact by contact: a normal that is open or closed, a tangent that sticks, or slides against its force.
fn obeys_coulomb(contacts: &Contacts, x: &[f64], near: f64) -> bool {
    let mut y = vec![0.0; x.len()];
    contacts.matrix.apply(x, &mut y);
    y.iter_mut().zip(&contacts.rhs).for_each(|(y, b)| *y += b);
    x.chunks(3).zip(y.chunks(3)).enumerate().all(|(k, (x, y))| {
        let normal = x[0] >= 0.0 && y[0] >= -near && (x[0] <= near || y[0] <= near);
        let most = contacts.bounds[2 * k].factor * x[0];
        let (force, speed) = (x[1].hypot(x[2]), y[1].hypot(y[2]));
        let sticks = speed <= near && force <= most + near;
        let opposed = x[1] * y[1] + x[2] * y[2] <= -force * speed + near;
        normal && (sticks || (force - most).abs() <= near && opposed)
    })
}

proptest! {
    #![proptest_config(gallery::cases(32))]

    #[test]
    fn what_is_called_a_solution_obeys_the_law(seed: u64, count in 1_usize..14, factor in 0.0..0.8) {
        let contacts = Contacts::random(count, factor, &mut Random::new(seed));
        for name in NAMES {
            let (x, report) = contacts.solve(name);
            if report.status == Status::Converged {
                prop_assert!(obeys_coulomb(&contacts, &x, 1e-6), "{name}");
            }
            prop_assert!(name != "auto" || report.status == Status::Converged, "{report:?}");
        }
    }
}

#[test]
fn a_block_slides_along_its_pull() {
    // Pressed down by 2, pulled by (3, 4), friction 0.5: the force is 1 against the pull, not 1 along each axis.
    let contacts = Contacts {
        matrix: dense([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        rhs: vec![-2.0, -3.0, -4.0],
        lower: vec![0.0, -INF, -INF],
        bounds: [1, 2]
            .map(|row| CoupledBound {
                row,
                of: 0,
                factor: 0.5,
            })
            .to_vec(),
        discs: vec![[0, 1]],
    };
    for name in NAMES {
        let (x, report) = contacts.solve(name);
        assert_eq!(report.status, Status::Converged, "{name}");
        for (found, expected) in x.iter().zip([2.0, 0.6, 0.8]) {
            assert!((found - expected).abs() < 1e-7, "{name}: {x:?}");
        }
        assert!(obeys_coulomb(&contacts, &x, 1e-6));
        assert!(!obeys_coulomb(&contacts, &[2.0, 1.0, 1.0], 1e-6));
    }
}

#[test]
fn newton_is_quadratic_where_sweeps_are_slow() {
    let mut random = Random::new(12);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let contacts = Contacts::random(25, 0.3, &mut random);
        let (_, sweeps) = contacts.solve("pgs-coupled");
        let (_, newton) = contacts.solve("newton-coupled");
        assert_eq!(newton.status, Status::Converged);
        seen.push((sweeps.iterations, newton.iterations));
    }
    assert!(seen.iter().all(|seen| seen.1 <= 20), "{seen:?}");
    assert!(seen.iter().any(|seen| seen.0 > 5 * seen.1), "{seen:?}");
}

#[test]
fn discs_that_cannot_be_are_refused() {
    let matrix = dense([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let lower = [0.0, -INF, -INF];
    let rest = BoxMlcp::new(&matrix, &[0.0; 3], &lower, &[INF; 3]).unwrap();
    let bounds = |second: f64| {
        [(1, 0.5), (2, second)].map(|(row, factor)| CoupledBound { row, of: 0, factor })
    };
    let (alike, apart) = (bounds(0.5), bounds(0.6));
    let with = |bounds: &[CoupledBound], discs: &[[usize; 2]]| {
        let problem = CoupledBoundMlcp::new(rest, bounds).unwrap();
        let given = problem.with_discs(discs).map(|_| ());
        given.err()
    };
    assert_eq!(with(&alike, &[[0, 1]]), None);
    for (bounds, discs) in [
        (&alike, vec![[0, 2]]),
        (&alike, vec![[0, 0]]),
        (&alike, vec![[0, 1], [1, 0]]),
        (&apart, vec![[0, 1]]),
    ] {
        let error = with(bounds, &discs[..]);
        assert!(
            matches!(error, Some(InputError::CoupledBound { .. })),
            "{discs:?}"
        );
    }
    let discs = [[0, 1]];
    let problem = CoupledBoundMlcp::new(rest, &alike).unwrap();
    assert_eq!(coupled_solvers(&problem).count(), 3);
    let problem = problem.with_discs(&discs).unwrap();
    assert!(coupled_solvers(&problem).all(|name| name != "staggered"));
    let refused = solve_coupled(
        &problem,
        "staggered",
        &Options::default(),
        &mut [0.0; 3],
        &mut (),
    );
    assert!(refused.unwrap_err().to_string().contains("discs"));
}
