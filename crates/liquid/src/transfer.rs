//! Particles to grid, and reading the grid at a point.

use rayon::prelude::*;

use crate::cut_cells::interpolate;
use crate::particles::{Bins, Particles};
use crate::scatter::Scatter;
use crate::tiles::{Corners, Tiles, floor};

/// A component on the low faces of cells, for every axis: of velocities in double precision, or of something that
/// may be rougher.
pub type FaceField<const D: usize, T = f64> = [Vec<T>; D];

/// Where the samples of a field lie in a cell, and the weights around a point.
pub struct Stencil<const D: usize> {
    /// The samples around the point.
    pub corners: Corners,
    /// Position between them, 0 to 1 along every axis.
    pub at: [f64; D],
}

impl<const D: usize> Stencil<D> {
    /// Around `x` (in cells), for samples that lie at `offset` from the lower corner of their cell.
    #[inline(always)]
    pub fn new(tiles: &Tiles<D>, x: [f64; D], offset: [f64; D]) -> Self {
        let x: [f64; D] = std::array::from_fn(|a| x[a] - offset[a]);
        let base = x.map(floor);
        Self {
            corners: tiles.corners(base),
            at: std::array::from_fn(|a| x[a] - base[a] as f64),
        }
    }

    /// Weights of the corners; only the first `2^D` are used.
    #[inline]
    pub fn weights(&self) -> [f64; 8] {
        let mut weights = [1.0; 8];
        for a in 0..D {
            for c in 0..1 << a {
                weights[c + (1 << a)] = weights[c] * self.at[a];
                weights[c] *= 1.0 - self.at[a];
            }
        }
        weights
    }

    #[inline]
    fn values<T: Copy + Into<f64>>(&self, field: &[T]) -> [f64; 8] {
        let mut values = [0.0; 8];
        for c in 0..1 << D {
            values[c] = field[self.corners[c]].into();
        }
        values
    }

    /// Value of a field at the point.
    #[inline]
    pub fn value<T: Copy + Into<f64>>(&self, field: &[T]) -> f64 {
        interpolate(&self.values(field), self.at)
    }

    /// Value and gradient of a field at the point, the gradient per cell.
    #[inline]
    pub fn value_and_gradient<T: Copy + Into<f64>>(&self, field: &[T]) -> (f64, [f64; D]) {
        let values = self.values(field);
        let mut gradient = [0.0; D];
        for (along, gradient) in gradient.iter_mut().enumerate() {
            let mut slopes = values;
            for a in (0..D).rev() {
                for c in 0..1 << a {
                    let difference = slopes[c + (1 << a)] - slopes[c];
                    slopes[c] = if a == along {
                        difference
                    } else {
                        slopes[c] + self.at[a] * difference
                    };
                }
            }
            *gradient = slopes[0];
        }
        (interpolate(&values, self.at), gradient)
    }
}

/// Offset of the low faces along `axis` in their cells.
#[inline]
pub fn face_offset<const D: usize>(axis: usize) -> [f64; D] {
    std::array::from_fn(|a| if a == axis { 0.0 } else { 0.5 })
}

/// Velocity at a point given in cells.
#[inline]
pub fn sample<const D: usize>(tiles: &Tiles<D>, velocity: &FaceField<D>, x: [f64; D]) -> [f64; D] {
    std::array::from_fn(|a| Stencil::new(tiles, x, face_offset(a)).value(&velocity[a]))
}

/// Sums the particles' momentum and weight on faces (APIC: each with its own gradient), and their number at the
/// centres of cells. Faces that no particle reaches keep weight 0.
pub fn to_grid<const D: usize>(
    tiles: &Tiles<D>,
    particles: &Particles<D>,
    bins: &Bins<D>,
    dx: f64,
    velocity: &mut FaceField<D>,
    weight: &mut FaceField<D, f32>,
    number: &mut Vec<f32>,
) {
    for a in 0..D {
        tiles.reset(&mut velocity[a], 0.0);
        tiles.reset(&mut weight[a], 0.0);
    }
    tiles.reset(number, 0.0);
    {
        let velocity = velocity.each_mut().map(|v| Scatter::new(v));
        let weight = weight.each_mut().map(|w| Scatter::new(w));
        let number = Scatter::new(number);
        let cells = Tiles::<D>::CELLS;
        let inverse_dx = 1.0 / dx;
        let add_particle = |p: usize| {
            let x = particles.position[p].map(|x| x as f64 * inverse_dx);
            for a in 0..D {
                let stencil = Stencil::new(tiles, x, face_offset(a));
                let gradient = particles.affine[p][a];
                // Velocity at the lowest corner, then along the axes.
                let mut base = particles.velocity[p][a] as f64;
                for b in 0..D {
                    base -= gradient[b] as f64 * stencil.at[b] * dx;
                }
                let weights = stencil.weights();
                for c in 0..1 << D {
                    let w = weights[c];
                    let mut v = base;
                    for b in 0..D {
                        if c >> b & 1 == 1 {
                            v += gradient[b] as f64 * dx;
                        }
                    }
                    // SAFETY: a particle writes at most one cell beyond its tile, and the tiles that are worked on
                    // at the same time are a whole tile apart.
                    unsafe {
                        velocity[a].add(stencil.corners[c], w * v);
                        weight[a].add(stencil.corners[c], w as f32);
                    }
                }
            }
            let stencil = Stencil::new(tiles, x, [0.5; D]);
            let weights = stencil.weights();
            for c in 0..1 << D {
                // SAFETY: as above.
                unsafe { number.add(stencil.corners[c], weights[c] as f32) };
            }
        };
        for parity in 0..1 << D {
            let slots: Vec<usize> = (0..tiles.len())
                .filter(|&slot| tiles.parity(slot) == parity)
                .collect();
            slots.par_iter().for_each(|&slot| {
                bins.of_cells(slot * cells..(slot + 1) * cells)
                    .for_each(add_particle);
            });
        }
    }
    for a in 0..D {
        velocity[a]
            .par_iter_mut()
            .with_min_len(4096)
            .zip(&weight[a])
            .for_each(|(v, &w)| {
                if w > 0.0 {
                    *v /= w as f64;
                }
            });
    }
}
