//! Particles to grid, and reading the grid at a point.

use rayon::prelude::*;

use crate::particles::{Bins, Particles};
use crate::scatter::Scatter;
use crate::tiles::{Corners, Tiles};

/// A velocity component on the low faces of cells, for every axis.
pub type FaceField<const D: usize> = [Vec<f64>; D];

/// Where the samples of a field lie in a cell, and the weights around a point.
pub struct Stencil<const D: usize> {
    /// The samples around the point.
    pub corners: Corners,
    /// Position between them, 0 to 1 along every axis.
    pub at: [f64; D],
}

impl<const D: usize> Stencil<D> {
    /// Around `x` (in cells), for samples that lie at `offset` from the lower corner of their cell.
    #[inline]
    pub fn new(tiles: &Tiles<D>, x: [f64; D], offset: [f64; D]) -> Self {
        let x: [f64; D] = std::array::from_fn(|a| x[a] - offset[a]);
        let base = x.map(|x| x.floor() as i32);
        Self {
            corners: tiles.corners(base),
            at: std::array::from_fn(|a| x[a] - base[a] as f64),
        }
    }

    /// Weight of a corner.
    #[inline]
    pub fn weight(&self, corner: usize) -> f64 {
        let mut weight = 1.0;
        for a in 0..D {
            weight *= if corner >> a & 1 == 1 {
                self.at[a]
            } else {
                1.0 - self.at[a]
            };
        }
        weight
    }

    /// Value of a field at the point.
    #[inline]
    pub fn value(&self, field: &[f64]) -> f64 {
        let mut sum = 0.0;
        for c in 0..1 << D {
            sum += self.weight(c) * field[self.corners[c]];
        }
        sum
    }

    /// Gradient of a field at the point, per cell.
    #[inline]
    pub fn gradient(&self, field: &[f64]) -> [f64; D] {
        let mut gradient = [0.0; D];
        for c in 0..1 << D {
            let value = field[self.corners[c]];
            for a in 0..D {
                let mut weight = if c >> a & 1 == 1 { value } else { -value };
                for b in 0..D {
                    if b != a {
                        weight *= if c >> b & 1 == 1 {
                            self.at[b]
                        } else {
                            1.0 - self.at[b]
                        };
                    }
                }
                gradient[a] += weight;
            }
        }
        gradient
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
    bins: &Bins,
    dx: f64,
    velocity: &mut FaceField<D>,
    weight: &mut FaceField<D>,
    number: &mut Vec<f64>,
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
                for c in 0..1 << D {
                    let w = stencil.weight(c);
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
                        weight[a].add(stencil.corners[c], w);
                    }
                }
            }
            let stencil = Stencil::new(tiles, x, [0.5; D]);
            for c in 0..1 << D {
                // SAFETY: as above.
                unsafe { number.add(stencil.corners[c], stencil.weight(c)) };
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
                    *v /= w;
                }
            });
    }
}
