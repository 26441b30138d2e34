//! The projection of a liquid among bodies: pressure and contact in one problem.

use meniscus_lcp::Report;
use meniscus_liquid::multigrid::CouplingEntry;
use meniscus_liquid::{Faces, PressureProjection, Projected, Projection, StepError, Tiles, Walls};
use meniscus_rigid::{self as rigid, Bodies, Matrix6, StagedStep, Twist, Wrench};

use crate::added_mass::AddedMass;
use crate::body_field::{BodyMotion, BodyPath};
use crate::problem::CoupledProblem;
use crate::report::Load;
use crate::settings::Settings;
use crate::shares::{RowShares, ShareFinder, entries, wet_bodies};

/// Pressure and contact in one problem. [TB20 alg. 1]
pub struct CoupledProjection<'a, const D: usize> {
    /// Pressure of the liquid, from [`Liquid::projection`](meniscus_liquid::Liquid::projection).
    pub pressure: &'a mut PressureProjection<D>,
    /// The bodies. A successful projection moves them.
    pub bodies: &'a mut Bodies<D>,
    /// The bodies as solids of the liquid. A successful projection says how they move.
    pub motion: &'a BodyMotion<D>,
    /// Settings.
    pub settings: &'a Settings,
    /// Seconds for which gravity acts on the bodies.
    pub kick: f64,
    /// External forces on the bodies.
    pub forces: &'a [Wrench<D>],
    /// Result of a successful projection.
    pub outcome: Option<Outcome<D>>,
    /// Error of the bodies, if that is why the projection failed.
    pub failure: Option<rigid::StepError>,
}

/// What a projection has done to the bodies.
#[derive(Clone, Debug)]
pub struct Outcome<const D: usize> {
    /// Report of the bodies.
    pub bodies: rigid::StepReport<D>,
    /// Forces on every body.
    pub loads: Vec<Load<D>>,
    /// Free bodies that touch the liquid, with what the solve knew of them.
    pub wet: Vec<WetBody<D>>,
    /// Multigrid cycles of all solves.
    pub cycles: usize,
    /// Solves.
    pub solves: usize,
    /// Contact problems.
    pub small_solves: usize,
    /// Contacts.
    pub contacts: usize,
    /// Rounds of pressure and contact, or of friction where it did not follow the normal impulses by itself.
    pub rounds: usize,
    /// Difference of the velocities of bodies between liquid and contacts, where rounds of friction did not settle; else zero.
    pub unsettled: f64,
}

/// A free body that touches the liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WetBody<const D: usize> {
    /// Index of the body.
    pub body: usize,
    /// Inertia of the body alone, about the centre of mass.
    pub own_inertia: Matrix6,
    /// Inertia in the solve.
    pub inertia: Matrix6,
    /// Momentum before the solve, with what the layer between surface and cell centres has.
    pub momentum: [f64; 6],
    /// Impulse of the pressure.
    pub impulse: [f64; 6],
    /// Velocity after the solve.
    pub twist: Twist<D>,
    /// Whether the correction of the inertia is limited.
    pub limited: bool,
}

/// The problem before anything responds.
pub(crate) struct Base<const D: usize> {
    pub rows: Vec<RowShares>,
    pub rhs: Vec<f64>,
    pub lower: Vec<f64>,
    pub listed: Vec<usize>,
    pub entries: Vec<CouplingEntry>,
    /// Velocities of the listed bodies after external forces.
    pub starts: Vec<Twist<D>>,
}

impl<const D: usize> CoupledProjection<'_, D> {
    /// Contacts and external forces.
    fn begin(&mut self, faces: &Faces<'_, D>, dt: f64) -> Result<StagedStep<D>, StepError> {
        let mut step = match self.bodies.begin_step(dt, self.kick, self.forces) {
            Ok(step) => step,
            Err(error) => return Err(self.fail(error)),
        };
        if self.settings.baumgarte > 0.0 {
            let margin = self.settings.margin * faces.settings.dx;
            step.stabilise(self.settings.baumgarte, margin);
        }
        Ok(step)
    }

    /// The problem as plain data. Nothing is solved or moved.
    pub fn problem(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
    ) -> Result<CoupledProblem<D>, StepError> {
        self.pressure.assemble(faces, dt)?;
        let mut step = self.begin(faces, dt)?;
        let base = self.prepare(faces, &step);
        self.set_inertia(faces, &base, &[], &mut step);
        step.assemble(self.bodies, &base.listed);
        let impulse_scale = dt * faces.settings.dx.powi(D as i32);
        let pressure = self.pressure.problem(&faces.weights(), faces.settings, dt);
        Ok(CoupledProblem::new(pressure, &base, &step, impulse_scale))
    }

    /// Right-hand side, bounds and blocks of bodies.
    pub(crate) fn prepare(&mut self, faces: &Faces<'_, D>, step: &StagedStep<D>) -> Base<D> {
        let finder = ShareFinder::new(faces, self.bodies);
        let mut rows = finder.of_rows(self.pressure.cells(), self.pressure.is_wall(), step);
        rows.extend(finder.of_films(self.pressure.cells(), self.pressure.is_wall(), step));
        let listed = wet_bodies(&rows);
        let default = match faces.settings.physics.walls {
            Walls::Separating => 0.0,
            Walls::Slip | Walls::Stick => f64::INFINITY,
        };
        let problem = self.pressure.stencil_problem();
        for row in &rows {
            let at = row.row as usize;
            if row.given != 0.0 {
                problem.rhs[at] += row.given;
            }
            if row.is_film {
                continue;
            }
            let adhesion = row.largest.map_or(default, |solid| {
                self.settings.adhesion(solid.0 as usize, default)
            });
            if adhesion != 0.0 && problem.lower[at].is_finite() {
                problem.lower[at] -= adhesion;
            }
        }
        Base {
            rhs: problem.rhs.clone(),
            lower: problem.lower.clone(),
            entries: entries(&rows, &listed),
            starts: listed.iter().map(|&body| step.start(body)).collect(),
            listed,
            rows,
        }
    }

    /// Gives bodies their inertia, the layer on separated rows left out.
    pub(crate) fn set_inertia(
        &self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        skip: &[bool],
        step: &mut StagedStep<D>,
    ) -> Vec<WetBody<D>> {
        let layers = match self.settings.mass_correction {
            true => AddedMass::of(&base.rows, skip, faces, step, &base.listed),
            false => vec![AddedMass::default(); base.listed.len()],
        };
        let bodies = base.listed.iter().zip(&base.starts).zip(&layers);
        bodies
            .map(|((&body, start), layer)| {
                let (inertia, momentum) = layer.start(step, body, start);
                if self.settings.mass_correction {
                    step.set_inertia(body, inertia, momentum);
                }
                WetBody {
                    body,
                    own_inertia: step.inertia(body),
                    inertia,
                    momentum,
                    impulse: [0.0; 6],
                    twist: Twist::ZERO,
                    limited: layer.limited,
                }
            })
            .collect()
    }

    /// Keeps an error of the bodies for whoever wants to know it in full.
    pub(crate) fn fail(&mut self, error: rigid::StepError) -> StepError {
        let why = error.to_string();
        self.failure = Some(error);
        StepError::Refused(why)
    }

    pub(crate) fn set_paths(&self, twists: &[Twist<D>]) {
        let path = |body: usize| BodyPath {
            end: self.bodies.pose(body),
            twist: twists[body],
        };
        self.motion
            .set_paths((0..self.bodies.len()).map(path).collect());
    }

    /// A step in which no free body touches the liquid.
    fn project_apart(
        &mut self,
        faces: &mut Faces<'_, D>,
        mut step: StagedStep<D>,
        dt: f64,
    ) -> Result<Projected, StepError> {
        let solution = self.pressure.solve(faces.settings, dt)?;
        let report = loop {
            step.assemble(self.bodies, &[]);
            let twists: Vec<Twist<D>> = (0..self.bodies.len()).map(|b| step.twist(b)).collect();
            match self.bodies.finish_step(&mut step) {
                Ok(None) => continue,
                Ok(Some(report)) => {
                    self.set_paths(&twists);
                    break report;
                }
                Err(error) => return Err(self.fail(error)),
            }
        };
        let loads = (report.contact_forces.iter().zip(&report.joint_forces))
            .map(|(&contact, &joint)| Load {
                contact,
                joint,
                ..Load::NONE
            })
            .collect();
        let cycles = solution.report.iterations;
        let projected = self.pressure.apply(faces, solution, dt)?;
        self.outcome = Some(Outcome {
            bodies: report,
            loads,
            wet: Vec::new(),
            cycles,
            solves: 1,
            small_solves: 0,
            contacts: step.contacts(),
            rounds: 0,
            unsettled: 0.0,
        });
        Ok(projected)
    }
}

impl<const D: usize> Projection<D> for CoupledProjection<'_, D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        self.pressure.assemble(faces, dt)?;
        let step = self.begin(faces, dt)?;
        let base = self.prepare(faces, &step);
        faces.phases.begin("pressure-contact");
        if base.listed.is_empty() {
            return self.project_apart(faces, step, dt);
        }
        let (solution, outcome) = self.solve(faces, &base, step, dt)?;
        let projected = self.pressure.apply(faces, solution, dt)?;
        self.outcome = Some(outcome);
        Ok(projected)
    }

    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError> {
        self.pressure.correct_positions(faces, drift, dt)
    }

    fn accept(&mut self, tiles: &Tiles<D>, dt: f64) {
        self.pressure.accept(tiles, dt);
    }
}
