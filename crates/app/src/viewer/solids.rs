//! Solids of a scene as the page shows them: one mesh each, and its poses in frames.

use super::dual_contouring::{Sampled, area, surface};
use super::wire::WireMesh;
use meniscus_render::preview::materials_of;
use meniscus_render::preview::solids::look;
use meniscus_scene::{Color, Material, Scene};
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
use meniscus_store::cache::BodyState;
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
    /// Index of the solid in the scene.
    pub solid: usize,
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
}

/// All solids that are drawn; the sides of the domain are not among them.
pub fn solids<const D: usize>(scene: &Scene<D>) -> Vec<SolidView> {
    let domain: [f32; 3] = from_fn(|axis| match axis {
        axis if axis < D => scene.domain[axis] as f32,
        _ => 0.0,
    });
    let colors = scene.colors.iter().copied().chain(std::iter::repeat(None));
    let solids = scene.solids.iter().zip(materials_of(scene)).zip(colors);
    let views = solids
        .enumerate()
        .filter_map(|(solid, ((body, material), color))| {
            let look = look(body, 0.0, domain)?;
            let mesh = triangulate(scene, body, look.hollow, look.bounds);
            Some(SolidView {
                solid,
                about: SolidAbout {
                    name: body.name.clone(),
                    // One looks into a container, whatever it is made of.
                    glass: look.hollow || material == Material::Glass,
                    color: color.map(Color::parts),
                },
                mesh,
            })
        });
    views
        .filter(|view| !view.mesh.triangles.is_empty())
        .collect()
}

/// Poses of the solids of a frame that are shown, in their order: the rows of the rotation, then the translation. A pose in
/// the plane leaves the third axis alone; a solid that the frame does not have stays where its mesh is.
pub fn poses<const D: usize>(
    scene: &Scene<D>,
    views: &[SolidView],
    bodies: &[BodyState<D>],
) -> Vec<[f32; 12]> {
    let matched = scene.match_bodies(bodies);
    let number = |body: Option<&BodyState<D>>, i: usize| match (i / 3, i % 3, body) {
        (3, axis, Some(body)) if axis < D => body.translation[axis] as f32,
        (row, column, Some(body)) if row < D && column < D => body.rotation[row][column] as f32,
        (row, column, _) => f32::from(u8::from(row == column)),
    };
    let of_view = |view: &SolidView| from_fn(|i| number(matched[view.solid], i));
    views.iter().map(of_view).collect()
}

fn triangulate<const D: usize>(
    scene: &Scene<D>,
    body: &ScriptedSolid<D>,
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

    fn shown<const D: usize>(scene: &Scene<D>) -> (Vec<SolidView>, usize, usize) {
        let views = solids(scene);
        let state = |body: &ScriptedSolid<D>| {
            let pose = body.motion.world_from_body(0.5);
            BodyState::at_rest(&body.name, *pose.rotation.matrix(), pose.translation)
        };
        let states: Vec<_> = scene.solids.iter().map(state).collect();
        let posed = poses(scene, &views, &states).len();
        (views, scene.solids.len(), posed)
    }

    #[test]
    fn every_built_in_scene_shows_its_solids() {
        for (name, _) in builtin::TEXTS {
            let (views, bodies, posed) = match builtin::named(name).unwrap() {
                AnyScene::Two(scene) => shown(&scene),
                AnyScene::Three(scene) => shown(&scene),
            };
            assert_eq!(posed, bodies, "{name}");
            assert_eq!(views.len(), bodies, "{name}");
            for view in views {
                let bytes = view.mesh.encode().len();
                assert!(
                    bytes < 4 << 20,
                    "{name}: {} takes {bytes} bytes",
                    view.about.name
                );
                assert_eq!(view.mesh.normals.len(), view.mesh.positions.len());
            }
        }
    }
}
