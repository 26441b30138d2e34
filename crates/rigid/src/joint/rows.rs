//! Rows of joints: equations between bodies, limits as inequalities, motors as equations with bounded impulses.

use meniscus_shapes::Pose;

use super::{Joint, JointFrame, JointKind, JointState, MotorTarget};
use crate::free_flight::{lifted, rotation_between};
use crate::linear::{
    Angular, add_scaled, apply3, cross, cross3, dot, lift, lower, norm, scale, sub, tangents,
    unit_or,
};
use crate::rows::Row;
use crate::state::Kinetic;

/// Rows of a joint in a step.
#[derive(Clone, Debug)]
pub(crate) struct JointRows<const D: usize> {
    pub rows: Vec<Row<D>>,
    /// Error of the position for each equation; zero for limits and motors.
    pub errors: Vec<f64>,
    /// Number of equations; limits and the motor follow.
    pub equations: usize,
    /// Index of the motor's row.
    pub motor: Option<usize>,
    /// Angle or position.
    pub coordinate: f64,
    /// Point at which forces act, in the world.
    pub point: [f64; D],
}

/// A joint between two poses.
struct Posed<'a, const D: usize> {
    joint: &'a Joint<D>,
    pose_a: Pose<D>,
    pose_b: Pose<D>,
    a: [f64; D],
    b: [f64; D],
    center_a: [f64; D],
    center_b: [f64; D],
    axis_a: Angular,
    axis_b: Angular,
}

impl<const D: usize> Posed<'_, D> {
    fn row(&self, linear: [f64; D], angular_a: Angular, angular_b: Angular) -> Row<D> {
        Row {
            a: self.joint.a,
            b: self.joint.b,
            linear,
            angular_a,
            angular_b,
            bias: 0.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }

    /// The row of an impulse along `direction` at a point of each body.
    fn linear(&self, direction: [f64; D], at_a: [f64; D], at_b: [f64; D]) -> Row<D> {
        let turn_a = cross(sub(at_a, self.center_a), direction);
        let turn_b = cross(sub(at_b, self.center_b), direction);
        self.row(direction, turn_a, scale(turn_b, -1.0))
    }

    /// The row of a torque about `axis`.
    fn angular(&self, axis: Angular) -> Row<D> {
        self.row([0.0; D], axis, scale(axis, -1.0))
    }

    /// Directions of the plane or of space.
    fn axes() -> impl Iterator<Item = [f64; D]> {
        (0..D).map(|axis| std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 }))
    }

    /// Axes about which bodies turn.
    fn turns() -> impl Iterator<Item = Angular> {
        (if D == 2 { 2..3 } else { 0..3 })
            .map(|axis| std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 }))
    }

    /// Rotation of the first body against the second since the joint was added, in world axes.
    fn turned(&self, frame: &JointFrame<D>) -> Angular {
        let expected = self.pose_b.rotation.compose(&frame.relative);
        rotation_between(&expected, &self.pose_a.rotation)
    }
}

/// Rows of a joint for the velocities of a step.
pub(crate) fn joint_rows<const D: usize>(
    joint: &Joint<D>,
    frame: &JointFrame<D>,
    state: &JointState,
    poses: [&Pose<D>; 2],
    kinetics: [&Kinetic<D>; 2],
    dt: f64,
) -> JointRows<D> {
    let mut made = position_rows(
        joint,
        frame,
        state,
        poses,
        kinetics.map(|kinetic| kinetic.center),
    );
    let q = made.coordinate;
    let drive = match made.rows.len() - made.equations {
        0 => return made,
        _ => made
            .rows
            .pop()
            .unwrap_or_else(|| unreachable!("there is a row behind the equations")),
    };
    if let Some([low, high]) = joint.limits {
        if low.is_finite() {
            made.rows.push(Row {
                bias: (q - low).max(0.0) / dt,
                lower: 0.0,
                ..drive
            });
        }
        if high.is_finite() {
            let reversed = Row {
                linear: scale(drive.linear, -1.0),
                angular_a: scale(drive.angular_a, -1.0),
                angular_b: scale(drive.angular_b, -1.0),
                ..drive
            };
            made.rows.push(Row {
                bias: (high - q).max(0.0) / dt,
                lower: 0.0,
                ..reversed
            });
        }
    }
    if let Some(motor) = joint.motor {
        let speed = match motor.target {
            MotorTarget::Speed(speed) => speed,
            MotorTarget::Position(goal) => (goal - q) / dt,
        };
        let most = motor.max_effort * dt;
        made.motor = Some(made.rows.len());
        made.rows.push(Row {
            bias: -speed,
            lower: -most,
            upper: most,
            ..drive
        });
    }
    made.errors.resize(made.rows.len(), 0.0);
    made
}

/// Equations of a joint with their errors; the row of the coordinate that a limit or motor acts on is the last.
pub(crate) fn position_rows<const D: usize>(
    joint: &Joint<D>,
    frame: &JointFrame<D>,
    state: &JointState,
    [pose_a, pose_b]: [&Pose<D>; 2],
    [center_a, center_b]: [[f64; D]; 2],
) -> JointRows<D> {
    let posed = Posed {
        joint,
        pose_a: *pose_a,
        pose_b: *pose_b,
        a: pose_a.apply(frame.point_a),
        b: pose_b.apply(frame.point_b),
        center_a,
        center_b,
        axis_a: apply3(&lifted(&pose_a.rotation), frame.axis_a),
        axis_b: apply3(&lifted(&pose_b.rotation), frame.axis_b),
    };
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    let apart = sub(posed.a, posed.b);
    let mut coordinate = 0.0;
    let mut drive = None;
    let mut equation = |row, error| {
        rows.push(row);
        errors.push(error);
    };
    match joint.kind {
        JointKind::Hinge { .. } => {
            Posed::<D>::axes()
                .for_each(|e| equation(posed.linear(e, posed.a, posed.b), dot(e, apart)));
            if D == 3 {
                let tilt = cross3(posed.axis_b, posed.axis_a);
                for t in tangents::<3>(posed.axis_b) {
                    equation(posed.angular(t), dot(t, tilt));
                }
            }
            let angle = dot(posed.turned(frame), posed.axis_b);
            coordinate = unwrapped(angle, state.coordinate);
            drive = Some(posed.angular(posed.axis_b));
        }
        JointKind::Ball { .. } => {
            Posed::<D>::axes()
                .for_each(|e| equation(posed.linear(e, posed.a, posed.b), dot(e, apart)));
        }
        JointKind::Fixed { .. } => {
            Posed::<D>::axes()
                .for_each(|e| equation(posed.linear(e, posed.a, posed.b), dot(e, apart)));
            let turned = posed.turned(frame);
            Posed::<D>::turns().for_each(|e| equation(posed.angular(e), dot(e, turned)));
        }
        JointKind::Slider { .. } => {
            let axis: [f64; D] = lower(posed.axis_b);
            let across = tangents(axis);
            for t in &across[..D - 1] {
                // The axis turns with the second body, so the lever of that reaches to the point of the first.
                equation(posed.linear(*t, posed.a, posed.a), dot(*t, apart));
            }
            let turned = posed.turned(frame);
            Posed::<D>::turns().for_each(|e| equation(posed.angular(e), dot(e, turned)));
            coordinate = dot(axis, apart);
            drive = Some(posed.linear(axis, posed.a, posed.a));
        }
        JointKind::Distance { .. } => {
            let direction = unit_or(apart, lower(lift([1.0, 0.0])));
            equation(
                posed.linear(direction, posed.a, posed.b),
                norm(apart) - frame.length,
            );
        }
    }
    let equations = rows.len();
    rows.extend(drive);
    JointRows {
        rows,
        errors,
        equations,
        motor: None,
        coordinate,
        point: add_scaled(posed.b, 0.5, apart),
    }
}

/// The angle nearest to the last one.
fn unwrapped(angle: f64, last: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle + turn * ((last - angle) / turn).round()
}
