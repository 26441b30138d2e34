//! Scenes of rigid bodies in liquid: runs, resumption, output, notes and errors.

use crate::trial::{Trial, assert_contains, assert_same_run, json, lines};
use std::fs;
use std::path::Path;

/// A raft at its draft that carries a box, a stone that sinks, and a tap that a drain takes up.
const SCENE: &str = r#"
domain = { size = [1, 0.8], resolution = 28 }
time = { frames = 12, rate = 24 }
output = { preview_side = 64 }

[[liquid]]
shape = { box = { low = [0, 0], high = [1, 0.4] } }

[[emitter]]
shape = { box = { low = [0.02, 0.7], high = [0.1, 0.74] } }
velocity = [0, -1]

[[drain]]
shape = { box = { low = [0, 0.38], high = [0.12, 0.6] } }

[[body]]
name = "raft"
shape = { box = { low = [-0.2, -0.1], high = [0.2, 0.1] } }
position = [0.45, 0.4]
density = 400

[[body]]
name = "box"
shape = { box = { low = [-0.08, -0.08], high = [0.08, 0.08] } }
position = [0.45, 0.581]
density = 500

[[body]]
name = "stone"
shape = { sphere = { radius = 0.08 } }
position = [0.85, 0.25]
density = 2500
wall_kind = "separating"
adhesion = 50
"#;

fn trial() -> Trial {
    with(&[])
}

fn with(changes: &[(&str, &str)]) -> Trial {
    let trial = Trial::new();
    let mut text = SCENE.to_string();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(trial.path("scene.toml"), text).unwrap();
    trial
}

/// Values of some columns of one body in every frame.
fn columns<const N: usize>(run: &Path, body: &str, names: [&str; N]) -> Vec<[f64; N]> {
    let text = fs::read_to_string(run.join("bodies.csv")).unwrap();
    let header: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    let at = names.map(|name| header.iter().position(|column| *column == name).unwrap());
    let rows = text.lines().skip(2).map(|row| row.split(',').collect());
    rows.filter(|row: &Vec<&str>| row[2] == body)
        .map(|row| at.map(|k| row[k].parse().unwrap()))
        .collect()
}

#[test]
fn bodies_in_liquid_run_to_the_same_bytes_with_any_threads_and_after_an_interruption() {
    let trial = trial();
    for threads in [1, 3] {
        let out = format!("run scene.toml --threads {threads} --out {threads} --quiet");
        trial.call_well(&out);
    }
    assert_same_run(&trial.path("3"), &trial.path("1"));
    trial.call_well("run scene.toml --frames 5 --out resumed --quiet");
    trial.call_well("run scene.toml --resume --out resumed --quiet");
    assert_same_run(&trial.path("resumed"), &trial.path("1"));
    trial.call_well("verify 1");
    trial.call_well("status 1");
    trial.call_well("diff 1 3");
    trial.call_well("run scene.toml --from-frame 10 --overwrite --out resumed --quiet");
    assert_same_run(&trial.path("resumed"), &trial.path("1"));
    // Every export has the bodies beside the liquid.
    trial.call_well("export 1 --to usd");
    trial.call_well("export 1 --to npz --what bodies --frames 12");
    trial.call_well("preview 1 --png --frames 12 --size 64x64");
}

#[test]
fn a_light_body_on_the_floor_rises_to_the_surface() {
    let ball = "shape = { sphere = { radius = 0.08 } }\nposition = [0.85, 0.25]\ndensity = 2500";
    let light = "shape = { sphere = { radius = 0.1 } }\nposition = [0.85, 0.101]\ndensity = 300";
    let trial = with(&[(ball, light)]);
    trial.call_well("run scene.toml --out run --frames 36 --quiet");
    let heights = columns(&trial.path("run"), "stone", ["y"]);
    assert!(heights[36][0] > 0.35, "{heights:?}");
}

#[test]
fn the_liquid_carries_what_floats() {
    let trial = trial();
    trial.call_well("run scene.toml --out run --frames 36 --quiet");
    let run = trial.path("run");
    let names = [
        "liquid_fy",
        "contact_fy",
        "submerged_volume",
        "waterline_area",
    ];
    let raft = columns(&run, "raft", names);
    assert_eq!(raft.len(), 37);
    // Before the first step nothing is known about forces.
    assert_eq!(raft[0], [0.0; 4]);
    // In the mean over the last second the liquid carries raft and box.
    let mean = |of: &dyn Fn(&[f64; 4]) -> f64| {
        let last = &raft[13..];
        last.iter().map(of).sum::<f64>() / last.len() as f64
    };
    let weight = 9.81 * (400.0 * 0.08 + 500.0 * 0.0256);
    let force = mean(&|row| row[0]);
    assert!((force / weight - 1.0).abs() < 0.03, "{force} {weight}");
    let load = -mean(&|row| row[1]) / 9.81;
    assert!((load / 12.8 - 1.0).abs() < 0.05, "{load}");
    let submerged = mean(&|row| row[2]);
    assert!((submerged / 0.0448 - 1.0).abs() < 0.05, "{submerged}");
    assert!((mean(&|row| row[3]) / 0.4 - 1.0).abs() < 0.05);
    // The stone lies on the floor, and the liquid gets under it: contact carries what buoyancy does not.
    let stone = columns(
        &run,
        "stone",
        ["y", "liquid_fy", "contact_fy", "waterline_area"],
    );
    let [y, liquid, contact, waterline] = *stone.last().unwrap();
    let volume = std::f64::consts::PI * 0.0064;
    assert!((y - 0.08).abs() < 2e-3, "{y}");
    assert!(((liquid + contact) / (2500.0 * 9.81 * volume) - 1.0).abs() < 0.02);
    // Over the last second, as above: the pool sways.
    let last = &stone[13..];
    let buoyancy = last.iter().map(|row| row[1]).sum::<f64>() / last.len() as f64;
    assert!(
        (buoyancy / (1000.0 * 9.81 * volume) - 1.0).abs() < 0.05,
        "{buoyancy}"
    );
    assert_eq!(waterline, 0.0);
    let steps = lines(&run.join("stats.jsonl"));
    for key in [
        "cycles",
        "small_solves",
        "contacts",
        "separated_volume",
        "wet_bodies",
    ] {
        assert!(steps.iter().all(|step| step[key].is_number()), "{key}");
    }
    assert!(
        steps
            .iter()
            .any(|step| step["small_solves"].as_u64() > Some(0))
    );
    let timings = lines(&run.join("timings.jsonl"));
    let last = timings.last().unwrap();
    assert!(last.to_string().contains("pressure-contact"), "{last}");
    let manifest = json(&run.join("run.json"));
    assert_eq!(manifest["state"], "done");
}

#[test]
fn check_says_what_floats_and_what_is_carved() {
    let trial = trial();
    let said = trial.call_well("check scene.toml").said;
    assert_contains(
        &said,
        &[
            "body raft: floats, 40 % submerged (draft 8.00 cm of 20.00 cm); starts in liquid",
            "body box: floats, 50 % submerged",
            "body stone: sinks: 2.5 times as dense as the liquid; starts in liquid",
            "are left out at the start, where bodies are",
            "in liquid of 1000 kg/m³",
        ],
    );
    // In mercury the stone floats.
    let said = trial.call_well("check scene.toml --set density=13534").said;
    assert_contains(&said, &["body stone: floats, 18 % submerged"]);
    let hull = "shape = { difference = [{ box = { low = [-0.2, -0.1], high = [0.2, 0.1] } }, \
        { box = { low = [-0.15, -0.05], high = [0.15, 0.2] } }] }";
    let trial = with(&[
        (
            "shape = { box = { low = [-0.2, -0.1], high = [0.2, 0.1] } }",
            hull,
        ),
        ("position = [0.45, 0.4]", "position = [0.45, 0.55]"),
        ("position = [0.45, 0.581]", "position = [0.45, 0.7]"),
        ("density = 400", "density = 1100"),
    ]);
    let said = trial.call_well("check scene.toml").said;
    assert_contains(&said, &["of its height submerged", "sinks when it is full"]);
    let estimate = trial.call_well("estimate scene.toml").said;
    assert_contains(&estimate, &["particles", "steps"]);
}

#[test]
fn doubtful_bodies_in_liquid_are_warned_about() {
    for (from, to, words) in [
        (
            "radius = 0.08",
            "radius = 0.06",
            &["body[3].shape", "3.4 cells", "domain.resolution = 34"][..],
        ),
        (
            "[[drain]]\nshape = { box = { low = [0, 0.38], high = [0.12, 0.6] } }",
            "[[drain]]\nshape = { box = { low = [0.4, 0.42], high = [0.5, 0.48] } }",
            &["drain[1]", "bodies cover 100 %"],
        ),
        (
            "low = [0.02, 0.7], high = [0.1, 0.74]",
            "low = [0.42, 0.42], high = [0.46, 0.48]",
            &["emitter[1]", "is inside solids: it emits no liquid"],
        ),
        (
            "shape = { sphere = { radius = 0.08 } }",
            "shape = { sphere = { radius = 0.08 }, shell = 0.02 }",
            &[
                "liquid sees it",
                "its mass and the volume that it displaces stay true",
            ],
        ),
    ] {
        let trial = with(&[(from, to)]);
        let errors = trial.call_well("check scene.toml").errors;
        assert_contains(&errors, words);
    }
    let dry = "domain = { size = [1, 1] }\n[[body]]\nshape = { sphere = { radius = 0.1 } }\nposition = [0.5, 0.5]\n\
        mass = 1\nadhesion = 3\n";
    let trial = Trial::new();
    fs::write(trial.path("dry.toml"), dry).unwrap();
    let errors = trial.call_well("check dry.toml").errors;
    assert_contains(&errors, &["body[1].adhesion", "the scene has no liquid"]);
}

#[test]
fn mistakes_about_walls_are_errors_with_their_place() {
    for (to, words) in [
        ("adhesion = -1", &["adhesion", "at least 0"][..]),
        ("adhesion = nan", &["adhesion"]),
        ("adhesion = \"strong\"", &["must be a number"]),
        (
            "wall_kind = \"sticky\"",
            &["wall_kind", "\"slip\", \"separating\" or \"stick\""],
        ),
        ("suction = 3", &["did you mean `adhesion`"]),
        (
            "wall_kind = \"slip\"\nadhesion = 5",
            &["liquid never leaves walls that do not separate"],
        ),
    ] {
        let trial = with(&[("wall_kind = \"separating\"\nadhesion = 50", to)]);
        let said = trial.fails("check scene.toml", 2, words).errors;
        assert!(said.contains("scene.toml:"), "{said}");
    }
    // Never leaving it is allowed, by either word.
    for to in ["adhesion = inf", "wall_kind = \"slip\""] {
        let trial = with(&[("wall_kind = \"separating\"\nadhesion = 50", to)]);
        trial.call_well("run scene.toml --frames 1 --out run --quiet");
    }
}

#[test]
fn walls_of_single_solids_separate_or_hold_the_liquid() {
    let scene = |extra: &str| {
        format!(
            "domain = {{ size = [1, 1], resolution = 24 }}\ntime = {{ frames = 8, rate = 24 }}\n\
             gravity = [0, 0]\n[[liquid]]\nshape = {{ box = {{ low = [0.3, 0.3], high = [0.7, 0.5] }} }}\n\
             velocity = [0, 1]\n[[solid]]\nname = \"floor\"\n\
             shape = {{ box = {{ low = [0.2, 0.2], high = [0.8, 0.3] }} }}\n{extra}\n"
        )
    };
    let separated = |extra: &str, walls: &str| {
        let trial = Trial::new();
        fs::write(trial.path("scene.toml"), scene(extra)).unwrap();
        trial.call_well(&format!("run scene.toml --walls {walls} --out run --quiet"));
        let steps = lines(&trial.path("run").join("stats.jsonl"));
        steps
            .iter()
            .any(|step| step["separated_rows"].as_u64() > Some(0))
    };
    assert!(separated("", "separating"));
    assert!(!separated("", "slip"));
    assert!(!separated("wall_kind = \"slip\"", "separating"));
    assert!(separated("wall_kind = \"separating\"", "slip"));
    assert!(!separated("adhesion = 1e9", "separating"));
}

#[test]
fn keys_of_the_coupling_are_read_or_warned_about() {
    let coupling = |keys: &str| {
        let trial = Trial::new();
        let text = SCENE.replacen(
            "[[liquid]]",
            &format!("coupling = {{ {keys} }}\n\n[[liquid]]"),
            1,
        );
        fs::write(trial.path("scene.toml"), text).unwrap();
        trial
    };
    for keys in [
        "rounds = 5",
        "max_iterations = 50",
        "relaxation = 1.5",
        "diagonal_scale = 1e-4",
        "margin = 0.1",
        "scheme = \"p-c\", solver = \"sor-mprgp\"",
    ] {
        let said = coupling(keys).call_well("check scene.toml").errors;
        assert_contains(&said, &["has no effect", "read"]);
    }
    for keys in [
        "scheme = \"iterative\", rounds = 5",
        "solver = \"sor-mprgp\", max_iterations = 500, relaxation = 1.5, diagonal_scale = 1e-4",
        "baumgarte = 0.2, margin = 0.1",
        "mass_correction = false",
    ] {
        let said = coupling(keys).call_well("check scene.toml").errors;
        assert!(!said.contains("has no effect"), "{keys}: {said}");
    }
    for keys in [
        "scheme = \"both\"",
        "rounds = 0",
        "baumgarte = 2",
        "relaxation = 2",
    ] {
        coupling(keys).fails("check scene.toml", 2, &["coupling"]);
    }
    // A scene without bodies does not read them.
    let dry = "domain = { size = [1, 1] }\ncoupling = { rounds = 3 }\n[[liquid]]\n\
        shape = { sphere = { center = [0.5, 0.5], radius = 0.2 } }\n";
    let trial = Trial::new();
    fs::write(trial.path("scene.toml"), dry).unwrap();
    let said = trial.call_well("check scene.toml").errors;
    assert_contains(&said, &["does not have both liquid and bodies"]);
}

#[test]
fn schemes_run_to_different_frames() {
    let trial = trial();
    let mut last = Vec::new();
    for scheme in ["unified", "p-c", "c-p", "iterative"] {
        trial.call_well(&format!(
            "run scene.toml --frames 3 --set coupling.scheme={scheme} --out {scheme} --quiet"
        ));
        let raft = columns(
            &trial.path(scheme),
            "raft",
            ["y", "liquid_fy", "contact_fy"],
        );
        last.push(*raft.last().unwrap());
    }
    for k in 0..last.len() {
        assert!(last[..k].iter().all(|other| *other != last[k]), "{last:?}");
    }
}

#[test]
fn the_problem_of_pressure_and_contact_is_exported() {
    let trial = trial();
    trial.call_well("lcp export scene.toml --frame 6 --out problem");
    let folder = trial.path("problem");
    let content = json(&folder.join("coupling.json"));
    let count = |key: &str| content[key].as_array().unwrap().len();
    assert!(count("bodies") >= 2 && count("pressure") > 10 && count("contacts") > 0);
    assert_eq!(content["freedoms"], 3);
    assert_eq!(content["pressure"][0]["value"].as_array().unwrap().len(), 3);
    for file in ["A.mtx", "b.mtx", "lower.mtx", "upper.mtx", "grid.json"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let said = trial.call_well("lcp solve --problem problem --tolerance 1e-4");
    assert_contains(&said.errors, &["left out"]);
}
