//! Contact problems without a solution: a body between two others that do not give way.

use meniscus_lcp::Status;

use crate::bodies::Bodies;
use crate::linear::dot;
use crate::report::StepError;
use crate::solve::{Island, SolveReport};
use crate::step::Prepared;

/// Residual, as a share of the right-hand side, from which a solve that failed is looked into.
const LARGE: f64 = 1e-3;

impl<const D: usize> Bodies<D> {
    /// An error that names a body which is crushed, if that is why a solve failed.
    pub(crate) fn check_feasible(
        &self,
        prepared: &Prepared<D>,
        islands: &[Island<D>],
        solves: &[SolveReport],
    ) -> Result<(), StepError> {
        for (island, solve) in islands.iter().zip(solves) {
            if solve.status == Status::Converged || solve.residual <= LARGE * island.scale {
                continue;
            }
            // Contacts with bodies that forces do not move: the free body, the other one, the direction of the push.
            let pushes: Vec<(usize, usize, [f64; D], f64)> =
                (island.contact_ids.iter().enumerate())
                    .filter_map(|(k, &contact)| {
                        let own = &prepared.contacts[contact];
                        let (a, b) = (&prepared.kinetics[own.a], &prepared.kinetics[own.b]);
                        let y = island.y(island.normal_row(k));
                        match (a.is_free(), b.is_free()) {
                            (true, false) => Some((own.a, own.b, own.normal, y)),
                            (false, true) => Some((own.b, own.a, own.normal.map(|n| -n), y)),
                            _ => None,
                        }
                    })
                    .collect();
            for (i, x) in pushes.iter().enumerate() {
                for y in &pushes[i + 1..] {
                    if x.0 == y.0 && dot(x.2, y.2) < -0.5 && x.3.min(y.3) < -LARGE * island.scale {
                        let name = |body: usize| self.bodies[body].name.clone();
                        return Err(StepError::Infeasible {
                            body: name(x.0),
                            between: [name(x.1), name(y.1)],
                        });
                    }
                }
            }
        }
        Ok(())
    }
}
