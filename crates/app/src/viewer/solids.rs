//! Solids of a scene for the page: one mesh each, and its poses in the frames.

use super::dual_contouring::{Sampled, area, surface};
use super::wire::WireMesh;
use meniscus_render::preview::materials_of;
use meniscus_render::preview::sphere_tracing::appearance;
use meniscus_scene::{Color, Material, Scene};
use meniscus_shapes::{Bounds, ScriptedSolid, Shape};
use meniscus_store::cache::BodyState;
use serde::Serialize;
use std::array::from_fn;

/// Cells of the lattice along the longest side of a solid.
const CELLS: usize = 40;
/// The same for solids with thin parts.
const FINE_CELLS: usize = 72;
/// The same in 2D.
const PLANE_CELLS: usize = 320;

/// Solid as shown in the page.
#[derive(Clone, Debug)]
pub struct SolidView {
    /// Index of the solid in the scene.
    pub solid: usize,
    /// Description.
    pub about: SolidAbout,
    /// Triangles in body coordinates.
    pub mesh: WireMesh,
}

/// Description of a solid.
#[derive(Clone, Debug, Serialize)]
pub struct SolidAbout {
    /// Display name.
    pub name: String,
    /// Whether it is transparent.
    pub glass: bool,
    /// Colour, if the scene sets one: red, green and blue from 0 to 1.
    pub color: Option<[f32; 3]>,
}

/// Solids that are drawn, without the sides of the domain.
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
            let appearance = appearance(body, 0.0, domain)?;
            let mesh = triangulate(scene, body, appearance.hollow, appearance.bounds);
            Some(SolidView {
                solid,
                about: SolidAbout {
                    name: body.name.clone(),
                    // Containers are transparent, whatever their material.
                    glass: appearance.hollow || material == Material::Glass,
                    color: color.map(Color::parts),
                },
                mesh,
            })
        });
    views
        .filter(|view| !view.mesh.triangles.is_empty())
        .collect()
}

/// Poses of the visible solids in a frame, in their order: the rows of the rotation, then the translation. A 2D pose
/// leaves the third axis alone; a solid without a pose in the frame stays where its mesh is.
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
    // Unbounded solids are clipped to the domain at the start.
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

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_scene::{AnyScene, builtin};

    fn shown<const D: usize>(scene: &Scene<D>) -> (Vec<SolidView>, usize, usize) {
        let views = solids(scene);
        let posed = poses(scene, &views, &scene.body_states(0.5)).len();
        (views, scene.solids.len(), posed)
    }

    #[test]
    fn every_built_in_scene_has_meshes_of_its_solids() {
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
