//! Grid to particles, and the particles' way through a step: third-order Runge-Kutta, kept out of solids.

use rayon::prelude::*;

use crate::cut_cells::CutCells;
use crate::particles::Particles;
use crate::settings::{Settings, Transfer};
use crate::solids::{PosedSolids, Solids};
use crate::tiles::Tiles;
use crate::transfer::{FaceField, Stencil, sample};

/// Share of a cell that solids may enter a particle's place, or it a solid, between two looks.
const LOOK: f64 = 0.8;
/// Cells that a particle may move between two looks.
const FARTHEST: f64 = 0.5;
/// Pieces into which the way between two places of the solids is cut, at most.
const MOST_PIECES: usize = 1000;
/// Pushes out of a solid before a particle in a narrow gap is left alone.
const PUSHES: usize = 4;
/// Evening out moves no particle farther than this in a step, along each axis and in cells.
const LARGEST_SHIFT: f64 = 0.5;
/// Particles are kept this far inside the domain, in cells.
const MARGIN: f64 = 1e-3;

/// What the particles read.
pub struct Flow<'a, const D: usize> {
    /// The cells there are.
    pub tiles: &'a Tiles<D>,
    /// Velocity after the pressure, continued beyond the liquid.
    pub velocity: &'a FaceField<D>,
    /// Velocity before forces, for FLIP; empty for APIC.
    pub before: &'a FaceField<D>,
    /// Displacement that evens out the particles, in metres.
    pub displacement: &'a FaceField<D, f32>,
    /// Solids at the start of the step.
    pub cut: &'a CutCells<D>,
}

/// Moves the particles from `t` to `t + dt`.
pub fn advect<const D: usize, S: Solids<D>>(
    particles: &mut Particles<D>,
    flow: &Flow<D>,
    solids: &S,
    settings: &Settings<D>,
    t: f64,
    dt: f64,
    solid_speed: f64,
) {
    let dx = settings.dx;
    let looks = (settings.cfl * if solid_speed > 0.0 { 2.0 } else { 1.0 } / LOOK)
        .ceil()
        .max(1.0) as usize;
    let posed: Vec<S::Posed<'_>> = (1..=looks)
        .map(|k| solids.during(t + dt * k as f64 / looks as f64, dt / looks as f64))
        .collect();
    let domain = settings.domain();
    let Particles {
        position,
        velocity,
        affine,
    } = particles;
    let all = position
        .par_iter_mut()
        .zip(velocity.par_iter_mut())
        .zip(affine.par_iter_mut());
    all.with_min_len(1024)
        .for_each(|((position, velocity), affine)| {
            let start = position.map(|x| x as f64 / dx);
            let stencils = Stencil::of_faces(flow.tiles, start);
            let first = flow.read(settings, &stencils, velocity, affine);
            let path = flow.path(start, first, dt / dx);
            let mut end: [f64; D] = std::array::from_fn(|a| {
                let shift = stencils[a].value(&flow.displacement[a]);
                (start[a] + path[a]) * dx + shift.clamp(-LARGEST_SHIFT * dx, LARGEST_SHIFT * dx)
            });
            let from = position.map(|x| x as f64);
            let travel = (0..D)
                .map(|a| (end[a] - from[a]) * (end[a] - from[a]))
                .sum::<f64>()
                .sqrt();
            let clearance = flow.cut.distance(flow.tiles, start);
            // Linear interpolation of a distance is off by less than half a cell.
            if clearance < travel + solid_speed * dt + 0.5 * dx {
                // The pressure may have made it faster than the step was meant for: its way is then cut finer.
                let pieces = (travel / (FARTHEST * dx * looks as f64)).ceil().max(1.0) as usize;
                end = keep_out(&posed, from, end, pieces.min(MOST_PIECES), velocity, dx);
            }
            for a in 0..D {
                let low = MARGIN * dx;
                position[a] = end[a].clamp(low, domain[a] - low) as f32;
            }
        });
}

impl<const D: usize> Flow<'_, D> {
    /// Gives a particle its new velocity and gradient; returns the grid's velocity at its place.
    #[inline]
    fn read(
        &self,
        settings: &Settings<D>,
        stencils: &[Stencil<D>; D],
        velocity: &mut [f32; D],
        affine: &mut [[f32; D]; D],
    ) -> [f64; D] {
        let mut grid = [0.0; D];
        for (a, stencil) in stencils.iter().enumerate() {
            match settings.transfer {
                Transfer::Apic => {
                    let (value, gradient) = stencil.value_and_gradient(&self.velocity[a]);
                    grid[a] = value;
                    velocity[a] = value as f32;
                    affine[a] = gradient.map(|g| (g / settings.dx) as f32);
                }
                Transfer::Flip { pic } => {
                    grid[a] = stencil.value(&self.velocity[a]);
                    let flip = velocity[a] as f64 + grid[a] - stencil.value(&self.before[a]);
                    velocity[a] = (flip + pic * (grid[a] - flip)) as f32;
                }
            }
        }
        grid
    }

    /// Displacement over the step in cells, by Ralston's third-order scheme; `h` is the step in seconds per metre
    /// of cell width.
    #[inline]
    fn path(&self, x: [f64; D], k1: [f64; D], h: f64) -> [f64; D] {
        let along = |k: [f64; D], share: f64| std::array::from_fn(|a| x[a] + share * h * k[a]);
        let k2 = sample(self.tiles, self.velocity, along(k1, 0.5));
        let k3 = sample(self.tiles, self.velocity, along(k2, 0.75));
        std::array::from_fn(|a| h / 9.0 * (2.0 * k1[a] + 3.0 * k2[a] + 4.0 * k3[a]))
    }
}

/// Follows the way from `from` to `to` while the solids move, in `pieces` for each of their places and so too short to
/// pass through a solid two cells thick, and keeps it outside: a particle found inside is moved to the surface and
/// loses only its velocity into the solid.
fn keep_out<const D: usize>(
    posed: &[impl PosedSolids<D>],
    from: [f64; D],
    to: [f64; D],
    pieces: usize,
    velocity: &mut [f32; D],
    dx: f64,
) -> [f64; D] {
    let mut x = from;
    let looks = posed.len() * pieces;
    for k in 0..looks {
        let solids = &posed[k / pieces];
        for a in 0..D {
            x[a] += (to[a] - from[a]) / looks as f64;
        }
        for _ in 0..PUSHES {
            let distance = solids.distance(x);
            if distance >= 0.0 {
                break;
            }
            let normal = solids.normal(x);
            // A hair beyond the surface, so that rounding to single precision does not put it back inside.
            for a in 0..D {
                x[a] += (1e-4 * dx - distance) * normal[a];
            }
            if k + 1 == looks {
                let solid = solids.velocity(x);
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
