//! Means over the problems of a run, by size and solver.
//!
//! [Lai20 table 1, table 2, table 3, table 4, table 5, table 6, table 7, table 8]

use super::claims;
use super::printed::{MEANS, Printed, Quantity};
use super::side_by_side::{Here, pictures, side_by_side};
use super::{COUNTED, OTHER_MEANS, OTHER_METHODS, OTHER_PROBLEMS, OTHER_SLIP, OURS, variant_of};
use crate::options::Sizes;
use crate::prelude::*;
use crate::walls::{self, Averages, Choice, PATIENCE, Rules, Seen, SolverCase, mean};
use meniscus_liquid::Walls;
use meniscus_scene::AnyScene;
use std::sync::{Arc, Mutex, PoisonError};

/// The study of a table.
pub struct Means<const TABLE: usize>;

/// Options.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    sizes: Sizes,
    /// Frames to simulate [default: 100 in the plane, 12 in space]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    frames: Option<u32>,
    /// Every how many steps a problem is taken
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = value_parser!(u16).range(1..=1000))]
    every: u16,
    /// Start every solve from zero, instead of from the pressure of the step before
    #[arg(long)]
    cold: bool,
}

/// Outer iterations as the paper has them: every linear system is solved to the end.
pub const EXACT: [&str; 4] = [
    "PI-PCG, exact",
    "PI-MG, exact",
    "PE-PCG, exact",
    "PE-MG, exact",
];

/// The solvers' means at one size.
struct AtSize {
    size: u32,
    averages: Vec<Averages>,
    seen: Seen,
}

/// Scene, size, choice, and whether from zero.
type Key = (&'static str, u32, Choice, bool);

/// Cache of measurements: several tables of a scene show the same solves.
static MEASURED: Mutex<Vec<(Key, Arc<AtSize>)>> = Mutex::new(Vec::new());

/// The solvers of a table: the paper's and ours.
fn labels(printed: &Printed) -> Vec<&'static str> {
    let exact: &[&str] = match printed.quantity {
        Quantity::Outer => &EXACT,
        _ => &[],
    };
    let all = printed.columns.iter().chain(exact).chain(OURS);
    all.copied().collect()
}

/// All solvers that any table of the scene has, on the problems of one run.
fn measured(
    scene: &'static str,
    size: u32,
    choice: Choice,
    cold: bool,
) -> Result<Arc<AtSize>, Error> {
    let key = (scene, size, choice, cold);
    let mut known = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = known.iter().find(|(one, _)| *one == key) {
        return Ok(Arc::clone(found));
    }
    let mut wanted: Vec<&str> = Vec::new();
    for table in MEANS.iter().filter(|table| table.scene == scene) {
        for label in labels(table) {
            if !wanted.contains(&label) {
                wanted.push(label);
            }
        }
    }
    let cases = SolverCase::all_of(&wanted);
    let rules = Rules {
        from_zero: cold,
        ..Default::default()
    };
    let (averages, seen) = match walls::scene(scene, size as usize, Walls::Separating)? {
        AnyScene::Two(scene) => walls::averages(&scene, choice, &cases, &rules)?,
        AnyScene::Three(scene) => walls::averages(&scene, choice, &cases, &rules)?,
    };
    let found = Arc::new(AtSize {
        size,
        averages,
        seen,
    });
    known.push((key, Arc::clone(&found)));
    Ok(found)
}

impl AtSize {
    fn of(&self, label: &str) -> Option<&Averages> {
        let same = |one: &&Averages| one.case.label == label;
        self.averages.iter().find(same)
    }
}

impl<const TABLE: usize> Study for Means<TABLE> {
    const NAME: &'static str = MEANS[TABLE - 1].study;
    const SUMMARY: &'static str = MEANS[TABLE - 1].summary;
    type Options = Options;

    fn run(options: &Options) -> Result<Findings, Error> {
        let load = machine::load();
        let printed = &MEANS[TABLE - 1];
        let flat = walls::scene(printed.scene, 32, Walls::Separating)?.dimension() == 2;
        let usual: &[u32] = if flat { &[32, 64, 128] } else { &[32, 64] };
        let sizes = options.sizes.or(usual);
        let choice = Choice {
            frames: options.frames.unwrap_or(if flat { 100 } else { 12 }),
            every: options.every.into(),
        };
        let labels = labels(printed);
        let mut found = Vec::new();
        for &size in &sizes {
            found.push(measured(printed.scene, size, choice, options.cold)?);
        }
        let here = |label: &str, size: u32| {
            let at_size = found.iter().find(|at| at.size == size);
            at_size
                .and_then(|at| at.of(label))
                .map_or(Here::Nothing, |one| here_of(one, printed.quantity))
        };
        let table = side_by_side(printed, &labels, &sizes, &here);
        let value = |label: &str, size: u32| here(label, size).value();
        let targets = claims::of_means(printed, &sizes, &value);
        Ok(Findings {
            study: Self::NAME,
            variant: variant_of(
                &sizes,
                usual,
                &[
                    options.frames.map(|frames| format!("{frames}-frames")),
                    options.cold.then(|| "cold".into()),
                ],
            ),
            setting: vec![setting(options, choice, &found), machine::sentence(load)],
            pictures: pictures(printed, &labels, &sizes, &value),
            sections: paper_sections(
                [COUNTED],
                table,
                &targets,
                &[OTHER_PROBLEMS, OTHER_MEANS, OTHER_METHODS, OTHER_SLIP],
            ),
            data: data(&found),
        })
    }
}

fn here_of(one: &Averages, quantity: Quantity) -> Here {
    if one.too_long {
        return Here::TooLong;
    }
    let values = match quantity {
        Quantity::Iterations | Quantity::Count => &one.iterations,
        Quantity::Outer => &one.outer,
        Quantity::Seconds => &one.cpu,
    };
    mean(values).map_or(Here::Unsolved, Here::Value)
}

fn setting(options: &Options, choice: Choice, found: &[Arc<AtSize>]) -> String {
    let counts: Vec<String> = found
        .iter()
        .map(|at| {
            format!(
                "{} of {} steps at {}",
                at.seen.looked_at, at.seen.steps, at.size
            )
        })
        .collect();
    let closed: usize = found.iter().map(|at| at.seen.closed).sum();
    let without = match closed {
        0 => String::new(),
        1 => " One more was left out, because a part of the liquid had no free surface.".into(),
        n => format!(" {n} more were left out, because a part of the liquid had no free surface."),
    };
    format!(
        "One run a size with separating walls, {} frames of 1/24 s. The pressure problem of every {} step, the same for all \
         solvers, from {}, to a natural residual of 1e-6: {}.{without} A solve is stopped after {PATIENCE} s, and its solver \
         then gets no more problems of that size. CPU seconds of one thread, set-up included.",
        choice.frames,
        match options.every {
            1 => "single".into(),
            2 => "second".into(),
            3 => "third".into(),
            5 => "fifth".into(),
            k => format!("{k}th"),
        },
        if options.cold {
            "zero"
        } else {
            "the pressure of the step before"
        },
        counts.join(", "),
    )
}

fn data(found: &[Arc<AtSize>]) -> Table {
    let mut table =
        Table::columns("size | solver | problems | solved | too_long | iterations | outer | cpu_s");
    for at in found {
        for one in &at.averages {
            table.push([
                Cell::Whole(at.size.into()),
                one.case.label.into(),
                Cell::Whole(one.problems as u64),
                Cell::Whole(one.solved as u64),
                Cell::from(one.too_long),
                Cell::maybe(mean(&one.iterations), 2),
                Cell::maybe(mean(&one.outer), 2),
                Cell::maybe(mean(&one.cpu), 6),
            ]);
        }
    }
    table
}
