//! The normal problem: rows of joints and contact normals, with the friction impulses as they are.

use meniscus_lcp::methods::mprgp;
use meniscus_lcp::precondition::Jacobi;
use meniscus_lcp::{BoxMlcp, Csr, InputError, Report};

use super::island::Island;

/// Limit on steps.
const MAX_ITERATIONS: usize = 200;

/// The matrix of the normal problem, scaled to a unit diagonal. It does not change from round to round.
pub(super) struct NormalProblem {
    /// Rows of the island.
    rows: Vec<usize>,
    /// `1 / sqrt(A_ii)`
    scale: Vec<f64>,
    matrix: Csr,
    workspace: mprgp::Workspace,
}

impl NormalProblem {
    pub fn new<const D: usize>(island: &Island<D>) -> Result<Self, InputError> {
        let normals = (0..island.contacts()).map(|contact| island.normal_row(contact));
        let rows: Vec<usize> = (0..island.joint_rows)
            .chain(normals)
            .filter(|&i| island.rows[i].diagonal > 0.0)
            .collect();
        let (matrix, scale) = super::by_lcp::scaled_matrix(island, &rows)?;
        Ok(Self {
            rows,
            scale,
            matrix,
            workspace: mprgp::Workspace::default(),
        })
    }

    /// Solves for the normal impulses from where they are, and updates the velocities.
    pub fn solve<const D: usize>(
        &mut self,
        island: &mut Island<D>,
        tolerance: f64,
    ) -> Result<Report, InputError> {
        let n = self.rows.len();
        let mut x: Vec<f64> = (0..n)
            .map(|k| island.x[self.rows[k]] / self.scale[k])
            .collect();
        let mut b = vec![0.0; n];
        meniscus_lcp::Operator::apply(&self.matrix, &x, &mut b);
        for k in 0..n {
            b[k] = self.scale[k] * island.y(self.rows[k]) - b[k];
        }
        let lower: Vec<f64> = (0..n)
            .map(|k| island.rows[self.rows[k]].lower / self.scale[k])
            .collect();
        let upper: Vec<f64> = (0..n)
            .map(|k| island.rows[self.rows[k]].upper / self.scale[k])
            .collect();
        let least = self
            .scale
            .iter()
            .fold(f64::INFINITY, |least: f64, s| least.min(*s));
        let settings = mprgp::Settings::default()
            .tolerance(tolerance * least)
            .max_iterations(MAX_ITERATIONS);
        let problem = BoxMlcp::new(&self.matrix, &b, &lower, &upper)?;
        let mut jacobi = Jacobi::new(&self.matrix)?;
        let report = mprgp::solve(
            &problem,
            &settings,
            &mut jacobi,
            &mut x,
            &mut self.workspace,
            &mut (),
        )?;
        for k in 0..n {
            island.set(self.rows[k], x[k] * self.scale[k]);
        }
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::NormalProblem;
    use crate::Row;
    use crate::linear::{ZERO3, cross};
    use crate::settings::Cone;
    use crate::solve::Island;
    use crate::state::Kinetic;

    const GRAVITY_KICK: f64 = 0.1;
    const MASSES: [f64; 5] = [0.1, 0.1, 0.1, 0.1, 100.0];

    /// Squares of side 1 on one another and on the floor, each on two corners, the last one a thousand times as heavy, after
    /// gravity has acted.
    fn stack() -> Island<2> {
        let mut island = Island::new(Cone::Disc);
        for (k, mass) in MASSES.into_iter().enumerate() {
            let mut kinetic = Kinetic {
                mass,
                inverse_mass: 1.0 / mass,
                inverse_inertia: ZERO3,
                ..Kinetic::world()
            };
            kinetic.inverse_inertia[2][2] = 6.0 / mass;
            kinetic.twist.linear = [0.0, -GRAVITY_KICK];
            island.add_slot(k, &kinetic);
        }
        for upper in 1..=MASSES.len() as u32 {
            for x in [-0.5, 0.5] {
                for direction in [[0.0, 1.0], [1.0, 0.0]] {
                    let below = cross([x, 0.5], direction).map(|c| -c);
                    let row = Row {
                        a: 0,
                        b: None,
                        linear: direction,
                        angular_a: cross([x, -0.5], direction),
                        angular_b: if upper == 1 { [0.0; 3] } else { below },
                        bias: 0.0,
                        lower: if direction[0] == 0.0 {
                            0.0
                        } else {
                            f64::NEG_INFINITY
                        },
                        upper: f64::INFINITY,
                    };
                    island.add_row(&row, upper, upper - 1, 0.0);
                }
                island.friction.push(0.5);
            }
        }
        island.begin();
        island
    }

    /// With frictional impulses that stay as they are, no normal impulse and no normal velocity is negative, and one of the two
    /// is zero.
    #[test]
    fn the_normal_problem_is_solved_exactly_under_a_heavy_load() {
        let mut island = stack();
        // Friction at the floor turns the lowest body: one of its corners bears more than the other.
        let mut x = vec![0.0; island.rows.len()];
        x[island.normal_row(0) + 1] = 0.5;
        x[island.normal_row(2) + 1] = 0.5;
        // From normal impulses that are not those of the solution.
        x[island.normal_row(1)] = 2.0;
        x[island.normal_row(6)] = 3.0;
        island.restart(&x);
        let mut normal = NormalProblem::new(&island).unwrap();
        let report = normal.solve(&mut island, 1e-11).unwrap();
        assert_eq!(report.status, meniscus_lcp::Status::Converged, "{report:?}");
        for contact in 0..island.contacts() {
            let n = island.normal_row(contact);
            let (lambda, y) = (island.x[n], island.y(n));
            assert!(lambda >= 0.0 && y >= -1e-9, "{contact}: {lambda} {y}");
            assert!(lambda * y < 1e-9, "{contact}: {lambda} {y}");
            assert_eq!(island.x[n + 1], x[n + 1]);
        }
        let carried = island.x[island.normal_row(0)] + island.x[island.normal_row(1)];
        let weight = GRAVITY_KICK * MASSES.iter().sum::<f64>();
        assert!((carried / weight - 1.0).abs() < 1e-6, "{carried} {weight}");
        // The velocities are those that all impulses lead to.
        let found: Vec<_> = island.slots.iter().map(|slot| slot.twist).collect();
        island.update_velocities();
        for (slot, found) in island.slots.iter().zip(found) {
            assert!((slot.twist.linear[1] - found.linear[1]).abs() < 1e-9);
            assert!((slot.twist.angular[2] - found.angular[2]).abs() < 1e-9);
        }
    }
}
