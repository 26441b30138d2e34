//! A disk that fills up during a run.

use crate::trial::{Outcome, Trial, assert_contains, assert_intact, assert_same_run, names};
use meniscus_store::cache;
use std::fs;
use std::path::Path;
use std::process::Command;

const SCENE: &str = "run dam-break-2d --resolution 24 --frames 12 --quiet";

/// The run ended with a storage error that names a file and a remedy, and all frames are complete.
fn assert_ended_well(outcome: &Outcome, out: &Path, cause: &str) {
    assert_eq!(outcome.code, 6, "{}", outcome.errors);
    assert_contains(
        &outcome.errors,
        &[
            out.file_name().unwrap().to_str().unwrap(),
            cause,
            "--resume",
        ],
    );
    assert!(!outcome.errors.contains("panicked"), "{}", outcome.errors);
    for frame in cache::frames_in(out).unwrap() {
        assert_eq!(cache::fault(out, frame, Some(2)), None, "frame {frame}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_size_limit_ends_the_run_and_it_resumes_once_lifted() {
    let trial = Trial::after(&format!("{SCENE} --out whole"));
    let whole = trial.path("whole");
    let longest = fs::metadata(whole.join("stats.jsonl")).unwrap().len();
    let state = fs::metadata(whole.join("state/state_000012.bin")).unwrap();
    // In units of 512 bytes: the statistics stop in the middle, then a checkpoint does not fit at all.
    for blocks in [longest / 512 * 2 / 3, state.len() / 512 / 2] {
        let folder = format!("full-{blocks}");
        let outcome = trial.call_with_file_limit(blocks, &format!("{SCENE} --out {folder}"));
        let out = trial.path(&folder);
        assert_ended_well(&outcome, &out, "too large");
        assert!(names(&out.join("particles")).len() < 12);
        trial.call_well(&format!("{SCENE} --out {folder} --resume"));
        assert_same_run(&out, &whole);
        assert_intact(&out);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_file_system_ends_the_run_and_it_resumes_once_there_is_space() {
    let trial = Trial::after(&format!("{SCENE} --out whole"));
    let disk = trial.path("disk");
    fs::create_dir(&disk).unwrap();
    let Some(_small) = SmallDisk::mount(&disk) else {
        println!("skipped: this user may not mount a small file system");
        return;
    };
    let mut sizes = 0;
    // From a disk that is full at once to one that is full when the preview is written.
    for free in [0, 8, 40, 90, 140, 180] {
        let filler = disk.join("filler");
        fs::write(&filler, vec![1; 1024 * (DISK_KILOBYTES - free)]).unwrap_or_default();
        let outcome = trial.call(&format!("{SCENE} --out disk/run"));
        if outcome.code != 0 {
            sizes += 1;
            assert_eq!(outcome.code, 6, "{}", outcome.errors);
            assert!(
                outcome.errors.contains("disk/run") && outcome.errors.contains("make room"),
                "{}",
                outcome.errors
            );
        }
        fs::remove_file(&filler).unwrap();
        trial.call_well(&format!("{SCENE} --out disk/run --resume"));
        assert_same_run(&disk.join("run"), &trial.path("whole"));
        assert_intact(&disk.join("run"));
        fs::remove_dir_all(disk.join("run")).unwrap();
    }
    assert!(sizes >= 4, "{sizes} of the disks were too small");
}

/// Size of a small file system.
pub const DISK_KILOBYTES: usize = 1024;

/// Small file system, which only the superuser can mount.
pub struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    pub fn mount(folder: &Path) -> Option<Self> {
        let size = format!("size={DISK_KILOBYTES}k");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder)
            .output();
        done.is_ok_and(|output| output.status.success())
            .then(|| SmallDisk(folder.into()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}
