//! Conjugate directions: steps that also use the direction of the last one.
//!
//! A region behind a hole, or one that is long and narrow, has a few slow modes that the cycle misjudges. The best step in
//! the plane of the cycle's correction and the last step is that of conjugate gradients, which deal with a few such modes in as
//! many steps, as long as the same rows are at their bounds; a few rows that change sides do little harm. It costs a product
//! and some sums a cycle, so it is done only where the cycle alone is slow.

use rayon::prelude::*;

use super::chunks::fold;
use super::hierarchy::Hierarchy;
use super::level::{CHUNK, FEWEST};
use super::sums::product;
use crate::growth::Growth;

/// Correction and last step are parallel if the sine of the angle between them, squared, is below this.
const PARALLEL: f64 = 1e-9;

/// The last step and its image; memory otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Conjugate {
    /// `s` and `A s`, in the units of the cycle.
    step: Vec<f32>,
    image: Vec<f32>,
    /// `A e`
    product: Vec<f32>,
    /// `s'As`, or zero if there is no last step.
    square: f64,
}

impl Conjugate {
    /// Forgets the last step.
    pub fn restart(&mut self) {
        self.square = 0.0;
    }

    /// `e'L e` and `r'e` of the correction, with the stencil alone.
    pub fn curvature<const D: usize>(&mut self, hierarchy: &Hierarchy<D>) -> (f64, f64) {
        let top = hierarchy.top();
        self.product.resize_closely(top.unknowns, 0.0);
        let sums = fold(
            &top.chunks,
            &mut self.product,
            &|chunk, out| product(hierarchy.width, top, &top.e, (&top.e, &top.e), chunk, out),
            &add,
        );
        sums.map_or((0.0, 0.0), |[e_le, _, r_e, _]| (e_le, r_e))
    }

    /// Replaces the correction `e` of the cycle by the best step in the plane of `e` and the last step. `settled` says that
    /// no row has come to its bound or left it since.
    pub fn improve<const D: usize>(&mut self, hierarchy: &mut Hierarchy<D>, settled: bool) {
        let width = hierarchy.width;
        let top = &mut hierarchy.levels[0];
        for values in [&mut self.step, &mut self.image, &mut self.product] {
            values.resize_closely(top.unknowns, 0.0);
        }
        let alone = self.square == 0.0;
        if !alone && !settled {
            for row in top.rows.row.iter().filter(|row| row.inverse == 0.0) {
                self.step[row.unknown as usize] = 0.0;
            }
            let step = &self.step;
            let sums = fold(
                &top.chunks,
                &mut self.image,
                &|chunk, image| product(width, top, step, (step, step), chunk, image),
                &add,
            );
            let term = hierarchy
                .low_rank
                .add_product::<D>(&self.step, &mut self.image);
            self.square = sums.map_or(0.0, |sums| sums[0] + term);
        }
        let others = match alone {
            true => (&top.e[..], &top.e[..]),
            false => (&self.step[..], &self.image[..]),
        };
        let sums = fold(
            &top.chunks,
            &mut self.product,
            &|chunk, out| product(width, top, &top.e, others, chunk, out),
            &add,
        );
        let Some([mut e_ae, e_as, r_e, r_s]) = sums else {
            return;
        };
        e_ae += hierarchy
            .low_rank
            .add_product::<D>(&top.e, &mut self.product);
        let s_as = self.square;
        let determinant = e_ae * s_as - e_as * e_as;
        let (along_e, along_s) = if !alone && determinant > PARALLEL * e_ae * s_as {
            (
                (r_e * s_as - r_s * e_as) / determinant,
                (r_s * e_ae - r_e * e_as) / determinant,
            )
        } else {
            (r_e / e_ae, 0.0)
        };
        let twice = 2.0 * along_e * along_s * e_as;
        let square = along_e * along_e * e_ae + twice + along_s * along_s * s_as;
        if !(square > 0.0 && square.is_finite()) {
            self.restart();
            return;
        }
        self.square = square;
        let (new, last) = (along_e as f32, along_s as f32);
        let products = self.product.par_chunks(CHUNK);
        let parts = self.step.par_chunks_mut(CHUNK);
        let parts = parts.zip(self.image.par_chunks_mut(CHUNK)).zip(products);
        let parts = parts.zip(top.e[..top.unknowns].par_chunks_mut(CHUNK));
        parts
            .with_min_len(FEWEST)
            .for_each(|(((step, image), product), e)| {
                for (k, e) in e.iter_mut().enumerate() {
                    // What was left there from another solve may be anything.
                    let (s, q) = if alone {
                        (0.0, 0.0)
                    } else {
                        (step[k], image[k])
                    };
                    image[k] = last * q + new * product[k];
                    *e = last * s + new * *e;
                    step[k] = *e;
                }
            });
    }
}

fn add(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    std::array::from_fn(|k| a[k] + b[k])
}
