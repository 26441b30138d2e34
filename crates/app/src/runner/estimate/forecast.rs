//! Forecast of a run, frame by frame: liquid, steps and CPU time.
//!
//! Speeds follow from falls: liquid reaches the speed of a fall to the level at which it comes to rest, a jet that of a
//! fall to where it lands, and a solid stirs the liquid to a little more than its own speed. Steps follow from speeds by
//! the CFL number. The constants were measured; `estimates_are_within_their_factors_of_what_runs_take` compares with runs.

use super::film;
use meniscus_scene::{Emitter, Scene, measure, settle};
use meniscus_shapes::Bounds;

/// CPU seconds of a step for a particle, between a deep liquid and a thin one.
const PER_PARTICLE_STEP: f64 = 1.4e-6;
/// CPU seconds of a step however little liquid there is.
const PER_STEP: f64 = 5e-4;
/// CPU seconds of a picture of the preview for a pixel.
const PER_PIXEL: f64 = 6e-7;
/// Share of the speed of a fall that the fastest liquid has, in the mean over a run.
const OF_FALL: f64 = 0.9;
/// Speed that a solid stirs liquid to, as a multiple of its own.
const STIRRED: f64 = 1.2;
/// Seconds in which stirred liquid slows down by a factor of e.
const CALMING: f64 = 0.3;
/// Falls shorter than this share of the domain's longest side are within the error of the level at rest.
const LEAST_FALL: f64 = 0.025;
/// Steps of a frame are a whole number: so much is lost in the mean.
const ROUNDING: f64 = 0.25;

/// What a frame takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameForecast {
    /// Volume of the liquid.
    pub volume: f64,
    /// Steps that lead to it.
    pub steps: f64,
    /// CPU seconds.
    pub seconds: f64,
}

/// What all frames take.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// One for each frame.
    pub frames: Vec<FrameForecast>,
    /// The most liquid there can be, if nothing of it leaves.
    pub most_volume: f64,
}

impl Forecast {
    /// The forecast for a scene.
    pub fn of<const D: usize>(scene: &Scene<D>) -> Self {
        let start = Start::of(scene);
        let jets: Vec<Jet> = scene.emitters.iter().map(|e| Jet::of(scene, e)).collect();
        let frame = 1.0 / scene.frame_rate;
        let gravity = length(&scene.physics.gravity);
        let reach = scene.physics.cfl * scene.dx();
        // As the step does: what falls from rest may not be called slow at the start.
        let slowest = (gravity * reach).sqrt().min(gravity * frame);
        let each = scene.dx().powi(D as i32) / scene.physics.particles_per_cell as f64;
        let solids = scene.solids_and_walls();
        let domain = Bounds {
            low: [0.0; D],
            high: scene.domain,
        };
        let mut stirred = 0.0f64;
        let frames = (1..=scene.frames).map(|k| {
            let time = scene.time_of_frame(k);
            let solids = solids.max_speed(time - frame, frame, &domain);
            stirred = (STIRRED * solids).max(stirred * (-frame / CALMING).exp());
            let own = jets.iter().map(|jet| jet.speed(time - frame, time));
            let own = own.fold(start.speed(time, gravity).max(stirred), f64::max);
            let speed = (own + slowest).max(solids);
            let crossed = frame * speed / reach;
            let steps = (crossed + ROUNDING)
                .max(frame / scene.physics.max_step)
                .max(1.0);
            let volume = start.volume + jets.iter().map(|jet| jet.present(time)).sum::<f64>();
            let work = steps * (PER_STEP + PER_PARTICLE_STEP * volume / each);
            FrameForecast {
                volume,
                steps,
                seconds: work + picture_seconds(scene, k),
            }
        });
        Forecast {
            frames: frames.collect(),
            most_volume: start.volume + jets.iter().map(Jet::emitted).sum::<f64>(),
        }
    }

    /// The most liquid that is expected at any time.
    pub fn volume(&self) -> f64 {
        self.frames.iter().map(|f| f.volume).fold(0.0, f64::max)
    }

    /// Steps of all frames.
    pub fn steps(&self) -> f64 {
        self.frames.iter().map(|f| f.steps).sum()
    }

    /// CPU seconds of all frames.
    pub fn seconds(&self) -> f64 {
        self.frames.iter().map(|f| f.seconds).sum()
    }

    /// Seconds that the frames after `done` will take, if those from `from` to `done` took `elapsed` seconds: they are in
    /// the proportion of the forecast.
    pub fn left(&self, from: u32, done: u32, elapsed: f64) -> f64 {
        let at = |frame: u32| (frame as usize).min(self.frames.len());
        let sum = |frames: &[FrameForecast]| frames.iter().map(|f| f.seconds).sum::<f64>();
        let past = sum(&self.frames[at(from)..at(done).max(at(from))]);
        let to_come = sum(&self.frames[at(done)..]);
        if past > 0.0 {
            elapsed / past * to_come
        } else {
            to_come
        }
    }
}

/// CPU seconds of the picture of a frame, if it has one. That of frame 0 is drawn before the first step and left out.
fn picture_seconds<const D: usize>(scene: &Scene<D>, frame: u32) -> f64 {
    let every = film::frames_per_picture(scene.frame_rate);
    match scene.output.preview && frame.is_multiple_of(every) {
        true => PER_PIXEL * f64::from(scene.output.preview_side).powi(2),
        false => 0.0,
    }
}

/// The liquid at the start.
struct Start {
    volume: f64,
    /// Speed at the start.
    speed: f64,
    /// Speed of its fall.
    fastest: f64,
}

impl Start {
    fn of<const D: usize>(scene: &Scene<D>) -> Self {
        let volume = measure::liquid_volume(scene);
        let thrown = scene.liquids.iter().map(|liquid| length(&liquid.velocity));
        let speed = thrown.fold(0.0, f64::max);
        let points = measure::liquid_points(scene);
        let heights = points.iter().filter_map(|&x| settle::height(scene, x));
        let top = heights.fold(f64::NEG_INFINITY, f64::max);
        let rest = settle::rest(scene, &points, volume);
        let least = LEAST_FALL * scene.domain.iter().copied().fold(0.0, f64::max);
        let fall = rest.map_or(0.0, |rest| (top - rest.level - least).max(0.0));
        let squares = speed * speed + 2.0 * length(&scene.physics.gravity) * fall;
        Start {
            volume,
            speed,
            fastest: (OF_FALL * squares.sqrt()).max(speed),
        }
    }

    fn speed(&self, time: f64, gravity: f64) -> f64 {
        (self.speed + gravity * time).min(self.fastest)
    }
}

/// What an emitter brings.
struct Jet {
    /// Volume per second while it is active.
    rate: f64,
    /// When it is active.
    from: f64,
    to: f64,
    /// Seconds until what it brings lands.
    fall_time: f64,
    /// Speed at which it lands.
    fastest: f64,
    /// Volume that stays in the end.
    held: f64,
}

impl Jet {
    fn of<const D: usize>(scene: &Scene<D>, emitter: &Emitter<D>) -> Self {
        let active = emitter.frames.seconds(scene.frame_rate);
        let end = scene.time_of_frame(scene.frames);
        let rate = measure::emission_rate(scene, emitter);
        let (from, to) = (active.start.min(end), active.end.min(end));
        let emitted = rate * (to - from);
        let points = measure::points_of(scene, &emitter.shape);
        let rest = settle::rest(scene, &points, emitted);
        let gravity = length(&scene.physics.gravity);
        let speed = emitter.speed();
        let heights = points.iter().filter_map(|&x| settle::height(scene, x));
        let top = heights.fold(f64::NEG_INFINITY, f64::max);
        let longest = scene.domain.iter().copied().fold(0.0, f64::max);
        let (fall, held) = match rest {
            Some(rest) => ((top - rest.landing).max(0.0), rest.held),
            // Without gravity nothing comes to rest, and it leaves where it can.
            None if scene.has_a_way_out() => (longest, 0.0),
            None => (longest, emitted),
        };
        let fastest = (speed * speed + 2.0 * gravity * fall).sqrt();
        let fall_time = match gravity > 0.0 {
            true => (fastest - speed) / gravity,
            false => fall / speed,
        };
        Jet {
            rate,
            from,
            to,
            // As long again until it is gone, where it does not stay.
            fall_time: 2.0 * fall_time,
            fastest: OF_FALL * fastest,
            held,
        }
    }

    fn emitted(&self) -> f64 {
        self.rate * (self.to - self.from).max(0.0)
    }

    /// Volume that is there at a time.
    fn present(&self, time: f64) -> f64 {
        let came = self.rate * (time.min(self.to) - self.from).max(0.0);
        let still_falling = (self.to + self.fall_time - time).clamp(0.0, self.fall_time);
        came.min(self.held + self.rate * still_falling)
    }

    /// Speed between two times.
    fn speed(&self, before: f64, time: f64) -> f64 {
        match time > self.from && before < self.to + self.fall_time {
            true => self.fastest,
            false => 0.0,
        }
    }
}

fn length<const D: usize>(vector: &[f64; D]) -> f64 {
    vector.iter().map(|c| c * c).sum::<f64>().sqrt()
}
