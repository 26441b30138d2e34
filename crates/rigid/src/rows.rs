//! Rows of the contact problem: `y = J v + bias`, complementary to an impulse within bounds.

use crate::contact::Contact;
use crate::linear::{Angular, cross, dot, scale, sub, tangents};
use crate::settings::Cone;
use crate::state::Kinetic;

/// A row of `J`, with its bias and the bounds of its impulse.
///
/// `J v = linear . (v_a - v_b) + angular_a . w_a + angular_b . w_b`, and the impulse acts by `J'`: `linear` on the first
/// body, its negative on the second. [TB20 (10), (13)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<const D: usize> {
    /// First body.
    pub a: usize,
    /// Second body; `None` is the world.
    pub b: Option<usize>,
    /// Direction of the impulse.
    pub linear: [f64; D],
    /// Its moment about the first body's centre of mass.
    pub angular_a: Angular,
    /// Its negative's moment about the second body's centre of mass.
    pub angular_b: Angular,
    /// Added to `J v`.
    pub bias: f64,
    /// Lower bound of the impulse.
    pub lower: f64,
    /// Upper bound of the impulse.
    pub upper: f64,
}

impl<const D: usize> Row<D> {
    /// `J v` for the velocities of two bodies.
    pub(crate) fn speed(&self, a: &Kinetic<D>, b: Option<&Kinetic<D>>) -> f64 {
        let mut speed = dot(self.linear, a.twist.linear) + dot(self.angular_a, a.twist.angular);
        if let Some(b) = b {
            speed += dot(self.angular_b, b.twist.angular) - dot(self.linear, b.twist.linear);
        }
        speed
    }
}

/// The row of an impulse along `direction` at a point of the world.
pub(crate) fn point_row<const D: usize>(
    (a, b): (usize, usize),
    kinetics: &[Kinetic<D>],
    point: [f64; D],
    direction: [f64; D],
) -> Row<D> {
    Row {
        a,
        b: Some(b),
        linear: direction,
        angular_a: cross(sub(point, kinetics[a].center), direction),
        angular_b: scale(cross(sub(point, kinetics[b].center), direction), -1.0),
        bias: 0.0,
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    }
}

/// Rows of a contact: the normal one, then `D - 1` tangents.
///
/// DEVIATION [TB20 (16)]: in place of a term that pushes overlapping bodies apart, a row acts before they touch: the gap
/// that is left above the one at rest may be used up in this step. Overlap is corrected apart from the velocities.
pub(crate) fn contact_rows<const D: usize>(
    contact: &Contact<D>,
    kinetics: &[Kinetic<D>],
    cone: Cone,
    dt: f64,
) -> [Row<D>; 3] {
    let (a, b) = (contact.a, contact.b);
    let row = |direction| point_row((a, b), kinetics, contact.point, direction);
    let mut normal = row(contact.normal);
    normal.bias = (contact.gap - contact.resting_gap).max(0.0) / dt;
    normal.lower = 0.0;
    let [mut t1, mut t2] = tangents(contact.normal);
    if D == 3 && cone == Cone::Pyramid {
        // The pyramid is wider along its diagonals: one tangent follows the sliding direction.
        let sliding = sub(
            kinetics[a].velocity(contact.point),
            kinetics[b].velocity(contact.point),
        );
        let along = dot(sliding, contact.normal);
        let across: [f64; D] = std::array::from_fn(|i| sliding[i] - along * contact.normal[i]);
        let speed = crate::linear::norm(across);
        if speed > 1e-9 * (1.0 + crate::linear::norm(sliding)) {
            t1 = scale(across, 1.0 / speed);
            t2 = crate::linear::lower(cross(contact.normal, t1));
        }
    }
    [normal, row(t1), row(t2)]
}
