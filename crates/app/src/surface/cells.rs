//! Cell lists: particles sorted by cell, for sums over neighbourhoods.

use rayon::slice::ParallelSliceMut;

/// Cells along the side of a block.
pub const SIDE: i32 = 8;

/// Particles sorted by block and, within a block, by cell.
pub struct Cells<const D: usize> {
    /// Lowest cells of the blocks with particles, in lexicographic order.
    pub blocks: Vec<[i32; D]>,
    /// Start of every cell's particles in `order`, block after block, and the end of the last.
    starts: Vec<u32>,
    /// Particle indices by cell.
    order: Vec<u32>,
}

impl<const D: usize> Cells<D> {
    const CELLS: usize = (SIDE as usize).pow(D as u32);

    /// Sorts positions that are given in cells.
    pub fn new(positions: &[[f32; D]]) -> Self {
        let key = |x: &[f32; D]| {
            let cell = x.map(|c| c.floor() as i32);
            let block = cell.map(|c| c.div_euclid(SIDE) * SIDE);
            let local = (0..D).fold(0, |at, a| at * SIDE + (cell[a] - block[a]));
            (block, local as u32)
        };
        let mut keyed: Vec<(([i32; D], u32), u32)> = positions
            .iter()
            .zip(0..)
            .map(|(x, i)| (key(x), i))
            .collect();
        keyed.par_sort_unstable();
        let mut blocks = Vec::new();
        let mut starts: Vec<u32> = Vec::new();
        for (at, ((block, local), _)) in keyed.iter().enumerate() {
            if blocks.last() != Some(block) {
                starts.resize(blocks.len() * Self::CELLS, at as u32);
                blocks.push(*block);
            }
            let cell = (blocks.len() - 1) * Self::CELLS + *local as usize;
            starts.resize(starts.len().max(cell + 1), at as u32);
        }
        starts.resize(blocks.len() * Self::CELLS + 1, keyed.len() as u32);
        Cells {
            blocks,
            starts,
            order: keyed.into_iter().map(|(_, i)| i).collect(),
        }
    }

    /// Permutes values listed block by block, in the order of [`Window::each`], into the order of the particles.
    pub fn unsorted<T: Copy + Default>(&self, by_block: Vec<Vec<T>>) -> Vec<T> {
        let mut all = vec![T::default(); self.order.len()];
        for (&i, value) in self.order.iter().zip(by_block.into_iter().flatten()) {
            all[i as usize] = value;
        }
        all
    }

    /// Particles of a block, given by its index in `blocks`.
    pub fn members(&self, slot: usize) -> &[u32] {
        let start = |slot: usize| self.starts[slot * Self::CELLS] as usize;
        &self.order[start(slot)..start(slot + 1)]
    }

    fn slot(&self, block: [i32; D]) -> Option<usize> {
        self.blocks.binary_search(&block).ok()
    }

    /// Lists the particles in the cells within `margin` cells of a block.
    pub fn window(
        &self,
        positions: &[[f32; D]],
        block: [i32; D],
        margin: i32,
        window: &mut Window<D>,
    ) {
        window.block = block;
        window.margin = margin;
        window.particles.clear();
        window.places.clear();
        window.starts.clear();
        let side = SIDE + 2 * margin;
        // Blocks are looked up once, not for every row.
        let reach = (margin + SIDE - 1) / SIDE;
        let span = 2 * reach + 1;
        let slots: Vec<Option<usize>> = (0..span.pow(D as u32))
            .map(|k| {
                let offset = digits::<D>(k, span);
                self.slot(std::array::from_fn(|a| {
                    block[a] + (offset[a] - reach) * SIDE
                }))
            })
            .collect();
        for row in 0..side.pow(D as u32 - 1) {
            let mut offset = digits::<D>(row * side, side).map(|c| c - margin);
            while offset[D - 1] < SIDE + margin {
                let local = offset.map(|c| c.rem_euclid(SIDE));
                let count = (SIDE - local[D - 1]).min(SIDE + margin - offset[D - 1]) as usize;
                let near = offset.map(|c| c.div_euclid(SIDE) + reach);
                let here = window.particles.len() as u32;
                match slots[number(near, span)] {
                    None => window.starts.extend((0..count).map(|_| here)),
                    Some(slot) => {
                        let first = slot * Self::CELLS + number(local, SIDE);
                        let starts = &self.starts[first..=first + count];
                        let (from, to) = (starts[0], starts[count]);
                        let shifted = starts[..count].iter().map(|s| s - from + here);
                        window.starts.extend(shifted);
                        let listed = &self.order[from as usize..to as usize];
                        window.particles.extend_from_slice(listed);
                    }
                }
                offset[D - 1] += count as i32;
            }
        }
        window.starts.push(window.particles.len() as u32);
        let places = window.particles.iter().map(|&i| positions[i as usize]);
        window.places.extend(places);
    }
}

/// Particles of a block and of the cells around it.
pub struct Window<const D: usize> {
    block: [i32; D],
    margin: i32,
    starts: Vec<u32>,
    /// Particle indices, by rows of cells along the last axis.
    pub particles: Vec<u32>,
    /// Positions in cells.
    pub places: Vec<[f32; D]>,
}

impl<const D: usize> Default for Window<D> {
    fn default() -> Self {
        Window {
            block: [0; D],
            margin: 0,
            starts: Vec::new(),
            particles: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<const D: usize> Window<D> {
    fn index(&self, cell: [i32; D]) -> usize {
        let side = SIDE + 2 * self.margin;
        let low = self.block;
        number::<D>(
            std::array::from_fn(|a| cell[a] - low[a] + self.margin),
            side,
        )
    }

    /// Computes a value for every particle of the block itself, by cell. `value` gets the index of the particle in this window and
    /// that of its cell.
    pub fn each<T>(&self, mut value: impl FnMut(&Self, usize, usize) -> T) -> Vec<T> {
        let mut all = Vec::new();
        for k in 0..SIDE.pow(D as u32) {
            let local = digits::<D>(k, SIDE);
            let cell = self.index(std::array::from_fn(|a| self.block[a] + local[a]));
            for p in self.starts[cell]..self.starts[cell + 1] {
                all.push(value(self, p as usize, cell));
            }
        }
        all
    }

    /// Calls `visit` with the indices in this window of all particles in cells within `radius` of `x`.
    #[inline(always)]
    pub fn near(&self, x: [f32; D], radius: f32, mut visit: impl FnMut(usize)) {
        let low = x.map(|c| (c - radius).floor() as i32);
        let high = x.map(|c| (c + radius).floor() as i32);
        let along = (high[D - 1] - low[D - 1] + 1) as usize;
        let mut cell = low;
        loop {
            let first = self.index(cell);
            for q in self.starts[first]..self.starts[first + along] {
                visit(q as usize);
            }
            let Some(a) = (0..D - 1).find(|&a| cell[a] < high[a]) else {
                return;
            };
            cell[a] += 1;
            cell[..a].copy_from_slice(&low[..a]);
        }
    }

    /// Indices of cells with at least `least` particles whose neighbours all have as many.
    pub fn surrounded(&self, least: f64) -> Vec<bool> {
        let side = (SIDE + 2 * self.margin) as usize;
        let counts = self.starts.windows(2).map(|w| w[1] - w[0]);
        let mut full: Vec<bool> = counts.map(|n| f64::from(n) >= least).collect();
        let mut stride = 1;
        for _ in 0..D {
            let before = full.clone();
            for i in 0..before.len() {
                let along = i / stride % side;
                full[i] = (1..side - 1).contains(&along)
                    && before[i]
                    && before[i - stride]
                    && before[i + stride];
            }
            stride *= side;
        }
        full
    }
}

/// Squared distance between two points.
#[inline(always)]
pub fn square<const D: usize>(x: [f32; D], y: [f32; D]) -> f32 {
    (0..D).map(|a| (x[a] - y[a]) * (x[a] - y[a])).sum()
}

/// Digits of `k` in base `n`, the last axis fastest.
pub fn digits<const D: usize>(mut k: i32, n: i32) -> [i32; D] {
    let mut all = [0; D];
    for a in (0..D).rev() {
        all[a] = k % n;
        k /= n;
    }
    all
}

/// Number with these digits in base `n`, the last axis fastest.
pub fn number<const D: usize>(digits: [i32; D], n: i32) -> usize {
    digits.iter().fold(0, |k, &d| k * n + d) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_exactly_the_particles_around_a_block() {
        let positions: Vec<[f32; 2]> = (0..400)
            .map(|k| {
                [
                    (k * 37 % 401) as f32 * 0.07 - 6.0,
                    (k * 53 % 397) as f32 * 0.06 - 5.0,
                ]
            })
            .collect();
        let cells = Cells::new(&positions);
        let mut window = Window::default();
        for &block in &cells.blocks {
            cells.window(&positions, block, 2, &mut window);
            let within = |x: &[f32; 2]| {
                (0..2).all(|a| {
                    let low = (block[a] - 2) as f32;
                    (low..low + 12.0).contains(&x[a])
                })
            };
            let mut listed = window.particles.clone();
            listed.sort_unstable();
            let expected: Vec<u32> = (0..400)
                .filter(|&i| within(&positions[i as usize]))
                .collect();
            assert_eq!(listed, expected);
            window.each(|window, p, _| {
                let x = window.places[p];
                let mut near = 0;
                window.near(x, 2.0, |q| {
                    near += usize::from(square(x, window.places[q]) < 4.0)
                });
                let expected = positions.iter().filter(|&&y| square(x, y) < 4.0).count();
                assert_eq!(near, expected);
            });
        }
        let by_block: Vec<Vec<u32>> = cells
            .blocks
            .iter()
            .map(|&block| {
                cells.window(&positions, block, 1, &mut window);
                window.each(|window, p, _| window.particles[p])
            })
            .collect();
        assert_eq!(cells.unsorted(by_block), (0..400).collect::<Vec<u32>>());
    }
}
