//! Sweeps: runs of one scene with many values.

use crate::trial::{Trial, assert_error, assert_intact, json, names};
use std::fs;

const SWEEP: &str =
    "sweep dam-break-2d --resolution 16 --frames 2 --vary gravity=[0,-9.81],[3,-9.81] --out s";

#[test]
fn a_sweep_runs_every_value_and_ends_with_a_table_and_a_contact_sheet() {
    let trial = Trial::new();
    trial.call_well(SWEEP);
    let folders = ["gravity-_0_-9.81_", "gravity-_3_-9.81_"];
    assert_eq!(
        names(&trial.path("s")),
        [folders[0], folders[1], "sweep.csv", "sweep.png"]
    );
    for folder in folders {
        assert_intact(&trial.path("s").join(folder));
    }
    let frame = |folder: &str| {
        fs::read(
            trial
                .path("s")
                .join(folder)
                .join("particles/particles_000002.mpc"),
        )
        .unwrap()
    };
    assert_ne!(frame(folders[0]), frame(folders[1]));
    let table = fs::read_to_string(trial.path("s/sweep.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "gravity,folder,state,frames,seconds,warnings");
    assert!(
        lines[1].starts_with("\"[0,-9.81]\",s/gravity-_0_-9.81_,done,2,"),
        "{table}"
    );
    assert!(
        fs::read(trial.path("s/sweep.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    // Finished runs are kept.
    let before = frame(folders[0]);
    trial.call_well(SWEEP);
    assert_eq!(frame(folders[0]), before);
}

#[test]
fn a_sweep_is_printed_or_written_as_a_job_without_running_anything() {
    let trial = Trial::new();
    let printed = trial.call_well(&format!("{SWEEP} --print")).said;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("meniscus run dam-break-2d --set "),
        "{printed}"
    );
    trial.call_well(&format!("{SWEEP} --openjd job.json"));
    let job = json(&trial.path("job.json"));
    assert_eq!(job["specificationVersion"], "jobtemplate-2023-09");
    assert_eq!(job["steps"].as_array().unwrap().len(), 3);
    assert!(!trial.path("s").exists());
}

#[test]
fn a_sweep_with_a_wrong_value_runs_nothing() {
    let trial = Trial::new();
    let call = trial.call("sweep dam-break-2d --vary domain.resolution=16,-4 --out s");
    assert_error(&call, 2, &["domain.resolution"]);
    assert!(!trial.path("s").exists());
    let call = trial.call("sweep dam-break-2d --vary nonsense --out s");
    assert_error(&call, 2, &["key=value"]);
}
