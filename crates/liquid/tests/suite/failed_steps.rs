//! Steps that fail leave no trace.

use meniscus_lcp::Report;
use meniscus_liquid::{
    Faces, Liquid, PressureProjection, Projected, Projection, Settings, Solver, StepError, Tiles,
};
use meniscus_shapes::Solids;

use super::common::{run, tank};

/// Where a step is made to fail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Solve,
    Velocity,
    Correction,
}

/// A pressure projection that does its work and then fails.
struct Failing<const D: usize> {
    pressure: PressureProjection<D>,
    fault: Fault,
}

impl<const D: usize> Projection<D> for Failing<D> {
    fn project(&mut self, faces: &mut Faces<'_, D>, dt: f64) -> Result<Projected, StepError> {
        let projected = self.pressure.project(faces, dt)?;
        match self.fault {
            Fault::Solve => Err(StepError::Unsolved(projected.solution)),
            Fault::Velocity => {
                faces.velocity[0].fill(f64::NAN);
                Err(StepError::NotFinite(projected.solution))
            }
            Fault::Correction => Ok(projected),
        }
    }

    fn correct_positions(
        &mut self,
        faces: &mut Faces<'_, D>,
        drift: f64,
        dt: f64,
    ) -> Result<Option<Report>, StepError> {
        self.pressure.correct_positions(faces, drift, dt)?;
        Err(StepError::Refused("on purpose".into()))
    }

    fn accept(&mut self, _: &Tiles<D>, _: f64) {
        panic!("a step that must fail has succeeded");
    }
}

fn saved<const D: usize>(liquid: &Liquid<D>) -> Vec<u8> {
    let mut bytes = Vec::new();
    liquid.state().write(&mut bytes).unwrap();
    bytes
}

/// A column of liquid that has collapsed for a moment, so that its particles are out of order.
fn moving<const D: usize>(settings: Settings<D>) -> (Liquid<D>, Solids<D>) {
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(
        &|x| (x[0] - 0.4).max(x[D - 1] - 0.7),
        &|_| [0.3; D],
        &solids,
    );
    (liquid, solids)
}

fn check<const D: usize>(cells: usize, settle: f64) {
    let settings = Settings::<D>::new([cells; D], 1.0 / cells as f64);
    for fault in [Fault::Solve, Fault::Velocity, Fault::Correction] {
        let (mut liquid, solids) = moving(settings.clone());
        let (mut twin, _) = moving(settings.clone());
        run(&mut liquid, &solids, settle, |_, _| {});
        run(&mut twin, &solids, settle, |_, _| {});
        let before = saved(&liquid);
        let mut projection = Failing {
            pressure: PressureProjection::default(),
            fault,
        };
        let failed = liquid.step_with(&mut projection, &solids, 0.01, &mut ());
        assert!(failed.is_err(), "{fault:?}");
        assert!(saved(&liquid) == before, "{fault:?} changed the state");
        liquid.step(&solids, 0.01, &mut ()).unwrap();
        twin.step(&solids, 0.01, &mut ()).unwrap();
        assert!(
            saved(&liquid) == saved(&twin),
            "{fault:?} changed the next step"
        );
    }
}

#[test]
fn a_failed_step_leaves_every_byte_of_the_state_as_it_was() {
    check::<2>(24, 0.25);
    check::<3>(12, 0.125);
    // The first step sets the target of the volume, and must not do so if it fails.
    check::<2>(16, 0.0);
}

#[test]
fn a_solver_that_does_not_converge_changes_nothing() {
    let mut settings = Settings::<2>::new([24; 2], 1.0 / 24.0);
    let pressure = &mut settings.physics.pressure;
    pressure.solver = Solver::Newton;
    pressure.max_iterations = 1;
    pressure.tolerance = 1e-9;
    let (mut liquid, solids) = moving(settings);
    let before = saved(&liquid);
    let error = liquid.step(&solids, 0.02, &mut ()).unwrap_err();
    assert!(matches!(error, StepError::Unsolved(_)), "{error}");
    assert!(saved(&liquid) == before);
}

#[test]
fn a_velocity_that_is_no_number_is_refused_and_changes_nothing() {
    let settings = Settings::<2>::new([16; 2], 1.0 / 16.0);
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(
        &|x| x[1] - 0.4,
        &|x| [if x[0] > 0.5 { f64::NAN } else { 0.0 }, 0.0],
        &solids,
    );
    let before = saved(&liquid);
    assert!(liquid.step(&solids, 0.01, &mut ()).is_err());
    assert!(saved(&liquid) == before);
}

#[test]
fn looking_at_the_pressure_problem_changes_nothing() {
    let (mut liquid, solids) = moving(Settings::<2>::new([24; 2], 1.0 / 24.0));
    run(&mut liquid, &solids, 0.125, |_, _| {});
    let before = saved(&liquid);
    let problem = liquid.pressure_problem(&solids, 0.01).unwrap();
    assert!(!problem.rhs.is_empty());
    assert!(saved(&liquid) == before);
}
