//! The projection of a liquid among bodies: pressure and contact in one problem.

use meniscus_lcp::{Report, Status};
use meniscus_liquid::multigrid::{Coupling, CouplingEntry, freedoms};
use meniscus_liquid::{
    FaceNeighbour, Faces, PressureProjection, Projected, Projection, SolidId, StepError, Tiles,
    Walls,
};
use meniscus_rigid::{self as rigid, Bodies, Matrix6, StagedStep, Twist, Wrench};

use crate::added_mass::{AddedMass, numbers, twist_of};
use crate::body_field::{BodyMotion, BodyPath};
use crate::contacts::{BodyResponse, derivative_of};
use crate::report::Load;
use crate::settings::Settings;
use crate::shares::{RowShares, ShareFinder, entries, wet_bodies};

/// Share of the response of free bodies below which they do not give way to the pressure of a pocket.
const HARDLY: f64 = 1e-6;
/// Solves of a step at most: for contacts that were missed, and liquid that separates from bodies.
const MOST_SOLVES: usize = 8;

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
struct Base<const D: usize> {
    rows: Vec<RowShares>,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    listed: Vec<usize>,
    entries: Vec<CouplingEntry>,
    /// Velocities of the listed bodies after external forces.
    starts: Vec<Twist<D>>,
}

impl<const D: usize> CoupledProjection<'_, D> {
    /// Right-hand side, bounds and blocks of bodies.
    fn prepare(&mut self, faces: &Faces<'_, D>, step: &StagedStep<D>) -> Base<D> {
        let finder = ShareFinder::new(faces);
        let rows = finder.of_rows(self.pressure.cells(), self.pressure.is_wall(), step);
        let listed = wet_bodies(&rows);
        let default = match faces.settings.physics.walls {
            Walls::Separating => 0.0,
            Walls::Slip => f64::INFINITY,
        };
        let problem = self.pressure.stencil_problem();
        for row in &rows {
            let at = row.row as usize;
            if row.given != 0.0 {
                problem.rhs[at] += row.given;
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
    fn set_inertia(
        &self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        skip: &[bool],
        step: &mut StagedStep<D>,
    ) -> Vec<WetBody<D>> {
        let layers = match self.settings.mass_correction {
            true => AddedMass::of(
                &base.rows,
                self.pressure.cells(),
                skip,
                faces,
                step,
                &base.listed,
            ),
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

    /// Solves for pressures and velocities, and moves the bodies.
    fn solve(
        &mut self,
        faces: &mut Faces<'_, D>,
        base: &Base<D>,
        mut step: StagedStep<D>,
        dt: f64,
    ) -> Result<(meniscus_liquid::solvers::Solution, Outcome<D>), StepError> {
        let settings = faces.settings;
        let impulse_scale = dt * settings.dx.powi(D as i32);
        let mut skip: Vec<bool> = Vec::new();
        let mut wet = self.set_inertia(faces, base, &skip, &mut step);
        let (mut cycles, mut solves) = (0, 0);
        let mut layers_settled = !self.settings.mass_correction;
        loop {
            step.assemble(self.bodies, &base.listed);
            let problem = self.pressure.stencil_problem();
            problem.rhs.copy_from_slice(&base.rhs);
            problem.lower.copy_from_slice(&base.lower);
            problem.upper.fill(f64::INFINITY);
            let pockets = Pockets::new(&step, base);
            let mut response = BodyResponse::new(&mut step, &base.listed);
            let mut coupling = Coupling {
                entries: &base.entries,
                impulse_scale,
                response: &mut response,
            };
            let solution = self.pressure.solve_coupled(
                settings,
                &mut coupling,
                &|rows| pockets.give_way(rows),
                solves > 0,
                &mut (),
                dt,
            )?;
            solves += 1;
            cycles += solution.report.iterations;
            if solution.report.status != Status::Converged {
                return Err(StepError::Unsolved(solution));
            }
            if !layers_settled && solves < MOST_SOLVES {
                layers_settled = true;
                let separated = self.pressure.is_separated();
                let mut of_bodies = base.rows.iter().filter(|row| !row.bodies.is_empty());
                if of_bodies.any(|row| separated[row.row as usize]) {
                    skip = separated.to_vec();
                    wet = self.set_inertia(faces, base, &skip, &mut step);
                    continue;
                }
            }
            let twists: Vec<Twist<D>> = (0..self.bodies.len()).map(|b| step.twist(b)).collect();
            match self.bodies.finish_step(&mut step) {
                Ok(None) if solves < MOST_SOLVES => continue,
                Ok(None) => return Err(StepError::Unsolved(solution)),
                Ok(Some(report)) => {
                    let impulses = self.impulses(base, impulse_scale);
                    for (k, wet) in wet.iter_mut().enumerate() {
                        wet.impulse = impulses[k];
                        wet.twist = twists[wet.body];
                    }
                    self.set_paths(&twists);
                    let outcome = Outcome {
                        loads: self.loads(faces, base, &wet, &report, dt),
                        bodies: report,
                        wet,
                        cycles,
                        solves,
                        small_solves: step.solved(),
                        contacts: step.contacts(),
                    };
                    return Ok((solution, outcome));
                }
                Err(error) => return Err(self.fail(error)),
            }
        }
    }

    /// Keeps an error of the bodies for whoever wants to know it in full.
    fn fail(&mut self, error: rigid::StepError) -> StepError {
        let why = error.to_string();
        self.failure = Some(error);
        StepError::Refused(why)
    }

    fn set_paths(&self, twists: &[Twist<D>]) {
        let path = |body: usize| BodyPath {
            end: self.bodies.pose(body),
            twist: twists[body],
        };
        self.motion
            .set_paths((0..self.bodies.len()).map(path).collect());
    }

    /// Impulses of the pressures on the listed bodies.
    fn impulses(&self, base: &Base<D>, impulse_scale: f64) -> Vec<[f64; 6]> {
        let pressure = self.pressure.solution();
        let mut impulses = vec![[0.0; 6]; base.listed.len()];
        for entry in &base.entries {
            let p = impulse_scale * pressure[entry.row as usize];
            let own = &mut impulses[entry.group as usize];
            (0..6).for_each(|k| own[k] += p * entry.value[k]);
        }
        impulses
    }

    /// Forces on the bodies, and where the liquid stands at them.
    fn loads(
        &self,
        faces: &Faces<'_, D>,
        base: &Base<D>,
        wet: &[WetBody<D>],
        report: &rigid::StepReport<D>,
        dt: f64,
    ) -> Vec<Load<D>> {
        let f = freedoms::<D>();
        let mut loads: Vec<Load<D>> = (report.contact_forces.iter().zip(&report.joint_forces))
            .map(|(&contact, &joint)| Load {
                contact,
                joint,
                ..Load::NONE
            })
            .collect();
        for (k, own) in wet.iter().enumerate() {
            // What the layer gives and takes is a part of the liquid's force: `(C p dt + m0 - dM v - M v*) / dt`.
            let (v, v0) = (numbers(&own.twist), numbers(&base.starts[k]));
            let mut force = own.impulse;
            for i in 0..f {
                for j in 0..f {
                    let layer = own.inertia[i][j] - own.own_inertia[i][j];
                    force[i] -= layer * v[j] + own.own_inertia[i][j] * v0[j];
                }
                force[i] = (force[i] + own.momentum[i]) / dt;
            }
            let Twist { linear, angular } = twist_of::<D>(&force);
            loads[own.body].liquid = Wrench {
                force: linear,
                torque: angular,
            };
        }
        self.measure_immersion(faces, base, &mut loads);
        loads
    }

    /// Submerged volumes and waterline areas, by the surface integral of the depth.
    fn measure_immersion(&self, faces: &Faces<'_, D>, base: &Base<D>, loads: &mut [Load<D>]) {
        let dx = faces.settings.dx;
        let (up, steepest) = up(faces.settings.physics.gravity);
        let high = up[steepest] > 0.0;
        let weights = faces.weights();
        let along = |x: &[f64]| -> f64 { (0..D).map(|a| x[a] * up[a]).sum() };
        // Per body: area, first moment of it in height, height of the surface, and how many cells know it.
        let mut sums = vec![[0.0; 4]; base.listed.len()];
        for entry in &base.entries {
            let cell = self.pressure.cells()[entry.row as usize] as usize;
            let area = along(&entry.value) * dx.powi(D as i32);
            let centre = faces.tiles.coord(cell).map(|c| (c as f64 + 0.5) * dx);
            let body = SolidId(base.listed[entry.group as usize] as u32);
            let size = entry.value[..D].iter().map(|c| c * c).sum::<f64>().sqrt();
            let mut height = along(&centre);
            if size > 0.0 {
                height += faces.solids.distance_to(body, centre) * along(&entry.value) / size;
            }
            let sum = &mut sums[entry.group as usize];
            sum[0] += area;
            sum[1] += area * height;
            if let FaceNeighbour::Air { theta } = weights.beyond(cell, steepest, high) {
                let mut surface = centre;
                surface[steepest] += theta * dx * up[steepest].signum();
                sum[2] += along(&surface);
                sum[3] += 1.0;
            }
        }
        for (&body, [area, moment, height, count]) in base.listed.iter().zip(sums) {
            let load = &mut loads[body];
            let is_cut = count > 0.0;
            load.waterline_area = if is_cut { area } else { 0.0 };
            let level = if is_cut { height / count } else { 0.0 };
            load.submerged_volume = area * level - moment;
        }
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
        });
        Ok(projected)
    }
}

/// Direction against gravity, the last axis without it, and its largest component.
fn up<const D: usize>(gravity: [f64; D]) -> ([f64; D], usize) {
    let size = gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let mut up = gravity.map(|g| if size > 0.0 { -g / size } else { 0.0 });
    if size == 0.0 {
        up[D - 1] = 1.0;
    }
    let steepest = (0..D).fold(D - 1, |best, a| {
        if up[a].abs() > up[best].abs() {
            a
        } else {
            best
        }
    });
    (up, steepest)
}

/// Which pockets of liquid move bodies.
struct Pockets<'a> {
    entries: &'a [CouplingEntry],
    /// Response of the bodies with contacts open: a contact gives way to a pressure that is large enough.
    response: Vec<f64>,
    freedoms: usize,
}

impl<'a> Pockets<'a> {
    fn new<const D: usize>(step: &StagedStep<D>, base: &'a Base<D>) -> Self {
        let inverse: Vec<Matrix6> = (base.listed.iter())
            .map(|&body| step.inverse_inertia(body))
            .collect();
        let mut response = Vec::new();
        derivative_of(step, &inverse, false, &mut response);
        Self {
            entries: &base.entries,
            response,
            freedoms: freedoms::<D>(),
        }
    }

    /// Whether the same pressure in all these rows, which rise, moves bodies.
    fn give_way(&self, rows: &[u32]) -> bool {
        let f = self.freedoms;
        let size = self.response.len().isqrt();
        let mut impulse = vec![0.0; size];
        let mut parts = vec![0.0; size];
        for entry in self.entries {
            if rows.binary_search(&entry.row).is_ok() {
                for k in 0..f {
                    impulse[entry.group as usize * f + k] += entry.value[k];
                    parts[entry.group as usize * f + k] += entry.value[k].abs();
                }
            }
        }
        // Of a body inside the pocket only rounding is left.
        for (impulse, part) in impulse.iter_mut().zip(&parts) {
            if impulse.abs() <= 1e-9 * part {
                *impulse = 0.0;
            }
        }
        let (mut moved, mut most) = (0.0, 0.0);
        for i in 0..size {
            let row = &self.response[i * size..][..size];
            let response: f64 = row.iter().zip(&impulse).map(|(n, j)| n * j).sum();
            moved += impulse[i] * response;
            most += impulse[i] * impulse[i] * row[i];
        }
        moved > HARDLY * most && most > 0.0
    }
}

impl<const D: usize> Projection<D> for CoupledProjection<'_, D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        self.pressure.assemble(faces, dt)?;
        let step = match self.bodies.begin_step(dt, self.kick, self.forces) {
            Ok(step) => step,
            Err(error) => return Err(self.fail(error)),
        };
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
