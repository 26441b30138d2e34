//! Remaining time of a run.

use crate::runner::estimate::{self, Forecast};
use meniscus_scene::AnyScene;
use meniscus_store::quantity::duration;
use std::collections::VecDeque;
use std::time::Instant;

/// Number of recent frames that the prediction is based on.
const RECENT: usize = 8;

/// Forecast of a scene, in which frames take longer as the liquid grows, scaled by the measured time of the last few
/// frames.
pub struct TimeLeft {
    forecast: Forecast,
    started: Instant,
    /// Frames and their completion times, in order.
    marks: VecDeque<(u32, f64)>,
}

impl TimeLeft {
    /// State before the first frame of a scene.
    pub fn new(scene: &AnyScene) -> Self {
        TimeLeft {
            forecast: estimate::forecast(scene),
            started: Instant::now(),
            marks: VecDeque::from([(0, 0.0)]),
        }
    }

    /// Starts the run, with `done` frames of an earlier part.
    pub fn begin(&mut self, done: u32) {
        self.started = Instant::now();
        self.marks = VecDeque::from([(done, 0.0)]);
    }

    /// Records a complete frame and returns the remaining time in words.
    pub fn frame(&mut self, number: u32) -> String {
        duration(self.seconds(number, self.started.elapsed().as_secs_f64()))
    }

    fn seconds(&mut self, number: u32, elapsed: f64) -> f64 {
        let (from, before) = self.marks.front().copied().unwrap_or((0, 0.0));
        self.marks.push_back((number, elapsed));
        if self.marks.len() > RECENT {
            self.marks.pop_front();
        }
        self.forecast.left(from, number, elapsed - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_scene::builtin;
    use meniscus_scene::text::load_alone;

    #[test]
    fn slower_frames_to_come_increase_the_remaining_time() {
        let of = |scene: &AnyScene, seconds: &dyn Fn(u32) -> f64, done: u32| {
            let mut left = TimeLeft::new(scene);
            let mut elapsed = 0.0;
            let mut found = 0.0;
            for frame in 1..=done {
                elapsed += seconds(frame);
                found = left.seconds(frame, elapsed);
            }
            found
        };
        let even = of(&builtin::named("dam-break").unwrap(), &|_| 2.0, 60);
        assert!(
            (even / 80.0 - 1.0).abs() < 0.2,
            "{even} s for 40 frames of 2 s"
        );
        // A box that fills: each frame takes a tenth of a second longer.
        let filling = "[domain]\nsize = [1, 1]\nresolution = 32\n[output]\npreview = false\n\
            [[emitter]]\nshape = { box = { low = [0.4, 0.7], high = [0.6, 0.9] } }\nvelocity = [0, -1]\n";
        let (filling, _) = load_alone(filling).ready().unwrap();
        let growing = of(&filling, &|frame| 0.1 * f64::from(frame), 24);
        let as_before = 2.05 * 76.0;
        let expected = 0.1 * (25..=100).sum::<u32>() as f64;
        assert!(
            growing > 1.5 * as_before,
            "{growing} s, {as_before} s if frames were alike"
        );
        assert!(
            (growing / expected - 1.0).abs() < 0.4,
            "{growing} s of {expected} s"
        );
    }
}
