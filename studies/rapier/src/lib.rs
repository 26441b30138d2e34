//! The same scenes of rigid bodies in Meniscus and in rapier, and one measure of position errors for both.

pub mod measure;
pub mod meniscus;
pub mod peer;
pub mod scene;

use scene::Placed;

/// A simulation of a scene.
pub trait Engine {
    /// Advances by one step.
    fn step(&mut self);

    /// Where the bodies of the scene are, in its order.
    fn placed(&self) -> Vec<Placed>;

    /// Distance between two bodies at rest.
    fn rest_distance(&self, a: usize, b: usize) -> f64;

    /// Whether every contact problem of the last step was solved to its tolerance, and the largest residual in m/s;
    /// `None` if the engine does not say.
    fn residual(&self) -> Option<(bool, f64)> {
        None
    }
}
