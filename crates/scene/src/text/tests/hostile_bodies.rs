//! Hostile values of every key of bodies, joints and contacts, and of the friction of solids.

use super::super::bodies::{BODY, CONTACT, JOINT};
use super::super::coupling::COUPLING;
use super::super::grammar::{Kind, Table};
use super::super::problem::Severity;
use super::check;
use crate::{AnyScene, Scene};
use std::collections::BTreeSet;

/// A scene with every key of these tables, one per line.
const EVERY_KEY: &str = r#"
[domain]
size = [2, 2, 2]
[time]
frames = 2
[contact]
method = "hybrid"
cone = "disc"
tolerance = 1e-6
coarse_tolerance = 0.1
coarse_rows = 300
max_iterations = 20
max_sweeps = 50
gap = 0.0005
position_correction = 0.1
implicit_gyroscopic = false
sleeping = false
max_step = 0.005
side_friction = 0.3
side_restitution = 0.1
[[contact.pairs]]
bodies = ["step", "box"]
friction = 0.1
restitution = 0.1
[coupling]
scheme = "iterative"
solver = "multigrid"
rounds = 10
viscosity_rounds = 3
max_iterations = 100
relaxation = 1.2
diagonal_scale = 1e-6
baumgarte = 0.1
margin = 0.05
mass_correction = true
[[solid]]
name = "step"
shape = { box = { low = [0, 0, 0], high = [0.3, 1, 0.1] } }
friction = 0.3
restitution = 0.2
wall_kind = "separating"
adhesion = 5
[[body]]
name = "box"
shape = { box = { low = [-0.05, -0.05, -0.05], high = [0.05, 0.05, 0.05] } }
density = 500
center_of_mass = [0, 0, -0.01]
inertia = [0.001, 0.001, 0.001]
position = [0.15, 0.5, 0.2]
rotation = { axis = [0, 1, 0], degrees = 10 }
velocity = [0, 0, -1]
angular_velocity = [0, 0, 360]
friction = 0.4
restitution = 0.3
wall_kind = "separating"
adhesion = 50
gravity = true
remove_frame = 2
material = "stone"
color = "red"
[[body]]
name = "thrown"
shape = { sphere = { radius = 0.05 } }
mass = 2
keyframes = [{ frame = 0, position = [0.5, 0.5, 0.3] }, { frame = 4, position = [0.6, 0.5, 0.3] }]
ease = "linear"
release_frame = 1
[[body]]
name = "wheel"
shape = { cylinder = { from = [0, -0.02, 0], to = [0, 0.02, 0], radius = 0.1 } }
position = [1, 1, 0.5]
mass = 1
[[body]]
name = "cart"
shape = { box = { low = [-0.1, -0.1, -0.05], high = [0.1, 0.1, 0.05] } }
position = [1, 1.3, 0.5]
mass = 1
[[joint]]
name = "axle"
limits = [-45, 45]
break_force = 200
collide = false
[joint.hinge]
bodies = ["wheel"]
point = [1, 1, 0.5]
axis = [0, 1, 0]
[joint.motor]
speed = 90
max_torque = 2
[[joint]]
[joint.hinge]
bodies = ["wheel", "cart"]
point = [1, 1.1, 0.5]
axis = [0, 1, 0]
[joint.motor]
angle = 30
max_torque = 2
[[joint]]
limits = [-0.1, 0.1]
[joint.slider]
bodies = ["cart"]
point = [1, 1.3, 0.5]
axis = [0, 0, 1]
[joint.motor]
position = 0.1
max_force = 50
[[joint]]
[joint.ball]
bodies = ["cart"]
point = [1, 1.3, 0.5]
[[joint]]
[joint.fixed]
bodies = ["box", "thrown"]
point = [0.3, 0.5, 0.3]
[[joint]]
[joint.distance]
bodies = ["box", "thrown"]
from = [0.15, 0.5, 0.2]
to = [0.5, 0.5, 0.3]
"#;

const HOSTILE: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "1e30",
    "99999999999999999999",
    "9223372036854775807",
    "true",
    "\"\"",
    "\"\\u0000\"",
    "\"box\"",
    "[]",
    "{}",
    "[nan, 0, 0]",
    "[0, 0, 0]",
    "[1e308, -1e308, 1e308]",
    "[1e-320, 0, 0]",
    "[1, 2]",
    "[45, -45]",
    "[1, 2, 3, 4]",
    "[\"box\"]",
    "[\"box\", \"box\"]",
    "[\"nobody\", \"box\"]",
    "[[1, 2, 3]]",
    "2020-01-01",
];

fn keys(table: &'static Table, found: &mut BTreeSet<&'static str>) {
    for key in table.keys {
        match key.kind {
            _ if ["shape", "keyframes", "rotation"].contains(&key.name) => {}
            Kind::Table(inner) | Kind::Tables(inner, _) => keys(inner, found),
            _ => {
                found.insert(key.name);
            }
        }
    }
}

/// Two steps of a scene that was accepted: they succeed with finite numbers, or fail with an error.
fn takes_steps<const D: usize>(scene: &Scene<D>, what: &str) {
    let Ok(mut bodies) = scene.rigid_bodies() else {
        panic!("{what}: the scene was accepted and has no bodies")
    };
    for _ in 0..2 {
        if bodies.step(scene.rigid_step().min(0.01)).is_err() {
            return;
        }
        for body in 0..bodies.len() {
            let (pose, twist) = (bodies.pose(body), bodies.twist(body));
            let numbers = pose.translation.iter().chain(&twist.linear);
            let finite = numbers.chain(&twist.angular).all(|x| x.is_finite());
            assert!(finite, "{what}: {}", bodies.body(body).name);
        }
    }
}

#[test]
fn hostile_values_of_bodies_joints_and_contacts_are_refused_with_their_place_or_run() {
    let loaded = check(EVERY_KEY);
    assert!(loaded.scene.is_some(), "{:?}", loaded.problems);
    let mut expected = BTreeSet::new();
    for table in [&BODY, &JOINT, &CONTACT, &COUPLING] {
        keys(table, &mut expected);
    }
    let lines: Vec<&str> = EVERY_KEY.lines().collect();
    let written: BTreeSet<&str> = (lines.iter())
        .filter_map(|line| Some(line.split_once(" = ")?.0))
        .collect();
    // Shapes, keyframes and rotations are those of solids.
    let missing: Vec<&&str> = expected.difference(&written).collect();
    assert!(missing.is_empty(), "keys without a test: {missing:?}");
    let first = lines.iter().position(|line| *line == "[contact]").unwrap();
    let (mut refused, mut accepted) = (0, 0);
    for (k, line) in lines.iter().enumerate().skip(first) {
        let Some((key, _)) = line.split_once(" = ") else {
            continue;
        };
        for value in HOSTILE {
            let changed = format!("{key} = {value}");
            let what = format!("line {}: {changed}", k + 1);
            let mut text = lines.clone();
            text[k] = &changed;
            let loaded = check(&(text.join("\n") + "\n"));
            match &loaded.scene {
                Some(AnyScene::Two(scene)) => takes_steps(scene, &what),
                Some(AnyScene::Three(scene)) => takes_steps(scene, &what),
                None => {
                    let errors = loaded.problems.iter();
                    let mut errors = errors.filter(|p| p.severity == Severity::Error);
                    let error = errors.next().unwrap_or_else(|| panic!("{what}: no error"));
                    let place = loaded.source.line_and_column(error.place);
                    assert!(place.is_some(), "{what}: {error:?} has no place");
                }
            }
            match loaded.scene {
                Some(_) => accepted += 1,
                None => refused += 1,
            }
        }
    }
    assert!(refused > 1000 && accepted > 50, "{refused} {accepted}");
}

#[test]
fn masses_that_no_number_can_hold_the_energy_of_are_refused_with_the_units() {
    for (from, to, key) in [
        ("density = 500", "density = 1e300", "body[1].density"),
        ("mass = 2\n", "mass = 1e-200\n", "body[2].mass"),
    ] {
        assert!(EVERY_KEY.contains(from));
        let loaded = check(&EVERY_KEY.replacen(from, to, 1));
        let mut errors = (loaded.problems.iter()).filter(|p| p.severity == Severity::Error);
        let error = errors.next().unwrap();
        assert_eq!(error.path, key);
        assert!(error.message.contains("kg is not physical"), "{error:?}");
        assert!(errors.next().is_none());
    }
}
