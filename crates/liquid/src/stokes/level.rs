//! Unknowns and coefficients of the problem on one grid.
//!
//! **Rule 1, free surface.** A pressure or stress sample may act only if all of its open faces are unknowns: else a free blob
//! in rigid motion is slowed down in mid-air. So every open face of a cell or an edge with liquid is an unknown,
//! with a small mass where it has no liquid of its own.
//!
//! **Rule 2, walls.** A stress sample acts wherever it has liquid and one liquid face, even if it lies wholly inside the solid:
//! it is what holds a barely cut face. So does a pressure, or the wall would leak.
//!
//! DEVIATION [TB20 (8)]: the paper takes every face with `W_L = 0` for no unknown and says nothing of samples inside solids.

use rayon::prelude::*;

use super::fractions::{Geometry, edge_low, face_low};
use super::{EDGE_KINDS, edge_axes, edge_kind, edge_kinds};
use crate::grid::tiles::Tiles;

/// Least liquid share of a sample that acts, and least open share of a face that is an unknown.
const LEAST: f64 = 1e-3;
/// Least mass of an unknown face, as a share of a full one.
const LEAST_MASS: f64 = 0.01;
/// Open shares of stress samples are taken to be at least this: smaller is more accurate (the error of the torque on
/// a cylinder is 4 % at 16 cells) and takes up to twice the iterations.
const LEAST_OPEN: f64 = 0.02;
/// Stress samples more closed than this do not act at slip walls.
const OPEN: f64 = 1.0 - 1e-6;

/// Physical constants of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// Density of the liquid.
    pub density: f64,
    /// Length of the step.
    pub dt: f64,
    /// Width of a cell of the finest grid.
    pub dx: f64,
    /// Whether liquid sticks to walls.
    pub walls: StressWalls,
}

/// Whether walls exert shear stress on the liquid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StressWalls {
    /// No slip: the liquid at a wall has its velocity.
    Stick,
    /// Free slip: stress samples that a wall cuts do not act.
    Slip,
}

impl Medium {
    /// `dt/(rho dx^2)`, by which a viscosity becomes a number without dimension.
    pub(crate) fn viscous_scale(&self) -> f64 {
        self.dt / (self.density * self.dx * self.dx)
    }
}

/// Forces of a problem. Both at once but for schemes that solve for one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Forces {
    #[default]
    Both,
    /// Pressure alone.
    Pressure,
    /// Viscous stresses alone: the velocity need not be free of divergence.
    Stresses,
}

/// What a face is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaceKind {
    /// Open and away from the liquid.
    Air,
    /// Closed: its flux is that of the solid.
    Solid,
    /// An unknown.
    Liquid,
}

/// Coefficients of one grid. Fields cover the tiles; what is no unknown and does not act is zero.
#[derive(Clone, Debug)]
pub(crate) struct Level<const D: usize, T> {
    /// The cells there are.
    pub tiles: Tiles<D>,
    /// Entries of `G`: the width of the finest cells over that of these.
    pub slope: T,
    /// `m` of the low faces of cells.
    pub mass: [Vec<T>; D],
    /// `2 eta_c`, without dimension.
    pub cell: Vec<T>,
    /// `eta_e` of the edges of every kind, without dimension.
    pub edge: [Vec<T>; EDGE_KINDS],
    /// Inverse diagonal of `m + V`; zero where a face is no unknown.
    pub inverse: [Vec<T>; D],
    /// Inverse diagonal of `G' diag(m + V)^-1 G`; zero in cells without a pressure.
    pub schur: Vec<T>,
    /// Tiles with unknowns by parity: those of one parity do not touch.
    pub active: Vec<Vec<u32>>,
}

/// Shares and kinds that a level was built from.
pub(crate) struct Shares<const D: usize> {
    /// What every face is.
    pub kind: [Vec<FaceKind>; D],
    /// Open share of the low faces of cells.
    pub open: [Vec<f32>; D],
    /// Liquid share of the low faces of cells.
    pub liquid: [Vec<f32>; D],
}

/// A viscosity in Pa s at the samples of a level.
pub(crate) trait ViscosityAt: Sync {
    /// At a cell.
    fn cell(&self, index: usize) -> f64;
    /// At an edge of a kind.
    fn edge(&self, kind: usize, index: usize) -> f64;
}

/// A field from a formula for the cells of tiles, `null` in the null tile.
fn field<const D: usize, T: Copy + Send + Sync>(
    tiles: &Tiles<D>,
    null: T,
    value: impl Fn(usize) -> T + Sync + Send,
) -> Vec<T> {
    let cells = tiles.cells();
    (0..tiles.field_len())
        .into_par_iter()
        .with_min_len(512)
        .map(|index| if index < cells { value(index) } else { null })
        .collect()
}

impl<const D: usize> Level<D, f64> {
    /// Chooses the unknowns and computes the coefficients. `ratio` is the width of a cell over that of the finest ones.
    pub fn build(
        geometry: &Geometry<D>,
        medium: &Medium,
        viscosity: &dyn ViscosityAt,
        ratio: f64,
        forces: Forces,
    ) -> (Self, Shares<D>) {
        let tiles = &geometry.tiles;
        let shares_of = |low: usize| {
            field(tiles, (0.0, 0.0), |index| {
                let (liquid, solid) = geometry.shares(index, low);
                (liquid as f32, (1.0 - solid) as f32)
            })
        };
        let cells = shares_of(0);
        let faces: [Vec<(f32, f32)>; D] = std::array::from_fn(|a| shares_of(face_low(a)));
        let edges: [Vec<(f32, f32)>; EDGE_KINDS] = std::array::from_fn(|kind| {
            let (a, b) = edge_axes(kind);
            match kind < edge_kinds(D) {
                true => shares_of(edge_low(a, b)),
                false => Vec::new(),
            }
        });
        let wet = |share: (f32, f32)| share.0 as f64 > LEAST;
        let kind: [Vec<FaceKind>; D] = std::array::from_fn(|a| {
            field(tiles, FaceKind::Solid, |index| {
                let share = faces[a][index];
                // Rule 1: all open faces of cells and edges with liquid.
                let beside = || wet(cells[index]) || wet(cells[tiles.below(index, a)]);
                let around = || {
                    (0..D).filter(|&b| b != a).any(|b| {
                        let edges = &edges[edge_kind(a, b)];
                        wet(edges[index]) || wet(edges[tiles.above(index, b)])
                    })
                };
                match share.1 as f64 > LEAST {
                    false => FaceKind::Solid,
                    true if wet(share) || beside() || around() => FaceKind::Liquid,
                    true => FaceKind::Air,
                }
            })
        });
        let is_unknown = |a: usize, index: usize| kind[a][index] == FaceKind::Liquid;
        let of_cell = |index: usize| {
            (0..D).any(|a| is_unknown(a, index) || is_unknown(a, tiles.above(index, a)))
        };
        let scale = medium.viscous_scale() / (ratio * ratio);
        let acts = |share: (f32, f32), holds: &dyn Fn() -> bool| {
            let sticks = || medium.walls == StressWalls::Stick && holds();
            forces != Forces::Pressure && wet(share) && (share.1 as f64 > OPEN || sticks())
        };
        let weight = |share: (f32, f32)| share.0 as f64 / (share.1 as f64).max(LEAST_OPEN);
        let cell = field(tiles, 0.0, |index| {
            match acts(cells[index], &|| geometry.holds(index)) && of_cell(index) {
                true => 2.0 * scale * viscosity.cell(index) * weight(cells[index]),
                false => 0.0,
            }
        });
        let edge: [Vec<f64>; EDGE_KINDS] = std::array::from_fn(|kind| {
            if kind >= edge_kinds(D) {
                return Vec::new();
            }
            let (a, b) = edge_axes(kind);
            field(tiles, 0.0, |index| {
                let share = edges[kind][index];
                // Rule 2: one liquid face is enough.
                let touches = || {
                    let pair = |a: usize, b: usize| {
                        is_unknown(a, index) || is_unknown(a, tiles.below(index, b))
                    };
                    pair(a, b) || pair(b, a)
                };
                let holds = || {
                    let below = tiles.below(index, a);
                    let cells = [index, below, tiles.below(index, b), tiles.below(below, b)];
                    cells.iter().all(|&cell| geometry.holds(cell))
                };
                match acts(share, &holds) && touches() {
                    true => scale * viscosity.edge(kind, index) * weight(share),
                    false => 0.0,
                }
            })
        });
        let mass = std::array::from_fn(|a| {
            field(tiles, 0.0, |index| match is_unknown(a, index) {
                true => (faces[a][index].0 as f64).max(LEAST_MASS) / faces[a][index].1 as f64,
                false => 0.0,
            })
        });
        let has_pressure = forces != Forces::Stresses;
        let pressure = |index: usize| has_pressure && wet(cells[index]) && of_cell(index);
        let mut level = Self {
            slope: 1.0 / ratio,
            mass,
            cell,
            edge,
            inverse: std::array::from_fn(|_| Vec::new()),
            schur: field(tiles, 0.0, |index| f64::from(u8::from(pressure(index)))),
            active: Vec::new(),
            tiles: tiles.clone(),
        };
        level.finish();
        let shares = Shares {
            kind,
            open: faces
                .each_ref()
                .map(|shares| shares.iter().map(|s| s.1).collect()),
            liquid: faces
                .each_ref()
                .map(|shares| shares.iter().map(|s| s.0).collect()),
        };
        (level, shares)
    }

    /// Whether the low face of a cell is an unknown.
    #[inline]
    pub fn is_unknown(&self, axis: usize, index: usize) -> bool {
        self.mass[axis][index] > 0.0
    }

    /// Whether a cell has a pressure.
    #[inline]
    pub fn has_pressure(&self, index: usize) -> bool {
        self.schur[index] > 0.0
    }

    /// Diagonals and active tiles, from masses, viscosities and `schur > 0` where there is a pressure.
    pub fn finish(&mut self) {
        let tiles = &self.tiles;
        let (cell, edge, mass) = (&self.cell, &self.edge, &self.mass);
        self.inverse = std::array::from_fn(|a| {
            field(tiles, 0.0, |index| {
                if mass[a][index] == 0.0 {
                    return 0.0;
                }
                let around = (0..D).filter(|&b| b != a).map(|b| {
                    let edge = &edge[edge_kind(a, b)];
                    edge[index] + edge[tiles.above(index, b)]
                });
                let stretch = cell[index] + cell[tiles.below(index, a)];
                1.0 / (mass[a][index] + stretch + around.sum::<f64>())
            })
        });
        let (inverse, slope, has) = (&self.inverse, self.slope, &self.schur);
        self.schur = field(tiles, 0.0, |index| {
            let sides = (0..D).map(|a| inverse[a][index] + inverse[a][tiles.above(index, a)]);
            let sum = sides.sum::<f64>() * slope * slope;
            match has[index] > 0.0 && sum > 0.0 {
                true => 1.0 / sum,
                false => 0.0,
            }
        });
        self.active = vec![Vec::new(); 1 << D];
        let cells = Tiles::<D>::CELLS;
        for slot in 0..tiles.len() {
            let own = slot * cells..(slot + 1) * cells;
            let any = |field: &[f64]| field[own.clone()].iter().any(|&v| v > 0.0);
            if self.mass.iter().any(|mass| any(mass)) || any(&self.schur) {
                self.active[tiles.parity(slot)].push(slot as u32);
            }
        }
    }

    /// The same in single precision.
    pub fn single(&self) -> Level<D, f32> {
        let field = |from: &Vec<f64>| {
            from.par_iter()
                .with_min_len(4096)
                .map(|&v| v as f32)
                .collect()
        };
        Level {
            tiles: self.tiles.clone(),
            slope: self.slope as f32,
            mass: self.mass.each_ref().map(field),
            cell: field(&self.cell),
            edge: self.edge.each_ref().map(field),
            inverse: self.inverse.each_ref().map(field),
            schur: field(&self.schur),
            active: self.active.clone(),
        }
    }

    /// Unknown faces of every axis, and cells with a pressure, by their indices in rising order.
    pub fn unknowns(&self) -> ([Vec<u32>; D], Vec<u32>) {
        let list = |field: &[f64]| -> Vec<u32> {
            let all = field.par_iter().enumerate().with_min_len(4096);
            all.filter(|(_, v)| **v > 0.0)
                .map(|(index, _)| index as u32)
                .collect()
        };
        (
            self.mass.each_ref().map(|mass| list(mass)),
            list(&self.schur),
        )
    }
}
