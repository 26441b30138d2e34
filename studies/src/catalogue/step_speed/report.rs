//! The measurements as targets and tables.

use super::figures::{
    bytes_a_cell, cost_of_air, cpu_from_impact, dearest_cpu, has_fewest_threads, mean, means,
    of_phase, own_seconds, own_seconds_at_best, phase_names, speed_up, stages, sum,
    with_most_threads,
};
use super::measure::{COPIES, Frame, Run, Setup};
use super::stage::Stage;
use super::{Measured, Measurements, Options, StepSpeed, USUAL_RESOLUTION};
use crate::machine::Span;
use crate::prelude::*;
use crate::table::in_thousands;

/// CPU seconds a frame with separating walls, without a mesh.
const MOST_CPU_SECONDS: f64 = 5.0;
/// Per cent that twice the empty space may cost.
const MOST_FOR_AIR: f64 = 10.0;
/// Least speed-up by a second thread.
const LEAST_SPEED_UP: f64 = 1.6;
/// Bytes for a liquid cell with its particles.
const MOST_BYTES: f64 = 1500.0;
/// Blender 3.4.1's Mantaflow in the open cube, data and mesh: resolution, particles, CPU seconds a frame.
const MANTAFLOW: [(usize, &str, f64); 3] = [
    (64, "74,000 to 180,000", 2.7),
    (96, "not known", 6.2),
    (128, "310,000", 18.3),
];

/// All that is written down.
pub fn findings(options: &Options, measured: &Measurements) -> Findings {
    let unusual = options.resolution != USUAL_RESOLUTION;
    let mut sections = vec![targets(measured), runs(measured)];
    sections.extend(
        stages(measured)
            .into_iter()
            .map(|stage| phases(stage, measured)),
    );
    sections.push(paces(measured));
    sections.push(air(measured));
    sections.extend(beside_others(options.resolution, measured));
    Findings {
        study: StepSpeed::NAME,
        variant: unusual.then(|| options.resolution.to_string()),
        setting: setting(options, measured),
        pictures: Vec::new(),
        sections,
        data: data(measured),
    }
}

fn setting(options: &Options, measured: &Measurements) -> Vec<String> {
    let machine = machine::sentence(measured.load);
    let particles = measured.runs.first().map_or(0, |run| run.outcome.particles);
    let what = format!(
        "Water breaks at {} cells along 2 m, about {} particles, {} frames of 1/24 s; no files, no preview, no mesh.",
        options.resolution,
        in_thousands(particles),
        options.frames
    );
    let clocks = "CPU seconds are those of all threads. \"Own\" seconds are those of the wall clock, less those in which the \
        driving thread was ready and other programs had its core: on an idle machine the two are the same, and speed-ups \
        are their ratio.";
    vec![what, machine, clocks.into()]
}

fn targets(measured: &Measurements) -> Section {
    let mut targets = Vec::new();
    for stage in stages(measured) {
        let of_stage = || {
            measured
                .runs
                .iter()
                .filter(move |run| run.setup.stage == stage)
        };
        let separating = || of_stage().filter(|run| run.setup.walls == "separating");
        targets.push(Target::new(
            format!("{stage}, separating walls: CPU time of a frame"),
            Bound::AtMost(MOST_CPU_SECONDS),
            "s",
            separating()
                .map(|run| dearest_cpu(&run.outcome))
                .reduce(f64::max),
            2,
        ));
        for pace in measured.paces.iter().filter(|p| p.setup.stage == stage) {
            targets.push(Target::new(
                format!(
                    "{stage}, {} walls: two threads against one",
                    pace.setup.walls
                ),
                Bound::AtLeast(LEAST_SPEED_UP),
                "times as fast",
                speed_up(&pace.outcome),
                2,
            ));
        }
        let air = measured.airs.iter().find(|air| air.setup.stage == stage);
        targets.push(Target::new(
            format!("{stage}: cost of doubling the empty space"),
            Bound::AtMost(MOST_FOR_AIR),
            "%",
            air.and_then(|air| cost_of_air(&air.outcome)),
            1,
        ));
        targets.push(Target::new(
            format!("{stage}: peak memory for a liquid cell"),
            Bound::AtMost(MOST_BYTES),
            "bytes",
            of_stage()
                .filter_map(|run| bytes_a_cell(&run.outcome))
                .reduce(f64::max),
            0,
        ));
    }
    target::section(
        vec![
            "Each by the worst run: CPU time by all frames or by those from the first impact on, whichever is dearer; memory \
             with any walls and threads. The targets are meant for 128 cells."
                .into(),
        ],
        &targets,
    )
}

fn runs(measured: &Measurements) -> Section {
    let mut table = Table::columns(
        "scene | walls | threads | CPU s a frame | from impact | own s a frame | at best | \
            wall s a frame | steps a frame | liquid cells | outer a step | inner a step | \
            impact in frame | peak MB | bytes a cell",
    );
    for one in &measured.runs {
        let (setup, run) = (&one.setup, &one.outcome);
        let steps = sum(run, |frame| frame.steps as f64);
        let per_step = |count: fn(&Frame) -> u64| sum(run, |frame| count(frame) as f64) / steps;
        table.push([
            setup.stage.to_string().into(),
            setup.walls.as_str().into(),
            Cell::Whole(setup.threads as u64),
            Cell::Number(mean(run, |frame| frame.span.cpu), 2),
            Cell::maybe(cpu_from_impact(run), 2),
            Cell::Number(own_seconds(run), 2),
            Cell::Number(own_seconds_at_best(one), 2),
            Cell::Number(mean(run, |frame| frame.span.wall), 2),
            Cell::Number(mean(run, |frame| frame.steps as f64), 1),
            Cell::Whole(mean(run, |frame| frame.unknowns as f64) as u64),
            Cell::Number(per_step(|frame| frame.outer_iterations), 1),
            Cell::Number(per_step(|frame| frame.inner_iterations), 1),
            run.impact
                .map_or(Cell::Missing, |frame| Cell::Whole(frame as u64)),
            Cell::maybe(run.peak.map(|peak| peak.bytes as f64 / 1e6), 1),
            Cell::maybe(bytes_a_cell(run), 0),
        ]);
    }
    let before = measured.runs.iter().filter_map(|run| run.outcome.peak);
    let before = before.map(|peak| peak.before).max().unwrap_or(0);
    Section::new(
        "Runs",
        [format!(
            "Each in a process of its own, whose peak memory it is: {:.1} MB of it were there before the first cell. Liquid cells \
             are the unknowns of the pressure; a frame counts as from impact if the liquid is at the far side at its end. At best, \
             no thread would have waited for a core.",
            before as f64 / 1e6
        )],
        table,
    )
}

fn phases(stage: Stage, measured: &Measurements) -> Section {
    let is_shown = |setup: &Setup| setup.stage == stage && has_fewest_threads(measured, setup);
    let shown = || measured.runs.iter().filter(|run| is_shown(&run.setup));
    let mut headings = vec!["phase".to_string()];
    for run in shown() {
        let Setup { walls, threads, .. } = &run.setup;
        headings.push(format!("{walls}, CPU s"));
        if let Some(other) = with_most_threads(measured, run) {
            headings.push(format!(
                "{walls}, {} : {threads} threads",
                other.setup.threads
            ));
        }
    }
    let mut table = Table::new(headings);
    let mut add = |name: &str, span: &dyn Fn(&Frame) -> Span| {
        let mut row = vec![Cell::from(name)];
        for run in shown() {
            row.push(Cell::Number(mean(&run.outcome, |frame| span(frame).cpu), 3));
            if let Some(other) = with_most_threads(measured, run) {
                let own = |run: &Run| mean(run, |frame| span(frame).own);
                row.push(Cell::Number(own(&run.outcome) / own(&other.outcome), 2));
            }
        }
        table.push(row);
    };
    for name in phase_names(measured) {
        add(&name, &|frame| of_phase(frame, &name));
    }
    add("all", &|frame| frame.span);
    Section::new(
        format!("Phases of {stage}"),
        [
            "CPU seconds a frame with the fewest threads, and how many times as fast a phase is with the most.",
        ],
        table,
    )
}

fn paces(measured: &Measurements) -> Section {
    let mut table = Table::columns(
        "scene | walls | frames | one thread, own s a frame | two threads | times as fast",
    );
    for Measured { setup, outcome } in &measured.paces {
        let [first, second] = means(&outcome.frames);
        table.push([
            setup.stage.to_string().into(),
            setup.walls.as_str().into(),
            Cell::Whole(outcome.frames.len() as u64),
            Cell::Number(first, 2),
            Cell::Number(second, 2),
            Cell::maybe(speed_up(outcome), 2),
        ]);
    }
    Section::new(
        "Two threads",
        [format!(
            "The same run {COPIES} times with one thread and {COPIES} times with two, in turn, frame by frame, in one process. The \
                 quickest of each counts; how many times as fast is the median over the frames. Runs one after the other, as \
                 above, differ by what else the machine does meanwhile."
        )],
        table,
    )
}

fn air(measured: &Measurements) -> Section {
    let mut table = Table::columns(
        "scene | frames | CPU s a frame | with twice the air | cost in % | same steps",
    );
    for Measured { setup, outcome } in &measured.airs {
        let [first, second] = means(&outcome.frames);
        table.push([
            setup.stage.to_string().into(),
            Cell::Whole(outcome.frames.len() as u64),
            Cell::Number(first, 2),
            Cell::Number(second, 2),
            Cell::maybe(cost_of_air(outcome), 1),
            Cell::from(outcome.same_steps),
        ]);
    }
    Section::new(
        "Empty space",
        [
            "The same liquid in cells of the same size under a ceiling twice as high. The two take turns, frame by frame, in \
             one process with one thread; the cost is the median over the frames.",
        ],
        table,
    )
}

/// Published times of other programs for the scene at this resolution.
fn beside_others(resolution: usize, measured: &Measurements) -> Option<Section> {
    let (_, particles, seconds) = MANTAFLOW.iter().find(|known| known.0 == resolution)?;
    let mut table = Table::columns("program | walls | particles | CPU s a frame | work | measured");
    let ours = measured
        .runs
        .iter()
        .filter(|run| run.setup.stage == Stage::OpenCube);
    for run in ours.filter(|run| has_fewest_threads(measured, &run.setup)) {
        table.push([
            "Meniscus".into(),
            run.setup.walls.as_str().into(),
            in_thousands(run.outcome.particles).into(),
            Cell::Number(dearest_cpu(&run.outcome), 1),
            "simulation".into(),
            "here".into(),
        ]);
    }
    table.push([
        "Mantaflow in Blender 3.4.1".into(),
        "slip".into(),
        (*particles).into(),
        Cell::Number(*seconds, 1),
        "simulation and mesh".into(),
        "elsewhere".into(),
    ]);
    Some(Section::new(
        "Beside others",
        [
            "A dam break in a cube of 2 m; ours by all frames or by those from the first impact on, whichever is dearer. Their figure was measured elsewhere, on another machine with 2 cores (x86-64) under \
             load, and is good to about 20 %; it includes a mesh, ours does not.",
        ],
        table,
    ))
}

/// One row for every frame.
fn data(measured: &Measurements) -> Table {
    let names = phase_names(measured);
    let fixed = [
        "scene",
        "walls",
        "threads",
        "frame",
        "from_impact",
        "cpu_s",
        "own_s",
        "wall_s",
        "steps",
        "liquid_cells",
        "outer_iterations",
        "inner_iterations",
    ];
    let own = fixed.iter().map(ToString::to_string);
    let mut table = Table::new(own.chain(names.iter().map(|name| format!("{name}_cpu_s"))));
    for Measured {
        setup,
        outcome: run,
    } in &measured.runs
    {
        for (index, frame) in run.frames.iter().enumerate() {
            let after = run.impact.is_some_and(|impact| index + 1 >= impact);
            let mut row = vec![
                setup.stage.to_string().into(),
                setup.walls.as_str().into(),
                Cell::Whole(setup.threads as u64),
                Cell::Whole(index as u64 + 1),
                Cell::from(after),
                Cell::Number(frame.span.cpu, 3),
                Cell::Number(frame.span.own, 3),
                Cell::Number(frame.span.wall, 3),
                Cell::Whole(frame.steps),
                Cell::Whole(frame.unknowns),
                Cell::Whole(frame.outer_iterations),
                Cell::Whole(frame.inner_iterations),
            ];
            row.extend(
                names
                    .iter()
                    .map(|name| Cell::Number(of_phase(frame, name).cpu, 4)),
            );
            table.push(row);
        }
    }
    table
}

#[cfg(test)]
mod tests;
