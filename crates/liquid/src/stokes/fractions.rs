//! Volume fractions of the cubes around cells, faces and edges.
//!
//! Every cell is divided into `2^D` octants (quadrants in 2D). The cube of one cell's size around any sample, be it the
//! middle of a cell, of a face or of an edge, is a union of `2^D` octants, so each octant is measured once. On the next coarser grid
//! an octant is a whole cell of the finer one: its fractions are exact averages.

use meniscus_shapes::Shape;
use rayon::prelude::*;

use crate::compiled::Compiled;
use crate::grid::cut_cells::{heaviside, interpolate};
use crate::grid::tiles::{Coord, Tiles};
use crate::projection::Faces;
use crate::solids::SolidId;

/// Shares this close to 0 or 1 are 0 or 1.
const SNAP: f32 = 1e-6;

/// Liquid and solids on a grid, by the shares that they have of every octant.
#[derive(Clone, Debug)]
pub struct Geometry<const D: usize> {
    /// The cells there are.
    pub tiles: Tiles<D>,
    /// Share of every octant behind the free surface, inside solids too; bit `a` of an octant's number is its half along `a`.
    pub(crate) liquid: Vec<f32>,
    /// Share of every octant inside solids. What lies outside all tiles counts as solid.
    pub(crate) solid: Vec<f32>,
    /// Cells at walls along which the liquid slides; empty if there are none.
    pub(crate) slips: Vec<bool>,
    /// Cells at walls from which the liquid has come off, and whose solid has become air; empty if there are none.
    pub(crate) released: Vec<bool>,
}

/// Octant `o` of a field, around every octant of the sample at `index` that lies low along the axes of `low` (as bits).
#[inline]
fn octants_of<const D: usize>(
    tiles: &Tiles<D>,
    index: usize,
    low: usize,
    mut visit: impl FnMut(usize),
) {
    // The cells below along every combination of the axes in `low`.
    let mut cells = [index; 8];
    for a in 0..D {
        for c in 0..1 << a {
            let bit = 1 << a;
            cells[c | bit] = match low & bit {
                0 => cells[c],
                _ => tiles.below(cells[c], a),
            };
        }
    }
    for (octant, cell) in cells[..1 << D].iter().enumerate() {
        visit((cell << D) | octant);
    }
}

/// Bits of the axes along which the low faces of an axis lie low.
pub(crate) const fn face_low(axis: usize) -> usize {
    1 << axis
}

/// Bits of the axes along which edges lie low.
pub(crate) const fn edge_low(a: usize, b: usize) -> usize {
    1 << a | 1 << b
}

impl<const D: usize> Geometry<D> {
    /// Samples signed distances (negative inside) of liquid and solids at the middles of all octants of tiles.
    pub fn of_distances(
        tiles: Tiles<D>,
        dx: f64,
        liquid: &(dyn Fn([f64; D]) -> f64 + Sync),
        solid: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Self {
        (Compiled::get().stokes_geometry)(tiles, dx, liquid, solid)
    }

    pub(crate) fn of_distances_impl(
        tiles: Tiles<D>,
        dx: f64,
        liquid: &(dyn Fn([f64; D]) -> f64 + Sync),
        solid: &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> Self {
        let mut geometry = Self {
            liquid: vec![0.0; tiles.field_len() << D],
            solid: vec![1.0; tiles.field_len() << D],
            slips: Vec::new(),
            released: Vec::new(),
            tiles,
        };
        let Self {
            tiles,
            liquid: shares,
            solid: covered,
            ..
        } = &mut geometry;
        let tiles = &*tiles;
        for (shares, distance) in [(shares, liquid), (covered, solid)] {
            let octants = shares[..tiles.cells() << D].par_chunks_mut(1 << D);
            octants
                .enumerate()
                .with_min_len(64)
                .for_each(|(index, octants)| {
                    let cell = tiles.coord(index);
                    for (o, share) in octants.iter_mut().enumerate() {
                        let x = octant_middle(cell, o).map(|x| x * dx);
                        *share = share_below(distance(x), dx);
                    }
                });
        }
        geometry
    }

    /// From the distances of a step: of the free surface at the middles of cells, of solids at nodes.
    pub(crate) fn of_faces(faces: &Faces<'_, D>) -> Self {
        let (tiles, cut, phi) = (faces.tiles, faces.cut, faces.phi);
        let dx = faces.settings.dx;
        let is_curved = faces.solids.has_curved_faces();
        let mut liquid = vec![0.0; tiles.field_len() << D];
        let mut solid = vec![1.0; tiles.field_len() << D];
        let wet = liquid[..tiles.cells() << D].par_chunks_mut(1 << D);
        let dry = solid[..tiles.cells() << D].par_chunks_mut(1 << D);
        let cells = wet.zip(dry).enumerate().with_min_len(256);
        cells.for_each(|(index, (liquid, solid))| {
            let near = tiles.around(index);
            for (o, share) in liquid.iter_mut().enumerate() {
                *share = share_below(phi_at_octant::<D>(phi, &near, o), dx);
            }
            if cut.is_open(index / Tiles::<D>::CELLS) {
                solid.fill(0.0);
                return;
            }
            let coord = tiles.coord(index);
            let corners = cut.corners(tiles, coord);
            let between = |o: usize| interpolate::<D>(&corners, octant_middle([0; D], o));
            let mut distances: [f64; 8] = std::array::from_fn(between);
            // Linear between the corners, bodies with curved surfaces would be too small: by 3 % of their drag at
            // five cells per radius.
            let is_near = |distance: &f64| distance.abs() < dx;
            if is_curved && distances[..1 << D].iter().any(is_near) {
                let points: [[f64; D]; 8] =
                    std::array::from_fn(|o| octant_middle(coord, o).map(|x| x * dx));
                let mut owners = [SolidId(0); 8];
                let count = 1 << D;
                faces.solids.sample(
                    &points[..count],
                    dx,
                    &mut distances[..count],
                    &mut owners[..count],
                );
            }
            for (share, &distance) in solid.iter_mut().zip(&distances) {
                *share = share_below(distance, dx);
            }
        });
        let mut geometry = Self {
            tiles: tiles.clone(),
            liquid,
            solid,
            slips: Vec::new(),
            released: Vec::new(),
        };
        geometry.extend_into_solids();
        geometry
    }

    /// Continues the liquid into cells that are all solid and beside cells that are not, so that walls hold it and do not leak:
    /// the distance of the free surface is known only next to particles.
    fn extend_into_solids(&mut self) {
        let Self {
            tiles,
            liquid,
            solid,
            ..
        } = &*self;
        let whole = |shares: &[f32]| shares.iter().all(|&s| s == 1.0);
        let cells = (0..tiles.cells()).into_par_iter().with_min_len(256);
        let extended = cells.filter(|&index| {
            if !whole(&solid[index << D..][..1 << D])
                || liquid[index << D..][..1 << D].iter().any(|&l| l > 0.0)
            {
                return false;
            }
            let near = tiles.around(index);
            near[..Tiles::<D>::DIRECTIONS].iter().any(|&cell| {
                let octants = (cell << D)..(cell + 1) << D;
                let mut shares = liquid[octants.clone()].iter().zip(&solid[octants]);
                shares.any(|(&l, &s)| s < 1.0 && l > 0.5)
            })
        });
        let extended: Vec<usize> = extended.collect();
        for index in extended {
            self.liquid[index << D..][..1 << D].fill(1.0);
        }
    }

    /// Flags of the cells of a coarser grid: of those with a wet part that is flagged.
    fn coarse_flags(&self, coarse: &Tiles<D>, flags: &[bool]) -> Vec<bool> {
        if flags.is_empty() {
            return Vec::new();
        }
        let cells = (0..coarse.field_len()).into_par_iter().with_min_len(256);
        let flagged = cells.map(|index| {
            if index >= coarse.cells() {
                return false;
            }
            let children = self.tiles.corners(coarse.coord(index).map(|c| 2 * c));
            let wet = |cell: usize| self.liquid[cell << D..][..1 << D].iter().any(|&l| l > 0.0);
            children[..1 << D]
                .iter()
                .any(|&cell| wet(cell) && flags[cell])
        });
        flagged.collect()
    }

    /// Makes the liquid inside an emitter solid: it moves at the emitter's velocity, whatever hangs from it.
    pub(crate) fn hold(&mut self, shape: &Shape<D>, dx: f64) {
        let Some(bounds) = shape.bounds() else {
            return;
        };
        let Self {
            tiles,
            liquid,
            solid,
            ..
        } = self;
        for cell in 0..tiles.cells() {
            let coord = tiles.coord(cell);
            let near = (0..D).all(|a| {
                let (low, high) = (coord[a] as f64 * dx, (coord[a] + 1) as f64 * dx);
                low <= bounds.high[a] && high >= bounds.low[a]
            });
            if !near {
                continue;
            }
            for o in 0..1 << D {
                let octant = (cell << D) | o;
                let x = octant_middle(coord, o).map(|x| x * dx);
                if liquid[octant] > 0.5 {
                    solid[octant] = solid[octant].max(share_below(shape.distance(x), dx));
                }
            }
        }
    }

    /// Puts air in place of the solid in a cell.
    pub(crate) fn release(&mut self, cell: usize) {
        self.released.resize(self.tiles.field_len(), false);
        self.released[cell] = true;
        for octant in cell << D..(cell + 1) << D {
            self.liquid[octant] *= 1.0 - self.solid[octant];
            self.solid[octant] = 0.0;
        }
    }

    /// Whether walls hold the liquid at a cell.
    #[inline]
    pub(crate) fn holds(&self, index: usize) -> bool {
        let flagged = |flags: &[bool]| flags.get(index).is_some_and(|&flag| flag);
        !flagged(&self.slips) && !flagged(&self.released)
    }

    /// Liquid and solid share of a sample's cube; `low` has the bits of the axes along which the sample lies on the low side
    /// of its cell.
    #[inline]
    pub(crate) fn shares(&self, index: usize, low: usize) -> (f64, f64) {
        let (mut liquid, mut solid) = (0.0, 0.0);
        octants_of(&self.tiles, index, low, |octant| {
            liquid += self.liquid[octant] as f64;
            solid += self.solid[octant] as f64;
        });
        let count = (1 << D) as f64;
        (liquid / count, solid / count)
    }

    /// Mean over a sample's cube of a value of cells (of octants, on coarse grids), weighted by liquid and open share.
    #[inline]
    pub(crate) fn weighted_mean(
        &self,
        index: usize,
        low: usize,
        value: impl Fn(usize) -> f64,
    ) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        octants_of(&self.tiles, index, low, |octant| {
            let open = 1.0 - self.solid[octant] as f64;
            let weight = self.liquid[octant] as f64 * open.max(LEAST_OPEN_WEIGHT) + 1e-12;
            sum += weight * value(octant);
            weights += weight;
        });
        sum / weights
    }

    /// Takes liquid away from all octants of which `gone` is true, given by cell and number.
    pub(crate) fn remove_liquid(&mut self, gone: impl Fn(usize, usize) -> bool + Sync) {
        let octants = self.liquid.par_chunks_mut(1 << D).enumerate();
        octants.with_min_len(256).for_each(|(cell, octants)| {
            for (o, share) in octants.iter_mut().enumerate() {
                if *share > 0.0 && gone(cell, o) {
                    *share = 0.0;
                }
            }
        });
    }

    /// The geometry of a grid with cells twice as wide, each of whose octants is a cell of this one.
    pub(crate) fn coarsen(&self, domain: [usize; D]) -> Self {
        let wet: Vec<Coord<D>> = (0..self.tiles.cells())
            .into_par_iter()
            .with_min_len(1024)
            .filter(|&index| self.liquid[index << D..][..1 << D].iter().any(|&l| l > 0.0))
            .map(|index| self.tiles.coord(index).map(|c| c >> 1))
            .collect();
        let mut tiles = Tiles::new(domain.map(|n| n.div_ceil(2)));
        tiles.cover(wet.par_iter().copied(), COARSE_BAND);
        let mut coarse = Self {
            liquid: vec![0.0; tiles.field_len() << D],
            solid: vec![1.0; tiles.field_len() << D],
            slips: self.coarse_flags(&tiles, &self.slips),
            released: Vec::new(),
            tiles,
        };
        let Self {
            tiles,
            liquid,
            solid,
            ..
        } = &mut coarse;
        let tiles = &*tiles;
        for (to, from) in [(liquid, &self.liquid), (solid, &self.solid)] {
            let octants = to[..tiles.cells() << D].par_chunks_mut(1 << D);
            octants
                .enumerate()
                .with_min_len(64)
                .for_each(|(index, octants)| {
                    let children = self.tiles.corners(tiles.coord(index).map(|c| 2 * c));
                    for (to, child) in octants.iter_mut().zip(children) {
                        let sum: f32 = from[child << D..][..1 << D].iter().sum();
                        *to = sum / (1 << D) as f32;
                    }
                });
        }
        coarse
    }
}

/// Cells around wet coarse cells that need tiles: faces that rule 1 adds, and what transfers read.
const COARSE_BAND: i32 = 2;

/// Open shares count at least this much in the mean of a viscosity.
const LEAST_OPEN_WEIGHT: f64 = 0.02;

/// The distance of the free surface at the middle of an octant, linear between the middles of the cells `near` it.
#[inline]
fn phi_at_octant<const D: usize>(phi: &[f32], near: &[usize; 27], octant: usize) -> f64 {
    let mut sum = 0.0;
    for corner in 0..1usize << D {
        let (mut weight, mut place) = (1.0, 0);
        for a in (0..D).rev() {
            let away = corner >> a & 1 == 1;
            weight *= if away { 0.25 } else { 0.75 };
            place = 3 * place
                + match (away, octant >> a & 1 == 1) {
                    (false, _) => 1,
                    (true, false) => 0,
                    (true, true) => 2,
                };
        }
        sum += weight * phi[near[place]] as f64;
    }
    sum
}

/// Middle of an octant, in cells.
#[inline]
pub(crate) fn octant_middle<const D: usize>(cell: Coord<D>, octant: usize) -> [f64; D] {
    std::array::from_fn(|a| cell[a] as f64 + if octant >> a & 1 == 1 { 0.75 } else { 0.25 })
}

/// Share of an octant with negative distance, from the distance at its middle.
#[inline]
pub(crate) fn share_below(distance: f64, dx: f64) -> f32 {
    let share = heaviside(-distance, 0.5 * dx) as f32;
    match share {
        s if s < SNAP => 0.0,
        s if s > 1.0 - SNAP => 1.0,
        s => s,
    }
}
