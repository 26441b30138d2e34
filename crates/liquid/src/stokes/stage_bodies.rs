//! Bodies on the levels of the cycle.

use super::bodies::BodyFaces;
use super::kernels::Pair;
use super::level::Level;
use super::motion::{Motion, inverse};

/// The bodies on one level.
pub(super) struct StageBodies {
    pub faces: BodyFaces,
    /// Rows of the bodies without their masses.
    own: Vec<f64>,
    /// Mass of `y`, relative to a cell of this level.
    pub mass: f64,
    pub motion: Motion,
    /// Inverse of the rows of the bodies alone.
    pub inverse: Vec<f64>,
    pub b: Vec<f64>,
    pub y: Vec<f64>,
    /// `L y`
    v: Vec<f64>,
}

impl StageBodies {
    pub fn new<const D: usize>(faces: BodyFaces, level: &Level<D, f64>, mass: f64) -> Self {
        Self {
            own: faces.own_rows(level),
            faces,
            mass,
            motion: Motion::default(),
            inverse: Vec::new(),
            b: Vec::new(),
            y: Vec::new(),
            v: Vec::new(),
        }
    }

    pub fn set_motion(&mut self, motion: &Motion) {
        let rank = motion.rank;
        let mut matrix = motion.condensed(&self.own);
        (0..rank).for_each(|i| matrix[i * rank + i] += self.mass);
        self.inverse = inverse(matrix, rank);
        self.motion = motion.clone();
        self.b = vec![0.0; rank];
        self.reset();
    }

    pub fn reset(&mut self) {
        self.y = vec![0.0; self.motion.rank];
        self.v = vec![0.0; self.motion.start.len()];
    }

    /// What is left of the rows of the bodies.
    pub fn residual<const D: usize>(&self, level: &Level<D, f32>, x: &Pair<D, f32>) -> Vec<f64> {
        let pulled = self
            .motion
            .transposed(&self.faces.gradient(level, x, &self.v));
        let rows = self.b.iter().zip(pulled).zip(&self.y);
        rows.map(|((b, pulled), y)| b - pulled - self.mass * y)
            .collect()
    }

    /// Moves the bodies, and the faces with them.
    pub fn advance<const D: usize>(
        &mut self,
        change: &[f64],
        b: &mut Pair<D, f32>,
        x: &mut Pair<D, f32>,
    ) {
        self.y.iter_mut().zip(change).for_each(|(y, dy)| *y += dy);
        let moved = self.motion.apply(change);
        self.v.iter_mut().zip(&moved).for_each(|(v, dv)| *v += dv);
        self.faces
            .fluxes(&moved, |axis, index, mass, flux| match mass > 0.0 {
                true => b.t[axis][index] += (mass * flux) as f32,
                false => x.t[axis][index] += flux as f32,
            });
    }
}
