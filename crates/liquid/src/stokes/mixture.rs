//! Liquids of different viscosity in one domain: shares of the materials in cells, and the viscosity that they have together.
//!
//! The logarithm of the viscosity of a mixture is the mean of those of its parts, weighted by volume.

use rayon::prelude::*;

use super::fractions::Geometry;
use super::rheology::Rheology;
use super::system::Viscosity;
use super::{EDGE_KINDS, edge_axes, edge_kinds};
use crate::grid::tiles::Tiles;
use crate::particles::Particles;
use crate::projection::Faces;

/// Largest ratio of viscosities in one problem; thinner liquid counts as this much thinner than the thickest. With sharper
/// jumps the solve takes many times as many iterations.
pub(crate) const MOST_CONTRAST: f64 = 1e4;

/// The materials of a liquid on the grid.
pub(crate) struct Mixture<const D: usize> {
    materials: Vec<Rheology>,
    /// Shares of all materials in a cell, cell after cell; empty if there is one material.
    shares: Vec<f32>,
}

impl<const D: usize> Mixture<D> {
    /// From the particles of a step.
    pub fn of(materials: &[Rheology], faces: &Faces<'_, D>) -> Self {
        let shares = match &faces.particles.material {
            Some(_) if materials.len() > 1 => shares(materials.len(), faces),
            _ => Vec::new(),
        };
        Self {
            materials: materials.to_vec(),
            shares,
        }
    }

    /// Whether no viscosity depends on the flow.
    pub fn is_newtonian(&self) -> bool {
        self.materials.iter().all(Rheology::is_newtonian)
    }

    /// Viscosity at a shear rate, and the share of the way that its logarithm moves in a round.
    fn viscosity(&self, cells: &[usize], rate: f64) -> (f64, f64) {
        if self.shares.is_empty() {
            let material = &self.materials[0];
            return (material.viscosity(rate), material.relaxation());
        }
        let viscosity = |material: &Rheology| material.viscosity(rate);
        let thickest = self.materials.iter().map(viscosity).fold(0.0, f64::max);
        let least = (thickest / MOST_CONTRAST).max(f64::MIN_POSITIVE);
        let count = self.materials.len();
        let (mut logarithm, mut index) = (0.0, 0.0);
        for (k, material) in self.materials.iter().enumerate() {
            let sum: f32 = cells
                .iter()
                .map(|&cell| self.shares[cell * count + k])
                .sum();
            let share = f64::from(sum) / cells.len() as f64;
            logarithm += share * viscosity(material).max(least).ln();
            index += share * material.flow_index.max(1.0);
        }
        (logarithm.exp(), 1.0 / index.max(1.0))
    }

    /// Viscosity at rest, if it does not depend on the flow.
    pub fn constant(&self, tiles: &Tiles<D>) -> Viscosity {
        let cells = (0..tiles.field_len()).into_par_iter().with_min_len(1024);
        let cell = cells.map(|index| self.viscosity(&[index], 0.0).0);
        Viscosity {
            cell: cell.collect(),
            edge: None,
        }
    }

    /// Viscosity at shear rates; with a viscosity of the last round, the relaxed next one.
    pub fn at(&self, tiles: &Tiles<D>, last: Option<&Viscosity>, rates: &Viscosity) -> Viscosity {
        let next = |cells: &[usize], last: Option<f64>, rate: f64| {
            let (viscosity, theta) = self.viscosity(cells, rate);
            match last {
                Some(last) => last.powf(1.0 - theta) * viscosity.powf(theta),
                None => viscosity,
            }
        };
        let all = || (0..tiles.field_len()).into_par_iter().with_min_len(512);
        let cell = all().map(|i| next(&[i], last.map(|last| last.cell[i]), rates.cell[i]));
        let edge = rates.edge.as_ref().map(|rates| {
            std::array::from_fn(|kind| {
                if kind >= edge_kinds(D) {
                    return Vec::new();
                }
                let (a, b) = edge_axes(kind);
                let last = last.and_then(|last| last.edge.as_ref());
                let edges = all().map(|i| {
                    let below = tiles.below(i, a);
                    let cells = [i, below, tiles.below(i, b), tiles.below(below, b)];
                    next(&cells, last.map(|last| last[kind][i]), rates[kind][i])
                });
                edges.collect()
            })
        });
        Viscosity {
            cell: cell.collect(),
            edge,
        }
    }
}

/// Raises the viscosity where it is less than that of the thickest liquid by more than the largest contrast.
pub(crate) fn limit_contrast<const D: usize>(geometry: &Geometry<D>, viscosity: &mut Viscosity) {
    let tiles = &geometry.tiles;
    let wet = (0..tiles.cells()).into_par_iter().with_min_len(1024);
    let thickest = wet
        .filter(|&index| {
            geometry.liquid[index << D..][..1 << D]
                .iter()
                .any(|&l| l > 0.0)
        })
        .map(|index| viscosity.cell[index])
        .reduce(|| 0.0, f64::max);
    let least = thickest / MOST_CONTRAST;
    let empty: &mut [Vec<f64>; EDGE_KINDS] = &mut Default::default();
    let edges = viscosity.edge.as_mut().unwrap_or(empty).iter_mut();
    for field in edges.chain([&mut viscosity.cell]) {
        let all = field.par_iter_mut().with_min_len(4096);
        all.for_each(|v| *v = v.max(least));
    }
}

/// Shares of the materials around the centres of cells.
fn shares<const D: usize>(count: usize, faces: &Faces<'_, D>) -> Vec<f32> {
    let Particles { material, .. } = faces.particles;
    let (tiles, bins) = (faces.tiles, faces.bins);
    let Some(material) = material else {
        return Vec::new();
    };
    let mut number = vec![0.0f32; tiles.field_len() * count];
    let of_cells = number[..tiles.cells() * count].par_chunks_mut(count);
    of_cells
        .enumerate()
        .with_min_len(256)
        .for_each(|(index, number)| {
            for &material in &material[bins.of(index)] {
                number[usize::from(material)] += 1.0;
            }
        });
    // Particles count by half their share one cell away: (1/4, 1/2, 1/4) along every axis.
    for axis in 0..D {
        let mut spread = number.clone();
        let of_cells = spread[..tiles.cells() * count].par_chunks_mut(count);
        of_cells
            .enumerate()
            .with_min_len(256)
            .for_each(|(index, to)| {
                for beside in [tiles.below(index, axis), tiles.above(index, axis)] {
                    let from = &number[beside * count..][..count];
                    to.iter_mut()
                        .zip(from)
                        .for_each(|(to, from)| *to += 0.5 * from);
                }
            });
        number = spread;
    }
    let mut all = vec![0usize; count];
    for &material in material {
        all[usize::from(material)] += 1;
    }
    let particles = material.len().max(1) as f32;
    let cells = number.par_chunks_mut(count).with_min_len(1024);
    cells.for_each(|shares| {
        let sum: f32 = shares.iter().sum();
        for (share, &all) in shares.iter_mut().zip(&all) {
            // Where no particle is near, as the liquid on average.
            *share = match sum > 0.0 {
                true => *share / sum,
                false => all as f32 / particles,
            };
        }
    });
    number
}
