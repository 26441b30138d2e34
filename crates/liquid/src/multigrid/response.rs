//! Groups of degrees of freedom that respond to the unknowns: rigid bodies that the pressure moves.
//!
//! `y = A x + b + C'v`, where the velocities `v` follow from the impulses `j = s C x` by a problem of their own, small and
//! solved exactly whenever it is asked for: with contacts between the bodies it is a complementarity problem. If `v` is
//! the gradient of a convex function of `j`, `y` is that of a convex function of `x`.

use std::ops::Range;

use super::hierarchy::Hierarchy;
use super::level::NONE;
use super::low_rank::{CouplingEntry, FREEDOMS, freedoms};

/// Motion of groups of degrees of freedom in response to impulses.
///
/// Velocities and impulses have [`freedoms`] numbers a group, translations first.
pub trait Response: Send {
    /// Number of groups.
    fn groups(&self) -> usize;

    /// Velocities that these impulses lead to.
    fn respond(&mut self, impulse: &[f64], velocity: &mut [f64]);

    /// Derivative of the last velocities by the impulses, symmetric and positive semidefinite, row by row, written to
    /// `matrix`. False, and nothing written, if `matrix` is not empty and the derivative is that of the last call.
    fn derivative(&mut self, matrix: &mut Vec<f64>) -> bool;

    /// Derivative of the velocities of one group by its impulses while all other impulses on it, of contacts for example, stay as
    /// they are.
    fn inverse_mass(&self, group: usize) -> [[f64; FREEDOMS]; FREEDOMS];

    /// Whether velocities are an affine function of the impulses.
    fn is_affine(&self) -> bool;

    /// The convex function whose gradient the last velocities are, up to a constant; `None` if there is none, as with
    /// friction that follows.
    fn potential(&self) -> Option<f64>;

    /// Keeps the forces of friction as they are in the responses that follow, so that there is a potential, or lets them follow
    /// again. Nothing without friction.
    fn freeze_friction(&mut self, _frozen: bool) {}
}

/// A response, and how it is coupled with the rows.
pub struct Coupling<'a> {
    /// `C'`
    pub entries: &'a [CouplingEntry],
    /// `s`: impulses are this times `C x`.
    pub impulse_scale: f64,
    /// The groups.
    pub response: &'a mut dyn Response,
}

impl Coupling<'_> {
    /// Lets the groups respond to `x` once more, and adds what they do to a right-hand side.
    pub(crate) fn finish<const D: usize>(&mut self, x: &[f64], rhs: &mut [f64]) {
        let f = freedoms::<D>();
        let mut impulse = vec![0.0; self.response.groups() * f];
        for entry in self.entries {
            let x = self.impulse_scale * x[entry.row as usize];
            let impulse = &mut impulse[entry.group as usize * f..][..f];
            for (impulse, value) in impulse.iter_mut().zip(entry.value) {
                *impulse += value * x;
            }
        }
        let mut velocity = vec![0.0; impulse.len()];
        self.response.respond(&impulse, &mut velocity);
        for entry in self.entries {
            rhs[entry.row as usize] += dot::<D>(entry, &velocity);
        }
    }
}

/// A coupling in the numbering of the finest level, with its velocities.
pub(super) struct Coupled<'a, 'b> {
    coupling: &'b mut Coupling<'a>,
    /// By unknown.
    entries: Vec<CouplingEntry>,
    rows: Vec<CoupledRow>,
    /// Whether a row of the level has an entry.
    pub is_coupled: Vec<bool>,
    impulse: Vec<f64>,
    pub velocity: Vec<f64>,
    derivative: Vec<f64>,
    weight: Vec<f64>,
    /// By how much the energy differs from `1/2 x'Ax + b'x` with the right-hand side as it is.
    pub energy: f64,
    /// Small problems that were solved.
    pub responses: usize,
    has_term: bool,
    full_weight: f64,
}

/// A row with entries.
struct CoupledRow {
    row: usize,
    unknown: usize,
    entries: Range<usize>,
    /// Right-hand side without the groups.
    b: f64,
}

/// `C_i v` of an entry.
fn dot<const D: usize>(entry: &CouplingEntry, velocity: &[f64]) -> f64 {
    let f = freedoms::<D>();
    let velocity = &velocity[entry.group as usize * f..][..f];
    let terms = velocity.iter().zip(&entry.value);
    terms.map(|(v, c)| v * c).sum()
}

impl<'a, 'b> Coupled<'a, 'b> {
    pub fn new<const D: usize>(coupling: &'b mut Coupling<'a>, hierarchy: &Hierarchy<D>) -> Self {
        let (finest, top) = (&hierarchy.finest, hierarchy.top());
        let mut entries = coupling.entries.to_vec();
        for entry in &mut entries {
            entry.row = finest.unknown[entry.row as usize];
        }
        entries.sort_by_key(|entry| (entry.row, entry.group));
        let mut is_coupled = vec![false; top.rows.len()];
        let mut rows = Vec::new();
        let mut first = 0;
        for part in entries.chunk_by(|a, b| a.row == b.row) {
            let unknown = part[0].row as usize;
            let row = top.row_of[unknown];
            debug_assert_ne!(row, NONE, "a face that a solid covers is not fully open");
            if let Some(is_coupled) = is_coupled.get_mut(row as usize) {
                *is_coupled = true;
            }
            rows.push(CoupledRow {
                row: row as usize,
                unknown,
                entries: first..first + part.len(),
                b: finest.b[unknown],
            });
            first += part.len();
        }
        let size = coupling.response.groups() * freedoms::<D>();
        Self {
            coupling,
            entries,
            rows,
            is_coupled,
            impulse: vec![0.0; size],
            velocity: vec![0.0; size],
            derivative: Vec::new(),
            weight: Vec::new(),
            energy: 0.0,
            responses: 0,
            has_term: false,
            full_weight: finest.full_weight,
        }
    }

    /// `s C p`
    fn impulses<const D: usize>(&self, p: &[f64], impulse: &mut Vec<f64>) {
        let f = freedoms::<D>();
        impulse.clear();
        impulse.resize(self.velocity.len(), 0.0);
        for entry in &self.entries {
            let p = self.coupling.impulse_scale * p[entry.row as usize];
            let impulse = &mut impulse[entry.group as usize * f..][..f];
            for (impulse, value) in impulse.iter_mut().zip(entry.value) {
                *impulse += value * p;
            }
        }
    }

    /// Finds the velocities for `p`, and the right-hand side that they make.
    pub fn respond<const D: usize>(&mut self, p: &[f64], b: &mut [f64]) {
        let mut impulse = std::mem::take(&mut self.impulse);
        self.impulses::<D>(p, &mut impulse);
        self.coupling.response.respond(&impulse, &mut self.velocity);
        self.responses += 1;
        for row in &self.rows {
            let own = self.entries[row.entries.clone()].iter();
            b[row.unknown] = row.b + own.map(|c| dot::<D>(c, &self.velocity)).sum::<f64>();
        }
        let work = |velocity: &[f64]| {
            impulse
                .iter()
                .zip(velocity)
                .map(|(j, v)| j * v)
                .sum::<f64>()
        };
        // `b` has `C'v`, whose product with `p` is the work of the impulses; the energy has the potential in its place.
        self.energy = match self.coupling.response.potential() {
            Some(potential) => (potential - work(&self.velocity)) / self.coupling.impulse_scale,
            None => f64::NAN,
        };
        self.impulse = impulse;
    }

    /// Whether there is an energy that falls.
    pub fn has_energy(&self) -> bool {
        !self.energy.is_nan()
    }

    /// Whether a step may have to be shortened because contacts open or close on the way.
    pub fn is_affine(&self) -> bool {
        self.coupling.response.is_affine()
    }

    /// Brings the term of the levels up to date; `rebuilt` if rows have changed sides. Returns whether its weight is another.
    pub fn update_term<const D: usize>(
        &mut self,
        hierarchy: &mut Hierarchy<D>,
        rebuilt: bool,
    ) -> bool {
        let is_new = self.coupling.response.derivative(&mut self.derivative);
        if is_new {
            let scale = self.coupling.impulse_scale / self.full_weight;
            self.weight.clear();
            self.weight
                .extend(self.derivative.iter().map(|d| scale * d));
        }
        if rebuilt || !self.has_term {
            let entries = self.entries.iter();
            let entries = entries.map(|entry| (entry.row, entry.group, entry.value));
            hierarchy.couple(self.coupling.response.groups(), entries, &self.weight);
            self.has_term = true;
        } else if is_new {
            hierarchy.reweigh(&self.weight);
        }
        is_new
    }

    /// Power of the groups along a step: `(C s)'v`.
    pub fn power<const D: usize>(&self, step: impl Fn(usize) -> f64) -> f64 {
        let terms = self.entries.iter();
        terms
            .map(|entry| step(entry.row as usize) * dot::<D>(entry, &self.velocity))
            .sum()
    }

    /// Length of a step `e` from `p` at which the energy is (nearly) the least: `slope` and `curvature` are those of the
    /// energy along it without the groups.
    pub fn step_length<const D: usize>(
        &mut self,
        step: impl Fn(usize) -> f64,
        slope: f64,
        curvature: f64,
    ) -> f64 {
        let f = freedoms::<D>();
        let mut change = vec![0.0; self.velocity.len()];
        for entry in &self.entries {
            let e = self.coupling.impulse_scale * step(entry.row as usize);
            for (change, value) in change[entry.group as usize * f..][..f]
                .iter_mut()
                .zip(entry.value)
            {
                *change += value * e;
            }
        }
        let power = |velocity: &[f64], scale: f64| {
            let terms = change.iter().zip(velocity);
            terms.map(|(j, v)| j * v).sum::<f64>() / scale
        };
        let scale = self.coupling.impulse_scale;
        let at_start = slope + power(&self.velocity, scale);
        let mut velocity = vec![0.0; self.velocity.len()];
        let mut impulse = vec![0.0; self.velocity.len()];
        let mut derivative = |t: f64| {
            for ((impulse, now), change) in impulse.iter_mut().zip(&self.impulse).zip(&change) {
                *impulse = now + t * change;
            }
            self.coupling.response.respond(&impulse, &mut velocity);
            self.responses += 1;
            slope + t * curvature + power(&velocity, scale)
        };
        search(at_start, &mut derivative)
    }

    /// Projected Gauss-Seidel on the bounded rows that have an entry, of one colour; groups move with every change, and all
    /// other impulses on them stay. `first..end` are the unknowns of that colour.
    pub fn relax_bounded<const D: usize>(
        &self,
        hierarchy: &Hierarchy<D>,
        colour: Range<usize>,
        p: &mut [f64],
        velocity: &mut [f64],
    ) {
        let f = freedoms::<D>();
        let (finest, levels) = (&hierarchy.finest, &hierarchy.top().rows);
        let mut moves = Vec::new();
        for own in &self.rows {
            let lower = finest.lower[own.row];
            if !colour.contains(&own.unknown) || lower == f64::NEG_INFINITY {
                continue;
            }
            let entries = &self.entries[own.entries.clone()];
            let mut diagonal = finest.diagonal[own.row];
            let mut y = diagonal * p[own.unknown] + own.b;
            let links = levels.row[own.row].links();
            for (link, weight) in levels.link[links.clone()].iter().zip(&finest.weight[links]) {
                y -= weight * p[link.target as usize];
            }
            moves.clear();
            moves.resize(entries.len(), [0.0; FREEDOMS]);
            for (entry, moves) in entries.iter().zip(&mut moves) {
                let inverse = self.coupling.response.inverse_mass(entry.group as usize);
                for (i, m) in moves[..f].iter_mut().enumerate() {
                    let row = inverse[i][..f].iter().zip(&entry.value);
                    *m = self.coupling.impulse_scale * row.map(|(w, c)| w * c).sum::<f64>();
                }
                let own = entry.value[..f].iter().zip(&*moves);
                diagonal += own.map(|(c, m)| c * m).sum::<f64>();
                y += dot::<D>(entry, velocity);
            }
            if diagonal <= 0.0 {
                continue;
            }
            let change = (p[own.unknown] - y / diagonal).max(lower) - p[own.unknown];
            p[own.unknown] += change;
            for (entry, moves) in entries.iter().zip(&moves) {
                let velocity = &mut velocity[entry.group as usize * f..][..f];
                for (v, m) in velocity.iter_mut().zip(moves) {
                    *v += m * change;
                }
            }
        }
    }

    /// Adds `C'v` in the order of the matrix.
    pub fn add_to_rhs<const D: usize>(&self, rhs: &mut [f64]) {
        for entry in self.coupling.entries {
            rhs[entry.row as usize] += dot::<D>(entry, &self.velocity);
        }
    }
}

/// Steps whose slope at the end is this share of that at the start are long enough, and no longer than they should be.
const FLAT: f64 = 0.1;
/// Tries, and how far a try stays from the ends of what is left, as a share of it.
const TRIES: usize = 25;
const INSIDE: f64 = 0.05;

/// Zero of a rising function, negative at zero: one if that is good enough, else by regula falsi.
fn search(at_start: f64, derivative: &mut dyn FnMut(f64) -> f64) -> f64 {
    let good = |value: f64| value.abs() <= FLAT * at_start.abs();
    let at_end = derivative(1.0);
    if at_start >= 0.0 || good(at_end) || at_end.is_nan() {
        return 1.0;
    }
    let (mut low, mut high) = match at_end > 0.0 {
        true => ((0.0, at_start), Some((1.0, at_end))),
        false => ((1.0, at_end), None),
    };
    let mut t = 1.0;
    for _ in 0..TRIES {
        t = match high {
            Some((end, value)) => {
                let width = end - low.0;
                let zero = low.0 - width * low.1 / (value - low.1);
                zero.clamp(low.0 + INSIDE * width, end - INSIDE * width)
            }
            None => 2.0 * low.0,
        };
        let value = derivative(t);
        if good(value) {
            break;
        }
        if value > 0.0 {
            high = Some((t, value));
        } else {
            low = (t, value);
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::search;

    #[test]
    fn a_step_is_as_long_as_the_slope_allows() {
        // Good enough at once; too long; too short; with a kink.
        assert_eq!(search(-1.0, &mut |t| t - 1.05), 1.0);
        assert!((search(-1.0, &mut |t| 4.0 * t - 1.0) - 0.25).abs() < 0.03);
        assert!((search(-1.0, &mut |t| 0.2 * t - 1.0) - 5.0).abs() < 0.6);
        let kinked = |t: f64| {
            if t < 0.3 {
                t - 1.0
            } else {
                10.0 * (t - 0.3) - 0.7
            }
        };
        assert!((search(-1.0, &mut |t| kinked(t)) - 0.37).abs() < 0.02);
    }
}
