//! Bounds that follow another unknown: a pile of ten blocks stands, and slides where it must.

use crate::gallery;
use crate::gallery::{Random, dense, from_rows};
use crate::harness::{INF, Run, difference, noise};
use meniscus_lcp::methods::{mprgp, pgs, pgs_coupled, staggered};
use meniscus_lcp::precondition::Identity;
use meniscus_lcp::{
    BoxMlcp, CoupledBound, CoupledBoundMlcp, Csr, InputError, Report, Status, Trace, reduce,
};
use proptest::prelude::*;

const STEP: f64 = 0.01;
const PULL: f64 = 9.81;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Sweeps,
    StaggeredByMprgp,
    StaggeredByPgs,
}

const ALL: [Method; 3] = [
    Method::Sweeps,
    Method::StaggeredByMprgp,
    Method::StaggeredByPgs,
];

fn solve(
    method: Method,
    problem: &CoupledBoundMlcp<'_, Csr>,
    tolerance: f64,
    x: &mut [f64],
) -> Report {
    let inside = 0.01 * tolerance;
    let report = match method {
        Method::Sweeps => {
            let settings = pgs_coupled::Settings::default()
                .tolerance(tolerance)
                .max_iterations(200_000);
            pgs_coupled::solve(problem, &settings, x, &mut Default::default(), &mut ()).unwrap()
        }
        Method::StaggeredByMprgp => {
            let settings = mprgp::Settings::default().tolerance(inside);
            let mut workspace = mprgp::Workspace::default();
            let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
                mprgp::solve(part, &settings, &mut Identity, x, &mut workspace, &mut ())
            };
            staggered(problem, tolerance, &mut inner, x)
        }
        Method::StaggeredByPgs => {
            let settings = pgs::Settings::default()
                .tolerance(inside)
                .max_iterations(200_000);
            let mut workspace = pgs::Workspace::default();
            let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
                pgs::solve(part, &settings, x, &mut workspace, &mut ())
            };
            staggered(problem, tolerance, &mut inner, x)
        }
    };
    assert_eq!(report.residual, frozen_residual(problem, x), "{method:?}");
    assert_eq!(
        report.status == Status::Converged,
        report.residual <= tolerance,
        "{report:?}"
    );
    report
}

fn staggered(
    problem: &CoupledBoundMlcp<'_, Csr>,
    tolerance: f64,
    inner: &mut impl FnMut(&BoxMlcp<'_, Csr>, &mut [f64]) -> Result<Report, InputError>,
    x: &mut [f64],
) -> Report {
    let settings = staggered::Settings::default().tolerance(tolerance);
    staggered::solve(
        problem,
        &settings,
        inner,
        x,
        &mut Default::default(),
        &mut (),
    )
    .unwrap()
}

/// The natural residual of the box MLCP whose bounds are frozen at `x`: the definition, by other code.
fn frozen_residual(problem: &CoupledBoundMlcp<'_, Csr>, x: &[f64]) -> f64 {
    let rest = problem.rest();
    let (mut lower, mut upper) = (rest.lower().to_vec(), rest.upper().to_vec());
    for bound in problem.coupled_bounds() {
        upper[bound.row] = bound.factor * f64::max(x[bound.of], 0.0);
        lower[bound.row] = -upper[bound.row];
        assert!(x[bound.row].abs() <= upper[bound.row]);
    }
    BoxMlcp::new(rest.matrix(), rest.rhs(), &lower, &upper)
        .unwrap()
        .residual_inf(x)
}

/// Bounds of rows that come in pairs: one that is never negative, and one that it bounds.
fn alternating(n: usize, factor: f64) -> (Vec<f64>, Vec<f64>, Vec<CoupledBound>) {
    let lower = (0..n).map(|row| if row % 2 == 0 { 0.0 } else { -INF });
    let bound = |pair| CoupledBound {
        row: 2 * pair + 1,
        of: 2 * pair,
        factor,
    };
    (
        lower.collect(),
        vec![INF; n],
        (0..n / 2).map(bound).collect(),
    )
}

/// Blocks in a plane, one on the other, each twelve wide and one high, so that they slide before they tip over.
///
/// Speeds are (along, up, turning), three a block. Each block touches the one below, the lowest one the ground, at two
/// corners; each corner has a row across (a push, never a pull) and one along, which follows it.
struct Pile {
    count: usize,
    /// Rows of `J`, as (column, value).
    jacobian: Vec<Vec<(usize, f64)>>,
    /// Inverse of the mass, or of the moment of inertia, of each column.
    inverse: Vec<f64>,
}

const HALF_WIDTH: f64 = 6.0;
const HALF_HEIGHT: f64 = 0.5;

impl Pile {
    fn new(count: usize) -> Self {
        let mut jacobian = Vec::new();
        for upper in 0..count {
            for side in [-HALF_WIDTH, HALF_WIDTH] {
                // The speed of a corner at (x, y) from the centre is (along - turning y, up + turning x).
                let above = |row: &mut Vec<(usize, f64)>, across: bool| {
                    let first = 3 * upper;
                    if across {
                        row.extend([(first + 1, 1.0), (first + 2, side)]);
                    } else {
                        row.extend([(first, 1.0), (first + 2, HALF_HEIGHT)]);
                    }
                };
                let below = |row: &mut Vec<(usize, f64)>, across: bool| {
                    if upper == 0 {
                        return; // the ground does not move
                    }
                    let first = 3 * (upper - 1);
                    if across {
                        row.extend([(first + 1, -1.0), (first + 2, -side)]);
                    } else {
                        row.extend([(first, -1.0), (first + 2, HALF_HEIGHT)]);
                    }
                };
                for across in [true, false] {
                    let mut row = Vec::new();
                    above(&mut row, across);
                    below(&mut row, across);
                    jacobian.push(row);
                }
            }
        }
        let moment = (4.0 * HALF_WIDTH * HALF_WIDTH + 4.0 * HALF_HEIGHT * HALF_HEIGHT) / 12.0;
        let inverse = (0..3 * count)
            .map(|column| if column % 3 == 2 { 1.0 / moment } else { 1.0 })
            .collect();
        Self {
            count,
            jacobian,
            inverse,
        }
    }

    fn matrix(&self) -> Csr {
        let product = |a: &[(usize, f64)], b: &[(usize, f64)]| {
            a.iter()
                .flat_map(|a| b.iter().map(move |b| (a, b)))
                .filter(|(a, b)| a.0 == b.0)
                .map(|(a, b)| a.1 * self.inverse[a.0] * b.1)
                .sum::<f64>()
        };
        from_rows(
            self.jacobian
                .iter()
                .map(|a| {
                    let entries = self.jacobian.iter().enumerate();
                    entries
                        .map(|(column, b)| (column as u32, product(a, b)))
                        .filter(|entry| entry.1 != 0.0)
                        .collect()
                })
                .collect(),
        )
    }

    /// One step on ground that is tilted: changes the speeds, and returns the impulses `x`.
    fn step(
        &self,
        method: Method,
        tilt: f64,
        grip: f64,
        speeds: &mut [f64],
        x: &mut [f64],
    ) -> Report {
        for block in 0..self.count {
            speeds[3 * block] += STEP * PULL * tilt.sin();
            speeds[3 * block + 1] -= STEP * PULL * tilt.cos();
        }
        let rhs: Vec<f64> = self
            .jacobian
            .iter()
            .map(|row| {
                row.iter()
                    .map(|&(column, value)| value * speeds[column])
                    .sum()
            })
            .collect();
        let (lower, upper, following) = alternating(rhs.len(), grip);
        let matrix = self.matrix();
        let rest = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let problem = CoupledBoundMlcp::new(rest, &following).unwrap();
        let report = solve(method, &problem, 1e-9, x);
        for (row, x) in self.jacobian.iter().zip(x) {
            for &(column, value) in row {
                speeds[column] += self.inverse[column] * value * *x;
            }
        }
        report
    }

    /// The sum over the two corners below a block, of the rows across or along.
    fn below(&self, block: usize, across: bool, x: &[f64]) -> f64 {
        let first = 4 * block + usize::from(!across);
        x[first] + x[first + 2]
    }
}

#[test]
fn a_pile_of_ten_blocks_stands() {
    // Level, and tilted by less than its grip allows: tan 0.4 < 0.5.
    for tilt in [0.0, 0.4_f64.atan()] {
        for method in ALL {
            let pile = Pile::new(10);
            let (mut speeds, mut x) = (vec![0.0; 30], vec![0.0; 40]);
            for step in 0..10 {
                let report = pile.step(method, tilt, 0.5, &mut speeds, &mut x);
                assert_eq!(
                    report.status,
                    Status::Converged,
                    "{method:?} {step} {report:?}"
                );
                assert!(
                    reduce::largest(&speeds) < 1e-7,
                    "{method:?} {step} {}",
                    reduce::largest(&speeds)
                );
            }
            for block in 0..10 {
                // What is above has to be held, by impulse over time.
                let weight = (10 - block) as f64 * PULL * STEP;
                let (across, along) = (pile.below(block, true, &x), pile.below(block, false, &x));
                assert!(
                    (across - weight * tilt.cos()).abs() < 1e-6,
                    "{method:?} {block}"
                );
                assert!(
                    (along + weight * tilt.sin()).abs() < 1e-6,
                    "{method:?} {block}"
                );
            }
        }
    }
}

#[test]
fn a_pile_on_ground_that_is_too_steep_slides_as_one() {
    // tan 0.6 > 0.5: all of it gains the same speed, and the ground holds back as much as it can.
    let tilt = 0.6_f64.atan();
    for method in ALL {
        let pile = Pile::new(10);
        let (mut speeds, mut x) = (vec![0.0; 30], vec![0.0; 40]);
        for step in 1..=5 {
            let report = pile.step(method, tilt, 0.5, &mut speeds, &mut x);
            assert_eq!(report.status, Status::Converged, "{method:?} {report:?}");
            let expected = step as f64 * STEP * PULL * (tilt.sin() - 0.5 * tilt.cos());
            for block in 0..10 {
                assert!(
                    (speeds[3 * block] - expected).abs() < 1e-6,
                    "{method:?} {block}"
                );
                assert!(speeds[3 * block + 1].abs() < 1e-6);
                assert!(speeds[3 * block + 2].abs() < 1e-6);
            }
        }
        let (across, along) = (pile.below(0, true, &x), pile.below(0, false, &x));
        assert!((along + 0.5 * across).abs() < 1e-8);
    }
}

#[test]
fn without_grip_everything_slides_freely() {
    let tilt = 0.2_f64;
    for method in ALL {
        let pile = Pile::new(3);
        let (mut speeds, mut x) = (vec![0.0; 9], vec![0.0; 12]);
        let report = pile.step(method, tilt, 0.0, &mut speeds, &mut x);
        assert_eq!(report.status, Status::Converged);
        for block in 0..3 {
            assert!((speeds[3 * block] - STEP * PULL * tilt.sin()).abs() < 1e-9);
            assert_eq!(pile.below(block, false, &x), 0.0);
        }
    }
}

proptest! {
    #![proptest_config(gallery::cases(64))]

    #[test]
    fn both_methods_find_the_same_solution(seed: u64, pairs in 1_usize..12) {
        // Diagonally dominant and factors below 1: the solution is unique.
        let mut random = Random::new(seed);
        let n = 2 * pairs;
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        for i in 0..n as u32 {
            for j in 0..i {
                if random.chance(0.3) {
                    let value = random.between(-1.0, 1.0);
                    entries.extend([(i, j, value), (j, i, value), (i, i, 2.0 * value.abs()), (j, j, 2.0 * value.abs())]);
                }
            }
            entries.push((i, i, 0.5));
        }
        let matrix = Csr::from_entries(n, entries).unwrap();
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-5.0, 5.0)).collect();
        let (mut lower, upper) = (vec![0.0; n], vec![INF; n]);
        // The rows that follow are not always behind those that they follow.
        let following: Vec<CoupledBound> = (0..pairs).map(|pair| {
            let (row, of) = if random.chance(0.5) { (2 * pair, 2 * pair + 1) } else { (2 * pair + 1, 2 * pair) };
            lower[row] = -INF;
            CoupledBound { row, of, factor: random.between(0.0, 0.9) }
        }).collect();
        let rest = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let problem = CoupledBoundMlcp::new(rest, &following).unwrap();
        let solutions = ALL.map(|method| {
            let mut x: Vec<f64> = (0..n).map(|_| random.between(-10.0, 10.0)).collect();
            let report = solve(method, &problem, 1e-9, &mut x);
            assert_eq!(report.status, Status::Converged, "{method:?} {report:?}");
            x
        });
        for other in &solutions[1..] {
            prop_assert!(difference(&solutions[0], other) < 1e-7);
        }
    }
}

proptest! {
    #![proptest_config(gallery::cases(128))]

    #[test]
    fn no_finite_problem_causes_a_panic_or_a_false_report(
        pairs in 0_usize..4, seed: u64, scale in prop::sample::select(vec![1e-300, 1e-8, 1.0, 1e150, 1e300]),
    ) {
        let mut random = Random::new(seed);
        let n = 2 * pairs;
        let mut entries = Vec::new();
        for i in 0..n as u32 {
            for j in 0..n as u32 {
                let least = if i == j { 0.1 } else { -1.0 };
                entries.push((i, j, scale * random.between(least, 1.0)));
            }
        }
        let matrix = Csr::from_entries(n, entries).unwrap();
        let rhs: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0) * 10_f64.powi(random.below(4) as i32 * 100)).collect();
        // The rows that are followed: never negative, or boxed, or free, or fixed.
        let (mut lower, mut upper) = (vec![-INF; n], vec![INF; n]);
        for of in 0..pairs {
            (lower[of], upper[of]) = [(0.0, INF), (-1.0, 2.0), (-INF, INF), (0.5, 0.5)][random.below(4)];
        }
        let following: Vec<CoupledBound> = (0..pairs).map(|of| CoupledBound { row: pairs + of, of, factor: random.between(0.0, 1e3) }).collect();
        let rest = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let problem = CoupledBoundMlcp::new(rest, &following).unwrap();
        let start: Vec<f64> = noise(n, &mut random).iter().map(|x| 1e10 * x).collect();

        let mut by_sweeps = start.clone();
        let settings = pgs_coupled::Settings::default().max_iterations(200);
        let sweeps = pgs_coupled::solve(&problem, &settings, &mut by_sweeps, &mut Default::default(), &mut ()).unwrap();
        let mut by_turns = start;
        let settings = mprgp::Settings::default().max_iterations(50);
        let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
            settings.attempt(part, &mut Identity, x, &mut ())
        };
        let settings = staggered::Settings::default().max_iterations(20);
        let turns = staggered::solve(&problem, &settings, &mut inner, &mut by_turns, &mut Default::default(), &mut ()).unwrap();
        for (report, x) in [(sweeps, by_sweeps), (turns, by_turns)] {
            prop_assert!(x.iter().all(|x| x.is_finite()));
            let residual = frozen_residual(&problem, &x);
            prop_assert!(report.residual == residual || (report.residual.is_nan() && residual.is_nan()));
            prop_assert_eq!(report.status == Status::Converged, residual <= 1e-8);
            prop_assert!((0..n).all(|i| lower[i] <= x[i] && x[i] <= upper[i]));
        }
    }
}

#[test]
fn bounds_that_cannot_follow_are_refused() {
    let matrix = dense([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let lower = [0.0, -INF, -INF];
    let rest = BoxMlcp::new(&matrix, &[0.0; 3], &lower, &[INF; 3]).unwrap();
    let good = CoupledBound {
        row: 1,
        of: 0,
        factor: 1.0,
    };
    assert!(CoupledBoundMlcp::new(rest, &[good]).is_ok());
    let bound = |row, of, factor| CoupledBound { row, of, factor };
    let bad = [
        vec![bound(3, 0, 1.0)],
        vec![bound(1, 3, 1.0)],
        vec![bound(1, 0, -1.0)],
        vec![bound(1, 0, f64::NAN)],
        vec![bound(0, 1, 1.0)],
        vec![good, good],
        vec![good, bound(2, 1, 1.0)],
        vec![bound(1, 1, 1.0)],
    ];
    for following in bad {
        let error = CoupledBoundMlcp::new(rest, &following).unwrap_err();
        assert!(matches!(error, InputError::CoupledBound { .. }), "{error}");
    }
}

#[test]
fn every_exit_is_reported() {
    let pile = Pile::new(10);
    let matrix = pile.matrix();
    let n = matrix.rows();
    let rhs: Vec<f64> = (0..n)
        .map(|row| if row % 2 == 0 { -1.0 } else { 0.7 })
        .collect();
    let (lower, upper, following) = alternating(n, 0.5);
    let rest = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let problem = CoupledBoundMlcp::new(rest, &following).unwrap();

    let mut x = vec![0.0; n];
    let settings = pgs_coupled::Settings::default()
        .max_iterations(11)
        .check_every(4);
    let mut trace = Trace::default();
    let workspace = &mut pgs_coupled::Workspace::default();
    let report = pgs_coupled::solve(&problem, &settings, &mut x, workspace, &mut trace).unwrap();
    assert_eq!(
        (report.status, report.iterations),
        (Status::IterationLimit, 11)
    );
    assert_eq!(
        trace.outer.iter().map(|p| p.iteration).collect::<Vec<_>>(),
        [0, 4, 8, 11]
    );
    assert!(
        trace.outer.iter().all(|p| p.residual >= report.residual),
        "the best one is kept"
    );

    // An inner method that finds no end to the problem, and one that does nothing.
    let give = |status: Status| {
        let mut inner = |part: &BoxMlcp<'_, Csr>, x: &mut [f64]| {
            Ok(Report::new(status, 3, 0, part.residual_inf(x), 0.0))
        };
        let mut x = vec![0.0; n];
        staggered::solve(
            &problem,
            &Default::default(),
            &mut inner,
            &mut x,
            &mut Default::default(),
            &mut (),
        )
        .unwrap()
    };
    for status in [
        Status::Infeasible,
        Status::NonFinite,
        Status::NonDescent,
        Status::Stopped,
    ] {
        let report = give(status);
        assert_eq!(
            (report.status, report.iterations, report.inner_iterations),
            (status, 1, 3)
        );
    }
    assert_eq!(give(Status::IterationLimit).status, Status::Stagnated);

    // Without ground to push against there is no divisor.
    let matrix = dense([[0.0, 0.0], [0.0, 1.0]]);
    let rest = BoxMlcp::new(&matrix, &[0.0; 2], &lower[..2], &upper[..2]).unwrap();
    let problem = CoupledBoundMlcp::new(rest, &following[..1]).unwrap();
    let error = pgs_coupled::solve(
        &problem,
        &Default::default(),
        &mut [0.0; 2],
        &mut Default::default(),
        &mut (),
    );
    assert_eq!(
        error.unwrap_err(),
        InputError::NoDivisor { row: 0, value: 0.0 }
    );
}
