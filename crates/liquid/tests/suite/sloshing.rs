//! The first standing wave in a tank has the period of linear theory, and nothing feeds it.

use std::f64::consts::{PI, TAU};

use crate::common::{advance, tank};
use meniscus_liquid::{Liquid, Settings, Walls};

const GRAVITY: f64 = 9.81;
/// Depth of the liquid in metres; the tank is one metre long.
const DEPTH: f64 = 0.5;
/// Columns whose particles are counted.
const COLUMNS: usize = 8;

/// A standing wave in a tank one metre long.
#[derive(Clone, Copy, Debug)]
struct Wave {
    /// Cells along the tank.
    cells: usize,
    /// Height of the crest in metres.
    amplitude: f64,
    walls: Walls,
    /// Steps of a frame of 1/24 s, at least.
    steps: usize,
    seed: u64,
}

/// The liquid in the middle of a step, where its velocity belongs.
struct Sample {
    time: f64,
    /// Energies per mass; potential energy above that of the liquid at rest, by how many particles columns hold. The mean
    /// height would not do: a thousandth of the volume that particles are apart or together changes it by more than a
    /// hundredth of the wave's energy.
    kinetic: f64,
    potential: f64,
    /// Mean of `cos(pi x)` over the particles: the first mode.
    mode: f64,
}

impl Wave {
    fn samples<const D: usize>(&self, seconds: f64) -> Vec<Sample> {
        let n = self.cells;
        let mut settings = Settings::<D>::new(
            std::array::from_fn(|a| match a {
                0 => n,
                a if a + 1 == D => 3 * n / 4,
                _ => n / 4,
            }),
            1.0 / n as f64,
        );
        settings.physics.walls = self.walls;
        settings.physics.seed = self.seed;
        let solids = tank(&settings);
        let mut liquid = Liquid::new(settings).unwrap();
        let surface = |x: f64| DEPTH + self.amplitude * (PI * x).cos();
        liquid.fill(&|x| x[D - 1] - surface(x[0]), &|_| [0.0; D], &solids);
        let mut samples = Vec::new();
        let parts = 24 * self.steps;
        for part in 1..=(seconds * parts as f64) as usize {
            let end = part as f64 / parts as f64;
            while end - liquid.time() > 1e-9 {
                let left = end - liquid.time();
                let report = match advance(&mut liquid, &solids, left) {
                    Ok(report) => report,
                    Err(failure) => panic!("{failure}"),
                };
                samples.push(self.sample(&liquid, report.dt));
            }
        }
        samples
    }

    /// Velocities belong to the middle of the step of `dt` seconds that has ended: half of it takes positions back there.
    fn sample<const D: usize>(&self, liquid: &Liquid<D>, dt: f64) -> Sample {
        let particles = liquid.particles();
        let count = particles.len() as f64;
        let squares = particles.velocity.iter().flatten();
        let squares: f64 = squares.map(|&v| v as f64 * v as f64).sum();
        let places = particles.position.iter().zip(&particles.velocity);
        let places: Vec<f64> = places
            .map(|(x, v)| x[0] as f64 - 0.5 * dt * v[0] as f64)
            .collect();
        let mut columns = [0.0; COLUMNS];
        for x in &places {
            columns[((x * COLUMNS as f64) as usize).min(COLUMNS - 1)] += COLUMNS as f64 / count;
        }
        let squared_heights = columns.iter().map(|c| (c - 1.0) * (c - 1.0)).sum::<f64>();
        Sample {
            time: liquid.time() - 0.5 * dt,
            kinetic: 0.5 * squares / count,
            potential: 0.5 * GRAVITY * DEPTH * squared_heights / COLUMNS as f64,
            mode: places.iter().map(|x| (PI * x).cos()).sum::<f64>() / count,
        }
    }

    /// Ten seconds; what went wrong.
    fn faults<const D: usize>(&self) -> Vec<String> {
        let samples = self.samples::<D>(10.0);
        // Where the mode falls through zero.
        let falls: Vec<f64> = samples
            .windows(2)
            .filter(|s| s[0].mode > 0.0 && s[1].mode <= 0.0)
            .map(|s| s[0].time + (s[1].time - s[0].time) * s[0].mode / (s[0].mode - s[1].mode))
            .collect();
        let period = (falls[falls.len() - 1] - falls[0]) / (falls.len() - 1) as f64;
        let theory = TAU / (GRAVITY * PI * (PI * DEPTH).tanh()).sqrt();
        let within = |k: usize| {
            let time = k as f64 * period..(k + 1) as f64 * period;
            samples.iter().filter(move |s| time.contains(&s.time))
        };
        // Over whole periods: within one, kinetic and potential energy are off by the error of the step's length in turn.
        let periods = (10.0 / period) as usize;
        let energy = |k: usize| {
            let sum: f64 = within(k).map(|s| s.kinetic + s.potential).sum();
            sum / within(k).count() as f64
        };
        let swing = |k: usize| within(k).map(|s| s.kinetic).fold(0.0, f64::max);
        let energies: Vec<f64> = (0..periods).map(energy).collect();
        let swings: Vec<f64> = (0..periods).map(swing).collect();
        eprintln!(
            "{D}D {self:?}: period {period:.4}, theory {theory:.4}; energy {energies:.4?}, largest kinetic {swings:.4?}"
        );
        let mut faults = Vec::new();
        if (period / theory - 1.0).abs() > 0.03 {
            faults.push(format!("{D}D {self:?}: period {period}, theory {theory}"));
        }
        for (what, values) in [("energy", energies), ("largest kinetic energy", swings)] {
            let most = values.iter().copied().fold(0.0, f64::max);
            if most > 1.01 * values[0] {
                faults.push(format!(
                    "{D}D {self:?}: {what} rises from {} to {most}",
                    values[0]
                ));
            }
        }
        faults
    }
}

fn decay<const D: usize>(waves: impl IntoIterator<Item = Wave>) {
    let faults: Vec<String> = waves
        .into_iter()
        .flat_map(|wave| wave.faults::<D>())
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn waves(cells: usize, amplitude: f64, steps: usize, seed: u64) -> [Wave; 2] {
    [Walls::Slip, Walls::Separating].map(|walls| Wave {
        cells,
        amplitude,
        walls,
        steps,
        seed,
    })
}

#[test]
fn a_standing_wave_has_its_period_and_gains_no_energy_in_2d() {
    for amplitude in [0.05, 0.1] {
        decay::<2>(
            waves(32, amplitude, 1, 1)
                .into_iter()
                .chain(waves(48, amplitude, 2, 1)),
        );
    }
}

#[test]
fn a_standing_wave_has_its_period_and_gains_no_energy_in_3d() {
    decay::<3>(waves(24, 0.1, 1, 2));
}
