//! Approximate minimum degree ordering: the row with (nearly) the fewest neighbours is eliminated first.
//!
//! Eliminating a row couples all its neighbours with each other. That clique is never written down: it becomes an
//! element, a list of rows, and a row is coupled with its remaining neighbours and with the rows of its elements.
//! Degrees are bounded from above, element by element, less what an element shares with the newest one.

/// The graph while rows are eliminated.
struct Graph {
    /// Neighbours of a row that no element covers.
    rows: Vec<Vec<u32>>,
    /// Elements that a row belongs to.
    elements: Vec<Vec<u32>>,
    /// Rows of an element, which has the name of the row it came from; empty if it was absorbed.
    members: Vec<Vec<u32>>,
    /// Step at which a row, or an element, was last visited.
    met: Vec<u32>,
    /// Members of an element that the newest one does not have, valid if the element was met just now.
    outside: Vec<u32>,
    element_met: Vec<u32>,
}

/// Rows in the order they are eliminated.
pub(crate) fn minimum_degree(neighbours: Vec<Vec<u32>>) -> Vec<u32> {
    let n = neighbours.len();
    let mut queue = Queue::new(neighbours.iter().map(Vec::len));
    let mut graph = Graph {
        rows: neighbours,
        elements: vec![Vec::new(); n],
        members: vec![Vec::new(); n],
        met: vec![u32::MAX; n],
        outside: vec![0; n],
        element_met: vec![u32::MAX; n],
    };
    let mut order = Vec::with_capacity(n);
    while let Some(row) = queue.pop() {
        order.push(row);
        graph.eliminate(row, n - order.len(), &mut queue);
    }
    order
}

impl Graph {
    /// Turns a row into an element.
    fn eliminate(&mut self, pivot: u32, left: usize, queue: &mut Queue) {
        let p = pivot as usize;
        // The rows the pivot is coupled with; `met` holds the pivot for each of them.
        self.met[p] = pivot;
        let mut members = std::mem::take(&mut self.rows[p]);
        for &row in &members {
            self.met[row as usize] = pivot;
        }
        for element in std::mem::take(&mut self.elements[p]) {
            for row in std::mem::take(&mut self.members[element as usize]) {
                if self.met[row as usize] != pivot {
                    self.met[row as usize] = pivot;
                    members.push(row);
                }
            }
        }
        // How much of other elements lies outside the new one.
        for &row in &members {
            for &element in &self.elements[row as usize] {
                let e = element as usize;
                if self.element_met[e] != pivot {
                    self.element_met[e] = pivot;
                    self.outside[e] = self.members[e].len() as u32;
                }
                self.outside[e] = self.outside[e].saturating_sub(1);
            }
        }
        for &row in &members {
            let r = row as usize;
            let (met, outside, of) = (&self.met, &self.outside, &self.members);
            self.rows[r].retain(|&other| met[other as usize] != pivot);
            // An element inside the new one says nothing more.
            self.elements[r].retain(|&element| {
                !of[element as usize].is_empty() && outside[element as usize] > 0
            });
            let beyond: usize = self.elements[r]
                .iter()
                .map(|&e| outside[e as usize] as usize)
                .sum();
            let degree = self.rows[r].len() + beyond + members.len() - 1;
            self.elements[r].push(pivot);
            queue.set(row, degree.min(left.saturating_sub(1)));
        }
        self.members[p] = members;
    }
}

const NONE: u32 = u32::MAX;

/// Rows by degree, in doubly linked lists.
struct Queue {
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    degree: Vec<u32>,
    lowest: usize,
}

impl Queue {
    fn new(degrees: impl ExactSizeIterator<Item = usize>) -> Self {
        let n = degrees.len();
        let mut queue = Self {
            first: vec![NONE; n + 1],
            next: vec![NONE; n],
            previous: vec![NONE; n],
            degree: vec![0; n],
            lowest: 0,
        };
        // Backwards, so that of equal rows the first comes first.
        let degrees: Vec<usize> = degrees.collect();
        for (row, &degree) in degrees.iter().enumerate().rev() {
            queue.insert(row as u32, degree);
        }
        queue
    }

    fn insert(&mut self, row: u32, degree: usize) {
        let first = self.first[degree];
        self.degree[row as usize] = degree as u32;
        self.next[row as usize] = first;
        self.previous[row as usize] = NONE;
        if first != NONE {
            self.previous[first as usize] = row;
        }
        self.first[degree] = row;
        self.lowest = self.lowest.min(degree);
    }

    fn remove(&mut self, row: u32) {
        let r = row as usize;
        let (previous, next) = (self.previous[r], self.next[r]);
        if previous == NONE {
            self.first[self.degree[r] as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }

    fn set(&mut self, row: u32, degree: usize) {
        self.remove(row);
        self.insert(row, degree);
    }

    fn pop(&mut self) -> Option<u32> {
        while self.first.get(self.lowest).is_some_and(|&row| row == NONE) {
            self.lowest += 1;
        }
        let row = *self.first.get(self.lowest)?;
        self.remove(row);
        Some(row)
    }
}
