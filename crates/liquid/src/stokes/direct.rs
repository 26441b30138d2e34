//! Direct solves: the matrix of a level, or of a part of it, and its factors.

use meniscus_lcp::factor::MonotoneLu;
use meniscus_lcp::{Csr, InputError};

use super::kernels::Pair;
use super::level::Level;
use super::{edge_axes, edge_kinds};

/// Unknowns of a level by their places in fields, velocities of all axes first, then pressures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Axis and index of every velocity, ...
    pub faces: Vec<(u8, u32)>,
    /// ... and index of every pressure.
    pub cells: Vec<u32>,
}

impl Places {
    /// All unknowns of a level.
    pub fn all<const D: usize>(level: &Level<D, f64>) -> Self {
        let (faces, cells) = level.unknowns();
        let faces = faces.iter().enumerate();
        let faces = faces.flat_map(|(a, faces)| faces.iter().map(move |&index| (a as u8, index)));
        Self {
            faces: faces.collect(),
            cells,
        }
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.faces.len() + self.cells.len()
    }
}

/// Entries of `K` for the samples that touch the unknowns at `places`: `sign` is that of the rows of the pressure, -1 for the
/// symmetric matrix `[m + V, -G; -G', 0]` and 1 for the monotone one. The pressure of every cell is measured in its `unit`.
pub(crate) fn entries<const D: usize>(
    level: &Level<D, f64>,
    places: &Places,
    sign: f64,
    unit: impl Fn(usize) -> f64,
) -> Vec<(u32, u32, f64)> {
    let tiles = &level.tiles;
    let mut numbers: [Vec<u32>; D] = std::array::from_fn(|_| vec![u32::MAX; tiles.field_len()]);
    for (row, &(axis, index)) in places.faces.iter().enumerate() {
        numbers[axis as usize][index as usize] = row as u32;
    }
    let mut entries = Vec::new();
    // `weight d d'` for the differences of a sample.
    let mut add = |terms: &[(usize, usize, f64)], weight: f64| {
        for &(a, i, x) in terms {
            for &(b, j, y) in terms {
                let (row, column) = (numbers[a][i], numbers[b][j]);
                if row != u32::MAX && column != u32::MAX {
                    entries.push((row, column, weight * x * y));
                }
            }
        }
    };
    // Samples that touch an unknown, each once.
    let mut cells: Vec<usize> = Vec::new();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for &(axis, index) in &places.faces {
        let (a, i) = (axis as usize, index as usize);
        add(&[(a, i, 1.0)], level.mass[a][i]);
        cells.extend([i, tiles.below(i, a)]);
        for kind in 0..edge_kinds(D) {
            let (low, high) = edge_axes(kind);
            if a == low || a == high {
                let b = low + high - a;
                edges.extend([(kind, i), (kind, tiles.above(i, b))]);
            }
        }
    }
    cells.sort_unstable();
    cells.dedup();
    edges.sort_unstable();
    edges.dedup();
    for &cell in cells.iter().filter(|&&cell| level.cell[cell] > 0.0) {
        for a in 0..D {
            add(
                &[(a, cell, -1.0), (a, tiles.above(cell, a), 1.0)],
                level.cell[cell],
            );
        }
    }
    for &(kind, i) in edges.iter().filter(|&&(kind, i)| level.edge[kind][i] > 0.0) {
        let (a, b) = edge_axes(kind);
        let terms = [
            (a, i, 1.0),
            (a, tiles.below(i, b), -1.0),
            (b, i, 1.0),
            (b, tiles.below(i, a), -1.0),
        ];
        add(&terms, level.edge[kind][i]);
    }
    let first = places.faces.len() as u32;
    for (row, &cell) in (first..).zip(&places.cells) {
        let cell = cell as usize;
        for a in 0..D {
            for (face, side) in [(cell, -1.0), (tiles.above(cell, a), 1.0)] {
                let column = numbers[a][face];
                if column != u32::MAX {
                    let g = level.slope * side * unit(cell);
                    entries.push((column, row, -g));
                    entries.push((row, column, sign * g));
                }
            }
        }
    }
    entries
}

/// Factors of the matrix of some of a level's unknowns that no others couple with.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    places: Places,
    /// Units of the pressures, which bring the diagonal of the Schur complement to 1: else the regularisation of the factors
    /// would drown it at high viscosity.
    units: Vec<f64>,
    factors: Option<MonotoneLu>,
    b: Vec<f64>,
    x: Vec<f64>,
}

impl Direct {
    /// Factorises the matrix.
    pub fn new<const D: usize>(level: &Level<D, f64>, places: Places) -> Result<Self, InputError> {
        let unit = |cell: usize| level.schur[cell].sqrt();
        let units = places.cells.iter().map(|&cell| unit(cell as usize));
        let units = units.collect();
        let n = places.len();
        let matrix = Csr::from_entries(n, entries(level, &places, 1.0, unit))?;
        let factors = (n > 0).then(|| MonotoneLu::new(&matrix)).transpose()?;
        Ok(Self {
            units,
            factors,
            b: vec![0.0; n],
            x: vec![0.0; n],
            places,
        })
    }

    /// The unknowns, and the last solution.
    pub fn solution(&self) -> (&Places, &[f64]) {
        (&self.places, &self.x)
    }

    /// Solves `K x = b` for a right-hand side given at its places, velocities first.
    pub fn solve(&mut self, rhs: impl FnOnce(&Places, &mut [f64])) {
        rhs(&self.places, &mut self.b);
        let first = self.places.faces.len();
        for (b, unit) in self.b[first..].iter_mut().zip(&self.units) {
            *b *= -unit;
        }
        if let Some(factors) = &mut self.factors {
            factors.solve(&self.b, &mut self.x);
        }
        for (x, unit) in self.x[first..].iter_mut().zip(&self.units) {
            *x *= unit;
        }
    }
}

pub(super) fn put_places<const D: usize>(places: &Places, from: &[f64], to: &mut Pair<D, f32>) {
    let (t, q) = from.split_at(places.faces.len());
    for (&t, &(axis, index)) in t.iter().zip(&places.faces) {
        to.t[axis as usize][index as usize] = t as f32;
    }
    for (&q, &index) in q.iter().zip(&places.cells) {
        to.q[index as usize] = q as f32;
    }
}

pub(super) fn gather_places<const D: usize>(places: &Places, from: &Pair<D, f64>, to: &mut [f64]) {
    let faces = places
        .faces
        .iter()
        .map(|&(axis, index)| from.t[axis as usize][index as usize]);
    let cells = places.cells.iter().map(|&index| from.q[index as usize]);
    to.iter_mut()
        .zip(faces.chain(cells))
        .for_each(|(to, from)| *to = from);
}

pub(super) fn scatter_places<const D: usize>(places: &Places, from: &[f64], to: &mut Pair<D, f64>) {
    let (t, q) = from.split_at(places.faces.len());
    for (&t, &(axis, index)) in t.iter().zip(&places.faces) {
        to.t[axis as usize][index as usize] = t;
    }
    for (&q, &index) in q.iter().zip(&places.cells) {
        to.q[index as usize] = q;
    }
}
