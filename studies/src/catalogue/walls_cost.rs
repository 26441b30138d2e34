//! Cost of separating walls: a step with them compared with a step with slip walls, in every built-in scene.

use crate::prelude::*;
use crate::walls::{one_thread, scene};
use meniscus_app::runner::Simulation;
use meniscus_liquid::Walls;
use meniscus_scene::{AnyScene, Scene, builtin};

/// How much longer a step may take, in per cent.
const MOST: f64 = 10.0;

/// Defaults.
const FLAT: u32 = 128;
const SPATIAL: u32 = 40;
const FRAMES: u32 = 16;

/// The study.
pub struct WallsCost;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Scenes, separated by commas [default: all that are built in]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    scenes: Vec<String>,
    /// Cells along the longest side of a scene in the plane
    #[arg(long, value_name = "N", default_value_t = FLAT, value_parser = value_parser!(u32).range(8..=2048))]
    flat: u32,
    /// Cells along the longest side of a scene in space
    #[arg(long, value_name = "N", default_value_t = SPATIAL, value_parser = value_parser!(u32).range(8..=256))]
    spatial: u32,
    /// Frames of each run
    #[arg(long, value_name = "N", default_value_t = FRAMES, value_parser = value_parser!(u32).range(1..=1000))]
    frames: u32,
}

impl Options {
    /// Suffix of the file names for options other than the defaults.
    fn variant(&self) -> Option<String> {
        let mut words = self.scenes.clone();
        if (self.flat, self.spatial) != (FLAT, SPATIAL) {
            words.push(format!("{}-{}-cells", self.flat, self.spatial));
        }
        if self.frames != FRAMES {
            words.push(format!("{}-frames", self.frames));
        }
        (!words.is_empty()).then(|| words.join("-"))
    }
}

/// A scene with one kind of walls.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    steps: usize,
    cpu: f64,
    /// Sums over the steps.
    unknowns: usize,
    separated: usize,
}

impl Cost {
    fn a_step(&self) -> f64 {
        self.cpu / self.steps.max(1) as f64
    }

    fn mean(&self, sum: usize) -> f64 {
        sum as f64 / self.steps.max(1) as f64
    }
}

impl Study for WallsCost {
    const NAME: &'static str = "walls-cost";
    const SUMMARY: &'static str = "what separating walls cost a step, in every built-in scene";
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let names: Vec<String> = match options.scenes.is_empty() {
            true => builtin::of_liquid_alone().map(Into::into).collect(),
            false => options.scenes.clone(),
        };
        let mut table = Table::columns(
            "scene | cells | unknowns | separated rows | slip: steps | slip: ms a step | \
            separating: steps | separating: ms a step | more %",
        );
        let mut same_liquid =
            Table::columns("scene | steps | slip: ms a step | separating: ms a step | more %");
        let mut targets = Vec::new();
        let mut dearest = f64::NEG_INFINITY;
        for name in &names {
            let (cells, costs) = measure(name, options)?;
            let [slip, separating] = costs.runs;
            let more = per_cent_more(costs.runs);
            table.push([
                name.as_str().into(),
                Cell::Whole(cells.into()),
                Cell::Number(separating.mean(separating.unknowns), 0),
                Cell::Number(separating.mean(separating.separated), 0),
                Cell::Whole(slip.steps as u64),
                Cell::Number(1e3 * slip.a_step(), 2),
                Cell::Whole(separating.steps as u64),
                Cell::Number(1e3 * separating.a_step(), 2),
                Cell::Number(more, 1),
            ]);
            dearest = dearest.max(per_cent_more(costs.same_liquid));
            let [slip, separating] = costs.same_liquid;
            same_liquid.push([
                name.as_str().into(),
                Cell::Whole(slip.steps as u64),
                Cell::Number(1e3 * slip.a_step(), 2),
                Cell::Number(1e3 * separating.a_step(), 2),
                Cell::Number(per_cent_more(costs.same_liquid), 1),
            ]);
            targets.push(Target::new(
                format!("{name}: what separating walls cost a step"),
                Bound::AtMost(MOST),
                "%",
                Some(more),
                1,
            ));
        }
        targets.push(Target::new(
            "any scene, from the same liquid: what separating walls cost a step",
            Bound::AtMost(MOST),
            "%",
            Some(dearest).filter(|more| more.is_finite()),
            1,
        ));
        Ok(Findings {
            study: Self::NAME,
            variant: options.variant(),
            setting: vec![
                format!(
                    "{} frames of every scene with either kind of walls and the usual solver, one thread, no files. The two runs take \
                     turns, frame by frame. They are different flows after a while: a liquid that lets go of its walls has other \
                     cells than one that clings to them.",
                    options.frames
                ),
                machine::sentence(load),
            ],
            pictures: Vec::new(),
            sections: vec![
                target::section(Vec::new(), &targets),
                Section::new(
                    "Steps",
                    ["CPU time of whole steps, everything included."],
                    table.clone(),
                ),
                Section::new(
                    "From the same liquid",
                    [
                        "At the start of every frame the liquid with separating walls is copied twice, and each copy takes two steps, one \
                         copy with slip and the other with separating walls; the second step is timed. What is left of the difference is the walls themselves, not \
                         that the liquid is elsewhere.",
                    ],
                    same_liquid,
                ),
            ],
            data: table,
        })
    }
}

/// Costs with slip and with separating walls.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// Of two runs.
    runs: [Cost; 2],
    /// Of steps that start with the same liquid.
    same_liquid: [Cost; 2],
}

fn per_cent_more([slip, separating]: [Cost; 2]) -> f64 {
    100.0 * (separating.a_step() / slip.a_step() - 1.0)
}

/// The cells of a scene, and its costs.
fn measure(name: &str, options: &Options) -> Result<(u32, Costs), Error> {
    let cells = match builtin::named(name)? {
        AnyScene::Two(_) => options.flat,
        AnyScene::Three(_) => options.spatial,
    };
    let with = |walls| scene(name, cells as usize, walls);
    let pool = one_thread().map_err(|cause| Error::new(Kind::Resources, cause))?;
    let costs = match (with(Walls::Slip)?, with(Walls::Separating)?) {
        (AnyScene::Two(slip), AnyScene::Two(separating)) => {
            pool.install(|| in_turn([&slip, &separating], options.frames))?
        }
        (AnyScene::Three(slip), AnyScene::Three(separating)) => {
            pool.install(|| in_turn([&slip, &separating], options.frames))?
        }
        _ => return Err(Error::usage(format!("{name} has no dimension of its own"))),
    };
    Ok((cells, costs))
}

fn in_turn<const D: usize>(scenes: [&Scene<D>; 2], frames: u32) -> Result<Costs, Error> {
    let mut costs = Costs::default();
    let mut runs = [Simulation::new(scenes[0])?, Simulation::new(scenes[1])?];
    for frame in 1..=frames {
        let mut liquid = Vec::new();
        let written = runs[1].world().state().write(&mut liquid);
        written.map_err(in_memory)?;
        for (scene, cost) in scenes.into_iter().zip(&mut costs.same_liquid) {
            let mut copy = Simulation::restored(scene, &liquid, frame).map_err(in_memory)?;
            // A copy has to find its memory first.
            step(&mut copy, &mut Cost::default())?;
            step(&mut copy, cost)?;
        }
        for (run, cost) in runs.iter_mut().zip(&mut costs.runs) {
            while run.frame() == frame {
                step(run, cost)?;
            }
        }
    }
    Ok(costs)
}

/// A step, and what it costs.
fn step<const D: usize>(run: &mut Simulation<'_, D>, cost: &mut Cost) -> Result<(), Error> {
    let start = Moment::now();
    let step = run.step(&mut ());
    cost.cpu += Moment::now().since(&start).cpu;
    let step = step.map_err(|failure| Error::new(Kind::Numerical, failure.to_string()))?;
    cost.steps += 1;
    let measure = |name: &str| step.report.measure(name).unwrap_or(0.0) as usize;
    cost.unknowns += measure("unknowns");
    cost.separated += measure("separated_rows");
    Ok(())
}

fn in_memory(cause: impl std::fmt::Display) -> Error {
    Error::new(Kind::Resources, format!("could not copy a liquid: {cause}"))
}
