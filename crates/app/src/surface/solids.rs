//! Triangle meshes of solids in body coordinates, and their poses.

use super::dual_contouring::{Sampled, area, surface};
use super::upright;
use meniscus_render::preview::sphere_tracing::{Appearance, appearance};
use meniscus_scene::Scene;
use meniscus_shapes::{Bounds, Polytope, ScriptedSolid, Shape};
use meniscus_store::cache::BodyState;
use std::array::from_fn;

/// Cells of the lattice along the longest side of a solid.
const CELLS: usize = 40;
/// The same for solids with thin parts.
const FINE_CELLS: usize = 72;
/// The same in 2D.
const PLANE_CELLS: usize = 320;
/// Rigid bodies with meshes as fine as those of solids.
const FEW_BODIES: usize = 20;
/// Cells along a body, however many there are.
const LEAST_CELLS: usize = 12;

/// Triangle mesh of a solid, or of the liquid, for the viewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices; in 2D the third coordinate is zero.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals out of the solid or the liquid, one per position.
    pub normals: Vec<[f32; 3]>,
    /// Vertex indices, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Mesh of a solid.
#[derive(Clone, Debug)]
pub struct SolidMesh {
    /// Unique name that other programs accept: letters, digits and underscores.
    pub name: String,
    /// Index among [`Scene::all_solids`].
    pub solid: usize,
    /// Vertices in body coordinates.
    pub positions: Vec<[f32; 3]>,
    /// Vertex indices.
    pub triangles: Vec<[u32; 3]>,
}

/// Rotation, as rows of a matrix, and translation of a body in 3D, upright.
pub fn pose<const D: usize>(body: &BodyState<D>) -> ([[f64; 3]; 3], [f64; 3]) {
    let axis = |a: usize| if a + 1 == D { 2 } else { a };
    let mut rotation = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for i in 0..D {
        for j in 0..D {
            rotation[axis(i)][axis(j)] = body.rotation[i][j];
        }
    }
    (rotation, upright(body.translation))
}

/// Meshes of the solids and bodies of a scene, without the walls of its domain. A container is represented by its inner surface;
/// unbounded solids are clipped to the domain.
pub fn of_scene<const D: usize>(scene: &Scene<D>) -> Vec<SolidMesh> {
    let domain = from_fn(|a| scene.domain.get(a).map_or(0.0, |&side| side as f32));
    let of_body = |(solid, body): (usize, &ScriptedSolid<D>)| {
        let (positions, triangles) = match &body.shape {
            Shape::Mesh(mesh) => {
                let vertices = mesh.vertices().iter().map(|x| x.map(|c| c as f32));
                (vertices.collect(), mesh.triangles().into())
            }
            _ => {
                let mut mesh = mesh_of(scene, solid, body, &appearance(body, 0.0, domain)?);
                if D == 2 {
                    mesh.positions.iter_mut().for_each(|x| x.swap(1, 2));
                }
                (mesh.positions, mesh.triangles)
            }
        };
        let name = plain(&body.name);
        Some(SolidMesh {
            name,
            solid,
            positions,
            triangles,
        })
    };
    let bodies = scene.all_solids();
    let meshes = bodies.iter().enumerate().filter_map(of_body);
    let mut meshes: Vec<SolidMesh> = meshes.filter(|mesh| !mesh.triangles.is_empty()).collect();
    for k in 0..meshes.len() {
        let same = meshes[..k]
            .iter()
            .filter(|m| m.name == meshes[k].name)
            .count();
        if same > 0 {
            meshes[k].name = format!("{}_{}", meshes[k].name, k + 1);
        }
    }
    meshes
}

/// Mesh of one of [`Scene::all_solids`]. Rigid bodies may be many: those with flat faces have the mesh of their faces, and
/// others a coarser one.
pub fn mesh_of<const D: usize>(
    scene: &Scene<D>,
    index: usize,
    body: &ScriptedSolid<D>,
    appearance: &Appearance<D>,
) -> Mesh {
    let is_body = index >= scene.solids.len();
    if D == 3
        && is_body
        && let Some(polytope) = body.shape.polytope()
    {
        return of_polytope(&polytope);
    }
    let cells = match D {
        2 => PLANE_CELLS,
        _ if may_be_thin(&body.shape) => FINE_CELLS,
        _ => CELLS,
    };
    let share = match is_body && scene.bodies.len() > FEW_BODIES {
        true => (FEW_BODIES as f64 / scene.bodies.len() as f64).sqrt(),
        false => 1.0,
    };
    triangulate(
        scene,
        body,
        appearance,
        ((cells as f64 * share) as usize).max(LEAST_CELLS),
    )
}

/// Mesh of a polytope, with a normal per face.
fn of_polytope<const D: usize>(polytope: &Polytope<D>) -> Mesh {
    let mut mesh = Mesh::default();
    for face in &polytope.faces {
        let first = mesh.positions.len() as u32;
        let normal = from_fn(|a| face.normal[a] as f32);
        for &vertex in face.vertices.iter() {
            let x = polytope.vertices[vertex as usize];
            mesh.positions.push(from_fn(|a| x[a] as f32));
            mesh.normals.push(normal);
        }
        let fan = (2..face.vertices.len() as u32).map(|k| [first, first + k - 1, first + k]);
        for [a, b, c] in fan {
            let [p, q, r] = [a, b, c].map(|k| mesh.positions[k as usize]);
            let (u, v): ([f32; 3], [f32; 3]) = (from_fn(|i| q[i] - p[i]), from_fn(|i| r[i] - p[i]));
            let across: [f32; 3] =
                from_fn(|i| u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3]);
            let outward = (0..3).map(|i| across[i] * normal[i]).sum::<f32>() > 0.0;
            mesh.triangles
                .push(if outward { [a, b, c] } else { [a, c, b] });
        }
    }
    mesh
}

/// Mesh of a solid, in body coordinates, with so many cells along its longest side. In 2D, containers are filled outside of their cavity.
pub fn triangulate<const D: usize>(
    scene: &Scene<D>,
    body: &ScriptedSolid<D>,
    appearance: &Appearance<D>,
    cells: usize,
) -> Mesh {
    let hollow = appearance.hollow;
    let room = Bounds {
        low: [0.0; D],
        high: scene.domain,
    };
    let pose = body.motion.world_from_body(0.0);
    // Unbounded solids are clipped to the domain at the start.
    let visible = room.placed(&pose.inverse());
    let own = appearance
        .bounds
        .filter(|bounds| bounds.is_finite() && !bounds.is_empty());
    let filled_around = D == 2 && hollow;
    let bounds = match own {
        Some(own) if filled_around && body.moves() => own.expanded(room.farthest([0.0; D])),
        Some(own) if !filled_around => own,
        _ => visible,
    };
    let cut = own.is_none() && !hollow && D == 3;
    let longest = (0..D)
        .map(|axis| bounds.high[axis] - bounds.low[axis])
        .fold(0.0, f64::max);
    let spacing = longest / cells as f64;
    // In 2D the area may end at the sides; in 3D the surface must not touch them.
    let bounds = if D == 2 {
        bounds
    } else {
        bounds.expanded(1.5 * spacing)
    };
    let counts: [usize; D] = from_fn(|axis| {
        ((bounds.high[axis] - bounds.low[axis]) / spacing)
            .ceil()
            .max(1.0) as usize
    });
    let inside = Shape::Box {
        low: visible.low,
        high: visible.high,
    };
    let distance = |x: [f64; D]| {
        let to_body = body.shape.distance_within(x, 3.0 * spacing);
        if cut {
            to_body.max(inside.distance(x))
        } else {
            to_body
        }
    };
    let normal = |x: [f64; D]| {
        let outside = cut && inside.distance(x) > body.shape.distance(x);
        if outside {
            inside.gradient(x)
        } else {
            body.shape.gradient(x)
        }
    };
    if D == 2 {
        area(&Sampled {
            low: resized(bounds.low),
            spacing,
            cells: from_fn(|axis| counts[axis]),
            distance: &|x: [f64; 2]| distance(resized(x)),
            normal: &|x: [f64; 2]| resized(normal(resized(x))),
        })
    } else {
        surface(&Sampled {
            low: resized(bounds.low),
            spacing,
            cells: from_fn(|axis| counts[axis]),
            distance: &|x: [f64; 3]| distance(resized(x)),
            normal: &|x: [f64; 3]| resized(normal(resized(x))),
        })
    }
}

/// Vector of `A` components as one of `B`, which is the same number where it is called.
fn resized<const A: usize, const B: usize>(x: [f64; A]) -> [f64; B] {
    from_fn(|axis| x[axis])
}

/// Whether a shape has thin parts.
fn may_be_thin<const D: usize>(shape: &Shape<D>) -> bool {
    match shape {
        Shape::Shell { .. } | Shape::Difference(..) | Shape::Mesh(_) | Shape::Union(_) => true,
        Shape::Intersection(parts) => parts.len() > 1,
        Shape::Inverted(inner) => may_be_thin(inner),
        Shape::Rounded { shape, .. } | Shape::Placed { shape, .. } => may_be_thin(shape),
        _ => false,
    }
}

/// Removes characters that other programs reject.
fn plain(name: &str) -> String {
    let known = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut plain: String = name.chars().map(known).take(60).collect();
    if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        plain.insert(0, '_');
    }
    plain
}
