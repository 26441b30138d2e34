use super::*;
use crate::catalogue::step_speed::measure::{Air, Pace, Peak, Phase};

fn span(cpu: f64, own: f64) -> Span {
    Span {
        cpu,
        wall: 2.0 * own,
        own,
    }
}

/// A run whose frames take so many CPU seconds, with an impact in frame 2.
fn run(walls: &str, threads: usize, seconds: &[f64]) -> Measured<Run> {
    let frame = |&cpu: &f64| Frame {
        span: span(cpu, cpu / threads as f64),
        others_waited: if threads == 1 { 0.0 } else { 0.1 * cpu },
        phases: vec![Phase {
            name: "solve".into(),
            span: span(0.5 * cpu, 0.5 * cpu),
        }],
        steps: 2,
        unknowns: 1000,
        outer_iterations: 4,
        inner_iterations: 40,
    };
    Measured {
        setup: Setup {
            stage: Stage::OpenCube,
            walls: walls.into(),
            resolution: 128,
            frames: seconds.len() as u32,
            threads,
        },
        outcome: Run {
            particles: 8000,
            frames: seconds.iter().map(frame).collect(),
            impact: Some(2),
            peak: Some(Peak {
                bytes: 2_000_000,
                before: 500_000,
                cells: 1000,
            }),
        },
    }
}

fn measurements() -> Measurements {
    let runs = vec![
        run("separating", 1, &[2.0, 6.0]),
        run("separating", 2, &[2.0, 6.4]),
    ];
    let airs = vec![Measured {
        setup: runs[0].setup.clone(),
        outcome: Air {
            frames: vec![[1.0, 1.05], [1.0, 9.0], [2.0, 2.1]],
            same_steps: true,
        },
    }];
    let paces = vec![Measured {
        setup: runs[1].setup.clone(),
        outcome: Pace {
            frames: vec![[2.0, 1.0], [6.0, 3.2], [1.0, 9.0]],
        },
    }];
    Measurements {
        runs,
        paces,
        airs,
        load: Some(6.5),
    }
}

fn options(resolution: usize) -> Options {
    Options {
        resolution,
        frames: 2,
        threads: vec![1, 2],
        walls: vec!["separating".into()],
        scenes: vec![Stage::OpenCube],
    }
}

/// What was measured and the verdict, by a part of the target's name.
fn verdict(section: &Section, what: &str) -> (f64, String) {
    let table = section.table.as_ref().unwrap().json();
    let rows = table.as_array().unwrap();
    let has = |row: &&serde_json::Value| row["what"].as_str().unwrap().contains(what);
    let row = rows
        .iter()
        .find(has)
        .unwrap_or_else(|| panic!("no {what} in {table}"));
    let words = row["verdict"].as_str().unwrap().to_string();
    (row["measured"].as_f64().unwrap(), words)
}

#[test]
fn the_dearest_run_decides_whether_a_target_is_met() {
    let targets = targets(&measurements());
    // All frames of both runs take 4 s and 4.2 s; those after the impact 6 s and 6.4 s.
    assert_eq!(verdict(&targets, "CPU time"), (6.4, "missed".into()));
    assert_eq!(verdict(&targets, "peak memory"), (2000.0, "missed".into()));
}

#[test]
fn speed_up_and_air_are_by_the_median() {
    let targets = targets(&measurements());
    let (faster, words) = verdict(&targets, "two threads");
    assert!(
        (faster - 6.0 / 3.2).abs() < 1e-12 && words == "met",
        "{faster} {words}"
    );
    let (cost, words) = verdict(&targets, "empty space");
    assert!(
        (cost - 5.0).abs() < 1e-9 && words == "met",
        "{cost} {words}"
    );
}

#[test]
fn at_best_nothing_was_waited_for_and_the_work_was_shared_evenly() {
    let mut two = run("slip", 2, &[2.0, 2.0]);
    for frame in &mut two.outcome.frames {
        frame.span.own = 1.5;
        frame.others_waited = 0.2;
    }
    assert!((own_seconds_at_best(&two) - 1.3).abs() < 1e-12);
    two.outcome.frames[1].others_waited = 9.0;
    assert!((own_seconds_at_best(&two) - 0.5 * (1.3 + 1.0)).abs() < 1e-12);
}

#[test]
fn what_was_not_run_is_not_judged() {
    let mut measured = measurements();
    measured.runs = vec![run("slip", 2, &[1.0])];
    measured.runs[0].outcome.impact = None;
    measured.airs.clear();
    measured.paces.clear();
    let text = targets(&measured).table.unwrap().text();
    assert_eq!(text.matches("not measured").count(), 2, "{text}");
    assert!(!text.contains("two threads"), "{text}");
}

#[test]
fn the_figure_of_others_stands_only_where_it_was_measured() {
    let words = |resolution: usize| {
        let findings = findings(&options(resolution), &measurements());
        findings.markdown()
    };
    assert!(words(128).contains("18.3") && words(128).contains("elsewhere"));
    assert!(!words(100).contains("Mantaflow"));
}

#[test]
fn another_resolution_has_files_of_its_own() {
    let variant = |resolution| findings(&options(resolution), &measurements()).variant;
    assert_eq!(variant(128), None);
    assert_eq!(variant(64), Some("64".into()));
}

#[test]
fn the_data_have_a_row_for_every_frame_and_a_column_for_every_phase() {
    let csv = data(&measurements()).csv();
    assert_eq!(csv.lines().count(), 1 + 4);
    assert!(csv.lines().next().unwrap().ends_with("solve_cpu_s"));
    assert!(
        csv.lines()
            .nth(1)
            .unwrap()
            .starts_with("open-cube,separating,1,1,no,2"),
        "{csv}"
    );
    assert!(
        csv.lines()
            .nth(2)
            .unwrap()
            .starts_with("open-cube,separating,1,2,yes,6"),
        "{csv}"
    );
}

#[test]
fn phases_are_compared_between_fewest_and_most_threads() {
    let table = phases(Stage::OpenCube, &measurements())
        .table
        .unwrap()
        .json();
    assert_eq!(table[0]["phase"], "solve");
    assert_eq!(table[0]["separating, CPU s"], 2.0);
    let faster = table[0]["separating, 2 : 1 threads"].as_f64().unwrap();
    assert!((faster - 8.0 / 8.4).abs() < 1e-12, "{faster}");
    assert_eq!(table[1]["phase"], "all");
}
