//! Problems for the tests: discrete Laplacians on random domains, with random bounds.
#![allow(dead_code)] // each test file uses its own part

pub use meniscus_lcp::gallery::Random;
use meniscus_lcp::{Blocks, BoxMlcp, Csr};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

/// A number of cases, the same ones in every run.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A matrix with the blocks its rows are ordered by.
pub struct Laplacian {
    pub matrix: Csr,
    pub blocks: Blocks,
}

/// Parameters of a random Laplacian.
#[derive(Clone, Copy)]
pub struct Domain {
    /// Cells along the axes; `[n, m, 1]` is a plane.
    pub size: [usize; 3],
    /// Cells along the edge of a tile.
    pub tile: usize,
    /// Part of the cells that hold a fixed zero value: without any, the matrix is singular.
    pub holes: f64,
    /// Part of the cells that are left out.
    pub gaps: f64,
    /// Part of the couplings that are cut.
    pub cuts: f64,
    /// The smallest coupling; the largest is 1.
    pub weakest: f64,
}

impl Domain {
    pub fn plane(n: usize) -> Self {
        Self {
            size: [n, n, 1],
            tile: 4,
            holes: 0.05,
            gaps: 0.1,
            cuts: 0.1,
            weakest: 0.05,
        }
    }

    pub fn cube(n: usize) -> Self {
        Self {
            size: [n, n, n],
            ..Self::plane(n)
        }
    }

    /// Constant coefficients, no holes: Poisson's equation without boundary values, a singular matrix.
    pub fn closed(size: [usize; 3]) -> Self {
        Self {
            size,
            tile: 4,
            holes: 0.0,
            gaps: 0.0,
            cuts: 0.0,
            weakest: 1.0,
        }
    }

    /// `sum_f w_f (x_i - x_j)`, or `w_f x_i` towards a hole.
    pub fn laplacian(&self, random: &mut Random) -> Laplacian {
        #[derive(Clone, Copy, PartialEq)]
        enum Cell {
            Unknown,
            Hole,
            Gap,
        }
        let [nx, ny, nz] = self.size;
        let index = |cell: [usize; 3]| cell[0] + nx * (cell[1] + ny * cell[2]);
        let kinds: Vec<Cell> = (0..nx * ny * nz)
            .map(|_| {
                if random.chance(self.holes) {
                    Cell::Hole
                } else if random.chance(self.gaps) {
                    Cell::Gap
                } else {
                    Cell::Unknown
                }
            })
            .collect();

        // Rows in tiles, tiles in checkerboard order.
        let tiles = self.size.map(|n| n.div_ceil(self.tile));
        let mut row_of_cell = vec![usize::MAX; kinds.len()];
        let mut cells = Vec::new();
        let (mut starts, mut colour_starts) = (vec![0], vec![0]);
        for colour in 0..2 {
            for tile in 0..tiles[0] * tiles[1] * tiles[2] {
                let tile = [
                    tile % tiles[0],
                    tile / tiles[0] % tiles[1],
                    tile / (tiles[0] * tiles[1]),
                ];
                if tile.iter().sum::<usize>() % 2 != colour {
                    continue;
                }
                let corner = tile.map(|t| t * self.tile);
                let end: [usize; 3] =
                    std::array::from_fn(|axis| (corner[axis] + self.tile).min(self.size[axis]));
                for z in corner[2]..end[2] {
                    for y in corner[1]..end[1] {
                        for x in corner[0]..end[0] {
                            if kinds[index([x, y, z])] == Cell::Unknown {
                                row_of_cell[index([x, y, z])] = cells.len();
                                cells.push([x, y, z]);
                            }
                        }
                    }
                }
                starts.push(cells.len());
            }
            colour_starts.push(starts.len() - 1);
        }

        let n = cells.len();
        let mut diagonal = vec![0.0; n];
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for (row, &cell) in cells.iter().enumerate() {
            for axis in 0..3 {
                for up in [false, true] {
                    let mut other = cell;
                    other[axis] = if up {
                        cell[axis] + 1
                    } else {
                        cell[axis].wrapping_sub(1)
                    };
                    if other[axis] >= self.size[axis] {
                        continue;
                    }
                    match kinds[index(other)] {
                        Cell::Hole => diagonal[row] += random.between(self.weakest, 1.0),
                        Cell::Unknown if up => {
                            if random.chance(self.cuts) {
                                continue;
                            }
                            let weight = random.between(self.weakest, 1.0);
                            let column = row_of_cell[index(other)];
                            diagonal[row] += weight;
                            diagonal[column] += weight;
                            rows[row].push((column as u32, -weight));
                            rows[column].push((row as u32, -weight));
                        }
                        _ => {}
                    }
                }
            }
        }
        for (row, entries) in rows.iter_mut().enumerate() {
            entries.push((row as u32, diagonal[row]));
        }
        Laplacian {
            matrix: from_rows(rows),
            blocks: Blocks::new(starts, colour_starts).expect("blocks are a partition"),
        }
    }
}

/// A matrix from the entries of its rows, in any order.
pub fn from_rows(rows: Vec<Vec<(u32, f64)>>) -> Csr {
    let n = rows.len();
    let (mut row_starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for mut entries in rows {
        entries.sort_by_key(|entry| entry.0);
        columns.extend(entries.iter().map(|entry| entry.0));
        values.extend(entries.iter().map(|entry| entry.1));
        row_starts.push(columns.len());
    }
    Csr::new(n, row_starts, columns, values).expect("rows describe a matrix")
}

/// A matrix with every entry stored, row after row.
pub fn full(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Csr {
    let mut row = |i| (0..n).map(|j| (j as u32, entry(i, j))).collect();
    from_rows((0..n).map(&mut row).collect())
}

/// A matrix from all its entries.
pub fn dense<const N: usize>(entries: [[f64; N]; N]) -> Csr {
    full(N, |i, j| entries[i][j])
}

/// `-x_{i-1} + 2 x_i - x_{i+1}`, shifted along the diagonal.
pub fn chain(n: usize, shift: f64) -> Csr {
    let row = |i: usize| {
        let mut entries = vec![(i as u32, 2.0 + shift)];
        if i > 0 {
            entries.push((i as u32 - 1, -1.0));
        }
        if i + 1 < n {
            entries.push((i as u32 + 1, -1.0));
        }
        entries
    };
    from_rows((0..n).map(row).collect())
}

/// A matrix with a right-hand side and bounds.
#[derive(Clone, Debug)]
pub struct Instance {
    pub matrix: Csr,
    pub blocks: Blocks,
    pub rhs: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl Instance {
    pub fn new(laplacian: Laplacian, rhs: Vec<f64>, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        Self {
            matrix: laplacian.matrix,
            blocks: laplacian.blocks,
            rhs,
            lower,
            upper,
        }
    }

    pub fn problem(&self) -> BoxMlcp<'_, Csr> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper)
            .expect("the instance is a problem")
    }

    /// A matrix of any kind, with entries of any size in the right-hand side, and rows of every kind.
    pub fn hostile(matrix: Csr, random: &mut Random) -> Self {
        let n = matrix.rows();
        let bound = |random: &mut Random| match random.below(6) {
            0 => (0.0, f64::INFINITY),
            1 => (f64::NEG_INFINITY, random.between(-1.0, 1.0)),
            2 => (-1.0, 1e300),
            3 => (0.5, 0.5),
            4 => (random.between(-1.0, 0.0), random.between(0.0, 1.0)),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let (lower, upper) = (0..n).map(|_| bound(random)).unzip();
        let size = |random: &mut Random| 10_f64.powi(random.below(4) as i32 * 100);
        let rhs = (0..n).map(|_| random.between(-1.0, 1.0) * size(random));
        Self {
            rhs: rhs.collect(),
            blocks: Blocks::single(n),
            matrix,
            lower,
            upper,
        }
    }

    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    /// The same problem with `ground` added to the diagonal, which makes its solution unique.
    pub fn grounded(self, ground: f64) -> Self {
        let n = self.len();
        let (row_starts, columns, mut values) = self.matrix.into_parts();
        for row in 0..n {
            for entry in row_starts[row]..row_starts[row + 1] {
                if columns[entry] as usize == row {
                    values[entry] += ground;
                }
            }
        }
        let matrix = Csr::new(n, row_starts, columns, values).expect("only values changed");
        Self { matrix, ..self }
    }

    /// The same problem in other units: `A` times `matrix_scale`, `x` times `x_scale`.
    pub fn rescaled(&self, matrix_scale: f64, x_scale: f64) -> Self {
        let (row_starts, columns, mut values) = self.matrix.clone().into_parts();
        for value in &mut values {
            *value *= matrix_scale;
        }
        let times =
            |vector: &[f64], factor: f64| vector.iter().map(|value| value * factor).collect();
        Self {
            matrix: Csr::new(self.len(), row_starts, columns, values).expect("only values changed"),
            blocks: self.blocks.clone(),
            rhs: times(&self.rhs, matrix_scale * x_scale),
            lower: times(&self.lower, x_scale),
            upper: times(&self.upper, x_scale),
        }
    }

    /// Random rows: free, bounded below by 0, boxed, fixed; solvable because its solution is chosen first.
    ///
    /// `x` and `y` are complementary, then `b = y - A x`.
    pub fn with_known_solution(domain: Domain, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let laplacian = domain.laplacian(&mut random);
        let n = laplacian.matrix.rows();
        let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]);
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            match random.below(10) {
                0..=3 => x[i] = random.between(-3.0, 10.0),
                4..=7 => {
                    lower[i] = 0.0;
                    if random.chance(0.5) {
                        x[i] = random.between(0.0, 10.0);
                    } else {
                        y[i] = random.between(0.0, 5.0);
                    }
                }
                8 => {
                    lower[i] = random.between(-2.0, 0.0);
                    upper[i] = random.between(0.0, 2.0);
                    match random.below(3) {
                        0 => (x[i], y[i]) = (lower[i], random.between(0.0, 5.0)),
                        1 => (x[i], y[i]) = (upper[i], -random.between(0.0, 5.0)),
                        _ => x[i] = random.between(lower[i], upper[i]),
                    }
                }
                _ => {
                    lower[i] = random.between(-1.0, 1.0);
                    upper[i] = lower[i];
                    x[i] = lower[i];
                    y[i] = random.between(-5.0, 5.0);
                }
            }
        }
        let mut rhs = y;
        for (i, b) in rhs.iter_mut().enumerate() {
            let (columns, values) = laplacian.matrix.row(i);
            let product: f64 = columns
                .iter()
                .zip(values)
                .map(|(&j, a)| a * x[j as usize])
                .sum();
            *b -= product;
        }
        let instance = Self::new(laplacian, rhs, lower, upper);
        assert!(instance.problem().residual_inf(&x) < 1e-12);
        instance
    }
}

/// A solution of a small problem by exhaustion over all active sets; none if there is no solution.
///
/// Shares no code and no idea with any method: the system of each way is solved by elimination.
pub fn by_exhaustion(matrix: &Csr, rhs: &[f64], lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
    let n = rhs.len();
    let mut ways = vec![0_u8; n];
    loop {
        let sensible = (0..n).all(|i| match ways[i] {
            0 => lower[i] < upper[i],
            1 => lower[i].is_finite(),
            _ => upper[i].is_finite() && lower[i] < upper[i],
        });
        if sensible && let Some(x) = solve_way(matrix, rhs, lower, upper, &ways) {
            let problem = BoxMlcp::new(matrix, rhs, lower, upper).expect("the problem is one");
            if problem.residual_inf(&x) <= 1e-9 {
                return Some(x);
            }
        }
        let mut at = 0;
        while at < n && ways[at] == 2 {
            ways[at] = 0;
            at += 1;
        }
        if at == n {
            return None;
        }
        ways[at] += 1;
    }
}

/// `y_i = 0`, `x_i = l_i` or `x_i = u_i` on each row.
fn solve_way(
    matrix: &Csr,
    rhs: &[f64],
    lower: &[f64],
    upper: &[f64],
    ways: &[u8],
) -> Option<Vec<f64>> {
    let n = rhs.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut row = vec![0.0; n + 1];
            match ways[i] {
                0 => {
                    (0..n).for_each(|j| row[j] = matrix.get(i, j));
                    row[n] = -rhs[i];
                }
                way => {
                    row[i] = 1.0;
                    row[n] = if way == 1 { lower[i] } else { upper[i] };
                }
            }
            row
        })
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k].abs() < 1e-12 {
            return None;
        }
        let row = rows[k].clone();
        for (i, other) in rows.iter_mut().enumerate() {
            if i != k {
                let part = other[k] / row[k];
                other.iter_mut().zip(&row).for_each(|(a, b)| *a -= part * b);
            }
        }
    }
    Some((0..n).map(|i| rows[i][n] / rows[i][i]).collect())
}
