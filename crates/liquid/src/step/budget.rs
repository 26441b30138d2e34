//! What the volume should be.

/// Nothing but drops encloses less than this share of the volume that its particles stand for, ...
const LEAST_SHARE: f64 = 0.5;
/// ... or more than this.
const LARGEST_SHARE: f64 = 2.0;

/// How the volume inside the surface and the volume that the particles stand for compared at the first step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    /// The former as a share of the latter.
    pub share: f64,
    /// How many particles there were.
    pub particles: usize,
}

impl Budget {
    /// The first step finds this volume.
    pub fn new(volume: f64, particles: usize, particle_volume: f64) -> Self {
        let share = volume / (particles as f64 * particle_volume);
        Self {
            share: share.clamp(LEAST_SHARE, LARGEST_SHARE),
            particles,
        }
    }

    /// What so many particles should enclose. What came since the first step counts as what it stands for: the first
    /// drops of an empty scene say nothing of the pool to come. What was there then counts as it did, as far as it
    /// is not gone.
    pub fn expected(&self, particles: usize, particle_volume: f64) -> f64 {
        let old = particles.min(self.particles) as f64;
        (particles as f64 + (self.share - 1.0) * old) * particle_volume
    }
}
