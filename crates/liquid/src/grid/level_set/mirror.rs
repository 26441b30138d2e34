//! Mirror particles: the liquid continued into solids.
//!
//! Within reach of a wall part of a kernel's support has no particles, and the wall would look like a free surface.
//! Every particle near a wall therefore has an image behind it. A plain mirror image would bend the surface at a
//! slanted wall, where liquid at rest is level: near the surface and below overhangs images are taken along the
//! horizontal instead,
//!
//! ```text
//! x' = x - 2 s / (n . e) e         s distance and n normal of the wall at x, e the horizontal part of n
//! ```
//!
//! a shear reflection: `n . x'` changes its sign, heights stay, and so do volumes (its determinant is -1). On floors
//! and ceilings, where the normal has no horizontal part, `e` is the normal itself.

use rayon::prelude::*;

use crate::grid::cell_set::CellSet;
use crate::grid::cut_cells::{CutCells, direction, range};
use crate::grid::tiles::{Coord, Tiles, floor};
use crate::growth::Growth;
use crate::particles::transfer::{FaceField, interpolate_with_gradient};
use crate::particles::{Bins, Particles};

/// Distance from a wall up to which particles have images, in cells: the kernel's reach beyond the deepest centre of a
/// cell with an open face.
const DEPTH: f64 = 2.7;
/// Largest angle between the normal and the direction of images, in radians: an image at depth `s` lies `2 s` times its
/// tangent aside. Where this is too little for the horizontal, images below a ceiling lie above their particles, and
/// beyond the free surface, which then seems to rise towards the wall; above a beach it seems to fall.
const LARGEST_TURN: f64 = 1.45;
/// Horizontal share of the normal below which that angle is smaller: slopes of less than about six degrees.
const STEEP: f64 = 0.1;
/// Difference between the distances of a particle and of its image, as a share, beyond which the image belongs to
/// another wall or lies beyond a thin one.
const MISMATCH: f64 = 0.35;
/// What rounding may change of a distance, in cells, and much more.
const ROUNDING: f64 = 1e-6;
/// A normal with a smaller horizontal part has no horizontal direction.
const VERTICAL: f64 = 1e-3;

/// The grid and the solids in it.
pub struct GridGeometry<'a, const D: usize> {
    /// The cells there are.
    pub tiles: &'a Tiles<D>,
    /// The solids.
    pub cut: &'a CutCells<D>,
    /// Width of a cell.
    pub dx: f64,
    /// Unit vector against gravity; zero without gravity.
    pub up: [f64; D],
}

/// The images of all particles near walls, by the cells they lie in.
pub struct Mirror<'a, const D: usize> {
    /// First image in every cell of every tile, and the number of images at the end; empty if there are none.
    starts: Vec<u32>,
    /// Positions in cells, axis by axis.
    pub place: &'a FaceField<D, f32>,
    /// Radius of the particle, in cells.
    pub radius: Vec<f32>,
}

/// An image: its cell, its position in cells, the particle's radius.
type Image<const D: usize> = (u32, [f32; D], f32);

impl<'a, const D: usize> Mirror<'a, D> {
    /// Reflects the particles near walls whose images lie in cells of `within_reach`; `surface` are the cells within
    /// reach of air. The particles' radii are noted in the bins. The scratch is memory for the images.
    pub fn new(
        geometry: &GridGeometry<D>,
        particles: &Particles<D>,
        bins: &Bins,
        surface: &CellSet,
        within_reach: &CellSet,
        scratch: &'a mut FaceField<D, f32>,
    ) -> Self {
        let tiles = geometry.tiles;
        let cells = Tiles::<D>::CELLS;
        let of_tile = |slot: usize| -> Vec<Image<D>> {
            if geometry.cut.far[slot] {
                return Vec::new();
            }
            let mut images = Vec::new();
            for cell in slot * cells..(slot + 1) * cells {
                let all = bins.of(cell);
                if all.is_empty() {
                    continue;
                }
                let Some(wall) = geometry.wall_near(cell) else {
                    continue;
                };
                let near_surface = surface.has(cell);
                for (p, radius) in all.clone().zip(bins.noted(all)) {
                    let x = particles.position[p].map(|x| x as f64 / geometry.dx);
                    let Some((distance, normal)) = geometry.distance_and_normal(&wall, x) else {
                        continue;
                    };
                    let seen = |image: [f64; D]| within_reach.has(tiles.index(image.map(floor)));
                    let image = geometry.reflect(x, distance, normal, near_surface, seen);
                    if let Some(image) = image {
                        let index = tiles.index(image.map(floor));
                        images.push((index as u32, image.map(|x| x as f32), radius));
                    }
                }
            }
            // Images are there twice while they are sorted, which is when a step takes most memory.
            images.shrink_to_fit();
            images
        };
        let by_tile: Vec<Vec<Image<D>>> = (0..tiles.len()).into_par_iter().map(of_tile).collect();
        Self::sorted(tiles, by_tile, scratch)
    }

    /// Sorts images by cell.
    fn sorted(
        tiles: &Tiles<D>,
        by_tile: Vec<Vec<Image<D>>>,
        place: &'a mut FaceField<D, f32>,
    ) -> Self {
        let count: usize = by_tile.iter().map(Vec::len).sum();
        for component in place.iter_mut() {
            component.clear();
            component.resize_closely(count, 0.0);
        }
        if count == 0 {
            return Self {
                starts: Vec::new(),
                place,
                radius: Vec::new(),
            };
        }
        // Counts are kept two places up, so that after the placement below every entry is the start of its cell.
        let mut starts = vec![0u32; tiles.cells() + 2];
        for &(index, ..) in by_tile.iter().flatten() {
            starts[index as usize + 2] += 1;
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut radii = vec![0.0; count];
        for (index, image, radius) in by_tile.into_iter().flatten() {
            let at = &mut starts[index as usize + 1];
            for (component, x) in place.iter_mut().zip(image) {
                component[*at as usize] = x;
            }
            radii[*at as usize] = radius;
            *at += 1;
        }
        starts.pop();
        Self {
            starts,
            place,
            radius: radii,
        }
    }

    /// Whether there are images in a tile or in those around it.
    pub fn is_around(&self, tiles: &Tiles<D>, slot: usize) -> bool {
        let cells = Tiles::<D>::CELLS;
        let has_some = |&slot: &u32| {
            let first = slot as usize * cells;
            tiles.exists(first) && self.has_some(first..first + cells)
        };
        !self.radius.is_empty() && tiles.around_tile(slot).iter().any(has_some)
    }

    /// Whether there are images in a run of cells.
    pub fn has_some(&self, cells: std::ops::Range<usize>) -> bool {
        self.starts[cells.start] < self.starts[cells.end]
    }

    /// Where the images of a run of cells begin, one cell after the other, and where the last ones end.
    pub fn starts(&self, cells: std::ops::Range<usize>) -> &[u32] {
        &self.starts[cells.start..=cells.end]
    }
}

/// The solids in a cell.
struct Wall<const D: usize> {
    cell: Coord<D>,
    /// Distances at the cell's corners, in metres.
    corners: [f64; 8],
}

impl<const D: usize> GridGeometry<'_, D> {
    /// The solids in a cell, if a particle in it may have an image.
    fn wall_near(&self, index: usize) -> Option<Wall<D>> {
        let corners = self.cut.corners_of(self.tiles, index);
        let (low, high) = range(&corners[..1 << D]);
        let some = high > -ROUNDING * self.dx && low < (DEPTH + ROUNDING) * self.dx;
        some.then(|| Wall {
            cell: self.tiles.coord(index),
            corners,
        })
    }

    /// Distance, in cells, and normal of the solids at a particle that lies in the wall's cell. None if it has no image.
    #[inline]
    fn distance_and_normal(&self, wall: &Wall<D>, x: [f64; D]) -> Option<(f64, [f64; D])> {
        let cell = x.map(floor);
        // Rounding may put what is on the border of a cell into the next one.
        let corners = if cell == wall.cell {
            wall.corners
        } else {
            self.cut.corners(self.tiles, cell)
        };
        let at = std::array::from_fn(|a| x[a] - cell[a] as f64);
        let (distance, gradient) = interpolate_with_gradient(corners, at);
        let distance = distance / self.dx;
        (0.0..DEPTH)
            .contains(&distance)
            .then(|| (distance, direction(gradient)))
    }

    /// The image of a particle at `x` beside a wall, both in cells. None where it would lie behind another wall or beyond
    /// a thin one, nor where it is not `seen`.
    fn reflect(
        &self,
        x: [f64; D],
        distance: f64,
        normal: [f64; D],
        near_surface: bool,
        seen: impl Fn([f64; D]) -> bool,
    ) -> Option<[f64; D]> {
        let image_along = |e: [f64; D]| -> [f64; D] {
            let toward: f64 = (0..D).map(|a| e[a] * normal[a]).sum();
            std::array::from_fn(|a| x[a] - 2.0 * distance / toward * e[a])
        };
        let is_behind = |image: &[f64; D]| {
            let behind = self.cut.distance(self.tiles, *image) / self.dx;
            (behind + distance).abs() <= MISMATCH * distance + 0.05
        };
        let along = |e: [f64; D]| {
            let image = image_along(e);
            (seen(image) && is_behind(&image)).then_some(image)
        };
        let rise: f64 = (0..D).map(|a| normal[a] * self.up[a]).sum();
        // Far below the surface any image will do behind a floor, where liquid at rest would continue, but not above
        // an overhang, where it would not.
        let level = if near_surface || rise < 0.0 {
            level_direction(normal, rise, self.up)
        } else {
            None
        };
        match level {
            Some(level) if rise < 0.0 => along(level),
            Some(level) => {
                let image = image_along(level);
                match seen(image) {
                    true if is_behind(&image) => Some(image),
                    // It has an image that is not seen, unless the other one takes its place.
                    false if !seen(image_along(normal)) || is_behind(&image) => None,
                    _ => along(normal),
                }
            }
            None => along(normal),
        }
    }
}

/// The direction in which images are taken near the free surface: the horizontal part of the normal, turned towards the
/// normal where the wall is too flat for it. None if the normal will do. `rise` is the normal's upward part.
fn level_direction<const D: usize>(normal: [f64; D], rise: f64, up: [f64; D]) -> Option<[f64; D]> {
    let level: [f64; D] = std::array::from_fn(|a| normal[a] - rise * up[a]);
    let across = level.iter().map(|e| e * e).sum::<f64>().sqrt();
    if across < VERTICAL || up.iter().all(|&u| u == 0.0) {
        return None;
    }
    if rise == 0.0 {
        return Some(normal);
    }
    // The turn from the normal to the horizontal, as far as it goes.
    let whole = rise.abs().atan2(across);
    let turn = whole.min(LARGEST_TURN * (across / STEEP).min(1.0));
    // The tangent of the wall towards the horizontal, in the plane of the normal and the vertical.
    let tangent: [f64; D] =
        std::array::from_fn(|a| level[a] / across * rise.abs() - up[a] * across * rise.signum());
    Some(std::array::from_fn(|a| {
        normal[a] * turn.cos() + tangent[a] * turn.sin()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_at_steep_walls_are_taken_along_the_horizontal() {
        for degrees in [90.0f64, 73.0, 45.0, 25.0, 17.0, 8.0, -60.0, -17.0, -8.0] {
            // The angle of the wall against the horizontal; negative for overhangs.
            let (sin, cos) = degrees.to_radians().sin_cos();
            let normal = [sin.abs(), cos * sin.signum()];
            let e = level_direction(normal, normal[1], [0.0, 1.0]).unwrap();
            assert!(
                e[1].abs() < 1e-9 && (e[0] - 1.0).abs() < 1e-9,
                "{degrees}: {e:?}"
            );
        }
    }

    #[test]
    fn images_at_flat_walls_and_without_gravity_are_taken_along_the_normal() {
        assert!(level_direction([0.0, 1.0], 1.0, [0.0, 1.0]).is_none());
        assert!(level_direction([0.6, 0.8], 0.0, [0.0, 0.0]).is_none());
        let e = level_direction([0.005, 0.9999], 0.9999, [0.0, 1.0]).unwrap();
        assert!(e[1] > 0.99, "{e:?}");
    }
}
