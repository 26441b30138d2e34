use crate::trial::{Trial, names};
use std::fs;

/// Runs a scene with several numbers of threads and compares all bytes that it writes.
fn assert_same_bytes(line: &str, scene: &str) {
    let trial = Trial::new();
    for threads in [1, 2, 4] {
        trial.call_well(&format!(
            "run {scene} {line} --threads {threads} --out {threads} --quiet"
        ));
    }
    let one = trial.path("1");
    let statistics = fs::read(one.join("stats.jsonl")).unwrap();
    assert!(statistics.len() > 100);
    for threads in ["2", "4"] {
        let other = trial.path(threads);
        assert!(
            fs::read(other.join("stats.jsonl")).unwrap() == statistics,
            "{threads} threads"
        );
        let frames = names(&one.join("particles"));
        assert_eq!(names(&other.join("particles")), frames);
        for frame in frames {
            let expected = fs::read(one.join("particles").join(&frame)).unwrap();
            let found = fs::read(other.join("particles").join(&frame)).unwrap();
            assert!(found == expected, "{frame} with {threads} threads");
        }
    }
}

#[test]
fn particles_and_statistics_are_the_same_bytes_for_any_number_of_threads() {
    assert_same_bytes("--resolution 24 --frames 8", "thrown-sphere");
    assert_same_bytes("--resolution 48 --frames 10 --transfer flip", "maze");
    assert_same_bytes("--resolution 32 --frames 6 --walls slip", "dam-break");
}
