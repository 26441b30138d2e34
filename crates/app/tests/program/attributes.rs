//! Particle ids, ages and sources, in runs and exports.

use crate::trial::{Trial, assert_same_run, names};
use meniscus_store::cache::{self, Frame};
use std::collections::HashMap;
use std::fs;

const RUN: &str = "run faucet --resolution 16 --quiet --set output.attributes=true";

fn frame(trial: &Trial, number: u32) -> Frame<3> {
    let path = cache::frame_path(&trial.path("run"), number);
    cache::decode(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn ids_are_stable_and_new_particles_get_new_ones() {
    let trial = Trial::after(&format!("{RUN} --frames 6 --out run"));
    let mut before: HashMap<u64, ([f32; 3], f32, f32)> = HashMap::new();
    let (mut largest, mut last_time) = (None, 0.0);
    for number in 0..=6 {
        let frame = frame(&trial, number);
        let layer = frame.liquid().unwrap();
        let ids = layer.ids.as_ref().unwrap();
        let (ages, sources) = (
            layer.scalar("age").unwrap(),
            layer.scalar("source").unwrap(),
        );
        let mut now = HashMap::new();
        for (k, &id) in ids.iter().enumerate() {
            let value = (layer.positions[k], ages[k], sources[k]);
            assert!(
                now.insert(id, value).is_none(),
                "id {id} twice in frame {number}"
            );
            match before.get(&id) {
                Some(&(position, age, source)) => {
                    assert_eq!(source, sources[k], "id {id}");
                    let passed = (frame.time - last_time) as f32;
                    assert!(
                        (ages[k] - age - passed).abs() < 1e-4,
                        "id {id} in frame {number}"
                    );
                    let moved = (0..3).map(|a| (layer.positions[k][a] - position[a]).powi(2));
                    // No particle is faster than three metres per second so early.
                    assert!(
                        moved.sum::<f32>().sqrt() < 3.0 * passed,
                        "id {id} in frame {number}"
                    );
                }
                None => assert!(
                    largest.is_none_or(|largest| id > largest),
                    "id {id} is used again"
                ),
            }
        }
        largest = largest.max(ids.iter().copied().max());
        (before, last_time) = (now, frame.time);
    }
    assert!(
        before
            .values()
            .any(|&(_, age, source)| source == 1.0 && age > 0.0)
    );
}

#[test]
fn exports_have_ids_only_for_runs_with_attributes() {
    let trial = Trial::after(&format!("{RUN} --frames 6 --out run"));
    let attributes = ["ids", "ages", "sources"];
    for format in ["npz", "ply", "vtk", "bgeo", "usd"] {
        trial.call_well(&format!(
            "export run --to {format} --what particles --frames 6 --quiet --out {format}"
        ));
    }
    let ids = frame(&trial, 6).liquid().unwrap().ids.clone().unwrap();
    let long: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let holds = |path: &str, wanted: &[u8]| {
        let bytes = fs::read(trial.path(path)).unwrap();
        assert!(bytes.windows(wanted.len()).any(|w| w == wanted), "{path}");
    };
    for name in attributes {
        holds(
            "npz/particles/particles_000006.npz",
            format!("{name}.npy").as_bytes(),
        );
    }
    holds("npz/particles/particles_000006.npz", &long);
    holds("vtk/particles/particles_000006.vtp", &long);
    holds("ply/particles/particles_000006.ply", b"property uint id");
    holds("bgeo/particles/particles_000006.bgeo", b"source");
    let usd = names(&trial.path("usd"))
        .into_iter()
        .find(|name| name.ends_with(".usdc"));
    holds(&format!("usd/{}", usd.unwrap()), &long);

    trial.call_well("run faucet --resolution 16 --frames 2 --quiet --out run --overwrite");
    assert_eq!(frame(&trial, 2).liquid().unwrap().ids, None);
}

#[test]
fn a_run_with_attributes_resumes_to_the_same_bytes() {
    let trial = Trial::after(&format!("{RUN} --frames 6 --out whole"));
    trial.call_well(&format!("{RUN} --frames 3 --out run"));
    trial.call_well(&format!("{RUN} --frames 6 --out run --resume"));
    let scene = |folder: &str| fs::read(trial.path(folder).join("scene.toml")).unwrap();
    assert!(scene("run") == scene("whole"));
    assert_same_run(&trial.path("run"), &trial.path("whole"));
}
