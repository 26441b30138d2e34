//! Rigid bodies, joints and contacts in scene files: their keys, and how they are read.

use super::access::{Field, field, read_by};
use super::appearance::{BODY_COLOR, MATERIAL};
use super::grammar::{
    Effect, Key, Kind, OPTIONAL, REQUIRED, Range, Table, ZERO, by_dimension, default, key,
};
use super::keys::MOST_FRAMES;
use super::objects::{ADHESION, Reader, SHAPE_KEY, WALL_KIND, ease, keyframes, name_of, named};
use super::problem::Problem;
use super::shapes::ROTATION;
use super::tree::{Node, Value};
use super::validate::join;
use super::values::{
    color, components, number, spin, switch, text, vector, words, written_number, written_whole,
};
use crate::{Amount, Body, Joint, Pair, Scene, Surface};
use meniscus_rigid::{Cone, JointKind, Method, Motor, MotorTarget};
use meniscus_shapes::{Pose, Rotation};

pub static BODY: Table = Table {
    title: "a rigid body",
    about: "A solid that moves by forces: gravity, liquid, contacts and joints. It collides with solids, other bodies and the closed \
            sides of the domain. Liquid pushes it and is pushed by it. A body that leaves the domain through an open side is \
            removed.",
    keys: &[
        named("\"brick\""),
        SHAPE_KEY,
        key!("density": Kind::Number(Range::POSITIVE, "kg/m³"), OPTIONAL, Physics, "600",
            "Mass per volume; per area in 2D. Exactly one of `density` and `mass` is required."),
        key!("mass": Kind::Number(Range::POSITIVE, "kg"), OPTIONAL, Physics, "0.12",
            "Mass; per metre of depth in 2D."),
        key!("center_of_mass": Kind::Vector("m"), OPTIONAL, Physics, "[0, 0, -0.01]",
            "Centre of mass, in the frame of the shape. Default: that of the shape with uniform density."),
        key!("inertia": Kind::Spin("kg m²"), OPTIONAL, Physics, "[0.02, 0.02, 0.03]",
            "Moments of inertia about axes through the centre of mass that are parallel to those of the shape's frame. \
             Default: those of the shape with uniform density."),
        key!("position": Kind::Vector("m"), OPTIONAL, Physics, "[0.5, 0.5, 0.2]",
            "Position at the start of the origin of the body's frame, in which its shape is. Default: the origin."),
        key!("rotation": Kind::Table(&ROTATION), OPTIONAL, Physics, "{ axis = [0, 1, 0], degrees = 45 }",
            "Rotation of the body's frame at the start."),
        key!("velocity": Kind::Vector("m/s"), ZERO, Physics, "[0, 0, -1]", "Initial velocity of the centre of mass."),
        key!("angular_velocity": Kind::Spin("degrees per second"), by_dimension("0.0", "[0.0, 0.0, 0.0]"), Physics,
            "[0, 0, 360]", "Initial angular velocity."),
        friction(default("0.5")),
        restitution(default("0.0")),
        WALL_KIND,
        ADHESION,
        key!("gravity": Kind::Switch, default("true"), Physics, "false", "Whether gravity acts on the body."),
        keyframes(
            "Motion of the body until `release_frame`, as that of a solid. It then continues with the velocity that it \
                   has there.",
        ),
        ease(Effect::Physics),
        key!("release_frame": Kind::Whole(0, MOST_FRAMES), OPTIONAL, Physics, "24",
            "Frame from which on forces move a body that has keyframes."),
        key!("remove_frame": Kind::Whole(1, MOST_FRAMES), OPTIONAL, Physics, "48",
            "Frame at which the body is removed. Default: never."),
        MATERIAL,
        BODY_COLOR,
    ],
    one_of: &["density", "mass"],
};

/// Friction of a surface.
pub(super) const fn friction(binding: super::grammar::Binding) -> Key {
    key!("friction": Kind::Number(Range::NOT_NEGATIVE, ""), binding, Physics, "0.3",
        "Coefficient of Coulomb friction with bodies. A pair has the geometric mean. Default: 0.5.")
}

/// Restitution of a surface.
pub(super) const fn restitution(binding: super::grammar::Binding) -> Key {
    key!("restitution": Kind::Number(Range::between(0.0, 1.0), ""), binding, Physics, "0.8",
        "Coefficient of restitution with bodies: 1 for a perfect bounce. A pair has the larger one. Default: 0.")
}

pub static JOINT: Table = Table {
    title: "a joint",
    about: "Connects two bodies, or a body and the world. Points and axes are in the world at the start. A solid can be joined \
            like a body.",
    keys: &[
        named("\"axle\""),
        key!("hinge": Kind::Table(&HINGE), OPTIONAL, Physics,
            "{ bodies = [\"wheel\"], point = [0.5, 0.5, 0.3], axis = [0, 1, 0] }", "Rotation about an axis only."),
        key!("ball": Kind::Table(&BALL), OPTIONAL, Physics, "{ bodies = [\"arm\", \"hand\"], point = [0.5, 0.5, 0.3] }",
            "Rotation about a point only."),
        key!("slider": Kind::Table(&SLIDER), OPTIONAL, Physics,
            "{ bodies = [\"gate\"], point = [0.5, 0.5, 0.3], axis = [0, 0, 1] }", "Translation along an axis only."),
        key!("fixed": Kind::Table(&BALL), OPTIONAL, Physics, "{ bodies = [\"hull\", \"mast\"], point = [0.5, 0.5, 0.3] }",
            "No relative motion."),
        key!("distance": Kind::Table(&DISTANCE), OPTIONAL, Physics,
            "{ bodies = [\"lamp\"], from = [0.5, 0.5, 0.3], to = [0.5, 0.5, 1] }", "Constant distance of two points."),
        key!("limits": Kind::Pair("degrees or m"), OPTIONAL, Physics, "[-45, 45]",
            "Lowest and highest angle of a hinge in degrees, or position of a slider in metres, from the start."),
        key!("motor": Kind::Table(&MOTOR), OPTIONAL, Physics, "{ speed = 90, max_torque = 2 }",
            "Motor of a hinge or slider."),
        key!("break_force": Kind::Number(Range::POSITIVE, "N"), OPTIONAL, Physics, "200",
            "Reaction at which the joint breaks. Default: never."),
        key!("collide": Kind::Switch, default("false"), Physics, "true", "Whether the two bodies collide with each other."),
    ],
    one_of: &["hinge", "ball", "slider", "fixed", "distance"],
};

const JOINED: Key = key!("bodies": Kind::Names(1, 2), REQUIRED, Physics, "[\"wheel\", \"cart\"]",
    "Names of one or two bodies. With one, the other side of the joint is the world.");
const POINT: Key =
    key!("point": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 0.5, 0.3]", "Point of the joint.");

static HINGE: Table = Table {
    title: "a hinge",
    about: "Two bodies that turn about a common axis.",
    keys: &[
        JOINED,
        POINT,
        key!("axis": Kind::Vector(""), OPTIONAL, Physics, "[0, 1, 0]",
            "Direction of the axis, of any length but zero. Required in 3D, and in 3D only."),
    ],
    one_of: &[],
};

static SLIDER: Table = Table {
    title: "a slider",
    about: "Two bodies that slide along a common axis without turning.",
    keys: &[
        JOINED,
        POINT,
        key!("axis": Kind::Vector(""), REQUIRED, Physics, "[0, 0, 1]",
            "Direction of the axis, of any length but zero."),
    ],
    one_of: &[],
};

static BALL: Table = Table {
    title: "a joint at a point",
    about: "Two bodies that share a point.",
    keys: &[JOINED, POINT],
    one_of: &[],
};

static DISTANCE: Table = Table {
    title: "a distance joint",
    about: "A point of the first body at a constant distance from one of the second body, or of the world.",
    keys: &[
        JOINED,
        key!("from": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 0.5, 0.3]", "Point of the first body."),
        key!("to": Kind::Vector("m"), REQUIRED, Physics, "[0.5, 0.5, 1]", "Point of the second body, or of the world."),
    ],
    one_of: &[],
};

static MOTOR: Table = Table {
    title: "a motor",
    about: "Drives a hinge or slider with a limited torque or force.",
    keys: &[
        key!("speed": Kind::Number(Range::ANY, "degrees per second or m/s"), OPTIONAL, Physics, "90", "Speed to reach."),
        key!("angle": Kind::Number(Range::ANY, "degrees"), OPTIONAL, Physics, "30",
            "Angle to reach, of a hinge, from the start."),
        key!("position": Kind::Number(Range::ANY, "m"), OPTIONAL, Physics, "0.1",
            "Position to reach, of a slider, from the start."),
        key!("max_torque": Kind::Number(Range::NOT_NEGATIVE, "N m"), OPTIONAL, Physics, "2",
            "Largest torque, of a hinge. Required there."),
        key!("max_force": Kind::Number(Range::NOT_NEGATIVE, "N"), OPTIONAL, Physics, "50",
            "Largest force, of a slider. Required there."),
    ],
    one_of: &["speed", "angle", "position"],
};

pub static CONTACT: Table = Table {
    title: "contacts",
    about: "Contacts between rigid bodies. Friction of a pair is the geometric mean of both, restitution the larger one, unless \
            `pairs` has values for it.",
    keys: &[
        key!("method": Kind::Word(&["hybrid", "pgs", "staggered", "fischer-newton", "lemke"]),
            field!(contacts.settings.method), Physics, "\"pgs\"",
            "Method for the contact problem of each island of bodies: `hybrid` solves the normal problem exactly, alternated \
             with Gauss-Seidel sweeps for friction; `pgs` is projected Gauss-Seidel on all rows; `staggered` solves normal and \
             friction problems in turn; `fischer-newton` and `lemke` solve the problem with a polyhedral cone."),
        key!("cone": Kind::Word(&["disc", "pyramid"]), field!(contacts.settings.cone), Physics, "\"pyramid\"",
            "Friction cone of `hybrid` and `pgs`: isotropic, or with four sides. In 2D both are the same."),
        key!("tolerance": Kind::Number(Range::up_to(0.5), ""), field!(contacts.settings.tolerance), Physics, "1e-6",
            "Largest residual of the contact problem, relative to the largest velocity in its right-hand side."),
        key!("coarse_tolerance": Kind::Number(Range::between(0.0, 1.0), ""), field!(contacts.settings.coarse_tolerance), Physics,
            "0.1", "Largest residual of the contact problem of a large island, relative to the speed that gravity gives in a \
             step. The larger of this and `tolerance` counts."),
        key!("coarse_rows": Kind::Whole(1, 1_000_000_000), field!(contacts.settings.coarse_rows), Physics, "300",
            "Rows from which an island of bodies is large: three for each contact, two in 2D."),
        key!("max_iterations": Kind::Whole(1, 1_000_000), field!(contacts.settings.max_rounds), Physics, "20",
            "Rounds of `hybrid` and `staggered`, or outer iterations of another method, after which a solve ends."),
        key!("max_sweeps": Kind::Whole(1, 1_000_000), field!(contacts.settings.max_sweeps), Physics, "50",
            "Gauss-Seidel sweeps in one round of `hybrid`, or in all of `pgs`."),
        key!("gap": Kind::Number(Range::POSITIVE, "m"), read_by!(|scene, node, _reader| {
                scene.contacts.settings.resting_gap = node.number();
            }), Physics, "0.0005",
            "Gap between bodies at rest. Default: 0.002 of the shortest side of the smaller body of a pair."),
        key!("position_correction": Kind::Number(Range::between(0.0, 1.0), ""), field!(contacts.settings.position_correction),
            Physics, "0.1", "Share of a position error that one step corrects."),
        key!("implicit_gyroscopic": Kind::Switch, field!(contacts.settings.implicit_gyroscopic), Physics, "true",
            "Whether the gyroscopic term is integrated by an implicit Euler step, which loses energy, instead of the midpoint \
             rule, which conserves it."),
        key!("sleeping": Kind::Switch, field!(contacts.settings.sleeping), Physics, "true",
            "Whether bodies at rest are not simulated until something touches them."),
        key!("max_step": Kind::Number(Range::POSITIVE, "s"), field!(contacts.max_step), Physics, "0.002",
            "Longest time step of a scene with bodies, besides `time.max_step`."),
        key!("side_friction": Kind::Number(Range::NOT_NEGATIVE, ""), field!(contacts.sides.friction), Physics, "0.3",
            "Friction of the closed sides of the domain."),
        key!("side_restitution": Kind::Number(Range::between(0.0, 1.0), ""), field!(contacts.sides.restitution), Physics,
            "0.8", "Restitution of the closed sides of the domain."),
        key!("pairs": Kind::Tables(&PAIR, 0), read_by!(|scene, node, _reader| scene.contacts.pairs = pairs(node)), Physics,
            "[{ bodies = [\"ice\", \"puck\"], friction = 0.02 }]", "Friction and restitution of single pairs."),
    ],
    one_of: &[],
};

static PAIR: Table = Table {
    title: "a pair",
    about: "Friction and restitution of two bodies, or a body and a solid, in place of the combination of both.",
    keys: &[
        key!("bodies": Kind::Names(2, 2), REQUIRED, Physics, "[\"ice\", \"puck\"]", "Names of the two."),
        friction(OPTIONAL),
        restitution(OPTIONAL),
    ],
    one_of: &[],
};

impl Field for Method {
    fn value(&self) -> Value {
        Value::Text(self.word().into())
    }
    fn read(&mut self, node: &Node) {
        let named = |method: &Method| Some(method.word()) == node.text();
        if let Some(method) = Method::ALL.into_iter().find(named) {
            *self = method;
        }
    }
}

impl Field for Cone {
    fn value(&self) -> Value {
        Value::Text(
            if *self == Cone::Disc {
                "disc"
            } else {
                "pyramid"
            }
            .into(),
        )
    }
    fn read(&mut self, node: &Node) {
        match node.text() {
            Some("disc") => *self = Cone::Disc,
            Some("pyramid") => *self = Cone::Pyramid,
            _ => {}
        }
    }
}

fn pairs(list: &Node) -> Vec<Pair> {
    let pair = |table: &Node| Pair {
        bodies: words(table, "bodies"),
        friction: written_number(table, "friction"),
        restitution: written_number(table, "restitution"),
    };
    list.list().iter().map(pair).collect()
}

/// Friction and restitution of a solid or body.
pub(super) fn surface(table: &Node) -> Surface {
    let usual = Surface::default();
    Surface {
        friction: written_number(table, "friction").unwrap_or(usual.friction),
        restitution: written_number(table, "restitution").unwrap_or(usual.restitution),
    }
}

impl Reader<'_> {
    pub(super) fn bodies<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        let (rate, walls) = (scene.frame_rate, scene.physics.walls);
        scene.bodies = self.tables(list, "body", |reader, table, path| {
            let shape = reader.own_shape(table, path);
            let script = match table.get("keyframes") {
                None => Some(None),
                Some(list) => reader.motion(list, table, path, rate).map(Some),
            };
            let rotation = match table.get("rotation") {
                None => Some(Rotation::IDENTITY),
                Some(node) => reader.rotation(node, &join(path, "rotation"), table),
            };
            reader.script_fits(table, path);
            let amount = match written_number(table, "mass") {
                Some(mass) => Amount::Mass(mass),
                None => Amount::Density(number(table, "density")),
            };
            let mut body = Body::new(name_of(table, path), shape?, amount);
            body.script = script?;
            body.pose = match &body.script {
                Some(script) => script.world_from_body(0.0),
                None => Pose {
                    rotation: rotation?,
                    translation: table.get("position").map_or([0.0; D], components),
                },
            };
            let frame = |key: &str| written_whole(table, key).map(|frame| frame as u32);
            body.release_frame = frame("release_frame");
            body.remove_frame = frame("remove_frame");
            body.center_of_mass = table.get("center_of_mass").map(components);
            body.inertia = table.get("inertia").map(spin);
            body.velocity = vector(table, "velocity");
            body.angular_velocity = table.get("angular_velocity").map_or([0.0; 3], spin);
            body.surface = surface(table);
            body.wall = reader.wall(table, path, walls);
            body.gravity = switch(table, "gravity");
            body.material = text(table, "material").parse().ok();
            body.color = table.get("color").and_then(|node| color(node).ok());
            Some(body)
        });
        for k in 1..scene.bodies.len() {
            let (before, body) = scene.bodies.split_at_mut(k);
            if let Some(same) = before.iter().find(|other| other.shape == body[0].shape) {
                body[0].known_moments = same.known_moments.clone();
            }
        }
    }

    /// Reports keys of a body that exclude each other.
    fn script_fits(&mut self, table: &Node, path: &str) {
        let scripted = table.get("keyframes").is_some();
        let mut refuse = |key: &str, message: &str, help: &str| {
            let place = table.get(key).map_or(table.place, |node| node.place);
            let problem = Problem::error(place, join(path, key), message).with_help(help);
            self.problems.push(problem);
        };
        let is_zero = |key: &str| match table.get(key) {
            None => true,
            Some(node) if node.list().is_empty() => node.number() == Some(0.0),
            Some(node) => node.list().iter().all(|part| part.number() == Some(0.0)),
        };
        if !scripted && table.get("release_frame").is_some() {
            refuse(
                "release_frame",
                "there are no keyframes to be released from",
                "remove it, or write `keyframes`",
            );
        }
        if scripted && table.get("release_frame").is_none() {
            refuse(
                "keyframes",
                "the body moves by keyframes at all times",
                "write release_frame, or make it a [[solid]]",
            );
        }
        for key in ["velocity", "angular_velocity"] {
            if scripted && !is_zero(key) {
                refuse(
                    key,
                    "the body has the velocity of its keyframes when it is released",
                    "remove it, or the keyframes",
                );
            }
        }
        for key in ["position", "rotation"] {
            if scripted && table.get(key).is_some() {
                refuse(
                    key,
                    "the body is where its keyframes put it",
                    "remove it, or the keyframes",
                );
            }
        }
    }

    pub(super) fn joints<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        scene.joints = self.tables(list, "joint", Self::joint);
    }

    fn joint<const D: usize>(&mut self, table: &Node, path: &str) -> Option<Joint<D>> {
        let (key, inner) = JOINT
            .one_of
            .iter()
            .find_map(|key| Some((*key, table.get(key)?)))?;
        let at = join(path, key);
        let point = vector(inner, "point");
        let kind = match key {
            "hinge" => JointKind::Hinge {
                point,
                axis: self.hinge_axis::<D>(inner, &at)?,
            },
            "ball" => JointKind::Ball { point },
            "slider" => JointKind::Slider {
                point,
                axis: vector(inner, "axis"),
            },
            "fixed" => JointKind::Fixed { point },
            _ => JointKind::Distance {
                point_a: vector(inner, "from"),
                point_b: vector(inner, "to"),
            },
        };
        let turns = key == "hinge";
        if !turns && key != "slider" {
            for unfit in ["limits", "motor"] {
                if let Some(node) = table.get(unfit) {
                    let message = "only hinges and sliders have limits and motors";
                    self.error(node.place, join(path, unfit), message);
                }
            }
        }
        let motor = match table.get("motor") {
            Some(node) => Some(self.motor(node, &join(path, "motor"), turns)?),
            None => None,
        };
        let limits = table.get("limits").map(components::<2>).map(|limits| {
            if turns {
                limits.map(f64::to_radians)
            } else {
                limits
            }
        });
        if let (Some([low, high]), Some(node)) = (limits, table.get("limits"))
            && low > high
        {
            let problem = Problem::error(
                node.place,
                join(path, "limits"),
                "the lower limit is above the upper one",
            );
            self.problems
                .push(problem.with_help("write the lower one first"));
        }
        Some(Joint {
            name: name_of(table, path),
            bodies: words(inner, "bodies"),
            kind,
            limits,
            motor,
            break_force: written_number(table, "break_force"),
            collide: switch(table, "collide"),
        })
    }

    fn hinge_axis<const D: usize>(&mut self, inner: &Node, path: &str) -> Option<[f64; 3]> {
        match (inner.get("axis"), D) {
            (None, 2) => Some([0.0, 0.0, 1.0]),
            (Some(axis), 3) => Some(components(axis)),
            (axis, _) => {
                let message = match D {
                    2 => "a hinge in 2D has no axis",
                    _ => "`axis` is missing",
                };
                let place = axis.map_or(inner.place, |node| node.place);
                self.error(place, path, message);
                None
            }
        }
    }

    fn motor(&mut self, node: &Node, path: &str, turns: bool) -> Option<Motor> {
        let (goal, effort, other_goal, other_effort) = match turns {
            true => ("angle", "max_torque", "position", "max_force"),
            false => ("position", "max_force", "angle", "max_torque"),
        };
        for unfit in [other_goal, other_effort] {
            if let Some(found) = node.get(unfit) {
                let message = match turns {
                    true => "is for sliders, this is a hinge",
                    false => "is for hinges, this is a slider",
                };
                let right = if unfit == other_goal { goal } else { effort };
                let problem = Problem::error(found.place, join(path, unfit), message);
                self.problems
                    .push(problem.with_help(format!("write `{right}`")));
                return None;
            }
        }
        let Some(max_effort) = written_number(node, effort) else {
            let problem = Problem::error(node.place, path, format!("`{effort}` is missing"));
            self.problems
                .push(problem.with_help(format!("write {effort} = 2, or what it should be")));
            return None;
        };
        let unit = |value: f64| if turns { value.to_radians() } else { value };
        let target = match written_number(node, "speed") {
            Some(speed) => MotorTarget::Speed(unit(speed)),
            None => MotorTarget::Position(unit(number(node, goal))),
        };
        Some(Motor { target, max_effort })
    }
}
