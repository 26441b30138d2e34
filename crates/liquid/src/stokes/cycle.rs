//! Coupled V-cycle in single precision: rediscretised levels, inexact Braess-Sarazin smoother, direct solve on the coarsest.

use meniscus_lcp::InputError;
use rayon::prelude::*;

use super::bodies::{BodiesInLiquid, BodyFaces};
use super::direct::{Direct, Places, gather_places, put_places, scatter_places};
use super::edge_axes;
use super::fractions::{Geometry, edge_low};
use super::kernels::{Pair, Sweep, residual, smooth};
use super::level::{Level, ViscosityAt};
use super::motion::{Motion, inverse, product};
use super::stage_bodies::StageBodies;
use super::system::System;
use super::transfer::Transfer;

/// Smoothing steps before and after the correction from the coarser level.
const SMOOTHING_STEPS: usize = 2;
/// Unknowns of the coarsest level, about.
const COARSEST: usize = 400;
/// A coarser level must have fewer unknowns than this share of the last.
const COARSENED: f64 = 0.8;

/// One level with its vectors.
struct Stage<const D: usize> {
    level: Level<D, f32>,
    b: Pair<D, f32>,
    x: Pair<D, f32>,
    r: Pair<D, f32>,
    correction: Vec<f32>,
    excess: Vec<f32>,
    /// To the next coarser level.
    transfer: Option<Transfer<D>>,
    bodies: Option<StageBodies>,
}

impl<const D: usize> Stage<D> {
    fn new(level: Level<D, f32>) -> Self {
        let tiles = &level.tiles;
        Self {
            b: Pair::zeros(tiles),
            x: Pair::zeros(tiles),
            r: Pair::zeros(tiles),
            correction: vec![0.0; tiles.field_len()],
            excess: vec![0.0; tiles.field_len()],
            transfer: None,
            bodies: None,
            level,
        }
    }

    fn smooth(&mut self, sweep: Sweep) {
        for _ in 0..SMOOTHING_STEPS {
            if sweep == Sweep::Backward {
                self.move_bodies();
            }
            smooth(
                &self.level,
                &self.b,
                &mut self.x,
                &mut self.correction,
                &mut self.excess,
                sweep,
            );
            if sweep == Sweep::Forward {
                self.move_bodies();
            }
        }
    }

    /// Solves the rows of the bodies alone.
    fn move_bodies(&mut self) {
        if let Some(bodies) = &mut self.bodies {
            let left = bodies.residual(&self.level, &self.x);
            let change = product(&bodies.inverse, &left);
            bodies.advance(&change, &mut self.b, &mut self.x);
        }
    }
}

/// Viscosity of a coarse level: that of octants, which are the cells of the finer one.
struct OfOctants<'a, const D: usize> {
    geometry: &'a Geometry<D>,
    octants: &'a [f32],
}

impl<const D: usize> ViscosityAt for OfOctants<'_, D> {
    fn cell(&self, index: usize) -> f64 {
        let of_octant = |octant: usize| self.octants[octant] as f64;
        self.geometry.weighted_mean(index, 0, of_octant)
    }

    fn edge(&self, kind: usize, index: usize) -> f64 {
        let (a, b) = edge_axes(kind);
        let of_octant = |octant: usize| self.octants[octant] as f64;
        self.geometry
            .weighted_mean(index, edge_low(a, b), of_octant)
    }
}

/// A preconditioner for [`System`].
pub(crate) struct Cycle<const D: usize> {
    stages: Vec<Stage<D>>,
    coarsest: Coarsest<D>,
}

/// Direct solve on the coarsest level.
struct Coarsest<const D: usize> {
    direct: Direct,
    level: Level<D, f64>,
    /// What the liquid does when the bodies move by one unit of each `y`, at the places of the direct solve.
    follows: Vec<Vec<f64>>,
    /// Inverse of the rows of the bodies with liquid that follows them.
    inverse: Vec<f64>,
}

impl<const D: usize> Cycle<D> {
    /// Builds the levels for all unknowns of a system but the drops.
    pub fn new(
        system: &System<D>,
        drops: &Places,
        bodies: Option<&BodiesInLiquid<'_, D>>,
    ) -> Result<Self, InputError> {
        let mut finest = system.level.clone();
        let mut geometry = system.geometry.clone();
        if drops.len() > 0 {
            remove_drops(&mut finest, &mut geometry, drops);
        }
        let mut viscosity: Vec<f32> = system.viscosity.iter().map(|&v| v as f32).collect();
        let mut stages = vec![Stage::new(finest.single())];
        let mut in_bodies = bodies.map(|bodies| bodies.octants.clone());
        let mut body_mass = 1.0;
        stages[0].bodies =
            bodies.map(|bodies| StageBodies::new(bodies.faces.clone(), &finest, body_mass));
        let mut fine = finest;
        let mut ratio = 1.0;
        let mut unknowns = Places::all(&fine).len();
        let mut domain = domain_of(&geometry);
        while unknowns > COARSEST {
            let coarse_geometry = geometry.coarsen(domain);
            let tiles = &coarse_geometry.tiles;
            let octants = octants_from_cells(&geometry, &coarse_geometry, &viscosity);
            let of_octants = OfOctants {
                geometry: &coarse_geometry,
                octants: &octants,
            };
            let (coarse, shares) = Level::build(
                &coarse_geometry,
                &system.medium,
                &of_octants,
                2.0 * ratio,
                system.forces,
            );
            let coarse_unknowns = Places::all(&coarse).len();
            if coarse_unknowns == 0 || coarse_unknowns as f64 > COARSENED * unknowns as f64 {
                break;
            }
            let cells = (0..tiles.field_len()).into_par_iter().with_min_len(1024);
            viscosity = cells.map(|index| of_octants.cell(index) as f32).collect();
            if let Some(stage) = stages.last_mut() {
                stage.transfer = Some(Transfer::new(&fine, &coarse, &shares));
            }
            let mut stage = Stage::new(coarse.single());
            if let (Some(bodies), Some(octants)) = (bodies, &mut in_bodies) {
                *octants = octants.coarsen(&fine.tiles, tiles);
                let dx = system.medium.dx * 2.0 * ratio;
                let faces = BodyFaces::build(octants, &coarse, &shares, bodies.modes, dx);
                body_mass /= (1 << D) as f64;
                stage.bodies = Some(StageBodies::new(faces, &coarse, body_mass));
            }
            stages.push(stage);
            (fine, unknowns, ratio) = (coarse, coarse_unknowns, 2.0 * ratio);
            domain = domain.map(|n| n.div_ceil(2));
            geometry = coarse_geometry;
        }
        let coarsest = Coarsest {
            direct: Direct::new(&fine, Places::all(&fine))?,
            level: fine,
            follows: Vec::new(),
            inverse: Vec::new(),
        };
        Ok(Self { stages, coarsest })
    }

    /// Says how the bodies respond.
    pub fn set_motion(&mut self, motion: &Motion) {
        for stage in &mut self.stages {
            if let Some(bodies) = &mut stage.bodies {
                bodies.set_motion(motion);
            }
        }
        if let Some(bodies) = self.stages.last().and_then(|stage| stage.bodies.as_ref()) {
            self.coarsest.set_motion(bodies);
        }
    }

    /// Right-hand side of the bodies, to be set before [`Cycle::run`], and their solution after it.
    pub fn body_rows(&mut self) -> Option<(&mut Vec<f64>, &Vec<f64>)> {
        let bodies = self.stages[0].bodies.as_mut()?;
        Some((&mut bodies.b, &bodies.y))
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.stages.len()
    }

    /// Right-hand side of the finest level, to be set before [`Cycle::run`].
    pub fn b(&mut self) -> &mut Pair<D, f32> {
        &mut self.stages[0].b
    }

    /// One V-cycle from zero.
    pub fn run(&mut self) -> &Pair<D, f32> {
        descend(&mut self.stages, &mut self.coarsest);
        &self.stages[0].x
    }
}

impl<const D: usize> Coarsest<D> {
    /// Finds how the liquid follows the bodies.
    fn set_motion(&mut self, bodies: &StageBodies) {
        let (motion, faces, rank) = (&bodies.motion, &bodies.faces, bodies.motion.rank);
        let tiles = &self.level.tiles;
        self.follows.clear();
        let mut matrix = vec![0.0; rank * rank];
        for j in 0..rank {
            let mut unit = vec![0.0; rank];
            unit[j] = 1.0;
            let v = motion.apply(&unit);
            let (mut x, mut b) = (Pair::<D, f64>::zeros(tiles), Pair::<D, f64>::zeros(tiles));
            faces.fluxes(&v, |axis, index, mass, flux| match mass > 0.0 {
                true => b.t[axis][index] += mass * flux,
                false => x.t[axis][index] = flux,
            });
            let mut r = Pair::zeros(tiles);
            residual(&self.level, &b, &x, &mut r);
            self.direct
                .solve(|places, rhs| gather_places(places, &r, rhs));
            let (places, solution) = self.direct.solution();
            scatter_places(places, solution, &mut x);
            let column = motion.transposed(&faces.gradient(&self.level, &x, &v));
            for (i, entry) in column.into_iter().enumerate() {
                matrix[i * rank + j] = entry + bodies.mass * unit[i];
            }
            self.follows.push(solution.to_vec());
        }
        self.inverse = inverse(matrix, rank);
    }

    fn solve(&mut self, stage: &mut Stage<D>) {
        let b = &stage.b;
        self.direct.solve(|places, rhs| {
            let (t, q) = rhs.split_at_mut(places.faces.len());
            for (rhs, &(axis, index)) in t.iter_mut().zip(&places.faces) {
                *rhs = b.t[axis as usize][index as usize] as f64;
            }
            for (rhs, &index) in q.iter_mut().zip(&places.cells) {
                *rhs = b.q[index as usize] as f64;
            }
        });
        let (places, x) = self.direct.solution();
        put_places(places, x, &mut stage.x);
        let Some(bodies) = &mut stage.bodies else {
            return;
        };
        let left = bodies.residual(&stage.level, &stage.x);
        let y = product(&self.inverse, &left);
        let mut x = x.to_vec();
        for (y, follows) in y.iter().zip(&self.follows) {
            x.iter_mut().zip(follows).for_each(|(x, f)| *x += y * f);
        }
        put_places(places, &x, &mut stage.x);
        bodies.advance(&y, &mut stage.b, &mut stage.x);
    }
}

/// A V-cycle from zero on the first of `stages`, by recursion.
fn descend<const D: usize>(stages: &mut [Stage<D>], coarsest: &mut Coarsest<D>) {
    let Some((stage, coarser)) = stages.split_first_mut() else {
        return;
    };
    stage.x.clear();
    if let Some(bodies) = &mut stage.bodies {
        bodies.reset();
    }
    let Some(next) = coarser.first_mut() else {
        return coarsest.solve(stage);
    };
    stage.smooth(Sweep::Forward);
    residual(&stage.level, &stage.b, &stage.x, &mut stage.r);
    if let Some(transfer) = &stage.transfer {
        transfer.restrict(&stage.level, &next.level, &stage.r, &mut next.b);
        if let (Some(bodies), Some(coarse)) = (&stage.bodies, &mut next.bodies) {
            let (fine, tiles) = (&stage.level.tiles, &next.level.tiles);
            let pulled = coarse.faces.restricted(transfer, fine, tiles, &stage.r);
            let pulled = coarse.motion.transposed(&pulled);
            let left = bodies.residual(&stage.level, &stage.x);
            let sums = left.iter().zip(&pulled);
            coarse.b = sums
                .map(|(left, pulled)| (left + pulled) / (1 << D) as f64)
                .collect();
        }
    }
    descend(coarser, coarsest);
    if let (Some(transfer), Some(next)) = (&stage.transfer, coarser.first()) {
        transfer.prolong(&stage.level, &next.level, &next.x, &mut stage.x);
        if let (Some(bodies), Some(coarse)) = (&mut stage.bodies, &next.bodies) {
            bodies.advance(&coarse.y, &mut stage.b, &mut stage.x);
        }
    }
    stage.smooth(Sweep::Backward);
}

/// Cells from the origin that hold all tiles.
fn domain_of<const D: usize>(geometry: &Geometry<D>) -> [usize; D] {
    let tiles = &geometry.tiles;
    let mut domain = [1; D];
    for slot in 0..tiles.len() {
        let base = tiles.base(slot);
        for a in 0..D {
            domain[a] = domain[a].max((base[a].max(0) + crate::grid::tiles::TILE) as usize);
        }
    }
    domain
}

/// Values of the cells of a grid as octants of the next coarser one.
fn octants_from_cells<const D: usize>(
    fine: &Geometry<D>,
    coarse: &Geometry<D>,
    cells: &[f32],
) -> Vec<f32> {
    let tiles = &coarse.tiles;
    let mut octants = vec![0.0; tiles.field_len() << D];
    let by_cell = octants[..tiles.cells() << D]
        .par_chunks_mut(1 << D)
        .enumerate();
    by_cell.with_min_len(256).for_each(|(index, octants)| {
        let children = fine.tiles.corners(tiles.coord(index).map(|c| 2 * c));
        for (octant, child) in octants.iter_mut().zip(children) {
            *octant = cells[child];
        }
    });
    octants
}

/// Takes drops out of a level, and their liquid out of its geometry.
fn remove_drops<const D: usize>(
    level: &mut Level<D, f64>,
    geometry: &mut Geometry<D>,
    drops: &Places,
) {
    let tiles = geometry.tiles.clone();
    let mut gone: [Vec<bool>; D] = std::array::from_fn(|_| vec![false; tiles.field_len()]);
    let mut gone_cells = vec![false; tiles.field_len()];
    for &(axis, index) in &drops.faces {
        let (a, i) = (axis as usize, index as usize);
        gone[a][i] = true;
        level.mass[a][i] = 0.0;
        // Samples belong to one connected part.
        for cell in [i, tiles.below(i, a)] {
            level.cell[cell] = 0.0;
        }
        for b in (0..D).filter(|&b| b != a) {
            for edge in [i, tiles.above(i, b)] {
                level.edge[super::edge_kind(a, b)][edge] = 0.0;
            }
        }
    }
    for &index in &drops.cells {
        level.schur[index as usize] = 0.0;
        gone_cells[index as usize] = true;
    }
    level.finish();
    geometry.remove_liquid(|cell, octant| {
        gone_cells[cell]
            || tiles.exists(cell)
                && (0..D).any(|a| {
                    let high = octant >> a & 1 == 1;
                    gone[a][if high { tiles.above(cell, a) } else { cell }]
                })
    });
}
