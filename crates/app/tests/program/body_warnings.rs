//! What a run of rigid bodies reports: contacts that were not solved, bodies that left the domain, and a table that grows.

use crate::trial::{Trial, assert_contains, assert_intact, interrupt, json, lines};
use std::fs;
use std::time::Duration;

/// A stack that one sweep of Gauss-Seidel per step can't hold.
const UNSOLVED: &str =
    "run stack --set contact.method=pgs --set contact.max_sweeps=1 --set output.preview=false";

#[test]
fn contacts_that_are_not_solved_are_reported_everywhere_with_a_remedy() {
    let trial = Trial::new();
    let said = trial
        .call_well(&format!("{UNSOLVED} --frames 12 --out run"))
        .said;
    let warning = "contacts were not solved accurately in";
    let remedy = "raise contact.max_iterations above";
    assert_contains(
        &said,
        &[
            &format!("warning: {warning} 1 step, first at frame 1"),
            "island not solved)",
            &format!("Warning: {warning}"),
            remedy,
        ],
    );
    let steps = lines(&trial.path("run/stats.jsonl"));
    let unsolved = |step: &serde_json::Value| step["unsolved_islands"].as_u64().unwrap() > 0;
    let residual = |step: &serde_json::Value| step["unsolved_residual"].as_f64().unwrap();
    let record = json(&trial.path("run/run.json"))["contacts"].clone();
    let count = steps.iter().filter(|step| unsolved(step)).count();
    assert_eq!(record["steps"], count);
    let largest = steps.iter().map(residual).fold(0.0, f64::max);
    assert_eq!(record["residual"].as_f64().unwrap(), largest);
    let limit = record["limit"].as_f64().unwrap();
    assert!((1e-4..1e-2).contains(&limit) && largest > limit);
    let visible = steps.iter().filter(|step| residual(step) > limit).count();
    assert_eq!(record["visible_steps"], visible);

    assert_contains(&trial.call_well("status run").said, &[warning, remedy]);
    let status = trial.call_well("status run --json").said;
    assert_contains(&status, &["\"contacts\"", "\"visible_steps\"", warning]);
    trial.call_well("report run");
    let page = fs::read_to_string(trial.path("run/report.html")).unwrap();
    assert!(page.contains(warning) && page.contains(remedy));
    assert_intact(&trial.path("run"));
    // A resumed run has the same record.
    trial.call_well(&format!("{UNSOLVED} --frames 5 --quiet --out cut"));
    trial.call_well(&format!(
        "{UNSOLVED} --frames 12 --quiet --out cut --resume"
    ));
    assert_eq!(json(&trial.path("cut/run.json"))["contacts"], record);
}

#[test]
fn residuals_too_small_to_be_visible_are_a_note_of_the_summary() {
    let trial = Trial::new();
    let said = trial
        .call_well("run stack --frames 6 --set contact.tolerance=1e-16 --out run")
        .said;
    assert!(!said.to_lowercase().contains("warning"), "{said}");
    assert_contains(&said, &["Note: contacts of ", "too small to be visible"]);
    let status = trial.call_well("status run").said;
    assert_contains(&status, &["note        contacts of "]);
    let record = json(&trial.path("run/run.json"))["contacts"].clone();
    assert_eq!(record["visible_steps"], 0);
    assert!(record["first_frame"].is_null() && record["steps"].as_u64().unwrap() > 0);
}

/// A ball that rolls out of the domain, and one that stays.
const LEAVER: &str = "[domain]\nsize = [1, 1]\nopen = [\"right\"]\n[time]\nframes = 12\nrate = 24\n\
    [[body]]\nname = \"leaver\"\nshape = { sphere = { radius = 0.1 } }\nposition = [0.7, 0.2]\nvelocity = [2, 0]\nmass = 1\ngravity = false\n\
    [[body]]\nname = \"other\"\nshape = { sphere = { radius = 0.1 } }\nposition = [0.3, 0.2]\nmass = 1\n";

#[test]
fn a_body_that_leaves_the_domain_is_removed_and_named() {
    let trial = Trial::new();
    fs::write(trial.path("scene.toml"), LEAVER).unwrap();
    let said = trial.call_well("run scene.toml --out run").said;
    let words = "body \"leaver\" left the domain at 0.2";
    let times = said.matches(words).count();
    assert_eq!(
        times, 2,
        "once in the progress, once in the summary: {said}"
    );
    let left = json(&trial.path("run/run.json"))["left_domain"].clone();
    assert_eq!(
        (&left[0]["name"], left[1].is_null()),
        (&"leaver".into(), true)
    );
    let first = left[0]["frame"].as_u64().unwrap();
    assert!(said.contains(&format!("frame {first} is the first without it")));
    // Nothing slows it down, and its centre is at 1.1 m after 0.2 s.
    let time = left[0]["time"].as_f64().unwrap();
    assert!((0.19..0.22).contains(&time), "{time}");
    let table = fs::read_to_string(trial.path("run/bodies.csv")).unwrap();
    let frames = |name: &str| -> Vec<u64> {
        let rows = table.lines().skip(2);
        rows.filter(|row| row.split(',').nth(2) == Some(name))
            .map(|row| row.split(',').next().unwrap().parse().unwrap())
            .collect()
    };
    assert_eq!(frames("leaver"), (0..first).collect::<Vec<_>>());
    assert_eq!(frames("other"), (0..=12).collect::<Vec<_>>());
    assert_contains(&trial.call_well("status run").said, &[words]);
    // Far from the side, the same run does not say so.
    let stays = LEAVER.replace("[2, 0]", "[0, 0]");
    fs::write(trial.path("scene.toml"), stays).unwrap();
    let said = trial.call_well("run scene.toml --out still").said;
    assert!(!said.contains("left the domain"), "{said}");
}

#[cfg(unix)]
#[test]
fn the_table_of_bodies_grows_with_the_frames_and_a_damaged_one_is_found_and_repaired() {
    let trial = Trial::new();
    let line = "run dominoes --quiet --set output.preview=false --out run";
    let mut child = trial.start(line);
    let path = trial.path("run/bodies.csv");
    let lines_of = || fs::read_to_string(&path).map_or(0, |text| text.lines().count());
    let (mut sizes, mut last) = (0, 0);
    while sizes < 3 {
        std::thread::sleep(Duration::from_millis(2));
        assert!(child.try_wait().unwrap().is_none(), "{sizes} sizes");
        let now = lines_of();
        sizes += u32::from(now > last);
        last = now;
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_intact(&trial.path("run"));
    trial.call_well("run dominoes --quiet --set output.preview=false --frames 8 --out whole");
    let whole = fs::read(trial.path("whole/bodies.csv")).unwrap();
    for damage in [&b""[..], b"frame,time\n", &whole[..whole.len() - 9]] {
        fs::write(trial.path("whole/bodies.csv"), damage).unwrap();
        trial.fails("verify whole", 6, &["bodies.csv", "not that of the frames"]);
        trial.call_well("run whole/scene.toml --out whole --resume --quiet");
        assert!(fs::read(trial.path("whole/bodies.csv")).unwrap() == whole);
    }
    fs::remove_file(trial.path("whole/bodies.csv")).unwrap();
    trial.fails("verify whole", 6, &["bodies.csv", "missing"]);
}
