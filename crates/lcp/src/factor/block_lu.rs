//! Sparse LU factorisation of matrices that consist of small dense blocks.

use crate::sparse_factor::{eliminate, minimum_degree};

/// A dense block, row by row.
pub type Block<const B: usize> = [[f64; B]; B];

/// `A = L U` for a sparse matrix of `B` by `B` blocks whose pattern is symmetric, values need not be.
///
/// Rows of blocks are eliminated in an order of (nearly) minimum degree. Pivots are chosen within the diagonal blocks only,
/// which is safe if the symmetric part of the matrix is positive definite. The factorisation runs on one thread in a
/// fixed order.
///
/// ```
/// use meniscus_lcp::factor::BlockLu;
///
/// let mut lu = BlockLu::<2>::default();
/// lu.set_pattern(2, [(0, 1)]);
/// lu.add(0, 0, &[[4.0, 1.0], [0.0, 3.0]]);
/// lu.add(1, 1, &[[2.0, 0.0], [1.0, 5.0]]);
/// lu.add(0, 1, &[[1.0, 0.0], [0.0, 0.0]]);
/// assert!(lu.factorise(false));
/// let mut x = [[7.0, 3.0], [4.0, 12.0]];
/// lu.solve(&mut x);
/// let exact = [[1.0, 1.0], [2.0, 2.0]];
/// let close = |(x, exact): (&f64, &f64)| (x - exact).abs() < 1e-14;
/// assert!(x.iter().flatten().zip(exact.iter().flatten()).all(close));
/// ```
#[derive(Clone, Debug)]
pub struct BlockLu<const B: usize> {
    /// The number before reordering of each row.
    old: Vec<u32>,
    /// The number after reordering of each row.
    new: Vec<u32>,
    /// Rows below the diagonal in each column of `L`, which are the columns beyond it in each row of `U`.
    starts: Vec<usize>,
    below: Vec<u32>,
    /// Diagonal blocks, inverted by the factorisation.
    diagonal: Vec<Block<B>>,
    lower: Vec<Block<B>>,
    upper: Vec<Block<B>>,
}

impl<const B: usize> Default for BlockLu<B> {
    fn default() -> Self {
        Self {
            old: Vec::new(),
            new: Vec::new(),
            starts: vec![0],
            below: Vec::new(),
            diagonal: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }
}

impl<const B: usize> BlockLu<B> {
    /// Sets the number of rows of blocks and the blocks off the diagonal, each pair once or more, in any order. All values are zero.
    pub fn set_pattern(&mut self, n: usize, pairs: impl IntoIterator<Item = (usize, usize)>) {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (i, j) in pairs {
            if i != j {
                neighbours[i].push(j as u32);
                neighbours[j].push(i as u32);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let order = minimum_degree(neighbours.clone());
        let (old, columns, _) = eliminate(&neighbours, order);
        self.new = vec![0; n];
        for (row, &old) in old.iter().enumerate() {
            self.new[old as usize] = row as u32;
        }
        self.old = old;
        self.starts.clear();
        self.below.clear();
        self.starts.push(0);
        for column in columns {
            self.below.extend(column);
            self.starts.push(self.below.len());
        }
        self.clear();
    }

    /// Multiplications in a factorisation, about.
    pub fn work(&self) -> f64 {
        let squares = self.starts.windows(2).map(|pair| {
            let count = (pair[1] - pair[0]) as f64;
            count * count + 2.0 * count + 1.0
        });
        squares.sum::<f64>() * (B * B * B) as f64
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        let zero = [[0.0; B]; B];
        self.diagonal.clear();
        self.diagonal.resize(self.old.len(), zero);
        for blocks in [&mut self.lower, &mut self.upper] {
            blocks.clear();
            blocks.resize(self.below.len(), zero);
        }
    }

    /// Adds a block to the one in row `i` and column `j`.
    ///
    /// # Panics
    /// If it is not in the pattern.
    pub fn add(&mut self, i: usize, j: usize, block: &Block<B>) {
        let (i, j) = (self.new[i] as usize, self.new[j] as usize);
        let to = if i == j {
            &mut self.diagonal[i]
        } else {
            let range = self.starts[i.min(j)]..self.starts[i.min(j) + 1];
            let at = self.below[range.clone()]
                .binary_search(&(i.max(j) as u32))
                .expect("the block is in the pattern");
            let blocks = if i > j {
                &mut self.lower
            } else {
                &mut self.upper
            };
            &mut blocks[range.start + at]
        };
        for r in 0..B {
            for c in 0..B {
                to[r][c] += block[r][c];
            }
        }
    }

    /// Factorises; false if a number overflowed or a diagonal block became singular. With `symmetric`, blocks below the
    /// diagonal are taken from those above it, which saves half of the work.
    pub fn factorise(&mut self, symmetric: bool) -> bool {
        // The widest instructions that there are do the same operations in the same order.
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            return unsafe { self.factorise_by_avx2(symmetric) };
        }
        self.factorise_here(symmetric)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn factorise_by_avx2(&mut self, symmetric: bool) -> bool {
        self.factorise_here(symmetric)
    }

    #[inline(always)]
    fn factorise_here(&mut self, symmetric: bool) -> bool {
        for k in 0..self.old.len() {
            let Some(inverse) = inverse(&self.diagonal[k]) else {
                return false;
            };
            self.diagonal[k] = inverse;
            let own = self.starts[k]..self.starts[k + 1];
            for at in own.clone() {
                let left = if symmetric {
                    transposed(&self.upper[at])
                } else {
                    self.lower[at]
                };
                self.lower[at] = product(&left, &inverse);
            }
            let (lower, later_lower) = self.lower.split_at_mut(own.end);
            let (upper, later_upper) = self.upper.split_at_mut(own.end);
            for at in own.clone() {
                let i = self.below[at] as usize;
                subtract_product(&mut self.diagonal[i], &lower[at], &upper[at]);
                // Columns beyond `i` of row `k` are columns of row `i`, too.
                let mut to = self.starts[i];
                for other in at + 1..own.end {
                    while self.below[to] != self.below[other] {
                        to += 1;
                    }
                    subtract_product(&mut later_upper[to - own.end], &lower[at], &upper[other]);
                    if !symmetric {
                        subtract_product(&mut later_lower[to - own.end], &lower[other], &upper[at]);
                    }
                }
            }
        }
        true
    }

    /// Solves with the matrix that was factorised last.
    pub fn solve(&self, x: &mut [[f64; B]]) {
        let mut y: Vec<[f64; B]> = self.old.iter().map(|&old| x[old as usize]).collect();
        for k in 0..y.len() {
            let own = y[k];
            for at in self.starts[k]..self.starts[k + 1] {
                subtract_applied(&mut y[self.below[at] as usize], &self.lower[at], &own);
            }
        }
        for k in (0..y.len()).rev() {
            let mut own = y[k];
            for at in self.starts[k]..self.starts[k + 1] {
                subtract_applied(&mut own, &self.upper[at], &y[self.below[at] as usize]);
            }
            for (r, row) in self.diagonal[k].iter().enumerate() {
                y[k][r] = row.iter().zip(&own).fold(0.0, |sum, (a, b)| sum + a * b);
            }
        }
        for (&old, y) in self.old.iter().zip(y) {
            x[old as usize] = y;
        }
    }
}

#[inline(always)]
fn product<const B: usize>(a: &Block<B>, b: &Block<B>) -> Block<B> {
    let mut c = [[0.0; B]; B];
    for i in 0..B {
        for k in 0..B {
            for j in 0..B {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

/// `c -= a b`
#[inline(always)]
fn subtract_product<const B: usize>(c: &mut Block<B>, a: &Block<B>, b: &Block<B>) {
    for i in 0..B {
        let mut row = c[i];
        for k in 0..B {
            for j in 0..B {
                row[j] -= a[i][k] * b[k][j];
            }
        }
        c[i] = row;
    }
}

#[inline(always)]
fn subtract_applied<const B: usize>(y: &mut [f64; B], a: &Block<B>, x: &[f64; B]) {
    for i in 0..B {
        for j in 0..B {
            y[i] -= a[i][j] * x[j];
        }
    }
}

#[inline(always)]
fn transposed<const B: usize>(a: &Block<B>) -> Block<B> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// Inverse by Gauss-Jordan elimination with pivots of a column's largest entry.
#[inline(always)]
fn inverse<const B: usize>(a: &Block<B>) -> Option<Block<B>> {
    let mut a = *a;
    let mut b: Block<B> =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for k in 0..B {
        let pivot = (k..B).fold(k, |best, i| {
            if a[i][k].abs() > a[best][k].abs() {
                i
            } else {
                best
            }
        });
        a.swap(k, pivot);
        b.swap(k, pivot);
        let scale = 1.0 / a[k][k];
        if !scale.is_finite() || !a[k][k].is_finite() {
            return None;
        }
        for j in 0..B {
            a[k][j] *= scale;
            b[k][j] *= scale;
        }
        for i in (0..B).filter(|&i| i != k) {
            let factor = a[i][k];
            for j in 0..B {
                a[i][j] -= factor * a[k][j];
                b[i][j] -= factor * b[k][j];
            }
        }
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix on a grid of `side` by `side` rows, with a dominant diagonal.
    fn grid(side: usize, symmetric: bool) -> (BlockLu<3>, Vec<(usize, usize, Block<3>)>) {
        let n = side * side;
        let mut pairs = Vec::new();
        for i in 0..n {
            if i % side + 1 < side {
                pairs.push((i, i + 1));
            }
            if i + side < n {
                pairs.push((i, i + side));
            }
        }
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        let mut blocks = Vec::new();
        for &(i, j) in &pairs {
            let block: Block<3> = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            let other = if symmetric {
                transposed(&block)
            } else {
                std::array::from_fn(|_| std::array::from_fn(|_| random()))
            };
            blocks.push((i, j, block));
            blocks.push((j, i, other));
        }
        for i in 0..n {
            let mut block: Block<3> = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            if symmetric {
                let other = transposed(&block);
                block = std::array::from_fn(|r| std::array::from_fn(|c| block[r][c] + other[r][c]));
            }
            (0..3).for_each(|r| block[r][r] += 9.0);
            blocks.push((i, i, block));
        }
        let mut lu = BlockLu::default();
        lu.set_pattern(n, pairs);
        for (i, j, block) in &blocks {
            lu.add(*i, *j, block);
        }
        (lu, blocks)
    }

    #[test]
    fn solves_to_rounding_with_and_without_symmetry() {
        for symmetric in [false, true] {
            let (mut lu, blocks) = grid(9, symmetric);
            let x: Vec<[f64; 3]> = (0..81)
                .map(|i| std::array::from_fn(|c| ((3 * i + c) as f64).sin()))
                .collect();
            let mut b = vec![[0.0; 3]; 81];
            for (i, j, block) in &blocks {
                for r in 0..3 {
                    for c in 0..3 {
                        b[*i][r] += block[r][c] * x[*j][c];
                    }
                }
            }
            assert!(lu.factorise(symmetric));
            lu.solve(&mut b);
            for (found, expected) in b.iter().flatten().zip(x.iter().flatten()) {
                assert!((found - expected).abs() < 1e-13, "{found} {expected}");
            }
        }
    }

    #[test]
    fn a_singular_block_is_reported() {
        let mut lu = BlockLu::<2>::default();
        lu.set_pattern(1, []);
        assert!(!lu.factorise(false));
    }

    #[test]
    fn the_work_of_a_chain_grows_with_its_length() {
        let chain = |n: usize| {
            let mut lu = BlockLu::<6>::default();
            lu.set_pattern(n, (1..n).map(|i| (i - 1, i)));
            lu.work()
        };
        assert!(chain(200) < 2.1 * chain(100));
    }
}
