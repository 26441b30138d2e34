//! Cloth in scene files: its keys, how it is read, and what can be wrong with it.

use super::appearance::SOLID_COLOR;
use super::grammar::{Effect, Kind, OPTIONAL, REQUIRED, Range, Table, ZERO, default, key};
use super::objects::{Reader, ease, keyframes, name_of, named};
use super::problem::{Place, Problem};
use super::tree::Node;
use super::validate::join;
use super::values::{color, components, number, vector, written_number};
use super::warnings::length;
use crate::Scene;
use crate::cloth::{Cloth, ClothPin};
use meniscus_shapes::Motion;

pub static CLOTH: Table = Table {
    title: "a piece of cloth",
    about: "Cloth that bends and hardly stretches, in scenes with `method = \"projective\"` in 3D. Liquid, solids and cloth \
            itself collide with it on both sides. Its mesh is flat at rest.",
    keys: &[
        named("\"flag\""),
        key!("rectangle": Kind::Table(&RECTANGLE), REQUIRED, Physics,
            "{ corner = [0.2, 0.2, 0.5], first = [0.6, 0, 0], second = [0, 0.6, 0] }", "Shape at rest and at the start."),
        key!("spacing": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Physics, "0.01",
            "Length of the edges of its mesh, at most the spacing of particles. Default: 0.8 of that."),
        key!("density": Kind::Number(Range::POSITIVE, "kg/m²"), default("0.3"), Physics, "0.15", "Mass per area."),
        key!("stretch": Kind::Number(Range::POSITIVE, "N/m"), default("1e4"), Physics, "2e4",
            "Stiffness against stretch: force per width over strain."),
        key!("bend": Kind::Number(Range::NOT_NEGATIVE, "N m"), default("1e-4"), Physics, "1e-3",
            "Stiffness against bending: moment per width over curvature."),
        key!("strain_limit": Kind::Number(Range::up_to(10.0), ""), OPTIONAL, Physics, "0.05",
            "Largest strain of an edge of the mesh. Default: none."),
        super::bodies::friction(default("0.3")),
        key!("thickness": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Physics, "0.002",
            "Least distance to other cloth. Default, and largest value: a quarter of the edges."),
        key!("velocity": Kind::Vector("m/s"), ZERO, Physics, "[0, 0, -1]", "Initial velocity."),
        key!("pins": Kind::Tables(&PIN, 0), OPTIONAL, Physics, "[{ point = [0.2, 0.2, 0.5] }]",
            "Points and regions at which it is held, still or moving."),
        SOLID_COLOR,
    ],
    one_of: &[],
};

static RECTANGLE: Table = Table {
    title: "a rectangle",
    about: "A corner and the two sides from it. Texture coordinates go from 0 to 1 along both.",
    keys: &[
        key!("corner": Kind::Vector("m"), REQUIRED, Physics, "[0.2, 0.2, 0.5]", "One corner."),
        key!("first": Kind::Vector("m"), REQUIRED, Physics, "[0.6, 0, 0]", "First side from the corner."),
        key!("second": Kind::Vector("m"), REQUIRED, Physics, "[0, 0.6, 0]", "Second side from the corner."),
    ],
    one_of: &[],
};

static PIN: Table = Table {
    title: "a pin",
    about: "Vertices of cloth that are held: those near a point, or all in a box.",
    keys: &[
        key!("point": Kind::Vector("m"), OPTIONAL, Physics, "[0.2, 0.2, 0.5]",
            "Point: vertices within half an edge of it along each axis are held."),
        key!("box": Kind::Table(&REGION), OPTIONAL, Physics, "{ low = [0, 0, 0.5], high = [0, 1, 0.5] }",
            "Box: vertices in it or on its surface are held."),
        keyframes(
            "Motion of the pin: the vertices move as a frame that is at the position of each keyframe and turned by its \
                   rotation, from where they are at the start, the time of the first keyframe.",
        ),
        ease(Effect::Physics),
    ],
    one_of: &["point", "box"],
};

static REGION: Table = Table {
    title: "a region",
    about: "A box with sides along the axes; it may be flat.",
    keys: &[
        key!("low": Kind::Vector("m"), REQUIRED, Physics, "[0, 0, 0.5]", "Lower corner."),
        key!("high": Kind::Vector("m"), REQUIRED, Physics, "[0, 1, 0.5]", "Upper corner."),
    ],
    one_of: &[],
};

impl Reader<'_> {
    pub(super) fn cloth<const D: usize>(&mut self, scene: &mut Scene<D>, list: &Node) {
        if D != 3 {
            let place = list.list().first().map_or(list.place, |table| table.place);
            let problem = Problem::error(place, "cloth[1]", "there is no cloth in 2D");
            self.problems
                .push(problem.with_help("write three numbers in domain.size, or remove it"));
            return;
        }
        let rate = scene.frame_rate;
        scene.cloth = self.tables(list, "cloth", |reader, table, path| {
            let mut pins = Vec::new();
            let tables = table.get("pins").map_or(&[][..], Node::list);
            for (k, pin) in tables.iter().enumerate() {
                pins.push(reader.pin(pin, &format!("{path}.pins[{}]", k + 1), rate)?);
            }
            let rectangle = table.get("rectangle")?;
            Some(Cloth {
                name: name_of(table, path),
                corner: vector(rectangle, "corner"),
                sides: [vector(rectangle, "first"), vector(rectangle, "second")],
                spacing: written_number(table, "spacing"),
                density: number(table, "density"),
                stretch: number(table, "stretch"),
                bend: number(table, "bend"),
                strain_limit: written_number(table, "strain_limit"),
                friction: number(table, "friction"),
                thickness: written_number(table, "thickness"),
                velocity: vector(table, "velocity"),
                pins,
                color: table.get("color").and_then(|node| color(node).ok()),
            })
        });
    }

    fn pin(&mut self, table: &Node, path: &str, rate: f64) -> Option<ClothPin> {
        let motion = match table.get("keyframes") {
            None => Motion::Still,
            Some(list) => self.motion(list, table, path, rate)?,
        };
        let (low, high) = match (table.get("point"), table.get("box")) {
            (Some(point), _) => {
                let point = components(point);
                (point, point)
            }
            (None, Some(region)) => (vector(region, "low"), vector(region, "high")),
            (None, None) => return None,
        };
        Some(ClothPin { low, high, motion })
    }
}

/// Errors about the cloth of a scene.
pub fn errors<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    let mut problems = Vec::new();
    let tables = root.get("cloth").map_or(&[][..], Node::list);
    if let (Some(table), false) = (tables.first(), scene.is_projective()) {
        let message = "cloth is simulated by method = \"projective\" only";
        let help = "write method = \"projective\" at the top of the file, or remove it";
        return vec![Problem::error(table.place, "cloth[1]", message).with_help(help)];
    }
    if let (Some(table), false) = (
        tables.first(),
        scene.projective.method == meniscus_projective::Method::Dual,
    ) {
        let message = "cloth is simulated by the solver \"dual\" only";
        let help = "remove projective.solver";
        return vec![Problem::error(table.place, "cloth[1]", message).with_help(help)];
    }
    let spacing = scene.particle_spacing();
    for (k, (cloth, table)) in scene.cloth.iter().zip(tables).enumerate() {
        let path = format!("cloth[{}]", k + 1);
        let before = problems.len();
        let mut wrong = |key: &str, message: String, help: String| {
            let place = table.get(key).map_or(table.place, |node| node.place);
            problems.push(Problem::error(place, join(&path, key), message).with_help(help));
        };
        if cloth.edge(spacing) > spacing * (1.0 + 1e-9) {
            let message = format!(
                "is {}, coarser than the particles ({}): liquid would leak",
                length(cloth.edge(spacing)),
                length(spacing)
            );
            wrong(
                "spacing",
                message,
                format!("write at most {}", length(spacing)),
            );
            continue;
        }
        if !cloth.is_feasible(spacing) {
            let message = "has more than a million vertices".to_owned();
            wrong(
                "spacing",
                message,
                "raise it, or make the rectangle smaller".into(),
            );
            continue;
        }
        let sheet = cloth.sheet(spacing);
        if let Err(fault) = meniscus_projective::check_mesh(&sheet.vertices, &sheet.triangles) {
            let help = "write two sides that are not parallel, and longer than zero";
            wrong("rectangle", fault.to_string(), help.into());
            continue;
        }
        for (p, pin) in sheet.pins.iter().enumerate() {
            if pin.vertices.is_empty() {
                let place = table.get("pins").and_then(|pins| pins.list().get(p));
                let place = place.map_or(table.place, |pin| pin.place);
                let message = "holds no vertex of the cloth";
                let help = "move it to the cloth, or widen its box";
                let path = format!("{path}.pins[{}]", p + 1);
                problems.push(Problem::error(place, path, message).with_help(help));
            }
        }
        if problems.len() == before {
            problems.extend(inside(scene, &sheet, table.place, &path));
        }
    }
    let is_crossed = |a: usize| {
        let sheets = scene.sheets();
        (0..a).find(|&b| touch(&sheets[a].vertices, &sheets[b].vertices, spacing))
    };
    if problems.is_empty() {
        for k in 1..scene.cloth.len() {
            if let Some(other) = is_crossed(k) {
                let message = format!(
                    "shares a place with \"{}\" at the start",
                    scene.cloth[other].name
                );
                let help = "move one of them";
                let path = format!("cloth[{}]", k + 1);
                problems.push(Problem::error(tables[k].place, path, message).with_help(help));
            }
        }
    }
    problems
}

/// Whether two sets of vertices come closer than a hundredth of the spacing.
fn touch(a: &[[f64; 3]], b: &[[f64; 3]], spacing: f64) -> bool {
    let least = 0.01 * spacing;
    let mut sorted: Vec<&[f64; 3]> = b.iter().collect();
    sorted.sort_by(|p, q| p[0].total_cmp(&q[0]));
    a.iter().any(|x| {
        let from = sorted.partition_point(|y| y[0] < x[0] - least);
        let near = sorted[from..].iter().take_while(|y| y[0] <= x[0] + least);
        near.into_iter()
            .any(|y| (0..3).all(|axis| (x[axis] - y[axis]).abs() <= least))
    })
}

/// Cloth that starts inside a solid or outside the domain.
fn inside<const D: usize>(
    scene: &Scene<D>,
    sheet: &meniscus_projective::Sheet,
    place: Place,
    path: &str,
) -> Option<Problem> {
    let solids = scene.solids_and_walls();
    let held: Vec<u32> = sheet
        .pins
        .iter()
        .flat_map(|pin| pin.vertices.clone())
        .collect();
    let free = sheet.vertices.iter().enumerate();
    let mut free = free.filter(|(v, _)| !held.contains(&(*v as u32)));
    let (_, x) = free.find(|(_, x)| {
        let x: [f64; D] = std::array::from_fn(|axis| x[axis]);
        solids.distance(x, 0.0) < 0.0
    })?;
    let message = format!(
        "begins inside a solid or outside the domain, at [{:.3}, {:.3}, {:.3}]",
        x[0], x[1], x[2]
    );
    let help = "move it; only pinned vertices may be inside solids";
    Some(Problem::error(place, path, message).with_help(help))
}
