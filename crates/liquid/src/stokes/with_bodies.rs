//! The solve with rigid bodies: contacts by a semismooth Newton method around linear solves.
//!
//! For impulses `j` of the liquid, bodies move at `R(j)`: a small problem of contacts, friction and joints, solved exactly. Where
//! `R` is linear, `v = R(j_k) + R'(j_k) (j - j_k)` closes the linear system of liquid and bodies; it is solved, and
//! the rounds end when `R` at its impulses agrees with its velocities. Without friction the rounds are those of an active set.
//!
//! `settle.rs` keeps the rounds from going in circles.

use meniscus_lcp::InputError;

use super::bodies::{BodiesInLiquid, BodyFaces, BodyModes, BodyOctants, modes, stress};
use super::fractions::Geometry;
use super::level::{FaceKind, Medium};
use super::motion::Motion;
use super::projection::StokesProjection;
use super::settle::{Found, apart};
use super::solve::{Report, Settings, Solver, Status};
use super::system::System;
use crate::compiled::Compiled;
use crate::multigrid::{FREEDOMS, Response, freedoms};
use crate::particles::transfer::{FaceField, face_offset};
use crate::projection::{Faces, Projected};
use crate::report::StepError;
use crate::solvers::Solution;

/// Rounds of contacts at most.
const ROUNDS: usize = 60;
/// Tolerances of the solves while contacts change, each for so many rounds; then that of the settings.
const COARSE: [f64; 2] = [1e-2, 1e-3];
const EACH: usize = 3;
/// Rounds in which friction has to settle before its forces are kept.
const FOLLOWS: usize = 10;
/// Difference of velocities, relative to the largest of any round and to what impulses would do without contacts, at which bodies
/// and liquid agree.
const AGREED: f64 = 1e-6;
/// The same for the last round.
const CLOSE: f64 = 1e-2;
/// No bodies.
pub(crate) struct NoBodies;

impl Response for NoBodies {
    fn groups(&self) -> usize {
        0
    }
    fn respond(&mut self, _impulse: &[f64], _velocity: &mut [f64]) {}
    fn derivative(&mut self, _matrix: &mut Vec<f64>) -> bool {
        false
    }
    fn inverse_mass(&self, _group: usize) -> [[f64; FREEDOMS]; FREEDOMS] {
        [[0.0; FREEDOMS]; FREEDOMS]
    }
    fn is_affine(&self) -> bool {
        true
    }
    fn potential(&self) -> Option<f64> {
        None
    }
}

/// Bodies in a step.
pub(super) struct InStep<'a, const D: usize> {
    pub modes: &'a [BodyModes<D>],
    pub octants: &'a BodyOctants,
    /// Velocities of the last solve.
    pub velocities: Vec<f64>,
    /// Impulses of the liquid in the last solve ...
    pub impulses: Vec<f64>,
    /// ... and in those before it, where forces are solved for in turn.
    pub earlier: Vec<f64>,
    pub response: &'a mut dyn Response,
}

impl<const D: usize> InStep<'_, D> {
    /// Forgets impulses of earlier solves.
    pub fn begin_round(&mut self) {
        self.earlier.fill(0.0);
    }

    /// Lets the next solve start without impulses.
    pub fn forget_impulses(&mut self) {
        self.impulses.fill(0.0);
    }

    /// Lets the next solve add to the impulses of this one.
    pub fn keep_impulses(&mut self) {
        self.earlier = self.all_impulses();
        self.impulses.fill(0.0);
    }

    /// Impulses of all solves.
    pub fn all_impulses(&self) -> Vec<f64> {
        let pairs = self.earlier.iter().zip(&self.impulses);
        pairs.map(|(earlier, own)| earlier + own).collect()
    }

    /// Lets the bodies respond to all impulses.
    pub fn respond(&mut self) {
        let impulses = self.all_impulses();
        self.response.respond(&impulses, &mut self.velocities);
    }

    fn faces(&self, system: &System<D>) -> BodyFaces {
        let (level, shares) = (&system.level, &system.shares);
        BodyFaces::build(self.octants, level, shares, self.modes, system.medium.dx)
    }

    /// Takes the bodies' shares of faces from the velocity of other solids there.
    pub fn leave_room(&self, system: &System<D>, scripted: &mut FaceField<D>) {
        let faces = self.faces(system);
        let freedoms = freedoms::<D>();
        for axis in 0..D {
            let along = (0..faces.len()).map(|k| f64::from(u8::from(k % freedoms == axis)));
            let along: Vec<f64> = along.collect();
            faces.fluxes(&along, |of, index, _, share| {
                if of == axis {
                    let closed = 1.0 - system.face_shares(axis, index).1;
                    scripted[axis][index] *= (1.0 - share / closed.max(share)).max(0.0);
                }
            });
        }
    }

    /// Velocity of all solids on faces, for the last velocities of the bodies, or for those without impulses.
    pub fn with(
        &mut self,
        system: &System<D>,
        scripted: Option<&FaceField<D>>,
        first: bool,
    ) -> Option<FaceField<D>> {
        if self.modes.is_empty() {
            return scripted.cloned();
        }
        if first {
            self.respond();
        }
        Some(total(
            system,
            &self.faces(system),
            scripted,
            &self.velocities,
        ))
    }

    /// Solves for fluxes, pressures and velocities of the bodies, from `x`.
    pub fn solve(
        &mut self,
        system: &System<D>,
        before: &FaceField<D>,
        scripted: Option<&FaceField<D>>,
        settings: &Settings,
        x: &mut Vec<f64>,
    ) -> Result<Report, InputError> {
        let faces = self.faces(system);
        let in_liquid = BodiesInLiquid {
            modes: self.modes,
            octants: self.octants,
            faces: &faces,
        };
        let mut solver = Solver::with_bodies(system, Some(in_liquid))?;
        let medium = &system.medium;
        let cell = medium.density * medium.dx.powi(D as i32);
        let (n, f) = (faces.len(), freedoms::<D>());
        let free: Vec<f64> = (0..n)
            .map(|k| self.response.inverse_mass(k / f)[k % f][k % f])
            .collect();
        let mut matrix = Vec::new();
        let mut iterations = 0;
        let mut fastest: f64 = 0.0;
        let mut last: Option<Found> = None;
        // Rounds in which friction follows, and rounds in which it was kept.
        let (mut tried, mut kept) = (Vec::new(), Vec::new());
        let mut best: Option<(f64, Found)> = None;
        let mut frozen = false;
        let allowed = settings.tolerance;
        for round in 0.. {
            self.respond();
            let (impulses, velocities) = (&mut self.impulses, &self.velocities);
            let changed = self.response.derivative(&mut matrix);
            fastest = velocities.iter().fold(fastest, |m, v| m.max(v.abs()));
            let motion = Motion::new(velocities, impulses, &matrix, &free, cell);
            solver.set_motion(&motion);
            let known = total(system, &faces, scripted, &motion.start);
            let mut b = system.rhs_impl(before, Some(&known));
            system.make_solvable(&mut b);
            b.extend(body_rhs(system, &faces, before, &known, &motion));
            x.truncate(system.len());
            let pushed = motion.transposed(impulses);
            let pushed = pushed.iter().zip(&motion.shift);
            x.extend(pushed.map(|(pushed, shift)| pushed / cell - shift));
            let is_affine = self.response.is_affine();
            let settled = is_affine || round > 0 && !changed;
            let tolerance = match COARSE.get(round / EACH) {
                Some(&coarse) if !settled => allowed.max(coarse),
                _ => allowed,
            };
            let settings = Settings {
                tolerance,
                ..*settings
            };
            let mut report = solver.solve_impl(&b, &settings, x);
            iterations += report.iterations;
            report.iterations = iterations;
            let moved = motion.apply(&x[system.len()..]);
            let linear: Vec<f64> = motion.start.iter().zip(moved).map(|(v, m)| v + m).collect();
            let full = total(system, &faces, scripted, &linear);
            *impulses = liquid_impulses(system, &faces, before, &full, x);
            motion.consistent(impulses, &x[system.len()..]);
            impulses.iter_mut().for_each(|j| *j *= cell);
            x.truncate(system.len());
            if report.status != Status::Converged {
                self.response.freeze_friction(false);
                return Ok(report);
            }
            if tolerance > allowed {
                last = None;
                continue;
            }
            let mut found = Found {
                x: x.clone(),
                velocities: linear,
                impulses: self.impulses.clone(),
            };
            let follows = self.response.potential().is_none();
            if changed || !follows {
                tried.clear();
            }
            found = match last.take() {
                _ if is_affine => found,
                _ if follows => self.mixed(&mut tried, found),
                Some(last) => self.shortened(&last, found),
                None => found,
            };
            self.impulses.clone_from(&found.impulses);
            self.respond();
            let alone = found.impulses.iter().zip(&free);
            let alone = alone.map(|(j, inverse)| (j * inverse).abs());
            let reached = found.velocities.iter().map(|v| v.abs());
            let speed = alone.chain(reached).fold(fastest, f64::max);
            let relative = |a: &[f64], b: &[f64]| match speed > 0.0 {
                true => apart(a, b) / speed,
                false => 0.0,
            };
            let mut difference = relative(&found.velocities, &self.velocities);
            let agrees = is_affine || difference <= AGREED;
            if frozen && agrees {
                // The forces of friction that belong to the normal ones.
                self.response.freeze_friction(false);
                found = self.mixed(&mut kept, found);
                self.impulses.clone_from(&found.impulses);
                self.respond();
                difference = relative(&found.velocities, &self.velocities);
            }
            if agrees && (is_affine || difference <= AGREED) {
                self.velocities = found.velocities;
                *x = found.x;
                return Ok(report);
            }
            if (agrees || !frozen) && best.as_ref().is_none_or(|best| difference < best.0) {
                best = Some((difference, found.clone()));
            }
            if round >= ROUNDS {
                // The closest round is the solution for contacts that hold or slide a little differently.
                self.response.freeze_friction(false);
                report.status = Status::Unconverged;
                if let Some((difference, best)) = best.filter(|best| best.0 <= CLOSE) {
                    report.status = Status::Converged;
                    report.unsettled = difference * speed;
                    self.impulses = best.impulses;
                    self.respond();
                    self.velocities = best.velocities;
                    *x = best.x;
                }
                return Ok(report);
            }
            x.clone_from(&found.x);
            if frozen && agrees || !frozen && follows && round >= FOLLOWS {
                frozen = true;
                self.response.freeze_friction(true);
            } else {
                last = Some(found);
            }
        }
        unreachable!("the last round returns")
    }
}

/// Velocity of all solids on faces: that of the bodies is their flux per closed share.
fn total<const D: usize>(
    system: &System<D>,
    faces: &BodyFaces,
    scripted: Option<&FaceField<D>>,
    v: &[f64],
) -> FaceField<D> {
    let length = system.level.tiles.field_len();
    let none = || std::array::from_fn(|_| vec![0.0; length]);
    let mut field = scripted.cloned().unwrap_or_else(none);
    faces.fluxes(v, |axis, index, _, flux| {
        field[axis][index] += match system.shares.kind[axis][index] {
            FaceKind::Solid => flux,
            _ => flux / (1.0 - system.face_shares(axis, index).1),
        };
    });
    field
}

/// Right-hand side of the rows of the bodies.
fn body_rhs<const D: usize>(
    system: &System<D>,
    faces: &BodyFaces,
    before: &FaceField<D>,
    known: &FaceField<D>,
    motion: &Motion,
) -> Vec<f64> {
    let fluxes = system.known_flux(known);
    let pulled = faces.transposed(|axis, index, mass| match mass > 0.0 {
        true => {
            let own = system.face_shares(axis, index).1 * before[axis][index];
            mass * (own + system.solid_flux(known, axis, index))
        }
        false => stress(&system.level, &fluxes, axis, index),
    });
    let rows = motion.transposed(&pulled);
    let rows = rows.iter().zip(&motion.shift);
    rows.map(|(g, shift)| -g - shift).collect()
}

/// Impulses of the liquid on the bodies, per mass of a cell.
fn liquid_impulses<const D: usize>(
    system: &System<D>,
    faces: &BodyFaces,
    before: &FaceField<D>,
    solid: &FaceField<D>,
    x: &[f64],
) -> Vec<f64> {
    let mut full = system.known_flux(solid);
    system.scatter(x, &mut full);
    let pulled = faces.transposed(|axis, index, mass| match mass > 0.0 {
        true => {
            let own = system.face_shares(axis, index).1 * before[axis][index];
            -mass * (full.t[axis][index] - own - system.solid_flux(solid, axis, index))
        }
        false => stress(&system.level, &full, axis, index),
    });
    pulled.iter().map(|g| -g).collect()
}

impl<const D: usize> StokesProjection<D> {
    /// Numbers of those bodies of a list that may touch the liquid of a step that has begun.
    pub fn wet_bodies(&mut self, faces: &Faces<'_, D>, bodies: &[BodyModes<D>]) -> Vec<usize> {
        (Compiled::get().stokes_wet_bodies)(self, faces, bodies)
    }

    pub(crate) fn wet_bodies_impl(
        &mut self,
        faces: &Faces<'_, D>,
        bodies: &[BodyModes<D>],
    ) -> Vec<usize> {
        let geometry = Geometry::of_faces(faces);
        let wet = BodyOctants::of(faces, &geometry, bodies).bodies(bodies.len());
        self.geometry = Some(geometry);
        let all = wet.iter().enumerate();
        all.filter(|(_, wet)| **wet).map(|(k, _)| k).collect()
    }

    /// Solves for the liquid and these bodies at once; `response` is theirs, in the same order. Nothing is written yet.
    ///
    /// # Errors
    /// If the solve does not converge.
    pub fn solve_with(
        &mut self,
        faces: &mut Faces<'_, D>,
        dt: f64,
        bodies: &[BodyModes<D>],
        response: &mut dyn Response,
    ) -> Result<Solution, StepError> {
        (Compiled::get().stokes_solve_with)(self, faces, dt, bodies, response)
    }

    /// Velocities of the bodies after the last solve, and the impulses of the liquid on them.
    pub fn bodies(&self) -> Option<(&[f64], &[f64])> {
        let solved = self.solved.as_ref()?;
        Some((&solved.bodies.0, &solved.bodies.1))
    }

    /// Change of the liquid's momentum in the last solve along the freedoms of a rigid motion about the origin, translations
    /// first; for faces with the velocity before it.
    pub fn momentum_change(&self, faces: &Faces<'_, D>) -> Vec<f64> {
        let mut sum = vec![0.0; freedoms::<D>()];
        let Some(solved) = &self.solved else {
            return sum;
        };
        let system = &solved.system;
        let Medium { density, dx, .. } = system.medium;
        let velocity = system.liquid_velocity(&solved.x, solved.solid.as_ref());
        for ((axis, index), velocity) in system.faces().zip(velocity) {
            let (coord, offset) = (faces.tiles.coord(index), face_offset::<D>(axis));
            let x = std::array::from_fn(|a| (coord[a] as f64 + offset[a]) * dx);
            let open = system.face_shares(axis, index).1;
            let mass = density * dx.powi(D as i32) * open * open * system.level.mass[axis][index];
            let change = mass * (velocity - faces.velocity[axis][index]);
            let modes = modes(axis, x, [0.0; D]);
            sum.iter_mut()
                .zip(modes)
                .for_each(|(sum, m)| *sum += change * m);
        }
        sum
    }

    /// Writes the velocity of the last solve to the faces.
    ///
    /// # Errors
    /// If there is none.
    pub fn apply(
        &mut self,
        faces: &mut Faces<'_, D>,
        solution: Solution,
    ) -> Result<Projected, StepError> {
        (Compiled::get().stokes_apply)(self, faces, solution)
    }
}
