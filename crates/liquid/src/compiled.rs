//! Entry points that are compiled once, in this crate, for two and three dimensions.
//!
//! A generic function is compiled again in every crate that calls it, with that crate's settings. So the public functions
//! behind which most of the code lies are thin: they call through a table of functions of `D = 2` or `D = 3`.

use meniscus_lcp::{Blocks, BoxMlcp, Csr, InputError, Observer, Report};

use crate::analytic::Sphere;
use crate::fas::{self, Levels};
use crate::grid::tiles::{Coord, Tiles};
use crate::liquid::{Distance, Liquid, StateError};
use crate::multigrid::{self, Cycle};
use crate::particles::transfer::FaceField;
use crate::pressure::{PressureProjection, SolveBy, Weights};
use crate::projection::{Faces, Projected, Projection};
use crate::report::{Phases, PressureProblem, StepError, StepReport};
use crate::settings::{Settings, SettingsError};
use crate::solids::SolidMotion;
use crate::solvers::{self, Solution};
use crate::stencil::{Stencil, StencilProblem};
use crate::stokes;

/// The functions of one number of dimensions.
#[expect(
    clippy::type_complexity,
    reason = "each signature is that of one function"
)]
pub(crate) struct Compiled<const D: usize> {
    pub new: fn(Settings<D>) -> Result<Liquid<D>, SettingsError>,
    pub fill: fn(
        &mut Liquid<D>,
        &(dyn Fn([f64; D]) -> f64 + Sync),
        &(dyn Fn([f64; D]) -> [f64; D] + Sync),
        &dyn SolidMotion<D>,
    ),
    pub volume: fn(&mut Liquid<D>, &dyn SolidMotion<D>) -> f64,
    pub step_with: fn(
        &mut Liquid<D>,
        &mut dyn Projection<D>,
        &dyn SolidMotion<D>,
        f64,
        &mut dyn Phases,
    ) -> Result<StepReport, StepError>,
    pub assemble: fn(&mut PressureProjection<D>, &mut Faces<'_, D>, f64) -> Result<(), StepError>,
    pub solve_pressure:
        fn(&mut PressureProjection<D>, &Settings<D>, f64) -> Result<Solution, StepError>,
    pub apply: fn(
        &mut PressureProjection<D>,
        &mut Faces<'_, D>,
        Solution,
        f64,
    ) -> Result<Projected, StepError>,
    pub solve_coupled: fn(
        &mut PressureProjection<D>,
        &Settings<D>,
        &mut multigrid::Coupling<'_>,
        &dyn Fn(&[u32]) -> bool,
        bool,
        &mut dyn Observer,
        f64,
    ) -> Result<Solution, StepError>,
    pub solve_by: fn(
        &mut PressureProjection<D>,
        &Settings<D>,
        &'static str,
        &dyn Fn(&[u32]) -> bool,
        bool,
        &mut SolveBy<'_, D>,
        f64,
    ) -> Result<Solution, StepError>,
    pub correct_positions: fn(
        &mut PressureProjection<D>,
        &mut Faces<'_, D>,
        f64,
        f64,
    ) -> Result<Option<Report>, StepError>,
    pub remember: fn(&mut PressureProjection<D>, &Tiles<D>, f64),
    pub export: fn(&PressureProjection<D>, &Weights<D>, &Settings<D>, f64) -> PressureProblem<D>,
    pub inspect: fn(&mut Liquid<D>, &dyn SolidMotion<D>, f64, &mut dyn FnMut(&mut Faces<'_, D>)),
    pub pressure_problem:
        fn(&mut Liquid<D>, &dyn SolidMotion<D>, f64) -> Result<PressureProblem<D>, StepError>,
    pub restore: fn(Settings<D>, &[u8]) -> Result<Liquid<D>, StateError>,
    pub distance: fn(
        Settings<D>,
        &[[f32; D]],
        &dyn SolidMotion<D>,
        f64,
    ) -> Result<Distance<D>, SettingsError>,
    pub solve: fn(
        &BoxMlcp<Stencil<D>>,
        &Blocks,
        &solvers::Settings,
        &mut [f64],
        &mut solvers::Workspace<D>,
        &mut dyn Observer,
    ) -> Result<Solution, InputError>,
    pub prepare: fn(&mut multigrid::Workspace<D>, &BoxMlcp<Stencil<D>>) -> Result<(), InputError>,
    pub multigrid: fn(
        &mut multigrid::Workspace<D>,
        &BoxMlcp<Stencil<D>>,
        &multigrid::Settings,
        &mut [f64],
        &mut dyn Observer,
    ) -> Result<Report, InputError>,
    pub multigrid_coupled: fn(
        &mut multigrid::Workspace<D>,
        &BoxMlcp<Stencil<D>>,
        &mut multigrid::Coupling<'_>,
        &multigrid::Settings,
        &mut [f64],
        &mut dyn Observer,
    ) -> Result<Report, InputError>,
    pub rebuild_cycle: fn(&mut Cycle<D>, &BoxMlcp<Stencil<D>>, usize) -> Result<(), InputError>,
    pub apply_cycle: fn(&Cycle<D>, &[f64], &mut [f64]),
    pub apply_cycle_masked: fn(&Cycle<D>, &[bool], &[f64], &mut [f64]) -> f64,
    pub restrict_cycle: fn(&mut Cycle<D>, &[bool]),
    pub fas_levels: fn(&Stencil<D>, &fas::Settings) -> Result<Levels<D>, InputError>,
    pub analytic: fn(&Sphere) -> Result<PressureProblem<D>, InputError>,
    pub analytic_stencil: fn(&Sphere) -> Result<StencilProblem<D>, InputError>,
    pub stencil_from_matrix: fn(&Csr, &[Coord<D>]) -> Result<Stencil<D>, InputError>,
    pub stokes_geometry: fn(
        Tiles<D>,
        f64,
        &(dyn Fn([f64; D]) -> f64 + Sync),
        &(dyn Fn([f64; D]) -> f64 + Sync),
    ) -> stokes::Geometry<D>,
    pub stokes_system:
        fn(stokes::Geometry<D>, stokes::Medium, &stokes::Viscosity) -> stokes::System<D>,
    pub stokes_rhs: fn(&stokes::System<D>, &FaceField<D>, Option<&FaceField<D>>) -> Vec<f64>,
    pub stokes_rates: fn(&stokes::System<D>, &[f64], Option<&FaceField<D>>) -> stokes::Viscosity,
    pub stokes_project: fn(
        &mut stokes::StokesProjection<D>,
        &mut Faces<'_, D>,
        f64,
    ) -> Result<Projected, StepError>,
    pub stokes_correct: fn(
        &mut stokes::StokesProjection<D>,
        &mut Faces<'_, D>,
        f64,
        f64,
    ) -> Result<Option<Report>, StepError>,
    pub stokes_wet_bodies:
        fn(&mut stokes::StokesProjection<D>, &Faces<'_, D>, &[stokes::BodyModes<D>]) -> Vec<usize>,
    pub stokes_solve_with: fn(
        &mut stokes::StokesProjection<D>,
        &mut Faces<'_, D>,
        f64,
        &[stokes::BodyModes<D>],
        &mut dyn multigrid::Response,
    ) -> Result<Solution, StepError>,
    pub stokes_apply: fn(
        &mut stokes::StokesProjection<D>,
        &mut Faces<'_, D>,
        Solution,
    ) -> Result<Projected, StepError>,
    pub stokes_matrix: fn(&stokes::System<D>) -> Result<Csr, InputError>,
    pub stokes_solver: fn(&stokes::System<D>) -> Result<stokes::Solver<'_, D>, InputError>,
    pub stokes_solve:
        fn(&mut stokes::Solver<'_, D>, &[f64], &stokes::Settings, &mut [f64]) -> stokes::Report,
}

#[cfg(not(test))]
static PLANE: Compiled<2> = Compiled::TABLE;
#[cfg(not(test))]
static SPACE: Compiled<3> = Compiled::TABLE;

impl<const D: usize> Compiled<D> {
    const TABLE: Self = Self {
        new: Liquid::new_impl,
        fill: Liquid::fill_impl,
        volume: Liquid::volume_impl,
        step_with: Liquid::step_with_impl,
        assemble: PressureProjection::assemble_impl,
        solve_pressure: PressureProjection::solve_impl,
        apply: PressureProjection::apply_impl,
        solve_coupled: PressureProjection::solve_coupled_impl,
        solve_by: PressureProjection::solve_by_impl,
        correct_positions: PressureProjection::correct_positions_impl,
        remember: PressureProjection::remember,
        export: PressureProjection::problem_impl,
        inspect: Liquid::inspect_impl,
        pressure_problem: Liquid::pressure_problem_impl,
        restore: Liquid::restore_impl,
        distance: Distance::of_particles_impl,
        solve: solvers::solve_impl,
        prepare: multigrid::Workspace::prepare_impl,
        multigrid: multigrid::Workspace::solve_impl,
        multigrid_coupled: multigrid::Workspace::solve_coupled_impl,
        rebuild_cycle: Cycle::rebuild_impl,
        apply_cycle: Cycle::apply_impl,
        apply_cycle_masked: Cycle::apply_masked_impl,
        restrict_cycle: Cycle::restrict_impl,
        fas_levels: Levels::new_impl,
        analytic: Sphere::problem_impl,
        analytic_stencil: Sphere::stencil_problem_impl,
        stencil_from_matrix: Stencil::from_matrix_impl,
        stokes_geometry: stokes::Geometry::of_distances_impl,
        stokes_system: stokes::System::new_impl,
        stokes_rhs: stokes::System::rhs_impl,
        stokes_rates: stokes::System::shear_rates_impl,
        stokes_project: stokes::StokesProjection::project_impl,
        stokes_correct: stokes::StokesProjection::correct_positions_impl,
        stokes_wet_bodies: stokes::StokesProjection::wet_bodies_impl,
        stokes_solve_with: stokes::StokesProjection::solve_with_impl,
        stokes_apply: stokes::StokesProjection::apply_impl,
        stokes_matrix: stokes::System::matrix_impl,
        stokes_solver: |system| stokes::Solver::new_impl(system),
        stokes_solve: |solver, b, settings, x| solver.solve_impl(b, settings, x),
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
