//! Convex polytopes: polygons in two, polyhedra in three dimensions.

use super::convex_mesh;
use crate::pose::Pose;
use crate::shape::Shape;
use crate::vector::{add_scaled, direction_or, dot, norm, perpendicular, scale, sub, up};
use std::array::from_fn;
use std::sync::Arc;

/// Polytopes with more faces are treated as curved surfaces.
const MOST_FACES: usize = 64;

/// A flat face of a polytope; an edge in two dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct PolytopeFace<const D: usize> {
    /// Out of the polytope, of length one.
    pub normal: [f64; D],
    /// `normal . x` of all points of the face.
    pub offset: f64,
    /// Indices of the vertices, counter-clockwise seen from outside.
    pub vertices: Arc<[u32]>,
}

/// A convex polytope.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope<const D: usize> {
    /// Corners.
    pub vertices: Vec<[f64; D]>,
    /// Faces.
    pub faces: Vec<PolytopeFace<D>>,
    /// Edges as pairs of vertices, in three dimensions only.
    pub edges: Arc<[[u32; 2]]>,
    /// Directions of the edges, each once for parallel ones, in three dimensions only.
    pub edge_directions: Vec<[f64; D]>,
}

impl<const D: usize> Shape<D> {
    /// The solid as a convex polytope, if it is one with few faces.
    pub fn polytope(&self) -> Option<Polytope<D>> {
        let polytope = match self {
            Self::Box { low, high } => Polytope::cuboid(*low, *high),
            Self::Cylinder { from, to, radius } if D == 2 => {
                Polytope::trapezoid(*from, *to, *radius, *radius)?
            }
            Self::Cone {
                from,
                to,
                radius_from,
                radius_to,
            } if D == 2 => Polytope::trapezoid(*from, *to, *radius_from, *radius_to)?,
            Self::Mesh(mesh) if D == 3 => convex_mesh::polytope(mesh)?,
            Self::Placed { shape, pose } => shape.polytope()?.placed(pose),
            Self::Intersection(parts) => {
                let bounds = self.bounds().filter(|b| !b.is_empty())?;
                let mut whole = Polytope::cuboid(bounds.low, bounds.high);
                for part in parts {
                    for (offset, normal) in half_spaces(part)? {
                        whole = whole.clipped(normal, offset)?;
                    }
                }
                whole
            }
            _ => return None,
        };
        (polytope.faces.len() <= MOST_FACES).then_some(polytope)
    }
}

/// The half-spaces `normal . x <= offset` whose common part a convex solid is.
fn half_spaces<const D: usize>(shape: &Shape<D>) -> Option<Vec<(f64, [f64; D])>> {
    match shape {
        Shape::HalfSpace { point, normal } => {
            let normal = direction_or(*normal, up());
            Some(vec![(dot(normal, *point), normal)])
        }
        Shape::Placed { shape, pose } => {
            let inner = half_spaces(shape)?.into_iter().map(|(offset, normal)| {
                let normal = pose.rotation.apply(normal);
                (offset + dot(normal, pose.translation), normal)
            });
            Some(inner.collect())
        }
        _ => {
            let polytope = shape.polytope()?;
            let faces = polytope.faces.into_iter();
            Some(faces.map(|face| (face.offset, face.normal)).collect())
        }
    }
}

impl<const D: usize> Polytope<D> {
    /// Polytope with the given faces; edges are found from them.
    pub(super) fn new(vertices: Vec<[f64; D]>, faces: Vec<PolytopeFace<D>>) -> Self {
        let mut edges = Vec::new();
        let mut edge_directions: Vec<[f64; D]> = Vec::new();
        if D == 3 {
            for face in &faces {
                let around = face.vertices.iter().cycle().skip(1);
                let sides = face.vertices.iter().zip(around).take(face.vertices.len());
                edges.extend(sides.filter(|(a, b)| a < b).map(|(&a, &b)| [a, b]));
            }
            edges.sort_unstable();
            edges.dedup();
            for [a, b] in &edges {
                let along = sub(vertices[*b as usize], vertices[*a as usize]);
                let along = direction_or(along, up());
                let known = |other: &[f64; D]| dot(*other, along).abs() > 1.0 - 1e-12;
                if !edge_directions.iter().any(known) {
                    edge_directions.push(along);
                }
            }
        }
        Self {
            vertices,
            faces,
            edges: edges.into(),
            edge_directions,
        }
    }

    /// Box along the axes.
    fn cuboid(low: [f64; D], high: [f64; D]) -> Self {
        let vertices = (0..1_usize << D)
            .map(|corner| {
                from_fn(|i| {
                    if corner >> i & 1 == 1 {
                        high[i]
                    } else {
                        low[i]
                    }
                })
            })
            .collect();
        let mut faces = Vec::with_capacity(2 * D);
        for axis in 0..D {
            for side in [0, 1] {
                let sign = if side == 1 { 1.0 } else { -1.0 };
                let normal = from_fn(|i| if i == axis { sign } else { 0.0 });
                let offset = sign * if side == 1 { high[axis] } else { low[axis] };
                let (u, v) = (1 << ((axis + 1) % D), 1 << ((axis + 2) % D));
                let base = side << axis;
                let mut around = match D {
                    // The face on the high side of x is passed upward, that of y backward.
                    2 if axis == 0 => vec![base, base + u],
                    2 => vec![base + u, base],
                    _ => vec![base, base + u, base + u + v, base + v],
                };
                if side == 0 {
                    around.reverse();
                }
                faces.push(PolytopeFace {
                    normal,
                    offset,
                    vertices: around.into_iter().map(|v| v as u32).collect(),
                });
            }
        }
        Self::new(vertices, faces)
    }

    /// Symmetric trapezoid about an axis, in two dimensions.
    fn trapezoid(from: [f64; D], to: [f64; D], r0: f64, r1: f64) -> Option<Self> {
        let along = direction_or(sub(to, from), up());
        // To the right of the axis.
        let mut across = perpendicular(along);
        if along[0] * across[1] - along[1] * across[0] > 0.0 {
            across = scale(across, -1.0);
        }
        let mut corners = vec![
            add_scaled(from, -r0, across),
            add_scaled(from, r0, across),
            add_scaled(to, r1, across),
            add_scaled(to, -r1, across),
        ];
        corners.dedup_by(|a, b| norm(sub(*a, *b)) == 0.0);
        if norm(sub(corners[0], corners[corners.len() - 1])) == 0.0 {
            corners.pop();
        }
        (corners.len() >= 3).then(|| Self::polygon(corners))
    }

    /// Polygon with corners in counter-clockwise order.
    fn polygon(corners: Vec<[f64; D]>) -> Self {
        let count = corners.len();
        let faces = (0..count)
            .map(|a| {
                let b = (a + 1) % count;
                let side = sub(corners[b], corners[a]);
                let normal: [f64; D] = from_fn(|i| if i == 0 { side[1] } else { -side[0] });
                let normal = direction_or(normal, up());
                PolytopeFace {
                    normal,
                    offset: dot(normal, corners[a]),
                    vertices: [a as u32, b as u32].into(),
                }
            })
            .collect();
        Self::new(corners, faces)
    }

    /// The polytope after a rigid motion.
    pub fn placed(&self, pose: &Pose<D>) -> Self {
        let turned = |x: &[f64; D]| pose.rotation.apply(*x);
        Self {
            vertices: self.vertices.iter().map(|x| pose.apply(*x)).collect(),
            faces: self
                .faces
                .iter()
                .map(|face| {
                    let normal = turned(&face.normal);
                    PolytopeFace {
                        normal,
                        offset: face.offset + dot(normal, pose.translation),
                        vertices: face.vertices.clone(),
                    }
                })
                .collect(),
            edges: self.edges.clone(),
            edge_directions: self.edge_directions.iter().map(turned).collect(),
        }
    }

    /// The part with `normal . x <= offset`, or `None` if nothing is left.
    fn clipped(&self, normal: [f64; D], offset: f64) -> Option<Self> {
        let size = (self.vertices.iter()).fold(0.0, |size: f64, x| size.max(norm(*x)));
        let tolerance = 1e-12 * (1.0 + size);
        let over = |x: [f64; D]| dot(normal, x) - offset;
        if self.vertices.iter().all(|x| over(*x) <= tolerance) {
            return Some(self.clone());
        }
        let mut vertices: Vec<[f64; D]> = Vec::new();
        let mut index = |x: [f64; D]| -> u32 {
            let known = |y: &[f64; D]| norm(sub(*y, x)) <= 10.0 * tolerance;
            let found = vertices.iter().position(known);
            found.unwrap_or_else(|| {
                vertices.push(x);
                vertices.len() - 1
            }) as u32
        };
        let (mut faces, mut rim) = (Vec::new(), Vec::new());
        for face in &self.faces {
            let mut kept = Vec::new();
            let corner = |k: usize| self.vertices[face.vertices[k % face.vertices.len()] as usize];
            // An edge of a polygon is passed once, a face of a polyhedron all around.
            let sides = if D == 2 { 1 } else { face.vertices.len() };
            for k in 0..sides {
                let (a, b) = (corner(k), corner(k + 1));
                let (over_a, over_b) = (over(a), over(b));
                if over_a <= tolerance {
                    kept.push(index(a));
                }
                if (over_a > tolerance) != (over_b > tolerance) {
                    let share = (over_a / (over_a - over_b)).clamp(0.0, 1.0);
                    let cut = index(add_scaled(a, share, sub(b, a)));
                    kept.push(cut);
                    rim.push(cut);
                } else if over_a.abs() <= tolerance {
                    rim.push(index(a));
                }
                if D == 2 && over_b <= tolerance {
                    kept.push(index(b));
                }
            }
            kept.dedup();
            if kept.len() > 1 && kept.first() == kept.last() {
                kept.pop();
            }
            if kept.len() >= D {
                faces.push(PolytopeFace {
                    normal: face.normal,
                    offset: face.offset,
                    vertices: kept.into(),
                });
            }
        }
        rim.sort_unstable();
        rim.dedup();
        if faces.len() < D || rim.len() < D {
            return None;
        }
        let around = in_order(&vertices, rim, normal);
        faces.push(PolytopeFace {
            normal,
            offset,
            vertices: around.into(),
        });
        Some(Self::new(vertices, faces))
    }
}

/// The corners of a face in counter-clockwise order about its normal.
pub(super) fn in_order<const D: usize>(
    vertices: &[[f64; D]],
    mut corners: Vec<u32>,
    normal: [f64; D],
) -> Vec<u32> {
    let first = perpendicular(normal);
    let mut second = [0.0; D];
    if D == 3 {
        second = from_fn(|i| {
            let (j, k) = ((i + 1) % D, (i + 2) % D);
            normal[j] * first[k] - normal[k] * first[j]
        });
    }
    let count = corners.len() as f64;
    let middle = corners.iter().fold([0.0; D], |sum, &v| {
        add_scaled(sum, 1.0 / count, vertices[v as usize])
    });
    let angle = |v: u32| {
        let arm = sub(vertices[v as usize], middle);
        if D == 2 {
            // Counter-clockwise: the normal to the right of the way from the first to the second.
            return -(normal[1] * arm[0] - normal[0] * arm[1]);
        }
        dot(second, arm).atan2(dot(first, arm))
    };
    corners.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    corners
}
