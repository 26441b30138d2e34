//! Constraints of cloth besides its elastic energies: strain limits and contacts, each a row with a multiplier.
//!
//! A row has an excess without a unit, positive where it is violated, and gradients by the positions of up to four vertices
//! and one particle. Contacts of three rows, a normal and two of friction, hold a vertex at a solid.

use crate::real::{Real, Vec4};
use crate::walls::Walls;

use super::Cloth;
use super::contacts::Touch;
use super::vector::{V3, cross, dot, length, plus, scaled, sub, unit};

/// Compliance of rows over their diagonal: rows that say the same are shared out.
const SOFTNESS: f64 = 1e-3;

/// What a row constrains.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Length of an edge.
    Stretch(u32),
    /// Distance of a vertex from solids. Two rows of friction follow.
    Solid(u32),
    /// Sliding of a vertex along a solid: first or second tangent.
    Friction,
    /// Distance of two parts of the cloth, or of a particle and the cloth.
    Touch(Touch),
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    pub kind: Kind,
    /// The particle, if one takes part, and the gradient by its position.
    pub particle: Option<(u32, V3)>,
    /// Vertices and the gradients by their positions.
    pub vertices: [(u32, V3); 4],
    pub count: usize,
    pub excess: f64,
    pub diagonal: f64,
    pub compliance: f64,
    pub multiplier: f64,
    /// The body that the liquid moves which the vertex touches, and where.
    pub body: Option<(usize, V3)>,
    /// Whether friction is at its limit.
    slides: bool,
}

impl Row {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            particle: None,
            vertices: [(0, [0.0; 3]); 4],
            count: 0,
            excess: 0.0,
            diagonal: 1.0,
            compliance: 0.0,
            multiplier: 0.0,
            body: None,
            slides: false,
        }
    }

    fn set(&mut self, vertices: &[(u32, V3)], excess: f64) {
        self.count = vertices.len();
        self.vertices[..vertices.len()].copy_from_slice(vertices);
        self.excess = excess;
    }

    /// Whether the row is violated or carries a force.
    pub fn is_working(&self) -> bool {
        let is_friction = matches!(self.kind, Kind::Friction);
        self.count > 0 && (self.multiplier != 0.0 || self.excess > 0.0 && !is_friction)
    }

    /// Whether the row is at work at a solid.
    pub fn is_at_solid(&self) -> bool {
        matches!(self.kind, Kind::Solid(_)) && self.is_working()
    }

    /// `g · x` for the vertices.
    pub fn product(&self, x: &[V3]) -> f64 {
        let vertices = self.vertices[..self.count].iter();
        vertices.map(|(v, g)| dot(*g, x[*v as usize])).sum()
    }

    /// The body that the row touches, the place, and the gradient by the place of its vertex.
    pub fn at_body(&self) -> Option<(usize, V3, V3)> {
        let (body, place) = self.body?;
        (self.count > 0).then_some((body, place, self.vertices[0].1))
    }

    /// Adds `factor` times the gradients of the vertices.
    pub fn add_to(&self, factor: f64, sum: &mut [V3]) {
        for (v, g) in &self.vertices[..self.count] {
            sum[*v as usize] = plus(sum[*v as usize], factor, *g);
        }
    }
}

/// What rows are evaluated with.
pub struct Surroundings<'a, const D: usize> {
    pub cloth: &'a Cloth,
    pub walls: &'a Walls<'a, D>,
    /// Diagonal of the matrix of the cloth.
    pub stiffness: &'a [f64],
    /// Mobility of a particle.
    pub mobility: f64,
    /// Length that excesses are measured in.
    pub unit: f64,
}

/// Evaluates all rows at the positions `y` of the vertices and `particles` of the particles.
pub fn linearise<const D: usize, R: Real>(
    rows: &mut [Row],
    around: &Surroundings<'_, D>,
    y: &[V3],
    particles: &[Vec4<R>],
) {
    let mut k = 0;
    while k < rows.len() {
        match rows[k].kind.clone() {
            Kind::Stretch(edge) => {
                let edge = around.cloth.edges[edge as usize];
                let along = sub(y[edge.ends[1] as usize], y[edge.ends[0] as usize]);
                let gradient = scaled(unit(along), 1.0 / edge.rest_length);
                let excess = length(along) / edge.rest_length - edge.limit;
                let ends = [
                    (edge.ends[0], scaled(gradient, -1.0)),
                    (edge.ends[1], gradient),
                ];
                rows[k].set(&ends, excess);
            }
            Kind::Solid(vertex) => {
                solid_rows(&mut rows[k..k + 3], vertex, around, y);
                k += 2;
            }
            Kind::Friction => {}
            Kind::Touch(touch) => {
                let (normal, gap) = touch.gap(y, particles);
                let excess = (touch.distance - gap) / around.unit;
                let (vertices, own) = touch.gradients(scaled(normal, 1.0 / around.unit));
                rows[k].set(&vertices[..touch.vertex_count()], excess);
                rows[k].particle = touch.particle.map(|particle| (particle, own));
            }
        }
        k += 1;
    }
    for row in rows {
        let vertices = row.vertices[..row.count].iter();
        let cloth: f64 = vertices
            .map(|(v, g)| dot(*g, *g) / around.stiffness[*v as usize])
            .sum();
        let own = row
            .particle
            .map_or(0.0, |(_, g)| around.mobility * dot(g, g));
        row.diagonal = (cloth + own).max(1e-300);
        row.compliance = match row.kind {
            Kind::Stretch(_) => 0.0,
            _ => SOFTNESS * row.diagonal,
        };
    }
}

/// Distance from solids, and sliding relative to them.
fn solid_rows<const D: usize>(
    rows: &mut [Row],
    vertex: u32,
    around: &Surroundings<'_, D>,
    y: &[V3],
) {
    let v = vertex as usize;
    let clearance = 0.5 * around.cloth.thickness[v];
    let place: [f64; D] = std::array::from_fn(|axis| y[v][axis]);
    let band = 8.0 * around.unit;
    let Some((wall, distance, normal)) = around.walls.closest(place, band) else {
        for row in rows {
            row.set(&[], -1.0);
            row.body = None;
        }
        return;
    };
    let wide =
        |x: [f64; D]| -> V3 { std::array::from_fn(|axis| if axis < D { x[axis] } else { 0.0 }) };
    let normal = wide(normal);
    let start = around.cloth.position[v];
    let from: [f64; D] = std::array::from_fn(|axis| start[axis]);
    let carried = wide(around.walls.carried(wall, from));
    let slip = sub(y[v], carried);
    let (first, second) = tangents(normal);
    let body = around.walls.body_of(wall);
    for row in &mut *rows {
        row.body = body.map(|body| (body, plus(y[v], -distance, normal)));
    }
    let per_unit = 1.0 / around.unit;
    rows[0].set(
        &[(vertex, scaled(normal, -per_unit))],
        (clearance - distance) * per_unit,
    );
    for (row, tangent) in rows[1..].iter_mut().zip([first, second]) {
        row.set(
            &[(vertex, scaled(tangent, per_unit))],
            dot(tangent, slip) * per_unit,
        );
    }
}

/// Two unit vectors across a normal.
pub fn tangents(normal: V3) -> (V3, V3) {
    let axis = if normal[0].abs() < 0.6 {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let first = unit(cross(normal, axis));
    (first, cross(normal, first))
}

/// Which rows take part in a solve: all but friction where nothing presses, or at its limit.
pub fn select(rows: &[Row]) -> Vec<bool> {
    let mut presses = false;
    let is_active = |row: &Row| {
        let is_active = match row.kind {
            Kind::Friction => presses && !row.slides,
            _ => row.count > 0,
        };
        if let Kind::Solid(_) = row.kind {
            presses = row.multiplier > 0.0 && row.count > 0;
        }
        is_active
    };
    rows.iter().map(is_active).collect()
}

/// Adds the changes to the multipliers: at least zero, and friction within its cone. The changes become what was added.
pub fn clamp(rows: &mut [Row], friction: &[f64], change: &mut [f64]) {
    let mut k = 0;
    while k < rows.len() {
        let clamped = (rows[k].multiplier + change[k]).max(0.0);
        change[k] = clamped - rows[k].multiplier;
        rows[k].multiplier = clamped;
        if let Kind::Solid(vertex) = rows[k].kind {
            let limit = friction[vertex as usize] * clamped;
            let mut wanted = [1, 2].map(|t| rows[k + t].multiplier + change[k + t]);
            let slip = [rows[k + 1].excess, rows[k + 2].excess];
            let slides = rows[k + 1].slides;
            if slides {
                // Along the slip, and at rest again if that turns round.
                let speed = slip[0].hypot(slip[1]).max(1e-300);
                let along = wanted[0] * slip[0] + wanted[1] * slip[1];
                if along > 0.0 {
                    wanted = slip.map(|s| limit * s / speed);
                }
            }
            let size = wanted[0].hypot(wanted[1]);
            let is_beyond = size >= limit * (1.0 - 1e-9);
            if size > limit {
                wanted = wanted.map(|w| w * limit / size);
            }
            let turns = wanted[0] * slip[0] + wanted[1] * slip[1] <= 0.0;
            for t in 0..2 {
                let row = &mut rows[k + 1 + t];
                change[k + 1 + t] = wanted[t] - row.multiplier;
                row.multiplier = wanted[t];
                row.slides = is_beyond && !turns && limit > 0.0;
            }
            k += 2;
        }
        k += 1;
    }
}

/// Largest violation of strain limits, and of contacts.
pub fn errors(rows: &[Row]) -> (f64, f64) {
    let mut largest = (0.0_f64, 0.0_f64);
    for row in rows {
        let error = row.excess - row.compliance * row.multiplier;
        match row.kind {
            Kind::Stretch(_) => largest.0 = largest.0.max(error),
            Kind::Friction => {}
            _ => largest.1 = largest.1.max(error),
        }
    }
    largest
}
