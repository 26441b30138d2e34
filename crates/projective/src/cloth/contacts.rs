//! Contacts of cloth with itself and with particles: those that are close at the start of a step, and those that swept
//! tests find on the way.

use rayon::prelude::*;

use crate::real::{Real, Vec4};

use super::Cloth;
use super::grid::{Extent, Grid};
use super::swept::{closest_on_edges, closest_on_triangle, edges_cross, point_crosses_triangle};
use super::vector::{V3, cross, dot, length, plus, scaled, sub, unit};

/// Distance of particles from cloth that contacts keep, in spacings. The density keeps them farther away in most cases.
pub const PARTICLE_DISTANCE: f64 = 0.1;
/// Sine of the angle of two edges below which they count as parallel.
const PARALLEL: f64 = 1e-2;

/// Two parts that touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// The particle that touches a triangle, if one does.
    pub particle: Option<u32>,
    /// Vertices: the corners of a triangle after the vertex that touches it, if no particle does; or the ends of two edges.
    vertices: [u32; 4],
    /// Shares of the vertices in the distance: `Σ weight x`, besides the particle.
    weights: [f64; 4],
    is_edges: bool,
    /// Direction from the second part to the first at the start.
    normal: V3,
    /// Side of the triangle, or of the common normal of the edges.
    side: f64,
    /// Distance to keep, in metres.
    pub distance: f64,
}

impl Touch {
    pub fn vertex_count(&self) -> usize {
        if self.particle.is_some() { 3 } else { 4 }
    }

    /// What touches what, whatever the place.
    pub fn key(&self) -> (Option<u32>, bool, [u32; 4]) {
        (self.particle, self.is_edges, self.vertices)
    }

    /// Vertices.
    pub fn touching(&self) -> &[u32] {
        &self.vertices[..self.vertex_count()]
    }

    fn corners(&self, x: &[V3]) -> [V3; 3] {
        let from = usize::from(self.particle.is_none());
        std::array::from_fn(|k| x[self.vertices[from + k] as usize])
    }

    /// Normal and signed distance.
    pub fn gap<R: Real>(&self, x: &[V3], particles: &[Vec4<R>]) -> (V3, f64) {
        let normal = if self.is_edges {
            let [a, b, c, d] = self.vertices.map(|v| x[v as usize]);
            let (u, v) = (sub(b, a), sub(d, c));
            let across = cross(u, v);
            if length(across) < PARALLEL * length(u) * length(v) {
                self.normal
            } else {
                scaled(unit(across), self.side)
            }
        } else {
            let [a, b, c] = self.corners(x);
            scaled(unit(cross(sub(b, a), sub(c, a))), self.side)
        };
        (normal, dot(normal, self.apart(x, particles)))
    }

    /// Vector from the second part to the first.
    fn apart<R: Real>(&self, x: &[V3], particles: &[Vec4<R>]) -> V3 {
        let mut apart = [0.0; 3];
        for (v, w) in self.touching().iter().zip(self.weights) {
            apart = plus(apart, w, x[*v as usize]);
        }
        if let Some(particle) = self.particle {
            apart = plus(apart, 1.0, particles[particle as usize].point());
        }
        apart
    }

    /// Gradients of minus the distance, for a normal of any length: by the vertices, and by the particle.
    pub fn gradients(&self, normal: V3) -> ([(u32, V3); 4], V3) {
        let vertices =
            std::array::from_fn(|k| (self.vertices[k], scaled(normal, -self.weights[k])));
        (vertices, scaled(normal, -1.0))
    }

    fn of_triangle(
        particle: Option<u32>,
        vertex: u32,
        corners: [u32; 3],
        weights: [f64; 3],
        place: V3,
        x: &[V3],
        distance: f64,
    ) -> Option<Self> {
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let normal = unit(cross(sub(b, a), sub(c, a)));
        let height = dot(normal, sub(place, a));
        if height == 0.0 {
            return None;
        }
        let [i, j, k] = corners;
        let [u, v, w] = weights;
        let (vertices, weights) = match particle {
            Some(_) => ([i, j, k, i], [-u, -v, -w, 0.0]),
            None => ([vertex, i, j, k], [1.0, -u, -v, -w]),
        };
        Some(Self {
            particle,
            vertices,
            weights,
            is_edges: false,
            normal: scaled(normal, height.signum()),
            side: height.signum(),
            distance: distance.min(height.abs()),
        })
    }

    fn of_edges(vertices: [u32; 4], (s, t): (f64, f64), x: &[V3], distance: f64) -> Option<Self> {
        let ends @ [a, b, c, d] = vertices.map(|v| x[v as usize]);
        let (s0, t0) = closest_on_edges(ends);
        let apart = sub(plus(a, s0, sub(b, a)), plus(c, t0, sub(d, c)));
        let normal = unit(apart);
        if normal == [0.0; 3] {
            return None;
        }
        let side = dot(cross(sub(b, a), sub(d, c)), normal);
        Some(Self {
            particle: None,
            vertices,
            weights: [1.0 - s, s, t - 1.0, -t],
            is_edges: true,
            normal,
            side: if side < 0.0 { -1.0 } else { 1.0 },
            distance: distance.min(length(apart)),
        })
    }
}

/// Parts of the cloth and particles on their way through a step.
pub struct Paths<'a, R> {
    pub cloth: &'a Cloth,
    /// Vertices at the start and the end.
    pub from: &'a [V3],
    pub to: &'a [V3],
    /// Particles at the start and the end.
    pub particles_from: &'a [Vec4<R>],
    pub particles_to: &'a [Vec4<R>],
    /// Distance between particles.
    pub spacing: f64,
}

impl<R: Real> Paths<'_, R> {
    fn boxes<const N: usize>(&self, parts: &[[u32; N]], margin: f64) -> Vec<Extent> {
        parts
            .par_iter()
            .map(|part| {
                let mut extent = Extent::around(&[]);
                for &v in part {
                    let ends = [self.from[v as usize], self.to[v as usize]];
                    let own = Extent::around(&ends);
                    for axis in 0..3 {
                        extent.low[axis] = extent.low[axis].min(own.low[axis]);
                        extent.high[axis] = extent.high[axis].max(own.high[axis]);
                    }
                }
                extent.grown(margin)
            })
            .collect()
    }

    fn edges(&self) -> Vec<[u32; 2]> {
        self.cloth.edges.iter().map(|edge| edge.ends).collect()
    }

    /// Contacts between what crosses on the way.
    pub fn crossings(&self) -> Vec<Touch> {
        self.find(
            0.0,
            &|points_from, points_to| point_crosses_triangle(points_from, points_to),
            &|from, to| edges_cross(from, to),
        )
    }

    /// Contacts between what is closer than its distance at the start.
    pub fn close(&self) -> Vec<Touch> {
        let thickest = self.cloth.thickness.iter().copied().fold(0.0, f64::max);
        let reach = thickest.max(PARTICLE_DISTANCE * self.spacing);
        let found = self.find(
            reach,
            &|[x, a, b, c], _| Some(closest_on_triangle(x, [a, b, c])),
            &|from, _| Some(closest_on_edges(from)),
        );
        let is_close = |touch: &Touch| {
            let apart = length(touch.apart(self.from, self.particles_from));
            let wanted = match touch.particle {
                Some(_) => PARTICLE_DISTANCE * self.spacing,
                None => self.cloth.thickness[touch.vertices[0] as usize],
            };
            // Beside a triangle, or past the end of an edge, another contact is the closest one.
            let has_weights = match touch.is_edges {
                true => touch
                    .weights
                    .iter()
                    .all(|w| w.abs() > 1e-9 && w.abs() < 1.0),
                false => true,
            };
            has_weights && apart <= wanted
        };
        found.into_iter().filter(is_close).collect()
    }

    fn find(
        &self,
        margin: f64,
        point: &(dyn Fn([V3; 4], [V3; 4]) -> Option<[f64; 3]> + Sync),
        edge: &(dyn Fn([V3; 4], [V3; 4]) -> Option<(f64, f64)> + Sync),
    ) -> Vec<Touch> {
        let cloth = self.cloth;
        let margin = margin + 1e-9;
        let width = 1.5 * cloth.mean_edge + margin;
        let triangles = Grid::new(self.boxes(&cloth.triangles, margin), width);
        let ends = self.edges();
        let edges = Grid::new(self.boxes(&ends, margin), width);
        let ways = |vertices: &[u32], way: &[V3]| -> [V3; 4] {
            std::array::from_fn(|k| way[vertices[k] as usize])
        };
        let mut touches: Vec<Touch> = (0..cloth.rest.len() as u32)
            .into_par_iter()
            .filter(|&v| cloth.is_surface[v as usize])
            .flat_map_iter(|v| {
                let at = v as usize;
                let extent = Extent::around(&[self.from[at], self.to[at]]);
                let mut near = Vec::new();
                triangles.overlapping(&extent, &mut near);
                let hits = near.into_iter().filter_map(move |k| {
                    let corners = cloth.triangles[k as usize];
                    if corners.contains(&v) {
                        return None;
                    }
                    let all = [v, corners[0], corners[1], corners[2]];
                    let weights = point(ways(&all, self.from), ways(&all, self.to))?;
                    let distance = cloth.thickness[at];
                    Touch::of_triangle(
                        None,
                        v,
                        corners,
                        weights,
                        self.from[at],
                        self.from,
                        distance,
                    )
                });
                hits.collect::<Vec<_>>()
            })
            .collect();
        touches.par_extend((0..ends.len()).into_par_iter().flat_map_iter(|k| {
            let [a, b] = ends[k];
            let points = [a, b].map(|v| v as usize);
            let extent = Extent::around(&[
                self.from[points[0]],
                self.from[points[1]],
                self.to[points[0]],
                self.to[points[1]],
            ]);
            let mut near = Vec::new();
            edges.overlapping(&extent, &mut near);
            let hits = near.into_iter().filter_map(|other| {
                let [c, d] = ends[other as usize];
                if other as usize <= k || [c, d].iter().any(|v| [a, b].contains(v)) {
                    return None;
                }
                let all = [a, b, c, d];
                let shares = edge(ways(&all, self.from), ways(&all, self.to))?;
                Touch::of_edges(all, shares, self.from, cloth.thickness[points[0]])
            });
            hits.collect::<Vec<_>>()
        }));
        let distance = PARTICLE_DISTANCE * self.spacing;
        let count = self.particles_from.len();
        touches.par_extend((0..count).into_par_iter().flat_map_iter(|i| {
            let (from, to): (V3, V3) =
                (self.particles_from[i].point(), self.particles_to[i].point());
            let mut near = Vec::new();
            triangles.overlapping(&Extent::around(&[from, to]), &mut near);
            let hits = near.into_iter().filter_map(|k| {
                let corners = cloth.triangles[k as usize];
                let way = |x: V3, way: &[V3]| {
                    let [a, b, c] = corners.map(|v| way[v as usize]);
                    [x, a, b, c]
                };
                let weights = point(way(from, self.from), way(to, self.to))?;
                Touch::of_triangle(
                    Some(i as u32),
                    0,
                    corners,
                    weights,
                    from,
                    self.from,
                    distance,
                )
            });
            hits.collect::<Vec<_>>()
        }));
        touches
    }
}
