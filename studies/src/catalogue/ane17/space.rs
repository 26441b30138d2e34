//! Two scenes in space. [ANE17 fig. 1]

use crate::options::hyphenated;
use crate::prelude::*;
use crate::stills::{in_rows, png, stills};
use crate::walls::{Choice, Quartiles, Rules, SolverCase, averages};
use meniscus_liquid::Walls;
use meniscus_scene::{Scene, Volume};
use meniscus_shapes::{ScriptedSolid, Shape};

/// The study.
pub struct Fig1;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Cells along a side, separated by commas; 60 and 100 in the paper
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = USUAL, value_parser = value_parser!(u32).range(8..=256))]
    sizes: Vec<u32>,
    /// Cells along a side in the pictures
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = value_parser!(u16).range(8..=256))]
    drawn: u16,
    /// Frames of 0.01 s whose problems are solved; those of the pictures are drawn in any case
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u32).range(1..=1000))]
    frames: u32,
}

/// A scene; the paper describes neither of its two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deep {
    /// Scene 1 turned about the upright through its middle: a sphere with a slab inside, half of it full.
    Sphere,
    /// Scene 5 drawn out along the third axis: two columns break in a box.
    Columns,
}

impl Deep {
    pub fn words(self) -> &'static str {
        match self {
            Self::Sphere => {
                "Scene 1 turned about the upright: a sphere with a slab inside, half of it full."
            }
            Self::Columns => "Scene 5 drawn out: two columns break in a box.",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sphere => "sphere with a slab",
            Self::Columns => "two columns",
        }
    }

    /// Frames that the figure shows.
    fn shown(self) -> [u32; 3] {
        match self {
            Self::Sphere => [80, 90, 100],
            Self::Columns => [140, 150, 160],
        }
    }

    pub fn scene(self, cells: usize, walls: Walls) -> Scene<3> {
        let mut scene = Scene::new(
            &self.name().replace(' ', "-"),
            self.words(),
            [1.0; 3],
            cells,
        );
        scene.physics.gravity = [0.0, 0.0, -9.82];
        scene.frame_rate = 100.0;
        scene.physics.walls = walls;
        let block = |low, high| Shape::Box { low, high };
        match self {
            Self::Sphere => {
                let container = Shape::Sphere {
                    center: [0.5; 3],
                    radius: 0.4,
                };
                scene.solids = vec![
                    ScriptedSolid::still("sphere", container.inverted()),
                    ScriptedSolid::still("slab", block([0.2, 0.2, 0.4], [0.8, 0.8, 0.6])),
                ];
                scene.liquids = vec![Volume::at_rest(Shape::HalfSpace {
                    point: [0.5; 3],
                    normal: [-1.0, 0.0, 0.0],
                })];
            }
            Self::Columns => {
                let container = block([0.1; 3], [0.9; 3]);
                scene.solids = vec![ScriptedSolid::still("box", container.inverted())];
                scene.liquids = vec![
                    Volume::at_rest(block([0.1; 3], [0.3, 0.9, 0.7])),
                    Volume::at_rest(block([0.7, 0.1, 0.1], [0.9, 0.9, 0.7])),
                ];
            }
        }
        scene
    }
}

/// Median seconds that the paper gives.
fn printed(deep: Deep, size: u32) -> Option<f64> {
    match (deep, size) {
        (Deep::Sphere, 60) => Some(12.57),
        (Deep::Sphere, 100) => Some(46.92),
        (Deep::Columns, 100) => Some(19.73),
        _ => None,
    }
}

const SOLVERS: [&str; 3] = ["Newton", "Newton, MIC(0)", "TN-MG"];
const PIXELS: u32 = 260;
/// The sizes that the paper has.
const USUAL: [u32; 2] = [60, 100];

impl Study for Fig1 {
    const NAME: &'static str = "ane17-fig1";
    const SUMMARY: &'static str = "two scenes in 3D: median time of a pressure solve, and frames";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let cases = SolverCase::all_of(&SOLVERS);
        let mut table = Table::columns(
            "scene | size | solver | problems | solved | median CPU s | median outer | paper, s",
        );
        let choice = Choice {
            frames: options.frames,
            every: 5,
        };
        let mut targets = Vec::new();
        for deep in [Deep::Sphere, Deep::Columns] {
            for &size in &options.sizes {
                let scene = deep.scene(size as usize, Walls::Separating);
                let (found, _) = averages(&scene, choice, &cases, &Rules::default())?;
                for one in &found {
                    let median =
                        |values: &[f64]| Quartiles::of(values.iter().copied()).map(|q| q.median);
                    let theirs = printed(deep, size).filter(|_| one.case.label == SOLVERS[0]);
                    table.push([
                        deep.name().into(),
                        Cell::Whole(size.into()),
                        one.case.label.into(),
                        Cell::Whole(one.problems as u64),
                        Cell::Whole(one.solved as u64),
                        Cell::maybe(median(&one.cpu), 3),
                        Cell::maybe(median(&one.outer), 1),
                        Cell::maybe(theirs, 2),
                    ]);
                    if let Some(theirs) = theirs {
                        targets.push(Target::new(
                            format!("{}, {size} cells: median of Newton's CPU time", deep.name()),
                            Bound::AtMost(theirs),
                            "s",
                            median(&one.cpu),
                            2,
                        ));
                    }
                }
            }
        }
        let drawn = usize::from(options.drawn);
        let mut rows = Vec::new();
        for deep in [Deep::Sphere, Deep::Columns] {
            let scene = deep.scene(drawn, Walls::Separating);
            rows.push(stills(&scene, &deep.shown(), PIXELS, "separating")?);
        }
        Ok(Findings {
            study: Self::NAME,
            variant: (options.sizes != USUAL || options.frames != 30)
                .then(|| format!("{}-{}-frames", hyphenated(&options.sizes), options.frames)),
            setting: vec![
                format!(
                    "The paper does not describe its two scenes. Ours: {} {} The pressure problem of every fifth step of the first \
                     {} frames of 0.01 s, separating walls, from the pressure of the step before, to a natural residual of 1e-6. \
                     CPU seconds of one thread, set-up included; the paper's are those of GPUs, to a merit of 1e-3.",
                    Deep::Sphere.words(),
                    Deep::Columns.words(),
                    options.frames
                ),
                machine::sentence(load),
            ],
            pictures: vec![Picture {
                name: "frames",
                caption: format!("frames 80, 90, 100 and 140, 150, 160, {drawn} cells"),
                content: Content::Png(png(&in_rows(&rows))?),
            }],
            sections: paper_sections(
                NO_WORDS,
                table.clone(),
                &targets,
                &[
                    "Other scenes, other hardware, and a start from the step before. What can be compared is the order of \
                         magnitude.",
                ],
            ),
            data: table,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_scenes_are_sound_and_have_liquid() {
        for deep in [Deep::Sphere, Deep::Columns] {
            let scene = deep.scene(12, Walls::Separating);
            assert!(
                meniscus_app::runner::Simulation::new(&scene).is_ok(),
                "{deep:?}"
            );
        }
    }
}
