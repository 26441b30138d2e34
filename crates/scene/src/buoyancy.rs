//! Whether a body floats, and how deep, before the simulation: hydrostatics on a lattice.
//!
//! The body is lowered into deep liquid in its orientation at the start, until it displaces its own mass. Hollows count as
//! displaced until the liquid outside reaches their rim; closed hollows always do. The level at which each point of a hollow
//! is flooded is found by a priority flood from outside.

use super::{Body, Scene};
use meniscus_shapes::{Bounds, Shape};
use std::array::from_fn;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cells of the lattice along the longest side of a body, in 2D and in 3D.
const CELLS: [f64; 2] = [128.0, 44.0];
/// Levels in a cell.
const LEVELS: usize = 4;
/// Samples between two neighbouring centres, so that thin walls are found.
const BETWEEN: usize = 5;
/// Share of a body's volume below which a hollow is an error of the lattice.
const NOTABLE: f64 = 0.03;
/// Relative difference of densities within which a body is neutral.
const NEUTRAL: f64 = 2e-3;

/// Behaviour of a body in deep liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buoyancy {
    /// Whether it floats, and how.
    pub outcome: Outcome,
    /// Mean density of the body's solid part, over that of the liquid.
    pub density_ratio: f64,
    /// Volume of its hollows below their rims; zero without hollows.
    pub hollow: f64,
    /// Mass of the liquid in its hollows at the start, in kg.
    pub cargo: f64,
}

/// Whether a body floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// At the surface.
    Floats {
        /// Depth of its lowest point below the surface, in metres.
        draft: f64,
        /// Height of the body, in metres.
        height: f64,
        /// Displaced volume over that of the body, hollows excluded.
        share: f64,
    },
    /// It stays where it is.
    Neutral,
    /// It goes down.
    Sinks,
}

/// Behaviour of a body of a scene; none without gravity, or if it has no mass.
pub fn of_body<const D: usize>(scene: &Scene<D>, body: &Body<D>) -> Option<Buoyancy> {
    let gravity = scene.physics.gravity_magnitude();
    if gravity == 0.0 || !body.gravity {
        return None;
    }
    let up = scene.physics.gravity.map(|g| -g / gravity);
    let shape = body.shape.clone().placed(body.pose);
    let (mass, volume) = (body.mass().ok()?.mass, body.moments().ok()?.volume);
    let lattice = Lattice::around(&shape, up)?;
    let mut profile = Profile::new(&lattice, volume);
    let density = scene.physics.density;
    let (mut hollow, mut cargo) = (0.0, 0.0);
    for cell in 0..lattice.cells() {
        let own = lattice.hollow[cell] * lattice.cell_volume();
        hollow += own;
        if own > 0.0 && scene.liquid_distance(lattice.center(cell)) < 0.0 {
            cargo += own * density;
        }
    }
    // A lattice makes small hollows of concave surfaces.
    if hollow > NOTABLE * volume {
        profile.add_hollows(&lattice);
    } else {
        (hollow, cargo) = (0.0, 0.0);
    }
    let density_ratio = mass / (density * volume);
    let wanted = (mass + cargo) / density;
    let outcome = match profile.level_of(wanted) {
        _ if hollow == 0.0 && (density_ratio - 1.0).abs() < NEUTRAL => Outcome::Neutral,
        Some(level) if level < profile.height => Outcome::Floats {
            draft: level,
            height: profile.height,
            share: wanted / volume,
        },
        _ => Outcome::Sinks,
    };
    Some(Buoyancy {
        outcome,
        density_ratio,
        hollow,
        cargo,
    })
}

/// Volume of the liquid at the start that is left out because a body is there.
pub fn carved<const D: usize>(scene: &Scene<D>, body: &Body<D>) -> f64 {
    let shape = body.shape.clone().placed(body.pose);
    let (Some(lattice), Ok(moments)) = (
        Lattice::around(&shape, from_fn(|a| f64::from(u8::from(a == D - 1)))),
        body.moments(),
    ) else {
        return 0.0;
    };
    let (mut all, mut wet) = (0.0, 0.0);
    for (cell, &share) in lattice.share.iter().enumerate() {
        all += share;
        if share > 0.0 && scene.liquid_distance(lattice.center(cell)) < 0.0 {
            wet += share;
        }
    }
    moments.volume * wet / f64::max(all, f64::MIN_POSITIVE)
}

/// Cubic cells around a body, with a layer of empty ones outside.
struct Lattice<const D: usize> {
    low: [f64; D],
    spacing: f64,
    sides: [usize; D],
    /// Share of each cell that is solid.
    share: Vec<f64>,
    /// Height of each centre along gravity.
    height: Vec<f64>,
    /// Share of each cell that is hollow: flooded at a level above its own only.
    hollow: Vec<f64>,
    /// Level outside at which each cell is flooded: infinite in closed hollows and solids.
    flooded: Vec<f64>,
}

impl<const D: usize> Lattice<D> {
    fn around(shape: &Shape<D>, up: [f64; D]) -> Option<Self> {
        let Bounds { low, high } = shape.bounds().filter(|b| b.is_finite() && !b.is_empty())?;
        let longest = (0..D).map(|a| high[a] - low[a]).fold(0.0, f64::max);
        let spacing = longest / CELLS[D - 2];
        if spacing <= 0.0 {
            return None;
        }
        let sides = from_fn(|a| ((high[a] - low[a]) / spacing - 1e-9).ceil() as usize + 2);
        let mut lattice = Lattice {
            // Centred, so that both ends have the same margin.
            low: from_fn(|a| 0.5 * (low[a] + high[a] - sides[a] as f64 * spacing)),
            spacing,
            sides,
            share: Vec::new(),
            height: Vec::new(),
            hollow: Vec::new(),
            flooded: Vec::new(),
        };
        let centers = (0..lattice.cells()).map(|cell| lattice.center(cell));
        let distances: Vec<f64> = centers
            .map(|x| shape.distance_within(x, 2.0 * spacing))
            .collect();
        let share = |d: &f64| (0.5 - d / spacing).clamp(0.0, 1.0);
        lattice.share = distances.iter().map(share).collect();
        lattice.height = (0..lattice.cells())
            .map(|cell| {
                let x = lattice.center(cell);
                (0..D).map(|a| up[a] * x[a]).sum()
            })
            .collect();
        lattice.flooded = lattice.flood(shape, &distances);
        lattice.find_hollows(&distances);
        Some(lattice)
    }

    /// Finds the hollow share of every cell. The open part of a cell whose centre is solid is shared among its neighbours.
    fn find_hollows(&mut self, distances: &[f64]) {
        let is_hollow = |cell: usize| self.flooded[cell] > self.height[cell] + 1e-9;
        let mut found = vec![(0.0, f64::INFINITY); self.cells()];
        for (cell, found) in found.iter_mut().enumerate() {
            let open = 1.0 - self.share[cell];
            if distances[cell] > 0.0 {
                let hollow = if is_hollow(cell) { open } else { 0.0 };
                *found = (hollow, self.flooded[cell]);
                continue;
            }
            let (mut beside, mut hollow, mut level) = (0.0, 0.0, f64::NEG_INFINITY);
            for next in self.beside(cell).filter(|&next| distances[next] > 0.0) {
                beside += 1.0;
                if is_hollow(next) {
                    hollow += 1.0;
                    level = level.max(self.flooded[next]);
                }
            }
            if hollow > 0.0 {
                *found = (open * hollow / beside, level);
            }
        }
        (self.hollow, self.flooded) = found.into_iter().unzip();
    }

    /// Neighbours of a cell.
    fn beside(&self, cell: usize) -> impl Iterator<Item = usize> + use<D> {
        let (at, sides) = (self.coord(cell), self.sides);
        (0..D).flat_map(move |axis| {
            let stride: usize = sides[..axis].iter().product();
            let below = (at[axis] > 0).then(|| cell - stride);
            let above = (at[axis] + 1 < sides[axis]).then(|| cell + stride);
            [below, above].into_iter().flatten()
        })
    }

    fn cells(&self) -> usize {
        self.sides.iter().product()
    }

    fn cell_volume(&self) -> f64 {
        self.spacing.powi(D as i32)
    }

    fn coord(&self, mut cell: usize) -> [usize; D] {
        from_fn(|a| {
            let at = cell % self.sides[a];
            cell /= self.sides[a];
            at
        })
    }

    fn center(&self, cell: usize) -> [f64; D] {
        let at = self.coord(cell);
        from_fn(|a| self.low[a] + (at[a] as f64 + 0.5) * self.spacing)
    }

    /// Level at which liquid from outside reaches each cell.
    fn flood(&self, shape: &Shape<D>, distances: &[f64]) -> Vec<f64> {
        let mut flooded = vec![f64::INFINITY; self.cells()];
        // Order of non-negative floating-point numbers is that of their bits.
        let lowest = self.height.iter().copied().fold(f64::INFINITY, f64::min);
        let key = |level: f64| (level - lowest).max(0.0).to_bits();
        let mut queue = BinaryHeap::new();
        for (cell, level) in flooded.iter_mut().enumerate() {
            let at = self.coord(cell);
            if (0..D).any(|a| at[a] == 0 || at[a] + 1 == self.sides[a]) {
                *level = self.height[cell];
                queue.push(Reverse((key(*level), cell)));
            }
        }
        while let Some(Reverse((order, cell))) = queue.pop() {
            if order > key(flooded[cell]) {
                continue;
            }
            for next in self.beside(cell) {
                let level = flooded[cell].max(self.height[next]);
                if level < flooded[next] && self.is_open(shape, distances, cell, next) {
                    flooded[next] = level;
                    queue.push(Reverse((key(level), next)));
                }
            }
        }
        flooded
    }

    /// Whether liquid passes from one cell to its neighbour.
    fn is_open(&self, shape: &Shape<D>, distances: &[f64], from: usize, to: usize) -> bool {
        if distances[from] <= 0.0 || distances[to] <= 0.0 {
            return false;
        }
        // A distance does not change faster than the position.
        if distances[from] + distances[to] > self.spacing {
            return true;
        }
        let (a, b) = (self.center(from), self.center(to));
        (1..=BETWEEN).all(|k| {
            let t = k as f64 / (BETWEEN + 1) as f64;
            let x = from_fn(|i| a[i] + t * (b[i] - a[i]));
            shape.distance_within(x, self.spacing) > 0.0
        })
    }
}

/// Displaced volume by level.
struct Profile {
    /// Level of the first entry, and the distance between two.
    low: f64,
    step: f64,
    /// Increase of the displaced volume at each level.
    increase: Vec<f64>,
    /// Lowest level of the body, and its height.
    lowest: f64,
    height: f64,
    /// Factor that makes the volume of the lattice that of the body.
    scale: f64,
}

impl Profile {
    fn new<const D: usize>(lattice: &Lattice<D>, volume: f64) -> Self {
        let fold =
            |f: fn(f64, f64) -> f64, start: f64| lattice.height.iter().copied().fold(start, f);
        let (low, high) = (
            fold(f64::min, f64::INFINITY),
            fold(f64::max, f64::NEG_INFINITY),
        );
        let step = lattice.spacing / LEVELS as f64;
        let levels = ((high - low) / step).ceil() as usize + 2 * LEVELS;
        let found: f64 = lattice.share.iter().sum::<f64>() * lattice.cell_volume();
        let (mut bottom, mut top) = (f64::INFINITY, f64::NEG_INFINITY);
        for (share, height) in lattice.share.iter().zip(&lattice.height) {
            // The part of a cell that is solid, if it is the last one.
            let reach = (share - 0.5) * lattice.spacing;
            if *share > 0.0 {
                bottom = bottom.min(height - reach);
                top = top.max(height + reach);
            }
        }
        let mut profile = Profile {
            low: low - 0.5 * lattice.spacing,
            step,
            increase: vec![0.0; levels],
            lowest: bottom,
            height: top - bottom,
            scale: volume / found.max(f64::MIN_POSITIVE),
        };
        for (share, height) in lattice.share.iter().zip(&lattice.height) {
            let own = profile.scale * share * lattice.cell_volume();
            profile.spread(*height - 0.5 * lattice.spacing, own);
        }
        profile
    }

    fn index(&self, level: f64) -> usize {
        (((level - self.low) / self.step).max(0.0) as usize).min(self.increase.len() - 1)
    }

    /// Adds a volume evenly over the levels of a cell whose lower end is `from`.
    fn spread(&mut self, from: f64, volume: f64) {
        for k in 0..LEVELS {
            let at = self.index(from + (k as f64 + 0.5) * self.step);
            self.increase[at] += volume / LEVELS as f64;
        }
    }

    /// Adds the hollows, each until it is flooded.
    fn add_hollows<const D: usize>(&mut self, lattice: &Lattice<D>) {
        for cell in 0..lattice.cells() {
            let (height, flooded) = (lattice.height[cell], lattice.flooded[cell]);
            let own = lattice.hollow[cell] * lattice.cell_volume();
            if own > 0.0 {
                self.spread(height - 0.5 * lattice.spacing, own);
                if flooded.is_finite() {
                    let at = self.index(flooded);
                    self.increase[at] -= own;
                }
            }
        }
    }

    /// Lowest level above the body's lowest point at which it displaces a volume.
    fn level_of(&self, volume: f64) -> Option<f64> {
        let mut displaced = 0.0;
        for (k, increase) in self.increase.iter().enumerate() {
            if increase + displaced >= volume && *increase > 0.0 {
                let part = (volume - displaced) / increase;
                let level = self.low + (k as f64 + part) * self.step;
                return Some((level - self.lowest).max(0.0));
            }
            displaced += increase;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Amount;

    fn floats(shape: Shape<3>, density: f64) -> Buoyancy {
        let scene = Scene::new("test", "", [1.0; 3], 32);
        let mut body = Body::new("body", shape, Amount::Density(density));
        body.pose.translation = [0.5, 0.5, 0.7];
        of_body(&scene, &body).unwrap()
    }

    fn draft(buoyancy: &Buoyancy) -> f64 {
        match buoyancy.outcome {
            Outcome::Floats { draft, .. } => draft,
            other => panic!("{other:?}"),
        }
    }

    fn ball(radius: f64) -> Shape<3> {
        Shape::Sphere {
            center: [0.0; 3],
            radius,
        }
    }

    fn open_box() -> Shape<3> {
        let outer = Shape::Box {
            low: [-0.2, -0.1, 0.0],
            high: [0.2, 0.1, 0.12],
        };
        let inner = Shape::Box {
            low: [-0.19, -0.09, 0.01],
            high: [0.19, 0.09, 0.2],
        };
        outer.without(vec![inner])
    }

    #[test]
    fn solids_float_at_the_draft_of_archimedes() {
        let cube = Shape::Box {
            low: [-0.1; 3],
            high: [0.1; 3],
        };
        for density in [10.0, 380.0, 900.0] {
            let found = floats(cube.clone(), density);
            assert!((draft(&found) - 0.2 * density / 1000.0).abs() < 1e-3);
            assert_eq!(found.hollow, 0.0);
        }
        assert!((draft(&floats(ball(0.1), 500.0)) - 0.1).abs() < 1e-3);
        // A quarter of a ball's volume is below 0.3264 of its diameter.
        assert!((draft(&floats(ball(0.1), 250.0)) - 0.06527).abs() < 1e-3);
        assert_eq!(floats(ball(0.1), 1000.0).outcome, Outcome::Neutral);
        assert_eq!(floats(ball(0.1), 1500.0).outcome, Outcome::Sinks);
    }

    #[test]
    fn an_open_hull_floats_until_its_rim_is_under_water() {
        // Steel of 0.4 x 0.2 x 0.12 less 0.38 x 0.18 x 0.11 m³.
        let solid = 0.0096 - 0.007524;
        for (density, floats_at) in [(1500.0, true), (4000.0, true), (4700.0, false)] {
            let found = floats(open_box(), density);
            assert!((found.hollow - 0.007524).abs() < 4e-4, "{}", found.hollow);
            match floats_at {
                true => {
                    let expected = solid * density / 1000.0 / 0.08;
                    assert!((draft(&found) - expected).abs() < 3e-3, "{found:?}");
                }
                false => assert_eq!(found.outcome, Outcome::Sinks),
            }
        }
    }

    #[test]
    fn a_closed_hollow_always_counts_and_a_pierced_one_fills() {
        let shell = ball(0.1).without(vec![ball(0.09)]);
        let ratio = 1.0 - 0.9f64.powi(3);
        let found = floats(shell.clone(), 2500.0);
        assert!(2.5 * ratio < 1.0);
        assert!(matches!(found.outcome, Outcome::Floats { .. }), "{found:?}");
        let hole = Shape::Cylinder {
            from: [0.0, 0.0, -0.2],
            to: [0.0; 3],
            radius: 0.02,
        };
        let pierced = shell.without(vec![hole]);
        assert_eq!(floats(pierced, 2500.0).outcome, Outcome::Sinks);
    }

    #[test]
    fn liquid_at_the_start_is_carved_and_cargo_weighs() {
        let mut scene = Scene::new("test", "", [1.0; 3], 32);
        scene.liquids.push(crate::Volume::at_rest(Shape::HalfSpace {
            point: [0.0, 0.0, 0.5],
            normal: [0.0, 0.0, 1.0],
        }));
        let mut body = Body::new("hull", open_box(), Amount::Density(2000.0));
        body.pose.translation = [0.5, 0.5, 0.45];
        let wet = 0.4 * 0.2 * 0.05 - 0.38 * 0.18 * 0.04;
        assert!((carved(&scene, &body) / wet - 1.0).abs() < 0.05);
        let found = of_body(&scene, &body).unwrap();
        assert!((found.cargo / (1000.0 * 0.38 * 0.18 * 0.04) - 1.0).abs() < 0.15);
        body.gravity = false;
        assert!(of_body(&scene, &body).is_none());
    }
}
