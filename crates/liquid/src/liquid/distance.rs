//! Signed distance to the liquid, from particles alone, for surface meshes and pictures.

use super::Liquid;
use crate::compiled::Compiled;
use crate::grid::tiles::{Coord, TILE, Tiles};
use crate::particles::Particles;
use crate::particles::gradient::Gradient;
use crate::settings::{Settings, SettingsError};
use crate::solids::SolidMotion;

/// The signed distance to the liquid at the centres of cells, negative inside, in blocks of cells around the liquid.
///
/// It is continued into solids, so that the surface meets a wall instead of bending away before it: a renderer clips
/// the surface at the solids.
#[derive(Clone, Debug)]
pub struct Distance<const D: usize> {
    tiles: Tiles<D>,
    phi: Vec<f32>,
    dx: f64,
    volume: f64,
}

impl<const D: usize> Distance<D> {
    /// Cells along the side of a block.
    pub const SIDE: usize = TILE as usize;

    /// The distance that a liquid of these particles has at `time`. Particles outside of the domain are left out.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn of_particles(
        settings: Settings<D>,
        positions: &[[f32; D]],
        solids: &dyn SolidMotion<D>,
        time: f64,
    ) -> Result<Self, SettingsError> {
        (Compiled::get().distance)(settings, positions, solids, time)
    }

    pub(crate) fn of_particles_impl(
        settings: Settings<D>,
        positions: &[[f32; D]],
        solids: &dyn SolidMotion<D>,
        time: f64,
    ) -> Result<Self, SettingsError> {
        let domain = settings.domain();
        let mut liquid = Liquid::new(settings)?;
        let inside = |x: &&[f32; D]| (0..D).all(|a| (0.0..=domain[a]).contains(&(x[a] as f64)));
        let position: Vec<[f32; D]> = positions.iter().filter(inside).copied().collect();
        liquid.particles = Particles {
            velocity: vec![[0.0; D]; position.len()],
            affine: vec![Gradient::NONE; position.len()],
            position,
            attributes: None,
            material: None,
        };
        liquid.time = time;
        let volume = liquid.volume(solids);
        Ok(Distance {
            dx: liquid.settings.dx,
            tiles: liquid.grid.tiles,
            phi: liquid.grid.level.phi,
            volume,
        })
    }

    /// Width of a cell in metres.
    pub fn dx(&self) -> f64 {
        self.dx
    }

    /// Volume of the liquid outside solids (area in 2D), as a run reports it.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// How many blocks there are. All cells elsewhere are air.
    pub fn blocks(&self) -> usize {
        self.tiles.len()
    }

    /// The lowest cell of a block.
    pub fn lowest_cell(&self, block: usize) -> Coord<D> {
        self.tiles.base(block)
    }

    /// The distance at the centre of a cell, in metres.
    pub fn at(&self, cell: Coord<D>) -> f64 {
        self.phi[self.tiles.index(cell)].into()
    }
}
