//! Scenes of rigid bodies: runs, resumption, output, and errors.

use crate::trial::{Trial, assert_contains, assert_same_run, json, lines};
use std::fs;

/// Two boxes that fall on a floor, one of which is released from a script, and a pendulum.
const SCENE: &str = r#"
[domain]
size = [1, 1, 1]
open = ["right"]

[time]
frames = 12
rate = 24

[output]
preview_side = 64

[[solid]]
name = "step"
shape = { box = { low = [0, 0, 0], high = [0.3, 1, 0.1] } }
friction = 0.3

[[body]]
name = "box"
shape = { box = { low = [-0.05, -0.05, -0.05], high = [0.05, 0.05, 0.05] } }
position = [0.15, 0.5, 0.2]
rotation = { axis = [0, 1, 0], degrees = 10 }
density = 500

[[body]]
name = "thrown, box"
shape = { box = { low = [-0.05, -0.05, -0.05], high = [0.05, 0.05, 0.05] } }
mass = 2
keyframes = [{ frame = 0, position = [0.5, 0.5, 0.3] }, { frame = 4, position = [0.6, 0.5, 0.3] }]
ease = "linear"
release_frame = 3

[[body]]
name = "bob"
shape = { sphere = { radius = 0.05 } }
position = [0.5, 0.2, 0.5]
mass = 1

[[joint]]
ball = { bodies = ["bob"], point = [0.7, 0.2, 0.5] }
"#;

fn trial() -> Trial {
    let trial = Trial::new();
    fs::write(trial.path("scene.toml"), SCENE).unwrap();
    trial
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

#[test]
fn bodies_run_to_the_same_bytes_with_any_threads_and_after_an_interruption() {
    let trial = trial();
    for threads in [1, 4] {
        let out = format!("run scene.toml --threads {threads} --out {threads} --quiet");
        trial.call_well(&out);
    }
    assert_same_run(&trial.path("4"), &trial.path("1"));
    // Shorter, then longer by way of its checkpoint.
    trial.call_well("run scene.toml --frames 5 --out resumed --quiet");
    trial.call_well("run scene.toml --resume --out resumed --quiet");
    assert_same_run(&trial.path("resumed"), &trial.path("1"));
    let table = |run: &str| fs::read(trial.path(run).join("bodies.csv")).unwrap();
    assert!(table("1") == table("4") && table("1") == table("resumed"));
    trial.call_well("verify 1");
    trial.call_well("status 1");
    trial.call_well("diff 1 4");
    trial.call_well("run scene.toml --from-frame 10 --overwrite --out resumed --quiet");
    assert!(table("1") == table("resumed"));
}

#[test]
fn the_table_of_bodies_has_poses_and_forces_in_si_units() {
    let trial = trial();
    trial.call_well("run scene.toml --out run --frames 24 --quiet");
    let text = fs::read_to_string(trial.path("run").join("bodies.csv")).unwrap();
    let mut rows = text.lines();
    assert!(rows.next().unwrap().starts_with("# SI units"));
    let columns: Vec<&str> = rows.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let of = |name: &'static str| {
        let rows = text.lines().skip(2);
        rows.filter(move |row| row.split(',').nth(2) == Some(name))
            .map(|row| row.split(',').map(str::to_string).collect::<Vec<_>>())
    };
    let number = |row: &[String], name: &str| row[at(name)].parse::<f64>().unwrap();
    assert_eq!(of("box").count(), 25);
    assert!(text.contains("\"thrown, box\""));
    // The box comes to rest on the step, which carries its weight.
    let last = of("box").last().unwrap();
    let weight = 500.0 * 0.1f64.powi(3) * 9.81;
    assert!(
        (number(&last, "contact_fz") / weight - 1.0).abs() < 1e-3,
        "{last:?}"
    );
    assert!((number(&last, "z") - 0.1502).abs() < 1e-4, "{last:?}");
    assert!(number(&last, "contacts") >= 3.0 && number(&last, "kinetic_energy") < 1e-6);
    // The bob is at the length of its arm from the pivot, and the joint pulls it there.
    for row in of("bob") {
        let arm = (number(&row, "x") - 0.7).hypot(number(&row, "z") - 0.5);
        assert!((arm - 0.2).abs() < 2e-4, "{arm}");
    }
    assert!(of("bob").any(|row| number(&row, "joint_fz") > 1.0));
    let steps = lines(&trial.path("run").join("stats.jsonl"));
    let last = steps.last().unwrap();
    for key in [
        "contacts",
        "islands",
        "position_error",
        "penetration",
        "potential_energy",
    ] {
        assert!(last[key].is_number(), "{key}: {last}");
    }
    assert_eq!(last["solves"][0]["name"], "contact");
}

#[test]
fn check_prints_mass_properties_and_the_combination_rule() {
    let trial = trial();
    let said = trial.call_well("check scene.toml").said;
    assert_contains(
        &said,
        &[
            "body box: mass 0.5 kg, centre of mass (0.15, 0.5, 0.2) m",
            "principal inertia (",
            "geometric mean",
            "restitution the larger",
        ],
    );
    let said = trial.call_well("estimate scene.toml").said;
    assert_contains(&said, &["steps", "memory"]);
}

#[test]
fn mistakes_are_explained_with_their_place() {
    for (from, to, code, words) in [
        (
            "density = 500",
            "",
            2,
            &["neither `density` nor `mass`", "density, mass"][..],
        ),
        (
            "density = 500",
            "density = 500\nmass = 1",
            2,
            &["both `density` and `mass`"],
        ),
        (
            "density = 500",
            "density = 500\nmu = 0.3",
            2,
            &["did you mean `friction`"],
        ),
        (
            "density = 500",
            "density = 500\nbounciness = 0.3",
            2,
            &["did you mean `restitution`"],
        ),
        ("density = 500", "rho = 500", 2, &["did you mean `density`"]),
        (
            "density = 500",
            "density = 500\nisDynamic = true",
            2,
            &["forces move a [[body]]"],
        ),
        (
            "density = 500",
            "density = 500\nfriction = -1",
            2,
            &["friction", "at least 0"],
        ),
        (
            "density = 500",
            "density = 500\nrestitution = 1.5",
            2,
            &["at most 1"],
        ),
        (
            "density = 500",
            "density = 500\nrelease_frame = 3",
            2,
            &["no keyframes to be released from"],
        ),
        (
            "density = 500",
            "density = 500\ninertia = [1, 1, 3]",
            2,
            &["sum of the other"],
        ),
        (
            "release_frame = 3",
            "release_frame = 3\nvelocity = [1, 0, 0]",
            2,
            &["velocity of its keyframes"],
        ),
        (
            "release_frame = 3",
            "",
            2,
            &["moves by keyframes at all times"],
        ),
        (
            "friction = 0.3",
            "density = 300",
            2,
            &["only a [[body]] has `density`"],
        ),
        (
            "name = \"bob\"",
            "name = \"box\"",
            2,
            &["body[1] is called \"box\", too"],
        ),
        (
            "[\"bob\"]",
            "[\"bib\"]",
            2,
            &["there is no body \"bib\"", "did you mean \"bob\""],
        ),
        (
            "[\"bob\"]",
            "[\"bob\", \"bob\"]",
            2,
            &["joins \"bob\" to itself"],
        ),
        ("[\"bob\"]", "[\"step\"]", 2, &["joins no body"]),
        (
            "density = 500",
            "density = 500\nfriction = inf",
            2,
            &["friction: is inf, it must be finite"],
        ),
        (
            "ball = { bodies = [\"bob\"], point = [0.7, 0.2, 0.5] }",
            "hinge = { bodies = [\"bob\"], point = [0.7, 0.2, 0.5], axis = [0, 0, 0] }",
            2,
            &["axis must have a direction"],
        ),
        (
            "ball = { bodies = [\"bob\"], point = [0.7, 0.2, 0.5] }",
            "hinge = { bodies = [\"bob\"], point = [0.7, 0.2, 0.5], axis = [0, 1, 0] }\nlimits = [30, 10]",
            2,
            &["lower limit is above the upper one"],
        ),
        (
            "position = [0.15, 0.5, 0.2]",
            "position = [0.15, 0.5, 0.05]",
            2,
            &["wholly inside"],
        ),
        (
            "shape = { sphere = { radius = 0.05 } }",
            "shape = { sphere = { radius = 0.05 }, inverted = true }",
            2,
            &["inverted", "shell"],
        ),
    ] {
        // A wholly swallowed box is level, and as large as the step is high.
        let level = ("degrees = 10", "degrees = 0");
        let trial = match words[0] {
            "wholly inside" => with(&[
                (from, to),
                level,
                (
                    "[-0.05, -0.05, -0.05], high = [0.05, 0.05, 0.05]",
                    "[-0.02, -0.02, -0.02], high = [0.02, 0.02, 0.02]",
                ),
            ]),
            _ => with(&[(from, to)]),
        };
        let said = trial.fails("check scene.toml", code, words).errors;
        assert!(said.contains("scene.toml:"), "{to}: {said}");
        trial.fails("run scene.toml --out run --quiet", code, words);
    }
}

#[test]
fn overlaps_mass_ratios_and_loops_are_reported() {
    let trial = with(&[
        (
            "position = [0.15, 0.5, 0.2]",
            "position = [0.15, 0.5, 0.145]",
        ),
        ("degrees = 10", "degrees = 0"),
        ("mass = 2", "mass = 1e5"),
        (
            "[[joint]]",
            "[[joint]]\nball = { bodies = [\"bob\"], point = [0.7, 0.2, 0.5] }\n[[joint]]",
        ),
    ]);
    let outcome = trial.call_well("check scene.toml");
    let warned = [
        "overlaps \"step\" by 5.000 mm at the start",
        "masses differ",
    ];
    assert_contains(&outcome.errors, &warned);
    assert_contains(&outcome.said, &["closes a loop"]);
}

#[test]
fn a_body_between_a_press_and_the_floor_ends_the_run_with_both_names() {
    let press = "[[solid]]\nname = \"press\"\nshape = { box = { low = [0.1, 0.4, 0], high = [0.2, 0.6, 0.1] } }\n\
        keyframes = [{ time = 0, position = [0, 0, 0.4] }, { time = 0.4, position = [0, 0, 0.1] }]\n\n[[solid]]";
    let trial = with(&[("[[solid]]", press), ("degrees = 10", "degrees = 0")]);
    let words = [
        "box",
        "press",
        "step",
        "crushed",
        "contact problem",
        "leave the body room",
    ];
    trial.fails("run scene.toml --out run --quiet", 5, &words);
    let manifest = json(&trial.path("run").join("run.json"));
    assert_eq!(manifest["state"], "failed");
    trial.call("lcp solve --problem run/failed");
}

#[test]
fn contact_problems_are_exported_and_solved() {
    let trial = trial();
    trial.call_well("lcp export scene.toml --frame 12 --out problem");
    assert!(trial.path("problem").join("friction.json").is_file());
    let said = trial
        .call_well("lcp solve --problem problem --tolerance 1e-6")
        .said;
    assert_contains(&said, &["pgs-coupled", "friction"]);
    let said = trial
        .call_well("lcp compare --problem problem --tolerance 1e-6")
        .said;
    assert_contains(&said, &["pgs-coupled", "newton-coupled"]);
    trial.fails("lcp solve --problem problem --solver pgs", 2, &["friction"]);
    // Staggering solves for box bounds, which pyramids have and discs don't.
    trial.call_well("lcp export scene.toml --frame 12 --out pyramids --set contact.cone=pyramid");
    let said = trial
        .call_well("lcp compare --problem pyramids --tolerance 1e-6")
        .said;
    assert_contains(&said, &["pgs-coupled", "staggered"]);
}

#[test]
fn a_removed_body_is_not_in_later_frames() {
    let trial = with(&[("density = 500", "density = 500\nremove_frame = 4")]);
    trial.call_well("run scene.toml --out run --quiet");
    let text = fs::read_to_string(trial.path("run").join("bodies.csv")).unwrap();
    let frames: Vec<&str> = (text.lines().skip(2))
        .filter(|row| row.split(',').nth(2) == Some("box"))
        .map(|row| row.split(',').next().unwrap())
        .collect();
    assert_eq!(frames, ["0", "1", "2", "3"]);
    trial.call_well("preview run --size 64x64");
    trial.call_well("export run --to usd");
}
