//! What a fine cell takes from which coarse unknown. [Lai20 fig. 4.1, fig. 4.2, fig. 4.3]

use std::collections::HashMap;

use meniscus_lcp::{InputError, Transfer};

use super::level::Level;
use super::settings::{Boundaries, Interpolation};
use crate::grid::tiles::Coord;

/// What lies on a side of a coarse unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FaceNeighbour {
    Solid,
    Air,
    Unknown(u32),
}

/// What lies on every side of every coarse unknown.
struct Sides<const D: usize> {
    beyond: Vec<[[FaceNeighbour; 2]; D]>,
}

impl<const D: usize> Sides<D> {
    /// Where faces lead; of several unknowns in a cell the one with the widest way.
    fn behind_faces(coarse: &Level<D>) -> Self {
        let sides_of = |k: usize| {
            std::array::from_fn(|axis| {
                [0, 1].map(|high| {
                    let side = 2 * axis as u8 + high;
                    let links = coarse.links(k).iter().filter(|link| link.side == side);
                    let widest = links.reduce(|a, b| {
                        let better = b.weight > a.weight || b.weight == a.weight && b.to < a.to;
                        if better { b } else { a }
                    });
                    match widest {
                        Some(link) => FaceNeighbour::Unknown(link.to),
                        None if coarse.air[k] >> side & 1 == 1 => FaceNeighbour::Air,
                        None => FaceNeighbour::Solid,
                    }
                })
            })
        };
        Self {
            beyond: (0..coarse.len()).map(sides_of).collect(),
        }
    }

    /// What is there, whatever is in between; zero where nothing is.
    fn of_places(coarse: &Level<D>) -> Self {
        let cells = coarse.cells.iter().enumerate();
        let places: HashMap<Coord<D>, u32> = cells.map(|(k, &c)| (c, k as u32)).collect();
        let sides_of = |cell: &Coord<D>| {
            std::array::from_fn(|axis| {
                [-1, 1].map(|step| {
                    let mut there = *cell;
                    there[axis] += step;
                    places
                        .get(&there)
                        .map_or(FaceNeighbour::Air, |&k| FaceNeighbour::Unknown(k))
                })
            })
        };
        Self {
            beyond: coarse.cells.iter().map(sides_of).collect(),
        }
    }

    /// What is reached from an unknown by steps along the axes of a set, in any order.
    fn reached(&self, from: u32, octant: [usize; D], axes: usize) -> FaceNeighbour {
        if axes == 0 {
            return FaceNeighbour::Unknown(from);
        }
        let steps = (0..D).filter(|axis| axes >> axis & 1 == 1);
        let ways = steps.map(
            |axis| match self.beyond[from as usize][axis][octant[axis]] {
                FaceNeighbour::Unknown(next) => self.reached(next, octant, axes & !(1 << axis)),
                other => other,
            },
        );
        ways.max().unwrap_or(FaceNeighbour::Solid)
    }
}

/// `P` from coarse to fine, and `R = P' / 2^D`.
pub(super) fn transfer<const D: usize>(
    fine: &Level<D>,
    coarse: &Level<D>,
    parent: &[u32],
    interpolation: Interpolation,
    boundaries: Boundaries,
) -> Result<Transfer, InputError> {
    let sides = match boundaries {
        Boundaries::OneSided => Sides::behind_faces(coarse),
        Boundaries::Plain => Sides::of_places(coarse),
    };
    let mut entries = Vec::with_capacity((D + 1) * fine.len());
    for i in 0..fine.len() {
        let own = parent[i];
        let octant: [usize; D] = std::array::from_fn(|a| (fine.cells[i][a] & 1) as usize);
        let first = entries.len();
        let mut sum = 0.0;
        let mut take = |beyond: FaceNeighbour, weight: f64| match beyond {
            FaceNeighbour::Unknown(k) => {
                entries.push((i as u32, k, weight));
                sum += weight;
            }
            FaceNeighbour::Air => sum += weight,
            FaceNeighbour::Solid => {}
        };
        match interpolation {
            Interpolation::Constant => take(FaceNeighbour::Unknown(own), 1.0),
            Interpolation::Barycentric => {
                take(FaceNeighbour::Unknown(own), 1.0 - 0.25 * D as f64);
                for axis in 0..D {
                    // The way through its own face is the best.
                    let side = (2 * axis + octant[axis]) as u8;
                    let own_face = fine.links(i).iter().find(|link| link.side == side);
                    let beyond = match (boundaries, own_face) {
                        (Boundaries::OneSided, Some(link)) => {
                            FaceNeighbour::Unknown(parent[link.to as usize])
                        }
                        _ => sides.beyond[own as usize][axis][octant[axis]],
                    };
                    take(beyond, 0.25);
                }
            }
            Interpolation::Trilinear => {
                for axes in 0..1usize << D {
                    let steps = axes.count_ones() as i32;
                    let weight = 0.25f64.powi(steps) * 0.75f64.powi(D as i32 - steps);
                    take(sides.reached(own, octant, axes), weight);
                }
            }
        }
        for entry in &mut entries[first..] {
            entry.2 /= sum;
        }
        entries[first..].sort_unstable_by_key(|entry| entry.1);
    }
    Transfer::new(fine.len(), coarse.len(), entries, 0.5f64.powi(D as i32))
}
