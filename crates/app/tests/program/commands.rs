use crate::trial::{Trial, assert_contains, names};
use meniscus_scene::builtin;

#[test]
fn help_explains_the_commands_with_examples() {
    let said = Trial::new().call_well("--help").said;
    assert_contains(
        &said,
        &[
            "run",
            "scenes",
            "export",
            "lcp",
            "Examples:",
            "--walls",
            "Exit codes",
        ],
    );
    for command in ["run", "scenes", "export", "lcp", "lcp export"] {
        let said = Trial::new().call_well(&format!("{command} --help")).said;
        assert!(said.contains("Usage:"), "{command}: {said}");
    }
}

#[test]
fn scenes_lists_one_scene_per_line() {
    let said = Trial::new().call_well("scenes").said;
    let listed: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected: Vec<&str> = builtin::TEXTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, expected);
    for name in [
        "thrown-sphere",
        "ane17-1",
        "ane17-5",
        "circle",
        "square",
        "maze",
        "sphere",
    ] {
        assert!(listed.contains(&name), "{name}");
    }
    for name in [
        "sphere-cuboid",
        "double-sphere",
        "box-kick",
        "ceiling-ball",
        "dam-break",
    ] {
        assert!(listed.contains(&name), "{name}");
    }
}

#[test]
fn a_misspelt_scene_is_a_usage_error_with_a_suggestion() {
    let trial = Trial::new();
    trial.fails("run dambrake", 2, &["did you mean dam-break"]);
    assert!(names(&trial.path("")).is_empty(), "nothing is written");
}

#[test]
fn a_misspelt_choice_is_a_usage_error_with_a_suggestion() {
    for (line, meant) in [
        ("run circle --solver newtn", "newton"),
        ("run circle --walls separatin", "separating"),
        ("run circle --transfer apik", "apic"),
        ("export out --to plyy", "ply"),
        ("run circle --resoluton 9", "--resolution"),
    ] {
        let outcome = Trial::new().call(line);
        assert_eq!(outcome.code, 2, "{line}");
        assert!(outcome.errors.contains(meant), "{line}: {}", outcome.errors);
    }
}

#[test]
fn values_out_of_range_are_usage_errors_that_name_the_setting() {
    for (line, named) in [
        ("run circle --resolution 0", "resolution"),
        ("run circle --frames 0", "frames"),
        ("run circle --threads 0", "threads"),
        ("run circle --threads 100000", "threads"),
        ("run circle --resolution -3", "resolution"),
        ("run circle --solver cg --walls separating", "solver"),
        ("lcp export circle --frame 0", "frame 0"),
    ] {
        let trial = Trial::new();
        trial.fails(line, 2, &[named]);
        assert!(
            names(&trial.path("")).is_empty(),
            "{line}: nothing is written"
        );
    }
}

#[test]
fn a_resolution_beyond_the_memory_is_refused_before_the_run() {
    let trial = Trial::new();
    trial.fails("run dam-break --resolution 20000", 4, &["--resolution"]);
    assert!(names(&trial.path("")).is_empty(), "nothing is written");
}

#[test]
fn quiet_prints_nothing() {
    let trial = Trial::new();
    let outcome = trial.call_well("run dam-break-2d --resolution 16 --frames 1 --quiet");
    assert_eq!((outcome.said.as_str(), outcome.errors.as_str()), ("", ""));
    assert!(trial.path("out/dam-break-2d/preview.gif").is_file());
}

#[test]
fn the_suggested_comparison_has_the_same_overrides() {
    let trial = Trial::new();
    let changes = "--resolution 16 --frames 1 --walls slip --solver cg --set gravity=[0,-5]";
    let outcome = trial.call_well(&format!("run dam-break-2d {changes}"));
    let expected = "run dam-break-2d --set 'gravity=[0,-5]' --frames 1 --resolution 16 --walls separating --solver auto --out";
    assert!(outcome.said.contains(expected), "{}", outcome.said);
}

#[test]
fn piped_progress_is_one_line_per_frame_and_ends_with_next_commands() {
    let trial = Trial::new();
    let outcome = trial.call_well("run dam-break-2d --resolution 16 --frames 3");
    let frames: Vec<&str> = outcome
        .said
        .lines()
        .filter(|line| line.starts_with("frame "))
        .collect();
    assert_eq!(frames.len(), 3, "{}", outcome.said);
    for (i, line) in frames.iter().enumerate() {
        assert!(line.starts_with(&format!("frame {} of 3", i + 1)), "{line}");
        assert_contains(line, &["left", "residual", "volume", "it"]);
    }
    assert!(
        !outcome.said.contains('\u{1b}'),
        "no terminal codes on a pipe"
    );
    assert_contains(
        &outcome.said,
        &[
            "preview.gif",
            "particles/",
            "stats.jsonl",
            "Next:",
            "export",
            "--to ply",
        ],
    );
}
