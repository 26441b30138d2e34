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

    /// Around `x` (in cells), for the low faces along every axis: what these have in common is found once.
    #[inline(always)]
    pub fn of_faces(tiles: &Tiles<D>, x: [f64; D]) -> [Self; D] {
        let whole = x.map(floor);
        let beyond: [f64; D] = std::array::from_fn(|a| x[a] - whole[a] as f64);
        // Along the other axes the samples lie in the middle of cells.
        let lower: [bool; D] = std::array::from_fn(|a| beyond[a] < 0.5);
        let base = std::array::from_fn(|a| whole[a] - i32::from(lower[a]));
        let between: [f64; D] =
            std::array::from_fn(|a| beyond[a] + if lower[a] { 0.5 } else { -0.5 });
        let block = tiles.block(base);
        std::array::from_fn(|axis| {
            let corners = match block {
                Some(index) => {
                    let mut corners = [0; 8];
                    corners[0] = index + usize::from(lower[axis]) * Tiles::<D>::stride(axis);
                    for a in 0..D {
                        for c in 0..1 << a {
                            corners[c + (1 << a)] = corners[c] + Tiles::<D>::stride(a);
                        }
                    }
                    corners
                }
                None => {
                    let mut base = base;
                    base[axis] = whole[axis];
                    tiles.corners(base)
                }
            };
            let mut at = between;
            at[axis] = beyond[axis];
            Self { corners, at }
        })
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
    let stencils = Stencil::of_faces(tiles, x);
    std::array::from_fn(|a| stencils[a].value(&velocity[a]))
}

/// Sums the particles' momentum and weight on faces (APIC: each with its own gradient), and their number at the
/// centres of cells. Faces that no particle reaches keep weight 0.
pub fn to_grid<const D: usize>(
    tiles: &Tiles<D>,
    particles: &Particles<D>,
    bins: &Bins,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stencils_of_all_faces_are_those_of_each() {
        let mut tiles = Tiles::<3>::new([24; 3]);
        tiles.cover([[9, 12, 15]].par_iter().copied(), 4);
        for k in 0..2000 {
            let x = [0.137, 0.291, 0.511].map(|step| 6.0 + (step * k as f64) % 7.0);
            for (a, found) in Stencil::of_faces(&tiles, x).into_iter().enumerate() {
                let alone = Stencil::new(&tiles, x, face_offset(a));
                assert_eq!(found.corners, alone.corners);
                for b in 0..3 {
                    assert!((found.at[b] - alone.at[b]).abs() < 1e-14);
                }
            }
        }
    }
}
