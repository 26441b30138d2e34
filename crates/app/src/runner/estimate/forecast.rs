//! Forecast of a run, frame by frame: liquid, steps and CPU time.
//!
//! Speeds follow from free fall: liquid reaches the speed of a fall to the level at which it comes to rest, a jet that of a
//! fall to where it lands, and a solid drives the liquid to slightly more than its own speed. Steps follow from speeds by
//! the CFL number. The constants were measured; `estimates_are_within_their_factors_of_measured_runs` compares with runs.

use super::film;
use meniscus_scene::{Emitter, Scene, measure, meshes, settle};
use meniscus_shapes::Bounds;

/// CPU seconds per step and particle, between those of a deep liquid and a thin one.
const PER_PARTICLE_STEP: f64 = 1.0e-6;
/// CPU seconds per step and particle of the particle method.
const PER_PROJECTIVE_STEP: f64 = 2.2e-6;
/// CPU seconds per step, independent of the amount of liquid.
const PER_STEP: f64 = 5e-4;
/// CPU seconds per step and rigid body in contact with a few others: less for balls, more in tall piles.
const PER_BODY_STEP: f64 = 2e-4;
/// CPU seconds per step and face of the grid that the surface of a solid mesh fills: distances at the nodes on both sides of
/// it, with the thickness of the wall at each.
const PER_MESH_FACE: f64 = 8e-5;
/// CPU seconds per step and particle beside such a mesh, to keep it outside.
const PER_PARTICLE_AT_MESH: f64 = 9e-6;
/// Cells from a mesh within which particles are beside it.
const BESIDE: f64 = 1.5;
/// CPU seconds per pixel of a preview image.
const PER_PIXEL: f64 = 6e-7;
/// Speed of the fastest liquid as a fraction of the speed of free fall, averaged over a run.
const FALL_SPEED_FRACTION: f64 = 0.9;
/// Speed of liquid driven by a solid, as a multiple of the solid's.
const DRIVEN_SPEED: f64 = 1.2;
/// Time constant in seconds of the decay of driven motion.
const DECAY_SECONDS: f64 = 0.3;
/// Falls shorter than this fraction of the domain's longest side are within the error of the level at rest.
const LEAST_FALL: f64 = 0.025;
/// Average loss from rounding the steps of a frame to a whole number.
const ROUNDING: f64 = 0.25;

/// Cost of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameForecast {
    /// Volume of the liquid.
    pub volume: f64,
    /// Number of steps.
    pub steps: f64,
    /// CPU seconds.
    pub seconds: f64,
}

/// Cost of all frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// One entry per frame.
    pub frames: Vec<FrameForecast>,
    /// Largest possible volume of liquid, if none leaves.
    pub most_volume: f64,
    /// Whether liquid that is there at the start falls.
    pub falls: bool,
}

impl Forecast {
    /// Forecast of a scene.
    pub fn of<const D: usize>(scene: &Scene<D>) -> Self {
        if scene.is_rigid() {
            return Self::of_bodies(scene);
        }
        let start = Start::of(scene);
        let jets: Vec<Jet> = scene.emitters.iter().map(|e| Jet::of(scene, e)).collect();
        let frame = 1.0 / scene.frame_rate;
        let gravity = length(&scene.physics.gravity);
        let (reach, per_particle) = match scene.is_projective() {
            true => (
                scene.projective.cfl * scene.particle_spacing(),
                PER_PROJECTIVE_STEP,
            ),
            false => (scene.physics.cfl * scene.dx(), PER_PARTICLE_STEP),
        };
        // As in the step: liquid that starts falling from rest must not be considered slow.
        let slowest = (gravity * reach).sqrt().min(gravity * frame);
        let each = scene.dx().powi(D as i32) / scene.physics.particles_per_cell as f64;
        let solids = scene.solids_and_walls();
        let domain = Bounds {
            low: [0.0; D],
            high: scene.domain,
        };
        let of_bodies = PER_BODY_STEP * scene.bodies.len() as f64;
        let mesh_faces = meshes::area_of_solids(scene) / scene.dx().powi(2);
        let room = BESIDE * mesh_faces * scene.physics.particles_per_cell as f64;
        let max_step = match (scene.is_projective(), scene.bodies.is_empty()) {
            (true, _) => scene.projective_settings().max_step,
            (false, true) => scene.physics.max_step,
            (false, false) => scene.rigid_step(),
        };
        let mut stirred = 0.0f64;
        let frames = (1..=scene.frames).map(|k| {
            let time = scene.time_of_frame(k);
            let solids = solids.max_speed(time - frame, frame, &domain);
            stirred = (DRIVEN_SPEED * solids).max(stirred * (-frame / DECAY_SECONDS).exp());
            let own = jets.iter().map(|jet| jet.speed(time - frame, time));
            let own = own.fold(start.speed(time, gravity).max(stirred), f64::max);
            let speed = (own + slowest).max(solids);
            let crossed = frame * speed / reach;
            let steps = (crossed + ROUNDING).max(frame / max_step).max(1.0);
            let volume = start.volume + jets.iter().map(|jet| jet.present(time)).sum::<f64>();
            let particles = volume / each;
            let of_meshes = PER_MESH_FACE * mesh_faces + PER_PARTICLE_AT_MESH * particles.min(room);
            let work = steps * (PER_STEP + of_bodies + of_meshes + per_particle * particles);
            FrameForecast {
                volume,
                steps,
                seconds: work + picture_seconds(scene, k),
            }
        });
        Forecast {
            frames: frames.collect(),
            most_volume: start.volume + jets.iter().map(Jet::emitted).sum::<f64>(),
            falls: start.fastest > start.speed,
        }
    }

    /// Forecast of a scene with rigid bodies and no liquid.
    fn of_bodies<const D: usize>(scene: &Scene<D>) -> Self {
        let steps = (1.0 / scene.frame_rate / scene.rigid_step()).ceil();
        let bodies = scene.bodies.len() as f64;
        let frames = (1..=scene.frames).map(|k| FrameForecast {
            volume: 0.0,
            steps,
            seconds: steps * PER_BODY_STEP * bodies + picture_seconds(scene, k),
        });
        Forecast {
            frames: frames.collect(),
            most_volume: 0.0,
            falls: false,
        }
    }

    /// Largest expected volume of liquid.
    pub fn volume(&self) -> f64 {
        self.frames.iter().map(|f| f.volume).fold(0.0, f64::max)
    }

    /// Number of steps of all frames.
    pub fn steps(&self) -> f64 {
        self.frames.iter().map(|f| f.steps).sum()
    }

    /// CPU seconds of all frames.
    pub fn seconds(&self) -> f64 {
        self.frames.iter().map(|f| f.seconds).sum()
    }

    /// Seconds that the frames after `done` will take, if those from `from` to `done` took `elapsed` seconds, in
    /// proportion to the forecast.
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

/// CPU seconds of the preview image of a frame, if it has one. Frame 0 is drawn before the first step and not counted.
fn picture_seconds<const D: usize>(scene: &Scene<D>, frame: u32) -> f64 {
    let every = film::frames_per_picture(scene.frames, scene.frame_rate);
    match scene.output.preview && frame.is_multiple_of(every) {
        true => PER_PIXEL * f64::from(scene.output.preview_side).powi(2),
        false => 0.0,
    }
}

/// Liquid at the start.
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
            fastest: (FALL_SPEED_FRACTION * squares.sqrt()).max(speed),
        }
    }

    fn speed(&self, time: f64, gravity: f64) -> f64 {
        (self.speed + gravity * time).min(self.fastest)
    }
}

/// Inflow of an emitter.
struct Jet {
    /// Volume per second while it is active.
    rate: f64,
    /// Active interval of time.
    from: f64,
    to: f64,
    /// Seconds until the inflow lands.
    fall_time: f64,
    /// Speed at which it lands.
    fastest: f64,
    /// Fraction of the volume that stays in the end.
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
            // Without gravity nothing comes to rest, and liquid leaves where it can.
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
            // Liquid that does not stay takes as long again to leave.
            fall_time: 2.0 * fall_time,
            fastest: FALL_SPEED_FRACTION * fastest,
            held,
        }
    }

    fn emitted(&self) -> f64 {
        self.rate * (self.to - self.from).max(0.0)
    }

    /// Volume at a time.
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
