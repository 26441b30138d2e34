//! Advection: grid to particles, and their paths by a third-order Runge-Kutta scheme, outside solids.

use rayon::prelude::*;

use crate::grid::cut_cells::{CutCells, interpolate, range};
use crate::grid::thick_walls::{PosedThickWalls, ThickWalls};
use crate::grid::tile_halo::FaceWindow;
use crate::grid::tiles::{Coord, Tiles, floor};
use crate::particles::gradient::Gradient;
use crate::particles::rest::Rest;
use crate::particles::transfer::{FaceField, Stencil, sample};
use crate::particles::{Bins, Particles};
use crate::settings::{Settings, Transfer};
use crate::solids::SolidField;

/// Share of a cell that solids may enter a particle's place, or it a solid, between two looks: less than half of the
/// thinnest wall, beyond which a particle would leave it on the other side.
const LOOK: f64 = 0.6;
/// Cells that a particle may move between two looks.
const FARTHEST: f64 = 0.5;
/// Clearance, in cells, that rounding cannot use up.
const SAFE: f64 = 1e-6;
/// Pieces into which the way between two places of the solids is cut, at most.
const MOST_PIECES: usize = 1000;
/// Pushes out of a solid before a particle in a narrow gap is left alone.
const PUSHES: usize = 4;
/// Position correction moves no particle farther than this in a step, along each axis and in cells.
const LARGEST_SHIFT: f64 = 0.5;
/// Cells with more than this many times their share of particles, by their open part, have clumps.
const CLUMPED: f64 = 3.0;
/// Cells less open than this count as open by this much: a sliver with a few particles has no clump.
const LEAST_OPEN: f64 = 0.25;
/// Width, in cells, over which the particles of a clump are spread in a step.
const SPREAD: f64 = 0.5;
/// Particles are kept this far inside the domain, in cells.
const MARGIN: f64 = 1e-3;

/// Share of the way at which the last stage of the Runge-Kutta scheme reads a velocity.
const LAST_STAGE: f64 = 0.75;

/// Cells around a tile in which its particles find velocities side by side: what they pass on their way, most of them.
const PASSED: usize = 2;
/// The same for what they read where they start.
const BESIDE: usize = 1;
/// Number of particles below which gathering the surroundings of their tile does not pay.
const FEW: usize = 64;

/// The solids in a cell.
struct Wall<const D: usize> {
    cell: Coord<D>,
    /// Distances at the cell's corners, in metres, unless the tile is far from all solids.
    corners: Option<[f64; 8]>,
    /// The interpolated distance is nowhere in the cell less than this.
    clearance: f64,
}

/// What the particles read.
pub struct Flow<'a, const D: usize> {
    /// The cells there are.
    pub tiles: &'a Tiles<D>,
    /// Which particles are in them.
    pub bins: &'a Bins,
    /// Velocity after the pressure, continued beyond the liquid.
    pub velocity: &'a FaceField<D>,
    /// Velocity before forces, for FLIP; empty for APIC.
    pub before: &'a FaceField<D>,
    /// Displacement of the position correction, in metres.
    pub displacement: &'a FaceField<D, f32>,
    /// Solids at the start of the step.
    pub cut: &'a CutCells<D>,
}

/// Moves the particles, which are in the order of their cells, from `t` to `t + dt`.
pub fn advect<const D: usize>(
    particles: &mut Particles<D>,
    flow: &Flow<D>,
    solids: &ThickWalls<D>,
    settings: &Settings<D>,
    t: f64,
    dt: f64,
    solid_speed: f64,
) {
    let dx = settings.dx;
    let looks = (settings.physics.cfl * if solid_speed > 0.0 { 2.0 } else { 1.0 } / LOOK)
        .ceil()
        .max(1.0) as usize;
    let posed: Vec<PosedThickWalls<'_, D>> = (1..=looks)
        .map(|k| solids.over_step(t + dt * k as f64 / looks as f64, dt / looks as f64))
        .collect();
    let domain = settings.domain();
    let rest = (solid_speed == 0.0)
        .then(|| Rest::new(settings, dt))
        .flatten();
    let Particles {
        position,
        velocity,
        affine,
        attributes: _,
        material: _,
    } = particles;
    let (mut position, mut velocity, mut affine) =
        (&mut position[..], &mut velocity[..], &mut affine[..]);
    let cells = Tiles::<D>::CELLS;
    let parts: Vec<_> = (0..flow.tiles.len())
        .filter_map(|slot| {
            let count = flow.bins.of_cells(slot * cells..(slot + 1) * cells).len();
            let part = (
                slot,
                position.split_off_mut(..count)?,
                velocity.split_off_mut(..count)?,
                affine.split_off_mut(..count)?,
            );
            (count > 0).then_some(part)
        })
        .collect();
    let move_one = |nearby: &Nearby<D>,
                    wall: &Wall<D>,
                    spread: [f64; D],
                    position: &mut [f32; D],
                    velocity: &mut [f32; D],
                    affine: &mut Gradient<D>| {
        let start = position.map(|x| x as f64 / dx);
        let (first, shift) = nearby.read(settings, start, velocity, affine);
        let path = nearby.path(start, first, dt / dx);
        if let Some(rest) = &rest {
            rest.damp(velocity, affine);
        }
        let mut end: [f64; D] = std::array::from_fn(|a| {
            let shift = (shift[a] + spread[a] * dx).clamp(-LARGEST_SHIFT * dx, LARGEST_SHIFT * dx);
            (start[a] + path[a]) * dx + shift
        });
        let from = position.map(|x| x as f64);
        let travel = (0..D)
            .map(|a| (end[a] - from[a]) * (end[a] - from[a]))
            .sum::<f64>()
            .sqrt();
        // Particle and solids come closer by no more than this.
        let approach = travel + solid_speed * dt;
        // Linear interpolation of a distance is off by less than half a cell.
        let room = approach + 0.5 * dx;
        if wall.clearance < room && flow.distance(wall, start) < room {
            // The pressure may have made it faster than the step was meant for: its way is then cut finer.
            let pieces = (travel / (FARTHEST * dx * looks as f64)).ceil().max(1.0) as usize;
            let way = Way {
                from,
                to: end,
                pieces: pieces.min(MOST_PIECES),
                approach,
            };
            end = way.keep_out(&posed, velocity, dx);
        }
        for a in 0..D {
            let low = MARGIN * dx;
            position[a] = end[a].clamp(low, domain[a] - low) as f32;
        }
    };
    // One by one: tiles are few and long, and a last piece of several would keep one thread busy and the others waiting.
    parts.into_par_iter().with_max_len(1).for_each_init(
        || Nearby::new(flow, settings.physics.cfl),
        |nearby, (slot, position, velocity, affine)| {
            nearby.come_to(slot, position.len());
            let mut particles = position.iter_mut().zip(velocity).zip(affine);
            for cell in slot * cells..(slot + 1) * cells {
                let count = flow.bins.of(cell).len();
                if count == 0 {
                    continue;
                }
                let wall = flow.wall(cell);
                let open = f64::from(flow.cut.open_cell(cell)).max(LEAST_OPEN);
                let share = settings.physics.particles_per_cell as f64 * open;
                let is_clumped = count as f64 > CLUMPED * share;
                let in_cell = particles.by_ref().take(count).enumerate();
                for (k, ((position, velocity), affine)) in in_cell {
                    let spread = if is_clumped { spread(k) } else { [0.0; D] };
                    move_one(nearby, &wall, spread, position, velocity, affine);
                }
            }
        },
    );
}

/// Displacement, in cells, of the `k`-th particle of a clump: points of a low-discrepancy sequence around zero.
///
/// Particles that walls have pressed onto one another read the same velocity and the same displacement for ever after:
/// position correction, a field on the grid, cannot part them.
fn spread<const D: usize>(k: usize) -> [f64; D] {
    let steps = [
        0.754_877_666_246_693,
        0.569_840_290_998_053,
        0.430_159_709_001_947,
    ];
    std::array::from_fn(|a| SPREAD * (((k + 1) as f64 * steps[a]).fract() - 0.5))
}

/// What the particles of a tile read.
struct Nearby<'a, const D: usize> {
    flow: &'a Flow<'a, D>,
    /// Whether the windows are of this tile.
    gathered: bool,
    velocity: FaceWindow<D, PASSED>,
    before: FaceWindow<D, BESIDE>,
    displacement: FaceWindow<D, BESIDE>,
    /// Cells along an axis beyond which a way is straight.
    farthest: f64,
}

impl<'a, const D: usize> Nearby<'a, D> {
    fn new(flow: &'a Flow<'a, D>, cfl: f64) -> Self {
        Self {
            flow,
            farthest: cfl.ceil() / LAST_STAGE,
            gathered: false,
            velocity: FaceWindow::new(),
            before: FaceWindow::new(),
            displacement: FaceWindow::new(),
        }
    }

    /// Prepares for the particles of a tile.
    fn come_to(&mut self, slot: usize, particles: usize) {
        let flow = self.flow;
        self.gathered = particles >= FEW;
        if self.gathered {
            self.velocity.fill(flow.tiles, slot, flow.velocity);
            self.displacement.fill(flow.tiles, slot, flow.displacement);
            if !flow.before[0].is_empty() {
                self.before.fill(flow.tiles, slot, flow.before);
            }
        }
    }

    /// Gives a particle its new velocity and gradient; returns the grid's velocity and the displacement at its place.
    #[inline]
    fn read(
        &self,
        settings: &Settings<D>,
        x: [f64; D],
        velocity: &mut [f32; D],
        affine: &mut Gradient<D>,
    ) -> ([f64; D], [f64; D]) {
        let around = if self.gathered {
            self.velocity.around(x).zip(self.displacement.around(x))
        } else {
            None
        };
        let Some((around, beside)) = around else {
            return self.flow.read(settings, x, velocity, affine);
        };
        let grid: [f64; D];
        match settings.physics.transfer {
            Transfer::Apic => {
                let (values, gradients) = self.velocity.values_and_gradients(&around);
                grid = values.map(f64::from);
                *velocity = values;
                let per_metre = |g: f32| (g as f64 / settings.dx) as f32;
                *affine = Gradient::new(gradients.map(|gradient| gradient.map(per_metre)));
            }
            Transfer::Flip { pic } => {
                grid = self.velocity.values(&around).map(f64::from);
                let before = self.before.values(&beside);
                for a in 0..D {
                    velocity[a] = flip(velocity[a], before[a] as f64, grid[a], pic);
                }
                *affine = Gradient::NONE;
            }
        }
        (grid, self.displacement.values(&beside).map(f64::from))
    }

    /// The grid's velocity at a point given in cells.
    #[inline(always)]
    fn sample(&self, x: [f64; D]) -> [f64; D] {
        let around = if self.gathered {
            self.velocity.around(x)
        } else {
            None
        };
        match around {
            Some(around) => self.velocity.values(&around).map(f64::from),
            None => self.sample_grid(x),
        }
    }

    #[inline(never)]
    fn sample_grid(&self, x: [f64; D]) -> [f64; D] {
        sample(self.flow.tiles, self.flow.velocity, x)
    }

    /// Displacement over the step in cells, by Ralston's third-order scheme; `h` is the step in seconds per metre
    /// of cell width. Spray that is faster than the step is meant for flies straight: the scheme would read velocities where
    /// none have been extrapolated.
    #[inline(always)]
    fn path(&self, x: [f64; D], k1: [f64; D], h: f64) -> [f64; D] {
        if k1.iter().any(|k| (h * k).abs() > self.farthest) {
            return k1.map(|k| h * k);
        }
        let along = |k: [f64; D], share: f64| std::array::from_fn(|a| x[a] + share * h * k[a]);
        let k2 = self.sample(along(k1, 0.5));
        let k3 = self.sample(along(k2, LAST_STAGE));
        std::array::from_fn(|a| h / 9.0 * (2.0 * k1[a] + 3.0 * k2[a] + 4.0 * k3[a]))
    }
}

impl<const D: usize> Flow<'_, D> {
    /// The solids in a cell.
    fn wall(&self, index: usize) -> Wall<D> {
        let slot = index / Tiles::<D>::CELLS;
        let cell = self.tiles.coord(index);
        if self.cut.far[slot] {
            return Wall {
                cell,
                corners: None,
                clearance: self.cut.clearance(slot),
            };
        }
        let corners = self.cut.corners_of(self.tiles, index);
        Wall {
            cell,
            corners: Some(corners),
            clearance: range(&corners[..1 << D]).0,
        }
    }

    /// Distance of the solids at a point given in cells, as a rule in the wall's cell.
    #[inline]
    fn distance(&self, wall: &Wall<D>, x: [f64; D]) -> f64 {
        match wall.corners {
            // Rounding may put what is on the border of a cell into the next one.
            Some(corners) if x.map(floor) == wall.cell => interpolate::<D>(
                &corners,
                std::array::from_fn(|a| x[a] - wall.cell[a] as f64),
            ),
            _ => self.cut.distance(self.tiles, x),
        }
    }

    /// The same as [`Nearby::read`], without windows.
    fn read(
        &self,
        settings: &Settings<D>,
        x: [f64; D],
        velocity: &mut [f32; D],
        affine: &mut Gradient<D>,
    ) -> ([f64; D], [f64; D]) {
        let stencils = Stencil::of_faces(self.tiles, x);
        let mut grid = [0.0; D];
        let mut gradients = [[0.0; D]; D];
        for (a, stencil) in stencils.iter().enumerate() {
            match settings.physics.transfer {
                Transfer::Apic => {
                    let (value, gradient) = stencil.value_and_gradient(&self.velocity[a]);
                    grid[a] = value;
                    velocity[a] = value as f32;
                    gradients[a] = gradient.map(|g| (g / settings.dx) as f32);
                }
                Transfer::Flip { pic } => {
                    grid[a] = stencil.value(&self.velocity[a]);
                    let before = stencil.value(&self.before[a]);
                    velocity[a] = flip(velocity[a], before, grid[a], pic);
                }
            }
        }
        *affine = Gradient::new(gradients);
        let shift = std::array::from_fn(|a| stencils[a].value(&self.displacement[a]));
        (grid, shift)
    }
}

/// A particle's new velocity, from its old one and the grid's before and after the step.
#[inline]
fn flip(own: f32, before: f64, after: f64, pic: f64) -> f32 {
    let flip = own as f64 + after - before;
    (flip + pic * (after - flip)) as f32
}

/// The way of a particle near solids, in metres.
struct Way<const D: usize> {
    from: [f64; D],
    to: [f64; D],
    /// Pieces for each place of the solids.
    pieces: usize,
    /// By how much particle and solids come closer on the whole way, at most.
    approach: f64,
}

impl<const D: usize> Way<D> {
    /// Follows the way while the solids move, in pieces too short to pass through a solid two cells thick, and keeps it
    /// outside: a particle found inside is moved to the surface and loses only its velocity into the solid. Returns where
    /// it ends.
    fn keep_out(
        &self,
        posed: &[PosedThickWalls<'_, D>],
        velocity: &mut [f32; D],
        dx: f64,
    ) -> [f64; D] {
        let looks = posed.len() * self.pieces;
        let step: [f64; D] = std::array::from_fn(|a| (self.to[a] - self.from[a]) / looks as f64);
        let step_along = |x: &mut [f64; D]| x.iter_mut().zip(step).for_each(|(x, s)| *x += s);
        let mut x = self.from;
        // One look from the middle of the way may do for all of it.
        let middle = looks.div_ceil(2);
        for _ in 0..middle {
            step_along(&mut x);
        }
        let seen = posed[(middle - 1) / self.pieces].clearance(x);
        let farther = middle.max(looks - middle) as f64 / looks as f64;
        if seen > self.approach * farther + SAFE * dx {
            for _ in middle..looks {
                step_along(&mut x);
            }
            return x;
        }
        let mut x = self.from;
        let approach = self.approach / looks as f64;
        // At the start only what is interpolated is known, and beside thin walls that may be far off.
        let mut clearance = 0.0;
        for k in 0..looks {
            step_along(&mut x);
            // What was found before may do for several pieces.
            clearance -= approach;
            if clearance > SAFE * dx {
                continue;
            }
            let solids = &posed[k / self.pieces];
            for _ in 0..PUSHES {
                clearance = solids.clearance(x);
                if clearance >= 0.0 {
                    break;
                }
                let distance = solids.distance(x);
                let normal = solids.normal(x);
                // A hair beyond the surface, so that rounding to single precision does not put it back inside.
                for a in 0..D {
                    x[a] += (1e-4 * dx - distance) * normal[a];
                }
                if k + 1 == looks {
                    let solid = solids.closest(x);
                    let solid = solid.map_or([0.0; D], |solid| solids.velocity(solid, x));
                    let into: f64 = (0..D)
                        .map(|a| (solid[a] - velocity[a] as f64) * normal[a])
                        .sum();
                    for a in 0..D {
                        velocity[a] += (into.max(0.0) * normal[a]) as f32;
                    }
                }
            }
        }
        x
    }
}
