//! Cloth in scene files: its keys, how it is read, and what can be wrong with it.

use super::appearance::SOLID_COLOR;
use super::grammar::{Effect, Kind, OPTIONAL, REQUIRED, Range, Table, ZERO, default, key};
use super::objects::{Reader, ease, keyframes, name_of, named};
use super::problem::{Place, Problem};
use super::shapes::{FILE, HASH, ROTATION, SCALE, UP};
use super::tree::Node;
use super::validate::join;
use super::values::{color, components, number, vector, whole, written_number};
use super::warnings::length;
use crate::cloth::{Cloth, ClothPin, ClothShape, MOST_VERTICES};
use crate::{ClothMesh, Scene};
use meniscus_projective::Sheet;
use meniscus_shapes::{Motion, Pose, Rotation};
use std::sync::Arc;

pub static CLOTH: Table = Table {
    title: "a piece of cloth",
    about: "Cloth that bends and hardly stretches, in scenes with `method = \"projective\"` in 3D. Liquid, solids and cloth \
            itself collide with it on both sides. At rest it has the shape in which it starts.",
    keys: &[
        named("\"flag\""),
        key!("rectangle": Kind::Table(&RECTANGLE), OPTIONAL, Physics,
            "{ corner = [0.2, 0.2, 0.5], first = [0.6, 0, 0], second = [0, 0.6, 0] }", "A rectangle."),
        key!("mesh": Kind::Table(&SHEET), OPTIONAL, Physics, "{ file = \"shirt.obj\", scale = 0.01, up = \"y\" }",
            "A triangle mesh from a file, open or closed, with its texture coordinates."),
        key!("spacing": Kind::Number(Range::POSITIVE, "m"), OPTIONAL, Physics, "0.01",
            "Length of the edges of the mesh of a rectangle, at most the spacing of particles. Default: 0.8 of that."),
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
    one_of: &["rectangle", "mesh"],
};

pub(super) static SHEET: Table = Table {
    title: "a mesh of cloth",
    about: "A triangle mesh from an OBJ, PLY or STL file, whose edges are at most as long as the spacing of particles. At most two \
            triangles may meet at an edge. Texture coordinates of OBJ and PLY files are kept; exports have them.",
    keys: &[
        FILE,
        SCALE,
        UP,
        HASH,
        key!("subdivide": Kind::Whole(0, 8), default("0"), Physics, "2",
            "Times that every triangle is cut into four."),
        key!("rotated": Kind::Table(&ROTATION), OPTIONAL, Physics, "{ axis = [0, 0, 1], degrees = 30 }",
            "Rotation about the origin."),
        key!("moved": Kind::Vector("m"), OPTIONAL, Physics, "[0.5, 0.5, 0.8]", "Translation."),
    ],
    one_of: &[],
};

pub(super) static RECTANGLE: Table = Table {
    title: "a rectangle",
    about: "A corner and the two sides from it. Texture coordinates go from 0 to 1 along both.",
    keys: &[
        key!("corner": Kind::Vector("m"), REQUIRED, Physics, "[0.2, 0.2, 0.5]", "One corner."),
        key!("first": Kind::Vector("m"), REQUIRED, Physics, "[0.6, 0, 0]", "First side from the corner."),
        key!("second": Kind::Vector("m"), REQUIRED, Physics, "[0, 0.6, 0]", "Second side from the corner."),
    ],
    one_of: &[],
};

pub(super) static PIN: Table = Table {
    title: "a pin",
    about: "Vertices of cloth or a soft body that are held: those near a point, or all in a box.",
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
            let pins = reader.pins(table, path, rate)?;
            Some(Cloth {
                name: name_of(table, path),
                shape: reader.cloth_shape(table, path)?,
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

    /// The mesh of cloth or a thin wall.
    pub(super) fn cloth_shape(&mut self, table: &Node, path: &str) -> Option<ClothShape> {
        if let Some(rectangle) = table.get("rectangle") {
            return Some(ClothShape::Rectangle {
                corner: vector(rectangle, "corner"),
                sides: [vector(rectangle, "first"), vector(rectangle, "second")],
                spacing: written_number(table, "spacing"),
            });
        }
        let mesh = self.sheet(table.get("mesh")?, path)?;
        Some(ClothShape::Mesh(Arc::new(mesh)))
    }

    /// The mesh of cloth from a file, where it is in the scene.
    fn sheet(&mut self, node: &Node, path: &str) -> Option<ClothMesh> {
        let path = join(path, "mesh");
        let mut mesh = self.cloth_mesh(node, &path)?;
        let turn = match node.get("rotated") {
            None => Rotation::IDENTITY,
            Some(turn) => self.rotation(turn, &join(&path, "rotated"), node)?,
        };
        mesh = mesh.placed(&Pose {
            rotation: turn,
            translation: node.get("moved").map_or([0.0; 3], components),
        });
        for _ in 0..whole(node, "subdivide") {
            if 4.0 * mesh.triangles.len() as f64 > 2.0 * MOST_VERTICES {
                let message = "has more than a million vertices after that";
                let problem = Problem::error(node.place, join(&path, "subdivide"), message);
                self.problems.push(problem.with_help("lower it"));
                return None;
            }
            mesh = mesh.subdivided();
        }
        Some(mesh)
    }

    /// What holds cloth or a soft body.
    pub(super) fn pins(&mut self, table: &Node, path: &str, rate: f64) -> Option<Vec<ClothPin>> {
        let tables = table.get("pins").map_or(&[][..], Node::list).iter();
        let pins = tables
            .enumerate()
            .map(|(k, pin)| self.pin(pin, &format!("{path}.pins[{}]", k + 1), rate));
        pins.collect()
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

/// Errors about the cloth, the soft bodies and the thin walls of a scene.
pub fn errors<const D: usize>(scene: &Scene<D>, root: &Node) -> Vec<Problem> {
    for (list, what) in [
        ("cloth", "cloth is"),
        ("soft", "soft bodies are"),
        ("shell", "thin walls are"),
    ] {
        let tables = root.get(list).map_or(&[][..], Node::list);
        let Some(table) = tables.first() else {
            continue;
        };
        let (by, help) = if !scene.is_projective() {
            (
                "method = \"projective\"",
                "write method = \"projective\" at the top of the file, or remove it",
            )
        } else if scene.projective.method != meniscus_projective::Method::Dual {
            ("the solver \"dual\"", "remove projective.solver")
        } else {
            continue;
        };
        let message = format!("{what} simulated by {by} only");
        let problem = Problem::error(table.place, format!("{list}[1]"), message);
        return vec![problem.with_help(help)];
    }
    let mut problems = Vec::new();
    let mut sound: Vec<(Sheet, &Node, String)> = Vec::new();
    let spacing = scene.particle_spacing();
    let tables = root.get("cloth").map_or(&[][..], Node::list);
    for (k, (cloth, table)) in scene.cloth.iter().zip(tables).enumerate() {
        let path = format!("cloth[{}]", k + 1);
        match shape_error(&cloth.shape, spacing, table, &path) {
            None => sound.push((cloth.sheet(spacing), table, path)),
            Some(problem) => problems.push(problem),
        }
    }
    let tables = root.get("soft").map_or(&[][..], Node::list);
    for (k, (soft, table)) in scene.soft.iter().zip(tables).enumerate() {
        let path = format!("soft[{}]", k + 1);
        match super::soft::errors(soft, spacing, table, &path) {
            Ok(sheet) => sound.push((sheet, table, path)),
            Err(problem) => problems.push(problem),
        }
    }
    let tables = root.get("shell").map_or(&[][..], Node::list);
    for (k, (shell, table)) in scene.shells.iter().zip(tables).enumerate() {
        let path = format!("shell[{}]", k + 1);
        match shape_error(&shell.shape, spacing, table, &path) {
            None => sound.push((shell.sheet(spacing), table, path)),
            Some(problem) => problems.push(problem),
        }
    }
    for (sheet, table, path) in &sound {
        let before = problems.len();
        for (p, pin) in sheet.pins.iter().enumerate() {
            if pin.vertices.is_empty() {
                let node = table.get("pins").and_then(|pins| pins.list().get(p));
                let place = node.map_or(table.place, |pin| pin.place);
                let message = "holds none of its vertices";
                let help = "move it to the mesh, or widen its box";
                let path = format!("{path}.pins[{}]", p + 1);
                problems.push(Problem::error(place, path, message).with_help(help));
            }
        }
        if problems.len() == before {
            problems.extend(inside(scene, sheet, table.place, path));
        }
    }
    if problems.is_empty() {
        problems.extend(crossings(&sound, spacing));
    }
    problems
}

/// What is wrong with the mesh of cloth or a thin wall.
fn shape_error(shape: &ClothShape, spacing: f64, table: &Node, path: &str) -> Option<Problem> {
    let wrong = |key: &str, message: String, help: String| {
        let place = table.get(key).map_or(table.place, |node| node.place);
        Some(Problem::error(place, join(path, key), message).with_help(help))
    };
    let (longest, key, help) = match shape {
        ClothShape::Rectangle { .. } => (
            shape.edge(spacing),
            "spacing",
            format!("write at most {}", length(spacing)),
        ),
        ClothShape::Mesh(mesh) => {
            if table.get("spacing").is_some() {
                let message = "has no meaning: the mesh has its own edges".to_owned();
                let help = "remove it; mesh.subdivide makes them shorter";
                return wrong("spacing", message, help.into());
            }
            let longest = mesh.longest_edge();
            let times = (longest / spacing).log2().ceil().max(1.0);
            let own = table.get("mesh").map_or(0, |mesh| whole(mesh, "subdivide"));
            let help = format!(
                "write mesh.subdivide = {}, or remesh it in a modelling program",
                own as f64 + times
            );
            (longest, "mesh", help)
        }
    };
    if longest > spacing * (1.0 + 1e-9) {
        let message = format!(
            "is {}, coarser than the particles ({}): liquid would leak",
            length(longest),
            length(spacing)
        );
        let message = match key {
            "mesh" => format!("its longest edge {message}"),
            _ => message,
        };
        return wrong(key, message, help);
    }
    if !shape.is_feasible(spacing) {
        let message = "has more than a million vertices".to_owned();
        return match shape {
            ClothShape::Rectangle { .. } => wrong(
                "spacing",
                message,
                "raise it, or make the rectangle smaller".into(),
            ),
            ClothShape::Mesh(_) => wrong("mesh", message, "simplify it".into()),
        };
    }
    let mesh = shape.mesh(spacing);
    if let Err(fault) = meniscus_projective::check_mesh(&mesh.vertices, &mesh.triangles) {
        return match shape {
            ClothShape::Rectangle { .. } => wrong(
                "rectangle",
                fault.to_string(),
                "write two sides that are not parallel, and longer than zero".into(),
            ),
            ClothShape::Mesh(_) => wrong(
                "mesh",
                fault.to_string(),
                "mend the mesh in a modelling program".into(),
            ),
        };
    }
    None
}

/// Meshes that have a name or a place in common at the start, or cross each other or themselves.
fn crossings(sheets: &[(Sheet, &Node, String)], spacing: f64) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (k, (sheet, table, path)) in sheets.iter().enumerate() {
        let mut wrong = |message: String, help: &str| {
            problems.push(Problem::error(table.place, path, message).with_help(help));
        };
        let before = &sheets[..k];
        if before.iter().any(|other| other.0.name == sheet.name) {
            let message = format!("another one has the same name, \"{}\"", sheet.name);
            wrong(message, "write another name");
        } else if let Some((other, ..)) = before
            .iter()
            .find(|other| touch(&sheet.vertices, &other.0.vertices, spacing))
        {
            let message = format!("shares a place with \"{}\" at the start", other.name);
            wrong(message, "move one of them");
        }
    }
    let meshes: Vec<&Sheet> = sheets.iter().map(|(sheet, ..)| sheet).collect();
    if problems.is_empty()
        && let Some(found) = meniscus_projective::crossing(&meshes)
    {
        let [a, b] = found.sheets;
        let other = match a == b {
            true => "itself".to_owned(),
            false => format!("\"{}\"", meshes[b].name),
        };
        let [x, y, z] = found.place;
        let message = format!("crosses {other} at the start, at [{x:.3}, {y:.3}, {z:.3}]");
        let problem = Problem::error(sheets[a].1.place, &sheets[a].2, message);
        problems.push(problem.with_help("move them apart"));
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
    sheet: &Sheet,
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
