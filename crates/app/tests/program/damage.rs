use crate::trial::{Trial, names};
use std::fs;

/// A run of three frames whose second one is then changed.
fn damaged(change: impl Fn(&mut Vec<u8>)) -> Trial {
    let trial = Trial::new();
    trial.call_well("run dam-break-2d --resolution 12 --frames 3 --quiet --out run");
    let path = trial.path("run/particles/particles_000002.mpc");
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    trial
}

fn assert_named(trial: &Trial) {
    let outcome = trial.call("export run --to ply");
    assert_eq!(outcome.code, 6, "{outcome:?}");
    assert!(
        outcome.errors.contains("particles_000002.mpc"),
        "{}",
        outcome.errors
    );
    assert!(!outcome.errors.contains("panicked"), "{}", outcome.errors);
    let exported = names(&trial.path("run/export/ply/particles"));
    assert_eq!(exported, ["particles_000001.ply", "particles_000003.ply"]);
}

#[test]
fn a_flipped_bit_is_named_and_the_other_frames_are_exported() {
    for position in [0, 9, 33, 41, 70, 130, 200] {
        assert_named(&damaged(|bytes| bytes[position] ^= 0x10));
    }
}

#[test]
fn a_truncated_frame_is_named_and_the_other_frames_are_exported() {
    for keep in [0, 7, 100, 160] {
        assert_named(&damaged(|bytes| bytes.truncate(keep)));
    }
}

#[test]
fn a_damaged_record_is_named() {
    let trial = damaged(|_| ());
    fs::write(trial.path("run/run.json"), "{\"program\": \"menisc").unwrap();
    let outcome = trial.call("export run --to ply");
    assert_eq!(outcome.code, 6);
    assert!(outcome.errors.contains("run.json"), "{}", outcome.errors);
}
