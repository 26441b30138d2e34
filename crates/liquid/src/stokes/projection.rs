//! Viscosity and pressure as a projection of the velocity on faces.

use meniscus_lcp::{Report as LcpReport, Status as LcpStatus};
use rayon::prelude::*;

use super::fractions::Geometry;
use super::level::{FaceKind, Medium, StressWalls};
use super::rheology::Rheology;
use super::solve::{Report, Settings, Solver, Status};
use super::system::{System, Viscosity};
use crate::compiled::Compiled;
use crate::grid::cell_set::CellSet;
use crate::grid::extrapolate::FaceState;
use crate::grid::tiles::Tiles;
use crate::particles::transfer::{FaceField, face_offset};
use crate::pressure::PressureProjection;
use crate::projection::{Faces, Projected, Projection};
use crate::report::StepError;
use crate::solvers::Solution;

/// Velocities of faces with less liquid than this are extrapolated from the others.
const LEAST_LIQUID: f64 = 0.1;
/// At slip walls, velocities of faces less open than this are extrapolated.
const LEAST_OPEN: f64 = 0.5;

/// Viscosity and pressure in one solve: the projection of a viscous liquid, for
/// [`Liquid::step_with`](crate::Liquid::step_with).
pub struct StokesProjection<const D: usize> {
    /// The liquid.
    pub rheology: Rheology,
    /// Whether walls hold it.
    pub walls: StressWalls,
    /// Rounds of viscosity and velocity in one step, for liquids that are not Newtonian. Default: 2.
    pub rounds: usize,
    /// Stopping criteria of the solve.
    pub settings: Settings,
    last: Option<Report>,
    /// For the position correction.
    pressure: PressureProjection<D>,
}

impl<const D: usize> StokesProjection<D> {
    /// For a liquid and its walls.
    pub fn new(rheology: Rheology, walls: StressWalls) -> Self {
        Self {
            rheology,
            walls,
            rounds: 2,
            settings: Settings::default(),
            last: None,
            pressure: PressureProjection::default(),
        }
    }

    /// Report of the last solve.
    pub fn report(&self) -> Option<Report> {
        self.last
    }

    /// Solves for the flux velocities and pressures; rounds of viscosity and velocity if the viscosity depends on the flow.
    fn solve(
        &mut self,
        faces: &Faces<'_, D>,
        medium: Medium,
        solid: Option<&FaceField<D>>,
    ) -> Result<(System<D>, Vec<f64>, Report), StepError> {
        let geometry = Geometry::of_faces(faces);
        let constant = Viscosity {
            cell: vec![self.rheology.viscosity(0.0); faces.tiles.field_len()],
            edge: None,
        };
        let mut system = System::new_impl(geometry, medium, &constant);
        let rounds = if self.rheology.is_newtonian() {
            1
        } else {
            self.rounds.max(1)
        };
        let mut viscosity = constant;
        if !self.rheology.is_newtonian() {
            // The first round takes the shear rates of the velocity before the step.
            let rates = system.shear_rates_impl(&system.flux(faces.velocity, solid), solid);
            viscosity = self.rheology.at(&rates);
            system = System::new_impl(system.geometry, medium, &viscosity);
        }
        for round in 1.. {
            let mut b = system.rhs_impl(faces.velocity, solid);
            system.make_solvable(&mut b);
            let mut x = system.flux(faces.velocity, solid);
            let mut solver = Solver::new_impl(&system).map_err(StepError::refused)?;
            let report = solver.solve_impl(&b, &self.settings, &mut x);
            drop(solver);
            if round >= rounds || report.status != Status::Converged {
                return Ok((system, x, report));
            }
            let rates = system.shear_rates_impl(&x, solid);
            viscosity = self.rheology.relaxed(&viscosity, &rates);
            system = System::new_impl(system.geometry, medium, &viscosity);
        }
        unreachable!("the last round returns")
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

    fn accept(&mut self, _tiles: &Tiles<D>, _dt: f64) {}
}

impl<const D: usize> StokesProjection<D> {
    pub(crate) fn project_impl(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
    ) -> Result<Projected, StepError> {
        faces.phases.begin("assemble");
        let medium = Medium {
            density: faces.settings.physics.density,
            dt,
            dx: faces.settings.dx,
            walls: self.walls,
        };
        let solid = solid_velocity(faces);
        faces.phases.begin("solve");
        let (system, x, report) = self.solve(faces, medium, solid.as_ref())?;
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
        faces.phases.begin("apply");
        self.write_velocity(&system, &x, solid.as_ref(), faces);
        let cells = system
            .cells()
            .filter(|&index| faces.cut.open_cell(index) > 0.0);
        Ok(Projected {
            liquid: CellSet::listed(faces.tiles, cells),
            separated: CellSet::of(faces.tiles, |_| false),
            unknowns: system.len(),
            wall_rows: 0,
            separated_rows: 0,
            separated_volume: 0.0,
            pockets: system.closed_regions(),
            lost_volume: 0.0,
            squeezed: None,
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
        self.pressure.correct_positions(faces, drift, dt)
    }

    /// Writes the velocity to the faces and classifies them.
    fn write_velocity(
        &self,
        system: &System<D>,
        x: &[f64],
        solid: Option<&FaceField<D>>,
        faces: &mut Faces<'_, D>,
    ) {
        let tiles = faces.tiles;
        for state in faces.state.iter_mut() {
            state.par_iter_mut().with_min_len(4096).for_each(|state| {
                *state = match *state {
                    FaceState::Known => FaceState::Ballistic,
                    _ => FaceState::Unknown,
                };
            });
        }
        let own = system.liquid_velocity(x, solid);
        for (((axis, index), &t), own) in system.faces().zip(x).zip(own) {
            let (liquid, open) = system.face_shares(axis, index);
            let sticks = self.walls == StressWalls::Stick;
            let known = liquid >= LEAST_LIQUID && (sticks || open >= LEAST_OPEN);
            faces.state[axis][index] = if known {
                FaceState::Known
            } else {
                FaceState::Unknown
            };
            // At walls that hold the liquid, the flux is the mean of the liquid's velocity and the wall's.
            faces.velocity[axis][index] = if sticks { t } else { own };
        }
        if self.walls == StressWalls::Slip {
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

/// Velocity of solids on the faces that they cover or cut; nothing if none moves.
fn solid_velocity<const D: usize>(faces: &Faces<'_, D>) -> Option<FaceField<D>> {
    let (tiles, dx) = (faces.tiles, faces.settings.dx);
    let field: FaceField<D> = std::array::from_fn(|axis| {
        let offset: [f64; D] = face_offset(axis);
        let all = (0..tiles.field_len()).into_par_iter().with_min_len(512);
        let velocity = all.map(|index| {
            if !tiles.exists(index) || faces.cut.open_face(axis, index) == 1.0 {
                return 0.0;
            }
            let coord = tiles.coord(index);
            let x = std::array::from_fn(|a| (coord[a] as f64 + offset[a]) * dx);
            faces.cut.solid_velocity(faces.solids, axis, index, x)[axis]
        });
        velocity.collect()
    });
    let moves = field.iter().flatten().any(|&v| v != 0.0);
    moves.then_some(field)
}
