//! Scene files: valid, broken and new ones.

use crate::trial::{Trial, assert_contains, assert_error};
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

const POOL: &str = "[domain]\nsize = [1, 1]\nresolution = 16\n[time]\nframes = 2\n\
                    [[liquid]]\nshape = { box = { low = [0, 0], high = [0.4, 0.5] } }\n";

fn write(trial: &Trial, name: &str, text: impl AsRef<[u8]>) {
    fs::write(trial.path(name), text).unwrap();
}

#[test]
fn a_scene_file_runs_and_its_complete_text_is_written() {
    let trial = Trial::new();
    write(&trial, "pool.toml", POOL);
    trial.call_well("run pool.toml --set walls.kind=slip --quiet");
    let complete = fs::read_to_string(trial.path("out/pool/scene.toml")).unwrap();
    assert_contains(
        &complete,
        &[
            "name = \"pool\"",
            "kind = \"slip\"",
            "cfl = 2.0",
            "resolution = 16",
        ],
    );
    // The scene written by a run can itself be run.
    trial.call_well("run out/pool/scene.toml --out again --quiet");
    let particles =
        |out: &str| fs::read(trial.path(&format!("{out}/particles/particles_000002.mpc")));
    assert_eq!(particles("out/pool").unwrap(), particles("again").unwrap());
}

#[test]
fn all_errors_of_a_scene_file_are_reported_with_their_positions() {
    let trial = Trial::new();
    write(
        &trial,
        "bad.toml",
        POOL.replace("resolution", "resolutoin")
            .replace("0.4", "-1"),
    );
    trial.fails(
        "check bad.toml",
        2,
        &[
            "bad.toml:3:1",
            "did you mean `resolution`?",
            "bad.toml:7:",
            "low (0) must be less than high (-1)",
        ],
    );
    let outcome = trial.fails("check bad.toml --json", 2, &[]);
    let answer: Value = serde_json::from_str(&outcome.said).unwrap();
    assert_eq!(answer["runs"], false);
    assert_eq!(answer["problems"][0]["line"], 3);
    assert_eq!(answer["problems"][0]["column"], 1);
    assert_eq!(answer["problems"].as_array().unwrap().len(), 2);
    assert_eq!(trial.call("run bad.toml").code, 2);
    assert!(
        !trial.path("out").exists(),
        "nothing is written for a bad scene"
    );
}

#[test]
fn files_that_are_not_scenes_are_refused_immediately() {
    let trial = Trial::new();
    write(&trial, "empty.toml", "");
    write(&trial, "bytes.toml", [0xff, 0xfe, 0x00, 0x80]);
    write(
        &trial,
        "nested.toml",
        format!("a = {}", "[".repeat(1_000_000)),
    );
    write(
        &trial,
        "bodies.toml",
        format!("{POOL}{}", "[[solid]]\n".repeat(300_000)),
    );
    fs::create_dir(trial.path("folder.toml")).unwrap();
    fs::create_dir(trial.path("run")).unwrap();
    fs::write(trial.path("run/scene.toml"), POOL).unwrap();
    let huge = fs::File::create(trial.path("huge.toml")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(trial.path("pipe.toml"))
        .status();
    assert!(made.unwrap().success());
    for (file, what) in [
        ("empty.toml", "`domain` is missing"),
        ("bytes.toml", "not UTF-8"),
        ("nested.toml", "not TOML"),
        ("bodies.toml", "at most 10000"),
        ("folder.toml", "not a regular file"),
        ("./run", "whose scene is ./run/scene.toml"),
        ("huge.toml", "has 1024 MB"),
        ("pipe.toml", "not a regular file"),
        ("missing.toml", "there is no file"),
        ("/dev/zero", "not a regular file"),
    ] {
        let started = Instant::now();
        trial.fails(&format!("check {file}"), 2, &[what]);
        // The target is one second; a machine under load gets more.
        assert!(started.elapsed() < Duration::from_secs(10), "{file}");
    }
}

#[test]
fn a_scene_from_init_can_be_checked_and_run() {
    let trial = Trial::new();
    let said = trial.call_well("init dam-break-2d --out mine.toml").said;
    assert_contains(&said, &["mine.toml"]);
    let text = fs::read_to_string(trial.path("mine.toml")).unwrap();
    assert!(text.starts_with("name = \"mine\""), "{text}");
    assert!(
        text.contains("# [solver]") && text.contains("# tolerance = 1e-6"),
        "{text}"
    );
    trial.call_well("check mine.toml");
    trial.call_well("run mine.toml --resolution 20 --frames 1 --quiet");
    assert!(trial.path("out/mine/particles").is_dir());
    let again = trial.call("init dam-break-2d --out mine.toml");
    assert_eq!(again.code, 6, "{}", again.errors);
    assert_eq!(trial.call("init dam-brake").code, 2);
}

#[test]
fn an_estimate_is_made_before_anything_is_allocated() {
    let trial = Trial::new();
    let said = trial
        .call_well("estimate dam-break --resolution 20000 --json")
        .said;
    let estimate: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        estimate["cells"],
        serde_json::json!([20_000, 5_000, 10_000])
    );
    assert!(estimate["memory"].as_f64() > Some(1e12), "{said}");
    trial.fails(
        "run dam-break --threads 2 --memory-limit 40MB",
        4,
        &["--resolution"],
    );
    trial.fails(
        "run dam-break --memory-limit 5MB",
        4,
        &["no resolution fits", "output.preview"],
    );
    assert!(!trial.path("out").exists());
}

#[test]
fn check_refuses_what_run_refuses() {
    let trial = Trial::new();
    let solid = "[[solid]]\nshape = { box = { low = [-1, -1], high = [2, 2] } }\n";
    fs::write(trial.path("solid.toml"), format!("{POOL}{solid}")).unwrap();
    fs::write(trial.path("large.toml"), POOL).unwrap();
    for (file, code, why) in [
        ("solid.toml", 2, "no liquid outside of solids"),
        (
            "large.toml --resolution 65000 --set particles.per_cell=1000",
            4,
            "memory",
        ),
    ] {
        for command in ["check", "run"] {
            assert_error(&trial.call(&format!("{command} {file}")), code, &[why]);
        }
        let answer = trial.call(&format!("check {file} --json"));
        assert_eq!(answer.code, code);
        let answer: Value = serde_json::from_str(&answer.said).unwrap();
        assert_eq!(answer["runs"], false);
        assert!(
            answer["refused"].as_str().unwrap().contains(why),
            "{answer}"
        );
    }
    assert!(!trial.path("out").exists());
}

#[test]
fn a_mesh_in_another_unit_is_a_warning_with_a_scale() {
    let trial = Trial::new();
    let mesh = "v 0 0 0\nv 60 0 0\nv 0 60 0\nv 0 0 60\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    fs::write(trial.path("scan.obj"), mesh).unwrap();
    let scene = |scale: &str| {
        format!(
            "[domain]\nsize = [0.5, 0.5, 0.5]\nresolution = 16\n\
             [[liquid]]\nshape = {{ mesh = {{ file = \"scan.obj\"{scale} }}, moved = [0.1, 0.1, 0.1] }}\n"
        )
    };
    fs::write(trial.path("wrong.toml"), scene("")).unwrap();
    fs::write(trial.path("right.toml"), scene(", scale = 0.005")).unwrap();
    let outcome = trial.call_well("check wrong.toml");
    assert_contains(
        &outcome.errors,
        &[
            "120 times as large as the domain",
            "forgot `scale`?",
            "scale = 0.001",
        ],
    );
    let right = trial.call_well("check right.toml").errors;
    assert!(!right.contains("forgot"), "{right}");
}

#[test]
fn the_schema_is_json_and_completions_are_for_a_shell() {
    let trial = Trial::new();
    let schema: Value = serde_json::from_str(&trial.call_well("schema").said).unwrap();
    assert_eq!(schema["properties"]["domain"]["$ref"], "#/$defs/the-domain");
    let script = trial.call_well("completions bash").said;
    assert!(
        script.contains("_meniscus") && script.contains("estimate"),
        "{script}"
    );
    let page = trial.call_well("schema --markdown").said;
    assert!(page.contains("## `[domain]`"));
}

#[test]
fn an_error_in_an_override_is_shown_in_the_typed_text() {
    let trial = Trial::new();
    for (flags, shown) in [
        (
            "--set domain.resolution=-3",
            [" --set:1:", "domain.resolution=-3", "                  ^^"],
        ),
        ("--resolution 0", [" --resolution:1:", "| 0", "| ^"]),
        (
            "--set walls.kidn=slip",
            [" --set:1:1", "walls.kidn=slip", "| ^^^^^^^^^^"],
        ),
        // The table is in the file, the wrong value in it is not.
        (
            "--set liquid[1].shape.box.low=[9,9,9]",
            [" --set:1:", "liquid[1].shape.box.low=[9,9,9]", "along x"],
        ),
    ] {
        let outcome = trial.fails(&format!("check dam-break {flags}"), 2, &[]);
        for words in shown {
            assert!(
                outcome.errors.contains(words),
                "{flags}: {words}: {}",
                outcome.errors
            );
        }
    }
}

#[test]
fn huge_sizes_have_a_suitable_unit_and_counts_of_one_are_singular() {
    let trial = Trial::new();
    let said = trial
        .call_well("estimate dam-break --resolution 65536 --threads 1")
        .said;
    assert!(said.contains(" PB") && said.contains("1 thread,"), "{said}");
    assert_contains(&said, &[" years"]);
    trial.fails(
        "run dam-break --resolution 65536 --memory-limit 1GB",
        4,
        &[" PB", "1.0 GB"],
    );
    let said = trial
        .call_well("run dam-break-2d --resolution 12 --frames 1 --threads 1")
        .said;
    assert_contains(&said, &["1 frame of ", "1 step, ", "1 thread"]);
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_utf8_and_numbers_ignore_the_locale() {
    use std::os::unix::ffi::OsStrExt;
    let trial = Trial::new();
    let name = std::ffi::OsStr::from_bytes(b"w\xe4sser.toml");
    fs::write(
        trial.path("x").with_file_name(name),
        POOL.replace("0.4", "0.45"),
    )
    .unwrap();
    let out = std::ffi::OsStr::from_bytes(b"\xfcber");
    let mut command = trial.command();
    command.arg("run").arg(name).arg("--out").arg(out);
    let status = command.env("LC_ALL", "de_DE.UTF-8").output().unwrap();
    assert!(
        status.status.success(),
        "{}",
        String::from_utf8_lossy(&status.stderr)
    );
    let folder = trial.path("x").with_file_name(out);
    let complete = fs::read_to_string(folder.join("scene.toml")).unwrap();
    assert_contains(&complete, &["high = [0.45, 0.5]"]);
}
