//! Sparse matrices of blocks between groups of degrees of freedom, and their factors.

use meniscus_lcp::factor::{Block, BlockLu};

use super::low_rank::FREEDOMS;

/// A block of a [`Stiffness`], of which the first [`freedoms`](super::freedoms) rows and columns count.
pub type SquareBlock = [[f64; FREEDOMS]; FREEDOMS];

/// Inverse of the derivative of velocities by impulses: a symmetric positive definite matrix of blocks. It is sparse where the
/// derivative is not: bodies that touch have a block, bodies of the same heap have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stiffness {
    /// Rows of blocks: one for each group, then those of others through which groups act on each other.
    pub rows: usize,
    /// Row, column and values of blocks, those below the diagonal included. Blocks of the same place add up.
    pub blocks: Vec<(u32, u32, SquareBlock)>,
}

impl Stiffness {
    /// Velocities that impulses lead to. Zero if the matrix is singular.
    pub fn solve<const D: usize>(&self, impulse: &mut [f64]) {
        Factor::new::<D>(self, 1.0, &[], false).solve(impulse);
    }

    /// Writes a multiple of it.
    pub(super) fn scale_to(&self, out: &mut Self, by: f64) {
        out.rows = self.rows;
        out.blocks.clear();
        let scaled = |&(i, j, block): &(u32, u32, SquareBlock)| {
            (i, j, block.map(|row| row.map(|value| by * value)))
        };
        out.blocks.extend(self.blocks.iter().map(scaled));
    }
}

/// Factors of a matrix of blocks.
#[derive(Clone, Debug, Default)]
pub(super) enum Factor {
    /// None, or those of a matrix that is singular to rounding: it counts as infinite.
    #[default]
    None,
    Plane(BlockLu<3>),
    Space(BlockLu<6>),
}

/// The factors of `stiffness / scale + gram`, or with the transpose of the latter.
fn factors<const B: usize>(
    stiffness: &Stiffness,
    scale: f64,
    gram: &[(u32, u32, SquareBlock)],
    transposed: bool,
) -> Option<BlockLu<B>> {
    let mut lu = BlockLu::<B>::default();
    let blocks = stiffness.blocks.iter().chain(gram);
    let pairs = blocks.map(|&(i, j, _)| (i as usize, j as usize));
    lu.set_pattern(stiffness.rows, pairs);
    for (i, j, block) in &stiffness.blocks {
        let own: Block<B> = std::array::from_fn(|r| std::array::from_fn(|c| block[r][c] / scale));
        lu.add(*i as usize, *j as usize, &own);
    }
    for (i, j, block) in gram {
        let (i, j) = if transposed { (j, i) } else { (i, j) };
        let own: Block<B> = std::array::from_fn(|r| {
            std::array::from_fn(|c| if transposed { block[c][r] } else { block[r][c] })
        });
        lu.add(*i as usize, *j as usize, &own);
    }
    // The symmetric part is positive definite: pivots within blocks are safe.
    lu.factorise(gram.is_empty()).then_some(lu)
}

impl Factor {
    pub fn new<const D: usize>(
        stiffness: &Stiffness,
        scale: f64,
        gram: &[(u32, u32, SquareBlock)],
        transposed: bool,
    ) -> Self {
        let made = match D {
            2 => factors(stiffness, scale, gram, transposed).map(Self::Plane),
            _ => factors(stiffness, scale, gram, transposed).map(Self::Space),
        };
        if made.is_none() { eprintln!("SINGULAR rows {} gram {}", stiffness.rows, gram.len()); } // TRACE
        made.unwrap_or(Self::None)
    }

    pub fn solve(&self, x: &mut [f64]) {
        match self {
            Self::None => x.fill(0.0),
            Self::Plane(lu) => lu.solve(x.as_chunks_mut().0),
            Self::Space(lu) => lu.solve(x.as_chunks_mut().0),
        }
    }
}
