//! Particles that carry the liquid, and their order in memory.

pub mod advection;
pub mod attributes;
pub mod gradient;
pub mod position_correction;
pub mod rest;
pub mod seed;
pub mod sources;
pub mod transfer;

use rayon::prelude::*;

use crate::disjoint_slice::DisjointSlice;
use crate::grid::tiles::{Coord, Tiles, floor};
use crate::particles::attributes::Attributes;
use crate::particles::gradient::Gradient;

/// Positions in metres, velocities in m/s, and the velocity gradients that APIC carries.
///
/// Single precision is enough: a position is good to about 1e-5 of a cell at 128 cells, and sums over particles
/// are taken in double precision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles<const D: usize> {
    /// Positions in metres.
    pub position: Vec<[f32; D]>,
    /// Velocities in m/s.
    pub velocity: Vec<[f32; D]>,
    /// Velocity gradients.
    pub affine: Vec<Gradient<D>>,
    /// Identifiers, times of birth and sources, if they are kept.
    pub attributes: Option<Attributes>,
    /// Index of the material of each, where there is more than one.
    pub material: Option<Vec<u8>>,
}

impl<const D: usize> Particles<D> {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// True if there is no liquid.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Reserves capacity for exactly `more` particles.
    pub(crate) fn make_room(&mut self, more: usize) {
        self.position.reserve_exact(more);
        self.velocity.reserve_exact(more);
        self.affine.reserve_exact(more);
    }

    /// Adds a particle with zero velocity gradient.
    pub fn push(&mut self, position: [f64; D], velocity: [f64; D]) {
        self.position.push(position.map(|x| x as f32));
        self.velocity.push(velocity.map(|v| v as f32));
        self.affine.push(Gradient::NONE);
    }

    /// Keeps the particles at positions for which `wanted` is true, in their order.
    pub(crate) fn keep(&mut self, wanted: impl Fn([f64; D]) -> bool + Sync) {
        let all = self.position.par_iter().with_min_len(4096);
        let keep: Vec<bool> = all.map(|x| wanted(x.map(|x| x as f64))).collect();
        if keep.iter().all(|&k| k) {
            return;
        }
        fn retain<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            values.retain(|_| keep.next().is_none_or(|&k| k));
        }
        retain(&mut self.position, &keep);
        retain(&mut self.velocity, &keep);
        retain(&mut self.affine, &keep);
        if let Some(attributes) = &mut self.attributes {
            retain(&mut attributes.id, &keep);
            retain(&mut attributes.birth, &keep);
            retain(&mut attributes.source, &keep);
        }
        if let Some(material) = &mut self.material {
            retain(material, &keep);
        }
    }

    /// True if every number is finite.
    pub fn is_finite(&self) -> bool {
        let finite = |v: &[[f32; D]]| {
            v.par_iter()
                .with_min_len(4096)
                .all(|x| x.iter().all(|c| c.is_finite()))
        };
        finite(&self.position) && finite(&self.velocity)
    }
}

/// Cell of a point.
#[inline]
pub fn cell_of<const D: usize>(position: [f32; D], inverse_dx: f64) -> Coord<D> {
    position.map(|x| floor(x as f64 * inverse_dx))
}

/// Particles in the order of cells.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    /// First particle of every cell of every tile, and the number of particles at the end.
    starts: Vec<u32>,
    /// A number for every particle: while they are sorted its cell, then its place; afterwards the bits of what was
    /// noted about it.
    own: Vec<u32>,
    /// Where every particle went in the last sort; empty if all stayed.
    moved_to: Vec<u32>,
}

impl Bins {
    /// Particles of the cell with this index; none in the null tile.
    #[inline]
    pub fn of(&self, index: usize) -> std::ops::Range<usize> {
        match self.starts.get(index + 1) {
            Some(&end) => self.starts[index] as usize..end as usize,
            None => 0..0,
        }
    }

    /// Particles of a run of cells.
    #[inline]
    pub fn of_cells(&self, cells: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.starts[cells.start] as usize..self.starts[cells.end] as usize
    }

    /// Sorts the particles by cell. The order inside a cell is the one they had. What the scratch holds is lost.
    pub fn sort<const D: usize>(
        &mut self,
        particles: &mut Particles<D>,
        tiles: &Tiles<D>,
        dx: f64,
        scratch: &mut [Vec<f32>; D],
    ) {
        let inverse_dx = 1.0 / dx;
        let positions = particles.position.par_iter().with_min_len(4096);
        positions
            .map(|&x| tiles.index(cell_of(x, inverse_dx)) as u32)
            .collect_into_vec(&mut self.own);
        self.starts.clear();
        self.starts.reserve_exact(tiles.cells() + 2);
        self.starts.resize(tiles.cells() + 2, 0);
        // Counts are kept two places up, so that after the placement below every entry is the start of its cell.
        for &cell in &self.own {
            self.starts[cell as usize + 2] += 1;
        }
        for i in 2..self.starts.len() {
            self.starts[i] += self.starts[i - 1];
        }
        let mut in_order = true;
        for (particle, own) in self.own.iter_mut().enumerate() {
            let place = &mut self.starts[*own as usize + 1];
            *own = *place;
            in_order &= *own as usize == particle;
            *place += 1;
        }
        self.starts.pop();
        self.moved_to.clear();
        if in_order {
            return;
        }
        self.moved_to.reserve_exact(self.own.len());
        self.moved_to.extend_from_slice(&self.own);
        for component in scratch.iter_mut() {
            component.clear();
            component.reserve_exact(self.own.len());
            component.resize(self.own.len(), 0.0);
        }
        self.place(
            &mut particles.position,
            scratch,
            |&x| x,
            |x, moved| *x = moved,
        );
        self.place(
            &mut particles.velocity,
            scratch,
            |&v| v,
            |v, moved| *v = moved,
        );
        // Part after part, so that no second copy of all gradients is needed.
        let words = Gradient::<D>::WORDS;
        for first in (0..words).step_by(D) {
            self.place(
                &mut particles.affine,
                scratch,
                |affine| std::array::from_fn(|k| f32::from_bits(affine.word(first + k))),
                |affine, moved| {
                    for (k, word) in (first..words).zip(moved) {
                        affine.set_word(k, word.to_bits());
                    }
                },
            );
        }
        if let Some(attributes) = &mut particles.attributes {
            self.place_attributes(attributes, scratch);
        }
        if let Some(material) = &mut particles.material {
            self.place(
                material,
                scratch,
                |&material| std::array::from_fn(|_| f32::from(material)),
                |material, moved| *material = moved[0] as u8,
            );
        }
    }

    /// Sorts attributes, word after word.
    fn place_attributes<const D: usize>(
        &self,
        attributes: &mut Attributes,
        scratch: &mut [Vec<f32>; D],
    ) {
        let two = |a: u32, b: u32| -> [f32; D] {
            let words = [f32::from_bits(a), f32::from_bits(b), 0.0];
            std::array::from_fn(|k| words[k])
        };
        self.place(
            &mut attributes.id,
            scratch,
            |&id| two(id as u32, (id >> 32) as u32),
            |id, moved| *id = moved[0].to_bits() as u64 | (moved[1].to_bits() as u64) << 32,
        );
        self.place(
            &mut attributes.birth,
            scratch,
            |birth| two(birth.to_bits(), 0),
            |birth, moved| *birth = moved[0],
        );
        self.place(
            &mut attributes.source,
            scratch,
            |&source| two(source, 0),
            |source, moved| *source = moved[0].to_bits(),
        );
    }

    /// Undoes the last sort of the particles.
    pub fn restore_order<const D: usize>(&mut self, particles: &mut Particles<D>) {
        fn restore<T: Copy>(values: &mut [T], moved_to: &[u32]) {
            let sorted = values.to_vec();
            for (value, &place) in values.iter_mut().zip(moved_to) {
                *value = sorted[place as usize];
            }
        }
        let moved_to = std::mem::take(&mut self.moved_to);
        restore(&mut particles.position, &moved_to);
        restore(&mut particles.velocity, &moved_to);
        restore(&mut particles.affine, &moved_to);
        if let Some(attributes) = &mut particles.attributes {
            restore(&mut attributes.id, &moved_to);
            restore(&mut attributes.birth, &moved_to);
            restore(&mut attributes.source, &moved_to);
        }
        if let Some(material) = &mut particles.material {
            restore(material, &moved_to);
        }
    }

    /// Puts a part of every value where its particle belongs, by way of the scratch.
    fn place<const D: usize, T: Send + Sync>(
        &self,
        values: &mut [T],
        scratch: &mut [Vec<f32>; D],
        part: impl Fn(&T) -> [f32; D] + Sync,
        put: impl Fn(&mut T, [f32; D]) + Sync,
    ) {
        let moved = scratch
            .each_mut()
            .map(|component| DisjointSlice::new(component));
        let placed = values.par_iter().zip(&self.own).with_min_len(4096);
        placed.for_each(|(value, &place)| {
            for (component, value) in moved.iter().zip(part(value)) {
                // SAFETY: no two particles have the same place.
                unsafe { component.set(place as usize, value) };
            }
        });
        let values = values.par_iter_mut().enumerate().with_min_len(4096);
        values.for_each(|(i, value)| {
            put(value, std::array::from_fn(|a| scratch[a][i]));
        });
    }

    /// Stores a number for every particle, until they are sorted again. Tile by tile: `come_to` prepares for a tile.
    pub fn note<const D: usize, T: Send>(
        &mut self,
        tiles: &Tiles<D>,
        new: impl Fn() -> T + Sync + Send,
        come_to: impl Fn(&mut T, usize) + Sync,
        number: impl Fn(&T, usize) -> f32 + Sync,
    ) {
        let cells = Tiles::<D>::CELLS;
        let mut own = &mut self.own[..];
        let parts: Vec<_> = (0..tiles.len())
            .filter_map(|slot| {
                let first = self.starts[slot * cells] as usize;
                let count = self.starts[(slot + 1) * cells] as usize - first;
                let part = (slot, first, own.split_off_mut(..count)?);
                (count > 0).then_some(part)
            })
            .collect();
        let parts = parts.into_par_iter();
        parts.for_each_init(new, |ready, (slot, first, own)| {
            come_to(ready, slot);
            for (particle, own) in (first..).zip(own) {
                *own = number(ready, particle).to_bits();
            }
        });
    }

    /// The numbers stored for these particles.
    #[inline]
    pub fn noted(&self, particles: std::ops::Range<usize>) -> impl Iterator<Item = f32> {
        self.own[particles].iter().map(|&own| f32::from_bits(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_every_particle_and_puts_it_into_its_cell() {
        let mut particles = Particles::<2>::default();
        for i in 0..500u32 {
            let x = [
                (i * 7919 % 1000) as f64 * 0.01,
                (i * 104_729 % 1000) as f64 * 0.01,
            ];
            particles.push(x, [i as f64, 0.0]);
        }
        let mut tiles = Tiles::new([10, 10]);
        tiles.cover(particles.position.par_iter().map(|&x| cell_of(x, 1.0)), 2);
        let mut bins = Bins::default();
        bins.sort(&mut particles, &tiles, 1.0, &mut Default::default());
        let mut seen = 0;
        for index in 0..tiles.cells() {
            let cell = tiles.coord(index);
            for p in bins.of(index) {
                assert_eq!(cell_of(particles.position[p], 1.0), cell);
                seen += 1;
            }
            assert!(
                bins.of(index).map(|p| particles.velocity[p][0]).is_sorted(),
                "the order in a cell is kept"
            );
        }
        assert_eq!(seen, 500);
    }
}
