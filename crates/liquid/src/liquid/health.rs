//! Health of a step: liquid below the grid's resolution, and cells with too many particles.

use rayon::prelude::*;

use crate::grid::cut_cells::CutCells;
use crate::grid::tile_halo;
use crate::grid::tiles::Tiles;
use crate::particles::Bins;
use crate::report::Crowded;
use crate::settings::Settings;

/// Weight of the level set's volume against that of the particles. The excess absorbs the random noise of particle
/// counts at a flat surface, which would otherwise count as thin liquid.
const SEEN_WEIGHT: f64 = 1.15;
/// Cells that hold no more than this many times their share of particles are in order.
const CROWDED: f64 = 3.0;
/// Cells less open than this count as open by this much: a sliver with a few particles is not overfull.
const LEAST_OPEN: f64 = 0.5;
/// Distance of the level set, in cells, below which a cell is full, ...
const FULL: f32 = -0.3;
/// ... and above which it is empty.
const EMPTY: f32 = 0.75;
/// Share of the particles' own volume below which a budget was taken from liquid that the level set could not see.
const LEAST_SEEN: f64 = 0.8;

/// What is measured of the particles of a step, before they move.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Health {
    /// Volume of liquid that the level set does not see (area in 2D).
    pub thin_volume: f64,
    /// Volume of the particles beyond what fits into the cells that hold them.
    pub compressed_volume: f64,
    /// Volume deep inside the liquid that lacks particles.
    pub diluted_volume: f64,
    /// The most overfull cell.
    pub crowded: Option<Crowded>,
}

/// Measures thin liquid and crowded cells.
///
/// Let `h` be the volume of a cell's particles, capped at the cell's open volume, and `s` the liquid volume that the
/// level set has in the cell. With `H` and `S` their sums over the `3^D` cells around it, the share `1 - S/H` of `h` is
/// thin liquid: held by particles in sheets and drops that the level set misses. Because of the cap, particles that pile
/// up in a cell never count as thin.
///
/// The level set errs in jets and drops a few cells across, by their curvature, while nothing is lost or gained. What is
/// shows in the particles: in blocks of `2^D` cells, which even out the noise of counting, they are compressed where they
/// stand for more than the open volume, and diluted where they stand for less in a block deep inside.
pub(crate) fn measure<const D: usize>(
    tiles: &Tiles<D>,
    bins: &Bins,
    cut: &CutCells<D>,
    phi: &[f32],
    settings: &Settings<D>,
) -> Health {
    let cells = Tiles::<D>::CELLS;
    let each = 1.0 / settings.physics.particles_per_cell as f64;
    let mut seen = Vec::new();
    tiles.reset(&mut seen, 0.0f32);
    let quadrature = Quadrature::new::<D>(settings.dx as f32);
    seen[..tiles.cells()]
        .par_chunks_mut(cells)
        .enumerate()
        .for_each_init(Vec::new, |window, (slot, seen)| {
            window.clear();
            for (offset, seen) in seen.iter_mut().enumerate() {
                let index = slot * cells + offset;
                let near = || {
                    gather(tiles, slot, window, |index| phi[index]);
                    tile_halo::near_cell::<D, f32>(window, offset)
                };
                *seen = quadrature.share::<D>(phi[index], near) * cut.open_cell(index);
            }
        });
    let held = |index: usize| {
        let count = bins.of(index).len();
        if count == 0 {
            return 0.0;
        }
        (count as f64 * each).min(cut.open_cell(index) as f64)
    };
    let thin_in = |window: &mut Vec<(f64, f32)>, slot: usize, offset: usize| {
        let index = slot * cells + offset;
        let own = held(index);
        // Full cells are seen; most of the liquid ends here.
        if own == 0.0 || seen[index] >= cut.open_cell(index) {
            return 0.0;
        }
        gather(tiles, slot, window, |index| (held(index), seen[index]));
        let near = tile_halo::near_cell::<D, _>(window, offset);
        let (mut all_held, mut all_seen) = (0.0, 0.0);
        for (held, seen) in &near[..Tiles::<D>::DIRECTIONS] {
            all_held += held;
            all_seen += *seen as f64;
        }
        own * (1.0 - SEEN_WEIGHT * all_seen / all_held).max(0.0)
    };
    let crowd_of = |index: usize| {
        let open = (cut.open_cell(index) as f64).max(LEAST_OPEN);
        bins.of(index).len() as f64 * each / open
    };
    // Volume of the particles in a block beyond its open volume; none if it lacks some and is not all inside.
    let excess_in = |block: usize| {
        let (mut held, mut open, mut inside) = (0.0, 0.0, true);
        for corner in 0..1usize << D {
            let along = (0..D).filter(|a| corner >> a & 1 == 1);
            let index = block + along.map(Tiles::<D>::stride).sum::<usize>();
            held += bins.of(index).len() as f64 * each;
            open += cut.open_cell(index) as f64;
            inside &= seen[index] >= cut.open_cell(index);
        }
        let excess = held - open;
        if excess > 0.0 || inside { excess } else { 0.0 }
    };
    let is_block =
        |offset: usize| (0..D).all(|a| (offset / Tiles::<D>::stride(a)).is_multiple_of(2));
    let of_tile = |window: &mut Vec<_>, slot: usize| {
        let first = slot * cells;
        window.clear();
        let mut tile = OfTile {
            most: (0.0, first),
            ..OfTile::default()
        };
        if bins.of_cells(first..first + cells).is_empty() {
            return tile;
        }
        for offset in 0..cells {
            let index = first + offset;
            tile.thin += thin_in(window, slot, offset);
            let crowd = crowd_of(index);
            if crowd > tile.most.0 {
                tile.most = (crowd, index);
            }
            if is_block(offset) {
                let excess = excess_in(index);
                tile.compressed += excess.max(0.0);
                tile.diluted += (-excess).max(0.0);
            }
        }
        tile
    };
    // In the order of tiles, so that the sum and the choice do not depend on the number of threads.
    let slots = (0..tiles.len()).into_par_iter();
    let in_order: Vec<OfTile> = slots.map_init(Vec::new, of_tile).collect();
    let volume =
        |of: fn(&OfTile) -> f64| in_order.iter().map(of).sum::<f64>() * settings.dx.powi(D as i32);
    let most = in_order.iter().map(|tile| tile.most);
    let (times, index) = most.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    let place = || tiles.coord(index).map(|c| (c as f64 + 0.5) * settings.dx);
    Health {
        thin_volume: volume(|tile| tile.thin),
        compressed_volume: volume(|tile| tile.compressed),
        diluted_volume: volume(|tile| tile.diluted),
        crowded: (times > CROWDED).then(|| Crowded {
            place: place().to_vec(),
            times,
        }),
    }
}

/// Health of the cells of a tile; volumes in cells.
#[derive(Clone, Copy, Default)]
struct OfTile {
    thin: f64,
    compressed: f64,
    diluted: f64,
    /// Crowd of the most overfull cell, and its index.
    most: (f64, usize),
}

/// Fills a window that reaches one cell beyond a tile, unless it has been filled for that tile before.
fn gather<const D: usize, T>(
    tiles: &Tiles<D>,
    slot: usize,
    window: &mut Vec<T>,
    value: impl Fn(usize) -> T,
) {
    if window.is_empty() {
        tile_halo::rows(tiles, slot, 1, |_, runs| {
            window.extend(runs.into_iter().flatten().map(&value));
        });
    }
}

/// Share of a cell with negative level set, by quadrature over `2^D` subcells between whose neighbouring centres the
/// level set is multilinear.
struct Quadrature {
    dx: f32,
    /// For each subcell: the weights of the values around its centre, and their places among the values around the cell.
    terms: [[(f32, usize); 8]; 8],
}

impl Quadrature {
    fn new<const D: usize>(dx: f32) -> Self {
        // The centre of a subcell is a quarter of a cell off, towards the low or the high side along each axis.
        let term = |subcell: usize, corner: usize| {
            let (mut weight, mut place) = (1.0, 0);
            for a in (0..D).rev() {
                let beside = corner >> a & 1 == 1;
                let step = match (beside, subcell >> a & 1 == 1) {
                    (false, _) => 1,
                    (true, false) => 0,
                    (true, true) => 2,
                };
                weight *= if beside { 0.25 } else { 0.75 };
                place = 3 * place + step;
            }
            (weight, place)
        };
        Self {
            dx,
            terms: std::array::from_fn(|subcell| {
                std::array::from_fn(|corner| term(subcell, corner))
            }),
        }
    }

    /// The share of a cell with this value, which asks for those around it if they matter.
    fn share<const D: usize>(&self, phi: f32, near: impl FnOnce() -> [f32; 27]) -> f32 {
        let own = phi / self.dx;
        if own <= FULL {
            return 1.0;
        }
        if own >= EMPTY {
            return 0.0;
        }
        let near = near();
        let mut sum = 0.0;
        for terms in &self.terms[..1 << D] {
            let mut value = 0.0;
            for &(weight, place) in &terms[..1 << D] {
                value += weight * near[place];
            }
            sum += (0.5 - 2.0 * value / self.dx).clamp(0.0, 1.0);
        }
        sum / (1usize << D) as f32
    }
}

/// The volume that level set and thin liquid together should have, from what the level set alone should have and the
/// particles' own volume. A scene that begins with sheets or drops has a budget that is too small by what the level set
/// could not see then.
pub(crate) fn expected_with_thin(expected: f64, own: f64) -> f64 {
    if expected < LEAST_SEEN * own {
        own
    } else {
        expected
    }
}
