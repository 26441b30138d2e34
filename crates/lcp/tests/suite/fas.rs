//! Multigrid by the full approximation scheme: as many cycles for fine grids as for coarse ones.

use crate::gallery;
use crate::gallery::{Instance, Random, chain};
use crate::harness::{INF, Run, StopAt, bits, check, difference, same_for_all_threads};
use crate::oracle::quadratic_programme;
use meniscus_lcp::methods::{fas, newton};
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{
    Blocks, BoxMlcp, Csr, Galerkin, Hierarchy, InputError, Observer, Operator, Order, Report, Rows,
    Status, Trace, Transfer,
};
use proptest::prelude::*;

const NONE: f64 = f64::NEG_INFINITY;

/// The five-point Laplacian on `n` by `n` points between points with the value zero.
pub fn plane(n: usize) -> Csr {
    let mut entries = Vec::new();
    for row in 0..(n * n) as u32 {
        entries.push((row, row, 4.0));
        if !(row as usize).is_multiple_of(n) {
            entries.extend([(row, row - 1, -1.0), (row - 1, row, -1.0)]);
        }
        if row as usize >= n {
            let below = row - n as u32;
            entries.extend([(row, below, -1.0), (below, row, -1.0)]);
        }
    }
    Csr::from_entries(n * n, entries).unwrap()
}

/// A membrane on `n` by `n` points, pushed down onto a bump it may not go through.
pub fn membrane(n: usize) -> Instance {
    let h = 1.0 / (n + 1) as f64;
    let mut lower = vec![0.0; n * n];
    for (i, lower) in lower.iter_mut().enumerate() {
        let (x, y) = ((i % n + 1) as f64 * h - 0.4, (i / n + 1) as f64 * h - 0.55);
        *lower = 0.2 - 2.0 * (x * x + y * y);
    }
    Instance {
        matrix: plane(n),
        blocks: Blocks::single(n * n),
        rhs: vec![2.0 * h * h; n * n],
        lower,
        upper: vec![INF; n * n],
    }
}

/// Solves, and checks what holds for every report.
fn solve<A: Rows>(
    problem: &BoxMlcp<'_, A>,
    settings: fas::Settings,
    hierarchy: &Galerkin,
    x: &mut [f64],
    observer: &mut dyn Observer,
) -> Report {
    let mut workspace = fas::Workspace::default();
    let report = fas::solve(problem, &settings, hierarchy, x, &mut workspace, observer).unwrap();
    check("fas", problem, &report, x, settings.tolerance);
    report
}

#[test]
fn the_number_of_cycles_hardly_depends_on_the_size_of_a_plane() {
    let counts = [31, 63, 127].map(|n| {
        let instance = membrane(n);
        let problem = instance.problem();
        let hierarchy = Galerkin::grid(&instance.matrix, &[n, n]).unwrap();
        let mut x = vec![0.0; n * n];
        let settings = fas::Settings::default().tolerance(1e-10);
        let report = solve(&problem, settings, &hierarchy, &mut x, &mut ());
        assert_eq!(report.status, Status::Converged, "{n}: {report:?}");
        let held = (0..n * n).filter(|&i| x[i] == instance.lower[i]).count();
        assert!(
            held > n * n / 100 && held < n * n / 2,
            "{held} of {}",
            n * n
        );

        let mut by_newton = vec![0.0; n * n];
        let settings = newton::Settings::default().tolerance(1e-11);
        let mut jacobi = Jacobi::new(&instance.matrix).unwrap();
        settings.preconditioned(&problem, &mut jacobi, &mut by_newton);
        assert!(difference(&x, &by_newton) < 1e-6);
        report.iterations
    });
    assert!(counts.iter().all(|&count| count <= 16), "{counts:?}");
    assert!(counts[2] <= counts[0] + 4, "{counts:?}");
}

#[test]
fn the_number_of_cycles_hardly_depends_on_the_size_of_a_line() {
    let counts = [63, 255, 1023].map(|n| {
        let h = 1.0 / (n + 1) as f64;
        let matrix = chain(n, 0.0);
        // Pushed up on the left, down on the right, over a floor at -0.01.
        let rhs: Vec<f64> = (0..n)
            .map(|i| {
                if (i as f64) * h < 0.3 {
                    -3.0 * h * h
                } else {
                    2.0 * h * h
                }
            })
            .collect();
        let (lower, upper) = (vec![-0.01; n], vec![INF; n]);
        let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
        let hierarchy = Galerkin::grid(&matrix, &[n]).unwrap();
        let mut x = vec![0.0; n];
        let settings = fas::Settings::default().tolerance(1e-11);
        let report = solve(&problem, settings, &hierarchy, &mut x, &mut ());
        assert_eq!(report.status, Status::Converged, "{n}: {report:?}");
        let held = x.iter().filter(|&&x| x == -0.01).count();
        assert!(held > n / 10 && held < n / 2, "{held}");
        report.iterations
    });
    assert!(counts.iter().all(|&count| count <= 14), "{counts:?}");
    assert!(counts[2] <= counts[0] + 4, "{counts:?}");
}

/// A V-cycle of the linear correction scheme for `A x = c`, which knows nothing but corrections.
fn linear_cycle(
    fine: &Csr,
    level: usize,
    hierarchy: &Galerkin,
    c: &[f64],
    x: &mut [f64],
    coarsest_sweeps: usize,
) {
    let sweep = |x: &mut [f64], backward: bool| {
        for k in 0..x.len() {
            let i = if backward { x.len() - 1 - k } else { k };
            x[i] += (c[i] - fine.row_dot(i, x)) / fine.get(i, i);
        }
    };
    if level == hierarchy.coarser() {
        for k in 0..coarsest_sweeps {
            sweep(x, k % 2 == 1);
        }
        return;
    }
    sweep(x, false);
    sweep(x, false);
    let mut r = vec![0.0; x.len()];
    fine.apply(x, &mut r);
    for i in 0..r.len() {
        r[i] = c[i] - r[i];
    }
    let coarse = hierarchy.matrix(level + 1);
    let (mut restricted, mut error) = (vec![0.0; coarse.rows()], vec![0.0; coarse.rows()]);
    hierarchy.restrict(level + 1, &r, &mut restricted);
    linear_cycle(
        coarse,
        level + 1,
        hierarchy,
        &restricted,
        &mut error,
        coarsest_sweeps,
    );
    hierarchy.prolongate(level + 1, &error, &mut r);
    for i in 0..r.len() {
        x[i] += r[i];
    }
    sweep(x, false);
    sweep(x, false);
}

#[test]
fn without_bounds_each_cycle_is_one_of_linear_multigrid() {
    let n = 20; // even, so that the coarse grids do not fit exactly
    let matrix = plane(n);
    let mut random = Random::new(4);
    let rhs: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
    let start: Vec<f64> = (0..n * n).map(|_| random.between(-1.0, 1.0)).collect();
    let (lower, upper) = (vec![NONE; n * n], vec![INF; n * n]);
    let problem = BoxMlcp::new(&matrix, &rhs, &lower, &upper).unwrap();
    let hierarchy = Galerkin::grid(&matrix, &[n, n]).unwrap();
    assert_eq!(hierarchy.coarser(), 3);
    let right: Vec<f64> = rhs.iter().map(|b| -b).collect();
    let mut expected = start.clone();
    for cycles in 1..6 {
        linear_cycle(&matrix, 0, &hierarchy, &right, &mut expected, 100);
        let mut x = start.clone();
        let settings = fas::Settings::default()
            .tolerance(1e-300)
            .max_iterations(cycles);
        let report = solve(&problem, settings, &hierarchy, &mut x, &mut ());
        assert_eq!(report.iterations, cycles);
        assert!(
            difference(&x, &expected) < 1e-12,
            "{cycles}: {}",
            difference(&x, &expected)
        );
    }
}

proptest! {
    #![proptest_config(gallery::cases(32))]

    #[test]
    fn free_and_bounded_rows_are_solved_as_clarabel_does(
        seed: u64, width in 1_usize..14, height in 1_usize..14, colours: bool,
    ) {
        let mut random = Random::new(seed);
        let n = width * height;
        // Couplings between 0.5 and 1, the values outside are zero.
        let mut entries = Vec::new();
        let weight = |random: &mut Random| random.between(0.5, 1.0);
        for row in 0..n {
            let (i, j) = (row % width, row / width);
            for (inside, other) in [(i + 1 < width, row + 1), (j + 1 < height, row + width)] {
                let w = weight(&mut random);
                entries.push((row as u32, row as u32, w));
                if inside {
                    entries.extend([(other as u32, other as u32, w), (row as u32, other as u32, -w), (other as u32, row as u32, -w)]);
                }
            }
            for outside in [i == 0, j == 0] {
                if outside {
                    entries.push((row as u32, row as u32, weight(&mut random)));
                }
            }
        }
        let lower = (0..n).map(|_| if random.chance(0.4) { NONE } else { random.between(-1.0, 1.0) }).collect();
        let instance = Instance {
            matrix: Csr::from_entries(n, entries).unwrap(),
            blocks: Blocks::single(n),
            rhs: (0..n).map(|_| random.between(-0.5, 0.5)).collect(),
            lower,
            upper: vec![INF; n],
        };
        let oracle = quadratic_programme(&instance);
        prop_assume!(oracle.is_some());
        let oracle = oracle.unwrap();
        let hierarchy = Galerkin::grid(&instance.matrix, &[width, height]).unwrap();
        let order = if colours { Order::Colours } else { Order::Natural };
        let mut x: Vec<f64> = (0..n).map(|_| random.between(-3.0, 3.0)).collect();
        let settings = fas::Settings::default().order(order);
        let report = solve(&instance.problem(), settings, &hierarchy, &mut x, &mut ());
        prop_assert_eq!(report.status, Status::Converged, "{:?}", report);
        prop_assert!(difference(&x, &oracle) < 1e-5 + 1e3 * instance.problem().residual_inf(&oracle));
    }
}

#[test]
fn a_coarse_matrix_is_the_product_of_three() {
    let matrix = plane(7);
    let (transfer, size) = Transfer::linear(&[7, 7]);
    assert_eq!(size, [3, 3]);
    let hierarchy = Galerkin::new(&matrix, vec![transfer.clone()]).unwrap();
    let coarse = hierarchy.matrix(1);
    assert!(coarse.is_symmetric(1e-15));
    let (mut fine, mut product, mut back) = ([0.0; 49], [0.0; 49], [0.0; 9]);
    for j in 0..9 {
        let mut unit = [0.0; 9];
        unit[j] = 1.0;
        transfer.prolongate(&unit, &mut fine);
        matrix.apply(&fine, &mut product);
        transfer.restrict(&product, &mut back);
        for i in 0..9 {
            assert!((coarse.get(i, j) - back[i]).abs() < 1e-15);
        }
    }
    // Linear functions that are zero outside are none, but averages of a constant are that constant inside.
    transfer.restrict(&[1.0; 49], &mut back);
    assert_eq!(back, [1.0; 9]);
    // A coarse row is bounded if one of its fine rows is: the first coarse point is joined to fine (0..3, 0..3).
    let (mut bounded, mut marked) = ([false; 49], [false; 9]);
    bounded[2 + 7 * 2] = true;
    hierarchy.bounded(1, &bounded, &mut marked);
    assert_eq!(
        marked,
        [true, true, false, true, true, false, false, false, false]
    );
}

#[test]
fn upper_bounds_wrong_hierarchies_and_bad_settings_are_refused() {
    let matrix = plane(3);
    let hierarchy = Galerkin::grid(&matrix, &[3, 3]).unwrap();
    let (zero, free) = ([0.0; 9], [INF; 9]);
    let run = |problem: &BoxMlcp<'_, Csr>, settings: fas::Settings, hierarchy: &Galerkin| {
        let mut x = vec![0.0; problem.len()];
        let workspace = &mut fas::Workspace::default();
        let report = fas::solve(problem, &settings, hierarchy, &mut x, workspace, &mut ());
        report.map(|report| report.status)
    };
    let good = fas::Settings::default();
    let problem = BoxMlcp::new(&matrix, &zero, &zero, &free).unwrap();
    assert_eq!(run(&problem, good, &hierarchy), Ok(Status::Converged));
    let mut upper = free;
    upper[4] = 1.0;
    let above = BoxMlcp::new(&matrix, &zero, &zero, &upper).unwrap();
    assert_eq!(
        run(&above, good, &hierarchy),
        Err(InputError::UpperBound { row: 4 })
    );
    let other = Galerkin::grid(&plane(4), &[4, 4]).unwrap();
    assert!(matches!(
        run(&problem, good, &other),
        Err(InputError::Length { .. })
    ));
    for settings in [
        good.coarsest_sweeps(0),
        good.sweeps_before(0).sweeps_after(0),
        good.tolerance(0.0),
    ] {
        assert!(matches!(
            run(&problem, settings, &hierarchy),
            Err(InputError::Setting { .. })
        ));
    }
    let empty = gallery::dense([[0.0]]);
    let problem = BoxMlcp::new(&empty, &[1.0], &[0.0], &[INF]).unwrap();
    let alone = Galerkin::new(&empty, Vec::new()).unwrap();
    assert_eq!(
        run(&problem, good, &alone),
        Err(InputError::NoDivisor { row: 0, value: 0.0 })
    );

    assert!(Galerkin::grid(&matrix, &[3, 4]).is_err());
    assert!(Transfer::new(2, 1, vec![(2, 0, 1.0)], 0.5).is_err());
    assert!(Transfer::new(2, 1, vec![(0, 1, 1.0)], 0.5).is_err());
    assert!(Transfer::new(2, 1, vec![(0, 0, f64::NAN)], 0.5).is_err());
    assert!(Transfer::new(2, 1, vec![(0, 0, 1.0)], 0.0).is_err());
}

#[test]
fn small_and_degenerate_problems_end_well() {
    let end = |(matrix, b, lower): (&Csr, f64, f64), hierarchy: &Galerkin, start: f64| {
        let n = matrix.rows();
        let (rhs, lower, upper) = (vec![b; n], vec![lower; n], vec![INF; n]);
        let problem = BoxMlcp::new(matrix, &rhs, &lower, &upper).unwrap();
        let mut x = vec![start; n];
        let report = solve(&problem, Default::default(), hierarchy, &mut x, &mut ());
        (report.status, x)
    };
    let nothing = Csr::default();
    let hierarchy = Galerkin::grid(&nothing, &[0, 5]).unwrap();
    let none = end((&nothing, 0.0, 0.0), &hierarchy, 0.0);
    assert_eq!(none, (Status::Converged, vec![]));

    let matrix = gallery::dense([[2.0]]);
    let hierarchy = Galerkin::grid(&matrix, &[1]).unwrap();
    let one = end((&matrix, -4.0, 3.0), &hierarchy, 0.0);
    assert_eq!(one, (Status::Converged, vec![3.0]));

    // A coarse row that P joins to nothing.
    let matrix = chain(3, 0.0);
    let lonely = Transfer::new(3, 2, vec![(0, 0, 0.5), (1, 0, 1.0), (2, 0, 0.5)], 0.5).unwrap();
    let hierarchy = Galerkin::new(&matrix, vec![lonely]).unwrap();
    let (status, x) = end((&matrix, -1.0, 0.0), &hierarchy, 0.0);
    assert_eq!(status, Status::Converged);
    assert!(difference(&x, &[1.5, 2.0, 1.5]) < 1e-7);

    // Pushed up with nothing to hold it: no solution, and no success.
    let ring = gallery::dense([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]);
    let hierarchy = Galerkin::grid(&ring, &[3]).unwrap();
    assert_ne!(
        end((&ring, -1.0, 0.0), &hierarchy, 0.0).0,
        Status::Converged
    );

    // Numbers near the largest there are.
    let hierarchy = Galerkin::grid(&matrix, &[3]).unwrap();
    let (status, _) = end((&matrix, -1e308, -1e308), &hierarchy, 1e308);
    assert_ne!(status, Status::Converged);
}

#[test]
fn limits_stops_and_stagnation_are_reported() {
    let instance = membrane(15);
    let hierarchy = Galerkin::grid(&instance.matrix, &[15, 15]).unwrap();
    let run = |settings: fas::Settings, observer: &mut dyn Observer| {
        let mut x = vec![0.0; 225];
        let problem = instance.problem();
        solve(&problem, settings, &hierarchy, &mut x, observer)
    };
    let mut trace = Trace::default();
    let report = run(Default::default(), &mut trace);
    assert_eq!(trace.outer.len(), report.iterations + 1);
    let limited = run(fas::Settings::default().max_iterations(2), &mut ());
    assert_eq!(
        (limited.status, limited.iterations),
        (Status::IterationLimit, 2)
    );
    let stagnated = run(fas::Settings::default().tolerance(1e-300), &mut ());
    assert_eq!(stagnated.status, Status::Stagnated);
    assert!(stagnated.residual < 1e-14);
    let stopped = run(Default::default(), &mut StopAt { outer: 1, inner: 1 });
    assert_eq!((stopped.status, stopped.iterations), (Status::Stopped, 1));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let n = 200;
    let instance = membrane(n);
    let hierarchy = Galerkin::grid(&instance.matrix, &[n, n]).unwrap();
    same_for_all_threads("fas", || {
        let (mut x, mut trace) = (vec![0.0; n * n], Trace::default());
        let settings = fas::Settings::default()
            .order(Order::Colours)
            .max_iterations(3);
        let problem = instance.problem();
        let report = solve(&problem, settings, &hierarchy, &mut x, &mut trace);
        (bits(&x), report, trace)
    });
}
