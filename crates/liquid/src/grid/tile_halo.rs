//! Copy of one tile and its halo, contiguous in memory.
//!
//! A window holds the cells of its tile and `MARGIN` cells beyond them on every side, the last axis contiguous. Inside
//! there are no tiles to be looked up, and neighbours are a fixed distance apart.

use std::ops::Range;

use crate::grid::cut_cells::interpolate;
use crate::grid::tiles::{Coord, TILE, Tiles, floor};
use crate::particles::transfer::FaceField;

// What follows is asked for every sample of every particle, mostly by generic code that other crates compile: it has to
// vanish there, also in tests.

/// Cells along the side of a window.
#[inline(always)]
pub const fn side(margin: usize) -> usize {
    TILE as usize + 2 * margin
}

/// Cells in a window.
pub const fn cells<const D: usize>(margin: usize) -> usize {
    side(margin).pow(D as u32)
}

/// Distance in memory between neighbours along `axis`.
#[inline(always)]
pub const fn stride<const D: usize>(margin: usize, axis: usize) -> usize {
    let side = side(margin);
    match D - 1 - axis {
        0 => 1,
        1 => side,
        _ => side * side,
    }
}

/// From a sample to the one at the corner with this number, of the `2^D` around a point; bit `a` is the step along
/// axis `a`.
#[inline(always)]
pub const fn to_corner<const D: usize>(margin: usize, corner: usize) -> usize {
    let (mut steps, mut a) = (0, 0);
    while a < D {
        steps += (corner >> a & 1) * stride::<D>(margin, a);
        a += 1;
    }
    steps
}

/// Lowest cell of the window around a tile.
pub fn lowest<const D: usize>(tiles: &Tiles<D>, slot: usize, margin: usize) -> Coord<D> {
    tiles.base(slot).map(|c| c - margin as i32)
}

/// Walks through the window around a tile: for every row along the last axis its number, and the grid's indices of the
/// runs of cells that it is made of, in order.
#[inline]
pub fn rows<const D: usize>(
    tiles: &Tiles<D>,
    slot: usize,
    margin: usize,
    mut visit: impl FnMut(usize, [Range<usize>; 3]),
) {
    let (side, tile) = (side(margin), TILE as usize);
    let slots = tiles.around_tile(slot);
    for row in 0..side.pow(D as u32 - 1) {
        let (mut rest, mut direction, mut offset) = (row, 0, 0);
        for a in (0..D - 1).rev() {
            // From the lowest cell of the tile below.
            let from = rest % side + tile - margin;
            rest /= side;
            direction += from / tile * 3usize.pow((D - 1 - a) as u32);
            offset += from % tile * Tiles::<D>::stride(a);
        }
        let run = |step: usize, from: usize, length: usize| {
            let first = slots[direction + step] as usize * Tiles::<D>::CELLS + offset + from;
            first..first + length
        };
        let runs = [
            run(0, tile - margin, margin),
            run(1, 0, tile),
            run(2, 0, margin),
        ];
        visit(row, runs);
    }
}

/// The values in and around a cell of a tile, by its offset there, from a window that reaches one cell beyond the tile; only the
/// first `3^D` are used. The first axis runs fastest.
#[inline]
pub fn near_cell<const D: usize, T: Copy + Default>(window: &[T], offset: usize) -> [T; 27] {
    let local = Tiles::<D>::local(offset);
    let first: usize = (0..D).map(|a| local[a] as usize * stride::<D>(1, a)).sum();
    let mut near = [T::default(); 27];
    for (k, near) in near[..Tiles::<D>::DIRECTIONS].iter_mut().enumerate() {
        let step = |a: usize| k / 3usize.pow(a as u32) % 3 * stride::<D>(1, a);
        *near = window[first + (0..D).map(step).sum::<usize>()];
    }
    near
}

/// Samples around a point of a window, those on the low faces along every axis.
///
/// Single precision is enough for what particles take over: they carry no more themselves.
#[derive(Clone, Copy)]
pub struct Around<const D: usize> {
    /// For every axis: the lowest of the samples around the point.
    first: [usize; D],
    /// Position between faces, 0 to 1 along every axis, ...
    at_faces: [f32; D],
    /// ... and between the middles of cells.
    at_middles: [f32; D],
}

/// Components that are interpolated together, in one register; the last ones are not used.
const LANES: usize = 4;

impl<const D: usize> Around<D> {
    /// Position along every axis between the samples of every component.
    #[inline(always)]
    fn at(&self) -> [[f32; LANES]; D] {
        std::array::from_fn(|a| {
            let mut at = [self.at_middles[a]; LANES];
            at[a] = self.at_faces[a];
            at
        })
    }
}

/// `low + at (high - low)` of every component.
#[inline(always)]
fn lerp(at: [f32; LANES], low: [f32; LANES], high: [f32; LANES]) -> [f32; LANES] {
    std::array::from_fn(|l| low[l] + at[l] * (high[l] - low[l]))
}

/// A velocity, or something else with a component on the faces along every axis, around a tile.
pub struct FaceWindow<const D: usize, const MARGIN: usize> {
    lowest: [f64; D],
    values: [Vec<f32>; D],
}

impl<const D: usize, const MARGIN: usize> FaceWindow<D, MARGIN> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            lowest: [0.0; D],
            values: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Takes the values around a tile.
    pub fn fill<T: Copy + Into<f64>>(
        &mut self,
        tiles: &Tiles<D>,
        slot: usize,
        field: &FaceField<D, T>,
    ) {
        self.lowest = lowest(tiles, slot, MARGIN).map(|c| c as f64);
        for (values, field) in self.values.iter_mut().zip(field) {
            values.resize(cells::<D>(MARGIN), 0.0);
            rows(tiles, slot, MARGIN, |row, [below, own, above]| {
                let (tile, side) = (TILE as usize, side(MARGIN));
                let to = &mut values[row * side..][..side];
                let copy = |to: &mut [f32], from: &[T]| {
                    for (to, &from) in to.iter_mut().zip(from) {
                        *to = from.into() as f32;
                    }
                };
                copy(&mut to[..MARGIN], &field[below][..MARGIN]);
                copy(&mut to[MARGIN..][..tile], &field[own][..tile]);
                copy(&mut to[MARGIN + tile..], &field[above][..MARGIN]);
            });
        }
    }

    /// What is around a point given in cells; `None` if the window does not hold all of it.
    #[inline]
    pub fn around(&self, x: [f64; D]) -> Option<Around<D>> {
        let x: [f32; D] = std::array::from_fn(|a| (x[a] - self.lowest[a]) as f32);
        let held = 0.5..side(MARGIN) as f32 - 1.0;
        if !x.iter().all(|x| held.contains(x)) {
            return None;
        }
        let mut middles = 0;
        let mut first = [0; D];
        let mut at_faces = [0.0; D];
        let mut at_middles = [0.0; D];
        for a in 0..D {
            let whole = x[a] as i32;
            at_faces[a] = x[a] - whole as f32;
            let lower = at_faces[a] < 0.5;
            at_middles[a] = at_faces[a] + if lower { 0.5 } else { -0.5 };
            middles += (whole - i32::from(lower)) as usize * stride::<D>(MARGIN, a);
            first[a] = usize::from(lower) * stride::<D>(MARGIN, a);
        }
        Some(Around {
            first: first.map(|up| middles + up),
            at_faces,
            at_middles,
        })
    }

    /// The samples of a component around a point, those of lower and those of higher corners along the last axis, which lie
    /// side by side; only the first `2^(D - 1)` are used.
    #[inline(always)]
    fn pairs(&self, around: &Around<D>, component: usize) -> [[f32; LANES]; 2] {
        let last = to_corner::<D>(MARGIN, (1 << D) - 1);
        let samples = &self.values[component][around.first[component]..][..last + 1];
        let mut pairs = [[0.0; LANES]; 2];
        for c in 0..1 << (D - 1) {
            let place = to_corner::<D>(MARGIN, c);
            pairs[0][c] = samples[place];
            pairs[1][c] = samples[place + 1];
        }
        pairs
    }

    /// All components at the corners that are left after interpolation along the last axis, and their differences along it.
    /// Component by component: to gather all of them at every corner first takes more registers than there are.
    #[inline(always)]
    fn along_last(&self, around: &Around<D>) -> ([[f32; LANES]; 4], [[f32; LANES]; 4]) {
        let mut values = [[0.0; LANES]; 4];
        let mut slopes = [[0.0; LANES]; 4];
        for component in 0..D {
            let [low, high] = self.pairs(around, component);
            let at = around.at()[D - 1][component];
            let difference: [f32; LANES] = std::array::from_fn(|c| high[c] - low[c]);
            let value: [f32; LANES] = std::array::from_fn(|c| low[c] + at * difference[c]);
            for c in 0..1 << (D - 1) {
                values[c][component] = value[c];
                slopes[c][component] = difference[c];
            }
        }
        (values, slopes)
    }

    /// All components.
    #[inline(always)]
    pub fn values(&self, around: &Around<D>) -> [f32; D] {
        let (mut values, _) = self.along_last(around);
        let at = around.at();
        for a in (0..D - 1).rev() {
            for c in 0..1 << a {
                values[c] = lerp(at[a], values[c], values[c + (1 << a)]);
            }
        }
        std::array::from_fn(|component| values[0][component])
    }

    /// All components, and the gradient of each per cell.
    #[inline(always)]
    pub fn values_and_gradients(&self, around: &Around<D>) -> ([f32; D], [[f32; D]; D]) {
        let mut slopes = [[[0.0; LANES]; 4]; D];
        let mut values;
        (values, slopes[D - 1]) = self.along_last(around);
        let at = around.at();
        for a in (0..D - 1).rev() {
            for c in 0..1 << a {
                let (low, high) = (values[c], values[c + (1 << a)]);
                values[c] = lerp(at[a], low, high);
                for slope in &mut slopes[a + 1..] {
                    slope[c] = lerp(at[a], slope[c], slope[c + (1 << a)]);
                }
                slopes[a][c] = std::array::from_fn(|l| high[l] - low[l]);
            }
        }
        (
            std::array::from_fn(|component| values[0][component]),
            std::array::from_fn(|component| std::array::from_fn(|axis| slopes[axis][0][component])),
        )
    }
}

/// A field with a value for every cell, around a tile.
pub struct CellWindow<const D: usize, const MARGIN: usize> {
    lowest: Coord<D>,
    /// In the order of the window's cells.
    pub values: Vec<f32>,
}

impl<const D: usize, const MARGIN: usize> CellWindow<D, MARGIN> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            lowest: [0; D],
            values: vec![0.0; cells::<D>(MARGIN)],
        }
    }

    /// Takes the values around a tile.
    pub fn fill(&mut self, tiles: &Tiles<D>, slot: usize, field: &[f32]) {
        self.lowest = lowest(tiles, slot, MARGIN);
        let mut place = 0;
        rows(tiles, slot, MARGIN, |_, runs| {
            for run in runs {
                let length = run.len();
                self.values[place..place + length].copy_from_slice(&field[run]);
                place += length;
            }
        });
    }

    /// The values from a cell of the window, by its place, to the next one along every axis; only the first `2^D` are used.
    #[inline]
    pub fn corners(&self, place: usize) -> [f64; 8] {
        let last = to_corner::<D>(MARGIN, (1 << D) - 1);
        let values = &self.values[place..][..last + 1];
        let mut corners = [0.0; 8];
        for (c, corner) in corners[..1 << D].iter_mut().enumerate() {
            *corner = values[to_corner::<D>(MARGIN, c)] as f64;
        }
        corners
    }

    /// Value at a point of the tile, given in cells: linear between the centres of cells.
    #[inline]
    pub fn value(&self, x: [f64; D]) -> f64 {
        let x = x.map(|x| x - 0.5);
        let base = x.map(floor);
        let place: usize = (0..D)
            .map(|a| (base[a] - self.lowest[a]) as usize * stride::<D>(MARGIN, a))
            .sum();
        let at: [f64; D] = std::array::from_fn(|a| x[a] - base[a] as f64);
        interpolate(&self.corners(place), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particles::transfer::{Stencil, sample};
    use rayon::prelude::*;

    fn check<const D: usize>() {
        let mut tiles = Tiles::<D>::new([40; D]);
        tiles.cover([[17; D], [9; D], [30; D]].par_iter().copied(), 4);
        let mut field: FaceField<D> = std::array::from_fn(|_| Vec::new());
        for (a, field) in field.iter_mut().enumerate() {
            tiles.reset(field, 0.25);
            for index in 0..tiles.cells() {
                field[index] = ((index * 7919 + a * 31) % 101) as f64 * 0.01 - 0.5;
            }
        }
        let mut window = FaceWindow::<D, 3>::new();
        let (mut inside, mut outside) = (0, 0);
        for slot in 0..tiles.len() {
            window.fill(&tiles, slot, &field);
            let base = tiles.base(slot);
            for k in 0..400 {
                let step = |a: usize| [0.137, 0.291, 0.511][a] * k as f64;
                let x = std::array::from_fn(|a| base[a] as f64 - 3.0 + step(a) % 14.0);
                // Next to a tile that is missing the field itself is read as if there were none.
                let low = x.map(|x: f64| (x - 0.5).floor() as i32);
                let corner = |c: usize| std::array::from_fn(|a| low[a] + (c >> a & 1) as i32);
                if !(0..1 << D).all(|c| tiles.exists(tiles.index(corner(c)))) {
                    continue;
                }
                let Some(around) = window.around(x) else {
                    outside += 1;
                    continue;
                };
                inside += 1;
                let expected = sample(&tiles, &field, x);
                let stencils = Stencil::of_faces(&tiles, x);
                let (values, gradients) = window.values_and_gradients(&around);
                assert_eq!(values, window.values(&around));
                for a in 0..D {
                    assert!((values[a] as f64 - expected[a]).abs() < 1e-5);
                    let (_, slopes) = stencils[a].value_and_gradient(&field[a]);
                    for b in 0..D {
                        assert!((gradients[a][b] as f64 - slopes[b]).abs() < 1e-5);
                    }
                }
            }
        }
        assert!(inside > outside && outside > 0, "{inside} {outside}");
    }

    #[test]
    fn a_window_reads_as_the_field_does_in_the_plane() {
        check::<2>();
    }

    #[test]
    fn a_window_reads_as_the_field_does_in_space() {
        check::<3>();
    }
}
