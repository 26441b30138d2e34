use crate::interruptions::{run_it, small_dam_break};
use crate::trial::{Trial, assert_contains, assert_intact, assert_same_run, names};
use meniscus_app::runner::{Start, verify};
use std::fs;
use std::path::Path;

/// A run of three frames with a modified second frame.
fn damaged(change: impl Fn(&mut Vec<u8>)) -> Trial {
    let trial = Trial::after("run dam-break-2d --resolution 12 --frames 3 --quiet --out run");
    let path = trial.path("run/particles/particles_000002.mpc");
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    trial
}

fn assert_named(trial: &Trial) {
    let outcome = trial.fails("export run --to ply", 6, &["particles_000002.mpc"]);
    assert!(!outcome.errors.contains("panicked"), "{}", outcome.errors);
    let exported = names(&trial.path("run/export/ply/particles"));
    assert_eq!(
        exported,
        [
            "particles_000000.ply",
            "particles_000001.ply",
            "particles_000003.ply"
        ]
    );
}

#[test]
fn a_flipped_bit_is_reported_and_the_other_frames_are_exported() {
    for position in [0, 9, 33, 41, 70, 130, 200] {
        assert_named(&damaged(|bytes| bytes[position] ^= 0x10));
    }
}

#[test]
fn a_truncated_frame_is_reported_and_the_other_frames_are_exported() {
    for keep in [0, 7, 100, 160] {
        assert_named(&damaged(|bytes| bytes.truncate(keep)));
    }
}

#[test]
fn a_damaged_manifest_is_reported() {
    let trial = damaged(|_| ());
    fs::write(trial.path("run/run.json"), "{\"program\": \"menisc").unwrap();
    trial.fails("export run --to ply", 6, &["run.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_in_place_of_files_neither_hang_nor_exhaust_memory() {
    let trial = Trial::after("run dam-break-2d --resolution 12 --frames 3 --quiet --out whole");
    trial.call_well("mesh whole --quiet");
    let program = env!("CARGO_BIN_EXE_meniscus");
    for file in [
        "run.json",
        "scene.toml",
        "stats.jsonl",
        "timings.jsonl",
        "lock",
        "particles/particles_000002.mpc",
        "surfaces/surface_000002.msf",
        "state/state_000003.bin",
    ] {
        for put in ["mkfifo", "ln -s /dev/zero"] {
            for line in [
                "status run",
                "verify run",
                "diff whole run",
                "gc run",
                "mesh run --quiet",
                "export run --to ply --quiet",
                "preview run --png --size 16x16 --quiet",
                "report run",
                "run dam-break-2d --resolution 12 --frames 3 --quiet --resume --out run",
            ] {
                let script = format!(
                    "rm -rf run; cp -r whole run; rm run/{file}; {put} run/{file}; ulimit -v 4000000; \
                     exec timeout 60 {program} {line}"
                );
                let output = std::process::Command::new("sh")
                    .args(["-c", &script])
                    .current_dir(trial.path(""))
                    .output()
                    .unwrap();
                let errors = String::from_utf8_lossy(&output.stderr);
                let what = format!("{put} {file}, {line}: {errors}");
                let code = output.status.code();
                assert!([0, 1, 2, 6].map(Some).contains(&code), "{code:?}: {what}");
                let trouble = ["panicked", "memory"].map(|word| errors.contains(word));
                assert_eq!(trouble, [false; 2], "{what}");
            }
        }
    }
}

const FRAMES: u32 = 5;

/// An uninterrupted run.
fn finished() -> Trial {
    let trial = Trial::new();
    let whole = trial.path("whole");
    let run = run_it(&small_dam_break(FRAMES), &whole, Start::Beginning, None);
    run.0.unwrap();
    trial
}

const LINE: &str = "run dam-break-2d --resolution 16 --frames 8";

/// All files of a run except its lock, relative to its folder.
fn files(run: &Path) -> Vec<String> {
    let mut files: Vec<String> = ["run.json", "scene.toml", "stats.jsonl", "timings.jsonl"]
        .map(String::from)
        .to_vec();
    files.push("preview.gif".into());
    for folder in ["particles", "state"] {
        let inner = names(&run.join(folder));
        files.extend(inner.iter().map(|name| format!("{folder}/{name}")));
    }
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Damages a file of a finished run: `verify` reports it, and `--resume` restores the same bytes.
fn assert_detected_and_repaired(
    trial: &Trial,
    file: &str,
    what: &str,
    damage: impl Fn(&mut Vec<u8>),
) {
    let whole = trial.path("whole");
    let out = trial.path("damaged");
    let _ = fs::remove_dir_all(&out);
    copy(&whole, &out);
    let mut bytes = fs::read(out.join(file)).unwrap();
    damage(&mut bytes);
    fs::write(out.join(file), bytes).unwrap();

    let findings = verify(&out).unwrap();
    assert_eq!(findings.len(), 1, "{what} {file}: {findings:?}");
    assert_eq!(findings[0].file, out.join(file), "{what}");
    assert!(findings[0].remedy.contains("--resume"), "{findings:?}");

    let (result, notices) = run_it(&small_dam_break(FRAMES), &out, Start::Resume, None);
    result.unwrap_or_else(|error| panic!("{what} {file}: {error}"));
    let name = file.rsplit('/').next().unwrap();
    // A preview is redrawn without a notice.
    let named = notices.iter().any(|notice| notice.contains(name));
    assert!(named || name == "preview.gif", "{what}: {notices:?}");
    assert_same_run(&out, &whole);
    assert_intact(&out);
}

#[test]
fn a_flipped_bit_in_any_file_is_detected_and_resume_restores_the_same_bytes() {
    let trial = finished();
    for (i, file) in files(&trial.path("whole")).iter().enumerate() {
        for part in [0, 1, 2] {
            assert_detected_and_repaired(&trial, file, "a flipped bit in", |bytes| {
                // At the beginning, somewhere inside, and at the end.
                let place = [0, bytes.len() * (i + 3) / 23 % bytes.len(), bytes.len() - 1][part];
                bytes[place] ^= 1 << (i % 7);
            });
        }
    }
}

#[test]
fn a_truncated_file_of_any_kind_is_detected_and_resume_restores_the_same_bytes() {
    let trial = finished();
    for file in files(&trial.path("whole")) {
        for keep in [0, 1, 100] {
            assert_detected_and_repaired(&trial, &file, "truncated", |bytes| {
                bytes.truncate(keep.min(bytes.len() - 1));
            });
        }
        assert_detected_and_repaired(&trial, &file, "the last byte of", |bytes| {
            bytes.pop();
        });
    }
}

#[test]
fn damaged_checkpoints_are_reported_and_an_earlier_one_is_used() {
    let trial = Trial::after(&format!("{LINE} --quiet --out whole"));
    let out = trial.path("damaged");
    copy(&trial.path("whole"), &out);
    for frame in [7, 8] {
        fs::write(out.join(format!("state/state_00000{frame}.bin")), "zero").unwrap();
    }
    let said = trial
        .call_well(&format!("{LINE} --out damaged --resume"))
        .said;
    assert_contains(
        &said,
        &[
            "state_000008.bin is damaged (",
            "state_000007.bin is damaged (",
            "): resuming from frame 6",
        ],
    );
    let frames: Vec<&str> = said.lines().filter(|l| l.starts_with("frame ")).collect();
    assert_eq!(frames.len(), 2, "{said}");
    assert_same_run(&out, &trial.path("whole"));
    assert_intact(&out);
}

#[test]
fn damage_before_every_checkpoint_starts_the_run_from_the_beginning() {
    let trial = Trial::after(&format!("{LINE} --quiet --out whole"));
    let out = trial.path("damaged");
    copy(&trial.path("whole"), &out);
    fs::remove_file(out.join("particles/particles_000002.mpc")).unwrap();
    let said = trial
        .call_well(&format!("{LINE} --out damaged --resume"))
        .said;
    assert_contains(&said, &["particles_000002.mpc is damaged"]);
    assert_contains(&said, &["starting from the beginning"]);
    assert_same_run(&out, &trial.path("whole"));
    assert_intact(&out);
}

#[test]
fn a_damaged_interruption_checkpoint_is_detected_and_an_earlier_one_is_used() {
    let trial = finished();
    let scene = small_dam_break(FRAMES);
    let out = trial.path("stopped");
    let steps = fs::read_to_string(trial.path("whole/stats.jsonl")).unwrap();
    // In the middle of the third frame.
    let before = steps
        .lines()
        .filter(|l| l.contains("\"frame\":1,") || l.contains("\"frame\":2,"));
    let stop_after = before.count() as u32 + 1;
    let stopped = run_it(&scene, &out, Start::Beginning, Some(stop_after)).0;
    assert_eq!(stopped.unwrap_err().kind().exit_code(), 130);
    let kept = out.join("state/interrupted.bin");
    let mut bytes = fs::read(&kept).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&kept, bytes).unwrap();
    let findings = verify(&out).unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].file, kept);
    let (result, notices) = run_it(&scene, &out, Start::Resume, None);
    result.unwrap();
    assert!(
        notices[0].starts_with("interrupted.bin is damaged"),
        "{notices:?}"
    );
    assert!(notices[0].ends_with("resuming from frame 2"), "{notices:?}");
    assert_same_run(&out, &trial.path("whole"));
    assert_intact(&out);
}
