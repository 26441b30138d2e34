//! The solids of a scene as the page shows them: a mesh each, made once, and where it is at every frame.

use super::dual_contouring::{Sampled, area, surface};
use super::wire::WireMesh;
use meniscus_render::preview::materials_of;
use meniscus_render::preview::solids::look;
use meniscus_scene::{Color, Material, Scene};
use meniscus_shapes::{Body, Bounds, Pose, Shape};
use serde::Serialize;
use std::array::from_fn;

/// Cells of the lattice along the longest side of a solid.
const CELLS: usize = 40;
/// The same if parts of it may be thin.
const FINE_CELLS: usize = 72;
/// The same in the plane.
const PLANE_CELLS: usize = 320;

/// A solid as the page shows it.
#[derive(Clone, Debug)]
pub struct SolidView {
    /// What the page is told beside the mesh.
    pub about: SolidAbout,
    /// Its triangles, in the frame of the body.
    pub mesh: WireMesh,
}

/// What the page is told of a solid beside its mesh.
#[derive(Clone, Debug, Serialize)]
pub struct SolidAbout {
    /// For people.
    pub name: String,
    /// Whether it is seen through.
    pub glass: bool,
    /// Its colour if the scene gives one: red, green and blue from 0 to 1.
    pub color: Option<[f32; 3]>,
    /// Where the body is at every frame from 0 on, if it moves: the rows of the rotation, then the translation.
    pub poses: Option<Vec<[f32; 12]>>,
}

/// All solids that are drawn; the sides of the domain are not among them.
pub fn solids<const D: usize>(scene: &Scene<D>) -> Vec<SolidView> {
    let domain: [f32; 3] = from_fn(|axis| match axis {
        axis if axis < D => scene.domain[axis] as f32,
        _ => 0.0,
    });
    let colors = scene.colors.iter().copied().chain(std::iter::repeat(None));
    let solids = scene.solids.iter().zip(materials_of(scene)).zip(colors);
    let views = solids.filter_map(|((body, material), color)| {
        let look = look(body, 0.0, domain)?;
        let mesh = triangulate(scene, body, look.hollow, look.bounds);
        let view = SolidView {
            about: SolidAbout {
                name: body.name.clone(),
                // One looks into a container, whatever it is made of.
                glass: look.hollow || material == Material::Glass,
                color: color.map(Color::parts),
                poses: body.moves().then(|| poses(scene, body)),
            },
            mesh,
        };
        // A body that never moves may still have been put somewhere.
        Some(placed(view, body))
    });
    views
        .filter(|view| !view.mesh.triangles.is_empty())
        .collect()
}

fn placed<const D: usize>(mut view: SolidView, body: &Body<D>) -> SolidView {
    if view.about.poses.is_none() {
        let pose = body.motion.world_from_body(0.0);
        if pose != Pose::IDENTITY {
            view.about.poses = Some(vec![numbers(&pose)]);
        }
    }
    view
}

fn poses<const D: usize>(scene: &Scene<D>, body: &Body<D>) -> Vec<[f32; 12]> {
    (0..=scene.frames)
        .map(|frame| numbers(&body.motion.world_from_body(scene.time_of_frame(frame))))
        .collect()
}

/// A pose in space; one in the plane leaves the third axis alone.
fn numbers<const D: usize>(pose: &Pose<D>) -> [f32; 12] {
    let matrix = pose.rotation.matrix();
    from_fn(|i| match (i / 3, i % 3) {
        (3, axis) if axis < D => pose.translation[axis] as f32,
        (row, column) if row < D && column < D => matrix[row][column] as f32,
        (row, column) => f32::from(u8::from(row == column)),
    })
}

fn triangulate<const D: usize>(
    scene: &Scene<D>,
    body: &Body<D>,
    hollow: bool,
    own: Option<Bounds<D>>,
) -> WireMesh {
    let room = Bounds {
        low: [0.0; D],
        high: scene.domain,
    };
    let pose = body.motion.world_from_body(0.0);
    // What has no end is shown as far as the domain reaches at the start.
    let visible = room.placed(&pose.inverse());
    let own = own.filter(|bounds| bounds.is_finite() && !bounds.is_empty());
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
    let cells = match D {
        2 => PLANE_CELLS,
        _ if may_be_thin(&body.shape) => FINE_CELLS,
        _ => CELLS,
    };
    let spacing = longest / cells as f64;
    // In the plane the area may end at the sides; in space the surface must not touch them.
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
            low: from_fn(|axis| bounds.low[axis]),
            spacing,
            cells: from_fn(|axis| counts[axis]),
            distance: &|x: [f64; 2]| distance(from_fn(|axis| x[axis])),
            normal: &|x: [f64; 2]| {
                let n = normal(from_fn(|axis| x[axis]));
                from_fn(|axis| n[axis])
            },
        })
    } else {
        surface(&Sampled {
            low: from_fn(|axis| bounds.low[axis]),
            spacing,
            cells: from_fn(|axis| counts[axis]),
            distance: &|x: [f64; 3]| distance(from_fn(|axis| x[axis])),
            normal: &|x: [f64; 3]| {
                let n = normal(from_fn(|axis| x[axis]));
                from_fn(|axis| n[axis])
            },
        })
    }
}

/// Whether a shape has parts that are thinner than it is large.
fn may_be_thin<const D: usize>(shape: &Shape<D>) -> bool {
    match shape {
        Shape::Shell { .. } | Shape::Difference(..) | Shape::Mesh(_) | Shape::Union(_) => true,
        Shape::Intersection(parts) => parts.len() > 1,
        Shape::Inverted(inner) => may_be_thin(inner),
        Shape::Rounded { shape, .. } | Shape::Placed { shape, .. } => may_be_thin(shape),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_scene::{AnyScene, builtin};

    #[test]
    fn every_built_in_scene_shows_its_solids() {
        for (name, _) in builtin::TEXTS {
            let (views, bodies, frames) = match builtin::named(name).unwrap() {
                AnyScene::Two(scene) => (solids(&scene), scene.solids.len(), scene.frames),
                AnyScene::Three(scene) => (solids(&scene), scene.solids.len(), scene.frames),
            };
            assert_eq!(views.len(), bodies, "{name}");
            for view in views {
                let bytes = view.mesh.encode().len();
                assert!(
                    bytes < 4 << 20,
                    "{name}: {} takes {bytes} bytes",
                    view.about.name
                );
                assert_eq!(view.mesh.normals.len(), view.mesh.positions.len());
                let poses = view.about.poses.as_ref().map_or(1, Vec::len);
                assert!(poses == 1 || poses == frames as usize + 1, "{name}");
            }
        }
    }
}
