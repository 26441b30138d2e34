//! Scripted motion by keyframes.

use crate::bounds::Bounds;
use crate::path::{Cubic, Stretch};
use crate::pose::Pose;
use crate::rotation::{Generator, Rotation, change_for_rate};
use crate::vector::{is_finite, scale, sub};
use std::array::from_fn;
use std::error::Error;
use std::f64::consts::PI;
use std::fmt;

/// Where a body is at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe<const D: usize> {
    /// In seconds.
    pub time: f64,
    /// Where the body's origin is.
    pub position: [f64; D],
    /// How the body is turned.
    pub rotation: Rotation<D>,
}

/// How a motion passes from key to key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ease {
    /// Without a jump in velocity, from rest to rest, never past a key at which the motion turns back.
    #[default]
    Smooth,
    /// At constant rates between two keys, with jumps in velocity at the keys.
    Linear,
}

/// How a body moves. Before its first and after its last key it rests.
///
/// A rotation takes the short way from key to key: write a whole turn with at least two keys in between.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Motion<const D: usize> {
    /// Body and world are the same at all times.
    #[default]
    Still,
    /// From key to key.
    Keyframes {
        /// In order of time.
        keys: Vec<Keyframe<D>>,
        /// Between the keys.
        ease: Ease,
    },
}

impl<const D: usize> Motion<D> {
    /// The pose at the time `t`.
    pub fn world_from_body(&self, t: f64) -> Pose<D> {
        let Self::Keyframes { keys, ease } = self else {
            return Pose::IDENTITY;
        };
        let after = keys.partition_point(|key| key.time <= t);
        match (after.checked_sub(1), keys.get(after)) {
            (Some(before), Some(_)) => stretch(keys, *ease, before).pose(t),
            (Some(last), None) => keys[last].pose(),
            (None, Some(first)) => first.pose(),
            (None, None) => Pose::IDENTITY,
        }
    }

    /// Whether the pose ever changes.
    pub fn moves(&self) -> bool {
        match self {
            Self::Still => false,
            Self::Keyframes { keys, .. } => keys.windows(2).any(|k| k[0].pose() != k[1].pose()),
        }
    }

    /// An upper bound on the speed, between `t` and `t + dt`, of every point of the body that stays
    /// within `bounds` and within `reach` of the body's origin.
    pub fn speed_bound(&self, t: f64, dt: f64, bounds: &Bounds<D>, reach: f64) -> f64 {
        let Self::Keyframes { keys, ease } = self else {
            return 0.0;
        };
        let (t0, t1) = (t.min(t + dt), t.max(t + dt));
        (1..keys.len())
            .filter(|&k| keys[k - 1].time <= t1 && keys[k].time >= t0)
            .map(|k| stretch(keys, *ease, k - 1).speed_bound(t0, t1, bounds, reach))
            .fold(0.0, f64::max)
    }

    /// Whether there are keys, in order of time, finite, and each less than half a turn from the next.
    pub fn validate(&self) -> Result<(), MotionError> {
        let Self::Keyframes { keys, .. } = self else {
            return Ok(());
        };
        if keys.is_empty() {
            return Err(MotionError::NoKeys);
        }
        for (i, key) in keys.iter().enumerate() {
            if !(key.time.is_finite() && is_finite(key.position) && key.rotation.is_finite()) {
                return Err(MotionError::NotFinite { key: i });
            }
        }
        for (i, pair) in keys.windows(2).enumerate() {
            if pair[0].time >= pair[1].time {
                return Err(MotionError::Order {
                    key: i + 1,
                    before: pair[0].time,
                    time: pair[1].time,
                });
            }
            let turn = pair[0].rotation.inverse().compose(&pair[1].rotation);
            if turn.angle() > PI - 1e-6 {
                return Err(MotionError::HalfTurn { key: i + 1 });
            }
        }
        Ok(())
    }
}

/// Faults of keyframes. Keys are counted from zero here and from one in words.
#[derive(Clone, Debug, PartialEq)]
pub enum MotionError {
    /// There is no key at all.
    NoKeys,
    /// A number of the key is infinite or not a number.
    NotFinite {
        /// Which key.
        key: usize,
    },
    /// A key is not later than the one before.
    Order {
        /// Which key.
        key: usize,
        /// The time of the key before.
        before: f64,
        /// Its own time.
        time: f64,
    },
    /// A key is half a turn from the one before, which does not say in which sense.
    HalfTurn {
        /// Which key.
        key: usize,
    },
}

impl MotionError {
    /// The key that is to blame, counted from 0.
    pub fn key(&self) -> Option<usize> {
        match self {
            Self::NoKeys => None,
            Self::NotFinite { key } | Self::Order { key, .. } | Self::HalfTurn { key } => {
                Some(*key)
            }
        }
    }
}

impl fmt::Display for MotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKeys => write!(f, "the motion has no keys"),
            Self::NotFinite { key } => {
                write!(
                    f,
                    "key {}: time, position and rotation must be finite",
                    key + 1
                )
            }
            Self::Order { key, before, time } => write!(
                f,
                "key {}: its time ({time} s) must be after that of the key before ({before} s)",
                key + 1
            ),
            Self::HalfTurn { key } => write!(
                f,
                "key {}: half a turn from the key before does not say which way; add a key between",
                key + 1
            ),
        }
    }
}

impl Error for MotionError {}

impl<const D: usize> Keyframe<D> {
    /// The pose of this key.
    pub fn pose(&self) -> Pose<D> {
        Pose {
            rotation: self.rotation,
            translation: self.position,
        }
    }
}

/// The stretch from key `k` to the next.
fn stretch<const D: usize>(keys: &[Keyframe<D>], ease: Ease, k: usize) -> Stretch<D> {
    let (from, to) = (&keys[k], &keys[k + 1]);
    let duration = to.time - from.time;
    let travel = sub(to.position, from.position);
    let turn = relative_turn(from, to);
    let (leaving, arriving, turn_leaving, turn_arriving) = match ease {
        Ease::Linear => (travel, travel, turn, turn),
        Ease::Smooth => {
            let (v0, w0) = rates_at(keys, k);
            let (v1, w1) = rates_at(keys, k + 1);
            (
                scale(v0, duration),
                scale(v1, duration),
                w0.map(|row| scale(row, duration)),
                change_for_rate(&turn, &w1).map(|row| scale(row, duration)),
            )
        }
    };
    Stretch {
        start: from.time,
        duration,
        position: Cubic::hermite(from.position, leaving, arriving, to.position),
        first_rotation: from.rotation,
        turn: from_fn(|i| Cubic::hermite([0.0; D], turn_leaving[i], turn_arriving[i], turn[i])),
    }
}

/// The generator, in the frame of either key, that turns `from` into `to`.
fn relative_turn<const D: usize>(from: &Keyframe<D>, to: &Keyframe<D>) -> Generator<D> {
    from.rotation.inverse().compose(&to.rotation).log()
}

/// The velocity and the turning rate (in the body's frame) with which a smooth motion passes key `k`.
fn rates_at<const D: usize>(keys: &[Keyframe<D>], k: usize) -> ([f64; D], Generator<D>) {
    if k == 0 || k + 1 == keys.len() {
        return ([0.0; D], [[0.0; D]; D]);
    }
    let (last, here, next) = (&keys[k - 1], &keys[k], &keys[k + 1]);
    let (before, after) = (here.time - last.time, next.time - here.time);
    let velocity = passing_rate(
        sub(here.position, last.position),
        before,
        sub(next.position, here.position),
        after,
    );
    let (turn_in, turn_out) = (relative_turn(last, here), relative_turn(here, next));
    let turning = from_fn(|i| passing_rate(turn_in[i], before, turn_out[i], after));
    (velocity, turning)
}

/// The slope of the parabola through three keys (Catmull-Rom with times of any spacing), held so small
/// that neither cubic beside it overshoots, and zero where the motion turns back.
fn passing_rate<const D: usize>(
    step_in: [f64; D],
    before: f64,
    step_out: [f64; D],
    after: f64,
) -> [f64; D] {
    from_fn(|i| {
        let (rate_in, rate_out) = (step_in[i] / before, step_out[i] / after);
        if rate_in * rate_out <= 0.0 {
            return 0.0;
        }
        let parabola = (after * rate_in + before * rate_out) / (before + after);
        // A cubic is monotone if its slopes at both ends are at most three times its mean slope.
        let limit = 3.0 * rate_in.abs().min(rate_out.abs());
        parabola.clamp(-limit, limit)
    })
}
