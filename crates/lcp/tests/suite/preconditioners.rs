//! MIC(0), Jacobi and masks: exactness, and restriction to the active rows.

use crate::factored_preconditioners::iterations;
use crate::gallery::{self, Domain, Laplacian, Random, chain, dense, from_rows};
use crate::harness::{difference, noise};
use meniscus_lcp::precondition::{Identity, Jacobi, Mic0, Mic0Settings, Preconditioner};
use meniscus_lcp::{Blocks, Csr, InputError, Operator, reduce};
use proptest::prelude::*;

fn mic(matrix: &Csr, blocks: &Blocks) -> Mic0 {
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    mic.rebuild(matrix, blocks).unwrap();
    mic
}

fn with_modification(modification: f64, safety: f64) -> Mic0 {
    let settings = Mic0Settings::default().modification(modification);
    Mic0::new(settings.safety(safety)).unwrap()
}

fn mask(n: usize, random: &mut Random) -> Vec<bool> {
    (0..n).map(|_| random.chance(0.7)).collect()
}

/// `A_AA`, its rows in the order they had, and the blocks that are left.
fn submatrix(laplacian: &Laplacian, active: &[bool]) -> (Csr, Blocks) {
    let mut number = vec![u32::MAX; active.len()];
    let mut count = 0;
    for (row, &active) in active.iter().enumerate() {
        if active {
            number[row] = count;
            count += 1;
        }
    }
    let rows = (0..active.len())
        .filter(|&row| active[row])
        .map(|row| {
            let (columns, values) = laplacian.matrix.row(row);
            let kept = columns
                .iter()
                .zip(values)
                .filter(|(column, _)| active[**column as usize]);
            kept.map(|(&column, &value)| (number[column as usize], value))
                .collect()
        })
        .collect();
    let blocks = &laplacian.blocks;
    let before = |row: usize| active[..row].iter().filter(|&&active| active).count();
    let starts = (0..=blocks.count())
        .map(|block| {
            before(if block < blocks.count() {
                blocks.block(block).start
            } else {
                blocks.rows()
            })
        })
        .collect();
    let colour_starts = std::iter::once(0)
        .chain((0..blocks.colours()).map(|colour| blocks.of_colour(colour).end))
        .collect();
    (from_rows(rows), Blocks::new(starts, colour_starts).unwrap())
}

#[test]
fn mic0_is_exact_on_chains() {
    let mut random = Random::new(3);
    for n in [1, 2, 3, 50, 1000] {
        // A chain with random couplings and a little ground: its factorisation has no fill to drop.
        let weights: Vec<f64> = (0..=n).map(|_| random.between(0.1, 2.0)).collect();
        let rows = (0..n)
            .map(|i| {
                let mut entries = vec![(i as u32, weights[i] + weights[i + 1])];
                if i > 0 {
                    entries.push((i as u32 - 1, -weights[i]));
                }
                if i + 1 < n {
                    entries.push((i as u32 + 1, -weights[i + 1]));
                }
                entries
            })
            .collect();
        let matrix = from_rows(rows);
        for modification in [0.0, 0.97, 1.0] {
            let mut mic = with_modification(modification, 1e-9);
            mic.rebuild(&matrix, &Blocks::single(n)).unwrap();
            let x = noise(n, &mut random);
            let (mut y, mut z) = (vec![0.0; n], vec![0.0; n]);
            matrix.apply(&x, &mut y);
            mic.apply(&y, &mut z);
            assert!(difference(&z, &x) < 1e-9, "{n} {modification}");
        }
    }
}

#[test]
fn full_modification_keeps_the_row_sums_of_the_matrix() {
    let mut random = Random::new(9);
    let Laplacian { matrix, blocks } = Domain::cube(5).laplacian(&mut random);
    let n = matrix.rows();
    for modification in [0.0, 1.0] {
        let mut mic = with_modification(modification, 1e-12);
        mic.rebuild(&matrix, &blocks).unwrap();
        // If M 1 = A 1, then inv(M) (A 1) = 1.
        let (mut sums, mut z) = (vec![0.0; n], vec![0.0; n]);
        matrix.apply(&vec![1.0; n], &mut sums);
        mic.apply(&sums, &mut z);
        let error = difference(&z, &vec![1.0; n]);
        assert_eq!(error < 1e-8, modification == 1.0, "{modification}: {error}");
    }
}

#[test]
fn conjugate_gradients_need_fewer_iterations_the_better_the_preconditioner() {
    let Laplacian { matrix, blocks } = Domain {
        holes: 0.002,
        gaps: 0.0,
        cuts: 0.0,
        weakest: 0.5,
        ..Domain::cube(24)
    }
    .laplacian(&mut Random::new(1));
    let c = noise(matrix.rows(), &mut Random::new(2));
    let iterations = |preconditioner: &dyn Preconditioner| iterations(&matrix, &c, preconditioner);
    let mut ic = Mic0::new(Mic0Settings::default().modification(0.0)).unwrap();
    ic.rebuild(&matrix, &blocks).unwrap();
    let counts = [
        iterations(&mic(&matrix, &blocks)),
        iterations(&ic),
        iterations(&Jacobi::new(&matrix).unwrap()),
    ];
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    assert!(counts[2] <= iterations(&Identity), "{counts:?}");
}

proptest! {
    #![proptest_config(gallery::cases(64))]

    #[test]
    fn a_restricted_mic0_is_the_mic0_of_the_active_rows(seed: u64, side in 2_usize..8, spatial: bool) {
        let mut random = Random::new(seed);
        let domain = if spatial { Domain::cube(side) } else { Domain::plane(2 * side) };
        let laplacian = domain.laplacian(&mut random);
        let n = laplacian.matrix.rows();
        let active = mask(n, &mut random);
        let (small_matrix, small_blocks) = submatrix(&laplacian, &active);
        let small = mic(&small_matrix, &small_blocks);
        let mut large = mic(&laplacian.matrix, &laplacian.blocks);
        let r = noise(n, &mut random);
        let mut before = vec![0.0; n];
        large.apply(&r, &mut before);

        large.restrict(&active);
        let mut z = vec![0.0; n];
        large.apply_masked_dot(&active, &r, &mut z);
        let small_r: Vec<f64> = (0..n).filter(|&i| active[i]).map(|i| r[i]).collect();
        let mut small_z = vec![0.0; small_r.len()];
        small.apply(&small_r, &mut small_z);
        let mut expected = small_z.iter();
        for i in 0..n {
            let expected = if active[i] { *expected.next().unwrap() } else { r[i] };
            prop_assert!((z[i] - expected).abs() <= 1e-10 * (1.0 + expected.abs()));
        }

        // The unmasked application is what it was.
        let mut after = vec![0.0; n];
        large.apply(&r, &mut after);
        prop_assert_eq!(before, after);
    }

    #[test]
    fn a_masked_matrix_is_its_active_part_and_the_identity(seed: u64, side in 2_usize..8) {
        let mut random = Random::new(seed);
        let laplacian = Domain::plane(2 * side).laplacian(&mut random);
        let n = laplacian.matrix.rows();
        let active = mask(n, &mut random);
        let (small, _) = submatrix(&laplacian, &active);
        for outside in [0.0, 1.0] {
            let x: Vec<f64> = (0..n).map(|i| random.between(-1.0, 1.0) * if active[i] { 1.0 } else { outside }).collect();
            let small_x: Vec<f64> = (0..n).filter(|&i| active[i]).map(|i| x[i]).collect();
            let mut small_y = vec![0.0; small_x.len()];
            small.apply(&small_x, &mut small_y);
            let mut y = vec![0.0; n];
            let dot = laplacian.matrix.apply_masked_dot(&active, &x, &mut y);
            let mut expected = small_y.iter();
            for i in 0..n {
                prop_assert_eq!(y[i], if active[i] { *expected.next().unwrap() } else { x[i] });
            }
            prop_assert!((dot - reduce::dot(&x, &y)).abs() < 1e-12);
            // The default of the trait, for operators that cannot mask as they go.
            let mut by_default = vec![0.0; n];
            Plain(&laplacian.matrix).apply_masked_dot(&active, &x, &mut by_default);
            prop_assert_eq!(&y, &by_default);
        }
    }
}

/// An operator that implements nothing but what it must.
struct Plain<'a>(&'a Csr);

impl Operator for Plain<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.0.apply(x, y);
    }
    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.0.apply_transposed(x, y);
    }
    fn diagonal(&self, d: &mut [f64]) {
        self.0.diagonal(d);
    }
}

#[test]
fn a_rebuilt_mic0_forgets_the_last_matrix() {
    let mut random = Random::new(5);
    let (large, small) = (
        Domain::cube(9).laplacian(&mut random),
        Domain::plane(5).laplacian(&mut random),
    );
    let mut reused = mic(&large.matrix, &large.blocks);
    reused.restrict(&vec![false; large.matrix.rows()]);
    reused.rebuild(&small.matrix, &small.blocks).unwrap();
    let r = noise(small.matrix.rows(), &mut random);
    let (mut z, mut expected) = (r.clone(), r.clone());
    reused.apply(&r, &mut z);
    mic(&small.matrix, &small.blocks).apply(&r, &mut expected);
    assert_eq!(z, expected);
    reused.apply_masked_dot(&vec![true; r.len()], &r, &mut z);
    assert_eq!(z, expected);
}

#[test]
fn rows_of_zeros_get_the_identity_and_impossible_diagonals_an_error() {
    let zeros = dense([[0.0, 0.0], [0.0, 2.0]]);
    let mut z = [0.0; 2];
    mic(&zeros, &Blocks::single(2)).apply(&[3.0, 4.0], &mut z);
    assert_eq!(z, [3.0, 2.0]);
    Jacobi::new(&zeros).unwrap().apply(&[3.0, 4.0], &mut z);
    assert_eq!(z, [3.0, 2.0]);

    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    for (matrix, row) in [
        (dense([[1.0, 0.0], [0.0, -1.0]]), 1),
        (dense([[0.0, 1.0], [1.0, 1.0]]), 0),
    ] {
        let error = mic.rebuild(&matrix, &Blocks::single(2)).unwrap_err();
        assert!(
            matches!(error, InputError::Diagonal { row: at, .. } if at == row),
            "{error}"
        );
    }
    assert!(matches!(
        Jacobi::new(&dense([[-1.0]])).unwrap_err(),
        InputError::Diagonal { row: 0, .. }
    ));
}

#[test]
fn blocks_of_one_colour_must_not_be_coupled() {
    let matrix = chain(4, 0.0);
    let coupled = Blocks::new(vec![0, 2, 4], vec![0, 2]).unwrap();
    let apart = Blocks::new(vec![0, 2, 4], vec![0, 1, 2]).unwrap();
    let short = Blocks::single(3);
    let mut mic = Mic0::new(Mic0Settings::default()).unwrap();
    for (blocks, fine) in [(coupled, false), (apart, true), (short, false)] {
        assert_eq!(blocks.check(&matrix).is_ok(), fine);
        assert_eq!(mic.rebuild(&matrix, &blocks), blocks.check(&matrix));
    }
}

#[test]
fn more_than_two_colours_and_empty_blocks_work() {
    // Every third row is a colour of its own.
    let n = 30;
    let order: Vec<usize> = (0..3)
        .flat_map(|colour| (0..n).filter(move |i| i % 3 == colour))
        .collect();
    let mut place = vec![0; n];
    for (at, &i) in order.iter().enumerate() {
        place[i] = at;
    }
    let plain = chain(n, 0.1);
    let mut rows = vec![Vec::new(); n];
    for i in 0..n {
        let (columns, values) = plain.row(i);
        rows[place[i]] = columns
            .iter()
            .zip(values)
            .map(|(&j, &a)| (place[j as usize] as u32, a))
            .collect();
    }
    let matrix = from_rows(rows);
    let mut starts: Vec<usize> = (0..=n).collect();
    starts.insert(10, 10); // an empty block at the end of the first colour
    let blocks = Blocks::new(starts, vec![0, 11, 21, 31]).unwrap();
    let coloured = mic(&matrix, &blocks);
    // The same elimination order in one block.
    let serial = mic(&matrix, &Blocks::single(n));
    let r = noise(n, &mut Random::new(8));
    let (mut z, mut expected) = (vec![0.0; n], vec![0.0; n]);
    coloured.apply(&r, &mut z);
    serial.apply(&r, &mut expected);
    assert!(difference(&z, &expected) < 1e-12);
    assert_eq!(
        (
            blocks.colours(),
            blocks.colour(0),
            blocks.colour(11),
            blocks.colour(30)
        ),
        (3, 0, 1, 2)
    );
}

#[test]
fn settings_of_mic0_are_checked() {
    for (modification, safety) in [
        (-0.1, 0.25),
        (1.1, 0.25),
        (f64::NAN, 0.25),
        (0.97, 0.0),
        (0.97, 1.0),
        (0.97, f64::NAN),
    ] {
        assert!(matches!(
            Mic0::new(
                Mic0Settings::default()
                    .modification(modification)
                    .safety(safety)
            ),
            Err(InputError::Setting { .. })
        ));
    }
}
