//! Pressure problems built directly from formulas, as matrix and cells.
#![allow(dead_code)]

use std::collections::HashMap;

use meniscus_lcp::{BoxMlcp, Csr};
use meniscus_liquid::Coord;
use meniscus_liquid::stencil::StencilProblem;

/// A problem and the cells of its rows.
pub struct Grid<const D: usize> {
    pub matrix: Csr,
    pub rhs: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub cells: Vec<Coord<D>>,
}

impl<const D: usize> Grid<D> {
    pub fn problem(&self) -> BoxMlcp<'_, Csr> {
        BoxMlcp::new(&self.matrix, &self.rhs, &self.lower, &self.upper).unwrap()
    }

    pub fn stencil(&self) -> StencilProblem<D> {
        StencilProblem::from_matrix(&self.problem(), &self.cells).unwrap()
    }

    pub fn len(&self) -> usize {
        self.rhs.len()
    }

    pub fn wall_rows(&self) -> usize {
        self.lower.iter().filter(|l| l.is_finite()).count()
    }

    /// Largest entry of the right-hand side.
    pub fn largest(&self) -> f64 {
        self.rhs.iter().fold(0.0, |m: f64, b| m.max(b.abs()))
    }
}

/// What a problem is made of.
pub trait Scene<const D: usize>: Sync {
    /// Distance to the nearest solid, positive in the open.
    fn open(&self, x: [f64; D]) -> f64;
    /// Distance to the liquid's surface, negative inside.
    fn liquid(&self, x: [f64; D]) -> f64;
}

/// A sphere of radius 0.45 in the unit cube, half full; perhaps with waves or with thin solids inside.
#[derive(Clone, Copy, Default)]
pub struct Sphere {
    pub wave: bool,
    /// Thickness of a plate and of a shell with a hole.
    pub thin: Option<f64>,
}

impl<const D: usize> Scene<D> for Sphere {
    fn open(&self, x: [f64; D]) -> f64 {
        let from: [f64; D] = x.map(|v| v - 0.5);
        let radius = from.iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut open = 0.45 - radius;
        if let Some(thickness) = self.thin {
            let plate = (from[1] + 0.013).abs().max(from[0] + 0.12) - 0.5 * thickness;
            let hole = from[1] - 0.2;
            let shell = ((radius - 0.3).abs() - 0.5 * thickness).max(hole);
            open = open.min(plate).min(shell);
        }
        open
    }

    fn liquid(&self, x: [f64; D]) -> f64 {
        let pi = std::f64::consts::PI;
        let wave = match (self.wave, D) {
            (false, _) => 0.0,
            (true, 2) => 0.03 * (6.0 * pi * x[1] + 1.0).sin(),
            (true, _) => 0.03 * (6.0 * pi * x[1] + 1.0).sin() * (4.0 * pi * x[D - 1]).cos(),
        };
        x[0] - 0.5 - wave
    }
}

/// The problem of a scene on a grid of `n` cells a side, with the velocity of the analytic sphere problem.
pub fn build<const D: usize>(scene: &impl Scene<D>, n: usize) -> Grid<D> {
    let dx = 1.0 / n as f64;
    let scale = 0.01 / (dx * dx);
    let centre = |cell: Coord<D>| cell.map(|c| (c as f64 + 0.5) * dx);
    let side = |cell: Coord<D>, axis: usize, high: usize| {
        let mut x = centre(cell);
        x[axis] += (high as f64 - 0.5) * dx;
        x
    };
    let fraction = |x: [f64; D], axis: usize| -> f64 {
        let s = scene.open(x);
        if s.abs() >= 1.01 * dx {
            return if s > 0.0 { 1.0 } else { 0.0 };
        }
        let h = dx / 8.0;
        let points = 8usize.pow(D as u32 - 1);
        let mut sum = 0.0;
        for k in 0..points {
            let (mut y, mut rest) = (x, k);
            for a in (0..D).filter(|&a| a != axis) {
                y[a] += ((rest % 8) as f64 - 3.5) * h;
                rest /= 8;
            }
            sum += (0.5 + scene.open(y) / h).clamp(0.0, 1.0);
        }
        sum / points as f64
    };
    let beyond = |mut cell: Coord<D>, axis: usize, high: usize| {
        cell[axis] += 2 * high as i32 - 1;
        cell
    };
    // Fractions of every face of a liquid cell.
    let mut cells: Vec<(Coord<D>, [[f64; 2]; D])> = Vec::new();
    for index in 0..n.pow(D as u32) {
        let cell: Coord<D> =
            std::array::from_fn(|a| ((index / n.pow((D - 1 - a) as u32)) % n) as i32);
        if scene.liquid(centre(cell)) < 0.0 {
            let w: [[f64; 2]; D] = std::array::from_fn(|axis| {
                [0, 1].map(|high| fraction(side(cell, axis, high), axis))
            });
            if w.as_flattened().iter().any(|&w| w > 0.0) {
                cells.push((cell, w));
            }
        }
    }
    // Only what hangs together with the free surface.
    let row_of: HashMap<Coord<D>, usize> =
        cells.iter().enumerate().map(|(k, c)| (c.0, k)).collect();
    let mut reached = vec![false; cells.len()];
    let mut stack = Vec::new();
    for (k, (cell, w)) in cells.iter().enumerate() {
        for (axis, pair) in w.iter().enumerate() {
            for (high, &w) in pair.iter().enumerate() {
                let other = beyond(*cell, axis, high);
                if w > 0.0 && scene.liquid(centre(other)) >= 0.0 && !reached[k] {
                    reached[k] = true;
                    stack.push(k);
                }
            }
        }
    }
    while let Some(k) = stack.pop() {
        let (cell, w) = cells[k];
        for axis in 0..D {
            for high in 0..2 {
                if let Some(&j) = row_of.get(&beyond(cell, axis, high))
                    && w[axis][high] > 0.0
                    && !reached[j]
                {
                    reached[j] = true;
                    stack.push(j);
                }
            }
        }
    }
    let mut kept = reached.iter();
    cells.retain(|_| *kept.next().unwrap());
    let row_of: HashMap<Coord<D>, u32> = cells
        .iter()
        .enumerate()
        .map(|(k, c)| (c.0, k as u32))
        .collect();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut rhs, mut lower) = (Vec::new(), Vec::new());
    for (row, (cell, w)) in cells.iter().enumerate() {
        let (mut diagonal, mut b, mut wall) = (0.0, 0.0, false);
        let mut entries = Vec::new();
        for axis in 0..D {
            for high in 0..2 {
                let open = w[axis][high];
                wall |= open < 1.0;
                let sign = 2.0 * high as f64 - 1.0;
                b += sign * open * velocity(side(*cell, axis, high))[axis] / dx;
                if open == 0.0 {
                    continue;
                }
                let other = beyond(*cell, axis, high);
                if let Some(&column) = row_of.get(&other) {
                    diagonal += scale * open;
                    entries.push((column, -scale * open));
                } else {
                    let (inside, outside) =
                        (scene.liquid(centre(*cell)), scene.liquid(centre(other)));
                    let theta = (inside / (inside - outside)).clamp(0.01, 1.0);
                    diagonal += scale * open / theta;
                }
            }
        }
        entries.push((row as u32, diagonal));
        entries.sort_by_key(|e| e.0);
        for (column, value) in entries {
            columns.push(column);
            values.push(value);
        }
        starts.push(columns.len());
        rhs.push(b);
        lower.push(if wall { 0.0 } else { f64::NEG_INFINITY });
    }
    let n = cells.len();
    Grid {
        matrix: Csr::new(n, starts, columns, values).unwrap(),
        rhs,
        lower,
        upper: vec![f64::INFINITY; n],
        cells: cells.into_iter().map(|c| c.0).collect(),
    }
}

fn velocity<const D: usize>(x: [f64; D]) -> [f64; D] {
    let pi = std::f64::consts::PI;
    let from = x.map(|v| v - 0.5);
    std::array::from_fn(|k| {
        let smooth = match k {
            0 => 0.3 - 1.5 * from[1] + 0.2 * from[0],
            1 => -1.0 + 1.5 * from[0] - 0.2 * from[1],
            _ => 0.2,
        };
        smooth + 0.1 * (4.0 * pi * x[k] + k as f64).sin()
    })
}

/// A problem on the given cells. `face(low, high)` tells of the face between two cells how far it is open, where the
/// surface would cut it, and the velocity through it; it is called once a face.
pub fn from_faces<const D: usize>(
    cells: Vec<Coord<D>>,
    mut face: impl FnMut(Coord<D>, Coord<D>) -> (f64, f64, f64),
) -> Grid<D> {
    let row_of: HashMap<Coord<D>, usize> = cells.iter().enumerate().map(|(k, &c)| (c, k)).collect();
    let n = cells.len();
    let mut entries = Vec::new();
    let (mut diagonal, mut rhs, mut wall) = (vec![0.0; n], vec![0.0; n], vec![false; n]);
    for (row, &cell) in cells.iter().enumerate() {
        for axis in 0..D {
            let [mut below, mut above] = [cell; 2];
            below[axis] -= 1;
            above[axis] += 1;
            let other = row_of.get(&below);
            let (open, theta, velocity) = face(below, cell);
            rhs[row] -= open * velocity;
            wall[row] |= open < 1.0;
            match other {
                Some(&other) => {
                    diagonal[row] += open;
                    diagonal[other] += open;
                    rhs[other] += open * velocity;
                    wall[other] |= open < 1.0;
                    if open > 0.0 {
                        entries.push((row as u32, other as u32, -open));
                        entries.push((other as u32, row as u32, -open));
                    }
                }
                None => diagonal[row] += open / theta,
            }
            if !row_of.contains_key(&above) {
                let (open, theta, velocity) = face(cell, above);
                diagonal[row] += open / theta;
                rhs[row] += open * velocity;
                wall[row] |= open < 1.0;
            }
        }
    }
    entries.extend((0..n).map(|row| (row as u32, row as u32, diagonal[row])));
    let lower = |&wall: &bool| if wall { 0.0 } else { f64::NEG_INFINITY };
    Grid {
        matrix: Csr::from_entries(n, entries).unwrap(),
        rhs,
        lower: wall.iter().map(lower).collect(),
        upper: vec![f64::INFINITY; n],
        cells,
    }
}

/// Random numbers that are the same everywhere.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let mut x = self.0;
        x ^= x >> 33;
        x = x.wrapping_mul(0xff51afd7ed558ccd);
        x ^= x >> 33;
        (x >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Cells with a given chance, faces with random openings, some to air.
pub fn random<const D: usize>(size: Coord<D>, fill: f64, cut: f64, seed: u64) -> Grid<D> {
    let mut dice = Dice(seed);
    let count: i32 = size.iter().product();
    let mut cells = Vec::new();
    for index in 0..count {
        let mut rest = index;
        let mut cell: Coord<D> = [0; D];
        for a in (0..D).rev() {
            cell[a] = rest % size[a] - size[a] / 3;
            rest /= size[a];
        }
        if dice.roll() < fill {
            cells.push(cell);
        }
    }
    from_faces(cells, |_, _| {
        let open = if dice.roll() < cut { dice.roll() } else { 1.0 };
        (open, 0.01 + 0.99 * dice.roll(), 2.0 * dice.roll() - 1.0)
    })
}
