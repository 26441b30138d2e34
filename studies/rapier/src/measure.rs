//! Position errors from the poses of the bodies alone, by parry's distances.

use rapier3d_f64::parry::query;
use rapier3d_f64::prelude::*;

use crate::Engine;
use crate::scene::{Placed, Scene, Solid};

/// Distances between the bodies of a scene.
pub struct Measure {
    shapes: Vec<SharedShape>,
    solids: Vec<Solid>,
    fixed: Vec<bool>,
}

impl Measure {
    /// For the bodies of a scene.
    pub fn new(scene: &Scene) -> Self {
        Self {
            shapes: (scene.bodies.iter())
                .map(|body| crate::peer::shape(body.solid))
                .collect(),
            solids: scene.bodies.iter().map(|body| body.solid).collect(),
            fixed: (scene.bodies.iter())
                .map(|body| body.density.is_none())
                .collect(),
        }
    }

    /// The largest amount by which two bodies are closer than at rest, in m; zero if none are. `exact_bowl` says whether
    /// the bowl is a part of a sphere or the mesh that stands for it.
    pub fn error(&self, engine: &dyn Engine, exact_bowl: bool) -> f64 {
        let placed = engine.placed();
        let poses: Vec<Pose> = placed.iter().map(pose).collect();
        let boxes: Vec<_> = (self.shapes.iter().zip(&poses))
            .map(|(shape, pose)| shape.compute_aabb(pose).loosened(0.01))
            .collect();
        let mut order: Vec<usize> = (0..poses.len()).collect();
        order.sort_by(|&a, &b| boxes[a].mins.x.total_cmp(&boxes[b].mins.x));
        let mut worst = 0.0_f64;
        for (k, &a) in order.iter().enumerate() {
            for &b in &order[k + 1..] {
                if boxes[b].mins.x > boxes[a].maxs.x {
                    break;
                }
                if (self.fixed[a] && self.fixed[b]) || !boxes[a].intersects(&boxes[b]) {
                    continue;
                }
                if let Some(distance) = self.distance((a, b), &poses, exact_bowl) {
                    worst = worst.max(engine.rest_distance(a, b) - distance);
                }
            }
        }
        worst
    }

    /// Distance of two bodies that are near, negative if they overlap.
    fn distance(&self, (a, b): (usize, usize), poses: &[Pose], exact_bowl: bool) -> Option<f64> {
        match (self.solids[a], self.solids[b]) {
            (Solid::Bowl(_), Solid::Bowl(_)) => None,
            (Solid::Bowl(_), Solid::Ball(_)) => self.distance((b, a), poses, exact_bowl),
            (Solid::Ball(radius), Solid::Bowl(inner)) => {
                let center = poses[a].translation - poses[b].translation;
                if exact_bowl {
                    // Beside the rim the nearest point is on it.
                    return (center.z < 0.0).then(|| inner - center.length() - radius);
                }
                let nearest = self.shapes[b].project_point(&poses[b], poses[a].translation, false);
                Some((nearest.point - poses[a].translation).length() - radius)
            }
            _ => query::contact(
                &poses[a],
                &*self.shapes[a],
                &poses[b],
                &*self.shapes[b],
                0.01,
            )
            .expect("parry knows these shapes")
            .map(|contact| contact.dist),
        }
    }
}

fn pose(placed: &Placed) -> Pose {
    let column = |j: usize| Vector::from(placed.rotation.map(|row| row[j]));
    let matrix = rapier3d_f64::math::Matrix::from_cols(column(0), column(1), column(2));
    Pose::from_parts(Vector::from(placed.at), Rotation::from_mat3(&matrix))
}
