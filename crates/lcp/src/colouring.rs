//! Graph colouring of the rows, for parallel Gauss-Seidel.

use crate::rows::Rows;

/// Rows in sets, the colours, such that no two rows of one colour are coupled.
///
/// ```
/// use meniscus_lcp::{Colouring, Csr};
///
/// let chain = Csr::new(
///     3,
///     vec![0, 2, 5, 7],
///     vec![0, 1, 0, 1, 2, 1, 2],
///     vec![2.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0],
/// )?;
/// let colouring = Colouring::welsh_powell(&chain);
/// assert_eq!(colouring.colours().collect::<Vec<_>>(), [&[1][..], &[0, 2]]);
/// # Ok::<(), meniscus_lcp::InputError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Colouring {
    rows: Vec<u32>,
    starts: Vec<usize>,
}

impl Colouring {
    /// Colours the rows of a matrix by the rule of Welsh and Powell: rows with most neighbours first, each
    /// with the first colour that no neighbour has.
    ///
    /// Two rows are coupled if either has an entry in the column of the other, a stored zero included. There are at most
    /// as many colours as a row has couplings, plus one. Rows of a colour are in rising order.
    pub fn welsh_powell(matrix: &(impl Rows + ?Sized)) -> Self {
        let neighbours = Neighbours::of(matrix);
        let n = matrix.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(neighbours.of_row(row).len()));

        const NONE: u32 = u32::MAX;
        let mut colour_of = vec![NONE; n];
        let mut last_row_with = Vec::new(); // for each colour, the last row that had a neighbour of it
        let mut counts = Vec::new();
        for row in order {
            for &neighbour in neighbours.of_row(row) {
                let colour = colour_of[neighbour as usize];
                if colour != NONE {
                    last_row_with[colour as usize] = row;
                }
            }
            let colour = match last_row_with.iter().position(|&last| last != row) {
                Some(colour) => colour,
                None => {
                    last_row_with.push(NONE);
                    counts.push(0);
                    counts.len() - 1
                }
            };
            colour_of[row as usize] = colour as u32;
            counts[colour] += 1;
        }
        Self::from_colours(&colour_of, &counts)
    }

    /// One colour after the other, rows rising within each.
    fn from_colours(colour_of: &[u32], counts: &[usize]) -> Self {
        let mut starts = vec![0];
        for count in counts {
            starts.push(starts[starts.len() - 1] + count);
        }
        let mut next = starts.clone();
        let mut rows = vec![0; colour_of.len()];
        for (row, &colour) in colour_of.iter().enumerate() {
            rows[next[colour as usize]] = row as u32;
            next[colour as usize] += 1;
        }
        Self { rows, starts }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of colours.
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The rows of each colour in turn.
    pub fn colours(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        self.starts
            .windows(2)
            .map(|ends| &self.rows[ends[0]..ends[1]])
    }
}

/// The pattern of `A + A'` without its diagonal.
struct Neighbours {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Neighbours {
    fn of(matrix: &(impl Rows + ?Sized)) -> Self {
        let n = matrix.len();
        let mut pairs = Vec::with_capacity(2 * matrix.entries());
        for row in 0..n {
            matrix.visit_row(row, &mut |column, _| {
                if column != row {
                    pairs.push((row as u32, column as u32));
                    pairs.push((column as u32, row as u32));
                }
            });
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; n + 1];
        for &(row, _) in &pairs {
            starts[row as usize + 1] += 1;
        }
        for row in 0..n {
            starts[row + 1] += starts[row];
        }
        Self {
            starts,
            rows: pairs.into_iter().map(|pair| pair.1).collect(),
        }
    }

    fn of_row(&self, row: u32) -> &[u32] {
        &self.rows[self.starts[row as usize]..self.starts[row as usize + 1]]
    }
}
