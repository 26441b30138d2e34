//! Cloth from files, soft bodies, thin walls and rigid bodies among particles.

use crate::trial::{Trial, assert_same_run, json};
use std::fs;

/// Two squares with a seam in the texture.
const SEAM: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\n\
                    vt 0 0\nvt 0.5 0\nvt 0.5 1\nvt 0 1\nvt 0.6 0\nvt 1 0\nvt 1 1\nvt 0.6 1\n\
                    f 1/1 2/2 3/3 4/4\nf 2/5 5/6 6/7 3/8\n";

const ALL: &str = r#"
method = "projective"
domain = { size = [0.9, 0.6, 0.8] }
time = { frames = 5, rate = 24 }
particles = { spacing = 0.06 }

[[liquid]]
shape = { box = { low = [0, 0, 0], high = [0.3, 0.6, 0.4] } }

[[shell]]
name = "gate"
rectangle = { corner = [0.3, 0, 0], first = [0, 0.6, 0], second = [0, 0, 0.5] }

[[cloth]]
name = "sheet"
mesh = { file = "seam.obj", scale = 0.2, subdivide = 3, moved = [0.45, 0.1, 0.3] }
pins = [{ point = [0.45, 0.1, 0.3] }, { point = [0.85, 0.1, 0.3] }]

[[soft]]
name = "jelly"
shape = { box = { low = [0.08, 0.2, 0.42], high = [0.26, 0.4, 0.6] } }
density = 400

[[body]]
name = "ball"
shape = { sphere = { radius = 0.06 } }
position = [0.65, 0.2, 0.4]
density = 400
"#;

fn trial() -> Trial {
    let trial = Trial::new();
    fs::write(trial.path("seam.obj"), SEAM).unwrap();
    fs::write(trial.path("all.toml"), ALL).unwrap();
    trial
}

#[test]
fn everything_together_runs_resumes_to_the_same_bytes_and_is_exported() {
    let trial = trial();
    trial.call_well("run all.toml --out whole --threads 1");
    trial.call_well("run all.toml --out part --threads 2 --frames 2");
    // The run has copies of its files.
    trial.call_well("run part/scene.toml --out part --resume --frames 5");
    assert_same_run(&trial.path("whole"), &trial.path("part"));
    trial.call_well("export whole --to obj --what bodies --frames 5");
    let obj = trial.path("whole/export/obj/bodies/bodies_000005.obj");
    let obj = fs::read_to_string(obj).unwrap();
    for name in ["gate", "jelly", "ball"] {
        assert!(obj.contains(&format!("\no {name}\n")), "{name}");
    }
    // 4 triangles cut three times: 17 by 9 vertices, and 18 by 9 texture coordinates, one more column at the seam.
    let sheet = obj.split("\no sheet\n").nth(1).unwrap();
    let sheet = sheet.split("\no ").next().unwrap();
    let count = |word: &str| sheet.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("v "), count("vt "), count("f ")), (153, 162, 256));
    trial.call_well("export whole --to usd --frames 4-5");
    trial.call_well("export whole --to npz --what bodies --frames 5");
    trial.call_well("preview whole --png --size 160x120 --quiet");
    trial.call_well("report whole");
    let page = fs::read_to_string(trial.path("whole/report.html")).unwrap();
    for piece in 0..3 {
        let address = format!("data-address=\"/run/0/cloth/{piece}/5\" data-packed");
        assert!(page.contains(&address), "{piece}");
    }
    assert_eq!(json(&trial.path("whole/run.json"))["frames_done"], 5);
}

#[test]
fn mistakes_about_soft_bodies_and_files_of_cloth_are_explained() {
    let trial = trial();
    let cases = [
        ("subdivide = 3", "subdivide = 1", "write mesh.subdivide = "),
        ("seam.obj", "seem.obj", "seem.obj"),
        (
            "[0.08, 0.2, 0.42], high = [0.26",
            "[0.08, 0.2, 0.42], high = [2.26",
            "outside the domain",
        ),
        ("name = \"jelly\"", "name = \"sheet\"", "write another name"),
        (
            "density = 400\n\n[[body]]",
            "density = 400\nspacing = 0.07\n\n[[body]]",
            "coarser than the particles",
        ),
        ("corner = [0.3, 0, 0]", "corner = [0.2, 0, 0.2]", "crosses"),
        ("method = \"projective\"", "", "method = \"projective\""),
        (
            "[0.45, 0.1, 0.3] }, {",
            "[0.45, 0.1, 0.7] }, {",
            "holds none of its vertices",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(ALL.contains(from), "{from}");
        fs::write(trial.path("wrong.toml"), ALL.replacen(from, to, 1)).unwrap();
        let outcome = trial.call("check wrong.toml");
        assert_ne!(outcome.code, 0, "{to}");
        assert!(
            outcome.errors.contains(expected),
            "{to}: {}",
            outcome.errors
        );
    }
    for (file, expected) in [
        (
            "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0.2 0 0\nf 1 2 3\nf 1 2 4\n",
            "has no area",
        ),
        (
            "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 -0.1 0\nv 0 0 0.1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n",
            "more than two triangles meet",
        ),
        (
            "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0.02 0.02 -0.1\nv 0.03 0.02 0.1\nv 0.02 0.09 0.1\nf 1 2 3\nf 4 5 6\n",
            "crosses itself",
        ),
    ] {
        fs::write(trial.path("seam.obj"), file).unwrap();
        let text = ALL.replace("subdivide = 3, ", "").replace(
            "pins = [{ point = [0.45, 0.1, 0.3] }, { point = [0.85, 0.1, 0.3] }]",
            "",
        );
        fs::write(trial.path("wrong.toml"), text).unwrap();
        let outcome = trial.call("check wrong.toml");
        assert_ne!(outcome.code, 0, "{expected}");
        assert!(
            outcome.errors.contains(expected),
            "{expected}: {}",
            outcome.errors
        );
    }
}
