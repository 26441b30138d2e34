//! Rounds of the dual with cloth: a quadratic problem with bounds.
//!
//! Strain limits and contacts of cloth are strongly coupled, so that conjugate gradients on all active rows and a clamp
//! afterwards can be far from the solution. Here every round solves
//! `min ½ xᵀ B x - rᵀ x` for the change `x` of the multipliers `l` with `l + x >= 0` by modified proportioning with reduced
//! gradient projections (Dostál and Schöberl 2005), scaled by the diagonal of `B`.

use super::{Problem, Unknowns};
use crate::bodies::BodyStep;
use crate::cloth::step::ClothStep;
use crate::constraints::Constraints;
use crate::real::Real;

/// Residual at which a round ends early, relative to that at its beginning.
const TOLERANCE: f64 = 1e-2;
/// Products that estimate the largest eigenvalue.
const POWER_STEPS: usize = 5;
/// Margin for that estimate, which is from below.
const MARGIN: f64 = 1.3;

/// A quadratic problem with bounds for the multipliers of particles and rows.
pub struct Bounded<R> {
    multiplier: Vec<R>,
    image: Vec<R>,
    is_active: Vec<bool>,
    /// Square roots of the inverse diagonal.
    scale: Vec<f64>,
    /// Largest eigenvalue of the scaled matrix, from the first round of a step on.
    largest: f64,
    /// Change of the multipliers of the particles and then of the rows.
    pub change: Vec<f64>,
}

/// `B`, scaled.
struct Operator<'a, 'b, 'm, 's, const D: usize, R> {
    constraints: &'a mut Constraints<R>,
    cloth: &'a mut ClothStep<'b, D>,
    bodies: Option<&'a mut BodyStep<'m, 's, D>>,
    mobility: R,
    compliance: R,
}

impl<R: Real> Bounded<R> {
    pub fn new(n: usize) -> Self {
        Self {
            multiplier: vec![R::ZERO; n],
            image: vec![R::ZERO; n],
            is_active: vec![true; n],
            scale: Vec::new(),
            largest: 0.0,
            change: Vec::new(),
        }
    }

    /// The scaled matrix times `x`.
    fn product<const D: usize>(
        &mut self,
        operator: &mut Operator<'_, '_, '_, '_, D, R>,
        x: &[f64],
    ) -> Vec<f64> {
        let n = self.multiplier.len();
        for (l, (x, scale)) in self.multiplier.iter_mut().zip(x.iter().zip(&self.scale)) {
            *l = R::of(x * scale);
        }
        let of_rows = x[n..].iter().zip(&self.scale[n..]);
        let of_rows: Vec<f64> = of_rows.map(|(x, scale)| x * scale).collect();
        let (constraints, cloth) = (&mut *operator.constraints, &mut *operator.cloth);
        constraints.transposed_product(&self.multiplier);
        cloth.respond(&self.multiplier, &of_rows, &mut constraints.force);
        constraints.product(
            operator.mobility,
            operator.compliance,
            &self.multiplier,
            &self.is_active,
            &mut self.image,
        );
        let mut rows = cloth.product(&constraints.force, &of_rows, &mut self.image);
        if let Some(bodies) = &mut operator.bodies {
            let (image, is_active) = (&mut self.image, &self.is_active);
            bodies.add_product(&self.multiplier, &of_rows, is_active, image, &mut rows);
        }
        let particles = self.image.iter().map(|value| value.wide());
        let scaled = particles.chain(rows).zip(&self.scale);
        scaled.map(|(value, scale)| value * scale).collect()
    }

    /// Solves roughly. Returns the number of products.
    pub fn solve<const D: usize>(
        &mut self,
        problem: &Problem<'_, D, R>,
        constraints: &mut Constraints<R>,
        unknowns: &Unknowns<R>,
        cloth: &mut ClothStep<'_, D>,
        bodies: Option<&mut BodyStep<'_, '_, D>>,
        limit: usize,
    ) -> usize {
        let (mobility, compliance) = (problem.mobility(), problem.compliance());
        let n = unknowns.multiplier.len();
        self.scale.clear();
        let diagonals = constraints.diagonal.iter();
        self.scale.extend(
            diagonals.map(|diagonal| 1.0 / (mobility * diagonal.wide() + compliance).sqrt()),
        );
        self.scale.extend(cloth.scales());
        let particles = unknowns.multiplier.iter().zip(&constraints.excess);
        let (mut lower, mut right) = (Vec::new(), Vec::new());
        for (l, excess) in particles {
            lower.push(-l.wide());
            right.push(excess.wide() - compliance * l.wide());
        }
        cloth.bounds(&mut lower, &mut right);
        for i in 0..self.scale.len() {
            lower[i] /= self.scale[i];
            right[i] *= self.scale[i];
        }
        let mut operator = Operator {
            constraints,
            cloth,
            bodies,
            mobility: R::of(mobility),
            compliance: R::of(compliance),
        };
        let (mut x, products) = self.minimise(&mut operator, &lower, &right, limit);
        for (x, scale) in x.iter_mut().zip(&self.scale) {
            *x *= scale;
        }
        for (x, l) in x[..n].iter_mut().zip(&unknowns.multiplier) {
            // Exactly at the bound, whatever the rounding.
            *x = x.max(-l.wide());
        }
        self.change = x;
        products
    }

    fn minimise<const D: usize>(
        &mut self,
        operator: &mut Operator<'_, '_, '_, '_, D, R>,
        lower: &[f64],
        right: &[f64],
        limit: usize,
    ) -> (Vec<f64>, usize) {
        let len = right.len();
        let mut products = 0;
        let mut x = vec![0.0; len];
        let mut gradient: Vec<f64> = right.iter().map(|r| -r).collect();
        let (mut free, mut chopped) = split(&x, lower, &gradient);
        let end = TOLERANCE * TOLERANCE * (dot(&free, &free) + dot(&chopped, &chopped));
        if end == 0.0 || !end.is_finite() {
            return (x, 0);
        }
        if self.largest == 0.0 {
            let mut v: Vec<f64> = free.iter().zip(&chopped).map(|(a, b)| a + b).collect();
            for _ in 0..POWER_STEPS {
                let size = dot(&v, &v).sqrt().max(1e-300);
                v.iter_mut().for_each(|v| *v /= size);
                v = self.product(operator, &v);
                products += 1;
            }
            self.largest = MARGIN * dot(&v, &v).sqrt().max(1.0);
        }
        let mut direction = free.clone();
        while products < limit {
            let (free_square, chopped_square) = (dot(&free, &free), dot(&chopped, &chopped));
            if free_square + chopped_square <= end {
                break;
            }
            if chopped_square > free_square {
                // Constraints at their bounds become inactive.
                let image = self.product(operator, &chopped);
                products += 1;
                let curvature = dot(&chopped, &image);
                if curvature <= 0.0 || curvature.is_nan() {
                    break;
                }
                let step = dot(&gradient, &chopped) / curvature;
                add(&mut x, -step, &chopped);
                add(&mut gradient, -step, &image);
                (free, chopped) = split(&x, lower, &gradient);
                direction.clone_from(&free);
                continue;
            }
            let image = self.product(operator, &direction);
            products += 1;
            let curvature = dot(&direction, &image);
            if curvature <= 0.0 || curvature.is_nan() {
                break;
            }
            let step = dot(&gradient, &direction) / curvature;
            let mut room = f64::INFINITY;
            for i in 0..len {
                if direction[i] > 0.0 {
                    room = room.min((x[i] - lower[i]) / direction[i]);
                }
            }
            if step <= room {
                add(&mut x, -step, &direction);
                add(&mut gradient, -step, &image);
                (free, chopped) = split(&x, lower, &gradient);
                let turn = dot(&free, &image) / curvature;
                for (p, z) in direction.iter_mut().zip(&free) {
                    *p = z - turn * *p;
                }
            } else {
                // To the first bound, and on along the projected gradient.
                add(&mut x, -room, &direction);
                add(&mut gradient, -room, &image);
                (free, _) = split(&x, lower, &gradient);
                for i in 0..len {
                    x[i] = (x[i] - free[i] / self.largest).max(lower[i]);
                }
                gradient = self.product(operator, &x);
                products += 1;
                add(&mut gradient, -1.0, right);
                (free, chopped) = split(&x, lower, &gradient);
                direction.clone_from(&free);
            }
        }
        (x, products)
    }
}

/// The gradient where it is free, and where it lets go of a bound.
fn split(x: &[f64], lower: &[f64], gradient: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let parts = x.iter().zip(lower).zip(gradient);
    parts
        .map(|((x, lower), &g)| {
            if x > lower {
                (g, 0.0)
            } else {
                (0.0, g.min(0.0))
            }
        })
        .unzip()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::reduce::dot(a, b)
}

fn add(x: &mut [f64], factor: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += factor * y;
    }
}
