//! Entry points that are compiled once, in this crate, for two and three dimensions.

use meniscus_liquid::Phases;
use meniscus_rigid::Wrench;

use crate::coupled::Coupled;
use crate::problem::CoupledProblem;
use crate::report::{StepError, StepReport};

/// [`Coupled::step_with`](crate::Coupled::step_with).
type Step<const D: usize> =
    fn(&mut Coupled<D>, f64, &[Wrench<D>], &mut dyn Phases) -> Result<StepReport<D>, StepError>;

/// The functions of one number of dimensions.
pub(crate) struct Compiled<const D: usize> {
    pub step: Step<D>,
    pub problem: fn(&mut Coupled<D>, f64) -> Result<CoupledProblem<D>, StepError>,
}

#[cfg(not(test))]
static PLANE: Compiled<2> = Compiled::TABLE;
#[cfg(not(test))]
static SPACE: Compiled<3> = Compiled::TABLE;

impl<const D: usize> Compiled<D> {
    const TABLE: Self = Self {
        step: Coupled::step_impl,
        problem: Coupled::problem_impl,
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
