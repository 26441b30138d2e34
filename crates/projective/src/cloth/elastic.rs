//! Elastic energies of a mesh as quadratic distances to the nearest undeformed state.
//!
//! Every element has an energy `w/2 Σ_k |Σ_v g_v[k] x_v - p_k|²` with constant weights: the projection `p` is the nearest
//! rotation of the rest state, the local step of projective dynamics. The matrix of all energies is therefore constant.

use rayon::prelude::*;

use super::factor::Entries;
use super::vector::{V3, add, cross, dot, length, plus, scaled, sub, unit};

/// An element of `N` vertices whose deformation has `K` columns.
#[derive(Clone, Debug)]
pub struct Element<const N: usize, const K: usize> {
    vertices: [u32; N],
    /// Derivative of each column by the position of each vertex.
    weights: [[f64; K]; N],
    stiffness: f64,
}

impl<const N: usize, const K: usize> Element<N, K> {
    fn deformation(&self, x: &[V3]) -> [V3; K] {
        let mut columns = [[0.0; 3]; K];
        for (&v, weights) in self.vertices.iter().zip(&self.weights) {
            for k in 0..K {
                columns[k] = plus(columns[k], weights[k], x[v as usize]);
            }
        }
        columns
    }

    fn assemble(&self, scale: f64, add: &mut dyn FnMut(u32, u32, f64)) {
        for a in 0..N {
            for b in 0..=a {
                let product: f64 = (0..K)
                    .map(|k| self.weights[a][k] * self.weights[b][k])
                    .sum();
                add(
                    self.vertices[a],
                    self.vertices[b],
                    scale * self.stiffness * product,
                );
            }
        }
    }

    /// `w gᵀ (p - F)` for each vertex, with the deformation `F`: the force of the element.
    fn pull(&self, deformation: [V3; K], projection: [V3; K]) -> [V3; N] {
        let apart: [V3; K] = std::array::from_fn(|k| sub(projection[k], deformation[k]));
        std::array::from_fn(|a| {
            let mut sum = [0.0; 3];
            for k in 0..K {
                sum = plus(sum, self.stiffness * self.weights[a][k], apart[k]);
            }
            sum
        })
    }

    fn energy(&self, x: &[V3], projection: [V3; K]) -> f64 {
        let deformation = self.deformation(x);
        let squares = (0..K).map(|k| {
            let apart = sub(deformation[k], projection[k]);
            dot(apart, apart)
        });
        0.5 * self.stiffness * squares.sum::<f64>()
    }
}

/// Curvature of a triangle at rest: its components, whose norm is zero for a flat one.
#[derive(Clone, Copy, Debug)]
struct RestCurvature([f64; 3]);

impl RestCurvature {
    /// The curvature at rest along the normal that is nearest to `curvature`.
    fn turned(self, curvature: [V3; 3]) -> [V3; 3] {
        let mut normal = [0.0; 3];
        for k in 0..3 {
            normal = plus(normal, self.0[k], curvature[k]);
        }
        let normal = unit(normal);
        self.0.map(|own| scaled(normal, own))
    }
}

/// All elements of a mesh.
#[derive(Clone, Debug, Default)]
pub struct Elastic {
    triangles: Vec<Element<3, 2>>,
    tetrahedra: Vec<Element<4, 3>>,
    /// The tetrahedra again, with their stiffness against a change of volume.
    volumes: Vec<Element<4, 3>>,
    /// The bending of each triangle against its neighbours.
    bends: Vec<Element<6, 3>>,
    rest_curvatures: Vec<RestCurvature>,
}

impl Elastic {
    /// Adds a triangle with a membrane stiffness in N/m. Returns its area, `None` if it has none.
    pub fn add_triangle(&mut self, vertices: [u32; 3], x: &[V3], stiffness: f64) -> Option<f64> {
        let [a, b, c] = vertices.map(|v| x[v as usize]);
        let (e1, e2) = (sub(b, a), sub(c, a));
        let area = 0.5 * length(cross(e1, e2));
        let longest = length(e1).max(length(e2)).max(length(sub(c, b)));
        if area <= 1e-9 * longest * longest || !area.is_finite() {
            return None;
        }
        // Coordinates in the plane: e1 = (p, 0), e2 = (q, r).
        let p = length(e1);
        let axis = unit(e1);
        let q = dot(e2, axis);
        let r = length(plus(e2, -q, axis));
        // Rows of the inverse of [[p, q], [0, r]] are the gradients of the second and third vertex.
        let (second, third) = ([1.0 / p, -q / (p * r)], [0.0, 1.0 / r]);
        let first = [-second[0] - third[0], -second[1] - third[1]];
        self.triangles.push(Element {
            vertices,
            weights: [first, second, third],
            stiffness: stiffness * area,
        });
        Some(area)
    }

    /// Adds a tetrahedron of a material. Returns its volume, `None` if it has none.
    ///
    /// Its energy per volume is `w/2 |F - R|² + u/2 |F - V|²` with the nearest rotation `R` and the nearest matrix `V` of
    /// determinant one (Bouaziz and others 2014). For a small strain `ε` the first is `w/2 ε:ε`, the second `u/6 (tr ε)²`, so that
    /// `w = 2 μ` and `u = 3 λ` make it that of an elastic solid with the constants `μ` and `λ` of Lamé.
    pub fn add_tetrahedron(
        &mut self,
        vertices: [u32; 4],
        x: &[V3],
        material: Material,
    ) -> Option<f64> {
        let [a, b, c, d] = vertices.map(|v| x[v as usize]);
        let (e1, e2, e3) = (sub(b, a), sub(c, a), sub(d, a));
        let six_volumes = dot(e1, cross(e2, e3));
        let longest = length(e1).max(length(e2)).max(length(e3));
        if six_volumes.abs() <= 1e-9 * longest.powi(3) || !six_volumes.is_finite() {
            return None;
        }
        let gradient = |v: V3| scaled(v, 1.0 / six_volumes);
        let (second, third, fourth) = (
            gradient(cross(e2, e3)),
            gradient(cross(e3, e1)),
            gradient(cross(e1, e2)),
        );
        let first = scaled(add(add(second, third), fourth), -1.0);
        let volume = six_volumes.abs() / 6.0;
        let element = |stiffness: f64| Element {
            vertices,
            weights: [first, second, third, fourth],
            stiffness: stiffness * volume,
        };
        let (shear, dilation) = material.lame();
        self.tetrahedra.push(element(2.0 * shear));
        if dilation > 0.0 {
            self.volumes.push(element(3.0 * dilation));
        }
        Some(volume)
    }

    /// Adds the bending of a triangle against its neighbours, with a stiffness in N m. `opposite` are the corners of the
    /// neighbours across the sides from the first, second and third corner to the next one; `None` at the border.
    ///
    /// The curvature is that of the plate element of Morley with the mean slope of both triangles at each side (Grinspun and
    /// others 2006): `S = Σ |e| θ / (2 A) n nᵀ` over the sides, with the angle `θ` between the triangles and the normal `n` of
    /// the side in the plane. Energies that count every edge on its own make a mesh of squares with alternating diagonals a
    /// sixth too soft: vertices of one kind can move out of the bent surface and spare the edges across the bend. At a free
    /// border the slope takes the value without moment, which removes the part of `S` along `n nᵀ`.
    pub fn add_bend(
        &mut self,
        corners: [u32; 3],
        opposite: [Option<u32>; 3],
        x: &[V3],
        stiffness: f64,
    ) {
        let at = |v: u32| x[v as usize];
        // Cotangent of the angle at `corner` in the triangle with `left` and `right`.
        let cotangent = |corner: u32, left: u32, right: u32| {
            let (e, f) = (sub(at(left), at(corner)), sub(at(right), at(corner)));
            dot(e, f) / length(cross(e, f))
        };
        let [a, b, c] = corners.map(at);
        let area = 0.5 * length(cross(sub(b, a), sub(c, a)));
        let (first_axis, normal) = (unit(sub(b, a)), unit(cross(sub(b, a), sub(c, a))));
        let second_axis = cross(normal, first_axis);
        // Components `xx`, `yy`, `√2 xy` of `n nᵀ` for the normal of each side.
        let tensors: [[f64; 3]; 3] = std::array::from_fn(|side| {
            let along = unit(sub(at(corners[(side + 1) % 3]), at(corners[side])));
            let (p, q) = (dot(along, second_axis), -dot(along, first_axis));
            [p * p, q * q, std::f64::consts::SQRT_2 * p * q]
        });
        let mut vertices = [corners[0]; 6];
        vertices[..3].copy_from_slice(&corners);
        let mut weights = [[0.0; 3]; 6];
        for (side, opposite) in opposite.iter().enumerate() {
            let Some(d) = *opposite else { continue };
            let (i, j, k) = (side, (side + 1) % 3, (side + 2) % 3);
            let (a, b, c) = (corners[i], corners[j], corners[k]);
            // On a small closed mesh, two sides may have the same opposite corner.
            let known = vertices[..3 + side].iter().position(|v| *v == d);
            let place = known.unwrap_or(3 + side);
            vertices[place] = d;
            // These sum to `|e| θ`.
            let at_a = [cotangent(a, b, c), cotangent(a, b, d)];
            let at_b = [cotangent(b, a, c), cotangent(b, a, d)];
            let sums = [
                (i, at_b[0] + at_b[1]),
                (j, at_a[0] + at_a[1]),
                (k, -at_a[0] - at_b[0]),
                (place, -at_a[1] - at_b[1]),
            ];
            for (vertex, weight) in sums {
                for (sum, tensor) in weights[vertex].iter_mut().zip(tensors[side]) {
                    *sum += weight * tensor / (2.0 * area);
                }
            }
        }
        // At two free sides, what is left acts along neither.
        let mut removed: Vec<[f64; 3]> = Vec::new();
        for side in (0..3).filter(|&side| opposite[side].is_none()) {
            let mut direction = tensors[side];
            for other in &removed {
                let part: f64 = (0..3).map(|k| direction[k] * other[k]).sum();
                for k in 0..3 {
                    direction[k] -= part * other[k];
                }
            }
            let size = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
            direction.iter_mut().for_each(|d| *d /= size);
            for weights in &mut weights {
                let part: f64 = (0..3).map(|k| weights[k] * direction[k]).sum();
                for k in 0..3 {
                    weights[k] -= part * direction[k];
                }
            }
            removed.push(direction);
        }
        if removed.len() == 3 {
            return;
        }
        let element = Element {
            vertices,
            weights,
            stiffness: stiffness * area,
        };
        let curvature = element.deformation(x);
        let rest = curvature.map(|column| dot(column, normal));
        // What rounding makes of a flat mesh is flat.
        let size = rest.iter().map(|c| c * c).sum::<f64>().sqrt();
        let rest = if size * area.sqrt() < 1e-6 {
            [0.0; 3]
        } else {
            rest
        };
        self.rest_curvatures.push(RestCurvature(rest));
        self.bends.push(element);
    }

    /// Adds the constant matrix of all energies times `scale`.
    pub fn assemble(&self, scale: f64, add: &mut dyn FnMut(u32, u32, f64)) {
        for element in &self.triangles {
            element.assemble(scale, add);
        }
        for element in self.tetrahedra.iter().chain(&self.volumes) {
            element.assemble(scale, add);
        }
        for element in &self.bends {
            element.assemble(scale, add);
        }
    }

    /// Adds the elastic forces at `x` to `pulls`: the local step.
    pub fn pull(&self, x: &[V3], pulls: &mut [V3]) {
        fn scatter<const N: usize, const K: usize>(
            elements: &[Element<N, K>],
            found: &[[V3; N]],
            pulls: &mut [V3],
        ) {
            for (element, found) in elements.iter().zip(found) {
                for (&v, pull) in element.vertices.iter().zip(found) {
                    pulls[v as usize] = add(pulls[v as usize], *pull);
                }
            }
        }
        fn pulls_of<const N: usize, const K: usize>(
            elements: &[Element<N, K>],
            x: &[V3],
            pulls: &mut [V3],
            project: impl Fn(usize, [V3; K]) -> [V3; K] + Sync,
        ) {
            let found: Vec<[V3; N]> = elements
                .par_iter()
                .enumerate()
                .map(|(k, element)| {
                    let deformation = element.deformation(x);
                    element.pull(deformation, project(k, deformation))
                })
                .collect();
            scatter(elements, &found, pulls);
        }
        pulls_of(&self.triangles, x, pulls, |_, f| nearest_frame(f));
        pulls_of(&self.tetrahedra, x, pulls, |_, f| nearest_rotation(f));
        pulls_of(&self.volumes, x, pulls, |_, f| nearest_of_volume_one(f));
        pulls_of(&self.bends, x, pulls, |k, f| {
            self.rest_curvatures[k].turned(f)
        });
    }

    /// Elastic energy at `x`, in J.
    pub fn energy(&self, x: &[V3]) -> f64 {
        let triangles = self.triangles.iter();
        let tetrahedra = self.tetrahedra.iter();
        let bends = self.bends.iter().zip(&self.rest_curvatures);
        let volumes = self.volumes.iter();
        triangles
            .map(|element| element.energy(x, nearest_frame(element.deformation(x))))
            .chain(
                tetrahedra
                    .map(|element| element.energy(x, nearest_rotation(element.deformation(x)))),
            )
            .chain(
                volumes.map(|element| {
                    element.energy(x, nearest_of_volume_one(element.deformation(x)))
                }),
            )
            .chain(
                bends.map(|(element, rest)| element.energy(x, rest.turned(element.deformation(x)))),
            )
            .sum()
    }
}

/// The two orthonormal vectors nearest to two columns.
fn nearest_frame([a, b]: [V3; 2]) -> [V3; 2] {
    // F (FᵀF)^(-1/2), with the square root of a 2x2 matrix in closed form.
    let (aa, ab, bb) = (dot(a, a), dot(a, b), dot(b, b));
    let determinant = (aa * bb - ab * ab).max(0.0).sqrt().max(1e-12 * (aa + bb));
    let trace = (aa + bb + 2.0 * determinant).sqrt();
    if trace == 0.0 {
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    }
    // Root [[aa + det, ab], [ab, bb + det]] / trace has the determinant `determinant`.
    let scale = 1.0 / (trace * determinant);
    let inverse = [
        (bb + determinant) * scale,
        -ab * scale,
        (aa + determinant) * scale,
    ];
    [
        plus(scaled(a, inverse[0]), inverse[1], b),
        plus(scaled(a, inverse[1]), inverse[2], b),
    ]
}

/// `U Σ Vᵀ` of a deformation, with rotations `U` and `V`: the last of the stretches `Σ`, which fall, is negative if the
/// deformation turns the element inside out.
struct Stretches {
    left: [V3; 3],
    stretch: [f64; 3],
    right: [V3; 3],
}

impl Stretches {
    /// The deformation with other stretches.
    fn with(&self, stretch: [f64; 3]) -> [V3; 3] {
        std::array::from_fn(|k| {
            let mut column = [0.0; 3];
            for (axis, stretch) in stretch.iter().enumerate() {
                column = plus(column, stretch * self.right[axis][k], self.left[axis]);
            }
            column
        })
    }

    fn of(columns: [V3; 3]) -> Self {
        // FᵀF = V Σ² Vᵀ by Jacobi rotations.
        let mut s: [[f64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| dot(columns[i], columns[j])));
        let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for _ in 0..12 {
            let off = s[0][1].abs() + s[0][2].abs() + s[1][2].abs();
            if off <= 1e-15 * (s[0][0] + s[1][1] + s[2][2]) {
                break;
            }
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                if s[p][q] == 0.0 {
                    continue;
                }
                let theta = (s[q][q] - s[p][p]) / (2.0 * s[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let sine = t * c;
                for k in 0..3 {
                    let (kp, kq) = (s[k][p], s[k][q]);
                    (s[k][p], s[k][q]) = (c * kp - sine * kq, sine * kp + c * kq);
                }
                for k in 0..3 {
                    let (pk, qk) = (s[p][k], s[q][k]);
                    (s[p][k], s[q][k]) = (c * pk - sine * qk, sine * pk + c * qk);
                }
                for row in &mut v {
                    let (vp, vq) = (row[p], row[q]);
                    (row[p], row[q]) = (c * vp - sine * vq, sine * vp + c * vq);
                }
            }
        }
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| s[j][j].total_cmp(&s[i][i]));
        // Right singular vectors, a right-handed frame.
        let right = |k: usize| [v[0][k], v[1][k], v[2][k]];
        let (v0, v1) = (right(order[0]), right(order[1]));
        let v2 = cross(v0, v1);
        let image = |w: V3| {
            let mut sum = [0.0; 3];
            for k in 0..3 {
                sum = plus(sum, w[k], columns[k]);
            }
            sum
        };
        let u0 = unit(image(v0));
        let across = image(v1);
        let u1 = unit(plus(across, -dot(across, u0), u0));
        let u2 = cross(u0, u1);
        Self {
            stretch: [dot(u0, image(v0)), dot(u1, across), dot(u2, image(v2))],
            left: [u0, u1, u2],
            right: [v0, v1, v2],
        }
    }
}

/// The rotation nearest to three columns; for an inverted element it turns the axis of the least stretch back.
fn nearest_rotation(columns: [V3; 3]) -> [V3; 3] {
    Stretches::of(columns).with([1.0; 3])
}

/// Iterations for the nearest stretches whose product is one.
const VOLUME_ITERATIONS: usize = 12;
/// Least stretch with which they begin: the volume of a flat element has no gradient.
const LEAST_STRETCH: f64 = 0.1;

/// The matrix of determinant one nearest to three columns: its stretches `σ + d` with the least `|d|`.
fn nearest_of_volume_one(columns: [V3; 3]) -> [V3; 3] {
    let found = Stretches::of(columns);
    let own = found.stretch;
    let mut next = own.map(|s| s.max(LEAST_STRETCH));
    for _ in 0..VOLUME_ITERATIONS {
        let [a, b, c] = next;
        let slope = [b * c, c * a, a * b];
        // To the nearest point of the tangent plane of the volumes of one.
        let apart: f64 = (0..3).map(|k| slope[k] * (own[k] - next[k])).sum();
        let factor = (apart + a * b * c - 1.0) / dot(slope, slope);
        let last = next;
        for k in 0..3 {
            next[k] = (own[k] - factor * slope[k]).max(LEAST_STRETCH);
        }
        if (0..3).all(|k| (next[k] - last[k]).abs() < 1e-13) {
            break;
        }
    }
    found.with(next)
}

/// Elastic constants of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus, in Pa.
    pub stiffness: f64,
    /// Poisson's ratio: contraction across a pull over the extension along it.
    pub poisson_ratio: f64,
}

impl Material {
    /// The constants `μ` and `λ` of Lamé.
    fn lame(self) -> (f64, f64) {
        let (e, ratio) = (self.stiffness, self.poisson_ratio);
        let shear = e / (2.0 * (1.0 + ratio));
        (shear, 2.0 * shear * ratio / (1.0 - 2.0 * ratio))
    }
}

/// Adds the matrix of elastic energies on the free unknowns.
pub fn assemble_free(elastic: &Elastic, number: &[Option<u32>], entries: &mut Entries) {
    elastic.assemble(1.0, &mut |a, b, value| {
        if let (Some(a), Some(b)) = (number[a as usize], number[b as usize]) {
            entries.add(a as usize, b as usize, value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: [V3; 3] = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];

    #[test]
    fn projections_are_the_nearest_rotations() {
        let stretch = [[1.2, 0.1, 0.0], [0.1, 0.7, 0.2], [0.0, 0.2, 1.5]];
        // Columns of R S with a symmetric S: the polar decomposition has the rotation R.
        let columns: [V3; 3] = std::array::from_fn(|j| {
            let mut sum = [0.0; 3];
            for k in 0..3 {
                sum = plus(sum, stretch[k][j], TURN[k]);
            }
            sum
        });
        let found = nearest_rotation(columns);
        for k in 0..3 {
            assert!(length(sub(found[k], TURN[k])) < 1e-12, "{found:?}");
        }
        let flat: [V3; 2] =
            std::array::from_fn(|j| plus(scaled(TURN[0], stretch[0][j]), stretch[1][j], TURN[1]));
        let found = nearest_frame(flat);
        for k in 0..2 {
            assert!(length(sub(found[k], TURN[k])) < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn an_inverted_element_is_turned_back_by_a_proper_rotation() {
        let found = nearest_rotation([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -0.2]]);
        assert!((dot(found[0], cross(found[1], found[2])) - 1.0).abs() < 1e-12);
        assert!(length(sub(found[0], [1.0, 0.0, 0.0])) < 1e-12);
    }

    /// A strip of a cylinder has the bending energy `B/2 κ²` per area.
    #[test]
    fn bending_energy_is_that_of_the_curvature() {
        let (rows, columns, spacing, radius, stiffness) = (40, 6, 0.02, 0.7, 0.3);
        let point = |i: usize, j: usize, is_bent: bool| {
            let (s, y) = (i as f64 * spacing, j as f64 * spacing);
            let angle = s / radius;
            match is_bent {
                true => [radius * angle.sin(), y, radius * (1.0 - angle.cos())],
                false => [s, y, 0.0],
            }
        };
        let number = |i: usize, j: usize| (i * columns + j) as u32;
        let (mut flat, mut bent) = (Vec::new(), Vec::new());
        for i in 0..rows {
            for j in 0..columns {
                flat.push(point(i, j, false));
                bent.push(point(i, j, true));
            }
        }
        let mut elastic = Elastic::default();
        let mut area = 0.0;
        for i in 0..rows - 1 {
            for j in 0..columns - 1 {
                let (a, b, c, d) = (
                    number(i, j),
                    number(i + 1, j),
                    number(i + 1, j + 1),
                    number(i, j + 1),
                );
                // The neighbours of the two triangles of the square, where there are any.
                let below = (j > 0).then(|| number(i, j - 1));
                let above = (j + 2 < columns).then(|| number(i + 1, j + 2));
                let before = (i > 0).then(|| number(i - 1, j));
                let after = (i + 2 < rows).then(|| number(i + 2, j + 1));
                elastic.add_bend([a, b, c], [below, after, Some(d)], &flat, stiffness);
                elastic.add_bend([a, c, d], [Some(b), above, before], &flat, stiffness);
                area += spacing * spacing;
            }
        }
        let energy = elastic.energy(&bent);
        let expected = 0.5 * stiffness / (radius * radius) * area;
        assert!(
            (energy / expected - 1.0).abs() < 0.06,
            "{energy} {expected}"
        );
        assert!(elastic.energy(&flat) < 1e-20);
    }
}
