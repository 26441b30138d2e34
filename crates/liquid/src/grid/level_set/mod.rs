//! Level set: the liquid's signed distance from its particles, and the volume it encloses.
//!
//! At a point, `phi = |x - mean of the particles near x| - r`, the mean weighted by a smooth kernel of radius
//! `REACH` cells. On the boundary of a half-space full of particles the mean lies a fixed share of the reach
//! away, and `r` is that distance: flat surfaces are where the particles end, without bias, and `straighten.rs` makes
//! distances of what is left. Particles of sheets and
//! drops thinner than a cell have a smaller `r`, in keeping with their number, or splashes would swell.

mod mirror;
mod smooth;
mod straighten;
mod volume;
mod window;

use rayon::prelude::*;

pub use self::mirror::GridGeometry;
use self::mirror::Mirror;
use self::smooth::smooth;
use self::straighten::straighten;
use self::window::{AIR, Centre, REACH, Source, Window};
use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::CutCells;
use crate::grid::tile_halo::CellWindow;
use crate::grid::tiles::Tiles;
use crate::particles::transfer::FaceField;
use crate::particles::{Bins, Particles};

/// Cells whose centre seems to lie inside, deeper than this, ...
const INSIDE: f64 = -0.15;
/// ... and that are emptier than this, are spray and count as air, if there is air beside them. On a flat surface the
/// surroundings of a cell's centre are half full.
const SPARSE: f64 = 0.65;
/// Emptier ones are air in any case: a cavity one cell wide has its walls beside it and no air.
const HOLLOW: f64 = 0.3;
/// Share of the open part of cells that lacks particles in a cavity: as much as at a flat surface. What is fuller is a gap
/// between particles.
const CAVITY: f32 = 0.5;
/// A cell, more than half of it open, with as many particles as this is liquid wherever in it they lie: what falls on a dry floor lies on the floor
/// itself, below the cells' centres, and would pile up there without end if nothing held it apart.
const FULL: f32 = 1.0;
/// With as many as this a cell is liquid however little of it is open: as air, slivers under a lid would take up all that is
/// pressed into them, hundreds of particles.
const OVERFULL: f32 = 1.5;
/// Cells less open than this hold nothing.
const CLOSED: f32 = 0.1;
/// Share of a cell's open part that may lack particles in cells deep inside.
const EMPTY: f32 = 0.25;
/// Cells in a void at most, slivers among them.
const MOST_IN_VOID: usize = 64;
/// Distance in voids that are no air, and in such cells, in cells.
const VOID: f64 = -0.25;

/// Distance, in cells, between a flat surface and the weighted mean of the particles below, seen from the surface:
/// the centroid of half a ball (half a disc in 2D) under the kernel `(1 - s^2)^3`.
fn half_space_mean<const D: usize>() -> f64 {
    // Integrals of s^k (1 - s^2)^3 over 0..1; the mean of the cosine over half a sphere is 1/2, half a circle 2/pi.
    let moment = |k: i32| -> f64 {
        let terms = [1.0, -3.0, 3.0, -1.0];
        (0..4)
            .map(|j| terms[j as usize] / (k + 2 * j + 1) as f64)
            .sum()
    };
    let cosine = if D == 2 {
        2.0 / std::f64::consts::PI
    } else {
        0.5
    };
    REACH * cosine * moment(D as i32) / moment(D as i32 - 1)
}

/// Filled share of a particle's surroundings below which it belongs to something thin: in the plane and in space.
/// Particles under a flat surface should see more, or their radii shrink with every chance gap and stir still water,
/// which in space, with fewer particles along an axis, they do above six tenths.
const THIN: [f64; 2] = [0.7, 0.58];

/// The liquid's distance at the centres of cells.
#[derive(Clone, Debug, Default)]
pub struct LevelSet {
    /// In metres, negative in the liquid; `AIR` cells at most, about half a cell deep inside.
    pub phi: Vec<f32>,
    /// Cells within two cells of a particle.
    near: CellSet,
}

impl LevelSet {
    /// Rebuilds the distance in all tiles. `crowd` is the number of particles around the centres of cells, as a share
    /// of what belongs there, solids counted as full. What the scratch holds is lost.
    ///
    /// Near walls the liquid is continued into the solid so that a level surface stays level (`mirror.rs`), or every wall would look like a free surface.
    pub fn build<const D: usize>(
        &mut self,
        geometry: &GridGeometry<D>,
        particles: &Particles<D>,
        bins: &mut Bins,
        crowd: &[f32],
        scratch: &mut FaceField<D, f32>,
    ) {
        let &GridGeometry { tiles, cut, dx, up } = geometry;
        let air = (AIR * dx) as f32;
        tiles.reset(&mut self.phi, air);
        let cells = Tiles::<D>::CELLS;
        let full = half_space_mean::<D>();
        // A sheet of thickness t has a cell's centre inside only here and there, and the volume measured between
        // centres goes with the square of its radius; so the radius goes with the root of the thickness.
        bins.note(
            tiles,
            CellWindow::<D, 1>::new,
            |window, slot| window.fill(tiles, slot, crowd),
            |window, particle| {
                let x = particles.position[particle].map(|x| x as f64 / dx);
                (full * (window.value(x) / THIN[D - 2]).min(1.0)) as f32
            },
        );
        let bins = &*bins;
        let around = |marks: CellSet| (0..D).fold(marks, |marks, axis| marks.spread(tiles, axis));
        // Cells that hold a particle or are beside one that does, and those that are deep inside: they and all around
        // them are full of particles or solid, so that no surface crosses them.
        let beside = around(CellSet::of(tiles, |index| !bins.of(index).is_empty()));
        let filled = |index: usize| {
            let open = cut.open_cell(index);
            open < CLOSED || !bins.of(index).is_empty() && crowd[index] >= 1.0 - EMPTY * open
        };
        let deep = (0..D).fold(CellSet::of(tiles, filled), |marks, axis| {
            marks.shrink(tiles, axis)
        });
        self.near = around(beside.clone());
        // Cells within reach of air.
        let hollow = |index: usize| {
            let open = cut.open_cell(index);
            open > CLOSED && crowd[index] < 1.0 - CAVITY * open
        };
        let surface = around(around(around(CellSet::of(tiles, hollow))));
        // Images count only within reach of the cells whose distance may be asked for below.
        let mut asked = self.near.clone();
        asked.remove(&deep);
        let within_reach = around(around(asked));
        let mirror = Mirror::new(geometry, particles, bins, &surface, &within_reach, scratch);
        let source = Source {
            tiles,
            particles,
            bins,
            cut,
            mirror: &mirror,
            dx,
            up,
        };
        let spray: Vec<Vec<u32>> = self.phi[..tiles.cells()]
            .par_chunks_mut(cells)
            .enumerate()
            .map_init(Window::new, |window, (slot, phi)| {
                let mut spray = Vec::new();
                let first = slot * cells;
                for index in beside.within(first..first + cells) {
                    let phi = &mut phi[index - first];
                    if deep.has(index) {
                        *phi = (-full * dx) as f32;
                        continue;
                    }
                    let centre = Centre::of(&source, index);
                    let least = if cut.open_cell(index) > 0.5 {
                        FULL
                    } else {
                        OVERFULL
                    };
                    let is_full = crowd[index] >= least;
                    if !is_full && !window.is_close(&source, index, &centre) {
                        // Air, whose distance is of interest only beside liquid.
                        continue;
                    }
                    let mut distance = window.distance(&source, index, &centre);
                    if is_full {
                        distance = distance.min(VOID);
                    }
                    *phi = (distance * dx) as f32;
                    // Beside a wall the share is known too roughly.
                    if distance < INSIDE && centre.wall > 1.0 && (crowd[index] as f64) < SPARSE {
                        spray.push(index as u32);
                    }
                }
                spray
            })
            .collect();
        self.open_up(tiles, cut, crowd, dx, spray);
        // Of the air only what lies beside liquid is ever read.
        let mut rim = around(CellSet::in_field(tiles, &self.phi, |phi| phi < 0.0));
        rim.keep(&self.near);
        rim.keep(&CellSet::in_field(tiles, &self.phi, |phi| phi == air));
        self.phi[..tiles.cells()]
            .par_chunks_mut(cells)
            .enumerate()
            .for_each_init(Window::new, |window, (slot, phi)| {
                let first = slot * cells;
                for index in rim.within(first..first + cells) {
                    let centre = Centre::of(&source, index);
                    let distance = window.distance(&source, index, &centre);
                    phi[index - first] = (distance * dx) as f32;
                }
            });
        self.fill_voids(tiles, cut, crowd, dx);
        smooth(tiles, cut, &mut self.phi, dx, up);
        straighten::<D>(&mut self.phi[..tiles.cells()], dx);
    }

    /// Turns cells of spray into air: hollow ones, and others with air beside them.
    fn open_up<const D: usize>(
        &mut self,
        tiles: &Tiles<D>,
        cut: &CutCells<D>,
        crowd: &[f32],
        dx: f64,
        spray: Vec<Vec<u32>>,
    ) {
        let air = |near: usize| self.phi[near] >= 0.0 && cut.open_cell(near) > 0.0;
        let opens = |&index: &u32| {
            let near = tiles.around(index as usize);
            (crowd[index as usize] as f64) < HOLLOW
                || near[..Tiles::<D>::DIRECTIONS].iter().any(|&near| air(near))
        };
        let spray = spray.into_par_iter().flat_map_iter(|of_tile| of_tile);
        let spray: Vec<u32> = spray.filter(opens).collect();
        for index in spray {
            self.phi[index as usize] = ((SPARSE - crowd[index as usize] as f64) * dx) as f32;
        }
    }

    /// Turns voids of a few cells inside the liquid into liquid if they are gaps between particles: as air all the
    /// pressure around would drive the liquid together there. Cavities, where a wave overturns or liquid leaves a wall, stay
    /// air: as liquid their volume would be gained.
    fn fill_voids<const D: usize>(
        &mut self,
        tiles: &Tiles<D>,
        cut: &CutCells<D>,
        crowd: &[f32],
        dx: f64,
    ) {
        let cells = Tiles::<D>::CELLS;
        let phi = &self.phi;
        // Where no face is closed, what is shut in has liquid beside it.
        let is_air = |index: usize| phi[index] >= 0.0 && cut.open_cell(index) > 0.0;
        let mut air = CellSet::of(tiles, is_air);
        air.keep(&self.near);
        let shut_in = CellSet::in_field(tiles, phi, |phi| phi < 0.0).beside(tiles, &air);
        let void: Vec<u32> = (0..tiles.len())
            .into_par_iter()
            .flat_map_iter(|slot| {
                let air = if cut.far[slot] { &shut_in } else { &air };
                air.within(slot * cells..(slot + 1) * cells)
            })
            .flat_map_iter(|index| small_void(tiles, cut, phi, crowd, index))
            .collect();
        for index in void {
            self.phi[index as usize] = (VOID * dx) as f32;
        }
    }
}

/// The cells of the air around `start` if they hold no more than `2^D` whole ones, are shut in by liquid and solids, and no
/// cavity; nothing otherwise. Along the edge between two walls many slivers together hold less than one cell: as air, they
/// would let the liquid above fall into them again and again.
fn small_void<const D: usize>(
    tiles: &Tiles<D>,
    cut: &CutCells<D>,
    phi: &[f32],
    crowd: &[f32],
    start: usize,
) -> impl Iterator<Item = u32> {
    let beside = |index: usize| {
        (0..D).flat_map(move |a| {
            let high = tiles.above(index, a);
            [(index, tiles.below(index, a)), (high, high)]
                .into_iter()
                .filter(move |&(face, other)| cut.open_face(a, face) > 0.0 && phi[other] >= 0.0)
                .map(|(_, other)| other)
        })
    };
    let mut void = [start as u32; MOST_IN_VOID];
    // Air that is not shut in by half of its faces is no corner of a small void; most air ends here.
    let mut count = if beside(start).count() > D { 0 } else { 1 };
    let mut open = cut.open_cell(start);
    let mut seen = 0;
    while seen < count {
        for other in beside(void[seen] as usize) {
            if void[..count].contains(&(other as u32)) {
                continue;
            }
            open += cut.open_cell(other);
            if count == MOST_IN_VOID || open > (1 << D) as f32 {
                return void.into_iter().take(0);
            }
            void[count] = other as u32;
            count += 1;
        }
        seen += 1;
    }
    // Slivers of cells at walls are empty by chance.
    let cells = void[..count].iter().map(|&cell| cell as usize);
    let cells = cells.filter(|&cell| cut.open_cell(cell) > 0.5);
    let beyond = cells.map(|cell| 1.0 - crowd[cell] - CAVITY * cut.open_cell(cell));
    if beyond.sum::<f32>() > 0.0 {
        count = 0;
    }
    void.into_iter().take(count)
}
