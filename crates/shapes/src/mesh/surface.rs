//! Connectivity of faces: shared edges, orientation, parts and holes.

use super::groups::Groups;
use std::collections::HashMap;

/// A side of a face: its two vertices in order, the face, and whether the face runs along it upward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    vertices: (u32, u32),
    face: u32,
    upward: bool,
}

/// What was found about the sides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sides {
    pub open: usize,
    pub non_manifold: usize,
}

fn sides(faces: &[[u32; 3]]) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::with_capacity(3 * faces.len());
    for (index, face) in faces.iter().enumerate() {
        for i in 0..3 {
            let (from, to) = (face[i], face[(i + 1) % 3]);
            sides.push(Side {
                vertices: (from.min(to), from.max(to)),
                face: index as u32,
                upward: from < to,
            });
        }
    }
    sides.sort_unstable();
    sides
}

/// Turns faces round that disagree with most of those they are connected with, and returns what the sides are like,
/// how many faces were turned, and the part to which each face belongs, counted from zero.
pub(crate) fn agree(faces: &mut [[u32; 3]]) -> (Sides, usize, Vec<u32>) {
    let (mut patches, mut parts) = (Groups::new(faces.len()), Groups::new(faces.len()));
    let mut found = Sides::default();
    for edge in sides(faces).chunk_by(|a, b| a.vertices == b.vertices) {
        match edge {
            [_] => found.open += 1,
            [a, b] => patches.join(a.face, b.face, a.upward == b.upward),
            _ => found.non_manifold += 1,
        }
        for pair in edge.windows(2) {
            parts.join(pair[0].face, pair[1].face, false);
        }
    }

    // In each patch, the fewer are turned.
    let senses: Vec<(u32, bool)> = (0..faces.len() as u32).map(|f| patches.find(f)).collect();
    let mut votes = vec![0i64; faces.len()];
    for &(patch, turned) in &senses {
        votes[patch as usize] += if turned { 1 } else { -1 };
    }
    let mut turned_faces = 0;
    for (face, &(patch, turned)) in faces.iter_mut().zip(&senses) {
        if turned != (votes[patch as usize] > 0) {
            face.swap(1, 2);
            turned_faces += 1;
        }
    }

    let mut names = HashMap::new();
    let part_of = (0..faces.len() as u32)
        .map(|face| {
            let next = names.len() as u32;
            *names.entry(parts.find(face).0).or_insert(next)
        })
        .collect();
    (found, turned_faces, part_of)
}

/// A hole: the vertices around it, in the order of the faces beside it, and one of these faces.
pub(crate) struct Hole {
    pub around: Vec<u32>,
    pub face: u32,
}

/// The holes, as loops along sides that faces run along more often one way than the other.
///
/// As many of these sides lead to a vertex as lead away from it, so that every walk comes back. Triangles over all
/// loops make the surface one that winds a whole number of times around every point.
pub(crate) fn holes(faces: &[[u32; 3]]) -> Vec<Hole> {
    let mut rims: Vec<(u32, u32, u32)> = Vec::new();
    for edge in sides(faces).chunk_by(|a, b| a.vertices == b.vertices) {
        let upward = edge.iter().filter(|side| side.upward).count();
        let downward = edge.len() - upward;
        let (low, high) = edge[0].vertices;
        let rim = if upward > downward {
            (low, high, edge[0].face)
        } else {
            (high, low, edge[0].face)
        };
        rims.extend(std::iter::repeat_n(rim, upward.abs_diff(downward)));
    }
    rims.sort_unstable();

    // The next rim to take from each vertex: those of a vertex stand together.
    let mut next: HashMap<u32, usize> = HashMap::new();
    for (index, rim) in rims.iter().enumerate().rev() {
        next.insert(rim.0, index);
    }
    let mut holes = Vec::new();
    for start in 0..rims.len() {
        let mut path: Vec<(u32, u32)> = Vec::new();
        let mut place: HashMap<u32, usize> = HashMap::new();
        let mut at = rims[start].0;
        loop {
            if let Some(&back) = place.get(&at) {
                // A loop: the path that led to it continues from here.
                let around: Vec<(u32, u32)> = path.drain(back..).collect();
                for (vertex, _) in &around {
                    place.remove(vertex);
                }
                holes.push(Hole {
                    face: around[0].1,
                    around: around.into_iter().map(|(vertex, _)| vertex).collect(),
                });
            }
            let Some(taken) = next.get_mut(&at) else {
                break;
            };
            let Some(&(from, to, face)) = rims.get(*taken).filter(|rim| rim.0 == at) else {
                break;
            };
            *taken += 1;
            place.insert(from, path.len());
            path.push((from, face));
            at = to;
        }
    }
    holes
}
