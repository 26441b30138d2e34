//! Contact problems as plain data, for other solvers and for files.

use meniscus_lcp::{CoupledBound, Csr, InputError};

/// A contact problem: `y = A x + b` complementary to impulses `x` within bounds, those of friction coupled to the normal
/// impulses. [TB20 (11), (15)]
///
/// Rows of joints come first, then for each contact its normal and its tangents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactProblem {
    /// `J inv(M) J'`, in 1/kg.
    pub matrix: Csr,
    /// `J v + bias` without impulses, in m/s.
    pub b: Vec<f64>,
    /// Lower bounds; tangents are free here.
    pub lower: Vec<f64>,
    /// Upper bounds; tangents are free here.
    pub upper: Vec<f64>,
    /// Bounds of the tangents: `|x_row| <= factor x_of`.
    pub friction: Vec<CoupledBound>,
    /// Pairs of places in `friction` whose bounds are a disc; none if friction is by boxes.
    pub discs: Vec<[usize; 2]>,
    /// Rows per contact: one normal, the others tangents.
    pub dimensions: usize,
    /// Number of rows that belong to joints.
    pub joint_rows: usize,
    /// Impulses to start from.
    pub x: Vec<f64>,
}

impl ContactProblem {
    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        (self.b.len() - self.joint_rows) / self.dimensions
    }

    /// The same problem with a unit diagonal: unknowns `x_i / s_i`, rows times `s_i`, `s_i = 1 / sqrt(A_ii)`.
    ///
    /// # Errors
    /// If the matrix is not well formed.
    pub fn scaled(self) -> Result<ScaledProblem, InputError> {
        let n = self.b.len();
        let scale: Vec<f64> = (0..n)
            .map(|i| self.matrix.get(i, i))
            .map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 1.0 })
            .collect();
        let (starts, columns, mut values) = self.matrix.into_parts();
        for i in 0..n {
            for k in starts[i]..starts[i + 1] {
                values[k] *= scale[i] * scale[columns[k] as usize];
            }
        }
        let by_scale =
            |of: &[f64]| -> Vec<f64> { of.iter().zip(&scale).map(|(v, s)| v / s).collect() };
        Ok(ScaledProblem {
            matrix: Csr::new(n, starts, columns, values)?,
            b: self.b.iter().zip(&scale).map(|(b, s)| b * s).collect(),
            lower: by_scale(&self.lower),
            upper: by_scale(&self.upper),
            friction: (self.friction.iter())
                .map(|bound| CoupledBound {
                    factor: bound.factor * scale[bound.of] / scale[bound.row],
                    ..*bound
                })
                .collect(),
            x: by_scale(&self.x),
            dimensions: self.dimensions,
            joint_rows: self.joint_rows,
            scale,
        })
    }
}

/// A contact problem with a unit diagonal.
#[derive(Clone, Debug)]
pub struct ScaledProblem {
    /// The matrix.
    pub matrix: Csr,
    /// The right-hand side.
    pub b: Vec<f64>,
    /// Lower bounds; tangents are free here.
    pub lower: Vec<f64>,
    /// Upper bounds; tangents are free here.
    pub upper: Vec<f64>,
    /// Bounds of the tangents.
    pub friction: Vec<CoupledBound>,
    /// Unknowns to start from.
    pub x: Vec<f64>,
    dimensions: usize,
    joint_rows: usize,
    scale: Vec<f64>,
}

impl ScaledProblem {
    pub(crate) fn least_scale(&self) -> f64 {
        self.scale
            .iter()
            .fold(f64::INFINITY, |least, s| least.min(*s))
    }

    /// Impulses of the problem before it was scaled.
    pub fn unscaled(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.scale).map(|(x, s)| x * s).collect()
    }

    /// The problem with a polyhedral cone: each tangent as two directions, and a row `beta` for each contact.
    ///
    /// [Erl13 (26), (27)]: `mu x_n - sum x_t >= 0` complementary to `beta >= 0`, and `y_t + beta >= 0` complementary to
    /// `x_t >= 0`. The rows of a contact are `n`, `t`, `-t` for each tangent, `beta`.
    ///
    /// # Errors
    /// If the matrix is not well formed.
    pub fn polyhedral(&self) -> Result<PolyhedralProblem, InputError> {
        let tangents = self.dimensions - 1;
        let per_contact = 2 + 2 * tangents;
        let contacts = (self.b.len() - self.joint_rows) / self.dimensions;
        let place = |i: usize| -> Vec<(u32, f64)> {
            let Some(of_contacts) = i.checked_sub(self.joint_rows) else {
                return vec![(i as u32, 1.0)];
            };
            let (contact, k) = (of_contacts / self.dimensions, of_contacts % self.dimensions);
            let base = (self.joint_rows + contact * per_contact) as u32;
            match k {
                0 => vec![(base, 1.0)],
                _ => vec![(base + 2 * k as u32 - 1, 1.0), (base + 2 * k as u32, -1.0)],
            }
        };
        let n = self.joint_rows + contacts * per_contact;
        let mut entries = Vec::new();
        for i in 0..self.b.len() {
            let (columns, values) = self.matrix.row(i);
            for (&j, &value) in columns.iter().zip(values) {
                for &(row, s) in &place(i) {
                    entries.extend(
                        place(j as usize)
                            .iter()
                            .map(|&(column, t)| (row, column, s * t * value)),
                    );
                }
            }
        }
        let (mut b, mut lower, mut upper, mut x) = (
            vec![0.0; n],
            vec![0.0; n],
            vec![f64::INFINITY; n],
            vec![0.0; n],
        );
        for i in 0..self.b.len() {
            for (row, sign) in place(i) {
                b[row as usize] = sign * self.b[i];
                x[row as usize] = (sign * self.x[i]).max(0.0);
                if i < self.joint_rows {
                    lower[i] = self.lower[i];
                    upper[i] = self.upper[i];
                    x[i] = self.x[i];
                }
            }
        }
        for bound in &self.friction {
            let contact = (bound.of - self.joint_rows) / self.dimensions;
            let beta = (self.joint_rows + (contact + 1) * per_contact - 1) as u32;
            // In impulses before scaling the factor is the same for all tangents of a contact.
            let ratio = self.scale[bound.row] / self.scale[bound.of];
            let first = bound.row == bound.of + 1;
            if first {
                entries.push((beta, place(bound.of)[0].0, bound.factor * ratio));
            }
            for (row, _) in place(bound.row) {
                entries.push((row, beta, ratio));
                entries.push((beta, row, -ratio));
            }
        }
        Ok(PolyhedralProblem {
            matrix: Csr::from_entries(n, entries)?,
            b,
            lower,
            upper,
            x,
            places: (0..self.b.len()).map(place).collect(),
        })
    }
}

/// A contact problem with polyhedral cones.
#[derive(Clone, Debug)]
pub struct PolyhedralProblem {
    /// The matrix, which is not symmetric.
    pub matrix: Csr,
    /// The right-hand side.
    pub b: Vec<f64>,
    /// Lower bounds: zero but for joints.
    pub lower: Vec<f64>,
    /// Upper bounds: infinite but for joints.
    pub upper: Vec<f64>,
    /// Unknowns to start from.
    pub x: Vec<f64>,
    places: Vec<Vec<(u32, f64)>>,
}

impl PolyhedralProblem {
    /// Impulses along normals and tangents.
    pub fn impulses(&self, x: &[f64]) -> Vec<f64> {
        let of = |place: &Vec<(u32, f64)>| {
            place
                .iter()
                .map(|&(row, sign)| sign * x[row as usize])
                .sum()
        };
        self.places.iter().map(of).collect()
    }
}
