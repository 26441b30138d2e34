//! The problems of a run, one after the other.

use meniscus_app::runner::Simulation;
use meniscus_lcp::{BoxMlcp, Csr, InputError};
use meniscus_liquid::{PressureProblem, Walls};
use meniscus_scene::{AnyScene, Scene, builtin};
use meniscus_sim::LiquidWorld;
use meniscus_store::error::{Error, Kind};

/// A pressure problem on the way of a run.
pub struct Sample<const D: usize> {
    pub problem: PressureProblem<D>,
    /// The last step's pressure, from which the program starts.
    pub start: Vec<f64>,
}

impl<const D: usize> Sample<D> {
    pub fn rows(&self) -> usize {
        self.problem.rhs.len()
    }

    /// The problem with its bounds.
    pub fn bounded(&self) -> Result<BoxMlcp<'_, Csr>, InputError> {
        let problem = &self.problem;
        BoxMlcp::new(
            &problem.matrix,
            &problem.rhs,
            &problem.lower,
            &problem.upper,
        )
    }
}

/// Which problems of a run to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How many frames to simulate.
    pub frames: u32,
    /// One step of so many.
    pub every: usize,
}

/// Numbers of steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub steps: usize,
    pub looked_at: usize,
    /// Left out for a part of the liquid without a free surface, which the step treats before it solves.
    pub closed: usize,
}

/// A built-in scene at a resolution, with walls of a kind.
pub fn scene(name: &str, cells: usize, walls: Walls) -> Result<AnyScene, Error> {
    let mut scene = builtin::named(name)?;
    match &mut scene {
        AnyScene::Two(scene) => (scene.resolution, scene.physics.walls) = (cells, walls),
        AnyScene::Three(scene) => (scene.resolution, scene.physics.walls) = (cells, walls),
    }
    Ok(scene)
}

/// Runs a scene and shows the chosen problems. None is kept, so that large ones can be many.
pub fn visit<const D: usize>(
    scene: &Scene<D>,
    choice: Choice,
    look: &mut dyn FnMut(&Sample<D>) -> Result<(), Error>,
) -> Result<Seen, Error> {
    let mut run = Simulation::new(scene)?;
    let mut seen = Seen::default();
    let mut last_step = 0.0;
    while run.frame() <= choice.frames {
        let chosen = seen.steps.is_multiple_of(choice.every.max(1));
        let sample = chosen
            .then(|| next_sample(&mut run, last_step))
            .transpose()?;
        let step = run
            .step(&mut ())
            .map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
        last_step = step.report.dt;
        seen.steps += 1;
        if let Some(sample) = sample.filter(|sample| sample.rows() > 0) {
            if step
                .report
                .measure("pockets")
                .is_some_and(|pockets| pockets > 0.0)
            {
                seen.closed += 1;
            } else {
                seen.looked_at += 1;
                look(&sample)?;
            }
        }
    }
    Ok(seen)
}

/// The problem of the first step towards a frame.
pub fn first_of_frame<const D: usize>(scene: &Scene<D>, frame: u32) -> Result<Sample<D>, Error> {
    let mut run = Simulation::new(scene)?;
    let mut last_step = 0.0;
    while run.frame() < frame {
        let step = run
            .step(&mut ())
            .map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
        last_step = step.report.dt;
    }
    next_sample(&mut run, last_step)
}

fn next_sample<const D: usize>(
    run: &mut Simulation<'_, D>,
    last_step: f64,
) -> Result<Sample<D>, Error> {
    let problem = run
        .next_problem()
        .map_err(|why| Error::new(Kind::Numerical, why))?
        .downcast::<PressureProblem<D>>()
        .expect("a pressure problem");
    let world = LiquidWorld::<D>::of(run.world()).expect("a world of liquid");
    // What carries over is the impulse, pressure times the length of the step.
    let scale = last_step / problem.dt;
    let carried = |cell| world.liquid().pressure(cell).map_or(0.0, |p| scale * p);
    Ok(Sample {
        start: problem.cells.iter().map(|&cell| carried(cell)).collect(),
        problem: *problem,
    })
}

#[cfg(test)]
mod tests {
    use super::super::solver_case::{Rules, SolverCase};
    use super::*;

    fn small_circle() -> Scene<2> {
        match scene("circle", 24, Walls::Separating).unwrap() {
            AnyScene::Two(scene) => scene,
            AnyScene::Three(_) => panic!("the circle is flat"),
        }
    }

    #[test]
    fn looking_at_problems_does_not_change_the_run() {
        let scene = small_circle();
        let mut rows = [Vec::new(), Vec::new()];
        for (every, rows) in [1, 3].into_iter().zip(&mut rows) {
            let choice = Choice { frames: 4, every };
            let seen = visit(&scene, choice, &mut |sample| {
                rows.push((sample.rows(), sample.problem.rhs.clone()));
                Ok(())
            });
            assert!(seen.unwrap().closed == 0);
        }
        let every_third: Vec<_> = rows[0].iter().step_by(3).cloned().collect();
        assert_eq!(every_third, rows[1]);
    }

    #[test]
    fn the_pressure_of_the_step_before_is_a_better_start_than_zero() {
        let solver = SolverCase::named("PI-PCG").unwrap();
        let cold = Rules::FROM_ZERO;
        let mut iterations = [0, 0];
        let choice = Choice {
            frames: 10,
            every: 2,
        };
        let seen = visit(&small_circle(), choice, &mut |sample| {
            for (count, rules) in iterations.iter_mut().zip([Rules::default(), cold]) {
                *count += solver.iterations(&solver.solve(sample, &rules)?);
            }
            Ok(())
        });
        assert!(seen.unwrap().looked_at > 5);
        assert!(iterations[0] < iterations[1], "{iterations:?}");
    }
}
