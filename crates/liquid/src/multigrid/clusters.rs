//! Which children of a coarse cell make one unknown.
//!
//! What lies on the two sides of a thin solid must not be merged, and being connected somehow is no reason to: sides that
//! touch at a hole still differ. What counts is how well one smoothing can equalise two parts `A` and `B`, which
//! `Q = W_AB (1/D_A + 1/D_B)` tells: `W` is the coupling between them and `D` all coupling that each has. In the bulk it is
//! 1/3 for two cells in 3D, and 1/2 in 2D.

use super::level::Level;

/// Parts are merged from this `Q` on. What is left apart loses its coupling on coarser levels: with a larger value that is
/// felt, with a smaller one the two sides of a hole are taken for one.
const LEAST_QUOTIENT: f32 = 0.1;
/// Cells whose inner couplings are all at least this share of a full one are one part without looking further.
const NEARLY_FULL: f32 = 0.95;

/// Sorts the children of a cell into clusters; memory only.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters {
    /// The cluster of each child: the index of the first child in it.
    pub label: Vec<u32>,
    coupling: Vec<f32>,
    edges: Vec<Edge>,
    /// Where a child is in its cell.
    place: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    low: u32,
    high: u32,
    weight: f32,
}

impl Clusters {
    /// Labels the given unknowns of a level, which share a coarse cell.
    pub fn find<const D: usize>(&mut self, level: &Level<D>, members: &[u32]) {
        self.label.clear();
        if self.is_simple(level, members) {
            self.label.resize(members.len(), 0);
            return;
        }
        self.label.extend(0..members.len() as u32);
        self.find_edges(level, members);
        while let Some(best) = self.best() {
            self.merge(best);
        }
    }

    /// All children there, and nothing between them.
    fn is_simple<const D: usize>(&self, level: &Level<D>, members: &[u32]) -> bool {
        let least = NEARLY_FULL * level.full_weight;
        let mut seen = 0u32;
        for &member in members {
            let member = member as usize;
            let octant = level.octant[member];
            seen |= 1 << octant;
            let mut inner = 0;
            for (_, weight, side) in level.links(member) {
                inner += (crosses(octant, side) == Crossing::Inside && weight >= least) as usize;
            }
            if inner < D {
                return false;
            }
        }
        members.len() == 1 << D && seen == (1 << (1 << D)) - 1
    }

    fn find_edges<const D: usize>(&mut self, level: &Level<D>, members: &[u32]) {
        self.coupling.clear();
        self.edges.clear();
        self.place.clear();
        let places = members.iter().enumerate().map(|(k, &m)| (m, k as u32));
        self.place.extend(places);
        self.place.sort_unstable();
        for (k, &member) in members.iter().enumerate() {
            let mut sum = 0.0;
            let octant = level.octant[member as usize];
            for (target, weight, side) in level.links(member as usize) {
                sum += weight;
                if crosses(octant, side) == Crossing::Inside
                    && member < target
                    && let Ok(at) = self.place.binary_search_by_key(&target, |p| p.0)
                {
                    let other = self.place[at].1;
                    self.edges.push(Edge {
                        low: other.min(k as u32),
                        high: other.max(k as u32),
                        weight,
                    });
                }
            }
            self.coupling.push(sum);
        }
        self.edges.sort_unstable_by_key(|e| (e.low, e.high));
    }

    /// The pair with the largest quotient, the first of equals, if it is large enough.
    fn best(&self) -> Option<Edge> {
        let mut best = None;
        let mut largest = LEAST_QUOTIENT;
        for edge in &self.edges {
            let [low, high] = [edge.low, edge.high].map(|k| self.coupling[k as usize]);
            let quotient = edge.weight * (1.0 / low + 1.0 / high);
            if quotient > largest || best.is_none() && quotient >= largest {
                (best, largest) = (Some(*edge), quotient);
            }
        }
        best
    }

    fn merge(&mut self, Edge { low, high, .. }: Edge) {
        self.coupling[low as usize] += self.coupling[high as usize];
        for label in &mut self.label {
            if *label == high {
                *label = low;
            }
        }
        for edge in &mut self.edges {
            let [a, b] = [edge.low, edge.high].map(|k| if k == high { low } else { k });
            (edge.low, edge.high) = (a.min(b), a.max(b));
        }
        self.edges.retain(|e| e.low != e.high);
        // At most two edges are equal, and their sum has no order.
        self.edges.sort_unstable_by_key(|e| (e.low, e.high));
        self.edges.dedup_by(|next, kept| {
            let same = (next.low, next.high) == (kept.low, kept.high);
            kept.weight += if same { next.weight } else { 0.0 };
            same
        });
    }
}

/// Where a link of a child leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crossing {
    /// To another child of the same cell.
    Inside,
    /// Out of it.
    Outside,
}

/// Where the link through a side leads from the child in this corner of its cell.
#[inline]
pub(super) fn crosses(octant: u8, side: u8) -> Crossing {
    if (octant >> (side / 2)) & 1 == side & 1 {
        Crossing::Outside
    } else {
        Crossing::Inside
    }
}
