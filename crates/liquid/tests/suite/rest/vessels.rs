//! Containers of every kind, filled to some height, and how well the liquid in them rests.

use crate::common::advance;
use meniscus_liquid::{Liquid, Settings, Walls};
use meniscus_shapes::{Pose, Rotation, Shape, Solids};

use crate::common::still;

/// Width of the domain in metres.
const WIDTH: f64 = 0.5;
const GRAVITY: f64 = 9.81;

/// A container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vessel {
    /// A sphere; a circle in the plane.
    Sphere,
    /// A trough with a V-shaped section.
    Vee,
    /// A box tilted by so many degrees.
    TiltedBox(u32),
    /// A capsule lying on its side.
    Capsule,
    /// An axis-parallel tank whose walls lie off the grid.
    OffGridTank,
}

impl Vessel {
    pub const ALL: [Self; 5] = [
        Self::Sphere,
        Self::Vee,
        Self::TiltedBox(17),
        Self::Capsule,
        Self::OffGridTank,
    ];

    /// The hollow, its lowest and its highest point.
    fn hollow<const D: usize>(self, dx: f64) -> (Shape<D>, f64, f64) {
        let middle = [0.5 * WIDTH; D];
        let along = |x: f64| -> [f64; D] {
            let mut place = middle;
            place[0] += x;
            place
        };
        match self {
            Self::Sphere => {
                let radius = 0.22;
                let shape = Shape::Sphere {
                    center: middle,
                    radius,
                };
                (shape, middle[0] - radius, middle[0] + radius)
            }
            Self::Vee => {
                let lowest = 0.05;
                let side = |slope: f64| {
                    let mut point = middle;
                    point[D - 1] = lowest;
                    let mut normal = [0.0; D];
                    normal[0] = slope;
                    normal[D - 1] = -1.0;
                    Shape::HalfSpace { point, normal }
                };
                let shape = Shape::Intersection(vec![side(0.6), side(-0.6)]);
                (shape, lowest, 0.45)
            }
            Self::TiltedBox(degrees) => {
                let half = 0.37 * WIDTH;
                let block = Shape::Box {
                    low: [-half; D],
                    high: [half; D],
                };
                let angle = (degrees as f64).to_radians();
                let mut generator = [[0.0; D]; D];
                generator[0][D - 1] = angle;
                generator[D - 1][0] = -angle;
                let pose = Pose {
                    translation: middle,
                    rotation: Rotation::exp(&generator),
                };
                let reach = half * (angle.cos() + angle.sin());
                (block.placed(pose), middle[0] - reach, middle[0] + reach)
            }
            Self::Capsule => {
                let radius = 0.12;
                let shape = Shape::Capsule {
                    from: along(-0.1),
                    to: along(0.1),
                    radius,
                };
                (shape, middle[0] - radius, middle[0] + radius)
            }
            Self::OffGridTank => {
                let (low, high) = (2.37 * dx, WIDTH - 2.63 * dx);
                let shape = Shape::Box {
                    low: [low; D],
                    high: [high; D],
                };
                (shape, low, high)
            }
        }
    }
}

/// A vessel filled to a share of its height.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub vessel: Vessel,
    pub fill: f64,
    pub cells: usize,
    pub walls: Walls,
    /// Of the particles' places.
    pub seed: u64,
}

/// How well liquid rests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    /// Largest speed after two seconds, as a share of sqrt(g H).
    pub largest: f64,
    /// Mean speed after two seconds, as a share of sqrt(g H).
    pub mean: f64,
    /// Height of the highest particle above the level after two seconds, in cells.
    pub highest: f64,
    /// Root mean square of the change of the surface's volume from frame to frame, after two seconds, as a share.
    pub flicker: f64,
    /// Mean kinetic energy per mass from 1.5 to 2.5 s, and from 4.5 to 5.5 s, as a share of `(sqrt(g H))^2 / 2`.
    pub energy: [f64; 2],
    /// Largest speed ever, as a share of sqrt(g H).
    pub start: f64,
}

impl Case {
    /// Liquid at rest in the vessel.
    pub fn liquid<const D: usize>(&self) -> (Liquid<D>, Solids<D>, f64, f64) {
        let dx = WIDTH / self.cells as f64;
        let mut settings = Settings::<D>::new([self.cells; D], dx);
        settings.physics.walls = self.walls;
        settings.physics.seed = self.seed;
        let (hollow, low, high) = self.vessel.hollow::<D>(dx);
        let tank = Shape::Box {
            low: [0.0; D],
            high: settings.domain(),
        };
        let solids = Solids::new(vec![
            still("tank", tank.inverted()),
            still("vessel", hollow.inverted()),
        ]);
        let depth = self.fill * (high - low);
        let level = low + depth;
        let mut liquid = Liquid::new(settings).unwrap();
        liquid.fill(&|x| x[D - 1] - level, &|_| [0.0; D], &solids);
        (liquid, solids, level, depth)
    }

    /// Runs for `seconds` and measures.
    pub fn measure<const D: usize>(&self, seconds: f64) -> Rest {
        let (mut liquid, solids, level, depth) = self.liquid::<D>();
        let dx = liquid.settings().dx;
        let wave = (GRAVITY * depth).sqrt();
        let mut rest = Rest {
            highest: f64::NEG_INFINITY,
            ..Rest::default()
        };
        let (mut means, mut steps) = (0.0, 0);
        let mut energies = [(0.0, 0); 2];
        let mut volumes = Vec::new();
        let mut frame = 0;
        while liquid.time() < seconds - 1e-9 {
            frame += 1;
            let end = frame as f64 / 24.0;
            let mut volume = 0.0;
            while end - liquid.time() > 1e-9 {
                let left = end - liquid.time();
                let report = match advance(&mut liquid, &solids, left) {
                    Ok(report) => report,
                    Err(failure) => panic!("{failure}"),
                };
                volume = report.volume;
                let (mut sum, mut squares, mut most) = (0.0, 0.0, 0.0f64);
                for v in &liquid.particles().velocity {
                    let square = v.iter().map(|&c| c as f64 * c as f64).sum::<f64>();
                    sum += square.sqrt();
                    squares += square;
                    most = most.max(square);
                }
                let count = liquid.particles().len() as f64;
                let time = liquid.time();
                rest.start = rest.start.max(most.sqrt() / wave);
                if time > 2.0 {
                    rest.largest = rest.largest.max(most.sqrt() / wave);
                    means += sum / count / wave;
                    steps += 1;
                }
                for (k, from) in [1.5, 4.5].into_iter().enumerate() {
                    if time > from && time <= from + 1.0 {
                        energies[k].0 += squares / count / (wave * wave);
                        energies[k].1 += 1;
                    }
                }
            }
            if liquid.time() > 2.0 {
                volumes.push(volume);
                let highest = liquid.particles().position.iter();
                let highest = highest.map(|x| x[D - 1] as f64).fold(0.0, f64::max);
                rest.highest = rest.highest.max((highest - level) / dx);
            }
        }
        rest.mean = means / steps as f64;
        rest.energy = energies.map(|(sum, count)| sum / f64::max(count as f64, 1.0));
        let changes = volumes.windows(2).map(|v| (v[1] / v[0] - 1.0).powi(2));
        rest.flicker = (changes.sum::<f64>() / (volumes.len() - 1) as f64).sqrt();
        rest
    }
}
