//! Target of the liquid's volume.

use super::{Liquid, health};
use crate::particles::position_correction::DRIFT_TIME;
use crate::report::{Crowded, Phases};

/// Nothing but drops encloses less than this share of the volume that its particles stand for, ...
const LEAST_SHARE: f64 = 0.5;
/// ... or more than this.
const LARGEST_SHARE: f64 = 2.0;

/// What was there at the first step, or at the first with some volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VolumeTarget {
    /// The volume inside the surface.
    pub volume: f64,
    /// How many particles enclosed it.
    pub particles: usize,
}

impl VolumeTarget {
    /// That of a scene which begins without liquid: all that comes counts as what it stands for. The surface of the first
    /// drops encloses half of it at times, and the pool would lack the rest for ever.
    pub const EMPTY: Self = Self {
        volume: 0.0,
        particles: 0,
    };

    /// The first step finds this volume.
    pub fn new(volume: f64, particles: usize, particle_volume: f64) -> Self {
        let own = particles as f64 * particle_volume;
        Self {
            volume: volume.clamp(LEAST_SHARE * own, LARGEST_SHARE * own),
            particles,
        }
    }

    /// What so many particles should enclose. What came since the first step counts as what it stands for: the first
    /// drops of an empty scene say nothing of the pool to come. What was there then counts as it did, as far as it
    /// is not gone.
    pub fn expected(&self, particles: usize, particle_volume: f64) -> f64 {
        match particles.checked_sub(self.particles) {
            Some(new) => self.volume + new as f64 * particle_volume,
            None => self.volume * particles as f64 / self.particles as f64,
        }
    }
}

/// Volumes of the particles of a step, before they move.
#[derive(Clone, Debug)]
pub(crate) struct VolumeMeasure {
    /// Volume inside the surface, outside solids.
    pub volume: f64,
    /// Volume of liquid that the level set does not see.
    pub thin: f64,
    /// Volume of particles beyond what fits into their cells, and volume deep inside that lacks particles.
    pub compressed: f64,
    pub diluted: f64,
    /// Target from this step on.
    pub target: Option<VolumeTarget>,
    /// What the volume inside the surface should be.
    pub expected: f64,
    /// Volume that the particles stand for.
    pub own: f64,
    /// Recent mean of the relative deviation from the target, this step included.
    pub drift: f64,
    /// The most overfull cell.
    pub crowded: Option<Crowded>,
}

impl<const D: usize> Liquid<D> {
    /// Measures the volume and its drift.
    pub(crate) fn measure_volume(&self, dt: f64, phases: &mut dyn Phases) -> VolumeMeasure {
        phases.begin("measure");
        let (grid, settings) = (&self.grid, &self.settings);
        let volume = grid.level.volume(&grid.tiles, &grid.cut, settings.dx);
        let (particles, each) = (self.particles.len(), settings.particle_volume());
        // Spray alone has particles and no volume: there is nothing yet to drift from.
        let first = || (volume > 0.0).then(|| VolumeTarget::new(volume, particles, each));
        let target = self.volume_target.or_else(first);
        let expected = target.map_or(0.0, |target| target.expected(particles, each));
        let health = health::measure(
            &grid.tiles,
            &grid.bins,
            &grid.cut,
            &grid.level.phi,
            settings,
        );
        // Liquid below the grid's resolution is not lost: if it counted as lost, splashes would swell the rest.
        let drift_now = match target {
            Some(_) => (volume + health.thin_volume) / expected - 1.0,
            None => 0.0,
        };
        VolumeMeasure {
            volume,
            thin: health.thin_volume,
            compressed: health.compressed_volume,
            diluted: health.diluted_volume,
            target,
            expected,
            own: particles as f64 * each,
            drift: self.drift + (drift_now - self.drift) * (dt / DRIFT_TIME).min(1.0),
            crowded: health.crowded,
        }
    }
}
