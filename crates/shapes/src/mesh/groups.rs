//! Connected groups with relative orientation: a union-find whose members are oriented as their group or opposite to it.

/// Disjoint sets, with a sense for each member relative to the first of its set.
pub(crate) struct Groups {
    parent: Vec<u32>,
    turned: Vec<bool>,
}

impl Groups {
    /// Each of `count` things alone.
    pub fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
            turned: vec![false; count],
        }
    }

    /// The first member of the group of `of`, and whether `of` is the other way round than that one.
    pub fn find(&mut self, of: u32) -> (u32, bool) {
        let (mut root, mut turned) = (of, false);
        while self.parent[root as usize] != root {
            turned ^= self.turned[root as usize];
            root = self.parent[root as usize];
        }
        // The next search is short.
        let (mut at, mut sense) = (of, turned);
        while self.parent[at as usize] != root {
            let up = self.parent[at as usize];
            let next = sense ^ self.turned[at as usize];
            self.parent[at as usize] = root;
            self.turned[at as usize] = sense;
            (at, sense) = (up, next);
        }
        (root, turned)
    }

    /// Puts the groups of `a` and `b` together, `b` being the other way round than `a` or not. What is together
    /// already keeps its sense.
    pub fn join(&mut self, a: u32, b: u32, turned: bool) {
        let ((first, a_turned), (second, b_turned)) = (self.find(a), self.find(b));
        if first != second {
            let (low, high) = (first.min(second), first.max(second));
            self.parent[high as usize] = low;
            self.turned[high as usize] = a_turned ^ b_turned ^ turned;
        }
    }
}
