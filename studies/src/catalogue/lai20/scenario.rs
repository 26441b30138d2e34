//! The three scenarios of single solves.

use super::printed::SINGLES;
use crate::prelude::*;
use crate::walls::{self, Outcome, Rules, Sample, SolverCase};
use meniscus_liquid::Walls;
use meniscus_scene::AnyScene;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A scene and the frame whose first step is solved.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub scene: &'static str,
    pub frame: u32,
}

/// In the order of tables 9 to 11.
pub const SCENARIOS: [Scenario; 3] = [
    Scenario {
        scene: SINGLES[0].scene,
        frame: 10,
    },
    Scenario {
        scene: SINGLES[1].scene,
        frame: 70,
    },
    Scenario {
        scene: SINGLES[2].scene,
        frame: 10,
    },
];

/// Problems that this process has met already: several studies may want the same.
static MET: Mutex<Option<Met>> = Mutex::new(None);

/// By scene and size.
type Met = HashMap<(&'static str, u32), Arc<Sample<3>>>;

impl Scenario {
    /// Its problem.
    pub fn sample(self, size: u32) -> Result<Arc<Sample<3>>, Error> {
        let mut met = MET.lock().unwrap_or_else(PoisonError::into_inner);
        let met = met.get_or_insert_default();
        if let Some(sample) = met.get(&(self.scene, size)) {
            return Ok(Arc::clone(sample));
        }
        let sample = match walls::scene(self.scene, size as usize, Walls::Separating)? {
            AnyScene::Three(scene) => walls::first_of_frame(&scene, self.frame)?,
            AnyScene::Two(_) => return Err(Error::usage(format!("{} is flat", self.scene))),
        };
        let sample = Arc::new(sample);
        met.insert((self.scene, size), Arc::clone(&sample));
        Ok(sample)
    }
}

/// Every solver on a problem.
pub fn solve_all(
    sample: &Sample<3>,
    cases: &[SolverCase],
    rules: &Rules,
) -> Result<Vec<Outcome>, Error> {
    cases.iter().map(|case| case.solve(sample, rules)).collect()
}
