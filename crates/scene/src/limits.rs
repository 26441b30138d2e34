//! Limits of the volume drift of a run. They do not affect the motion.

use crate::words::words;

/// What a run does when its volume drifts far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDrift {
    /// It ends, with everything written so far in place.
    #[default]
    Stop,
    /// It warns and continues.
    Warn,
}

/// Limits of the volume drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Drift above which a run warns, as a share. Default: 0.05.
    pub max_drift: f64,
    /// What happens at [`stop_drift`](Self::stop_drift). Default: the run ends.
    pub on_drift: OnDrift,
}

/// Drift that no animation survives.
const STOP_DRIFT: f64 = 0.3;

impl Limits {
    /// Drift above which a run ends, if it is to end: 0.3, or `max_drift` where that is larger.
    pub fn stop_drift(&self) -> f64 {
        self.max_drift.max(STOP_DRIFT)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_drift: 0.05,
            on_drift: OnDrift::default(),
        }
    }
}

words!(OnDrift, "stop" => Stop, "warn" => Warn);
