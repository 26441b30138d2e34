//! Levels of multigrid: what they take from one another, and what they never join.

use crate::grids::{Grid, Sphere, build, from_faces};
use meniscus_lcp::precondition::Preconditioner;
use meniscus_lcp::{Csr, Hierarchy};
use meniscus_liquid::Coord;
use meniscus_liquid::fas::{Boundaries, Coarse, Interpolation, Levels, Settings};
use meniscus_liquid::multigrid::Cycle;

const INTERPOLATIONS: [Interpolation; 3] = [
    Interpolation::Barycentric,
    Interpolation::Trilinear,
    Interpolation::Constant,
];

/// All cells of a box.
fn cells_of<const D: usize>(size: Coord<D>) -> Vec<Coord<D>> {
    let count: i32 = size.iter().product();
    let cell = |mut index: i32| {
        let mut cell = [0; D];
        for a in (0..D).rev() {
            cell[a] = index % size[a];
            index /= size[a];
        }
        cell
    };
    (0..count).map(cell).collect()
}

/// A box of liquid under air, closed below and at its sides.
fn tank<const D: usize>(size: Coord<D>, keep: impl Fn(Coord<D>) -> bool) -> Grid<D> {
    let mut cells = cells_of(size);
    cells.retain(|&cell| keep(cell));
    let inside = |cell: Coord<D>| (0..D).all(|a| (0..size[a]).contains(&cell[a])) && keep(cell);
    from_faces(cells, move |low, high| {
        let to_air = high[D - 1] == size[D - 1];
        let open = if inside(low) && (inside(high) || to_air) {
            1.0
        } else {
            0.0
        };
        (open, 0.5, -1.0)
    })
}

#[test]
fn transfers_reproduce_linear_functions_away_from_walls() {
    fn check<const D: usize>(size: Coord<D>) {
        let grid = tank(size, |_| true);
        for interpolation in [Interpolation::Barycentric, Interpolation::Trilinear] {
            let settings = Settings {
                interpolation,
                ..Default::default()
            };
            let levels = Levels::new(&grid.stencil().stencil, &settings).unwrap();
            let value = |cell: &Coord<D>, width: f64| -> f64 {
                (0..D)
                    .map(|a| (a + 1) as f64 * width * (cell[a] as f64 + 0.5))
                    .sum()
            };
            let coarse: Vec<f64> = levels.cells(1).iter().map(|c| value(c, 2.0)).collect();
            let mut fine = vec![0.0; grid.len()];
            levels.prolongate(1, &coarse, &mut fine);
            let inside = |cell: &Coord<D>| (0..D).all(|a| cell[a] >= 2 && cell[a] < size[a] - 3);
            let mut found = 0;
            for (cell, fine) in grid.cells.iter().zip(&fine).filter(|(c, _)| inside(c)) {
                assert!((fine - value(cell, 1.0)).abs() < 1e-12, "{cell:?}: {fine}");
                found += 1;
            }
            assert!(found > 30);
        }
    }
    check([15, 13]);
    check([9, 11, 10]);
}

#[test]
fn constants_stay_constant_beside_walls_and_fall_towards_air() {
    let size = [12, 14];
    let grid = tank(size, |_| true);
    for interpolation in INTERPOLATIONS {
        let settings = Settings {
            interpolation,
            ..Default::default()
        };
        let levels = Levels::new(&grid.stencil().stencil, &settings).unwrap();
        let mut fine = vec![0.0; grid.len()];
        levels.prolongate(1, &vec![1.0; levels.cells(1).len()], &mut fine);
        for (cell, fine) in grid.cells.iter().zip(&fine) {
            let at_surface = cell[1] == size[1] - 1;
            if at_surface && (cell[0] == 0 || cell[0] == size[0] - 1) {
                continue; // the wall beside it is left out: air has a larger share there
            }
            let expected = match interpolation {
                Interpolation::Constant => 1.0,
                _ if at_surface => 0.75,
                _ => 1.0,
            };
            assert!(
                (fine - expected).abs() < 1e-12,
                "{interpolation:?}: {fine} at {cell:?}"
            );
        }
    }
}

fn entries(matrix: &Csr) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    (0..matrix.rows()).flat_map(|row| {
        let (columns, values) = matrix.row(row);
        let pairs = columns.iter().zip(values);
        pairs.map(move |(&column, &value)| (row, column as usize, value))
    })
}

/// Cholesky factors of the matrix with a little added to its diagonal exist.
fn assert_semidefinite(matrix: &Csr) {
    let n = matrix.rows();
    let largest = (0..n).map(|i| matrix.get(i, i)).fold(0.0, f64::max);
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = matrix.get(i, j) - dot;
            if i == j {
                let pivot = rest + 1e-9 * largest;
                assert!(pivot > 0.0, "row {i}: {rest}");
                l[i][i] = pivot.sqrt();
            } else {
                l[i][j] = rest / l[j][j];
            }
        }
    }
}

#[test]
fn coarse_matrices_are_symmetric_and_positive_semidefinite() {
    fn check<const D: usize>(grid: &Grid<D>) {
        for interpolation in INTERPOLATIONS {
            for boundaries in [Boundaries::OneSided, Boundaries::Plain] {
                for coarse in [Coarse::Galerkin, Coarse::Direct] {
                    let settings = Settings {
                        interpolation,
                        boundaries,
                        coarse,
                    };
                    let levels = Levels::new(&grid.stencil().stencil, &settings).unwrap();
                    assert!(levels.coarser() >= 2, "{settings:?}");
                    for level in 1..=levels.coarser() {
                        let matrix = levels.matrix(level);
                        for (row, column, value) in entries(matrix) {
                            let apart = (value - matrix.get(column, row)).abs();
                            assert!(apart <= 1e-12 * matrix.get(row, row).abs().max(1e-300));
                        }
                        if matrix.rows() <= 300 {
                            assert_semidefinite(matrix);
                        }
                    }
                }
            }
        }
    }
    let thin = Sphere {
        wave: true,
        thin: Some(0.05),
    };
    check(&build::<2>(&thin, 29));
    check(&build::<3>(&thin, 13));
    // Two that face each other, each the only child of its coarse cell.
    check(&tank([9, 9, 9], |cell| {
        cell.contains(&3) || cell[0] % 2 == 0
    }));
}

/// Liquid on both sides of a plate. Its thickness is that of `plate` cells, or none.
fn divided<const D: usize>(size: Coord<D>, at: i32, plate: i32) -> Grid<D> {
    let cells = cells_of(size);
    let in_plate = move |cell: Coord<D>| (at..at + plate).contains(&cell[0]);
    let kept: Vec<Coord<D>> = cells.into_iter().filter(|&c| !in_plate(c)).collect();
    from_faces(kept, move |low, high| {
        let across = low[0] < at && high[0] >= at;
        let outside = (0..D - 1).any(|a| low[a] < 0 || high[a] == size[a]) || low[D - 1] < 0;
        let closed = across || outside || in_plate(low) || in_plate(high);
        (if closed { 0.0 } else { 1.0 }, 0.5, -1.0)
    })
}

#[test]
fn no_coarse_matrix_joins_the_sides_of_a_solid_one_cell_thick() {
    fn check<const D: usize>(size: Coord<D>, at: i32, plate: i32) {
        let grid = divided(size, at, plate);
        for interpolation in INTERPOLATIONS {
            for coarse in [Coarse::Galerkin, Coarse::Direct] {
                let settings = Settings {
                    interpolation,
                    coarse,
                    ..Default::default()
                };
                let levels = Levels::new(&grid.stencil().stencil, &settings).unwrap();
                let mut sides: Vec<bool> = grid.cells.iter().map(|cell| cell[0] < at).collect();
                for level in 1..=levels.coarser() {
                    let matrix = levels.matrix(level);
                    let mut of_coarse = vec![None; matrix.rows()];
                    for (row, &side) in sides.iter().enumerate() {
                        let (columns, weights) = levels.transfer(level).weights(row);
                        for (&column, _) in columns.iter().zip(weights).filter(|(_, w)| **w != 0.0)
                        {
                            let there = of_coarse[column as usize].get_or_insert(side);
                            assert_eq!(*there, side, "level {level} is on both sides");
                        }
                    }
                    sides = of_coarse.into_iter().map(|side| side.unwrap()).collect();
                    for (row, column, value) in entries(matrix).filter(|entry| entry.2 != 0.0) {
                        assert_eq!(sides[row], sides[column], "level {level}: {value}");
                    }
                }
            }
        }
        // The levels of the truncated iteration, from outside: a residual on one side moves nothing on the other.
        let mut cycle = Cycle::default();
        let stencil = grid.stencil();
        cycle.rebuild(&stencil.posed().unwrap(), 2).unwrap();
        let one_side = |cell: &Coord<D>| if cell[0] < at { 1.0 } else { 0.0 };
        let r: Vec<f64> = grid.cells.iter().map(one_side).collect();
        let mut z = vec![0.0; grid.len()];
        cycle.apply(&r, &mut z);
        for (r, z) in r.iter().zip(&z) {
            assert_eq!(*r == 0.0, *z == 0.0);
        }
    }
    for at in 3..7 {
        for plate in [0, 1] {
            check([17, 12], at, plate);
            check([11, 7, 8], at, plate);
        }
    }
}

#[test]
fn with_plain_boundaries_the_sides_are_joined() {
    // What the test above would find if there were something to find.
    let grid = divided([16, 12], 5, 1);
    let settings = Settings {
        boundaries: Boundaries::Plain,
        ..Default::default()
    };
    let levels = Levels::new(&grid.stencil().stencil, &settings).unwrap();
    let mixed = levels
        .cells(1)
        .iter()
        .position(|cell| cell[0] == 2)
        .unwrap();
    let mut coarse = vec![0.0; levels.cells(1).len()];
    coarse[mixed] = 1.0;
    let mut fine = vec![0.0; grid.len()];
    levels.prolongate(1, &coarse, &mut fine);
    let reached = |left: bool| {
        let mut pairs = grid.cells.iter().zip(&fine);
        pairs.any(|(cell, fine)| (cell[0] < 5) == left && *fine != 0.0)
    };
    assert!(reached(true) && reached(false));
}
