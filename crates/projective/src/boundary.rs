//! Particles on the surfaces of solids (Akinci and others 2012), an alternative to shares of half-spaces.
//!
//! A surface is sampled by points at least 0.9 spacings apart, and none of it is farther than that from one (Poisson disks).
//! DEVIATION [WKB16 sec. 4]: the points lie 0.6 spacings behind the surface, or less in thinner solids, where a flat layer of them
//! has the share of a wall for liquid half a spacing in front of it. On the surface itself, as the paper has them, they would
//! hold the liquid half a spacing away from it, and press liquid that begins at the surface by a third. A point stands for the volume `V_b = 1 / Σ W_bb'`, so that uneven samples make an even wall; it takes part in the density of the
//! liquid as a particle of that volume does.

use std::collections::BTreeMap;

use meniscus_shapes::{Bounds, Shape};
use rayon::prelude::*;

use crate::kernel::{HalfSpace, Kernel, support};

/// Radius of the disks, in spacings.
const DISK: f64 = 0.9;
/// Width of the cells whose middles become candidates, in spacings.
const CELL: f64 = 0.25;
/// Newton steps to the surface.
const TO_SURFACE: usize = 12;
/// Most cells that are looked at.
const MOST_CELLS: usize = 40_000_000;

/// How solids take part in the density of the liquid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// By the share of the kernel that is solid, a function of the distances from faces.
    #[default]
    Maps,
    /// By particles on their surfaces.
    Particles,
}

impl Boundary {
    /// All ways.
    pub const ALL: [Self; 2] = [Self::Maps, Self::Particles];

    /// Name in scene files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Maps => "maps",
            Self::Particles => "particles",
        }
    }
}

/// Points on the surface of a shape.
#[derive(Clone, Debug)]
pub struct Samples<const D: usize> {
    kernel: Kernel<f64>,
    reach: f64,
    /// First point in `points` of each cell as wide as the support, and the number of points.
    cells: BTreeMap<[i32; D], (u32, u32)>,
    /// Points with their volumes over that of a particle.
    points: Vec<([f64; D], f64)>,
}

impl<const D: usize> Samples<D> {
    /// Points on a surface, in the frame of the shape; `None` if it has no bounds or is too large for them.
    pub fn of(shape: &Shape<D>, spacing: f64) -> Option<Self> {
        let mut depth = depth_of::<D>(spacing);
        let mut candidates = candidates(shape, spacing, depth)?;
        while candidates.is_empty() && depth > 0.0 {
            depth = if depth > 0.1 * spacing {
                0.5 * depth
            } else {
                0.0
            };
            candidates = self::candidates(shape, spacing, depth)?;
        }
        let reach = support::<D>() * spacing;
        let cell_of = |x: &[f64; D], width: f64| x.map(|c| (c / width).floor() as i32);
        // The points that are no nearer to each other than the radius, in a shuffled order.
        let radius = DISK * spacing;
        let mut shuffled: Vec<(u64, [f64; D])> = (0u64..).map(shuffle).zip(candidates).collect();
        shuffled.sort_by_key(|(key, _)| *key);
        let mut kept: BTreeMap<[i32; D], Vec<[f64; D]>> = BTreeMap::new();
        for (_, x) in shuffled {
            let cell = cell_of(&x, radius);
            let is_near = around(cell).any(|cell| {
                let points = kept.get(&cell).into_iter().flatten();
                points.into_iter().any(|y| distance(&x, y) < radius)
            });
            if !is_near {
                kept.entry(cell).or_default().push(x);
            }
        }
        let mut by_cell: BTreeMap<[i32; D], Vec<[f64; D]>> = BTreeMap::new();
        for x in kept.into_values().flatten() {
            by_cell.entry(cell_of(&x, reach)).or_default().push(x);
        }
        let mut samples = Self {
            kernel: Kernel::new::<D>(spacing),
            reach,
            cells: BTreeMap::new(),
            points: Vec::new(),
        };
        for (cell, points) in by_cell {
            let first = samples.points.len() as u32;
            samples.cells.insert(cell, (first, points.len() as u32));
            samples.points.extend(points.into_iter().map(|x| (x, 1.0)));
        }
        let volumes: Vec<f64> = samples
            .points
            .par_iter()
            .map(|(x, _)| 1.0 / samples.share(*x).0)
            .collect();
        for ((_, volume), own) in samples.points.iter_mut().zip(volumes) {
            *volume = own;
        }
        Some(samples)
    }

    /// Share of the points in the density at `x`, and its gradient.
    pub fn share(&self, x: [f64; D]) -> (f64, [f64; D]) {
        let (mut share, mut gradient) = (0.0, [0.0; D]);
        let cell = x.map(|c| (c / self.reach).floor() as i32);
        for cell in around(cell) {
            let Some(&(first, count)) = self.cells.get(&cell) else {
                continue;
            };
            for (point, volume) in &self.points[first as usize..(first + count) as usize] {
                let apart: [f64; D] = std::array::from_fn(|axis| x[axis] - point[axis]);
                let square: f64 = apart.iter().map(|c| c * c).sum();
                if square < self.reach * self.reach {
                    share += volume * self.kernel.value(square.sqrt());
                    let slope = volume * self.kernel.slope(square);
                    for axis in 0..D {
                        gradient[axis] += slope * apart[axis];
                    }
                }
            }
        }
        (share, gradient)
    }

    /// Number of points.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.points.len()
    }
}

/// Samples of the shapes of a scene, which are made once.
#[derive(Clone, Debug, Default)]
pub struct SampledShapes<const D: usize>(Vec<(Shape<D>, Option<Samples<D>>)>);

impl<const D: usize> SampledShapes<D> {
    /// Makes those of the shapes that are new at their place.
    pub fn prepare<'s>(&mut self, shapes: impl Iterator<Item = &'s Shape<D>>, spacing: f64) {
        let mut count = 0;
        for (k, shape) in shapes.enumerate() {
            count = k + 1;
            if self.0.get(k).is_some_and(|known| known.0 == *shape) {
                continue;
            }
            self.0.truncate(k);
            self.0.push((shape.clone(), Samples::of(shape, spacing)));
        }
        self.0.truncate(count);
    }

    /// Samples of a shape; `None` for those that have none.
    pub fn get(&self, shape: usize) -> Option<&Samples<D>> {
        self.0.get(shape)?.1.as_ref()
    }
}

/// Depth behind a flat surface at which a layer of points has, half a spacing in front of the surface, the share of the layers of
/// a lattice.
fn depth_of<const D: usize>(spacing: f64) -> f64 {
    let plane = HalfSpace::new::<D>(spacing);
    let (wanted, _) = plane.at(plane.first_layer());
    let (mut low, mut high) = (0.5 * spacing, plane.support());
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        // The share of a half-space grows by that of the planes in it; that of a layer is one in the layer.
        if plane.at(middle).1 / plane.at(0.0).1 > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high) - 0.5 * spacing
}

/// A cell and those around it.
fn around<const D: usize>(cell: [i32; D]) -> impl Iterator<Item = [i32; D]> {
    (0..3_i32.pow(D as u32)).map(move |number| {
        let mut rest = number;
        cell.map(|at| {
            let step = rest % 3 - 1;
            rest /= 3;
            at.saturating_add(step)
        })
    })
}

fn distance<const D: usize>(x: &[f64; D], y: &[f64; D]) -> f64 {
    let squares = (0..D).map(|axis| (x[axis] - y[axis]).powi(2));
    squares.sum::<f64>().sqrt()
}

/// A number that has nothing to do with the next one (the finaliser of splitmix64).
fn shuffle(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Bounds of the surface of a shape.
fn bounds_of<const D: usize>(shape: &Shape<D>) -> Option<Bounds<D>> {
    match shape {
        Shape::Inverted(hollow) => bounds_of(hollow),
        Shape::Placed { shape, pose } => Some(bounds_of(shape)?.placed(pose)),
        _ => shape.bounds().filter(Bounds::is_finite),
    }
}

/// Points at a depth behind a surface, more than are needed: cells that may touch it are divided until they are small, and
/// their middles moved onto it.
fn candidates<const D: usize>(shape: &Shape<D>, spacing: f64, depth: f64) -> Option<Vec<[f64; D]>> {
    let bounds = bounds_of(shape)?.expanded(1.01 * depth + 0.01 * spacing);
    let longest = (0..D).map(|axis| bounds.high[axis] - bounds.low[axis]);
    let longest = longest.fold(0.0, f64::max);
    let levels = (longest / (CELL * spacing)).log2().ceil().max(0.0);
    let mut width = CELL * spacing * levels.exp2();
    let half = 0.5 * (D as f64).sqrt();
    let mut cells = vec![bounds.low.map(|low| low + 0.5 * width)];
    let mut looked_at = 0;
    for _ in 0..levels as usize {
        width *= 0.5;
        looked_at += cells.len() << D;
        if looked_at > MOST_CELLS {
            return None;
        }
        cells = cells
            .par_iter()
            .flat_map_iter(|middle| {
                (0..1_usize << D).filter_map(move |corner| {
                    let x: [f64; D] = std::array::from_fn(|axis| {
                        let side = if corner >> axis & 1 == 1 { 0.5 } else { -0.5 };
                        middle[axis] + side * width
                    });
                    let reach = half * width * (1.0 + 1e-9);
                    let distance = shape.distance_within(x, 1.01 * reach + depth) + depth;
                    (distance.abs() <= reach).then_some(x)
                })
            })
            .collect();
    }
    let to_surface = |x: &[f64; D]| {
        let mut x = *x;
        for _ in 0..TO_SURFACE {
            let distance = shape.distance(x) + depth;
            if distance.abs() < 1e-6 * spacing {
                return Some(x);
            }
            let normal = shape.gradient(x);
            for axis in 0..D {
                x[axis] -= distance * normal[axis];
            }
        }
        None
    };
    Some(cells.par_iter().filter_map(to_surface).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACING: f64 = 0.1;

    fn ball() -> Shape<3> {
        Shape::Sphere {
            center: [0.2, 0.1, -0.3],
            radius: 0.5,
        }
    }

    #[test]
    fn disks_cover_the_surface_and_do_not_overlap() {
        let samples = Samples::of(&ball(), SPACING).expect("bounded");
        for (k, (x, volume)) in samples.points.iter().enumerate() {
            assert!((ball().distance(*x) + depth_of::<3>(SPACING)).abs() < 1e-6);
            // About a layer of particles.
            assert!(*volume > 0.5 && *volume < 2.5, "{volume}");
            for (y, _) in &samples.points[..k] {
                assert!(distance(x, y) >= DISK * SPACING);
            }
        }
        for candidate in candidates(&ball(), SPACING, depth_of::<3>(SPACING)).expect("bounded") {
            let near = samples.points.iter().map(|(x, _)| distance(x, &candidate));
            assert!(near.fold(f64::INFINITY, f64::min) < DISK * SPACING);
        }
        // Disks placed one after another at random fill 0.547 of a plane, a little less with a finite number of candidates.
        let area = 4.0 * std::f64::consts::PI * 0.44 * 0.44;
        let disk = std::f64::consts::PI * (0.5 * DISK * SPACING).powi(2);
        let share = samples.len() as f64 * disk / area;
        assert!((0.45..0.6).contains(&share), "{share}");
    }

    #[test]
    fn containers_and_thin_solids_have_points_behind_their_surfaces() {
        let hollow = ball().inverted();
        let samples = Samples::of(&hollow, SPACING).expect("bounded");
        for (x, _) in &samples.points {
            assert!((hollow.distance(*x) + depth_of::<3>(SPACING)).abs() < 1e-6);
        }
        let plate = Shape::Box {
            low: [0.0; 3],
            high: [0.5, 0.5, 0.04],
        };
        let thin = Samples::of(&plate, SPACING).expect("bounded");
        assert!(thin.len() > 20);
        assert!(thin.points.iter().all(|(x, _)| plate.distance(*x) <= 1e-6));
        let half = Shape::HalfSpace {
            point: [0.0; 3],
            normal: [0.0, 0.0, 1.0],
        };
        assert!(Samples::of(&half, SPACING).is_none());
        let square = Shape::<2>::Box {
            low: [0.0; 2],
            high: [1.0; 2],
        };
        let flat = Samples::of(&square, SPACING).expect("bounded");
        assert!((24..=40).contains(&flat.len()), "{}", flat.len());
    }

    #[test]
    fn the_gradient_is_that_of_the_share() {
        let samples = Samples::of(&ball(), SPACING).expect("bounded");
        let x = [0.2, 0.42, 0.1];
        let (share, gradient) = samples.share(x);
        assert!(share > 0.01);
        for axis in 0..3 {
            let at = |sign: f64| {
                let mut near = x;
                near[axis] += sign * 1e-6;
                samples.share(near).0
            };
            assert!(((at(1.0) - at(-1.0)) / 2e-6 - gradient[axis]).abs() < 1e-5);
        }
    }
}
