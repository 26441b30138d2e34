//! What the volume should be.

/// Nothing but drops encloses less than this share of the volume that its particles stand for, ...
const LEAST_SHARE: f64 = 0.5;
/// ... or more than this.
const LARGEST_SHARE: f64 = 2.0;

/// What was there at the first step with some volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    /// The volume inside the surface.
    pub volume: f64,
    /// How many particles enclosed it.
    pub particles: usize,
}

impl Budget {
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
