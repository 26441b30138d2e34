//! The coupled problem as plain data, for other solvers and for files.

use meniscus_lcp::{BoxMlcp, CoupledBound, Csr, InputError, Operator};
use meniscus_liquid::PressureProblem;
use meniscus_liquid::multigrid::{CouplingEntry, freedoms};
use meniscus_rigid::{Matrix6, StagedRow, StagedStep};

use crate::added_mass::numbers;
use crate::projection::Base;

/// A body of a coupled problem.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProblemBody {
    /// Index of the body.
    pub body: usize,
    /// Inertia about the centre of mass, translations first.
    pub inertia: Matrix6,
    /// Its inverse.
    pub inverse: Matrix6,
    /// Velocity without the impulses of pressure, contacts and joints.
    pub start: [f64; 6],
}

/// Pressure and contact as one problem. [TB20 (21)-(24)]
///
/// With the pressures `p`, the impulses of contacts and joints `s l`, and the velocities
/// `v = v0 + inv(M) s (C p + J' l)` of the bodies,
///
/// ```text
/// y_p = L p + b + C'v,    y_l = J v + bias
/// ```
///
/// are complementary to `p` and `l` within their bounds. `s` is the length of the step times the volume of a cell.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CoupledProblem<const D: usize> {
    /// `L`, `b` and the bounds of the pressures. `b` has the motion of fixed and scripted solids, not that of free bodies.
    pub pressure: PressureProblem<D>,
    /// `C'`: blocks of rows and places in `bodies`.
    pub entries: Vec<CouplingEntry>,
    /// `s`
    pub impulse_scale: f64,
    /// Free bodies that touch the liquid, and those that touch them.
    pub bodies: Vec<ProblemBody>,
    /// `J`: rows of joints and contacts; bodies are places in `bodies`.
    pub rows: Vec<StagedRow>,
}

impl<const D: usize> CoupledProblem<D> {
    /// The problem of an assembled step.
    pub(crate) fn new(
        pressure: PressureProblem<D>,
        base: &Base<D>,
        step: &StagedStep<D>,
        impulse_scale: f64,
    ) -> Self {
        let members = step.members();
        let place = |body: usize| members.binary_search(&body).unwrap_or_default();
        let bodies = members.iter().map(|&body| ProblemBody {
            body,
            inertia: step.solve_inertia(body),
            inverse: step.inverse_inertia(body),
            start: numbers(&step.start(body)),
        });
        let entries = base.entries.iter().map(|entry| CouplingEntry {
            group: place(base.listed[entry.group as usize]) as u32,
            ..*entry
        });
        let (mut rows, _) = step.rows();
        for row in &mut rows {
            for (body, _) in &mut row.bodies {
                *body = place(*body);
            }
        }
        Self {
            pressure,
            entries: entries.collect(),
            impulse_scale,
            bodies: bodies.collect(),
            rows,
        }
    }

    /// Number of pressures.
    pub fn pressures(&self) -> usize {
        self.pressure.rhs.len()
    }

    /// Velocities of all bodies for unknowns `x`: pressures, then impulses of rows over `s`.
    pub fn velocities(&self, x: &[f64]) -> Vec<[f64; 6]> {
        let moved = self.responses(x);
        let bodies = self.bodies.iter().zip(moved);
        bodies
            .map(|(body, moved)| std::array::from_fn(|k| body.start[k] + moved[k]))
            .collect()
    }

    /// `inv(M) s (C p + J' l)`
    fn responses(&self, x: &[f64]) -> Vec<[f64; 6]> {
        let f = freedoms::<D>();
        let mut impulses = vec![[0.0; 6]; self.bodies.len()];
        for entry in &self.entries {
            let p = self.impulse_scale * x[entry.row as usize];
            let own = &mut impulses[entry.group as usize];
            (0..f).for_each(|k| own[k] += p * entry.value[k]);
        }
        for (row, l) in self.rows.iter().zip(&x[self.pressures()..]) {
            for &(body, ref value) in &row.bodies {
                let own = &mut impulses[body];
                (0..f).for_each(|k| own[k] += self.impulse_scale * l * value[k]);
            }
        }
        let bodies = self.bodies.iter().zip(impulses);
        bodies
            .map(|(body, j)| {
                std::array::from_fn(|i| (0..f).map(|k| body.inverse[i][k] * j[k]).sum())
            })
            .collect()
    }

    /// Adds `C'v` and `J v`.
    fn add_motion(&self, v: &[[f64; 6]], y: &mut [f64]) {
        let f = freedoms::<D>();
        let dot = |a: &[f64; 6], b: &[f64; 6]| (0..f).map(|k| a[k] * b[k]).sum::<f64>();
        for entry in &self.entries {
            y[entry.row as usize] += dot(&entry.value, &v[entry.group as usize]);
        }
        let n = self.pressures();
        for (row, y) in self.rows.iter().zip(&mut y[n..]) {
            for &(body, ref value) in &row.bodies {
                *y += dot(value, &v[body]);
            }
        }
    }

    /// The problem with the bounds of friction frozen at zero reach, and those bounds.
    pub fn joint(&self, diagonal_scale: f64) -> JointProblem<'_, D> {
        let n = self.pressures();
        let mut rhs = self.pressure.rhs.clone();
        rhs.extend(self.rows.iter().map(|row| row.bias));
        let starts: Vec<[f64; 6]> = self.bodies.iter().map(|body| body.start).collect();
        self.add_motion(&starts, &mut rhs);
        let (mut lower, mut upper) = (self.pressure.lower.clone(), self.pressure.upper.clone());
        let mut friction = Vec::new();
        for (k, row) in self.rows.iter().enumerate() {
            lower.push(row.lower / self.impulse_scale);
            upper.push(row.upper / self.impulse_scale);
            if let Some((of, factor)) = row.friction {
                friction.push(CoupledBound {
                    row: n + k,
                    of: n + of,
                    factor,
                });
            }
        }
        JointProblem {
            operator: JointOperator {
                problem: self,
                diagonal_scale,
            },
            rhs,
            lower,
            upper,
            friction,
        }
    }
}

/// The matrix of pressures and impulses, never formed: `L` and products in sequence. [TB20 sec. 4.4]
#[derive(Clone, Copy, Debug)]
pub struct JointOperator<'a, const D: usize> {
    problem: &'a CoupledProblem<D>,
    /// Share of their diagonal that is added to rows of contacts.
    diagonal_scale: f64,
}

/// A coupled problem in the unknowns pressures and impulses.
#[derive(Clone, Debug)]
pub struct JointProblem<'a, const D: usize> {
    /// Its matrix.
    pub operator: JointOperator<'a, D>,
    /// Right-hand side.
    pub rhs: Vec<f64>,
    /// Lower bounds; tangents are free here.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// Bounds of the tangents.
    pub friction: Vec<CoupledBound>,
}

impl<'a, const D: usize> JointProblem<'a, D> {
    /// The problem with the bounds of friction left out.
    pub fn posed(&self) -> Result<BoxMlcp<'_, JointOperator<'a, D>>, InputError> {
        BoxMlcp::new(&self.operator, &self.rhs, &self.lower, &self.upper)
    }
}

impl<const D: usize> JointOperator<'_, D> {
    fn contact_diagonal(&self, row: &StagedRow) -> f64 {
        let f = freedoms::<D>();
        let of = |&(body, ref value): &(usize, [f64; 6])| -> f64 {
            let inverse = &self.problem.bodies[body].inverse;
            (0..f)
                .map(|i| value[i] * (0..f).map(|k| inverse[i][k] * value[k]).sum::<f64>())
                .sum()
        };
        self.problem.impulse_scale * row.bodies.iter().map(of).sum::<f64>()
    }

    /// The sparse part: `L`, and `J inv(M) J'` of rows that share a body.
    pub fn sparse_part(&self) -> Result<Csr, InputError> {
        let problem = self.problem;
        let (n, f) = (problem.pressures(), freedoms::<D>());
        let mut entries = Vec::new();
        for row in 0..n {
            let (columns, values) = problem.pressure.matrix.row(row);
            let pairs = columns.iter().zip(values);
            entries.extend(pairs.map(|(&column, &value)| (row as u32, column, value)));
        }
        for (i, row) in problem.rows.iter().enumerate() {
            for (j, other) in problem.rows.iter().enumerate() {
                let mut sum = 0.0;
                let mut shares = false;
                for (body, value) in &row.bodies {
                    for (_, by) in other.bodies.iter().filter(|own| own.0 == *body) {
                        shares = true;
                        let inverse = &problem.bodies[*body].inverse;
                        sum += (0..f)
                            .map(|a| value[a] * (0..f).map(|b| inverse[a][b] * by[b]).sum::<f64>())
                            .sum::<f64>();
                    }
                }
                if shares || i == j {
                    let scale = if i == j {
                        1.0 + self.diagonal_scale
                    } else {
                        1.0
                    };
                    let value = scale * problem.impulse_scale * sum;
                    entries.push(((n + i) as u32, (n + j) as u32, value));
                }
            }
        }
        Csr::from_entries(n + problem.rows.len(), entries)
    }
}

impl<const D: usize> Operator for JointOperator<'_, D> {
    fn len(&self) -> usize {
        self.problem.pressures() + self.problem.rows.len()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let n = self.problem.pressures();
        self.problem.pressure.matrix.apply(&x[..n], &mut y[..n]);
        for ((y, l), row) in y[n..].iter_mut().zip(&x[n..]).zip(&self.problem.rows) {
            *y = match self.diagonal_scale {
                0.0 => 0.0,
                scale => scale * self.contact_diagonal(row) * l,
            };
        }
        let moved = self.problem.responses(x);
        self.problem.add_motion(&moved, y);
    }

    fn apply_transposed(&self, x: &[f64], y: &mut [f64]) {
        self.apply(x, y);
    }

    fn diagonal(&self, d: &mut [f64]) {
        let (problem, f) = (self.problem, freedoms::<D>());
        let n = problem.pressures();
        problem.pressure.matrix.diagonal(&mut d[..n]);
        for part in problem.entries.chunk_by(|a, b| a.row == b.row) {
            for entry in part {
                let inverse = &problem.bodies[entry.group as usize].inverse;
                let own: f64 = (0..f)
                    .map(|i| {
                        let moved = (0..f).map(|k| inverse[i][k] * entry.value[k]);
                        entry.value[i] * moved.sum::<f64>()
                    })
                    .sum();
                d[entry.row as usize] += problem.impulse_scale * own;
            }
        }
        for (d, row) in d[n..].iter_mut().zip(&problem.rows) {
            *d = (1.0 + self.diagonal_scale) * self.contact_diagonal(row);
        }
    }
}
