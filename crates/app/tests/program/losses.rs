//! Runs that lose liquid warn everywhere, and end if they lose much.

use crate::trial::{Trial, assert_contains, assert_error, assert_intact, json, lines};
use std::fs;

/// A piston in a closed box full of liquid: 45 % of its volume is squeezed out in ten frames.
const PISTON: &str = "[domain]\nsize = [1, 1]\nresolution = 20\n[time]\nframes = 10\n\
    [[liquid]]\nshape = { box = { low = [0, 0], high = [1, 1] } }\n\
    [[solid]]\nname = \"piston\"\nshape = { box = { low = [-1, -1], high = [0, 2] } }\nease = \"linear\"\n\
    keyframes = [{ frame = 0, position = [0, 0] }, { frame = 10, position = [0.45, 0] }]\n";

fn with_piston() -> Trial {
    let trial = Trial::new();
    fs::write(trial.path("piston.toml"), PISTON).unwrap();
    trial
}

#[test]
fn a_run_that_loses_a_third_of_its_liquid_exits_with_5_and_reports_the_cause_everywhere() {
    let trial = with_piston();
    let outcome = trial.call("run piston.toml --out run");
    let cause = "a solid compresses enclosed liquid";
    assert_error(
        &outcome,
        5,
        &[
            "lost",
            cause,
            "leave an outlet for the liquid",
            "run.on_drift=warn",
        ],
    );
    assert_contains(&outcome.said, &["warning: the liquid has lost"]);
    assert_contains(&outcome.said, &["(warning: beyond 5 %)"]);
    let manifest = json(&trial.path("run/run.json"));
    let done = manifest["frames_done"].as_u64().unwrap();
    assert_eq!(manifest["state"], "failed");
    assert!((5..9).contains(&done), "{done}");
    let drift = manifest["drift"]["drift"].as_f64().unwrap();
    assert!((-0.4..-0.3).contains(&drift), "{drift}");
    let first = manifest["drift"]["first_frame"].as_u64().unwrap();
    assert!(first < done);
    let since = format!("exceeded since frame {first}");
    assert!(outcome.errors.contains(&since), "{}", outcome.errors);
    assert!(manifest["drift"]["cause"].as_str().unwrap().contains(cause));
    assert!(manifest["drift"]["place"].as_array().is_some());
    let status = trial.call_well("status run").said;
    assert!(
        status.contains("lost") && status.contains(cause),
        "{status}"
    );
    let status = trial.call_well("status run --json").said;
    assert_contains(&status, &["\"drift\""]);
    trial.call_well("report run");
    let page = fs::read_to_string(trial.path("run/report.html")).unwrap();
    assert!(page.contains(cause), "the page has it");
    assert!(lines(&trial.path("run/stats.jsonl"))[0]["thin_volume"].is_number());
    assert_intact(&trial.path("run"));

    // With `run.on_drift=warn` it resumes, and the summary has the warning as well.
    let resumed = trial.call_well("run run/scene.toml --out run --resume --set run.on_drift=warn");
    assert_contains(&resumed.said, &["Warning: the liquid has lost"]);
    let manifest = json(&trial.path("run/run.json"));
    assert_eq!(
        (&manifest["state"], &manifest["frames_done"]),
        (&"done".into(), &10.into())
    );
    assert!(manifest["drift"]["drift"].as_f64().unwrap() < -0.4);
    assert_intact(&trial.path("run"));
}

#[test]
fn drift_limits_affect_warnings_and_no_particle() {
    let trial = with_piston();
    let quiet = "run piston.toml --quiet --set output.preview=false --frames 7";
    trial.call_well(&format!("{quiet} --set run.on_drift=warn --out warned"));
    trial.call_well(&format!("{quiet} --set run.max_drift=0.5 --out allowed"));
    assert!(json(&trial.path("allowed/run.json"))["drift"].is_null());
    assert!(json(&trial.path("warned/run.json"))["drift"].is_object());
    for frame in 1..=7 {
        let of = |run: &str| {
            fs::read(trial.path(&format!("{run}/particles/particles_{frame:06}.mpc"))).unwrap()
        };
        assert!(of("warned") == of("allowed"), "frame {frame}");
    }
    let wrong = trial.call("check piston.toml --set run.on_drift=stopp");
    assert_error(&wrong, 2, &["run.on_drift", "stop"]);
    assert_error(
        &trial.call("check piston.toml --set run.max_drift=2"),
        2,
        &["run.max_drift"],
    );
}

#[test]
fn a_run_that_conserves_its_liquid_does_not_warn() {
    let trial = Trial::new();
    let said = trial
        .call_well("run dam-break-2d --resolution 24 --frames 12")
        .said;
    assert!(!said.to_lowercase().contains("warning"), "{said}");
    assert!(json(&trial.path("out/dam-break-2d/run.json"))["drift"].is_null());
}
