//! Density constraints: their values, their gradients, and products with them.
//!
//! `C_i = V Σ_j W(x_i - x_j) + (solid share) - 1` is the relative excess of density at particle `i`, `G` the matrix of its
//! derivatives with respect to all positions. With `G_ij = s_ij (x_i - x_j)` and the gradient `g_i` of the solid share,
//!
//! - `(Gᵀ l)_i = Σ_j (l_i + l_j) G_ij + l_i g_i`,
//! - `(G u)_i = Σ_j G_ij · (u_i - u_j) + g_i · u_i`.
//!
//! Both are gathered: every particle reads its neighbours and writes only its own result, so that the bits do not depend on
//! the number of threads.

use rayon::prelude::*;

use crate::cells::{CHUNK, FAR, LANES, ListChunk};
use crate::kernel::Kernel;
use crate::real::{Real, Vec4};
use crate::simd::{Width, for_every_width};
use crate::walls::Walls;

/// Constraints of sorted particles at one iterate.
#[derive(Clone, Debug, Default)]
pub struct Constraints<R> {
    /// Neighbours.
    pub lists: Vec<ListChunk<R>>,
    /// Whether solids can matter for a particle within this step.
    pub is_near_wall: Vec<bool>,
    /// `C_i`.
    pub excess: Vec<R>,
    /// Diagonal of `G Gᵀ`.
    pub diagonal: Vec<R>,
    /// Gradients of the solid shares.
    wall_gradient: Vec<Vec4<R>>,
    /// Derivatives of the constraints by the positions of their own particles.
    own_gradient: Vec<Vec4<R>>,
    /// Positions of the last linearisation, with the padding at the end. The spare number is scratch of the products.
    linearised_at: Vec<Vec4<R>>,
    /// Result of the last product with `Gᵀ`, with the padding at the end.
    pub force: Vec<Vec4<R>>,
}

impl<R: Real> Constraints<R> {
    /// Room for `n` particles.
    pub fn resize(&mut self, n: usize) {
        self.excess.resize(n, R::ZERO);
        self.diagonal.resize(n, R::ZERO);
        self.wall_gradient.resize(n, Vec4::ZERO);
        self.own_gradient.resize(n, Vec4::ZERO);
        self.linearised_at.resize(n + 1, Vec4::ZERO);
        self.force.resize(n + 1, Vec4::ZERO);
        self.force[n] = Vec4::ZERO;
        self.linearised_at[n] = padding();
    }

    /// Values at the positions `y`, and with `GRADIENTS` also the matrix `G` and its diagonal.
    pub fn evaluate<const D: usize, const GRADIENTS: bool>(
        &mut self,
        kernel: &Kernel<R>,
        walls: &Walls<'_, D>,
        y: &[Vec4<R>],
    ) {
        let n = self.excess.len();
        let width = Width::widest();
        let chunks = self
            .lists
            .par_iter_mut()
            .zip(self.excess.par_chunks_mut(CHUNK))
            .zip(self.diagonal.par_chunks_mut(CHUNK))
            .zip(self.wall_gradient.par_chunks_mut(CHUNK))
            .zip(self.own_gradient.par_chunks_mut(CHUNK))
            .zip(self.is_near_wall.par_chunks(CHUNK));
        chunks.enumerate().for_each(
            |(
                chunk,
                (((((list, excess), diagonal), wall_gradient), own_gradient), is_near_wall),
            )| {
                let first = chunk * CHUNK;
                let mut rows = [Row::default(); CHUNK];
                let rows = &mut rows[..excess.len()];
                rows_of::<R, GRADIENTS>(width, kernel, y, first, list, rows);
                for (i, row) in rows.iter().enumerate() {
                    let (share, gradient) = if is_near_wall[i] {
                        let (share, gradient) = walls.share(y[first + i].point());
                        (R::of(share), Vec4::of(gradient))
                    } else {
                        (R::ZERO, Vec4::ZERO)
                    };
                    excess[i] = kernel.own + kernel.weight * row.density + share - R::ONE;
                    if GRADIENTS {
                        wall_gradient[i] = gradient;
                        own_gradient[i] = row.gradient + gradient;
                        diagonal[i] = own_gradient[i].dot(own_gradient[i]) + row.squares;
                    }
                }
            },
        );
        if GRADIENTS {
            self.linearised_at[..n].copy_from_slice(&y[..n]);
        }
    }

    /// Adds the share of cloth to the density of a particle after an evaluation: its value, its gradient by the position of
    /// the particle, and what the motion of the cloth adds to the diagonal.
    pub fn add_share(&mut self, particle: usize, share: f64, gradient: [f64; 3], diagonal: f64) {
        let gradient = Vec4::of(gradient);
        let before = self.own_gradient[particle];
        let after = before + gradient;
        self.own_gradient[particle] = after;
        self.wall_gradient[particle] = self.wall_gradient[particle] + gradient;
        self.excess[particle] += R::of(share);
        self.diagonal[particle] += after.dot(after) - before.dot(before) + R::of(diagonal);
    }

    /// `force = Gᵀ multiplier`.
    pub fn transposed_product(&mut self, multiplier: &[R]) {
        let n = self.excess.len();
        // The spare number is the negative multiplier: one subtraction makes difference of positions and sum of multipliers.
        let spare = self.linearised_at.par_iter_mut().zip(multiplier);
        spare.for_each(|(x, &l)| x.0[3] = -l);
        self.linearised_at[n].0[3] = R::ZERO;
        let (at, width) = (&self.linearised_at[..], Width::widest());
        let chunks = self.force[..n]
            .par_chunks_mut(CHUNK)
            .zip(&self.lists)
            .zip(self.wall_gradient.par_chunks(CHUNK));
        chunks
            .enumerate()
            .for_each(|(chunk, ((force, list), wall_gradient))| {
                let first = chunk * CHUNK;
                forces_of::<R>(width, at, multiplier, first, list, wall_gradient, force);
            });
    }

    /// `result = factor G force + compliance * multiplier` on active particles, zero on the others.
    pub fn product(
        &self,
        factor: R,
        compliance: R,
        multiplier: &[R],
        is_active: &[bool],
        result: &mut [R],
    ) {
        let (at, force) = (&self.linearised_at[..], &self.force[..]);
        let width = Width::widest();
        let chunks = result
            .par_chunks_mut(CHUNK)
            .zip(&self.lists)
            .zip(self.wall_gradient.par_chunks(CHUNK));
        chunks
            .enumerate()
            .for_each(|(chunk, ((result, list), wall_gradient))| {
                let range = chunk * CHUNK..chunk * CHUNK + result.len();
                let is_active = &is_active[range.clone()];
                let own = (range.start, wall_gradient, is_active);
                products_of::<R>(width, at, force, own, list, result);
                for ((result, l), is_active) in
                    result.iter_mut().zip(&multiplier[range]).zip(is_active)
                {
                    if *is_active {
                        *result = factor * *result + compliance * *l;
                    }
                }
            });
    }
}

for_every_width! {
    /// Sums over the neighbours of the particles of a chunk that begins with `first`.
    fn rows_of<R, const GRADIENTS>(
        kernel: &Kernel<R>,
        y: &[Vec4<R>],
        first: usize,
        list: &mut ListChunk<R>,
        rows: &mut [Row<R>],
    ) {
        for (i, found) in rows.iter_mut().enumerate() {
            let range = list.range(i);
            let neighbour = &list.neighbour[range.clone()];
            *found = row::<R, GRADIENTS>(kernel, y, first + i, neighbour, &mut list.slope[range]);
        }
    }
}

for_every_width! {
    /// `Gᵀ l` of the particles of a chunk, with the negative multipliers in the spare numbers of `at`.
    fn forces_of<R>(
        at: &[Vec4<R>],
        multiplier: &[R],
        first: usize,
        list: &ListChunk<R>,
        wall_gradient: &[Vec4<R>],
        force: &mut [Vec4<R>],
    ) {
        for (i, force) in force.iter_mut().enumerate() {
            let l = multiplier[first + i];
            let mut x = at[first + i];
            x.0[3] = l;
            let range = list.range(i);
            let (slope, neighbour) = (&list.slope[range.clone()], &list.neighbour[range]);
            let mut sums = [Vec4::ZERO; 4];
            for (j, s) in neighbour.chunks_exact(4).zip(slope.chunks_exact(4)) {
                for k in 0..4 {
                    let e = x - at[j[k] as usize];
                    sums[k] = sums[k].plus(s[k] * e.0[3], e);
                }
            }
            let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            *force = sum.plus(l, wall_gradient[i]).xyz();
        }
    }
}

for_every_width! {
    /// `G u` of the active particles of a chunk, zero for the others; the chunk is given by its first particle, the gradients of
    /// its walls and what is active.
    fn products_of<R>(
        at: &[Vec4<R>],
        u: &[Vec4<R>],
        own: (usize, &[Vec4<R>], &[bool]),
        list: &ListChunk<R>,
        result: &mut [R],
    ) {
        let (first, wall_gradient, is_active) = own;
        for (i, result) in result.iter_mut().enumerate() {
            if !is_active[i] {
                *result = R::ZERO;
                continue;
            }
            let (x, f) = (at[first + i], u[first + i]);
            let range = list.range(i);
            let (slope, neighbour) = (&list.slope[range.clone()], &list.neighbour[range]);
            let mut sums = [Vec4::ZERO; 4];
            for (j, s) in neighbour.chunks_exact(4).zip(slope.chunks_exact(4)) {
                for k in 0..4 {
                    let j = j[k] as usize;
                    sums[k] = sums[k].plus(s[k], (x - at[j]).times(f - u[j]));
                }
            }
            let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            *result = (sum.0[0] + sum.0[1]) + sum.0[2] + wall_gradient[i].dot(f);
        }
    }
}

/// Position of the padding.
pub fn padding<R: Real>() -> Vec4<R> {
    Vec4([R::of(FAR), R::of(FAR), R::of(FAR), R::ZERO])
}

/// Sums over the neighbours of one particle.
#[derive(Clone, Copy, Debug, Default)]
struct Row<R> {
    /// `Σ (1 - q)³₊ - 4 (1/2 - q)³₊`.
    density: R,
    /// `Σ G_ij`.
    gradient: Vec4<R>,
    /// `Σ |G_ij|²`.
    squares: R,
}

/// Eight neighbours at a time, in loops over lanes that the compiler turns into vector instructions.
#[inline(always)]
fn row<R: Real, const GRADIENTS: bool>(
    kernel: &Kernel<R>,
    y: &[Vec4<R>],
    own: usize,
    neighbour: &[u32],
    slope: &mut [R],
) -> Row<R> {
    let x = y[own].0;
    let zero = [R::ZERO; LANES];
    let (mut density, mut squares) = (zero, zero);
    let mut gradient = [zero; 3];
    let (half, four, tiny) = (R::of(0.5), R::of(4.0), R::of(1e-9));
    let blocks = neighbour.chunks_exact(LANES);
    for (block, slope) in blocks.zip(slope.chunks_exact_mut(LANES)) {
        let mut apart = [zero; 3];
        for lane in 0..LANES {
            let other = y[block[lane] as usize].0;
            for axis in 0..3 {
                apart[axis][lane] = x[axis] - other[axis];
            }
        }
        for lane in 0..LANES {
            let [dx, dy, dz] = [apart[0][lane], apart[1][lane], apart[2][lane]];
            let r2 = (dx * dx + dy * dy) + dz * dz;
            let q = r2.sqrt() * kernel.inverse_support;
            let a = (R::ONE - q).max(R::ZERO);
            let b = (half - q).max(R::ZERO);
            let (a2, b2) = (a * a, four * (b * b));
            density[lane] += a2 * a - b2 * b;
            if GRADIENTS {
                let s = -kernel.slope * (a2 - b2) / (q + tiny);
                slope[lane] = s;
                gradient[0][lane] += s * dx;
                gradient[1][lane] += s * dy;
                gradient[2][lane] += s * dz;
                squares[lane] += s * s * r2;
            }
        }
    }
    Row {
        density: lane_sum(density),
        gradient: Vec4([
            lane_sum(gradient[0]),
            lane_sum(gradient[1]),
            lane_sum(gradient[2]),
            R::ZERO,
        ]),
        squares: lane_sum(squares),
    }
}

#[inline(always)]
fn lane_sum<R: Real>(v: [R; LANES]) -> R {
    ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Cells, lists};

    #[test]
    fn all_widths_of_vectors_give_the_same_bits() {
        let spacing = 0.1;
        let number = |k: usize| ((k * 7919) % 1009) as f32 / 1009.0;
        let position: Vec<Vec4<f32>> = (0..300)
            .map(|k| Vec4([number(3 * k), number(3 * k + 1), number(3 * k + 2), 0.0]))
            .map(|x| x.scaled(0.6))
            .collect();
        let id: Vec<u64> = (0..300).collect();
        let (cells, order) = Cells::new(&position, &id, 0.2);
        let mut sorted: Vec<Vec4<f32>> = order.iter().map(|&i| position[i as usize]).collect();
        sorted.push(padding());
        let mut chunks = Vec::new();
        lists(&cells, &sorted, 0.2, &mut chunks);
        let multiplier: Vec<f32> = (0..300).map(number).collect();
        let (zero, active) = (vec![Vec4::ZERO; 300], vec![true; 300]);
        let kernel = Kernel::new::<3>(spacing);
        let mut found = Vec::new();
        for width in Width::available() {
            let mut list = chunks[0].clone();
            let mut rows = vec![Row::default(); 300];
            rows_of::<f32, true>(width, &kernel, &sorted, 0, &mut list, &mut rows);
            let mut at = sorted.clone();
            for (x, l) in at.iter_mut().zip(&multiplier) {
                x.0[3] = -l;
            }
            at[300].0[3] = 0.0;
            let mut force = vec![Vec4::ZERO; 301];
            forces_of::<f32>(width, &at, &multiplier, 0, &list, &zero, &mut force[..300]);
            let mut result = vec![0.0; 300];
            products_of::<f32>(width, &at, &force, (0, &zero, &active), &list, &mut result);
            let bits: Vec<u32> = rows
                .iter()
                .flat_map(|row| row.gradient.0.into_iter().chain([row.density, row.squares]))
                .chain(force.iter().flat_map(|f| f.0))
                .chain(result)
                .map(f32::to_bits)
                .collect();
            found.push(bits);
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
        assert!(found[0].iter().any(|bits| *bits != 0));
    }
}
