//! Projective dynamics with the constraints' own normals, in the dual.
//!
//! DEVIATION [WKB16 (9)]: the paper's constraint matrices are the identity, which replaces the rank-one Hessian of a
//! constraint by a multiple of the identity on all coordinates of its particles; pressure then spreads by one neighbourhood
//! per round. Here `D_i` is the unit gradient of constraint `i`: the objective is the same, and the global matrix
//! `M/dt² + Gᵀ diag(K V) G` is that of Gauss and Newton. Its Schur complement in the multipliers `l = V p`,
//! `B = dt²/m G Gᵀ + 1/(K V)`, has a condition number that does not depend on `K`. A round linearises the constraints, takes
//! a few iterations of conjugate gradients on the active ones (`C_i > 0` or `l_i > 0`), and clamps: `l >= 0`.
//!
//! Cloth has a constant matrix `H` of its own and adds `G_c H⁻¹ G_cᵀ` to `B`; its strain limits and contacts are further rows
//! of the same problem, which [`bounded`](super::bounded) then solves.

use super::bounded::Bounded;
use super::{Others, Problem, SolveReport, Unknowns, displace, errors};
use crate::bodies::BodyStep;
use crate::constraints::Constraints;
use crate::kernel::support;
use crate::real::Real;
use crate::reduce::dot;
use rayon::prelude::*;

/// Relative excess of density below which a particle has left its neighbours, and its pressure is forgotten.
const APART: f64 = -0.05;
/// Residual of conjugate gradients at which a round ends early, relative to that at its beginning.
const INNER_TOLERANCE: f64 = 1e-2;
/// Rounds with full changes. Later ones are damped: at an impact the active set may alternate between two states for ever.
const UNDAMPED: usize = 8;
/// Share of the changes that later rounds make.
const DAMPING: f64 = 0.6;
/// Products with the matrix per round with cloth, in iterations of conjugate gradients.
const CLOTH_PRODUCTS: usize = 6;
/// Rounds without convergence after which contacts of cloth are looked for again.
const ROUNDS_BETWEEN_SEARCHES: usize = 8;

pub fn solve<const D: usize, R: Real>(
    problem: &mut Problem<'_, D, R>,
    constraints: &mut Constraints<R>,
    unknowns: &mut Unknowns<R>,
    mut others: Others<'_, '_, '_, '_, D>,
) -> SolveReport {
    let settings = problem.settings;
    let (mobility, compliance) = (problem.mobility(), problem.compliance());
    let n = constraints.excess.len();
    let mut report = SolveReport::default();
    let mut cg = ConjugateGradients::new(n, mobility, compliance);
    let mut bounded = Bounded::new(n);
    if let Some(bodies) = &mut others.bodies {
        let reach = support::<D>() * settings.spacing + settings.spacing;
        bodies.begin(&problem.walls, reach, &mut unknowns.position[..n]);
    }
    if let Some(cloth) = &mut others.cloth {
        cloth.begin(&problem.walls, problem.start, &unknowns.position[..n]);
        if let Some(bodies) = &mut others.bodies {
            // Contacts that are carried over push the bodies as well.
            cloth.linearise_bodies(bodies);
            bodies.add_impulses::<R>(&[], &cloth.multipliers());
            bodies.displace(&mut problem.walls);
        }
    }

    let is_warm = start(problem, constraints, unknowns, &mut others);
    loop {
        linearise(problem, constraints, unknowns, &mut others);
        let cloth_has_converged =
            (others.cloth.as_ref()).is_none_or(|cloth| cloth.has_converged(report.rounds));
        (report.mean_error, report.max_error) =
            errors(constraints, &unknowns.multiplier, compliance);
        report.has_converged = report.max_error <= settings.max_error
            && report.mean_error <= settings.mean_error
            && cloth_has_converged;
        // Pressures of the last step that are too high show in no excess: they have one round to fall.
        let may_end = report.rounds > 0 || !is_warm;
        let is_broken = !report.max_error.is_finite();
        if report.rounds == settings.rounds || is_broken {
            return report;
        }
        // A step that does not converge looks for contacts on its way, so that they are not left to the end.
        let is_late = report.rounds % ROUNDS_BETWEEN_SEARCHES == ROUNDS_BETWEEN_SEARCHES - 1;
        if (report.has_converged && may_end) || (is_late && others.cloth.is_some()) {
            let finds_contacts = others.cloth.as_mut().is_some_and(|cloth| {
                let finds = cloth.find_contacts(problem.start, &unknowns.position);
                if finds {
                    cloth.linearise_rows(&problem.walls, &unknowns.position);
                    if let Some(bodies) = &mut others.bodies {
                        cloth.linearise_bodies(bodies);
                    }
                }
                finds
            });
            if !finds_contacts && report.has_converged && may_end {
                return report;
            }
        }
        let mut of_rows = Vec::new();
        if let Some(cloth) = &mut others.cloth {
            let limit = CLOTH_PRODUCTS * settings.inner_iterations;
            let bodies = others.bodies.as_deref_mut();
            report.inner_iterations +=
                bounded.solve(problem, constraints, unknowns, cloth, bodies, limit);
            for (l, (change, kept)) in unknowns
                .multiplier
                .iter_mut()
                .zip(cg.change.iter_mut().zip(&bounded.change))
            {
                let next = (*l + R::of(*kept)).max(R::ZERO);
                *change = next - *l;
                *l = next;
            }
            of_rows = cloth.clamp(&bounded.change[n..]);
            constraints.transposed_product(&cg.change);
            cloth.respond(&cg.change, &of_rows, &mut constraints.force);
            cloth.displace();
        } else {
            cg.select(constraints, &unknowns.multiplier);
            report.inner_iterations += cg.solve(
                constraints,
                &unknowns.multiplier,
                settings.inner_iterations,
                &mut others.bodies,
            );
            let damping = if report.rounds < UNDAMPED {
                1.0
            } else {
                DAMPING
            };
            cg.clamp(&mut unknowns.multiplier, R::of(damping));
            constraints.transposed_product(&cg.change);
        }
        let change = (&cg.change[..], &of_rows[..]);
        move_all(problem, constraints, change, unknowns, &mut others);
        report.rounds += 1;
    }
}

/// Evaluates everything at the positions.
fn linearise<const D: usize, R: Real>(
    problem: &Problem<'_, D, R>,
    constraints: &mut Constraints<R>,
    unknowns: &Unknowns<R>,
    others: &mut Others<'_, '_, '_, '_, D>,
) {
    let y = &unknowns.position;
    constraints.evaluate::<D, true>(problem.kernel, &problem.walls, y);
    if let Some(cloth) = &mut others.cloth {
        cloth.relax();
        cloth.linearise(&problem.walls, constraints, y);
    }
    if let Some(bodies) = &mut others.bodies {
        bodies.linearise(&problem.walls, constraints, problem.mobility(), y);
        if let Some(cloth) = &mut others.cloth {
            cloth.linearise_bodies(bodies);
        }
    }
}

/// Moves particles and bodies by changes of the multipliers of particles and of the rows of cloth, whose forces on particles are those of the last product.
fn move_all<const D: usize, R: Real>(
    problem: &mut Problem<'_, D, R>,
    constraints: &Constraints<R>,
    (change, of_rows): (&[R], &[f64]),
    unknowns: &mut Unknowns<R>,
    others: &mut Others<'_, '_, '_, '_, D>,
) {
    if let Some(bodies) = &mut others.bodies {
        bodies.add_impulses(change, of_rows);
        bodies.displace(&mut problem.walls);
    }
    let mobility = R::of(problem.mobility());
    displace(problem, constraints, mobility, &mut unknowns.position);
    if let Some(bodies) = &mut others.bodies {
        bodies.push(&problem.walls, &mut unknowns.position);
    }
}

/// Begins with a share of the last step's multipliers. Returns whether there are any.
fn start<const D: usize, R: Real>(
    problem: &mut Problem<'_, D, R>,
    constraints: &mut Constraints<R>,
    unknowns: &mut Unknowns<R>,
    others: &mut Others<'_, '_, '_, '_, D>,
) -> bool {
    let share = R::of(problem.settings.warm_start);
    if unknowns.multiplier.iter().all(|&l| l * share == R::ZERO) {
        unknowns.multiplier.fill(R::ZERO);
        return false;
    }
    let y = &unknowns.position;
    constraints.evaluate::<D, true>(problem.kernel, &problem.walls, y);
    if let Some(cloth) = &mut others.cloth {
        cloth.linearise(&problem.walls, constraints, y);
    }
    if let Some(bodies) = &mut others.bodies {
        bodies.linearise(&problem.walls, constraints, problem.mobility(), y);
    }
    let multipliers = unknowns.multiplier.par_iter_mut();
    multipliers
        .zip(&constraints.excess)
        .for_each(|(l, &excess)| {
            *l = if excess < R::of(APART) {
                R::ZERO
            } else {
                *l * share
            };
        });
    constraints.transposed_product(&unknowns.multiplier);
    if let Some(cloth) = &mut others.cloth {
        cloth.respond(&unknowns.multiplier, &[], &mut constraints.force);
        cloth.displace();
    }
    let change = unknowns.multiplier.clone();
    move_all(problem, constraints, (&change, &[]), unknowns, others);
    true
}

/// Conjugate gradients on the active constraints, preconditioned by the diagonal.
struct ConjugateGradients<R> {
    mobility: R,
    compliance: R,
    is_active: Vec<bool>,
    residual: Vec<R>,
    preconditioned: Vec<R>,
    direction: Vec<R>,
    image: Vec<R>,
    /// Change of the multipliers.
    change: Vec<R>,
}

impl<R: Real> ConjugateGradients<R> {
    fn new(n: usize, mobility: f64, compliance: f64) -> Self {
        let zero = vec![R::ZERO; n];
        Self {
            mobility: R::of(mobility),
            compliance: R::of(compliance),
            is_active: vec![false; n],
            residual: zero.clone(),
            preconditioned: zero.clone(),
            direction: zero.clone(),
            image: zero.clone(),
            change: zero,
        }
    }

    /// Selects the active constraints.
    fn select(&mut self, constraints: &Constraints<R>, multiplier: &[R]) {
        let active = self.is_active.par_iter_mut();
        active
            .zip(&constraints.excess)
            .zip(multiplier)
            .for_each(|((active, &excess), &l)| *active = excess > R::ZERO || l > R::ZERO);
    }

    /// Solves `B change = C - α l` on the active constraints, roughly. Returns the number of iterations.
    fn solve<const D: usize>(
        &mut self,
        constraints: &mut Constraints<R>,
        multiplier: &[R],
        limit: usize,
        bodies: &mut Option<&mut BodyStep<'_, '_, D>>,
    ) -> usize {
        self.change.fill(R::ZERO);
        let compliance = self.compliance;
        let residual = self.residual.par_iter_mut().zip(&self.is_active);
        residual.zip(&constraints.excess).zip(multiplier).for_each(
            |(((r, &is_active), &excess), &l)| {
                *r = if is_active {
                    excess - compliance * l
                } else {
                    R::ZERO
                };
            },
        );
        self.precondition(constraints);
        self.direction.copy_from_slice(&self.preconditioned);
        let mut energy = dot(&self.residual, &self.preconditioned);
        let end = INNER_TOLERANCE * INNER_TOLERANCE * dot(&self.residual, &self.residual);
        for iteration in 0..limit {
            constraints.transposed_product(&self.direction);
            constraints.product(
                self.mobility,
                self.compliance,
                &self.direction,
                &self.is_active,
                &mut self.image,
            );
            if let Some(bodies) = bodies {
                let (direction, is_active) = (&self.direction, &self.is_active);
                bodies.add_product(direction, &[], is_active, &mut self.image, &mut []);
            }
            let curvature = dot(&self.direction, &self.image);
            if curvature <= 0.0 || curvature.is_nan() {
                return iteration;
            }
            let step = R::of(energy / curvature);
            let updated = self.change.par_iter_mut().zip(&mut self.residual);
            updated
                .zip(&self.direction)
                .zip(&self.image)
                .for_each(|(((change, r), &p), &q)| {
                    *change += step * p;
                    *r -= step * q;
                });
            if dot(&self.residual, &self.residual) < end {
                return iteration + 1;
            }
            self.precondition(constraints);
            let next = dot(&self.residual, &self.preconditioned);
            let factor = R::of(next / energy);
            energy = next;
            let direction = self.direction.par_iter_mut().zip(&self.preconditioned);
            direction.for_each(|(p, &z)| *p = z + factor * *p);
        }
        limit
    }

    fn precondition(&mut self, constraints: &Constraints<R>) {
        let (mobility, compliance) = (self.mobility, self.compliance);
        let preconditioned = self.preconditioned.par_iter_mut().zip(&self.residual);
        preconditioned
            .zip(&constraints.diagonal)
            .for_each(|((z, &r), &diagonal)| *z = r / (mobility * diagonal + compliance));
    }

    /// Adds a share of the change to the multipliers, which stay at least zero; the change becomes what was added.
    fn clamp(&mut self, multiplier: &mut [R], share: R) {
        let changes = self.change.par_iter_mut().zip(multiplier);
        changes.for_each(|(change, l)| {
            let clamped = (*l + share * *change).max(R::ZERO);
            *change = clamped - *l;
            *l = clamped;
        });
    }
}
