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

    /// `w gᵀ p` for each vertex.
    fn pull(&self, projection: [V3; K]) -> [V3; N] {
        std::array::from_fn(|a| {
            let mut sum = [0.0; 3];
            for k in 0..K {
                sum = plus(sum, self.stiffness * self.weights[a][k], projection[k]);
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

/// The bending of two triangles at their common edge.
#[derive(Clone, Debug)]
pub struct Bend {
    element: Element<4, 1>,
    /// Curvature at rest times a length; zero for a flat mesh.
    rest: f64,
}

/// All elements of a mesh.
#[derive(Clone, Debug, Default)]
pub struct Elastic {
    triangles: Vec<Element<3, 2>>,
    tetrahedra: Vec<Element<4, 3>>,
    bends: Vec<Bend>,
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

    /// Adds a tetrahedron with a stiffness in Pa. Returns its volume, `None` if it has none.
    pub fn add_tetrahedron(&mut self, vertices: [u32; 4], x: &[V3], stiffness: f64) -> Option<f64> {
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
        self.tetrahedra.push(Element {
            vertices,
            weights: [first, second, third, fourth],
            stiffness: stiffness * volume,
        });
        Some(volume)
    }

    /// Adds the bending of the triangles `[a, b, c]` and `[b, a, d]` at their edge `ab`, with a stiffness in N m.
    ///
    /// The weights are those of the isometric bending energy (Bergou and others 2006), a third of them: a mesh whose
    /// vertices are on a cylinder bends at one of the three families of its edges only, where the printed energy counts
    /// three times `stiffness / 2` times the integral of the squared curvature.
    pub fn add_bend(&mut self, [a, b, c, d]: [u32; 4], x: &[V3], stiffness: f64) {
        let at = |v: u32| x[v as usize];
        // Cotangent of the angle at `corner` in the triangle with `left` and `right`.
        let cotangent = |corner: u32, left: u32, right: u32| {
            let (e, f) = (sub(at(left), at(corner)), sub(at(right), at(corner)));
            dot(e, f) / length(cross(e, f))
        };
        let area = |v: u32| {
            let (e, f) = (sub(at(b), at(a)), sub(at(v), at(a)));
            0.5 * length(cross(e, f))
        };
        let (at_a, at_b) = (
            [cotangent(a, b, c), cotangent(a, b, d)],
            [cotangent(b, a, c), cotangent(b, a, d)],
        );
        let weights = [
            [at_b[0] + at_b[1]],
            [at_a[0] + at_a[1]],
            [-at_a[0] - at_b[0]],
            [-at_a[1] - at_b[1]],
        ];
        let element = Element {
            vertices: [a, b, c, d],
            weights,
            stiffness: stiffness / (area(c) + area(d)),
        };
        let [curvature] = element.deformation(x);
        let edge = length(sub(at(b), at(a)));
        let rest = length(curvature);
        // What rounding makes of a flat mesh is flat.
        let rest = if rest < 1e-6 * edge { 0.0 } else { rest };
        self.bends.push(Bend { element, rest });
    }

    /// Adds the constant matrix of all energies times `scale`.
    pub fn assemble(&self, scale: f64, add: &mut dyn FnMut(u32, u32, f64)) {
        for element in &self.triangles {
            element.assemble(scale, add);
        }
        for element in &self.tetrahedra {
            element.assemble(scale, add);
        }
        for bend in &self.bends {
            bend.element.assemble(scale, add);
        }
    }

    /// Adds `w gᵀ p` with the projections at `x` to `pulls`: the local step.
    pub fn project(&self, x: &[V3], pulls: &mut [V3]) {
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
        let found: Vec<[V3; 3]> = self
            .triangles
            .par_iter()
            .map(|element| element.pull(nearest_frame(element.deformation(x))))
            .collect();
        scatter(&self.triangles, &found, pulls);
        let found: Vec<[V3; 4]> = self
            .tetrahedra
            .par_iter()
            .map(|element| element.pull(nearest_rotation(element.deformation(x))))
            .collect();
        scatter(&self.tetrahedra, &found, pulls);
        for bend in self.bends.iter().filter(|bend| bend.rest > 0.0) {
            let pull = bend.element.pull(bend.projection(x));
            for (&v, pull) in bend.element.vertices.iter().zip(pull) {
                pulls[v as usize] = add(pulls[v as usize], pull);
            }
        }
    }

    /// Elastic energy at `x`, in J.
    pub fn energy(&self, x: &[V3]) -> f64 {
        let triangles = self.triangles.iter();
        let tetrahedra = self.tetrahedra.iter();
        let bends = self.bends.iter();
        triangles
            .map(|element| element.energy(x, nearest_frame(element.deformation(x))))
            .chain(
                tetrahedra
                    .map(|element| element.energy(x, nearest_rotation(element.deformation(x)))),
            )
            .chain(bends.map(|bend| bend.element.energy(x, bend.projection(x))))
            .sum()
    }
}

impl Bend {
    fn projection(&self, x: &[V3]) -> [V3; 1] {
        if self.rest == 0.0 {
            return [[0.0; 3]];
        }
        let [curvature] = self.element.deformation(x);
        [scaled(unit(curvature), self.rest)]
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

/// The rotation nearest to three columns; for an inverted element it turns the axis of the least stretch back.
fn nearest_rotation(columns: [V3; 3]) -> [V3; 3] {
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
    std::array::from_fn(|k| {
        let mut column = scaled(u0, v0[k]);
        column = plus(column, v1[k], u1);
        plus(column, v2[k], u2)
    })
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
                // Diagonal of the square.
                elastic.add_bend([a, c, d, b], &flat, stiffness);
                if i + 2 < rows {
                    // Edge b c between [a, b, c] and [b, e, c']: the next square's lower triangle starts at b.
                    elastic.add_bend([b, c, a, number(i + 2, j + 1)], &flat, stiffness);
                }
                if j + 2 < columns {
                    elastic.add_bend([d, c, a, number(i + 1, j + 2)], &flat, stiffness);
                }
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
