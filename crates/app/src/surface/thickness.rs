//! Thickness of the liquid around each particle, to separate thick liquid from sheets, filaments and drops.

use super::cells::{Cells, SIDE, Window, number, square};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Radius of the neighbourhood in cells.
const REACH: f64 = 2.0;
/// Filled fraction of the neighbourhood above which a particle is deep inside the liquid: no particle of a sheet thinner than
/// 1.4 cells is, and at half a cell below a flat surface it reaches the upper value.
const DEEP: (f64, f64) = (0.66, 0.79);
/// Distance in cells from a deep particle up to which liquid is thick, and beyond which it is thin.
const NEAR: (f32, f32) = (1.0, 1.6);

/// Thinness of every particle: 0 in thick liquid, 1 in sheets, filaments and drops thinner than about a cell.
///
/// This is a morphological opening: liquid is thick if it is close to a point deep inside. `volume` is that of a particle and
/// `wall` the distance of a point to the nearest solid, all in cells. A film on a wall is treated as if it had a
/// mirror image.
pub fn thinness<const D: usize>(
    cells: &Cells<D>,
    positions: &[[f32; D]],
    volume: f64,
    wall: impl Fn([f32; D]) -> f64 + Sync,
) -> Vec<f32> {
    let depth = depth(cells, positions, volume, wall);
    let of_block = |window: &mut Window<D>, (slot, block): (usize, &[i32; D])| {
        let members = cells.members(slot);
        if members.iter().all(|&i| depth[i as usize] >= 1.0) {
            return vec![0.0; members.len()];
        }
        cells.window(positions, *block, 2, window);
        window.each(|window, p, _| {
            let mut thick = depth[window.particles[p] as usize];
            let x = window.places[p];
            if thick < 1.0 {
                window.near(x, NEAR.1, |q| {
                    let depth = depth[window.particles[q] as usize];
                    if depth > thick {
                        let distance = square(x, window.places[q]).sqrt();
                        let near = (NEAR.1 - distance) / (NEAR.1 - NEAR.0);
                        thick = thick.max(depth * near.clamp(0.0, 1.0));
                    }
                });
            }
            1.0 - thick
        })
    };
    let blocks = cells.blocks.par_iter().enumerate();
    cells.unsorted(blocks.map_init(Window::default, of_block).collect())
}

/// Depth of every particle: 0 at the surface, 1 deep inside the liquid. The filled fraction of the neighbourhood is computed
/// at cell centres and interpolated.
fn depth<const D: usize>(
    cells: &Cells<D>,
    positions: &[[f32; D]],
    volume: f64,
    wall: impl Fn([f32; D]) -> f64 + Sync,
) -> Vec<f32> {
    // Integral of the kernel (1 - s^2)^3 over the ball or disc.
    let full = REACH.powi(D as i32) * if D == 3 { PI * 64.0 / 315.0 } else { PI / 4.0 };
    let filled = |window: &Window<D>, x: [f32; D]| {
        let mut sum = 0.0f32;
        window.near(x, REACH as f32, |q| {
            let rest = 1.0 - square(x, window.places[q]) * (1.0 / (REACH * REACH)) as f32;
            let rest = rest.max(0.0);
            sum += rest * rest * rest;
        });
        let open = 1.0 - solid_share(wall(x) / REACH);
        (f64::from(sum) * volume / full / open.max(0.2)) as f32
    };
    let side = SIDE + 2;
    let of_block = |(window, at_centres): &mut (Window<D>, Vec<f32>), block: &[i32; D]| {
        cells.window(positions, *block, 3, window);
        // Cells at least half full and surrounded by such cells need no sums.
        let surrounded = window.surrounded(0.5 / volume);
        at_centres.clear();
        at_centres.resize(side.pow(D as u32) as usize, f32::NAN);
        window.each(|window, p, cell| {
            if surrounded[cell] {
                return 1.0;
            }
            let x = window.places[p];
            let low = x.map(|c| (c - 0.5).floor());
            let mut share = 0.0;
            for c in 0..1usize << D {
                let high = |a: usize| (c >> a & 1) as f32;
                let weight: f32 = (0..D)
                    .map(|a| 1.0 - (x[a] - 0.5 - low[a] - high(a)).abs())
                    .product();
                let centre: [f32; D] = std::array::from_fn(|a| low[a] + high(a) + 0.5);
                let offset = std::array::from_fn(|a| centre[a].floor() as i32 - block[a] + 1);
                let known = &mut at_centres[number::<D>(offset, side)];
                if known.is_nan() {
                    *known = filled(window, centre);
                }
                share += weight * *known;
            }
            ramp(share.into(), DEEP.0, DEEP.1) as f32
        })
    };
    let blocks = cells.blocks.par_iter();
    cells.unsorted(blocks.map_init(Default::default, of_block).collect())
}

/// Fraction of a neighbourhood behind a flat wall at this distance from its centre, in radii.
fn solid_share(distance: f64) -> f64 {
    0.5 - 0.5 * slab(distance.clamp(-1.0, 1.0)) / slab(1.0)
}

/// Integral of `(1 - z^2)^4` from 0 to `z`: a plane section of the kernel `(1 - s^2)^3` at distance `z` is
/// `(1 - z^2)^4` times that through the centre.
pub fn slab(z: f64) -> f64 {
    let q = z * z;
    z * (1.0 + q * (-4.0 / 3.0 + q * (6.0 / 5.0 + q * (-4.0 / 7.0 + q / 9.0))))
}

/// Smooth step from 0 at `zero` to 1 at `one`.
pub fn ramp(x: f64, zero: f64, one: f64) -> f64 {
    let s = ((x - zero) / (one - zero)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}
