//! Construction of a closed surface from triangles of unknown quality, or the reason why there is none.

use super::nesting;
use super::part::{self, Part};
use super::report::{MeshError, MeshReport};
use super::surface;
use super::survey::survey;
use super::tree::Tree;
use super::triangle::{Corners, doubled_area, longest_side};
use super::weld::weld;
use super::{FARTHEST, MOST_TRIANGLES, MOST_VERTICES};
use crate::bounds::Bounds;
use crate::vector::{add, norm, scale, sub};

/// Vertices nearer than this to each other are one, as a share of the diagonal of all: finer than any grid, coarser
/// than the rounding of single precision.
const SAME: f64 = 1e-6;
/// A face less high than this share of its longest side has no area.
const FLAT: f64 = 1e-12;
/// Holes that would take more than this share of the surface are not closed.
const WIDE_OPEN: f64 = 0.1;
/// A volume below this share of area to the power of three halves is none.
const NO_VOLUME: f64 = 1e-9;

/// Checks and mends a mesh.
pub(crate) fn make(
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
) -> Result<(Tree, MeshReport), MeshError> {
    let bounds = check(vertices, triangles)?;
    let diagonal = norm(sub(bounds.high, bounds.low));
    let given = vertices.len();
    let (mut vertices, became) = weld(vertices, bounds.low, SAME * diagonal);
    let merged_vertices = given - vertices.len();
    let mut faces: Vec<[u32; 3]> = triangles
        .iter()
        .map(|face| face.map(|v| became[v as usize]))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    if !faces.iter().any(|&face| has_area(at(&vertices, face))) {
        return Err(MeshError::NoFaces {
            degenerate: triangles.len(),
        });
    }

    let (sides, turned_faces, mut part_of) = surface::agree(&mut faces);
    let area = |faces: &[[u32; 3]], vertices: &[[f64; 3]]| -> f64 {
        let doubled = |&face| norm(doubled_area(at(vertices, face)));
        0.5 * faces.iter().map(doubled).sum::<f64>()
    };
    let holes = surface::holes(&faces);
    let own_faces = faces.len();
    for hole in &holes {
        close(&hole.around, &mut vertices, &mut faces);
        part_of.resize(faces.len(), part_of[hole.face as usize]);
    }
    let (own_area, added_area) = (
        area(&faces[..own_faces], &vertices),
        area(&faces[own_faces..], &vertices),
    );
    let closed_share = added_area / own_area;
    if closed_share > WIDE_OPEN {
        return Err(MeshError::Open {
            open_edges: sides.open,
            share: closed_share,
        });
    }

    let components = part_of.iter().max().map_or(0, |&last| last as usize + 1);
    let mut parts = part::parts(&part_of, components, |face| {
        at(&vertices, faces[face as usize])
    });
    let outermost = nesting::outermost(&parts, &vertices, &faces);
    let turned_components = turn_outward(&mut parts, &outermost, &mut faces);
    let cavities = parts.iter().zip(&outermost);
    let cavities = cavities.filter(|(part, outer)| outer.is_some() && part.volume < 0.0);
    let cavities = cavities.count();

    let is_sound = |&face: &[u32; 3]| has_area(at(&vertices, face));
    let degenerate_faces =
        triangles.len() - faces[..own_faces].iter().filter(|f| is_sound(f)).count();
    faces.retain(is_sound);
    let area = area(&faces, &vertices);
    let volume: f64 = parts.iter().map(|part| part.volume).sum();
    if volume <= NO_VOLUME * area * area.sqrt() {
        return Err(MeshError::NoInside);
    }
    let tree = Tree::new(&vertices, &faces);
    let survey = survey(&tree);
    let report = MeshReport {
        vertices: tree.vertices.len(),
        triangles: tree.triangles.len(),
        merged_vertices,
        degenerate_faces,
        open_edges: sides.open,
        non_manifold_edges: sides.non_manifold,
        closed_holes: holes.len(),
        closed_share,
        turned_faces,
        components,
        turned_components,
        cavities,
        buried_share: survey.buried_share,
        volume,
        area,
        bounds: tree.bounds(),
        thickness: survey.thickness,
    };
    Ok((tree, report))
}

/// Refuses what can't be worked with; returns the box around the vertices.
fn check(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Bounds<3>, MeshError> {
    for (what, count, limit) in [
        ("vertices", vertices.len(), MOST_VERTICES),
        ("triangles", triangles.len(), MOST_TRIANGLES),
    ] {
        if count > limit {
            return Err(MeshError::TooMany { what, count, limit });
        }
    }
    let mut bounds = Bounds::NOTHING;
    for (vertex, &x) in vertices.iter().enumerate() {
        for value in x {
            if !value.is_finite() {
                return Err(MeshError::NotFinite { vertex });
            }
            if value.abs() > FARTHEST {
                return Err(MeshError::TooFar { vertex, value });
            }
        }
        bounds = bounds.union(&Bounds { low: x, high: x });
    }
    for (face, triangle) in triangles.iter().enumerate() {
        if let Some(&index) = triangle.iter().find(|&&v| v as usize >= vertices.len()) {
            return Err(MeshError::NoSuchVertex {
                face,
                index,
                vertices: vertices.len(),
            });
        }
    }
    if triangles.is_empty() {
        return Err(MeshError::NoFaces { degenerate: 0 });
    }
    Ok(bounds)
}

fn at(vertices: &[[f64; 3]], face: [u32; 3]) -> Corners {
    face.map(|v| vertices[v as usize])
}

fn has_area(corners: Corners) -> bool {
    let longest = longest_side(corners);
    norm(doubled_area(corners)) > FLAT * longest * longest
}

/// Closes a hole with triangles around its middle.
fn close(around: &[u32], vertices: &mut Vec<[f64; 3]>, faces: &mut Vec<[u32; 3]>) {
    if let [a, b, c] = *around {
        faces.push([a, c, b]);
        return;
    }
    let sum = around
        .iter()
        .fold([0.0; 3], |sum, &v| add(sum, vertices[v as usize]));
    let middle = vertices.len() as u32;
    vertices.push(scale(sum, 1.0 / around.len() as f64));
    for (i, &from) in around.iter().enumerate() {
        let to = around[(i + 1) % around.len()];
        faces.push([to, from, middle]);
    }
}

/// Turns parts round that are inside out, with all that lies in them; returns how many.
fn turn_outward(parts: &mut [Part], outermost: &[Option<usize>], faces: &mut [[u32; 3]]) -> usize {
    let inverted: Vec<bool> = parts.iter().map(|part| part.volume < 0.0).collect();
    let mut count = 0;
    for (index, part) in parts.iter_mut().enumerate() {
        if inverted[outermost[index].unwrap_or(index)] {
            part.volume = -part.volume;
            count += 1;
            for &face in &part.faces {
                faces[face as usize].swap(1, 2);
            }
        }
    }
    count
}
