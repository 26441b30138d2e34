//! Viscosity and pressure as a projection of the velocity on faces.

use meniscus_lcp::{Report as LcpReport, Status as LcpStatus};
use rayon::prelude::*;

use super::bodies::{BodyModes, BodyOctants};
use super::fractions::{Geometry, face_low};
use super::in_turn::Round;
use super::level::{FaceKind, Medium, StressWalls};
use super::mixture::{Mixture, limit_contrast};
use super::rheology::Rheology;
use super::solve::{Report, Settings, Status};
use super::system::System;
use super::walls::{RELEASES, WallCells};
use super::with_bodies::{InStep, NoBodies};
use crate::compiled::Compiled;
use crate::grid::cell_set::CellSet;
use crate::grid::extrapolate::FaceState;
use crate::grid::tiles::Tiles;
use crate::multigrid::{Response, freedoms};
use crate::particles::sources::Emitter;
use crate::particles::transfer::{FaceField, face_offset};
use crate::pressure::PressureProjection;
use crate::projection::{Faces, Projected, Projection};
use crate::report::StepError;
use crate::solvers::Solution;

/// Velocities of faces with less liquid than this are extrapolated from the others.
const LEAST_LIQUID: f64 = 0.1;
/// At slip walls, velocities of faces less open than this are extrapolated.
const LEAST_OPEN: f64 = 0.5;
/// Tolerance of the solves whose velocity only tells the viscosity of the next.
const BETWEEN_ROUNDS: f64 = 1e-3;

/// Viscosity and pressure in one solve: the projection of a viscous liquid, for
/// [`Liquid::step_with`](crate::Liquid::step_with).
pub struct StokesProjection<const D: usize> {
    /// Materials that take the place of those of the liquid's settings, if there are any.
    materials: Vec<Rheology>,
    /// Whether the liquid sticks to walls, whatever its settings say.
    walls: Option<StressWalls>,
    /// Whether pressure, viscosity and pressure are solved for in turn, whatever the settings of the liquid say. Default: no.
    pub decoupled: bool,
    /// Stopping criteria of the solve.
    pub settings: Settings,
    last: Option<Report>,
    /// Pressures of the last solve in cells, in Pa.
    pressures: Vec<f32>,
    /// Geometry of the step, once it is known.
    pub(super) geometry: Option<Geometry<D>>,
    /// Solution of the last solve.
    pub(super) solved: Option<Solved<D>>,
    /// For the position correction, and for the pressure that the next solve starts from.
    pub(crate) pressure: PressureProjection<D>,
}

impl<const D: usize> Default for StokesProjection<D> {
    /// For the materials and walls of the liquid's settings.
    fn default() -> Self {
        Self {
            materials: Vec::new(),
            walls: None,
            decoupled: false,
            settings: Settings::default(),
            last: None,
            pressures: Vec::new(),
            geometry: None,
            solved: None,
            pressure: PressureProjection::default(),
        }
    }
}

/// What a solve has found.
pub(super) struct Solved<const D: usize> {
    pub system: System<D>,
    pub x: Vec<f64>,
    pub solid: Option<FaceField<D>>,
    pub report: Report,
    pub rounds: usize,
    pub iterations: usize,
    /// Velocities of the bodies, and the impulses of the liquid on them.
    pub bodies: (Vec<f64>, Vec<f64>),
}

impl<const D: usize> StokesProjection<D> {
    /// For a liquid and its walls, whatever its settings say.
    pub fn new(rheology: Rheology, walls: StressWalls) -> Self {
        Self {
            materials: vec![rheology],
            walls: Some(walls),
            ..Self::default()
        }
    }

    /// With the pressure of a liquid, from [`Liquid::projection`](crate::Liquid::projection).
    pub fn with_pressure(pressure: PressureProjection<D>) -> Self {
        Self {
            pressure,
            ..Self::default()
        }
    }

    /// The pressure, to be given back.
    pub fn into_pressure(self) -> PressureProjection<D> {
        self.pressure
    }

    /// Report of the last solve.
    pub fn report(&self) -> Option<Report> {
        self.last
    }

    /// Solves for the flux velocities and pressures; rounds of viscosity and velocity if the viscosity depends on the flow,
    /// and of walls that let go.
    pub(super) fn solve(
        &mut self,
        faces: &Faces<'_, D>,
        dt: f64,
        modes: &[BodyModes<D>],
        response: &mut dyn Response,
    ) -> Result<Solved<D>, StepError> {
        let physics = &faces.settings.physics;
        let geometry = self.geometry.take();
        let mut geometry = geometry.unwrap_or_else(|| Geometry::of_faces(faces));
        let octants = BodyOctants::of(faces, &geometry, modes);
        let walls = match self.walls {
            Some(_) => WallCells { bears: Vec::new() },
            None => WallCells::of(faces, &mut geometry),
        };
        let emitters = faces.sources.emitters.iter();
        let emitters: Vec<&Emitter<D>> = emitters
            .filter(|emitter| emitter.active.contains(&(faces.time + 0.5 * dt)))
            .collect();
        for emitter in &emitters {
            geometry.hold(&emitter.shape, faces.settings.dx);
        }
        let medium = Medium {
            density: physics.density,
            dt,
            dx: faces.settings.dx,
            walls: self.walls.unwrap_or(StressWalls::Stick),
        };
        let mut scripted = solid_velocity(faces, &geometry, &emitters, modes);
        let mixture = Mixture::of(self.materials_of(faces), faces);
        let rounds = match mixture.is_newtonian() {
            true => 1,
            false => physics.viscosity_rounds.max(1),
        };
        let mut viscosity = mixture.constant(faces.tiles);
        limit_contrast(&geometry, &mut viscosity);
        let mut system = System::new_impl(geometry, medium, &viscosity);
        let mut bodies = InStep {
            modes,
            octants: &octants,
            velocities: vec![0.0; modes.len() * freedoms::<D>()],
            impulses: vec![0.0; modes.len() * freedoms::<D>()],
            earlier: vec![0.0; modes.len() * freedoms::<D>()],
            response,
        };
        if let Some(scripted) = &mut scripted {
            bodies.leave_room(&system, scripted);
        }
        let scripted = scripted.as_ref();
        // Bodies move as before the step in the first round.
        let mut solid = bodies.with(&system, scripted, true);
        if !mixture.is_newtonian() {
            // The first round takes the shear rates of the last step's velocity: those of liquid that gravity accelerates for a
            // moment, before walls hold it, would be as large as an impact's.
            let before: FaceField<D> = std::array::from_fn(|axis| {
                let kick = physics.gravity[axis] * faces.kick;
                faces.velocity[axis].iter().map(|v| v - kick).collect()
            });
            let rates =
                system.shear_rates_impl(&system.flux(&before, solid.as_ref()), solid.as_ref());
            viscosity = mixture.at(faces.tiles, None, &rates);
            limit_contrast(&system.geometry, &mut viscosity);
            system = System::new_impl(system.geometry, medium, &viscosity);
        }
        let (mut round, mut releases, mut iterations) = (1, 0, 0);
        let mut start: Option<Vec<f64>> = None;
        loop {
            let mut x = start
                .take()
                .unwrap_or_else(|| self.start(&system, faces, solid.as_ref()));
            // The viscosity of the next round needs fewer digits than the velocity of the last.
            let settings = Settings {
                tolerance: match round < rounds {
                    true => self.settings.tolerance.max(BETWEEN_ROUNDS),
                    false => self.settings.tolerance,
                },
                ..self.settings
            };
            let this = Round {
                system: &system,
                viscosity: &viscosity,
                before: faces.velocity,
                scripted,
                settings: &settings,
            };
            let report = match self.decoupled || physics.decoupled_viscosity {
                true => this.in_turn(&mut bodies, &mut x),
                false => this.at_once(&mut bodies, &mut x),
            };
            let report = report.map_err(StepError::refused)?;
            solid = bodies.with(&system, scripted, false);
            iterations += report.iterations;
            let finished = report.status != Status::Converged;
            let pulled = match releases < RELEASES {
                true if !finished => walls.pulled(&system, &x),
                _ => Vec::new(),
            };
            if finished || round >= rounds && pulled.is_empty() {
                return Ok(Solved {
                    system,
                    x,
                    solid,
                    report,
                    rounds: round,
                    iterations,
                    bodies: (bodies.velocities.clone(), bodies.all_impulses()),
                });
            }
            if round < rounds {
                let rates = system.shear_rates_impl(&x, solid.as_ref());
                viscosity = mixture.at(faces.tiles, Some(&viscosity), &rates);
                limit_contrast(&system.geometry, &mut viscosity);
                round += 1;
            }
            let mut geometry = system.geometry.clone();
            if !pulled.is_empty() {
                releases += 1;
                pulled.iter().for_each(|&cell| geometry.release(cell));
            }
            let next = System::new_impl(geometry, medium, &viscosity);
            start = Some(next.carried(&system, &x));
            system = next;
        }
    }

    fn materials_of<'a>(&'a self, faces: &'a Faces<'_, D>) -> &'a [Rheology] {
        match self.materials.is_empty() {
            true => &faces.settings.physics.materials,
            false => &self.materials,
        }
    }

    /// The fluxes before the step, and the pressures of the last one.
    fn start(
        &self,
        system: &System<D>,
        faces: &Faces<'_, D>,
        solid: Option<&FaceField<D>>,
    ) -> Vec<f64> {
        let mut x = system.flux(faces.velocity, solid);
        let unit = system.pressure_unit();
        for (q, index) in x[system.velocities()..].iter_mut().zip(system.cells()) {
            let last = self.pressure.pressure(faces.tiles.coord(index));
            *q = last.unwrap_or(0.0) / unit * system.geometry.shares(index, 0).0;
        }
        x
    }
}

impl<const D: usize> Projection<D> for StokesProjection<D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        (Compiled::get().stokes_project)(self, faces, dt)
    }

    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<LcpReport>, StepError> {
        (Compiled::get().stokes_correct)(self, faces, drift, dt)
    }

    fn accept(&mut self, tiles: &Tiles<D>, dt: f64) {
        self.pressure.accept(tiles, dt);
    }
}

impl<const D: usize> StokesProjection<D> {
    pub(crate) fn project_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
    ) -> Result<Projected, StepError> {
        faces.phases.begin("solve");
        let solution = self.solve_with_impl(faces, dt, &[], &mut NoBodies)?;
        self.apply_impl(faces, solution)
    }

    pub(crate) fn solve_with_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
        modes: &[BodyModes<D>],
        response: &mut dyn Response,
    ) -> Result<Solution, StepError> {
        let solved = self.solve(faces, dt, modes, response)?;
        let report = Report {
            iterations: solved.iterations,
            ..solved.report
        };
        self.last = Some(report);
        let status = match report.status {
            Status::Converged => LcpStatus::Converged,
            Status::Unconverged => LcpStatus::IterationLimit,
            Status::NonFinite => LcpStatus::NonFinite,
        };
        let lcp = LcpReport::new(
            status,
            report.iterations,
            0,
            report.residual / dt,
            report.residual,
        );
        let solution = Solution::of("fgmres-mg", "the liquid is viscous", lcp);
        if report.status != Status::Converged {
            return Err(StepError::Unsolved(solution));
        }
        self.solved = Some(solved);
        Ok(solution)
    }

    pub(crate) fn apply_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        solution: Solution,
    ) -> Result<Projected, StepError> {
        let Some(solved) = self.solved.take() else {
            return Err(StepError::Refused("nothing is solved yet".into()));
        };
        faces.phases.begin("apply");
        self.write_velocity(&solved, faces);
        self.keep_pressures(&solved, faces.tiles);
        let Solved { system, rounds, .. } = solved;
        let cells = system
            .cells()
            .filter(|&index| faces.cut.open_cell(index) > 0.0);
        let released = &system.geometry.released;
        let is_released = |index: usize| released.get(index).is_some_and(|&gone| gone);
        let at_wall = |index: &usize| system.geometry.shares(*index, 0).1 > 0.0;
        Ok(Projected {
            liquid: CellSet::listed(faces.tiles, cells),
            separated: CellSet::of(faces.tiles, is_released),
            unknowns: system.len(),
            wall_rows: system.cells().filter(at_wall).count(),
            separated_rows: released.iter().filter(|&&gone| gone).count(),
            separated_volume: 0.0,
            pockets: system.closed_regions(),
            lost_volume: 0.0,
            squeezed: None,
            viscosity_rounds: rounds,
            solution,
        })
    }

    pub(crate) fn correct_positions_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<LcpReport>, StepError> {
        self.pressure.prepare_correction(faces, dt)?;
        let pressures = &self.pressures;
        self.pressure
            .set_solution(|cell| f64::from(pressures[cell]));
        self.pressure.correct_positions(faces, drift, dt)
    }

    /// Keeps the pressures, for output and for the start of the next solve.
    fn keep_pressures(&mut self, solved: &Solved<D>, tiles: &Tiles<D>) {
        let system = &solved.system;
        let unit = system.pressure_unit();
        self.pressures.clear();
        self.pressures.resize(tiles.field_len(), 0.0);
        for (index, q) in system.cells().zip(&solved.x[system.velocities()..]) {
            self.pressures[index] = (q * unit / system.geometry.shares(index, 0).0) as f32;
        }
    }

    /// Writes the velocity to the faces and classifies them.
    fn write_velocity(&self, solved: &Solved<D>, faces: &mut Faces<'_, D>) {
        let tiles = faces.tiles;
        let (system, solid) = (&solved.system, solved.solid.as_ref());
        let all_slip = self.walls == Some(StressWalls::Slip);
        // Whether walls hold the liquid on both sides of a face.
        let sticks = |axis: usize, index: usize| {
            let holds = |cell: usize| system.geometry.holds(cell);
            !all_slip && holds(index) && holds(tiles.below(index, axis))
        };
        for state in faces.state.iter_mut() {
            state.par_iter_mut().with_min_len(4096).for_each(|state| {
                *state = match *state {
                    FaceState::Known => FaceState::Ballistic,
                    _ => FaceState::Unknown,
                };
            });
        }
        let own = system.liquid_velocity(&solved.x, solid);
        for (((axis, index), &t), own) in system.faces().zip(&solved.x).zip(own) {
            let (liquid, open) = system.face_shares(axis, index);
            let sticks = sticks(axis, index);
            let known = liquid >= LEAST_LIQUID && (sticks || open >= LEAST_OPEN);
            faces.state[axis][index] = if known {
                FaceState::Known
            } else {
                FaceState::Unknown
            };
            // At walls that hold the liquid, the flux is the mean of the liquid's velocity and the wall's.
            faces.velocity[axis][index] = if sticks { t } else { own };
        }
        if all_slip {
            return;
        }
        // Particles at walls that hold the liquid interpolate towards the velocity of the wall.
        for axis in 0..D {
            let state = &faces.state[axis];
            let is_wet = |index: usize| state[index] == FaceState::Known;
            let beside = (0..tiles.cells())
                .into_par_iter()
                .with_min_len(1024)
                .filter(|&index| {
                    system.shares.kind[axis][index] == FaceKind::Solid
                        && sticks(axis, index)
                        && (0..D)
                            .any(|a| is_wet(tiles.above(index, a)) || is_wet(tiles.below(index, a)))
                });
            let beside: Vec<usize> = beside.collect();
            for index in beside {
                faces.state[axis][index] = FaceState::Known;
                faces.velocity[axis][index] = solid.map_or(0.0, |solid| solid[axis][index]);
            }
        }
    }
}

/// Velocity of solids on the faces in whose cubes they are; nothing if none moves.
fn solid_velocity<const D: usize>(
    faces: &Faces<'_, D>,
    geometry: &Geometry<D>,
    emitters: &[&Emitter<D>],
    bodies: &[BodyModes<D>],
) -> Option<FaceField<D>> {
    let (tiles, dx, cut) = (faces.tiles, faces.settings.dx, faces.cut);
    let solids = faces.solids;
    let field: FaceField<D> = std::array::from_fn(|axis| {
        let offset: [f64; D] = face_offset(axis);
        let all = (0..tiles.field_len()).into_par_iter().with_min_len(512);
        let velocity = all.map(|index| {
            if !tiles.exists(index) || geometry.shares(index, face_low(axis)).1 == 0.0 {
                return 0.0;
            }
            let coord = tiles.coord(index);
            let x = std::array::from_fn(|a| (coord[a] as f64 + offset[a]) * dx);
            let inside = |emitter: &&&Emitter<D>| emitter.shape.distance(x) < 0.75 * dx;
            if cut.open_face(axis, index) == 1.0
                && let Some(emitter) = emitters.iter().find(inside)
            {
                return emitter.velocity[axis];
            }
            let owner = match cut.open_face(axis, index) < 1.0 {
                true => cut.owner(axis, index),
                false => solids.closest(x),
            };
            match owner {
                // Bodies are unknowns.
                Some(owner) if bodies.iter().any(|body| body.solid == owner) => 0.0,
                Some(owner) => solids.velocity(owner, x)[axis],
                None => 0.0,
            }
        });
        velocity.collect()
    });
    let moves = field.iter().flatten().any(|&v| v != 0.0);
    moves.then_some(field)
}
