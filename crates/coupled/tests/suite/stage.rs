//! One solve on a grid with an exact surface and an exact flow, without particles.

use meniscus_coupled::{
    BodyMotion, BodyShapes, CoupledProblem, CoupledProjection, Outcome, Settings,
};
use meniscus_liquid::grid::cut_cells::CutCells;
use meniscus_liquid::grid::thick_walls::ThickWalls;
use meniscus_liquid::particles::Bins;
use meniscus_liquid::particles::transfer::{FaceField, face_offset};
use meniscus_liquid::{
    FaceNeighbour, FaceState, Faces, Particles, PressureProjection, Projected, Projection,
    Settings as LiquidSettings, Sources, StepError, Tiles, Walls,
};
use meniscus_rigid::{Bodies, Body, Settings as BodySettings, Wrench};
use rayon::prelude::*;

/// Parts of a solve.
pub struct Stage<const D: usize> {
    pub liquid: LiquidSettings<D>,
    pub settings: Settings,
    pub bodies: Bodies<D>,
    pub forces: Vec<Wrench<D>>,
    pub dt: f64,
    pub pressure: PressureProjection<D>,
    tiles: Tiles<D>,
    cut: CutCells<D>,
    phi: Vec<f32>,
    velocity: FaceField<D>,
    state: [Vec<FaceState>; D],
}

/// What a solve has found.
pub struct Solved<const D: usize> {
    pub projected: Projected,
    pub outcome: Outcome<D>,
    /// Change of the liquid's momentum, linear and angular about the origin.
    pub momentum: [f64; 6],
    /// Mass of the liquid that moves along the last axis.
    pub mass: f64,
}

impl<const D: usize> Stage<D> {
    /// Bodies in a domain of `n` cells per metre, without gravity.
    pub fn new(cells: [usize; D], dx: f64, bodies: Vec<Body<D>>) -> Self {
        let mut liquid = LiquidSettings::new(cells, dx);
        liquid.physics.gravity = [0.0; D];
        liquid.physics.walls = Walls::Slip;
        liquid.physics.pressure.tolerance = 1e-9;
        let settings = BodySettings::default()
            .gravity([0.0; D])
            .resting_gap(Some(0.02 * dx));
        let mut all = Bodies::new(settings).unwrap();
        for body in bodies {
            all.add(body).unwrap();
        }
        let mut tiles = Tiles::new(cells);
        let count: usize = cells.iter().product();
        let cell = |k: usize| {
            let mut rest = k;
            std::array::from_fn(|a| {
                let c = rest % cells[a];
                rest /= cells[a];
                c as i32
            })
        };
        tiles.cover((0..count).into_par_iter().map(cell), 2);
        Self {
            liquid,
            settings: Settings::default(),
            bodies: all,
            forces: Vec::new(),
            dt: 0.01,
            pressure: PressureProjection::default(),
            tiles,
            cut: CutCells::new(),
            phi: Vec::new(),
            velocity: std::array::from_fn(|_| Vec::new()),
            state: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Sets the surface of the liquid and its velocity before the solve.
    pub fn flow(&mut self, surface: impl Fn([f64; D]) -> f64, flow: impl Fn([f64; D]) -> [f64; D]) {
        let dx = self.liquid.dx;
        self.tiles.reset(&mut self.phi, 1e9);
        for axis in 0..D {
            self.tiles.reset(&mut self.velocity[axis], 0.0);
            self.tiles.reset(&mut self.state[axis], FaceState::Known);
        }
        for index in 0..self.tiles.cells() {
            let cell = self.tiles.coord(index);
            // Beyond the domain there is no liquid.
            if (0..D).any(|a| cell[a] < 0 || cell[a] >= self.liquid.cells[a] as i32) {
                continue;
            }
            self.phi[index] = surface(cell.map(|c| (c as f64 + 0.5) * dx)) as f32;
            for axis in 0..D {
                let offset: [f64; D] = face_offset(axis);
                let x = std::array::from_fn(|a| (cell[a] as f64 + offset[a]) * dx);
                self.velocity[axis][index] = flow(x)[axis];
            }
        }
    }

    /// Runs something on the faces with the bodies where they are.
    pub fn with_faces<T>(
        &mut self,
        run: impl FnOnce(
            &mut Faces<'_, D>,
            &mut PressureProjection<D>,
            &mut Bodies<D>,
            &BodyMotion<D>,
        ) -> T,
    ) -> T {
        let shapes = BodyShapes::new(&self.bodies);
        let motion = BodyMotion::new(&shapes, &self.bodies, self.bodies.time(), self.dt);
        let posed = ThickWalls::new(&motion, self.liquid.dx).over_step(0.0, self.dt);
        self.cut.sample(&self.tiles, self.liquid.dx, &posed);
        let mut displacement: FaceField<D, f32> = std::array::from_fn(|_| Vec::new());
        let mut faces = Faces {
            kick: 0.0,
            particles: &Particles::default(),
            bins: &Bins::default(),
            sources: &Sources::default(),
            time: 0.0,
            settings: &self.liquid,
            tiles: &self.tiles,
            cut: &self.cut,
            phi: &self.phi,
            number_density: &[],
            solids: &posed,
            velocity: &mut self.velocity,
            state: &mut self.state,
            displacement: &mut displacement,
            phases: &mut (),
        };
        run(&mut faces, &mut self.pressure, &mut self.bodies, &motion)
    }

    /// Solves, and moves the bodies.
    pub fn try_solve(&mut self) -> Result<Solved<D>, StepError> {
        let (dt, settings, forces) = (self.dt, self.settings.clone(), self.forces.clone());
        self.with_faces(|faces, pressure, bodies, motion| {
            let before = faces.velocity.clone();
            let mut projection = CoupledProjection {
                pressure,
                bodies,
                motion,
                settings: &settings,
                kick: dt,
                forces: &forces,
                outcome: None,
                failure: None,
            };
            let projected = projection.project(faces, dt)?;
            let outcome = projection.outcome.take().unwrap();
            let still: FaceField<D> = std::array::from_fn(|a| {
                let one = if a == D - 1 { 1.0 } else { 0.0 };
                faces.velocity[a].iter().map(|v| v - one).collect()
            });
            Ok(Solved {
                mass: momentum(faces, &still, &projected)[D - 1],
                momentum: momentum(faces, &before, &projected),
                projected,
                outcome,
            })
        })
    }

    pub fn solve(&mut self) -> Solved<D> {
        self.try_solve().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Lets the next solve start from this one.
    pub fn accept(&mut self) {
        let mut pressure = std::mem::take(&mut self.pressure);
        pressure.accept(&self.tiles, self.dt);
        self.pressure = pressure;
    }

    /// The problem as plain data.
    pub fn problem(&mut self) -> CoupledProblem<D> {
        let (dt, settings, forces) = (self.dt, self.settings.clone(), self.forces.clone());
        self.with_faces(|faces, pressure, bodies, motion| {
            let mut projection = CoupledProjection {
                pressure,
                bodies,
                motion,
                settings: &settings,
                kick: dt,
                forces: &forces,
                outcome: None,
                failure: None,
            };
            projection.problem(faces, dt).unwrap()
        })
    }

    /// Sets gravity for liquid and bodies. Bodies keep their poses and velocities of the start.
    pub fn gravity(mut self, gravity: [f64; D]) -> Self {
        self.liquid.physics.gravity = gravity;
        let settings = self.bodies.settings().gravity(gravity);
        let mut bodies = Bodies::new(settings).unwrap();
        for body in 0..self.bodies.len() {
            bodies.add(self.bodies.body(body).clone()).unwrap();
        }
        self.bodies = bodies;
        self
    }

    /// Pressure in a cell, if it has one.
    pub fn pressure_at(&self, cell: [i32; D]) -> Option<f64> {
        let index = self.tiles.index(cell) as u32;
        let row = self.pressure.cells().iter().position(|&c| c == index)?;
        Some(self.pressure.solution()[row])
    }

    /// All pressures with the centres of their cells.
    pub fn pressures(&self) -> Vec<([f64; D], f64)> {
        let dx = self.liquid.dx;
        let cells = self.pressure.cells().iter().zip(self.pressure.solution());
        cells
            .map(|(&cell, &p)| {
                let x = self.tiles.coord(cell as usize);
                (x.map(|c| (c as f64 + 0.5) * dx), p)
            })
            .collect()
    }
}

/// Change of the momentum of the liquid on faces, with the mass that each has in the problem.
fn momentum<const D: usize>(
    faces: &Faces<'_, D>,
    before: &FaceField<D>,
    projected: &Projected,
) -> [f64; 6] {
    let (weights, dx) = (faces.weights(), faces.settings.dx);
    let full = faces.settings.physics.density * dx.powi(D as i32);
    let mut sum = [0.0; 6];
    for index in 0..faces.tiles.cells() {
        if !projected.liquid.has(index) {
            continue;
        }
        for axis in 0..D {
            for high in [false, true] {
                let beyond = weights.beyond(index, axis, high);
                // Between two cells with a pressure the face belongs to the upper one.
                let share = match beyond {
                    FaceNeighbour::Solid => continue,
                    FaceNeighbour::Liquid if high => continue,
                    FaceNeighbour::Liquid => 1.0,
                    FaceNeighbour::Air { theta } => theta,
                };
                let open = weights.open_to(beyond, index, axis, high);
                let face = weights.face(index, axis, high);
                let change = faces.velocity[axis][face] - before[axis][face];
                let p = full * share * open * change;
                let mut x = faces.tiles.coord(index).map(|c| (c as f64 + 0.5) * dx);
                x[axis] += if high { 0.5 } else { -0.5 } * dx;
                sum[axis] += p;
                if D == 2 {
                    sum[2] += p * if axis == 0 { -x[1] } else { x[0] };
                } else {
                    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
                    sum[3 + b] += p * x[c];
                    sum[3 + c] -= p * x[b];
                }
            }
        }
    }
    sum
}
