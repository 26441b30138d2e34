//! Solids of a scene for the page: one mesh each, and its poses in the frames.

use crate::surface::solids::{Mesh, mesh_of};
use meniscus_render::preview::materials_of;
use meniscus_render::preview::sphere_tracing::appearance;
use meniscus_scene::{Color, Material, Scene};
use meniscus_store::cache::BodyState;
use serde::Serialize;
use std::array::from_fn;

/// Solid as shown in the page.
#[derive(Clone, Debug)]
pub struct SolidView {
    /// Index of the solid in the scene.
    pub solid: usize,
    /// Description.
    pub about: SolidAbout,
    /// Triangles in body coordinates.
    pub mesh: Mesh,
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
    let bodies = scene.all_solids();
    let solids = bodies
        .iter()
        .zip(materials_of(scene))
        .zip(scene.all_colors());
    // Bodies are often many of one shape.
    let mut last: Option<(usize, Mesh)> = None;
    let views = solids
        .enumerate()
        .filter_map(|(solid, ((body, material), color))| {
            let appearance = appearance(body, 0.0, domain)?;
            let known = last.take().filter(|(other, _)| {
                *other >= scene.solids.len() && bodies[*other].shape == body.shape
            });
            let mesh = match known {
                Some((_, mesh)) => mesh,
                None => mesh_of(scene, solid, body, &appearance),
            };
            last = Some((solid, mesh.clone()));
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
    // A rigid body that is gone has no size.
    let is_gone =
        |view: &SolidView| view.solid >= scene.solids.len() && matched[view.solid].is_none();
    let number = |body: Option<&BodyState<D>>, i: usize| match (i / 3, i % 3, body) {
        (3, axis, Some(body)) if axis < D => body.translation[axis] as f32,
        (row, column, Some(body)) if row < D && column < D => body.rotation[row][column] as f32,
        (row, column, _) => f32::from(u8::from(row == column)),
    };
    let of_view = |view: &SolidView| match is_gone(view) {
        true => [0.0; 12],
        false => from_fn(|i| number(matched[view.solid], i)),
    };
    views.iter().map(of_view).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_scene::{AnyScene, builtin};
    use meniscus_shapes::ScriptedSolid;

    fn shown<const D: usize>(scene: &Scene<D>) -> (Vec<SolidView>, usize, usize) {
        let views = solids(scene);
        let state = |body: &ScriptedSolid<D>| {
            let pose = body.motion.world_from_body(0.5);
            BodyState::at_rest(&body.name, *pose.rotation.matrix(), pose.translation)
        };
        let all = scene.all_solids();
        let states: Vec<_> = all.iter().map(state).collect();
        let posed = poses(scene, &views, &states).len();
        (views, all.len(), posed)
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
