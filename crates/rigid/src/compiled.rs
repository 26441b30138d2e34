//! Entry points that are compiled once, in this crate, for two and three dimensions.
//!
//! A generic function is compiled again in every crate that calls it, with that crate's settings. So the public functions
//! behind which most of the code lies are thin: they call through a table of functions of `D = 2` or `D = 3`.

use meniscus_shapes::Shape;

use crate::bodies::Bodies;
use crate::body::Wrench;
use crate::collide::Collider;
use crate::inertia::Matrix6;
use crate::problem::ContactProblem;
use crate::report::{StepError, StepReport};
use crate::staged::StagedStep;

/// The functions of one number of dimensions.
pub(crate) struct Compiled<const D: usize> {
    pub collider: fn(&Shape<D>) -> Collider<D>,
    pub step: fn(&mut Bodies<D>, f64, &[Wrench<D>]) -> Result<StepReport<D>, StepError>,
    pub problems: fn(&Bodies<D>, f64) -> Result<Vec<ContactProblem>, StepError>,
    pub overlaps: fn(&Bodies<D>) -> Vec<(usize, usize, f64)>,
    pub begin_step: fn(&Bodies<D>, f64, f64, &[Wrench<D>]) -> Result<StagedStep<D>, StepError>,
    pub finish_step:
        fn(&mut Bodies<D>, &mut StagedStep<D>) -> Result<Option<StepReport<D>>, StepError>,
    pub assemble_step: fn(&mut StagedStep<D>, &Bodies<D>, &[usize]),
    pub respond: fn(&mut StagedStep<D>, &[f64], &mut [f64]),
    pub stiffness: fn(&StagedStep<D>, bool) -> Vec<(usize, usize, Matrix6)>,
}

#[cfg(not(test))]
static PLANE: Compiled<2> = Compiled::TABLE;
#[cfg(not(test))]
static SPACE: Compiled<3> = Compiled::TABLE;

impl<const D: usize> Compiled<D> {
    const TABLE: Self = Self {
        collider: Collider::new,
        step: Bodies::step_impl,
        problems: Bodies::contact_problems_impl,
        overlaps: Bodies::overlaps_impl,
        begin_step: Bodies::begin_step_impl,
        finish_step: Bodies::finish_step_impl,
        assemble_step: StagedStep::assemble_impl,
        respond: StagedStep::respond_impl,
        stiffness: StagedStep::stiffness_impl,
    };

    /// The table of `D` dimensions.
    #[cfg(not(test))]
    pub fn get() -> &'static Self {
        use std::any::Any;
        const { assert!(D == 2 || D == 3, "two or three dimensions") };
        let tables: [&'static dyn Any; 2] = [&PLANE, &SPACE];
        let mut tables = tables.into_iter();
        match tables.find_map(|table| table.downcast_ref()) {
            Some(table) => table,
            None => unreachable!("two or three dimensions"),
        }
    }

    /// Unit tests are of what lies below: with one call from here they would take as long to compile as the crate itself.
    #[cfg(test)]
    pub fn get() -> &'static Self {
        const {
            assert!(
                D == 0,
                "a unit test calls an entry point: its place is tests/suite"
            )
        };
        &Self::TABLE
    }
}
