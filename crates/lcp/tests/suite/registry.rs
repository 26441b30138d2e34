//! Every method by its name: the right answer or an honest status, against oracles that share no code with it.

use crate::gallery::{self, Domain, Instance, Random, chain, dense, full};
use crate::harness::INF;
use crate::pivoting_data;
use meniscus_lcp::analysis::analyse;
use meniscus_lcp::gallery::{self as generated, banded, contact_cone as cone};
use meniscus_lcp::methods::enumerate;
use meniscus_lcp::registry::{self, Method, Options, Solution};
use meniscus_lcp::{Blocks, Csr, Report, Status, Trace};
use proptest::prelude::*;

const SWEEPS: [Method; 4] = [Method::Jacobi, Method::Pgs, Method::Psor, Method::Spsor];

/// A problem with zero as lower bounds.
pub fn lcp(matrix: Csr, rhs: &[f64]) -> Instance {
    let n = rhs.len();
    Instance {
        matrix,
        blocks: Blocks::single(n),
        rhs: rhs.to_vec(),
        lower: vec![0.0; n],
        upper: vec![INF; n],
    }
}

fn start(given: &Instance) -> Vec<f64> {
    let bounds = given.lower.iter().zip(&given.upper);
    bounds.map(|(&l, &u)| 0.0_f64.clamp(l, u)).collect()
}

/// Solves by one method and checks that its report is true. `None` if it refuses the problem.
fn honest(given: &Instance, method: Method) -> Option<(Solution, Vec<f64>)> {
    let problem = given.problem();
    let mut x = start(given);
    let limit = SWEEPS.contains(&method).then_some(3000);
    let options = Options::default().max_iterations(limit);
    let solution = registry::solve(&problem, method, &options, &mut x, &mut ()).ok()?;
    assert!(x.iter().all(|x| x.is_finite()), "{method}: {x:?}");
    let residual = problem.residual_inf(&x);
    assert_eq!(solution.report.residual, residual, "{method}");
    let converged = solution.report.status == Status::Converged;
    let relative = registry::accuracy(&problem, &x).relative;
    assert!(
        !converged || relative <= 1e-8,
        "{method}: {relative:e}, {:?}",
        solution.report
    );
    assert!(
        converged || relative > 1e-8 || solution.report.status != Status::Infeasible,
        "{method} calls a solution a ray: {:?}",
        solution.report
    );
    Some((solution, x))
}

/// A small problem of any kind: matrices that are symmetric or not, definite or not, with ties and zero rows, and rows
/// of every kind.
fn strange(seed: u64, n: usize) -> Instance {
    let mut random = Random::new(seed);
    let kind = random.below(6);
    // Small whole numbers: ties, zeros and singular blocks are the rule.
    let mut a = vec![vec![0.0; n]; n];
    for row in &mut a {
        for entry in row {
            *entry = random.below(5) as f64 - 2.0;
        }
    }
    if kind < 4 {
        // B'B or B'B + I, plus a skew part for some.
        let b = a.clone();
        for i in 0..n {
            for j in 0..n {
                a[i][j] = (0..n).map(|k| b[k][i] * b[k][j]).sum::<f64>();
                if kind >= 2 {
                    a[i][j] += b[i][j] - b[j][i];
                }
            }
            if kind.is_multiple_of(2) {
                a[i][i] += 1.0;
            }
        }
    }
    let matrix = full(n, |i, j| a[i][j]);
    let mut given = lcp(matrix, &vec![0.0; n]);
    for i in 0..n {
        given.rhs[i] = random.below(7) as f64 - 3.0;
        match random.below(8) {
            0 => given.lower[i] = -INF,
            1 => given.upper[i] = 2.0,
            2 => (given.lower[i], given.upper[i]) = (-INF, 1.0),
            3 => (given.lower[i], given.upper[i]) = (1.0, 1.0),
            _ => {}
        }
    }
    given
}

fn solutions(given: &Instance) -> Vec<Vec<f64>> {
    let (settings, workspace) = (enumerate::Settings::default(), &mut Default::default());
    let found = enumerate::all(&given.problem(), &settings, workspace, &mut ());
    let found = found.expect("a tiny problem can be enumerated");
    found.solutions.into_iter().map(|found| found.x).collect()
}

proptest! {
    #![proptest_config(gallery::cases(400))]

    #[test]
    fn on_any_small_problem_every_method_is_right_or_reports_failure(seed: u64, n in 0_usize..7) {
        let given = strange(seed, n);
        let known = solutions(&given);
        let seen = analyse(&given.problem());
        for &method in Method::ALL {
            let Some((solution, _)) = honest(&given, method) else { continue };
            let converged = solution.report.status == Status::Converged;
            prop_assert!(!converged || !known.is_empty(), "{method} solved what has no solution: {given:?}");
            // Where a solution exists, auto finds one; so do the methods that are made for such a problem.
            let exact = matches!(method, Method::Auto | Method::Enumerate)
                || (matches!(method, Method::Lemke | Method::Keller | Method::InteriorPoint)
                    && seen.definiteness.is_semidefinite());
            if exact && !known.is_empty() {
                prop_assert!(converged, "{method} did not solve {given:?}: {:?}", solution.attempts);
            }
        }
    }
}

/// The kinds of problems that the methods are made for.
fn made_for() -> Vec<(&'static str, Instance)> {
    let of = |instance: generated::Instance| lcp(instance.matrix, &instance.rhs);
    let mixed = Instance::with_known_solution;
    let dense = |null| of(generated::dense(60, null, 0.5, &mut Random::new(1)));
    vec![
        ("banded", of(banded(300, 3, 0.5, &mut Random::new(1)))),
        ("dense", dense(0.0)),
        ("dense, singular", dense(0.4)),
        ("cone", of(cone(20, &mut Random::new(1)))),
        ("plane, rows of all kinds", mixed(Domain::plane(15), 3)),
        ("cube, rows of all kinds", mixed(Domain::cube(7), 4)),
        ("chain", lcp(chain(50, 0.0), &[-1.0; 50])),
    ]
}

#[test]
fn every_method_solves_the_problems_that_it_fits() {
    for (name, given) in made_for() {
        let seen = analyse(&given.problem());
        for &method in Method::ALL {
            if method.fits(&seen).is_err() {
                continue;
            }
            let (solution, _) = honest(&given, method).expect(name);
            let slow = SWEEPS.contains(&method);
            let ended = solution.report.status;
            assert!(
                ended == Status::Converged || (slow && ended == Status::IterationLimit),
                "{method} on {name}: {:?}",
                solution.report
            );
        }
    }
}

#[test]
fn auto_solves_every_kind_and_reports_its_choice_and_reason() {
    for (name, given) in made_for() {
        let (solution, _) = honest(&given, Method::Auto).unwrap();
        assert_eq!(solution.report.status, Status::Converged, "{name}");
        let last = solution.attempts.last().unwrap();
        assert_eq!(
            (last.solver, last.report),
            (solution.solver, solution.report)
        );
        assert!(
            solution
                .attempts
                .iter()
                .all(|a| !a.why.is_empty() && a.solver != Method::Auto.name())
        );
    }
}

#[test]
fn a_proof_that_there_is_no_solution_ends_the_search_and_is_the_answer() {
    // A chain that nothing holds, pulled at: no x stops it.
    let pulled = lcp(chain(200, 0.0), &[-1.0; 200]);
    let held = honest(&pulled, Method::Auto).unwrap().0;
    assert_eq!(held.report.status, Status::Converged);
    let loose = full(20, |i, j| match i.abs_diff(j) {
        0 if i == 0 || i == 19 => 1.0,
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    });
    let skew = full(20, |i, j| {
        f64::from(j as i32 - i as i32).signum() * f64::from(u8::from(i.abs_diff(j) == 1))
    });
    for (name, matrix) in [("loose chain", loose), ("skew", skew)] {
        let (solution, _) = honest(&lcp(matrix, &[-1.0; 20]), Method::Auto).unwrap();
        assert_eq!(
            solution.report.status,
            Status::Infeasible,
            "{name}: {solution:?}"
        );
        let last = solution.attempts.last().unwrap();
        assert_eq!(
            (last.solver, last.report.status),
            (solution.solver, Status::Infeasible)
        );
        let proofs = solution
            .attempts
            .iter()
            .filter(|a| a.report.status == Status::Infeasible);
        assert_eq!(proofs.count(), 1, "{name}");
    }
}

/// A chain with a skew part: monotone, not symmetric, its diagonal not dominant.
fn monotone_chain(n: usize) -> Instance {
    let entry = |i: usize, j: usize| match (i.abs_diff(j), i < j) {
        (0, _) => 1.0,
        (1, true) => 2.5,
        (1, false) => -2.0,
        (2, _) => 0.05,
        _ => 0.0,
    };
    let mut entries = Vec::new();
    for i in 0..n {
        for j in i.saturating_sub(2)..(i + 3).min(n) {
            entries.push((i as u32, j as u32, entry(i, j)));
        }
    }
    let rhs: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    lcp(Csr::from_entries(n, entries).unwrap(), &rhs)
}

#[test]
fn auto_recognises_large_monotone_problems_that_are_not_symmetric() {
    let given = monotone_chain(5000);
    assert!(analyse(&given.problem()).definiteness.is_semidefinite());
    let (solution, _) = honest(&given, Method::Auto).unwrap();
    assert_eq!(solution.report.status, Status::Converged);
    assert_eq!(solution.attempts.len(), 1, "{:?}", solution.attempts);
    assert_eq!(solution.solver, Method::InteriorPoint.name());
    // One negative direction is enough: then pivoting is for those that are not too large.
    let mut given = monotone_chain(500);
    let (starts, columns, mut values) = given.matrix.into_parts();
    let at = (starts[250]..starts[251])
        .find(|&at| columns[at] == 250)
        .unwrap();
    values[at] = 0.01;
    given.matrix = Csr::new(500, starts, columns, values).unwrap();
    let seen = analyse(&given.problem());
    assert_eq!(
        seen.definiteness,
        meniscus_lcp::analysis::Definiteness::Indefinite
    );
    let (solution, _) = honest(&given, Method::Auto).unwrap();
    assert_eq!(solution.attempts[0].solver, Method::Lemke.name());
}

#[test]
fn cones_of_some_hundred_rows_are_pivoted_and_grids_get_newtons_method() {
    let first = |given: &Instance| honest(given, Method::Auto).unwrap().0;
    let made = cone(60, &mut Random::new(1));
    let solution = first(&lcp(made.matrix, &made.rhs));
    assert_eq!(solution.attempts[0].solver, Method::Lemke.name());
    assert_eq!(solution.report.status, Status::Converged);
    let grid = Instance::with_known_solution(Domain::plane(25), 3);
    let solution = first(&grid);
    assert_eq!(
        (solution.solver, solution.attempts.len()),
        (Method::Newton.name(), 1)
    );
}

#[test]
fn of_attempts_that_fail_the_one_with_the_smallest_residual_is_kept() {
    let residuals = [3.0, 1.0, 2.0];
    let named = ["first", "second", "third"];
    let candidates: Vec<registry::Candidate<usize>> = (0..3)
        .map(|solver| registry::Candidate {
            solver,
            name: named[solver],
            why: "a test",
        })
        .collect();
    let mut x = [0.0];
    let from = registry::StartFrom::Given;
    let solution = registry::first_converged(&candidates, from, &mut x, |solver, x| {
        assert_eq!(x[0], 0.0, "every attempt starts from the given x");
        x[0] = residuals[solver];
        Ok(Report::new(Status::Stagnated, 1, 0, residuals[solver], 0.0))
    });
    let solution = solution.unwrap();
    assert_eq!(
        (solution.solver, solution.report.residual, x),
        ("second", 1.0, [1.0])
    );
}

#[test]
fn the_choice_of_auto_depends_on_the_problem_alone() {
    for (_, given) in made_for() {
        let picked = |_| honest(&given, Method::Auto).unwrap();
        let (a, b) = (picked(0), picked(1));
        assert_eq!(a, b);
    }
}

#[test]
fn sweeps_and_gradient_steps_bring_newton_nearer() {
    let given = made_for().swap_remove(1).1;
    let iterations = |presolve: Option<&str>| {
        let options = Options::default().presolve(presolve.map(|text| text.parse().unwrap()));
        let mut x = start(&given);
        let solved = registry::solve(&given.problem(), Method::Fischer, &options, &mut x, &mut ());
        let report = solved.unwrap().report;
        assert_eq!(report.status, Status::Converged);
        report.iterations
    };
    let cold = iterations(None);
    for presolve in ["pgs:20", "psor:20", "gradient:50"] {
        let warm = iterations(Some(presolve));
        assert!(warm < cold, "{presolve}: {warm} and {cold}");
    }
    for wrong in ["pgs", "pgs:", "sor:3", "pgs:-1", ""] {
        assert!(wrong.parse::<registry::Presolve>().is_err(), "{wrong}");
    }
}

#[test]
fn traces_end_where_the_report_does() {
    let (_, given) = made_for().swap_remove(0);
    for &method in Method::ALL {
        let mut trace = Trace::default();
        let mut x = start(&given);
        let solved = registry::solve(
            &given.problem(),
            method,
            &Options::default(),
            &mut x,
            &mut trace,
        );
        let Ok(solution) = solved else { continue };
        assert!(!trace.outer.is_empty(), "{method} showed nothing");
        assert_eq!(trace.outer[0].iteration, 0, "{method}");
        assert_eq!(solution.report.status, Status::Converged, "{method}");
    }
}

/// Problems that other programs are known to fail on.
#[test]
fn known_traps_are_no_traps() {
    // One row, for which complementary pivoting elsewhere found nothing.
    for (a, b, x) in [
        (2.0, -4.0, 2.0),
        (2.0, 4.0, 0.0),
        (1e-3, -1e-3, 1.0),
        (5.0, 0.0, 0.0),
    ] {
        let given = lcp(dense([[a]]), &[b]);
        for method in [Method::Lemke, Method::Dantzig, Method::Keller, Method::Auto] {
            let (solution, found) = honest(&given, method).unwrap();
            assert_eq!(
                solution.report.status,
                Status::Converged,
                "{method}: {a} {b}"
            );
            assert!(
                (found[0] - x).abs() <= 1e-8 * x.max(1.0),
                "{method}: {a} {b}: {found:?}"
            );
        }
    }
    // A definite matrix for which an answer below zero was given elsewhere.
    let given = lcp(
        dense([[100.0, 10.0, 1.0], [10.0, 4.0, -1.0], [1.0, -1.0, 3.0]]),
        &[-1.0, -1.0, -1.0],
    );
    for &method in Method::ALL {
        if let Some((solution, x)) = honest(&given, method) {
            assert!(x.iter().all(|&x| x >= 0.0), "{method}: {x:?}");
            assert!(
                solution.report.status == Status::Converged || method == Method::Linear,
                "{method}"
            );
        }
    }
    // No solution: nobody calls it solved, and every x is a number.
    let given = lcp(dense([[0.0, 1.0], [0.0, 0.0]]), &[-1.0, -1.0]);
    for &method in Method::ALL {
        if let Some((solution, _)) = honest(&given, method) {
            assert_ne!(solution.report.status, Status::Converged, "{method}");
        }
    }
}

#[test]
fn nothing_and_next_to_nothing_are_solved_by_all() {
    let nothing = lcp(Csr::default(), &[]);
    let zero = lcp(dense([[0.0, 0.0], [0.0, 0.0]]), &[1.0, 0.0]);
    let fixed = Instance {
        lower: vec![3.0],
        upper: vec![3.0],
        ..lcp(dense([[1.0]]), &[5.0])
    };
    for given in [nothing, zero, fixed] {
        for &method in Method::ALL {
            if let Some((solution, _)) = honest(&given, method) {
                assert_eq!(
                    solution.report.status,
                    Status::Converged,
                    "{method}: {given:?}"
                );
            }
        }
    }
}

#[test]
fn auto_solves_every_real_problem_that_has_a_solution() {
    let Ok(files) = std::fs::read_dir(pivoting_data::folder()) else {
        let folder = pivoting_data::folder();
        eprintln!(
            "skipped: there is no {}; set MENISCUS_DATA",
            folder.display()
        );
        return;
    };
    let mut seen = 0;
    for file in files {
        let path = file.unwrap().path();
        let Some((matrix, rhs)) = pivoting_data::read(&std::fs::read_to_string(&path).unwrap())
        else {
            continue; // in blocks: the same problem is there in one piece
        };
        let given = lcp(matrix, &rhs);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (solution, _) = honest(&given, Method::Auto).unwrap();
        let solved = solution.report.status == Status::Converged;
        println!("{name}: {} rows, {:?}", given.rhs.len(), solution);
        if given.rhs.len() <= 9 {
            assert_eq!(
                solved,
                !solutions(&given).is_empty(),
                "{name}: {solution:?}"
            );
        } else {
            assert!(solved, "{name}: {solution:?}");
        }
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} problems were there");
}

#[test]
fn the_example_of_the_readme_is_the_first_doctest_of_the_crate() {
    let readme = include_str!("../../../../README.md");
    let docs = include_str!("../../README.md"); // the crate page
    let example: Vec<&str> = docs
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "```rust")
        .skip(1)
        .take_while(|line| *line != "```")
        .filter(|line| !(line.is_empty() || line.starts_with("# ") || line.starts_with("println")))
        .collect();
    assert!(
        example
            .iter()
            .any(|line| line.contains("meniscus_lcp::solve(&problem)?"))
    );
    for line in example {
        assert!(readme.contains(line), "the README lacks {line:?}");
    }
}
