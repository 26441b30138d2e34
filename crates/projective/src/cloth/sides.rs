//! Particles on the two sides of cloth: they do not feel each other through it.

use rayon::prelude::*;

use crate::cells::{CHUNK, ListChunk};
use crate::real::{Real, Vec4};

use super::Cloth;
use super::grid::{Extent, Grid};
use super::vector::{V3, cross, dot, sub};

/// A triangle with its normal, of any length.
struct Face {
    corners: [V3; 3],
    normal: V3,
}

impl Face {
    fn height(&self, x: V3) -> f64 {
        dot(self.normal, sub(x, self.corners[0]))
    }

    /// Whether the segment between two points on different sides goes through the triangle.
    fn is_between(&self, x: V3, y: V3) -> bool {
        let way = sub(y, x);
        let [a, b, c] = self.corners.map(|corner| sub(corner, x));
        // Volumes spanned with the sides: all of one sign inside.
        let volumes = [
            dot(way, cross(a, b)),
            dot(way, cross(b, c)),
            dot(way, cross(c, a)),
        ];
        volumes.iter().all(|v| *v >= 0.0) || volumes.iter().all(|v| *v <= 0.0)
    }
}

/// Replaces neighbours on the other side of cloth by the padding, whose number is that of the particles. `reach` is the
/// largest distance of neighbours at the start of the step, when all are on their own sides.
pub fn part<R: Real>(cloth: &Cloth, particles: &[Vec4<R>], reach: f64, lists: &mut [ListChunk<R>]) {
    let faces: Vec<Face> = cloth
        .triangles
        .iter()
        .map(|triangle| {
            let corners @ [a, b, c] = triangle.map(|v| cloth.position[v as usize]);
            let normal = cross(sub(b, a), sub(c, a));
            Face { corners, normal }
        })
        .collect();
    let boxes = faces.iter().map(|face| Extent::around(&face.corners));
    let grid = Grid::new(boxes.collect(), reach);
    let padding = particles.len() as u32;
    lists.par_iter_mut().enumerate().for_each(|(chunk, list)| {
        let mut near = Vec::new();
        let mut heights = Vec::new();
        for k in 0..list.start.len() - 1 {
            let own = chunk * CHUNK + k;
            let x: V3 = particles[own].point();
            grid.overlapping(&Extent::around(&[x]).grown(reach), &mut near);
            if near.is_empty() {
                continue;
            }
            heights.clear();
            heights.extend(near.iter().map(|&f| faces[f as usize].height(x)));
            let range = list.range(k);
            for other in &mut list.neighbour[range] {
                if *other == padding {
                    continue;
                }
                let y: V3 = particles[*other as usize].point();
                // Both particles of a pair have to come to the same answer, bit for bit.
                let (first, last) = if own < *other as usize {
                    (x, y)
                } else {
                    (y, x)
                };
                let is_parted = near.iter().zip(&heights).any(|(&f, height)| {
                    let face = &faces[f as usize];
                    height * face.height(y) < 0.0 && face.is_between(first, last)
                });
                if is_parted {
                    *other = padding;
                }
            }
        }
    });
}
