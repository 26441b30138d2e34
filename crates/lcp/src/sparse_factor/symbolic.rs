//! Symbolic factorisation: pattern of the factors, and the assembly tree of the fronts.

use std::ops::Range;

use super::order::minimum_degree;
use super::sparse::Sparse;

/// Zeros that joining two columns may add, as a part of the entries of the larger one.
const PADDING: usize = 8;

/// Columns of the factors in groups whose entries are in the same rows.
///
/// Each group has a front: a small dense matrix of its own rows and the rows below that they are coupled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbolic {
    /// The old number of each row.
    pub old: Vec<u32>,
    /// First row of each group, and the end.
    starts: Vec<usize>,
    /// Rows below each group.
    below_starts: Vec<usize>,
    below: Vec<u32>,
    /// For each row below, its place in the front of the parent.
    pub in_parent: Vec<u32>,
    /// Number of children of each group.
    pub children: Vec<u32>,
    /// For each group, entries of the matrix: where they are, and their place in the front.
    entry_starts: Vec<usize>,
    entries: Vec<(usize, usize)>,
    /// Rows of the largest front.
    pub largest: usize,
}

impl Symbolic {
    pub fn new(matrix: &Sparse) -> Self {
        let n = matrix.len();
        let neighbours = matrix.neighbours();
        let old = minimum_degree(neighbours.clone());
        let (old, columns, parents) = eliminate(&neighbours, old);
        let mut symbolic = Self::group(old, &columns, &parents);
        symbolic.link(n);
        symbolic.place(matrix);
        symbolic
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Multiplications in a factorisation, about.
    pub fn work(&self) -> f64 {
        let of_group = |group: usize| {
            let pivots = self.rows(group).len();
            let size = (pivots + self.below(group).len()) as f64;
            pivots as f64 * size * size
        };
        (0..self.len()).map(of_group).sum()
    }

    /// The rows of a group.
    pub fn rows(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    /// Range, in the list of rows below groups, of one group.
    pub fn below_range(&self, group: usize) -> Range<usize> {
        self.below_starts[group]..self.below_starts[group + 1]
    }

    /// The rows below a group that it is coupled with.
    pub fn below(&self, group: usize) -> &[u32] {
        &self.below[self.below_range(group)]
    }

    /// Entries of the matrix that belong into a front.
    pub fn entries(&self, group: usize) -> &[(usize, usize)] {
        &self.entries[self.entry_starts[group]..self.entry_starts[group + 1]]
    }

    /// Joins columns that follow each other and have (nearly) the same rows.
    fn group(old: Vec<u32>, columns: &[Vec<u32>], parents: &[u32]) -> Self {
        let n = columns.len();
        let mut symbolic = Self {
            old,
            starts: vec![0],
            below_starts: vec![0],
            ..Self::default()
        };
        let mut padding = 0;
        for j in 0..n {
            let last = j + 1 == n || parents[j] as usize != j + 1 || {
                let size = columns[j + 1].len() + 1;
                // Each column before this one gets the new zeros, too.
                let width = j + 1 - symbolic.starts[symbolic.starts.len() - 1];
                padding += (size - columns[j].len()) * width;
                padding * PADDING > size * (width + 1)
            };
            if last {
                padding = 0;
                symbolic.starts.push(j + 1);
                symbolic.below.extend_from_slice(&columns[j]);
                symbolic.below_starts.push(symbolic.below.len());
            }
        }
        symbolic
    }

    /// Finds parents, and the place of each row below in the parent's front.
    fn link(&mut self, n: usize) {
        let mut group_of = vec![0_u32; n];
        for group in 0..self.len() {
            group_of[self.rows(group)].fill(group as u32);
        }
        self.children = vec![0; self.len()];
        self.in_parent = vec![0; self.below.len()];
        self.largest = 0;
        for group in 0..self.len() {
            let front = self.rows(group).len() + self.below(group).len();
            self.largest = self.largest.max(front);
            let Some(&first) = self.below(group).first() else {
                continue;
            };
            let parent = group_of[first as usize] as usize;
            self.children[parent] += 1;
            for at in self.below_range(group) {
                self.in_parent[at] = self.local(parent, self.below[at] as usize) as u32;
            }
        }
    }

    /// The place of a row in a front.
    fn local(&self, group: usize, row: usize) -> usize {
        let rows = self.rows(group);
        if row < rows.end {
            row - rows.start
        } else {
            let at = self.below(group).binary_search(&(row as u32));
            rows.len() + at.expect("the pattern of the factors holds that of the matrix")
        }
    }

    /// Finds the place of each entry of the matrix.
    fn place(&mut self, matrix: &Sparse) {
        let n = matrix.len();
        let mut new = vec![0_u32; n];
        for (row, &old) in self.old.iter().enumerate() {
            new[old as usize] = row as u32;
        }
        let mut group_of = vec![0_u32; n];
        for group in 0..self.len() {
            group_of[self.rows(group)].fill(group as u32);
        }
        let mut placed = Vec::with_capacity(matrix.values.len());
        for old in 0..n {
            for at in matrix.entries(old) {
                let (row, column) = (new[old] as usize, new[matrix.column(at)] as usize);
                let group = group_of[row.min(column)] as usize;
                let front = self.rows(group).len() + self.below(group).len();
                let place = self.local(group, row) * front + self.local(group, column);
                placed.push((group as u32, at, place));
            }
        }
        placed.sort_unstable();
        self.entry_starts = vec![0; self.len() + 1];
        for &(group, ..) in &placed {
            self.entry_starts[group as usize + 1] += 1;
        }
        for group in 0..self.len() {
            self.entry_starts[group + 1] += self.entry_starts[group];
        }
        self.entries = placed
            .into_iter()
            .map(|(_, at, place)| (at, place))
            .collect();
    }
}

/// The rows below the diagonal of each column of the factors, and its parent: the first of them.
///
/// Also puts the order into one in which the children of a column come right before it.
pub(crate) fn eliminate(
    neighbours: &[Vec<u32>],
    order: Vec<u32>,
) -> (Vec<u32>, Vec<Vec<u32>>, Vec<u32>) {
    let parents = tree(neighbours, &order);
    let post = postorder(&parents);
    let old: Vec<u32> = post.iter().map(|&row| order[row as usize]).collect();
    let parents = tree(neighbours, &old);

    let n = old.len();
    let mut new = vec![0_u32; n];
    for (row, &old) in old.iter().enumerate() {
        new[old as usize] = row as u32;
    }
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut met = vec![NONE; n];
    for j in 0..n {
        let mut rows = Vec::new();
        met[j] = j as u32;
        let own = neighbours[old[j] as usize]
            .iter()
            .map(|&row| new[row as usize]);
        let inherited = children[j]
            .iter()
            .flat_map(|&child| columns[child as usize].iter().copied());
        for row in own.chain(inherited) {
            if row as usize > j && met[row as usize] != j as u32 {
                met[row as usize] = j as u32;
                rows.push(row);
            }
        }
        rows.sort_unstable();
        debug_assert_eq!(rows.first().copied().unwrap_or(NONE), parents[j]);
        if let Some(&parent) = rows.first() {
            children[parent as usize].push(j as u32);
        }
        columns[j] = rows;
    }
    (old, columns, parents)
}

const NONE: u32 = u32::MAX;

/// The parent of each column: the first row below the diagonal in which it has an entry.
fn tree(neighbours: &[Vec<u32>], old: &[u32]) -> Vec<u32> {
    let n = old.len();
    let mut new = vec![0_u32; n];
    for (row, &old) in old.iter().enumerate() {
        new[old as usize] = row as u32;
    }
    let (mut parents, mut ancestors) = (vec![NONE; n], vec![NONE; n]);
    for row in 0..n as u32 {
        for &neighbour in &neighbours[old[row as usize] as usize] {
            let mut column = new[neighbour as usize];
            // Climbs to the root, and leaves a shortcut to this row on the way.
            while column != NONE && column < row {
                let next = std::mem::replace(&mut ancestors[column as usize], row);
                if next == NONE {
                    parents[column as usize] = row;
                }
                column = next;
            }
        }
    }
    parents
}

/// Columns such that each comes right after the last of its descendants.
fn postorder(parents: &[u32]) -> Vec<u32> {
    let n = parents.len();
    let (mut first, mut next) = (vec![NONE; n], vec![NONE; n]);
    for column in (0..n).rev() {
        let parent = parents[column];
        if parent != NONE {
            next[column] = std::mem::replace(&mut first[parent as usize], column as u32);
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut stack = Vec::new();
    for root in (0..n).filter(|&column| parents[column] == NONE) {
        stack.push(root as u32);
        while let Some(&column) = stack.last() {
            let child = std::mem::replace(&mut first[column as usize], NONE);
            if child == NONE {
                stack.pop();
                order.push(column);
            } else {
                // Siblings are visited one by one: the next becomes the first of what is left.
                first[column as usize] = next[child as usize];
                stack.push(child);
            }
        }
    }
    order
}
