//! Rigid bodies as a liquid of particles moves them: their inertia and contacts are those of the rigid crate.

use meniscus_projective::{Freedoms, Movers};
use meniscus_rigid::{self as rigid, Bodies, StagedStep, Wrench, freedoms};
use meniscus_shapes::{Pose, Shape};

/// Contacts that were missed before are solved again at most so often.
const MOST_ATTEMPTS: usize = 8;

/// Bodies within a step.
pub struct PushedBodies<'a, const D: usize> {
    bodies: &'a Bodies<D>,
    step: StagedStep<D>,
    /// Bodies that the liquid touches, and the free ones of them.
    wet: Vec<usize>,
    free: Vec<usize>,
    /// Impulses of the liquid on the free bodies, one after another.
    impulses: Vec<f64>,
    end: Option<Result<(Bodies<D>, rigid::StepReport<D>), rigid::StepError>>,
}

impl<'a, const D: usize> PushedBodies<'a, D> {
    /// A step of `dt` seconds of bodies of which `wet` touch liquid. Gravity acts for `kick` seconds.
    ///
    /// # Errors
    /// As [`Bodies::begin_step`].
    pub fn new(
        bodies: &'a Bodies<D>,
        wet: Vec<usize>,
        dt: f64,
        kick: f64,
        forces: &[Wrench<D>],
    ) -> Result<Self, rigid::StepError> {
        let mut step = bodies.begin_step(dt, kick, forces)?;
        let free = wet.iter().copied().filter(|&body| step.is_free(body));
        let free: Vec<usize> = free.collect();
        step.assemble(bodies, &free);
        Ok(Self {
            bodies,
            step,
            wet,
            impulses: vec![0.0; free.len() * freedoms::<D>()],
            free,
            end: None,
        })
    }

    /// The bodies at the end of the step, if it came to it.
    pub fn end(self) -> Option<Result<(Bodies<D>, rigid::StepReport<D>), rigid::StepError>> {
        self.end
    }

    fn respond_to_impulses(&mut self) -> Vec<f64> {
        let mut velocities = vec![0.0; self.impulses.len()];
        self.step.respond(&self.impulses, &mut velocities);
        velocities
    }
}

impl<'a, const D: usize> Movers<'a, D> for PushedBodies<'a, D> {
    fn count(&self) -> usize {
        self.wet.len()
    }

    fn shape(&self, body: usize) -> &'a Shape<D> {
        &self.bodies.body(self.wet[body]).shape
    }

    fn pose(&self, body: usize) -> Pose<D> {
        self.bodies.pose(self.wet[body])
    }

    fn center(&self, body: usize) -> [f64; D] {
        self.step.center(self.wet[body])
    }

    fn inverse_inertia(&self, body: usize) -> [Freedoms; 6] {
        match self.step.is_free(self.wet[body]) {
            true => self.step.inverse_inertia(self.wet[body]),
            false => [[0.0; 6]; 6],
        }
    }

    fn respond(&mut self, impulses: &[Freedoms], velocities: &mut [Freedoms]) {
        let count = freedoms::<D>();
        for (k, body) in self.free.iter().enumerate() {
            // Both lists rise.
            let place = self.wet.partition_point(|wet| wet < body);
            self.impulses[k * count..][..count].copy_from_slice(&impulses[place][..count]);
        }
        let found = self.respond_to_impulses();
        let mut free = 0;
        for (body, velocity) in self.wet.iter().zip(velocities) {
            if self.free.get(free) == Some(body) {
                velocity[..count].copy_from_slice(&found[free * count..][..count]);
                free += 1;
            } else {
                let twist = self.step.start(*body);
                velocity[..D].copy_from_slice(&twist.linear);
                match D {
                    2 => velocity[2] = twist.angular[2],
                    _ => velocity[3..].copy_from_slice(&twist.angular),
                }
            }
        }
    }

    fn finish(&mut self) -> bool {
        let mut after = self.bodies.clone();
        for _ in 0..MOST_ATTEMPTS {
            match after.finish_step(&mut self.step) {
                Ok(Some(report)) => {
                    self.end = Some(Ok((after, report)));
                    return true;
                }
                Ok(None) => {
                    self.step.assemble(&after, &self.free);
                    self.respond_to_impulses();
                }
                Err(error) => {
                    self.end = Some(Err(error));
                    return false;
                }
            }
        }
        false
    }
}
