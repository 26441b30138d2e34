//! Locking of run folders, and read-only folders.

use crate::trial::{Trial, assert_intact, assert_same_run};
use meniscus_app::runner::status;
use meniscus_app::runner::status::Activity;
use std::fs;
use std::process::Command;
use std::time::Duration;

#[test]
fn a_second_run_in_a_folder_is_refused_with_the_process_of_the_first() {
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 48 --frames 40 --quiet";
    trial.call_well(&format!("{line} --out whole"));
    let mut first = trial.start(&format!("{line} --out run"));
    let out = trial.path("run");
    while !out.join("particles/particles_000002.mpc").exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    for line in [
        format!("{line} --out run"),
        format!("{line} --out run --resume"),
        format!("{line} --out run --from-frame 1"),
    ] {
        trial.fails(&line, 6, &[&format!("process {}", first.id())]);
    }
    let running = status(&out).unwrap();
    assert!(
        first.try_wait().unwrap().is_none(),
        "the first is still there"
    );
    assert_eq!(running.state, Activity::Running);
    assert_eq!(running.process, Some(first.id()));
    assert!(running.frames_done >= 1 && running.frames == 40);
    assert!(running.seconds_left.unwrap() > 0.0);
    assert!(running.disk_bytes > 1000 && !running.checkpoints.is_empty());
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(status(&out).unwrap().state, Activity::Done);
    assert_same_run(&out, &trial.path("whole"));
    assert_intact(&out);
}

#[test]
fn the_status_of_a_run_is_available_as_json() {
    let trial = Trial::after("run dam-break-2d --resolution 12 --frames 3 --quiet --out run");
    let status = status(&trial.path("run")).unwrap();
    let json = serde_json::to_value(&status).unwrap();
    assert_eq!(json["state"], "done");
    assert_eq!(json["frames_done"], 3);
    assert_eq!(json["seconds_left"], 0.0);
    assert_eq!(json["checkpoints"], serde_json::json!([1, 2, 3]));
    let error = meniscus_app::runner::status(&trial.path("")).unwrap_err();
    assert!(error.message().contains("run.json"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_reported_and_unchanged() {
    use std::os::unix::fs::PermissionsExt;
    let trial = Trial::new();
    let line = "run dam-break-2d --resolution 12 --frames 2 --quiet --out run";
    trial.call_well(line);
    let out = trial.path("run");
    let read_only = ReadOnly::mount(&out);
    if read_only.is_none() {
        fs::set_permissions(&out, fs::Permissions::from_mode(0o555)).unwrap();
        fs::set_permissions(out.join("lock"), fs::Permissions::from_mode(0o444)).unwrap();
        if fs::write(out.join("trial"), "").is_ok() {
            println!("skipped: this user may write anywhere and mount nothing");
            return;
        }
    }
    for line in [line.to_string(), format!("{line} --resume --walls slip")] {
        trial.fails(&line, 6, &["run/lock", "--out"]);
    }
    // Reading is allowed.
    assert_intact(&out);
    assert_eq!(status(&out).unwrap().state, Activity::Done);
    drop(read_only);
    let _ = fs::set_permissions(&out, fs::Permissions::from_mode(0o755));
}

/// A folder mounted onto itself, read-only, which only the superuser can do.
struct ReadOnly(std::path::PathBuf);

impl ReadOnly {
    fn mount(folder: &std::path::Path) -> Option<Self> {
        let mount = |arguments: &[&str]| {
            let done = Command::new("mount").args(arguments).arg(folder).output();
            done.is_ok_and(|output| output.status.success())
        };
        let path = folder.to_str()?;
        if !mount(&["--bind", path]) {
            return None;
        }
        let mounted = ReadOnly(folder.into());
        mount(&["-o", "remount,bind,ro"]).then_some(mounted)
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}
